"""The nodes of the graph.

A node has parents, a shape, a dtype and the line of the user's program that made it.

    Data         a known value, an argument of every compiled function that uses it
    Placeholder  a value given when a compiled function is called
    Apply        an operation applied to parent nodes
    Bundle       an operation with several results; each result is an Apply on it
    Inner        the inside of a branch or loop: a captured value or a loop variable

A node that is made inside a branch or loop belongs to a context, which replaces each parent from
outside by an `Inner`. Unknowns and distributions are further kinds of nodes, defined in outer
layers. A node has strong references to its parents and weak references to its children, so that
dropping an array frees all nodes that only this array needed.
"""

import itertools
import threading
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .source import Place, Site, here, site_of

if TYPE_CHECKING:
    from .control.contexts import ControlFlowContext
    from .forms.representations import Forms
    from .lower import Scope

__all__ = [
    "CURRENT",
    "Apply",
    "Bundle",
    "Call",
    "Data",
    "FORM",
    "FormOf",
    "Handle",
    "Inner",
    "Node",
    "Operation",
    "Placeholder",
    "ancestors",
    "next_serial",
    "sources",
    "with_values",
    "within",
]


class Handle:
    """The base of `kg.Array`: an object that holds a node."""

    __slots__ = ("node",)
    node: "Node"

    @property
    def held(self) -> "Node | None":
        """The node, without an effect on the program.

        None for a state without a version in this context: reading it would change the program.
        """
        return self.node


class _Current(threading.local):
    """The present state of graph building, separate for each thread."""

    context: "ControlFlowContext | None" = None  # the innermost branch or loop being built
    adapted: int = 0  # how often a weak node took the type of another operand
    values: "Mapping[Any, np.ndarray]" = MappingProxyType({})  # replacements for values of data


CURRENT = _Current()
_SERIAL = itertools.count()
_NO_ATTRIBUTES: Mapping[str, Any] = MappingProxyType({})


@contextmanager
def within(context: "ControlFlowContext | None") -> Iterator[None]:
    """Build in the given context, or at the top level for None."""
    before, CURRENT.context = CURRENT.context, context
    try:
        yield
    finally:
        CURRENT.context = before


@contextmanager
def with_values(values: "Mapping[Any, np.ndarray]") -> Iterator[None]:
    """Replace the values of data in this thread, as a model does."""
    before, CURRENT.values = CURRENT.values, {**CURRENT.values, **values}
    try:
        yield
    finally:
        CURRENT.values = before


def next_serial() -> int:
    """A serial number after all existing nodes and before all later ones."""
    return next(_SERIAL)


@dataclass(frozen=True, eq=False)
class Operation:
    """A kind of computation, with a name and a JAX function.

    `lower(*tensors, **attributes)` receives the tensors of the parents. `symbol`, if any, is the
    operator between two operands. `elementwise` operations act on each element alone, so that
    named dimensions pass through them. `search` describes the search of an operation whose result
    is NaN if its search fails. An `ambient` operation reads more than its operands: arguments of
    the function that is being traced around it.
    """

    name: str
    lower: Callable[..., Any]
    symbol: str | None = None
    elementwise: bool = False
    search: str = ""
    ambient: bool = False

    def __repr__(self) -> str:
        return f"Operation({self.name})"


