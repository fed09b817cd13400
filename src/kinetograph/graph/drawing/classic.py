"""The classic dataflow form of branches and loops, for drawings only.

    cond     one Switch for each captured value, whose outputs 0 and 1 feed the two branches, and
             one Merge for each result
    while    Enter -> Merge(enter, next) -> predicate -> LoopCond -> Switch. Output 1 of the Switch
             feeds the body, whose results enter the next trip by NextIteration. Output 0 leaves
             the loop by Exit. Captured values enter by Enter(is_constant=True).
    scan     a while loop with a counter, which selects the row that is read and written

A compiled program has no such operations. `Classic` converts nodes to a list of `ClassicNode`s,
frame by frame; `classic_diagram` makes text and pictures from them. The nodes have the user's names
of loop variables and captured values.

Reference: Yu et al. (2018), Dynamic control flow in large-scale machine learning, EuroSys.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..control.batch import Batch
from ..control.conditional import Cond
from ..control.control_node import Control
from ..control.loops import While
from ..control.scan import Scan
from ..expressions import Expression, apply_expression, atom, call_expression, constant_text
from ..messages import describe
from ..node import PART, Apply, Bundle, Data, Inner, Node

__all__ = ["Classic", "ClassicFrame", "ClassicNode", "FlowValue"]

LONGEST = 40  # the most characters of an operation that is folded into an expression
LONGEST_NAME = 24  # the most characters of a captured expression used as a name


class FlowValue(NamedTuple):
    """A value on an arrow: its expression and its source nodes.

    The outputs of a Switch have the names `x/switch:0` and `x/switch:1`.
    """

    expression: Expression
    sources: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The text of the expression."""
        return self.expression.text


@dataclass(frozen=True)
class ClassicNode:
    """A node of the classic form.

    A node with an empty `op` is an ordinary computation or a leaf.
    """

    name: str
    op: str
    inputs: tuple[FlowValue, ...]
    frame: int | None
    constant: bool = False
    node: Node | None = None  # the node of the graph, if there is one

    @property
    def text(self) -> str:
        """The right side of the node's line in the listing."""
        texts = [value.text for value in self.inputs]
        if not self.op:
            return ", ".join(texts)
        return f"{self.op}({', '.join([*texts, *['is_constant=True'] * self.constant])})"


class ClassicFrame(NamedTuple):
    """A conditional, a branch or a loop; `outer` is the enclosing frame."""

    name: str
    title: str
    notes: tuple[str, ...]
    outer: int | None


