"""`break`, `continue`, `return` and the `else` of loops as flags."""

import ast
import itertools

import pytest
from tests.autograph.sources import normal, rewritten, runs

from kinetograph.autograph import operators
from kinetograph.autograph.passes.jumps import lower_jumps

FORMS = {
    "no_jump": ("g()\nreturn 1", "g()\nreturn 1"),
    "return_in_both_branches": (
        "if a: return 1\nreturn 2",
        """
        retval_ = ag__.UndefinedReturnValue()
        if a: retval_ = 1
        else: retval_ = 2
        return ag__.retval(retval_)
        """,
    ),
    "return_without_a_value": (
        "'doc'\nif a: return\ng()",
        """
        'doc'
        retval_ = ag__.UndefinedReturnValue()
        if a: retval_ = None
        else:
            g()
            retval_ = None
        return ag__.retval(retval_)
        """,
    ),
    "break": (
        "while a:\n  if b: break\n  g()\nh()",
        """
        break_ = False
        while not break_ and a:
            if b: break_ = True
            else: g()
        h()
        """,
    ),
    "endless": (
        "while True:\n  g()\n  if b: break",
        """
        break_ = False
        while not break_:
            g()
            if b: break_ = True
        """,
    ),
    "continue": (
        "while a:\n  if b:\n    if c: continue\n    g()\n  h()",
        """
        while a:
            continue_ = False
            if b:
                if c: continue_ = True
                else: g()
            if not continue_: h()
        """,
    ),
    "continue_at_once": (
        "while a:\n  if b: continue\n  g()",
        "while a:\n  if b: pass\n  else: g()",
    ),
    "else_without_break": ("while a: g()\nelse: h()", "while a: g()\nh()"),
    "else_with_break": (
        "while a:\n  if b: break\nelse: h()",
        """
        break_ = False
        while not break_ and a:
            if b: break_ = True
        if not break_: h()
        """,
    ),
    "nested": (
        "while a:\n  while b:\n    if c: break\n  if d: break",
        """
        break_ = False
        while not break_ and a:
            break_1 = False
            while not break_1 and b:
                if c: break_1 = True
            if d: break_ = True
        """,
    ),
    "never_reached": ("while a:\n  break\n  g()", None),
}


@pytest.mark.parametrize("name", FORMS)
def test_forms(name):
    source, expected = FORMS[name]
    indented = "\n".join("    " + line for line in source.splitlines())
    got = rewritten(f"def f(a, b):\n{indented}", lower_jumps)
    if expected is None:
        assert not _jumps(ast.parse(got))
        return
    lines = normal(expected).splitlines()
    assert got == normal("def f(a, b):\n" + "\n".join("    " + line for line in lines))


def test_loops_over_something_have_an_extra_test():
    from tests.autograph.sources import tree

    from kinetograph.autograph.passes.build import Namer

    node = tree("def f(a):\n for x in a:\n  if x: return x\n for x in a: g(x)")
    lower_jumps(node, Namer(node))
    loops = [n for n in ast.walk(node) if isinstance(n, ast.For)]
    assert [ast.unparse(getattr(n, "extra_test", ast.Pass())) for n in loops] == [
        "not do_return",
        "pass",
    ]


def test_what_is_left_alone():
    source = """
    def f(a):
        def g():
            while a:
                if b: break
                yield 1
        class A:
            while a: break
        async def h():
            while a:
                return 1
    """
    assert rewritten(source, lower_jumps) == normal(source)


def _jumps(tree):
    """The jumps that are left, but for a `return` at the end."""
    found = [n for n in ast.walk(tree) if isinstance(n, (ast.Break, ast.Continue, ast.Return))]
    ends = [n.body[-1] for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    return [n for n in found if n not in ends]


SKELETONS = {
    "loops": """
        for i in range(3):
            told('i')
            for j in range(3):
                if cond(): {0}
                told('j')
                if cond():
                    told('k')
                    {1}
                told('l')
            else: told('else j')
            if cond(): {1}
        else: told('else i')
        told('end')
    """,
    "while": """
        n = 0
        while n < 3:
            n = n + 1
            if cond(): {0}
            elif cond(): {1}
            else:
                if cond(): told('x')
                else: {0}
                told('y')
        else: told('else')
        told('end')
    """,
    "try": """
        for i in range(3):
            try:
                told('body')
                if cond(): {0}
                if cond(): raise OSError
            except OSError:
                told('handler')
                if cond(): {1}
            else:
                told('else')
                if cond(): {0}
            finally: told('finally')
            told('behind')
    """,
    "with": """
        for i in range(3):
            with swallow():
                if cond(): {0}
                if cond(): raise OSError
                if cond(): {1}
                told('inside')
            told('behind')
        told('end')
    """,
    "star": """
        for i in range(2):
            try:
                if cond(): raise ExceptionGroup('g', [OSError()])
                if cond(): {0}
            except* OSError: told('handler')
            told('behind')
            if cond(): {1}
    """,
}


class Cut:
    """The names that the programs use, with conditions given in advance."""

    def __init__(self, choices):
        self.choices, self.lines = list(choices), []

    def told(self, line):
        self.lines.append(line)

    def cond(self):
        found = bool(self.choices) and self.choices.pop()
        self.lines.append(found)
        return found

    def swallow(self):
        import contextlib

        return contextlib.suppress(OSError)


@pytest.mark.parametrize("name", SKELETONS)
@pytest.mark.parametrize(
    "jumps", list(itertools.product(["break", "continue", "return i_", "pass"], repeat=2))
)
def test_same_as_python(name, jumps):
    """All ways through programs with two kinds of jumps, run as Python."""
    body = SKELETONS[name].format(*jumps).replace("i_", "'value'")
    source = normal(f"def f(told, cond, swallow):{body}")
    lowered = rewritten(source, lower_jumps)
    assert not _jumps(ast.parse(lowered))
    lowered = with_extra_tests(source)
    one, two = runs(source), runs(lowered)
    for choices in itertools.product([True, False], repeat=7):
        first, second = Cut(choices), Cut(choices)
        expected = one(first.told, first.cond, first.swallow)
        assert two(second.told, second.cond, second.swallow) == expected
        assert first.lines == second.lines


def with_extra_tests(source):
    """The lowered function with `if not extra_test: break` at the end of each `for`."""
    from kinetograph.autograph.passes.build import Namer

    node = ast.parse(source).body[0]
    lower_jumps(node, Namer(node))
    for loop in ast.walk(node):
        test = getattr(loop, "extra_test", None)
        if test is not None:
            loop.body.append(ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], []))
    assert hasattr(operators, "retval")
    return ast.unparse(ast.fix_missing_locations(node))
