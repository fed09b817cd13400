"""Liveness and reaching definitions: known answers, and programs that are watched as they run."""

import ast
import textwrap

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, event, given, settings

from kinetograph.autograph.analysis.activity import activity
from kinetograph.autograph.analysis.cfg import FlowGraph
from kinetograph.autograph.analysis.dataflow import UNDEFINED, live_before, reaching_definitions


class Flow:
    """Both analyses of a body of statements."""

    def __init__(self, source, parameters=()):
        self.tree = ast.parse(textwrap.dedent(source))
        self.graph = FlowGraph(self.tree.body, parameters)
        self.live = live_before(self.graph.points)
        names = activity(self.tree).binds | activity(self.tree).removes
        self.reaching = reaching_definitions(self.graph, names - set(parameters))
        self.statements = [n for n in ast.walk(self.tree) if isinstance(n, ast.stmt)]

    def at(self, text):
        """The statement that reads so, or begins with such a line."""
        (found,) = [n for n in self.statements if ast.unparse(n).splitlines()[0] == text]
        return found

    def live_before(self, text):
        return {n for n in self.live[self.graph.before[self.at(text)]] if len(n) == 1}

    def live_after(self, text):
        return {n for n in self.live[self.graph.after[self.at(text)]] if len(n) == 1}

    def maybe_undefined(self, text):
        found = self.reaching[self.graph.before[self.at(text)]]
        return {name for name, points in found.items() if UNDEFINED in points}

    def definitions(self, text, name):
        """The texts of what may have bound a name."""
        points = self.reaching[self.graph.before[self.at(text)]][name]
        return {ast.unparse(p.code[0]) if p else None for p in points}


def test_live_in_a_line():
    flow = Flow("x = a\ny = x\nx = b\nreturn x")
    assert flow.live_before("x = a") == {"a", "b"}
    assert flow.live_before("y = x") == {"x", "b"}
    assert flow.live_after("y = x") == {"b"}
    assert flow.live_after("x = b") == {"x"}


def test_live_in_branches():
    flow = Flow("if t:\n x = a\nelse:\n y = b\nreturn x")
    assert flow.live_before("if t:") == {"t", "a", "b", "x"}
    assert flow.live_before("x = a") == {"a"}
    assert flow.live_before("y = b") == {"b", "x"}
    assert flow.live_after("if t:") == {"x"}


def test_live_in_loops():
    flow = Flow("while t:\n x = y\n y = x + z\n w = 1\nreturn y")
    assert flow.live_before("while t:") == {"t", "y", "z"}
    assert flow.live_before("x = y") == {"t", "y", "z"}
    assert flow.live_before("w = 1") == {"t", "y", "z"}
    assert flow.live_after("while t:") == {"y"}


def test_what_is_removed_is_not_live_before():
    flow = Flow("try:\n x = a\nexcept E as e:\n y = b\nreturn e")
    assert flow.live_before("y = b") == {"b"}
    assert "e" in flow.live_before("x = a")  # its end leads past the handler


def test_definitions_before_and_after_a_point_reach_its_handler():
    flow = Flow("x = a\ntry:\n x = b\n raise (x := c)\nexcept E:\n y = x")
    assert flow.definitions("y = x", "x") == {"x = a", "x = b", "raise (x := c)"}


def test_live_over_break_and_else():
    flow = Flow("for i in r:\n if t: break\n x = i\nelse:\n x = a\nreturn x")
    assert flow.live_before("break") == {"x"}
    assert flow.live_before("x = i") == {"i", "t", "a"}
    assert "x" not in flow.live_before("x = a")


def test_live_over_patterns():
    flow = Flow("x = a\nmatch s:\n case [x, 1]: y = x\n case _: y = x\nreturn y")
    assert "x" in flow.live_after("x = a")  # the pattern may not fit


def test_live_in_handlers():
    flow = Flow("try:\n x = f()\n x = g()\nexcept E:\n y = x\nreturn y")
    assert "x" in flow.live_before("x = f()")  # an exception comes before anything is bound
    assert "x" in flow.live_after("x = f()")
    assert "x" not in flow.live_after("y = x")


