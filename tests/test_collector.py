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
