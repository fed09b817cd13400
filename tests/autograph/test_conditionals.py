"""`if`."""

import numpy as np
import pytest
from tests.autograph.refusals import refused

import kinetograph as kg


class Box:
    def __init__(self, n=0.0):
        self.n = n
        self.items = []


def same(wanted, got):
    if isinstance(wanted, tuple | list):
        return len(wanted) == len(got) and all(map(same, wanted, got))
    if isinstance(wanted, dict):
        return list(wanted) == list(got) and all(same(v, got[k]) for k, v in wanted.items())
    return np.array_equal(wanted, got)


def agrees(f):
    """Whether a function staged once does what Python does, for x = 3 and for x = -2."""
    staged = kg.function(f)
    for x in (3.0, -2.0):
        wanted, got = f(x), staged(x)
        assert same(wanted, got), f"f({x}): got {got!r}, expected {wanted!r}"
    assert staged.traces == 1
    return True


# What is staged, and what is not.
def test_both_branches_are_traced_once(capsys):
    """A1, A2"""

    def f(x):
        print("before")
        if x > 0:
            print("main")
            y = 2 * x
        else:
            print("else")
            y = -x
        print("after")
        return y

    staged = kg.function(f)
    assert (staged(3.0), staged(-2.0)) == (6, 2)
    assert capsys.readouterr().out.split() == ["before", "main", "else", "after"]


def test_a_numpy_condition_is_python(capsys):
    """A1, A2"""
    flag = np.bool_(True)

    def f(x):
        if flag:
            print("main")
            return 2 * x
        print("else")
        return x

    assert kg.function(f)(3.0) == 6
    assert capsys.readouterr().out.split() == ["main"]


def test_a_branch_is_a_node_of_the_graph():
    """A1: not both computed and one selected."""
    x = kg.placeholder(name="x")

    @kg.autograph.convert
    def f(x):
        if x > 0:
            y = kg.log(x)
            kg.check(x > 0, "the branch is taken")
        else:
            y = x
        return y

    g = kg.compile([x], f(x))
    assert g(-2.0) == -2
    assert g(1.0) == 0


def test_composite_names_are_written_back():
    """A3"""

    class Model:
        def __init__(self):
            self.b = -1.0

        def flip(self, x):
            if x < 0:
                self.b = -self.b
            return self.b

    def f(x):
        a, d, items = Box(-1.0), {"k": 1.0}, [1.0, 2.0]
        if x < 0:
            a.n = -a.n
            d["k"] = x
            items[0] = x
        else:
            items[1] += x
        return a.n, d, items, Model().flip(x)

    assert agrees(f)


def test_attributes_that_one_branch_makes():
    """A3"""

    def f(x):
        a = Box()
        if x > 0:  # here
            a.b = 1.0
        return a.b

    refused(ValueError, f, (1.0,), "'a.b' must also be initialized in the else branch")


def test_attributes_of_functions_and_pairs_of_attributes():
    """A3"""

    def f(x):
        def inner():
            return 0

        inner.n = 0.0
        box = Box(1.0)
        box.m = 2.0
        if x > 0:
            inner.n = x
            box.n, box.m = box.m, box.n + x
        return inner.n, box.n, box.m

    assert agrees(f)


def test_numbers_become_arrays():
    """A4"""

    @kg.autograph.convert
    def f(x):
        i = 0
        if x > 0:
            i = 1
        return i

    x = kg.placeholder(name="x")
    i = f(x)
    assert isinstance(i, kg.Array)
    assert (i.shape, i.dtype) == ((), "int64")
    assert kg.compile([x], i)(-1.0) == 0


@pytest.mark.parametrize("branch", ["main", "else"])
def test_variables_of_one_branch_that_are_used_later(branch):
    """A5"""

    def only_main(x):
        if x > 0:  # here
            y = x
        return y

    def only_else(x):
        if x > 0:  # here
            pass
        else:
            y = x
        return y

    f, missing = (only_main, "else") if branch == "main" else (only_else, "main")
    refused(ValueError, f, (1.0,), f"'y' must also be initialized in the {missing} branch")