def test_live_over_finally():
    flow = Flow("try:\n return a\nfinally:\n b = c\nreturn d")
    assert flow.live_before("return a") == {"a", "c", "d"}


def test_attributes():
    flow = Flow("a.b = x\nreturn a.b")
    assert "a" in flow.live[flow.graph.before[flow.at("a.b = x")]]
    assert "a.b" not in flow.live[flow.graph.before[flow.at("a.b = x")]]
    assert "a.b" in flow.live[flow.graph.after[flow.at("a.b = x")]]


def test_definitions():
    flow = Flow("x = 1\nif t:\n x = 2\n y = 3\nwhile u:\n x = x + 1\nreturn x")
    assert flow.definitions("x = 2", "x") == {"x = 1"}
    assert flow.definitions("return x", "x") == {"x = 1", "x = 2", "x = x + 1"}
    assert flow.definitions("return x", "y") == {"y = 3", None}
    assert flow.maybe_undefined("return x") == {"y"}
    assert flow.maybe_undefined("x = 1") == {"x", "y"}


@pytest.mark.parametrize(
    ("source", "undefined"),
    [
        ("if t: x = 1\nreturn x", {"x"}),
        ("if t: x = 1\nelse: x = 2\nreturn x", set()),
        ("if t: x = 1\nelse: raise E\nreturn x", set()),
        ("for i in r: x = i\nreturn x", {"x", "i"}),
        ("while True:\n x = 1\n break\nreturn x", {"x"}),
        ("x = 1\ndel x\nreturn x", {"x"}),
        ("try: x = f()\nexcept E: pass\nreturn x", {"x"}),
        ("try: x = f()\nexcept E: x = 0\nreturn x", set()),
        ("try: x = f()\nfinally: g()\nreturn x", {"x"}),
        ("try: f()\nexcept E as e: x = 1\nelse: x = 2\nreturn x", {"e"}),
        ("with c as x: pass\nreturn x", set()),
        ("f((x := 1))\nreturn x", set()),
    ],
)
def test_perhaps_undefined(source, undefined):
    assert Flow(source).maybe_undefined("return x") == undefined


def test_code_that_is_never_reached():
    flow = Flow("return a\nx = 1\ny = x")
    assert flow.reaching[flow.graph.before[flow.at("y = x")]] == {}
    assert flow.live_before("y = x") == {"x"}


def test_parameters_are_defined():
    flow = Flow("if t: x = 1\nreturn x", ["x"])
    assert flow.maybe_undefined("return x") == set()


# Programs that are watched.
NAMES = ["a", "b", "c", "d"]
LINE = st.sampled_from(
    [f"{x} = {y} + 1" for x in NAMES for y in NAMES]
    + [f"{x} = 0" for x in NAMES]
    + [f"del {x}" for x in NAMES]
    + ["fail()", "break", "continue", "return a", "(b := 2)", "c += 1"]
)


def blocks(inner):
    body = st.lists(inner, min_size=1, max_size=3)
    indent = lambda lines: [f"    {line}" for part in lines for line in part]
    two = st.tuples(body, body)
    return st.one_of(
        two.map(lambda p: ["if choose():", *indent(p[0]), "else:", *indent(p[1])]),
        body.map(lambda p: ["if choose():", *indent(p)]),
        body.map(lambda p: ["while choose():", *indent(p)]),
        two.map(lambda p: ["for d in some():", *indent(p[0]), "else:", *indent(p[1])]),
        two.map(lambda p: ["try:", *indent(p[0]), "except OSError as c:", *indent(p[1])]),
        two.map(
            lambda p: [
                *["try:", *indent(p[0]), "except Exception:", "    c = 1"],
                *["else:", *indent(p[1])],
            ]
        ),
        two.map(lambda p: ["try:", *indent(p[0]), "finally:", *indent(p[1])]),
    )


PROGRAMS = st.lists(
    st.recursive(LINE.map(lambda line: [line]), blocks, max_leaves=12), min_size=1, max_size=4
)


