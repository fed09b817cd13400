"""What a staged statement changes behind its variables' backs."""

import sys
from collections import deque

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.autograph.operators.side_effects import Surroundings

GLOBAL = [1]


class Box:
    def __init__(self):
        self.value = 1
        self.items = []


class Slotted:
    __slots__ = ("value",)

    def __init__(self):
        self.value = 1


def counter():
    count = 0

    def step():
        nonlocal count
        count += 1

    return step


def teller():
    told = []

    class Teller:
        def tell(self):
            told.append(1)

    return Teller()


def touch_global():
    GLOBAL.append(2)


CHANGES = {
    "list": (list, lambda v: v.append(1)),
    "dictionary": (dict, lambda v: v.update(a=1)),
    "set": (set, lambda v: v.add(1)),
    "deque": (deque, lambda v: v.append(1)),
    "object": (Box, lambda v: setattr(v, "value", 2)),
    "new attribute": (Box, lambda v: setattr(v, "other", 2)),
    "list of an object": (Box, lambda v: v.items.append(1)),
    "slots": (Slotted, lambda v: setattr(v, "value", 2)),
    "object in a list": (lambda: [Box()], lambda v: setattr(v[0], "value", 2)),
    "object in a dictionary": (lambda: {"k": (Box(),)}, lambda v: v["k"][0].items.append(1)),
    "closure": (counter, lambda v: v()),
    "list that a method knows": (teller, lambda v: v.tell()),
    "method": (lambda: Box().items.append, lambda v: v(1)),
}


@pytest.mark.parametrize("what", CHANGES)
def test_changes_are_seen(what):
    make, change = CHANGES[what]
    held = make()
    around = Surroundings(sys._getframe())
    around.check("`if`")
    change(held)
    with pytest.raises(kg.StagingError, match="is modified inside a staged `if`"):
        around.check("`if`")


def test_functions_that_cython_compiled_do_not_change():
    """Some of their attributes are new objects whenever they are read."""
    from sklearn.utils.sparsefuncs_fast import csr_mean_variance_axis0 as compiled

    assert type(compiled).__module__.startswith("_cython_")
    held = [compiled]
    around = Surroundings(sys._getframe())
    around.check("`for`")
    held.append(1)
    with pytest.raises(kg.StagingError, match="'held' is modified"):
        around.check("`for`")


def test_functions_that_change_globals():
    act = touch_global
    around = Surroundings(sys._getframe())
    try:
        act()
        with pytest.raises(kg.StagingError, match="'GLOBAL' is modified"):
            around.check("`while`")
    finally:
        GLOBAL[:] = [1]


def test_numpy_arrays_are_read_only_while_held():
    array, locked = np.zeros(2), np.zeros(2)
    locked.flags.writeable = False
    around = Surroundings(sys._getframe())
    with around.arrays_frozen(), pytest.raises(ValueError, match="read-only"):
        array[0] = 1.0
    array[0] = 1.0
    assert not locked.flags.writeable
    with pytest.raises(RuntimeError), around.arrays_frozen():
        raise RuntimeError
    assert array.flags.writeable


def test_views_and_the_arrays_they_look_at_are_writable_again():
    def both(one, other):
        around = Surroundings(sys._getframe())
        with around.arrays_frozen():
            assert not any(a.flags.writeable for a in (one, other))
        assert one.flags.writeable
        assert other.flags.writeable

    whole = np.arange(4.0)
    both(whole[1:], whole)
    both(whole, whole[1:])


def test_what_is_not_followed():
    big = list(range(100_000))
    around = Surroundings(sys._getframe())
    assert around.budget <= 0
    del big
