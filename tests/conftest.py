"""Tests use a cache of compiled programs of their own; all processes of a session share it."""

import gc
import os

import pytest

# Programs that come out of a cache of JAX's own are not kept in ours, whose tests would fail.
os.environ.pop("JAX_COMPILATION_CACHE_DIR", None)


@pytest.fixture(scope="session", autouse=True)
def _session_cache(tmp_path_factory):
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "programs"
    folder.mkdir(mode=0o700, exist_ok=True)
    before = os.environ.get("KINETOGRAPH_CACHE")
    os.environ["KINETOGRAPH_CACHE"] = str(folder)
    yield
    if before is None:
        del os.environ["KINETOGRAPH_CACHE"]
    else:
        os.environ["KINETOGRAPH_CACHE"] = before


def pytest_collection_finish():
    """What is there before the first test stays: collections need not look at it again."""
    gc.collect()
    gc.freeze()
