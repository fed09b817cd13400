"""What tests of stores share."""

import pytest
from tests.runs.models import run, schools

from kinetograph.programs import pace
from kinetograph.runs.store import blocks


@pytest.fixture
def small_blocks(monkeypatch):
    """So that a short run has several."""
    monkeypatch.setattr(blocks, "MOST", 64)
    monkeypatch.setattr(pace, "MOST_GRADIENTS", 500)


@pytest.fixture
def path(tmp_path):
    """Where the store is to be."""
    return tmp_path / "run.zarr"


@pytest.fixture(scope="module")
def whole(request):
    """A run without a store, of as many draws as the module's tests make."""
    return run(schools(), draws=request.module.DRAWS)
