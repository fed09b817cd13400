"""Which point of a function follows which."""

import ast
import textwrap

import pytest

from kinetograph.autograph.analysis.cfg import FlowGraph


def paths(source, longest=40):
    """All ways through a body that go round a loop once at most, as the names that are called."""
    graph = FlowGraph(ast.parse(textwrap.dedent(source)).body)
    found = set()

    def walk(point, told, visits):
        if visits.get(point, 0) > 1 or len(told) > longest:
            return
        names = [n for n in sorted(point.activity.reads) if len(n) == 1]
        told = (*told, *names)
        if point is graph.end:
            found.add("".join(told))
        visits = {**visits, point: visits.get(point, 0) + 1}
        for successor in point.successors:
            walk(successor, told, visits)

    walk(graph.start, (), {})
    return found


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a()\nb()", {"ab"}),
        ("if t: a()\nb()", {"tab", "tb"}),
        ("if t: a()\nelse: c()\nb()", {"tab", "tcb"}),
        ("if t: return a\nb()", {"ta", "tb"}),
        ("if t: raise a\nb()", {"tb"}),
        ("return a\nb()", {"a"}),
        ("while t: a()\nb()", {"tb", "tatb"}),
        ("while t: a()\nelse: e()\nb()", {"teb", "tateb"}),
        ("while t:\n a()\n break\nelse: e()\nb()", {"teb", "tab"}),
        ("while t:\n if u: continue\n a()\nb()", {"tb", "tutb", "tuatb"}),
        ("for i in r: a()\nb()", {"rb", "rab"}),
        ("for i in r:\n break\nelse: e()\nb()", {"rb", "reb"}),
        ("with c as d: a()\nb()", {"cab"}),
        ("try: a()\nexcept E: h()\nelse: o()\nb()", {"aob"}),
        ("try: a()\nfinally: f()\nb()", {"afb", "af"}),
        ("try: return a\nfinally: f()\nb()", {"af", "afb"}),
    ],
)
def test_ways_without_exceptions(source, expected):
    """All that goes through a `finally` shares its points, so there are more ways."""
    assert paths(source) == expected


def raising(source):
    """For each statement that is an expression, whether exceptions at it go to a handler."""
    tree = ast.parse(textwrap.dedent(source))
    graph = FlowGraph(tree.body)
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Expr)]
    return {ast.unparse(n): bool(graph.before[n].successors[0].raises) for n in calls}


def test_where_exceptions_go():
    got = raising(
        """
        before()
        try:
            body()
            with c: inner()
        except E:
            handler()
        else:
            orelse()
        try: tried()
        except E: also()
        finally: final()
        """
    )
    assert got == {
        "before()": False,
        "body()": True,
        "inner()": True,
        "handler()": False,
        "orelse()": False,
        "tried()": True,
        "also()": True,
        "final()": False,
    }


def test_all_statements_have_a_point_before_and_after():
    source = """
    for i in r:
        if i: break
        continue
    while t:
        try: a()
        except* E as e: b()
        finally: c()
    return e
    f()
    """
    tree = ast.parse(textwrap.dedent(source))
    graph = FlowGraph(tree.body, ["p"])
    statements = {n for n in ast.walk(tree) if isinstance(n, ast.stmt)}
    assert set(graph.before) == set(graph.after) == statements
    assert set(graph.before.values()) <= set(graph.points)
    assert graph.start.activity.binds == {"p"}
    assert len(set(map(id, graph.points))) == len(graph.points)
