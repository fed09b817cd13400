"""Options of loops (A35), texts of converted code and verbosity (A36)."""

import ast

import pytest
from tests.autograph.refusals import line_of, refused

import kinetograph as kg


def test_maximum_iterations():
    """A35"""

    @kg.function
    def f(x):
        n = 0
        while x > 1:
            kg.autograph.set_loop_options(maximum_iterations=3)
            x = x / 2
            n = n + 1
        return n

    assert [int(f(x)) for x in (0.5, 3.0, 1e9)] == [0, 2, 3]


def test_options_apply_to_the_enclosing_loop_only():
    """A35"""

    @kg.function
    def f(n):
        s = 0
        for _ in kg.range(n):
            j = 0
            while j < n + 10:
                kg.autograph.set_loop_options(maximum_iterations=2)
                j = j + 1
            s = s + j
        return s

    assert [int(f(n)) for n in (0, 1, 5)] == [0, 2, 10]


def test_options_of_for_loops():
    """A35"""

    @kg.function
    def f(n):
        s = 0
        for i in kg.range(n):
            kg.autograph.set_loop_options(maximum_iterations=4)
            s = s + i
        return s

    assert [int(f(n)) for n in (3, 9)] == [3, 6]


@pytest.mark.parametrize("grad", ["auto", "stack", "checkpoint", "forward"])
def test_grad_is_that_of_while_loop(grad):
    """A35"""

    def f(x):
        y = x
        while y < 100:
            kg.autograph.set_loop_options(
                grad=grad,
                maximum_iterations=50,
                parallel_iterations=1,
                swap_memory=True,
                shape_invariants=None,
            )
            y = y * x
        return y

    x = kg.placeholder(name="x")
    y = kg.autograph.convert(f)(x)
    value, slope = kg.compile([x], [y, *kg.gradients(y, [x])])(3.0)
    assert (value, slope) == (243, 5 * 81)


def test_options_in_python_loops_mean_nothing():
    """A35"""

    @kg.function
    def f(x):
        for _ in range(5):
            kg.autograph.set_loop_options(maximum_iterations=2)
            x = x + 1
        return x

    assert f(0.0) == 5


def test_options_outside_of_loops():
    """A35"""

    def f(x):
        kg.autograph.set_loop_options(maximum_iterations=2)  # here
        return x

    refused(ValueError, f, (1.0,), "must be used inside a statement")


def test_options_that_are_not_first():
    """A35"""

    def f(x):
        while x > 0:
            x = x - 1
            kg.autograph.set_loop_options(maximum_iterations=2)  # here
        return x

    refused(ValueError, f, (1.0,), "must be the first statement")


def test_unknown_options():
    """A35"""

    def f(x):
        while x > 0:
            kg.autograph.set_loop_options(maximum=2)  # here
            x = x - 1
        return x

    refused(ValueError, f, (1.0,), "unknown option 'maximum'")


def every_statement(x, n):
    s = 0.0
    for i in kg.range(n):
        if i == 2:
            continue
        while s < x and not s > 10:
            s += 1 if x > 2 else 0.5
            if s > 5:
                break
        else:
            s = s + 0.25
        assert s < 100
        if s > 20:
            return s
    return s


def test_converted_code_is_python():
    """A36"""
    code = kg.autograph.to_code(every_statement)
    tree = ast.parse(code)
    assert [n.name for n in tree.body if isinstance(n, ast.FunctionDef)] == ["every_statement"]
    for operator in ("if_stmt", "while_stmt", "for_stmt", "and_", "not_", "if_exp", "assert_stmt"):
        assert f"ag__.{operator}(" in code
    statements = [n for n in ast.walk(tree) if isinstance(n, ast.While | ast.For | ast.If)]
    assert not statements


def test_code_of_staged_functions():
    """A36"""
    staged = kg.function(every_statement)
    with pytest.raises(TypeError, match=r"try passing f\.python_function"):
        kg.autograph.to_code(staged)
    assert kg.autograph.to_code(staged.python_function) == kg.autograph.to_code(every_statement)
    assert kg.autograph.to_code(kg.autograph.convert(every_statement)) == kg.autograph.to_code(
        every_statement
    )


def test_code_of_what_is_not_python():
    """A36"""
    with pytest.raises(TypeError, match="expected a Python function, got"):
        kg.autograph.to_code(len)


@pytest.fixture
def verbose():
    kg.autograph.set_verbosity(2)
    yield
    kg.autograph.set_verbosity(0)


def test_decisions_are_told(verbose, capfd):
    """A36, 5.3"""

    def f(x, n):
        while x > 0:  # staged
            x = x - 1
        if n:  # python
            x = x + 1
        return x

    kg.function(f, static_argnames="n")(3.0, 1)
    told = "".join(capfd.readouterr())
    assert f"{line_of(f, 'staged')}: while staged" in told
    assert "kg.Array" in told
    assert f"{line_of(f, 'python')}: if" in told


def test_nothing_is_told_by_itself(capfd):
    """A36"""
    kg.function(every_statement)(3.0, 4)
    assert capfd.readouterr() == ("", "")
