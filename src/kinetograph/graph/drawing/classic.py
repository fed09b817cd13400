"""The classic dataflow form of branches and loops, for drawings only.

    cond     one Switch for each captured value, whose outputs 0 and 1 feed the two branches, and
             one Merge for each result
    while    Enter -> Merge(enter, next) -> predicate -> LoopCond -> Switch. Output 1 of the Switch
             feeds the body, whose results enter the next trip by NextIteration. Output 0 leaves
             the loop by Exit. Captured values enter by Enter(is_constant=True).
    scan     a while loop with a counter, which selects the row that is read and written

A compiled program has no such operations. `_Classic` converts nodes to the vertices, arrows and
groups of a diagram. The names are the user's names of loop variables and captured values.

Reference: Yu et al. (2018), Dynamic control flow in large-scale machine learning, EuroSys.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ..control.batch import Batch
from ..control.conditional import Cond
from ..control.contexts import ControlFlowContext
from ..control.control_node import Control
from ..control.loops import While
from ..control.scan import Scan
from ..expressions import Expression, apply_expression, atom, call_expression, constant_text
from ..messages import describe, names_in_scope
from ..node import Apply, Bundle, Data, Inner, Node
from .diagram import Diagram, Edge, Group, Vertex
from .from_nodes import is_control, is_part, operands
from .listing import listing

__all__ = ["describe_context", "read_classic"]

LONGEST = 40  # the most characters of an operation that is folded into an expression
LONGEST_NAME = 24  # the most characters of a captured expression used as a name


def read_classic(roots: Iterable[Node], names: dict[int, str]) -> Diagram:
    """The diagram of the roots and their ancestors, in the classic form."""
    classic = _Classic(names)
    for value in classic.read(list(roots), {}, _Scope()):
        if value.text not in value.sources:  # an expression without a name
            classic.add(_Scope(), classic.number(""), "", value)
    return classic.diagram()


def describe_context(context: ControlFlowContext) -> str:
    """The text of a context's conditional or loop, in the classic form."""
    owner = context._owner
    if owner is None:
        captured = [f"  captures {describe(node)}" for node in context.external_values]
        return "\n".join([f"{context.title}: not finished, or no longer in use", *captured])
    classic = _Classic(names_in_scope())
    inputs = [_Flow(atom(describe(node, classic.names))) for node in owner.parents]
    classic.control(owner, inputs, _Scope())
    return listing(classic.diagram())


class _Flow(NamedTuple):
    """A value on an arrow: its expression and its sources.

    The outputs of a Switch have the names `x/switch:0` and `x/switch:1`.
    """

    expression: Expression
    sources: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return self.expression.text


class _Scope(NamedTuple):
    """The innermost group of new vertices, and the prefix of their names."""

    group: int | None = None
    prefix: str = ""