class Classic:
    """The nodes and frames of the classic form, in reading order.

    `node_names` has the names of nodes by `id`.
    """

    def __init__(self, node_names: dict[int, str]) -> None:
        self.node_names = node_names
        self.nodes: list[ClassicNode] = []
        self.frames: list[ClassicFrame] = []
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}  # the last number used, by prefix

    def add(
        self, name: str, op: str, *inputs: FlowValue, frame: int | None, constant: bool = False,
        node: Node | None = None,
    ) -> FlowValue:  # fmt: skip
        """Append a node, and return its value."""
        self._taken.add(name)
        self.nodes.append(ClassicNode(name, op, inputs, frame, constant, node))
        return FlowValue(atom(name), (name,))

    def graph(
        self,
        outputs: Sequence[Node],
        given: dict[Node, FlowValue],
        frame: int | None,
        prefix: str,
    ) -> list[FlowValue]:
        """Append the computation of one level, and return the outputs.

        Branches and loops in it are included. Operations are folded into expressions, but an
        operation with several uses has a separate line.
        """
        values, results = dict(given), dict[Node, list[FlowValue]]()
        order = _closure(outputs, values)
        uses: dict[Node, int] = {}
        for node in order:
            for parent in _operands(node):
                uses[parent] = uses.get(parent, 0) + 1
        for node in order:
            if isinstance(node, Control) and node.contexts:
                inputs = [values[p] for p in node.parents]
                scope = self._free(node.contexts[0].name)  # the prefix of all names inside
                results[node] = self.control(node, inputs, frame, scope + "/")
                continue
            if isinstance(node, Bundle):
                continue
            place = node.attributes["place"] if _is_part(node) else 0  # type: ignore[attr-defined]
            if _is_part(node) and node.parents[0] in results:
                values[node] = results[node.parents[0]][place]
                if frame is None and id(node) in self.node_names:
                    name = self._free(self.node_names[id(node)])
                    values[node] = self.add(name, "", values[node], frame=frame, node=node)
                continue
            value = self._value(node, [values[p] for p in _operands(node)])
            named = self.node_names.get(id(node)) if frame is None else None
            shared = uses.get(node, 0) > 1 or (uses.get(node, 0) and len(value.text) > LONGEST)
            leaf = not (isinstance(node, Apply) or (isinstance(node, Data) and node.literal))
            if leaf or named or (shared and isinstance(node, Apply)):
                name = prefix + (named or node.name or self.number(prefix))
                value = self.add(self._free(name), "", value, frame=frame, node=node)
            values[node] = value
        return [values[node] for node in outputs]

    def _value(self, node: Node, parents: Sequence[FlowValue]) -> FlowValue:
        sources = tuple(dict.fromkeys(s for p in parents for s in p.sources))
        parts = [p.expression for p in parents]
        if isinstance(node, Data) and node.literal:
            return FlowValue(atom(constant_text(node)))
        if _is_part(node):
            bundle = node.parents[0]
            assert isinstance(bundle, Bundle)
            place = node.attributes["place"]  # type: ignore[attr-defined]
            return FlowValue(call_expression(bundle.call(place), parts), sources)
        if isinstance(node, Apply):
            return FlowValue(apply_expression(node, parts), sources)
        distribution = getattr(node, "distribution", None)
        if distribution is not None:
            return FlowValue(apply_expression(distribution, parts), sources)
        return FlowValue(atom(node.kind), sources)

    def control(
        self, node: Control, inputs: Sequence[FlowValue], frame: int | None, prefix: str
    ) -> list[FlowValue]:
        """Append a conditional, loop or batch, and return its results.

        All names inside start with `prefix`.
        """
        notes: tuple[str, ...] = ()
        if isinstance(node, While) and node.bounded:
            bound = node.bound if node.bound is not None else inputs[-1].text
            notes = (f"at most {bound} trips: their counter is not shown",)
        if isinstance(node, Scan):
            notes = ("as a while loop, whose counter selects the row that is read and written",)
        if isinstance(node, Batch):
            notes = ("all rows at once, without a loop",)
        title = node.title + (f" ({node.site})" if node.site else "")
        inner = self._frame(node.contexts[0].name, title, notes, frame)
        if isinstance(node, Cond):
            return self._cond(node, inputs, inner, prefix)
        if isinstance(node, While):
            return self._while(node, inputs, inner, prefix)
        if isinstance(node, Scan):
            return self._scan(node, inputs, inner, prefix)
        return self._batch(node, inputs, inner, prefix)

    def _frame(self, name: str, title: str, notes: tuple[str, ...], outer: int | None) -> int:
        self.frames.append(ClassicFrame(name, title, notes, outer))
        return len(self.frames) - 1

    # The form of each kind of control node.
    def _cond(
        self, node: Cond, inputs: Sequence[FlowValue], frame: int, prefix: str
    ) -> list[FlowValue]:
        is_switch = len(node.subgraphs) > 2 or node.parents[0].dtype.kind != "b"
        index = self.add(
            f"{prefix}{'index' if is_switch else 'predicate'}", "", inputs[0], frame=frame
        )
        names: dict[int, str] = {}
        for subgraph, places in zip(node.subgraphs, node.places, strict=True):
            for inner, place in zip(subgraph.inputs, places, strict=True):
                if place not in names:
                    names[place] = self._name(inner, prefix)
        op = "SwitchN" if is_switch else "Switch"
        for place, name in sorted(names.items()):
            self.add(f"{name}/switch", op, inputs[1 + place], index, frame=frame)
        # As in the reference, the branch of a true predicate comes first.
        order = range(len(node.subgraphs)) if is_switch else (1, 0)
        results: dict[int, list[FlowValue]] = {}
        for number in order:
            subgraph, places = node.subgraphs[number], node.places[number]
            pivot = node.contexts[number].pivot  # type: ignore[attr-defined]
            case = (
                f"index is {number}"
                if is_switch
                else f"predicate is {'true' if number else 'false'}"
            )
            inner_frame = self._frame(pivot, f"{pivot}: {case}", (), frame)
            given = {
                inner: _output(f"{names[place]}/switch", number)
                for inner, place in zip(subgraph.inputs, places, strict=True)
            }
            scope = f"{prefix}{pivot}/"
            values = self.graph(subgraph.outputs, given, inner_frame, scope)
            results[number] = [
                self.add(f"{scope}result{_place(i, values)}", "", value, frame=inner_frame)
                for i, value in enumerate(values)
            ]
        merged = [results[number] for number in range(len(node.subgraphs))]
        return [
            self.add(f"{prefix}merge{_place(i, merged[0])}", "Merge", *values, frame=frame)
            for i, values in enumerate(zip(*merged, strict=True))
        ]

    def _while(
        self, node: While, inputs: Sequence[FlowValue], frame: int, prefix: str
    ) -> list[FlowValue]:
        predicate, body = node.subgraphs
        count = node.carried
        names = [self._name(inner, prefix) for inner in predicate.inputs[:count]]
        merges = self._add_merges(names, inputs[:count], frame)
        constants = self._add_constants(predicate.inputs[count:], inputs[count:], frame, prefix)
        given = dict(zip(predicate.inputs, [*merges, *constants], strict=True))
        verdict, *versions = self.graph(predicate.outputs, given, frame, prefix)
        for place, version in zip(node.judging, versions, strict=True):
            # The predicate assigns this state: the body and later nodes read the new version.
            merges[place] = self._as_node(version, f"{names[place]}/judged", frame)
        self._add_switches(names, merges, verdict, frame, prefix)
        entering = [_output(f"{name}/switch", 1) for name in names]
        given = dict(zip(body.inputs, [*entering, *constants], strict=True))
        values = self.graph(body.outputs, given, frame, prefix)
        exits = self._add_exits(names, values, frame)
        ends = (f"{prefix}loop_cond",)
        return [
            *exits,
            *(FlowValue(atom(f"{prefix}{name}"), ends) for name in ("trips", "truncated")),
        ]

    def _scan(
        self, node: Scan, inputs: Sequence[FlowValue], frame: int, prefix: str
    ) -> list[FlowValue]:
        (body,) = node.subgraphs
        count = node.carried
        results = [f"ys[{i}]" if node.results > 1 else "ys" for i in range(node.results)]
        names = [
            self._free(f"{prefix}counter"),
            *(self._name(inner, prefix) for inner in body.inputs[:count]),
            *(self._free(f"{prefix}{result}") for result in results),
        ]
        start = FlowValue(atom("0"))
        empty = [FlowValue(atom(f"zeros({node.length})")) for _ in results]
        merges = self._add_merges(names, [start, *inputs[:count], *empty], frame)
        constants = self._add_constants(body.inputs[count:], inputs[count:], frame, prefix)
        verdict = FlowValue(Expression(f"{merges[0].text} < {node.length}", 1), merges[0].sources)
        self._add_switches(names, merges, verdict, frame, prefix)
        counter, *entering = [_output(f"{name}/switch", 1) for name in names]
        row = f"{node.length - 1} - {counter.text}" if node.reverse else counter.text
        rows = [
            FlowValue(atom(f"{array.text}[{row}]"), (*array.sources, *counter.sources))
            for array in constants[: node.rows]
        ]
        inside = [*entering[:count], *rows, *constants[node.rows :]]
        given = dict(zip(body.inputs, inside, strict=True))
        values = self.graph(body.outputs, given, frame, prefix)
        written = [
            FlowValue(
                atom(f"{array.text}.at[{row}].set({value.text})"),
                (*array.sources, *counter.sources, *value.sources),
            )
            for array, value in zip(entering[count:], values[count:], strict=True)
        ]
        next_counter = FlowValue(Expression(f"{counter.text} + 1", 5), counter.sources)
        return self._add_exits(names, [next_counter, *values[:count], *written], frame)[1:]

    def _batch(
        self, node: Control, inputs: Sequence[FlowValue], frame: int, prefix: str
    ) -> list[FlowValue]:
        (body,) = node.subgraphs
        rows = sum(isinstance(n, Inner) and n.role == "row" for n in body.inputs)
        given = {}
        for place, (inner, value) in enumerate(zip(body.inputs, inputs, strict=True)):
            op = "Rows" if place < rows else "Capture"
            name = f"{self._name(inner, prefix)}/{op.lower()}"
            given[inner] = self.add(name, op, value, frame=frame)
        values = self.graph(body.outputs, given, frame, prefix)
        return [
            self.add(f"{prefix}stack{_place(i, values)}", "Stack", value, frame=frame)
            for i, value in enumerate(values)
        ]

    # Parts of a loop.
    def _add_merges(
        self, names: list[str], starts: Sequence[FlowValue], frame: int
    ) -> list[FlowValue]:
        for name, start in zip(names, starts, strict=True):
            self.add(f"{name}/enter", "Enter", start, frame=frame)
        return [
            self.add(f"{n}/merge", "Merge", _node(f"{n}/enter"), _node(f"{n}/next"), frame=frame)
            for n in names
        ]

    def _add_constants(
        self, inners: Sequence[Node], values: Sequence[FlowValue], frame: int, prefix: str
    ) -> list[FlowValue]:
        return [
            self.add(f"{self._name(n, prefix)}/enter", "Enter", v, frame=frame, constant=True)
            for n, v in zip(inners, values)  # a bound may follow
        ]

    def _add_switches(
        self, names: list[str], merges: list[FlowValue], verdict: FlowValue, frame: int, prefix: str
    ) -> None:
        predicate = self.add(f"{prefix}predicate", "", verdict, frame=frame)
        loop_cond = self.add(f"{prefix}loop_cond", "LoopCond", predicate, frame=frame)
        for name, merge in zip(names, merges, strict=True):
            self.add(f"{name}/switch", "Switch", merge, loop_cond, frame=frame)

    def _add_exits(
        self, names: list[str], values: Sequence[FlowValue], frame: int
    ) -> list[FlowValue]:
        nexts = [
            self._as_node(value, f"{name}/body", frame)
            for name, value in zip(names, values, strict=True)
        ]
        for name, value in zip(names, nexts, strict=True):
            self.add(f"{name}/next", "NextIteration", value, frame=frame)
        return [
            self.add(f"{name}/exit", "Exit", _output(f"{name}/switch", 0), frame=frame)
            for name in names
        ]

    def _as_node(self, value: FlowValue, name: str, frame: int) -> FlowValue:
        """Add a node for a value that is not a node already."""
        if value.text in value.sources:
            return value
        return self.add(name, "", value, frame=frame)

    # Names.
    def _name(self, inner: Node, prefix: str) -> str:
        """Make a name for a loop variable or captured value."""
        captured = isinstance(inner, Inner) and inner.role == "captured"
        text = describe(inner, self.node_names) if captured else inner.label()
        if len(text) > LONGEST_NAME or "..." in text:
            text = self.number(prefix)
        elif " " in text:
            text = f"({text})"
        return self._free(prefix + text)

    def _free(self, name: str) -> str:
        """Reserve a name; add a number if the name is taken."""
        free_name, number = name, 2
        while free_name in self._taken:
            free_name, number = f"{name}_{number}", number + 1
        self._taken.add(free_name)
        return free_name

    def number(self, prefix: str = "") -> str:
        """Make a name for an unnamed node from the next number."""
        self._numbers[prefix] = number = self._numbers.get(prefix, 0) + 1
        return f"#{number}"


def _node(name: str) -> FlowValue:
    return FlowValue(atom(name), (name,))


def _output(name: str, place: int) -> FlowValue:
    return _node(f"{name}:{place}")


def _place(place: int, values: Sequence[FlowValue]) -> str:
    """The index of a result in brackets; empty for a single result."""
    return f"[{place}]" if len(values) > 1 else ""


def _is_part(node: Node) -> bool:
    return isinstance(node, Apply) and node.operation is PART


def _operands(node: Node) -> tuple[Node, ...]:
    """The parents; for a derivative dy / dx, y and x."""
    bundle = node.parents[0] if _is_part(node) else None
    if isinstance(bundle, Control) and not bundle.contexts:
        return bundle.call(node.attributes["place"]).operands  # type: ignore[attr-defined]
    return getattr(getattr(node, "distribution", None), "parents", node.parents)


def _closure(outputs: Iterable[Node], given: dict[Node, FlowValue]) -> list[Node]:
    """The nodes that the outputs are computed from, in order of creation."""
    nodes: dict[Node, None] = {}
    stack = [*outputs]
    while stack:
        node = stack.pop()
        if node not in nodes and node not in given:
            nodes[node] = None
            stack += _operands(node)
    return sorted(nodes, key=lambda node: node.serial)
