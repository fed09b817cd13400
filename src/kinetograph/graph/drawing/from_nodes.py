"""Conversion of nodes to a diagram.

In a collapsed diagram, unnamed operations are folded into the expressions of their children, and
constants into the labels of distributions. All named nodes are drawn. Without a name, results,
parameters of distributions and longer expressions with several uses are drawn (`#1`, `#2` in the
listing).

A conditional or loop is one node, written as `while_1 = while(i=0, n)`, and its results are
`while_1.i`. If only one result is used, both are one node: `c = cond_1(x < y, x, y)`. For a
derivative the differentiated array is drawn, and not the values that are held fixed.

Distributions are nodes of an outer layer. They are recognised by `kind` and a few attributes.
"""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from ..array import Array
from ..control.control_node import Control
from ..expressions import Expression, apply_expression, atom, call_expression, constant_text
from ..frame_variables import local_variables
from ..node import PART, Apply, Bundle, Call, Data, Node
from ..source import user_frame
from .diagram import Diagram, Edge, Vertex
from .listing import one_line
from .plates import plates

__all__ = ["connected", "names_in_scope", "operands", "read"]

_COMMUTATIVE = {"add", "multiply", "maximum", "minimum", "equal", "not_equal"}


def operands(node: Node) -> tuple[Node, ...]:
    """The operands of a node, as the user sees them.

    The operands of a derivative dy / dx are y and x. Its parents are x and the values that are held
    fixed.
    """
    bundle = node.parents[0] if is_part(node) else None
    if isinstance(bundle, Bundle) and is_derivative(bundle):
        assert isinstance(node, Apply)
        return bundle.call(node.attributes["place"]).operands
    return node.parents


def is_part(node: Node) -> bool:
    """Whether a node is one of several results of its parent."""
    return isinstance(node, Apply) and node.operation is PART


def is_derivative(bundle: Bundle) -> bool:
    """Whether an operation is a derivative: its subgraph was built outside."""
    return isinstance(bundle, Control) and not bundle.contexts


def is_control(node: Node) -> bool:
    """Whether a node is a conditional, a loop or a batch."""
    return isinstance(node, Control) and bool(node.contexts)


def connected(roots: Iterable[Node], *, distributions: bool = True) -> list[Node]:
    """The roots and all their ancestors, in order of creation.

    With `distributions`, the distributions that nodes follow are included.
    """
    visited: dict[Node, None] = {}
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node not in visited:
            visited[node] = None
            stack += operands(node)
            distribution = getattr(node, "distribution", None) or getattr(node, "_owned", None)
            if distribution is not None and distributions:
                stack.append(distribution)
    return sorted(visited, key=lambda node: node.serial)


def names_in_scope(nodes: Iterable[Node]) -> dict[Node, str]:
    """The names of nodes: `name=`, else the variable that holds the array.

    A NumPy array in an operation is a constant of the graph, which is a copy. It gets the name of
    the variable with an equal array, if there is only one.
    """
    variables: dict[int, str] = {}
    arrays: list[dict[str, np.ndarray]] = []
    frame = user_frame()
    while frame is not None:
        for scope in (local_variables(frame), frame.f_globals):
            numpy_arrays: dict[str, np.ndarray] = {}
            for name, value in scope.items():
                if name.startswith("_"):
                    continue
                if isinstance(value, Array):
                    variables.setdefault(id(value.node), name)
                elif isinstance(value, np.ndarray):
                    numpy_arrays[name] = value
            arrays.append(numpy_arrays)
        frame = frame.f_back
    names: dict[Node, str] = {}
    for node in nodes:
        node_name = node.name or variables.get(id(node))
        if not node_name and isinstance(node, Data) and node.literal and node.size > 1:
            node_name = _array_name(node.value, arrays)
        if node_name:
            names[node] = node_name
    return names


def _array_name(value: np.ndarray, scopes: list[dict[str, np.ndarray]]) -> str | None:
    for scope in scopes:
        equal = [n for n, a in scope.items() if a.shape == value.shape and np.array_equal(a, value)]
        if equal:
            return equal[0] if len(equal) == 1 else None
    return None


