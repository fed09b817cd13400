"""`match` as a chain of `if`."""

import ast

import pytest
from tests.autograph.sources import normal, rewritten, runs

from kinetograph.autograph.passes.matching import literals, lower_match


def test_literals_in_order():
    got = rewritten(
        "def f(x):\n match x:\n  case 0 | 1: A\n  case None: B\n  case _: C", lower_match
    )
    assert got == normal(
        """
        def f(x):
            subject = x
            def case_1(subject):
                match subject:
                    case 0 | 1:
                        return True
                return False
            if ag__.matches(subject, case_1, (0, 1)):
                A
            else:
                def case(subject):
                    match subject:
                        case None:
                            return True
                    return False
                if ag__.matches(subject, case, (None,)):
                    B
                else:
                    C
        """
    )


def test_captures_are_bound_in_the_function():
    got = rewritten("def f(x):\n match x:\n  case [a, {'k': b, **c}, *d] as e if a: A", lower_match)
    assert "nonlocal a, b, c, d, e" in got
    assert "if ag__.matches(subject, case, None) and a:" in got


def test_captured_globals():
    got = rewritten("def f(x):\n global a\n match x:\n  case [a, b]: A", lower_match)
    assert "nonlocal b" in got
    assert got.count("global a") == 2


def test_a_bare_name():
    got = rewritten("def f(x):\n match x:\n  case n if n > 3: A\n  case m: B", lower_match)
    assert got == normal(
        """
        def f(x):
            subject = x
            n = subject
            if n > 3:
                A
            else:
                m = subject
                B
        """
    )


def test_fresh_names():
    got = rewritten("def f(subject, case):\n match subject:\n  case [a]: A", lower_match)
    assert "subject_1 = subject" in got
    assert "def case_1(subject_1):" in got


def test_what_is_left_alone():
    source = """
    def f(x):
        class A:
            match x:
                case 1: y = 2
        def g():
            match x:
                case 1: yield 2
        async def h():
            match x:
                case 1: return 2
    """
    assert rewritten(source, lower_match) == normal(source)


def test_functions_inside():
    got = rewritten("def f(x):\n def g():\n  match x:\n   case 1: return 2", lower_match)
    assert "ag__.matches" in got


def known(pattern):
    case = ast.parse(f"match x:\n case {pattern}: pass").body[0].cases[0]
    found = literals(case.pattern)
    return None if found is None else [ast.unparse(v) for v in found]


@pytest.mark.parametrize(
    ("pattern", "values"),
    [
        ("1", ["1"]),
        ("-1", ["-1"]),
        ("1 + 2j", ["1 + 2j"]),
        ("'a' | True | None", ["'a'", "True", "None"]),
        ("A.B", ["A.B"]),
        ("[1]", None),
        ("1 | [2]", None),
        ("int()", None),
        ("{1: 2}", None),
        ("1 as x", None),
        ("x", None),
    ],
)
def test_literals(pattern, values):
    assert known(pattern) == values


SOURCE = """
def f(x):
    match x:
        case 0 | 1: return "bit"
        case True | None: return "singleton"
        case [a, b] if a == b: return "pair", a
        case [a, *rest]: return "list", a, rest
        case {"k": v, **more}: return "map", v, more
        case complex(real=r, imag=0.0): return "real", r
        case str() as s: return "text", s
        case int(n) | float(n): return "number", n
    return "nothing"
"""
SUBJECTS = [
    0,
    1.0,
    True,
    None,
    [1, 1],
    (1, 2, 3),
    [],
    {"k": 1, "l": 2},
    {},
    2j,
    3 + 0j,
    "ab",
    7,
    {1},
]


@pytest.mark.parametrize("subject", SUBJECTS, ids=repr)
def test_same_as_python(subject):
    original, lowered = runs(SOURCE), runs(rewritten_whole(SOURCE))
    assert lowered(subject) == original(subject)


def rewritten_whole(source):
    from tests.autograph.sources import function

    import kinetograph as kg

    return kg.autograph.to_code(function(source))
