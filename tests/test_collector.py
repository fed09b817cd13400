"""The collector is paused inside the block, and afterwards as it was."""

import gc

import pytest

from kinetograph.collector import paused


def fail_while_paused():
    with paused():
        assert not gc.isenabled()
        raise KeyError


@pytest.mark.parametrize("collecting", [True, False])
def test_the_collector_is_left_as_it_was(collecting):
    before = gc.isenabled()
    try:
        (gc.enable if collecting else gc.disable)()
        with pytest.raises(KeyError):
            fail_while_paused()
        assert gc.isenabled() is collecting
    finally:
        (gc.enable if before else gc.disable)()


@pytest.fixture
def thawed():
    """Nothing is frozen in the test."""
    before = gc.get_freeze_count()
    gc.unfreeze()
    yield
    if before:
        gc.freeze()


def test_what_lasts_is_of_the_oldest_generation(thawed):
    with paused(lasting=True):
        made = [[]]
    assert gc.get_freeze_count() == 0
    assert any(held is made for held in gc.get_objects(generation=2))


def test_what_others_have_frozen_stays_so(thawed):
    gc.freeze()
    frozen = gc.get_freeze_count()
    with paused(lasting=True):
        pass
    # Some of them may have died since; were they thawed, there would be none.
    assert frozen / 2 < gc.get_freeze_count() <= frozen
    gc.unfreeze()