class Watch(ast.NodeTransformer):
    """Lets a program tell what it reads, binds and removes, and before which statement it is."""

    def __init__(self):
        self.number = {}

    def block(self, body):
        done = []
        for statement in body:
            number = self.number[statement] = len(self.number)
            before = ast.parse(f"tell('before', {number})").body[0]
            made = self.visit(statement)
            done += [before, *(made if isinstance(made, list) else [made])]
        return done

    def generic_visit(self, node):
        for field in ("body", "orelse", "finalbody"):
            if getattr(node, field, None):
                setattr(node, field, self.block(getattr(node, field)))
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                setattr(node, field, self.visit(value))
        for handler in getattr(node, "handlers", ()):
            handler.body = self.block(handler.body)
            if handler.name:
                handler.body.insert(0, ast.parse(f"tell('bind', {handler.name!r})").body[0])
        if isinstance(node, ast.For):
            node.body.insert(0, ast.parse(f"tell('bind', {node.target.id!r})").body[0])
        return node

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load) and node.id in NAMES:
            return ast.parse(f"(tell('read', {node.id!r}), {node.id})[1]", mode="eval").body
        return node

    def visit_NamedExpr(self, node):
        bound = ast.unparse(node)
        return ast.parse(f"(({bound}), tell('bind', {node.target.id!r}))[0]", mode="eval").body

    def visit_Assign(self, node):
        node.value = self.visit(node.value)
        return [node, ast.parse(f"tell('bind', {node.targets[0].id!r})").body[0]]

    def visit_AugAssign(self, node):
        name = node.target.id
        told = ast.parse(f"tell('read', {name!r})").body[0]
        return [told, node, ast.parse(f"tell('bind', {name!r})").body[0]]

    def visit_Delete(self, node):
        name = node.targets[0].id
        return [node, ast.parse(f"tell('remove', {name!r})").body[0]]


def watched(tree, watch, choices):
    """What a run with these choices told, in order."""
    body = watch.block(tree.body)
    names = ast.parse("def program(tell, choose, some, fail): pass")
    names.body[0].body = body
    made = {}
    exec(compile(ast.fix_missing_locations(names), "<watched>", "exec"), made)
    told, left = [], list(choices)
    decide = lambda: bool(left) and left.pop()

    def fail():
        if decide():
            raise OSError if decide() else ValueError

    def some():
        while decide():
            yield len(left)

    try:
        made["program"](lambda *event: told.append(event), decide, some, fail)
    except (OSError, ValueError, NameError):
        pass
    return told


def observed(told):
    """Names read later, before being bound anew; and names unbound, before each statement."""
    live, unbound = [], []
    wanted = set()
    for kind, what in reversed(told):
        if kind == "read":
            wanted.add(what)
        elif kind in ("bind", "remove"):
            wanted.discard(what)
        else:
            live.append((what, set(wanted)))
    bound = set()
    for kind, what in told:
        if kind == "bind":
            bound.add(what)
        elif kind == "remove":
            bound.discard(what)
        elif kind == "before":
            unbound.append((what, set(NAMES) - bound))
    return live, unbound


def is_valid(tree):
    try:
        function = ast.parse("def program(): pass")
        function.body[0].body = tree.body
        compile(function, "<program>", "exec")
    except SyntaxError:
        return False
    return True


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(PROGRAMS, st.lists(st.booleans(), max_size=25))
def test_nothing_a_run_shows_is_missed(parts, choices):
    """What is observed in a run is part of what the analyses say of all runs."""
    source = "\n".join(line for part in parts for line in part)
    flow = Flow(source)
    if not is_valid(flow.tree):
        return
    names = {n for n in NAMES if n in activity(flow.tree).binds | activity(flow.tree).removes}
    before = {statement: flow.graph.before[statement] for statement in flow.graph.before}
    watch = Watch()
    told = watched(flow.tree, watch, choices)
    points = {number: before[statement] for statement, number in watch.number.items()}
    live, unbound = observed(told)
    event(f"{len(told) // 10 * 10} events")
    for number, wanted in live:
        assert wanted <= flow.live[points[number]] | _of_exceptions(wanted, told), source
    for number, missing in unbound:
        reaching = flow.reaching[points[number]]
        perhaps = {n for n, found in reaching.items() if UNDEFINED in found}
        assert missing & names <= perhaps, source


def _of_exceptions(wanted, told):
    """The name of a caught exception goes at the end of its handler, which nobody tells."""
    return wanted & {"c"}
