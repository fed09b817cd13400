"""Nodes: what arrays stand for. A node knows its parents, shape, dtype and where it was written.

    Data         a known value, an argument of every compiled function that uses it
    Placeholder  a value given when a compiled function is called
    Apply        an operation applied to parent nodes
    Bundle       an operation with several results, each of which is an Apply on it
    Inner        what stands inside a branch or loop for a value from outside or a loop variable

A node that is made inside a branch or loop belongs to its context, which puts an `Inner` in the
place of each parent from outside. Unknowns and distributions are further kinds, defined in the
layers that own them. A node holds its parents strongly and its children weakly: dropping an array
frees whatever only it needed.
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
    """What a user's variable holds of the graph: a `kg.Array`."""

    __slots__ = ("node",)
    node: "Node"

    @property
    def held(self) -> "Node | None":
        """Its node, without any effect on the program: None if it would have to be read first."""
        return self.node


class _Current(threading.local):
    """The innermost branch or loop that is being built by this thread."""

    context: "ControlFlowContext | None" = None
    adapted: int = 0  # how often a weak node took a type that it would not have taken else
    values: "Mapping[Any, np.ndarray]" = MappingProxyType({})  # of data, in place of their own


CURRENT = _Current()
_SERIAL = itertools.count()
_NO_ATTRIBUTES: Mapping[str, Any] = MappingProxyType({})


@contextmanager
def within(context: "ControlFlowContext | None") -> Iterator[None]:
    """Build in a branch or loop, or at the top level, for a while."""
    before, CURRENT.context = CURRENT.context, context
    try:
        yield
    finally:
        CURRENT.context = before


@contextmanager
def with_values(values: "Mapping[Any, np.ndarray]") -> Iterator[None]:
    """Have data hold other values for a while, in this thread: those that a model has of them."""
    before, CURRENT.values = CURRENT.values, {**CURRENT.values, **values}
    try:
        yield
    finally:
        CURRENT.values = before


def next_serial() -> int:
    """A number between those of the nodes made so far and of those made later."""
    return next(_SERIAL)


@dataclass(frozen=True, eq=False)
class Operation:
    """A kind of computation: how it is named, and the JAX function that computes it.

    `lower(*tensors, **attributes)` receives the tensors of the parents. `symbol`, where there is
    one, is how it is written between two operands. `elementwise` operations act on each element
    alone, so that named dimensions pass through them. A result that is NaN where a search for it
    did not succeed says by `search` what that was. An `ambient` one reads more than its operands:
    what the function that is being traced around it was given.
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
    """The base of all kinds; see the module's text.

    A `weak` node stands for a Python number, as a loop variable that began as one: it takes the
    type of the array that it meets, as `kg.Array`s do not.
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
    computes = False  # whether it is computed by its own `compute`, not by its operation
    tracks = False  # whether it tells which of its operands took part

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
            parents = context.add_op(self, parents)  # makes nodes for what comes from outside
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
        """The user's line that made this node."""
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
        """The living nodes that have this one as a parent, once for each time they use it."""
        for reference in tuple(self._children or ()):
            child = reference()
            if child is not None:
                yield child

    def _purge(self) -> None:
        # Dead children are swept when the list has doubled: constant cost per child.
        self._children = [r for r in self._children or () if r() is not None]
        self._purge_at = max(16, 2 * len(self._children))

    def check_inside(self) -> None:
        """Raise an error if nodes of this kind cannot be computed inside of a branch or loop."""

    def compute(self, tensors: list[Any], scope: "Scope") -> Any:
        """The tensor, given those of the parents."""
        raise NotImplementedError

    def label(self) -> str:
        """A few words for drawings and messages."""
        return self.name or self.kind

    def __repr__(self) -> str:
        return f"<{self.label()} {self.shape} {self.dtype}>"


class Data(Node):
    """A known value: an argument of compiled functions or, if literal, part of the program."""

    __slots__ = ("_held", "_owned", "coords", "literal", "settled", "source", "variable")
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
        self.variable: str | None = None  # what the user calls the values it was made of
        self.source: Node | None = None  # what it was computed from, once: `y[1:]` of data y
        self.settled: str | None = None  # what the graph was made by of its values, in words

    @property
    def value(self) -> np.ndarray:
        """The value; see `with_values`."""
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
    """The inside of a branch or loop: a captured value, a loop variable or an element of a row.

    `outer` is the node outside that it stands for; of a loop variable, its value at the start.
    `interval` is what is known of the whole numbers it takes: the smallest and the largest.
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
    """An operation applied to parents. `attributes` are known when the graph is built."""

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
        """What operations share that are best computed as one, in a batch; None for most."""
        return None

    def label(self) -> str:
        return self.name or self.operation.symbol or self.operation.name


FORM = Operation("form", lambda x, *, kind: x, elementwise=True)


class FormOf(Apply):
    """Another form of a node, such as its logarithm, where it is used in the node's place.

    Its tensor is that of its parent, which was not computed from the node `of`, but by other means.
    """

    __slots__ = ("of",)

    def __init__(self, form: Node, of: Node, kind: str) -> None:
        super().__init__(FORM, (form,), form.shape, form.dtype, {"kind": kind})
        self.of = of


class Call(NamedTuple):
    """How one result of a bundle is written: `name(operands)suffix`."""

    name: str
    operands: tuple[Node, ...]
    labels: tuple[str, ...]  # a keyword for each operand, or nothing
    suffix: str = ""


class Bundle(Node):
    """An operation with several results: its tensor is a list of them.

    One that is `early` finds other tensors on the way, and is evaluated before these.
    """

    __slots__ = ("attributes", "operation")
    kind = "operation"

    @property
    def early(self) -> bool:
        """Whether it is to be evaluated before others."""
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
        """How a result is written in messages and drawings."""
        return Call(self.label(), self.parents, ("",) * len(self.parents), f"[{place}]")

    def part(self, place: int, shape: tuple[int, ...], dtype: np.dtype) -> Apply:
        """One of the results."""
        return Apply(PART, (self,), shape, dtype, {"place": place})

    def form(self, place: int, kind: str, forms: "Forms") -> Node | None:
        """Another form of a result; see `representations`."""
        return None


PART = Operation("part", lambda results, *, place: results[place])


def sources(node: Node) -> tuple[Node, ...]:
    """What a node's value follows from: its parents and, of a form, what it is a form of."""
    return (*node.parents, node.of) if isinstance(node, FormOf) else node.parents


def ancestors(
    nodes: Iterable[Node],
    stop: Callable[[Node], bool] = lambda node: False,
    above: Callable[[Node], tuple[Node, ...]] = attrgetter("parents"),
) -> list[Node]:
    """The given nodes and all they are computed from, parents before children.

    Nodes for which `stop` is true are listed, but not entered. Iterative: no recursion limit.
    """
    seen: set[Node] = set()
    order: list[Node] = []
    stack: list[tuple[Node, Iterator[Node]]] = []

    def enter(node: Node) -> None:
        seen.add(node)
        stack.append((node, iter(() if stop(node) else above(node))))

    for root in nodes:
        if root not in seen:
            enter(root)
        while stack:
            node, parents = stack[-1]
            for parent in parents:
                if parent not in seen:
                    enter(parent)
                    break
            else:
                order.append(node)
                stack.pop()
    return order