def read(
    nodes: Iterable[Node],
    names: Mapping[Node, str],
    *,
    roots: Iterable[Node] = (),
    marks: Mapping[Node, tuple[str, ...]] | None = None,
    dims: Mapping[Node, tuple[str | None, ...]] | None = None,
    collapse: bool = True,
) -> Diagram:
    """Make the diagram of the given nodes.

    Parameters
    ----------
    nodes
        All nodes of the graph, as from `connected`.
    names
        The names of nodes.
    roots
        Nodes that are drawn even without a name.
    marks
        Words at the end of a node's line: target, observed, factor.
    dims
        The names of axes that differ from the nodes' own dims.
    collapse
        Whether to fold unnamed operations and constants.
    """
    reader = _NodeReader(nodes, names, set(roots), dict(marks or {}), dict(dims or {}), collapse)
    return reader.diagram()


class _NodeReader:
    def __init__(
        self,
        nodes: Iterable[Node],
        names: Mapping[Node, str],
        roots: set[Node],
        marks: dict[Node, tuple[str, ...]],
        dims: dict[Node, tuple[str | None, ...]],
        collapse: bool,
    ) -> None:
        self.nodes = sorted(dict.fromkeys(nodes), key=lambda node: node.serial)
        self.names = names
        self.roots = roots | set(marks)
        self.marks, self.dims, self.collapse = marks, dims, collapse
        self.calls: dict[Node, Call] = {}
        self._read_bundles()
        present = set(self.nodes)
        self.consumers: dict[Node, list[Node]] = {node: [] for node in self.nodes}
        self.distributions: dict[Node, Node] = {}  # from an array to its distribution
        for node in self.nodes:
            for parent in dict.fromkeys(self._operands(node)):
                self.consumers[parent].append(node)
            target = getattr(node, "target", None)
            if node.kind == "distribution" and target in present:
                self.distributions[target] = node
        self.handles: dict[Node, str] = {}
        self.numbers = map("#{}".format, itertools.count(1))
        self.drawn: set[Node] = set()
        self._choose()
        self.expressions: dict[Node, Expression] = {}  # the expression that computes a node
        self.references: dict[Node, Expression] = {}  # its text in other expressions
        self._express()

    def _read_bundles(self) -> None:
        """Set the calls of nodes with several results, and of results."""
        parts: dict[Node, list[Apply]] = {}
        for node in self.nodes:
            if isinstance(node, Apply) and is_part(node):
                parts.setdefault(node.parents[0], []).append(node)
        fused: set[Node] = set()
        for bundle, results in parts.items():
            assert isinstance(bundle, Bundle)
            calls: dict[Node, Call] = {n: bundle.call(n.attributes["place"]) for n in results}
            if len(results) == 1 or is_derivative(bundle):
                self.calls |= calls
                fused.add(bundle)
            else:
                first = calls[results[0]]
                self.calls[bundle] = Call(bundle.operation.name, first.operands, first.labels)
        self.nodes = [node for node in self.nodes if node not in fused]

    def _operands(self, node: Node) -> tuple[Node, ...]:
        call = self.calls.get(node)
        return node.parents if call is None else call.operands

    def _control(self, node: Node) -> Control | None:
        """The conditional or loop that is drawn in a node's place."""
        if node not in self.calls:
            return None
        bundle = node if isinstance(node, Bundle) else node.parents[0]
        return bundle if is_control(bundle) else None  # type: ignore[return-value]

    def _choose(self) -> None:
        """Choose the nodes to draw, and give handles to unnamed nodes.

        The listing shows handles in place of names.
        """
        folded: dict[Node, int] = {}  # operations inside an expression
        used_names = {*self.names.values()}
        for node in self.nodes:
            if isinstance(node, Bundle):  # several results are used
                self.drawn.add(node)
                control = self._control(node)
                name = control.contexts[0].name if control is not None else ""
                if node not in self.names:
                    free = name and name not in used_names
                    self.handles[node] = name if free else next(self.numbers)
                    used_names.add(name)
                continue
            if self._is_result(node) and node not in self.names and node not in self.roots:
                continue  # `while_1.i` is not drawn as a separate node
            inner = sum(folded.get(p, 0) for p in dict.fromkeys(self._operands(node)))
            shared = len(self.consumers[node]) > 1 and inner >= 1
            listed = not self.collapse or node in self.names or node in self.roots or shared
            if node.kind != "operation":
                literal = isinstance(node, Data) and node.literal
                if not (self.collapse and literal and node not in self.names):
                    self.drawn.add(node)
                if node not in self.names and node.kind != "distribution" and not literal:
                    self.handles[node] = next(self.numbers)
                continue
            if listed:
                if node not in self.names:
                    self.handles[node] = next(self.numbers)
            else:
                folded[node] = inner + 1
            if listed or any(c.kind != "operation" for c in self.consumers[node]):
                self.drawn.add(node)

    def _is_result(self, node: Node) -> bool:
        """Whether a node is one of several results in use."""
        return is_part(node) and node not in self.calls

    def _result_name(self, node: Node) -> str:
        bundle = node.parents[0]
        assert isinstance(node, Apply)
        assert isinstance(bundle, Bundle)
        return bundle.call(node.attributes["place"]).suffix

    def _express(self) -> None:
        for node in self.nodes:
            parts = [self.references[parent] for parent in self._operands(node)]
            if node in self.calls:
                expression = call_expression(self.calls[node], parts)
            elif self._is_result(node):
                expression = atom(parts[0].text + self._result_name(node))
            elif isinstance(node, Data) and node.literal:
                expression = atom(constant_text(node))
            elif isinstance(node, Apply) or node.kind == "distribution":
                expression = apply_expression(node, parts)
            else:
                expression = atom(node.label())
            name = self.names.get(node) or self.handles.get(node)
            self.expressions[node] = expression
            self.references[node] = atom(one_line(name)) if name else expression

    def diagram(self) -> Diagram:
        """The diagram, with edges in the order of their targets."""
        shown = sorted((n for n in self.nodes if n in self.drawn), key=self._order)
        places = {node: i for i, node in enumerate(shown)}
        groups, innermost = plates([self._axes(node) for node in shown])
        vertices = [
            replace(self._vertex(node), group=group, boxed=tuple(self._axes(node)))
            for node, group in zip(shown, innermost, strict=True)
        ]
        result = Diagram(vertices, groups=groups)
        for node in shown:
            edges = [Edge(places[p], places[node], label) for p, label in self._sources(node)]
            distribution = self.distributions.get(node)
            if distribution is not None:
                edges.append(Edge(places[distribution], places[node], dashed=True))
            result.edges += dict.fromkeys(edges)
        return result

    def _axes(self, node: Node) -> dict[str, int]:
        """The lengths of the named axes of a node.

        A distribution has the axes of the array that follows it.
        """
        if node.kind == "distribution":
            node = getattr(node, "target", None) or node
        dims = self.dims.get(node, node.dims) or ()
        lengths = {dim: n for dim, n in zip(dims, node.shape) if dim}
        if not lengths and isinstance(node, Apply) and node.operation.name == "index":
            # A part of an array has the axes of the array that it contains completely.
            source, *indices = node.parents
            return {d: n for d, n in self._axes(source).items() if n in node.shape and not indices}
        return lengths

    def _joined(self, sources: list[tuple[Node, str]]) -> list[tuple[Node, str]]:
        """Join the labels of all arrows from one conditional or loop.

        Equal arrows are then drawn once.
        """
        labels: dict[Node, list[str]] = {}
        for source, label in sources:
            if isinstance(source, Bundle) and label not in labels.setdefault(source, []):
                labels[source].append(label)
        return [
            (source, ", ".join(labels[source]) if source in labels else label)
            for source, label in sources
        ]

    def _order(self, node: Node) -> tuple[int, int]:
        # Observed data are listed at the place of their likelihood, below its parameters.
        distribution = self.distributions.get(node)
        return (
            (node.serial, 0) if distribution is None else (max(node.serial, distribution.serial), 1)
        )

    def _sources(self, node: Node) -> list[tuple[Node, str]]:
        """The drawn nodes with an arrow to a node, and the labels.

        Folded nodes are replaced by their operands.
        """
        sources: list[tuple[Node, str]] = []
        visited: set[Node] = set()
        labels = self._edge_labels(node)
        stack = list(zip(self._operands(node), labels, strict=True))[::-1]
        if self._is_result(node):
            stack = [(node.parents[0], self._result_name(node).removeprefix("."))]
        while stack:
            parent, label = stack.pop()
            if parent in self.drawn:
                sources.append((parent, label))
            elif parent not in visited:
                visited.add(parent)
                if self._is_result(parent):
                    label = self._result_name(parent).removeprefix(".")
                stack += [(p, label) for p in reversed(self._operands(parent))]
        return self._joined(sources)

    def _edge_labels(self, node: Node) -> list[str]:
        count = len(self._operands(node))
        if node.kind == "distribution":
            parameters = getattr(getattr(node, "family", None), "parameters", ())
            named = [getattr(p, "name", "") for p in parameters][:count]
            return named + [""] * (count - len(named))
        if node.kind == "variable":
            support = getattr(node, "support", None)
            ends = {id(getattr(support, end, None)): end for end in ("lower", "upper")}
            return [ends.get(id(parent), "") for parent in node.parents]
        if self.collapse or not isinstance(node, Apply | Bundle):
            return [""] * count  # the expression on the node shows the operands
        if node in self.calls:
            control = self._control(node)
            if control is not None:
                return list(self.calls[node].labels)
            name = self.calls[node].name
            return [f"{name} of", *["by"] * (count - 1)]
        name, symbol = node.operation.name, node.operation.symbol
        if name == "index" and count > 1:
            return ["□[ ]"] + ["[□]"] * (count - 1)
        if count == 1 or name in _COMMUTATIVE:
            return [
                self.expressions[node].text if "y" in node.attributes else symbol or name
            ] * count
        if symbol and count == 2:
            return [f"□ {symbol}", f"{symbol} □"]
        return [f"{name} {i}" for i in range(1, count + 1)]

    def _vertex(self, node: Node) -> Vertex:
        name = self.names.get(node, "")
        handle = name or self.handles.get(node, "")
        control = self._control(node) is not None
        if (self.collapse or isinstance(node, Bundle)) and self.consumers[node]:
            name = handle  # other expressions refer to this handle
        return Vertex(
            kind="control" if control else node.kind,
            name=name,
            caption=self._caption(node),
            definition=self._definition(node),
            handle=handle,
            shape=node.shape,
            dims=self.dims.get(node, node.dims),
            marks=self.marks.get(node, ()),
            small=not (self.collapse or control)
            and (node.kind == "operation" or (isinstance(node, Data) and node.literal)),
        )

    def _caption(self, node: Node) -> str:
        if node.kind == "operation":
            control = self._control(node)
            if control is not None and not self.collapse:
                # The name of the control node, unless the vertex has this name.
                return control.kind_name if node is control else control.contexts[0].name
            return self.expressions[node].text if self.collapse else ""
        if node.kind == "distribution":
            # If all parameters are drawn, the labels of the arrows name them.
            constant = [p not in self.drawn and p.kind == "data" for p in node.parents]
            if not any(constant):
                return node.label()
            texts = [self.references[p].text if p in self.names or c else "…" for p, c in
                     zip(node.parents, constant, strict=True)]  # fmt: skip
            return f"{node.label()}({', '.join(texts)})"
        if isinstance(node, Data) and node.literal:
            return "" if node in self.names else self.expressions[node].text
        if node.kind == "variable" and node not in self.distributions:
            return self._support(node)
        return "" if node in self.names else node.kind

    def _definition(self, node: Node) -> str:
        if node in self.distributions:
            return f"~ {self.expressions[self.distributions[node]].text}"
        if node.kind == "operation":
            named = node in self.names or node in self.handles
            return f"= {self.expressions[node].text}" if named else ""
        if node.kind == "variable":
            return f"~ flat, {support}" if (support := self._support(node)) else "~ flat"
        constant = isinstance(node, Data) and node.literal and node not in self.names
        return "" if constant or node.kind == "distribution" else node.kind

    def _support(self, node: Node) -> str:
        describe = getattr(getattr(node, "support", None), "describe", None)
        text = describe() if describe is not None else ""
        return "" if text == "real" else text
