"""`kg.autograph.to_code`: the converted code of a function, as text."""

import ast
import functools

import pytest
from tests.autograph.sources import function

import kinetograph as kg


def relu(x):
    if x > 0:
        return x
    return 0.0


class Owner:
    def method(self, x):
        return x if x > self.limit else 0

    def __call__(self, x):
        return not x


CODE = """\
def relu(x):
    retval_ = ag__.UndefinedReturnValue()

    def get_state():
        return (retval_,)

    def set_state(state):
        nonlocal retval_
        retval_, = state

    def if_body():
        nonlocal retval_
        retval_ = x

    def else_body():
        nonlocal retval_
        retval_ = 0.0
    ag__.if_stmt(x > 0, if_body, else_body, get_state, set_state, ('retval_',), 1)
    return ag__.retval(retval_)"""


def test_text():
    text = kg.autograph.to_code(relu)
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(CODE))


def test_same_for_everything_made_of_it():
    text = kg.autograph.to_code(relu)
    made = kg.autograph.convert(relu)
    for other in (made, functools.partial(relu, 1), kg.autograph.convert(made)):
        assert kg.autograph.to_code(other) == text


def test_methods_and_lambdas():
    assert "ag__.if_exp(x > self.limit" in kg.autograph.to_code(Owner.method)
    assert kg.autograph.to_code(Owner().method) == kg.autograph.to_code(Owner.method)
    text = kg.autograph.to_code(lambda x: not x)
    assert text.splitlines()[1] == "    return ag__.not_(x)"


def test_break_and_extra_test():
    f = function("def f(r):\n    for x in r:\n        if x: break\n    return x\n")
    text = kg.autograph.to_code(f)
    assert "ag__.for_stmt(r, extra_test, loop_body, get_state" in text
    assert "ag__.not_(break_)" in text


def test_staged_functions_are_refused():
    staged = kg.function(relu)
    with pytest.raises(TypeError, match=r"try passing f\.python_function"):
        kg.autograph.to_code(staged)
    assert kg.autograph.to_code(staged.python_function) == kg.autograph.to_code(relu)


@pytest.mark.parametrize("value", [3, "text", len, dict, None])
def test_what_is_not_written_in_python(value):
    with pytest.raises(TypeError, match="to_code: expected a Python function, got"):
        kg.autograph.to_code(value)


def test_what_cannot_be_converted():
    names = {}
    exec(compile("def f(x): return x", "<nowhere>", "exec"), names)
    with pytest.raises(kg.ConversionError, match=r"to_code: f .*cannot be read"):
        kg.autograph.to_code(names["f"])