def test_python_branches_leave_variables_unbound_as_ever():
    """A5"""
    flag = False

    def f(x):
        if flag:
            y = x
        return y  # here

    refused(UnboundLocalError, f, (1.0,), "'y' is used before assignment")


def test_variables_of_one_branch_that_are_not_used_later():
    """A6"""

    def f(x):
        if x > 0:
            y = 2 * x
            x = y
        return x

    assert agrees(f)


@pytest.mark.parametrize("branch", ["main", "else"])
def test_none_in_one_branch(branch):
    """A7"""

    def none_in_else(x):
        if x > 0:  # here
            y = x
        else:
            y = None
        return y

    def none_in_main(x):
        y = x
        if x > 0:  # here
            y = None
        return y

    f = none_in_else if branch == "else" else none_in_main
    refused(ValueError, f, (1.0,), f"'y' is None at the end of the {branch} branch")


def test_branch_variables_must_have_one_dtype():
    """A8"""

    def f(n):
        y = n
        if n > 0:  # here
            y = n
        else:
            y = kg.data(np.float32(1))
        return y

    gist = "'y' has dtype int32 in the main branch, but dtype float32 in the else branch"
    refused(TypeError, f, (np.int32(3),), gist)


def test_python_numbers_take_the_type_they_meet():
    """A8"""

    def f(x):
        s = 0
        if x > 0:
            s = x / 2
        return s

    assert agrees(f)
    assert kg.function(f)(-2.0).dtype == float


def test_branch_variables_must_have_one_shape():
    """A8"""

    def f(x):
        if x > 0:  # here
            y = kg.stack([x, x])
        else:
            y = x
        return y

    refused(ValueError, f, (1.0,), r"'y' has shape \(2,\) in the main branch", r"shape \(\)")


@pytest.mark.parametrize("kind", [list, dict, tuple])
def test_branch_variables_must_have_one_structure(kind):
    """A9"""

    def f(x):
        if x > 0:  # here
            y = kind([(1, x), (2, x)])
        else:
            y = kind([(1, x)])
        return y

    refused(
        TypeError, f, (1.0,), "'y' must have the same nested structure in the main and else branch"
    )


def test_conditions_are_scalars():
    """A10"""

    def f(x):
        if x:  # here
            return 1
        return 2

    gists = ("expected to be a scalar, got x", r"\.any\(\) or \.all\(\)", "`is not None`")
    refused(ValueError, f, ([1.0, 2.0],), "condition of if statement", *gists)


def test_texts_and_functions_are_not_chosen_by_the_graph():
    def f(x):
        if x > 0:  # here
            name = "a"
        else:
            name = "b"
        return name

    refused(TypeError, f, (1.0,), "'name' is the text 'a' in the main branch")


def test_numpy_arrays_in_branches():
    """A50"""

    def f(x):
        a = np.zeros(3)
        if x > 0:
            a[1] = 5.0
            a += 1
        else:
            a[2] += x
        return a

    assert agrees(f)


def test_what_nobody_reads_may_be_left_inside():
    def f(c, v):
        w = v + 1
        if c > 0:
            w[0] = 1.0
        elif c < -2:
            c = c + 1
        else:
            w = v * 1
        return c + v[0]

    v = np.array([1.0, 2, 3])
    for c in (1.0, -1.0, -3.0):
        assert float(kg.function(f)(c, v)) == f(c, v)


def test_what_is_overwritten_may_be_left_inside_two_branches():
    def f(c, v):
        w = v + 1
        if c > 0:
            if c > 1:
                w[0] = 1.0
            else:
                w[0] = 2.0
                while c < 0.5:
                    c, w = c + 1, v * c
        w = v * 2
        return c + w[0]

    v = np.array([1.0, 2, 3])
    for c in (-1.0, 0.25, 0.75, 2.0):
        assert float(kg.function(f)(c, v)) == f(c, v)