class _Classic:
    """The classic form under construction.

    `names` has the names of nodes by `id`.
    """

    def __init__(self, names: dict[int, str]) -> None:
        self.names = names
        self.vertices: list[Vertex] = []
        self.groups: list[Group] = []
        self._sources: list[list[str]] = []  # of each vertex
        self._taken: set[str] = set()
        self._numbers: Counter[str] = Counter()  # the last number used, by prefix

    def diagram(self) -> Diagram:
        """The diagram, with an arrow for each source of each vertex."""
        places = {vertex.name: i for i, vertex in enumerate(self.vertices)}
        edges: dict[Edge, None] = {}
        for target, sources in enumerate(self._sources):
            for source in sources:
                name, _, output = (source, "", "") if source in places else source.rpartition(":")
                edges[Edge(places[name], target, output)] = None
        return Diagram(self.vertices, list(edges), self.groups)

    def add(
        self, scope: _Scope, name: str, op: str, *inputs: _Flow, node: Node | None = None
    ) -> _Flow:
        """Append a vertex, and return its value.

        An empty `op` is an ordinary computation, or a leaf if `node` is not an operation.
        """
        self._taken.add(name)
        text = ", ".join(value.text for value in inputs)
        text = f"{op}({text})" if op else text
        leaf = node is not None and not isinstance(node, Apply)
        distribution = getattr(node, "distribution", None) is not None
        constant = isinstance(node, Data) and node.literal
        vertex = Vertex(
            kind=node.kind if node is not None and leaf else "control" if op else "operation",
            name=name,
            caption=op or ("" if leaf and not (distribution or constant) else text),
            definition=f"~ {text}" if distribution else text if leaf else f"= {text}",
            handle=name,
            shape=() if node is None else node.shape,
            dims=None if node is None else node.dims,
            group=scope.group,
        )
        self.vertices.append(vertex)
        self._sources.append([source for value in inputs for source in value.sources])
        return _named(name)

    def read(self, outputs: Sequence[Node], given: dict[Node, _Flow], scope: _Scope) -> list[_Flow]:
        """Append the computation of one level, and return the outputs.

        Branches and loops in it are included. Operations are folded into expressions, but an
        operation with several uses has a separate line.
        """
        values, results = dict(given), dict[Node, list[_Flow]]()
        order = _closure(outputs, values)
        uses = Counter(parent for node in order for parent in _operands(node))
        for node in order:
            if is_control(node):
                assert isinstance(node, Control)
                inner = _Scope(scope.group, self._free(node.contexts[0].name) + "/")
                results[node] = self.control(node, [values[p] for p in node.parents], inner)
            if isinstance(node, Bundle):
                continue
            operation = isinstance(node, Apply)
            if is_part(node) and node.parents[0] in results:
                value, shared = results[node.parents[0]][node.attributes["place"]], False  # type: ignore[attr-defined]
            else:
                value = _value(node, [values[p] for p in _operands(node)])
                long = len(value.text) > LONGEST
                shared = operation and (uses[node] > 1 or (uses[node] > 0 and long))
            leaf = not operation and not (isinstance(node, Data) and node.literal)
            known_as = self.names.get(id(node)) if scope.group is None else None
            if leaf or known_as or shared:
                name = scope.prefix + (known_as or node.name or self.number(scope.prefix))
                value = self.add(scope, self._free(name), "", value, node=node)
            values[node] = value
        return [values[node] for node in outputs]

    def control(self, node: Control, inputs: Sequence[_Flow], scope: _Scope) -> list[_Flow]:
        """Append a conditional, loop or batch, and return its results."""
        note = ""
        if isinstance(node, While) and node.bounded:
            bound = node.bound if node.bound is not None else inputs[-1].text
            note = f"at most {bound} trips: their counter is not shown"
        if isinstance(node, Scan):
            note = "as a while loop, whose counter selects the row that is read and written"
        if isinstance(node, Batch):
            note = "all rows at once, without a loop"
        title = node.title + (f" ({node.site})" if node.site else "")
        scope = self._group(node.contexts[0].name, title, scope, note)
        if isinstance(node, Cond):
            return self._cond(node, inputs, scope)
        if isinstance(node, While):
            return self._while(node, inputs, scope)
        if isinstance(node, Scan):
            return self._scan(node, inputs, scope)
        return self._batch(node, inputs, scope)

    def _group(self, name: str, title: str, scope: _Scope, note: str = "") -> _Scope:
        self.groups.append(Group(name, title, (note,) if note else (), scope.group))
        return _Scope(len(self.groups) - 1, scope.prefix)

    # The form of each kind of control node.
    def _cond(self, node: Cond, inputs: Sequence[_Flow], scope: _Scope) -> list[_Flow]:
        is_switch = len(node.subgraphs) > 2 or node.parents[0].dtype.kind != "b"
        selector = "index" if is_switch else "predicate"
        index = self.add(scope, f"{scope.prefix}{selector}", "", inputs[0])
        names: dict[int, str] = {}
        for subgraph, places in zip(node.subgraphs, node.places, strict=True):
            for inner, place in zip(subgraph.inputs, places, strict=True):
                if place not in names:
                    names[place] = self._name(inner, scope)
        op = "SwitchN" if is_switch else "Switch"
        for place, name in sorted(names.items()):
            self.add(scope, f"{name}/switch", op, inputs[1 + place], index)
        results: dict[int, list[_Flow]] = {}
        # As in the reference, the branch of a true predicate comes first.
        for number in range(len(node.subgraphs)) if is_switch else (1, 0):
            subgraph, places = node.subgraphs[number], node.places[number]
            pivot = node.contexts[number].pivot  # type: ignore[attr-defined]
            case = number if is_switch else ("false", "true")[number]
            branch = self._group(pivot, f"{pivot}: {selector} is {case}", scope)
            branch = branch._replace(prefix=f"{scope.prefix}{pivot}/")
            branch_inputs = [_named(f"{names[place]}/switch:{number}") for place in places]
            values = self.read(
                subgraph.outputs, dict(zip(subgraph.inputs, branch_inputs, strict=True)), branch
            )
            results[number] = self._add_all(
                branch, _numbered(f"{branch.prefix}result", values), "", zip(values)
            )
        merged = zip(*(results[number] for number in sorted(results)), strict=True)
        return self._add_all(scope, _numbered(f"{scope.prefix}merge", values), "Merge", merged)

    def _while(self, node: While, inputs: Sequence[_Flow], scope: _Scope) -> list[_Flow]:
        predicate, body = node.subgraphs
        count = node.carried
        names = [self._name(inner, scope) for inner in predicate.inputs[:count]]

        def judge(merges: list[_Flow], constants: list[_Flow]) -> _Flow:
            given = dict(zip(predicate.inputs, [*merges, *constants], strict=True))
            verdict, *versions = self.read(predicate.outputs, given, scope)
            for place, version in zip(node.judging, versions, strict=True):
                # The predicate assigns this state: the body and later nodes read the new version.
                merges[place] = self._as_node(scope, f"{names[place]}/judged", version)
            return verdict

        def turn(entering: list[_Flow], constants: list[_Flow]) -> list[_Flow]:
            given = dict(zip(body.inputs, [*entering, *constants], strict=True))
            return self.read(body.outputs, given, scope)

        captured = zip(predicate.inputs[count:], inputs[count:])  # a bound may follow
        exits = self._loop(names, inputs[:count], captured, judge, turn, scope)
        ends = (f"{scope.prefix}loop_cond",)
        return exits + [_Flow(atom(f"{scope.prefix}{n}"), ends) for n in ("trips", "truncated")]

    def _scan(self, node: Scan, inputs: Sequence[_Flow], scope: _Scope) -> list[_Flow]:
        (body,) = node.subgraphs
        count = node.carried
        results = [f"ys[{i}]" if node.results > 1 else "ys" for i in range(node.results)]
        names = [
            self._free(f"{scope.prefix}counter"),
            *(self._name(inner, scope) for inner in body.inputs[:count]),
            *(self._free(f"{scope.prefix}{result}") for result in results),
        ]
        empty = [_Flow(atom(f"zeros({node.length})"))] * node.results

        def judge(merges: list[_Flow], constants: list[_Flow]) -> _Flow:
            return _joined(Expression(f"{merges[0].text} < {node.length}", 1), merges[0])

        def turn(entering: list[_Flow], constants: list[_Flow]) -> list[_Flow]:
            counter, *carried = entering
            row = f"{node.length - 1} - {counter.text}" if node.reverse else counter.text
            rows = [_joined(atom(f"{x.text}[{row}]"), x, counter) for x in constants[: node.rows]]
            inside = [*carried[:count], *rows, *constants[node.rows :]]
            values = self.read(body.outputs, dict(zip(body.inputs, inside, strict=True)), scope)
            written = [
                _joined(atom(f"{array.text}.at[{row}].set({value.text})"), array, counter, value)
                for array, value in zip(carried[count:], values[count:], strict=True)
            ]
            later = _joined(Expression(f"{counter.text} + 1", 5), counter)
            return [later, *values[:count], *written]

        starts = [_Flow(atom("0")), *inputs[:count], *empty]
        captured = zip(body.inputs[count:], inputs[count:])
        return self._loop(names, starts, captured, judge, turn, scope)[1:]

    def _loop(
        self,
        names: Sequence[str],
        starts: Sequence[_Flow],
        captured: Iterable[tuple[Node, _Flow]],
        judge: Callable[[list[_Flow], list[_Flow]], _Flow],
        turn: Callable[[list[_Flow], list[_Flow]], list[_Flow]],
        scope: _Scope,
    ) -> list[_Flow]:
        """Append a loop, and return its results.

        `judge` appends the predicate, and `turn` the body.
        """

        def ends_of(end: str) -> list[str]:
            return [f"{name}/{end}" for name in names]

        self._add_all(scope, ends_of("enter"), "Enter", zip(starts))
        ends = [(_named(f"{name}/enter"), _named(f"{name}/next")) for name in names]
        merges = self._add_all(scope, ends_of("merge"), "Merge", ends)
        fixed = _Flow(atom("is_constant=True"))
        constants = [
            self.add(scope, f"{self._name(inner, scope)}/enter", "Enter", value, fixed)
            for inner, value in captured
        ]
        predicate = self.add(scope, f"{scope.prefix}predicate", "", judge(merges, constants))
        loop_cond = self.add(scope, f"{scope.prefix}loop_cond", "LoopCond", predicate)
        self._add_all(scope, ends_of("switch"), "Switch", [(m, loop_cond) for m in merges])
        values = turn([_named(f"{name}/switch:1") for name in names], constants)
        pairs = zip(names, values, strict=True)
        nexts = [self._as_node(scope, f"{name}/body", value) for name, value in pairs]
        self._add_all(scope, ends_of("next"), "NextIteration", zip(nexts))
        leaving = [(_named(f"{name}/switch:0"),) for name in names]
        return self._add_all(scope, ends_of("exit"), "Exit", leaving)

    def _batch(self, node: Control, inputs: Sequence[_Flow], scope: _Scope) -> list[_Flow]:
        (body,) = node.subgraphs
        given = {}
        for inner, value in zip(body.inputs, inputs, strict=True):
            op = "Rows" if isinstance(inner, Inner) and inner.role == "row" else "Capture"
            given[inner] = self.add(scope, f"{self._name(inner, scope)}/{op.lower()}", op, value)
        values = self.read(body.outputs, given, scope)
        return self._add_all(scope, _numbered(f"{scope.prefix}stack", values), "Stack", zip(values))

    # Several vertices, and their names.
    def _add_all(
        self, scope: _Scope, names: Iterable[str], op: str, inputs: Iterable[tuple[_Flow, ...]]
    ) -> list[_Flow]:
        pairs = zip(names, inputs, strict=True)
        return [self.add(scope, name, op, *values) for name, values in pairs]

    def _as_node(self, scope: _Scope, name: str, value: _Flow) -> _Flow:
        """Add a vertex for a value that is not a vertex already."""
        return value if value.text in value.sources else self.add(scope, name, "", value)

    def _name(self, inner: Node, scope: _Scope) -> str:
        """Make a name for a loop variable or captured value."""
        captured = isinstance(inner, Inner) and inner.role == "captured"
        text = describe(inner, self.names) if captured else inner.label()
        if len(text) > LONGEST_NAME or "..." in text:
            text = self.number(scope.prefix)
        elif " " in text:
            text = f"({text})"
        return self._free(scope.prefix + text)

    def _free(self, name: str) -> str:
        """Reserve a name; add a number if the name is taken."""
        free_name, number = name, 2
        while free_name in self._taken:
            free_name, number = f"{name}_{number}", number + 1
        self._taken.add(free_name)
        return free_name

    def number(self, prefix: str) -> str:
        """Make a name for an unnamed node from the next number."""
        self._numbers[prefix] += 1
        return f"#{self._numbers[prefix]}"


