"""Every example in a docstring runs and prints what it says."""

import doctest
import importlib
import pkgutil

import pytest

import kinetograph

pytestmark = pytest.mark.docs

MODULES = sorted(m.name for m in pkgutil.walk_packages(kinetograph.__path__, "kinetograph."))


def test_examples_are_found():
    module = importlib.import_module("kinetograph.models.variables")
    found = [t.name for t in doctest.DocTestFinder().find(module) if t.examples]
    assert len(found) == 6


@pytest.mark.parametrize("name", [m for m in MODULES if not m.endswith("__main__")])
def test_examples(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.failed == 0