class Node:
    """The base of all kinds of nodes; see the module's docstring.

    A `weak` node stands for a Python number, for example a loop variable that started as one. In
    an operation it takes the type of the other operand, which a `kg.Array` does not.
    """

    __slots__ = (
        "__weakref__",
        "_children",
        "_place",
        "_purge_at",
        "context",
        "dims",
        "dtype",
        "name",
        "parents",
        "serial",
        "shape",
        "weak",
    )
    kind = "node"
    triangular = False  # whether the value is known to be a Cholesky factor
    computes = False  # whether its method `compute` computes it, not its operation
    tracks = False  # whether its tensor records which operands took part

    def __init__(
        self,
        parents: tuple["Node", ...],
        shape: tuple[int, ...],
        dtype: np.dtype,
        name: str | None = None,
        dims: tuple[str | None, ...] | None = None,
    ) -> None:
        self.context = context = CURRENT.context
        if context is not None:
            parents = context.add_op(self, parents)  # captures parents from outside
        self.serial = next(_SERIAL)  # order of creation: parents come before children
        self.parents = parents
        self.shape = shape
        self.dtype = dtype
        self.name = name
        self.dims = dims
        self.weak = False
        self._place: Place | None = here()
        self._children: list[weakref.ref[Node]] | None = None
        for parent in parents:
            if parent.context is not context:
                assert parent.context is not None
                raise parent.context.escaped(parent, parents)
            parent._adopt(self)

    def _adopt(self, child: "Node") -> None:
        reference = weakref.ref(child)
        children = self._children
        if children is None:
            self._children = [reference]
            self._purge_at = 16
        else:
            children.append(reference)
            if len(children) > self._purge_at:
                self._purge()

    @property
    def site(self) -> Site | None:
        """The user's file and line that made this node."""
        return site_of(self._place)

    @property
    def size(self) -> int:
        """The number of elements."""
        size = 1
        for n in self.shape:
            size *= n
        return size

    @property
    def children(self) -> Iterator["Node"]:
        """The living children, each once for each use of this node."""
        for reference in tuple(self._children or ()):
            child = reference()
            if child is not None:
                yield child

    def _purge(self) -> None:
        # Dead children are removed when the list has doubled: constant cost per child.
        self._children = [r for r in self._children or () if r() is not None]
        self._purge_at = max(16, 2 * len(self._children))

    def check_inside(self) -> None:
        """Raise an error if branches and loops cannot compute the node."""

    def compute(self, tensors: list[Any], scope: "Scope") -> Any:
        """Compute the tensor from the tensors of the parents."""
        raise NotImplementedError

    def label(self) -> str:
        """A short text for drawings and messages."""
        return self.name or self.kind

    def __repr__(self) -> str:
        return f"<{self.label()} {self.shape} {self.dtype}>"


class Data(Node):
    """A known value, an argument of compiled functions.

    A literal, such as a number in an expression, is part of the program instead.
    """

    __slots__ = (
        "_held",
        "_owned",
        "columns",
        "conditions",
        "coords",
        "literal",
        "rows",
        "settled",
        "source",
        "variable",
    )
    kind = "data"

    def __init__(
        self,
        value: np.ndarray,
        name: str | None = None,
        dims: tuple[str | None, ...] | None = None,
        *,
        coords: dict[str, np.ndarray] | None = None,
        literal: bool = False,
    ) -> None:
        super().__init__((), value.shape, value.dtype, name, dims)
        self._held = value
        self.coords = coords or {}
        self.literal = literal
        self._owned: Node | None = None  # the likelihood observed on this array
        self.variable: str | None = None  # the user's variable that holds the values
        self.rows: Any = None  # the index of a pandas object, with a label for each row
        self.columns: Any = None  # the index of the second axis of a pandas object
        self.source: Node | None = None  # the node that it was computed from: y for `y[1:]`
        self.settled: str | None = None  # why new values need a new graph, in words
        self.conditions: tuple[str, ...] = ()  # on the values, which decided a form of a node

    @property
    def value(self) -> np.ndarray:
        """The value, or the replacement set by `with_values`."""
        return CURRENT.values.get(self, self._held)

    def label(self) -> str:
        if self.literal and self.size == 1:
            value = self.value.item()
            return f"{value:.6g}" if isinstance(value, float) else str(value)
        return self.name or self.variable or ("array" if self.literal else "data")


class Placeholder(Node):
    """A value that a compiled function takes as an argument."""

    __slots__ = ()
    kind = "placeholder"


class Inner(Node):
    """A captured value, loop variable or row, inside a branch or loop.

    `outer` is the node outside that it stands for; for a loop variable, the initial value.
    `interval` has the smallest and largest value that an integer can take, if they are known.
    """

    __slots__ = ("interval", "outer", "role")
    kind = "inner"

    def __init__(self, outer: Node, role: str, name: str | None = None, **changed: Any) -> None:
        self.outer = outer
        self.role = role  # captured, loop variable, state or row
        self.interval: tuple[int, int] | None = None
        shape = changed.get("shape", outer.shape)
        dims = outer.dims if shape == outer.shape else None
        super().__init__((), shape, changed.get("dtype", outer.dtype), name or outer.name, dims)
        self.weak = outer.weak


