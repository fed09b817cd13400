"""What the user's functions reach."""

from kinetograph.autograph.operators.reachable import cleanup, is_read, reachable


def test_what_a_function_and_its_closures_hold():
    inner, named = [1], [2]
    box = {"k": (inner,)}

    def use():
        return named

    found = dict(reachable())
    assert found[id(inner)] in ("inner", "box")
    assert found[id(box)] == "box"
    assert id(named) in found
    assert id(use) in found
    without = dict(reachable(without=("inner", "box")))
    assert id(inner) not in without
    assert id(named) in without


def test_what_is_returned_is_read_by_a_finally_alone():
    retval_ = [1]
    assert id(retval_) not in dict(reachable())
    assert not is_read("retval_1")
    with cleanup():
        assert dict(reachable())[id(retval_)] == "retval_"
    assert is_read("held")