def _named(name: str) -> _Flow:
    return _Flow(atom(name), (name,))


def _numbered(name: str, values: Sequence[_Flow]) -> list[str]:
    """The names of results: `name`, or `name[0]`, `name[1]`, ..."""
    return [f"{name}[{i}]" for i in range(len(values))] if len(values) > 1 else [name]


def _joined(expression: Expression, *parts: _Flow) -> _Flow:
    """An expression of the given parts, with their sources."""
    return _Flow(expression, tuple(dict.fromkeys(s for part in parts for s in part.sources)))


def _value(node: Node, parts: Sequence[_Flow]) -> _Flow:
    """The value of a node outside conditionals and loops."""
    expressions = [part.expression for part in parts]
    distribution = getattr(node, "distribution", None)
    if isinstance(node, Data) and node.literal:
        return _Flow(atom(constant_text(node)))
    if is_part(node):
        call = node.parents[0].call(node.attributes["place"])  # type: ignore[attr-defined]
        return _joined(call_expression(call, expressions), *parts)
    if isinstance(node, Apply) or distribution is not None:
        return _joined(apply_expression(distribution or node, expressions), *parts)
    return _joined(atom(node.kind), *parts)


def _operands(node: Node) -> tuple[Node, ...]:
    """The operands of a node, or of the distribution that it follows."""
    distribution = getattr(node, "distribution", None)
    return operands(node) if distribution is None else distribution.parents


def _closure(outputs: Iterable[Node], given: dict[Node, _Flow]) -> list[Node]:
    """The nodes that the outputs are computed from, in order of creation."""
    nodes: dict[Node, None] = {}
    stack = [*outputs]
    while stack:
        node = stack.pop()
        if node not in nodes and node not in given:
            nodes[node] = None
            stack += _operands(node)
    return sorted(nodes, key=lambda node: node.serial)