class Apply(Node):
    """An operation applied to parents, with attributes known at build time."""

    __slots__ = ("attributes", "operation")
    kind = "operation"

    def __init__(
        self,
        operation: Operation,
        parents: tuple[Node, ...],
        shape: tuple[int, ...],
        dtype: np.dtype,
        attributes: Mapping[str, Any] = _NO_ATTRIBUTES,
    ) -> None:
        super().__init__(parents, shape, dtype)
        self.operation = operation
        self.attributes = attributes

    @property
    def alike(self) -> Hashable:
        """A key shared by operations that are best computed as one batch.

        None for most operations, which are computed one by one.
        """
        return None

    def label(self) -> str:
        return self.name or self.operation.symbol or self.operation.name


FORM = Operation("form", lambda x, *, kind: x, elementwise=True)


class FormOf(Apply):
    """Another form of a node, such as its logarithm, in its place.

    Its tensor is the tensor of its parent, which is computed without the node `of`.
    """

    __slots__ = ("of",)

    def __init__(self, form: Node, of: Node, kind: str) -> None:
        super().__init__(FORM, (form,), form.shape, form.dtype, {"kind": kind})
        self.of = of


class Call(NamedTuple):
    """The text of one result of a bundle: `name(operands)suffix`."""

    name: str
    operands: tuple[Node, ...]
    labels: tuple[str, ...]  # a keyword for each operand, or an empty text
    suffix: str = ""


class Bundle(Node):
    """An operation with several results, whose tensor is a list of results.

    An `early` bundle also computes tensors of other nodes, and is evaluated before them.
    """

    __slots__ = ("attributes", "operation")
    kind = "operation"

    @property
    def early(self) -> bool:
        """Whether it is evaluated before other nodes."""
        return False

    def __init__(
        self,
        operation: Operation,
        parents: tuple[Node, ...],
        attributes: Mapping[str, Any] = _NO_ATTRIBUTES,
    ) -> None:
        super().__init__(parents, (), np.dtype(np.void))
        self.operation = operation
        self.attributes = attributes

    def label(self) -> str:
        return self.operation.name

    def call(self, place: int) -> Call:
        """The text of a result in messages and drawings."""
        return Call(self.label(), self.parents, ("",) * len(self.parents), f"[{place}]")

    def part(self, place: int, shape: tuple[int, ...], dtype: np.dtype) -> Apply:
        """Make the node of one result."""
        return Apply(PART, (self,), shape, dtype, {"place": place})

    def form(self, place: int, kind: str, forms: "Forms") -> Node | None:
        """Another form of a result, if any; see `representations`."""
        return None


PART = Operation("part", lambda results, *, place: results[place])


def sources(node: Node) -> tuple[Node, ...]:
    """The nodes that determine a node's value.

    These are its parents and, for a form, the node that it is a form of.
    """
    return (*node.parents, node.of) if isinstance(node, FormOf) else node.parents


def ancestors(
    nodes: Iterable[Node],
    stop: Callable[[Node], bool] = lambda node: False,
    above: Callable[[Node], tuple[Node, ...]] = attrgetter("parents"),
) -> list[Node]:
    """The given nodes and all their ancestors, parents before children.

    Nodes for which `stop` is true are included, but their ancestors are not. The search is
    iterative, so that deep graphs do not reach Python's recursion limit.
    """
    visited: set[Node] = set()
    order: list[Node] = []
    stack: list[tuple[Node, Iterator[Node]]] = []

    def enter(node: Node) -> None:
        visited.add(node)
        stack.append((node, iter(() if stop(node) else above(node))))

    for root in nodes:
        if root not in visited:
            enter(root)
        while stack:
            node, parents = stack[-1]
            for parent in parents:
                if parent not in visited:
                    enter(parent)
                    break
            else:
                order.append(node)
                stack.pop()
    return order
