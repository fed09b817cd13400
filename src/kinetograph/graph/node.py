"""Nodes: what arrays stand for. A node knows its parents, shape, dtype and where it was written.

    Data         a known value, an argument of every compiled function that uses it
    Placeholder  a value given when a compiled function is called
    Apply        an operation applied to parent nodes

Unknowns and distributions are further kinds, defined in the layers that own them. A node holds its
parents strongly and its children weakly: dropping an array frees whatever only it needed.
"""

import itertools
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .source import Site, here

__all__ = ["Apply", "Data", "Node", "Operation", "Placeholder", "ancestors"]

_SERIAL = itertools.count()


@dataclass(frozen=True, eq=False)
class Operation:
    """A kind of computation: how it is named, and the JAX function that computes it.

    `lower(*tensors, **attributes)` receives the tensors of the parents. `symbol`, where there is
    one, is how it is written between two operands. `elementwise` operations act on each element
    alone, so that named dimensions pass through them.
    """

    name: str
    lower: Callable[..., Any]
    symbol: str | None = None
    elementwise: bool = False

    def __repr__(self) -> str:
        return f"Operation({self.name})"


class Node:
    """The base of all kinds; see the module's text."""

    __slots__ = (
        "__weakref__",
        "_children",
        "_purge_at",
        "dims",
        "dtype",
        "name",
        "parents",
        "serial",
        "shape",
        "site",
    )
    kind = "node"

    def __init__(
        self,
        parents: tuple["Node", ...],
        shape: tuple[int, ...],
        dtype: np.dtype,
        name: str | None = None,
        dims: tuple[str | None, ...] | None = None,
    ) -> None:
        self.serial = next(_SERIAL)  # order of creation: parents come before children
        self.parents = parents
        self.shape = shape
        self.dtype = dtype
        self.name = name
        self.dims = dims
        self.site: Site | None = here()
        self._children: list[weakref.ref[Node]] | None = None
        self._purge_at = 16
        if parents:
            reference = weakref.ref(self)
            for parent in parents:
                parent._add_child(reference)

    @property
    def size(self) -> int:
        """The number of elements."""
        size = 1
        for n in self.shape:
            size *= n
        return size

    @property
    def children(self) -> Iterator["Node"]:
        """The living nodes that have this one as a parent."""
        for reference in self._children or ():
            child = reference()
            if child is not None:
                yield child

    def _add_child(self, reference: "weakref.ref[Node]") -> None:
        children = self._children
        if children is None:
            self._children = [reference]
            return
        children.append(reference)
        if len(children) > self._purge_at:
            # Dead children are swept when the list has doubled: constant cost per child.
            children[:] = [r for r in children if r() is not None]
            self._purge_at = max(16, 2 * len(children))

    def label(self) -> str:
        """A few words for drawings and messages."""
        return self.name or self.kind

    def __repr__(self) -> str:
        return f"<{self.label()} {self.shape} {self.dtype}>"


class Data(Node):
    """A known value. `named` data are arguments of compiled functions, literals are constants."""

    __slots__ = ("_owned", "coords", "literal", "value")
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
        self.value = value
        self.coords = coords or {}
        self.literal = literal
        self._owned: Node | None = None  # the likelihood observed on this array

    def label(self) -> str:
        if self.literal and self.size == 1:
            return f"{self.value.item():.6g}"
        return self.name or "data"


class Placeholder(Node):
    """A value that a compiled function takes as an argument."""

    __slots__ = ()
    kind = "placeholder"


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
        attributes: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(parents, shape, dtype)
        self.operation = operation
        self.attributes = attributes or {}

    def label(self) -> str:
        return self.name or self.operation.symbol or self.operation.name


@dataclass
class _Visit:
    """The state of an iterative depth-first walk."""

    seen: set[int] = field(default_factory=set)
    order: list[Node] = field(default_factory=list)


def ancestors(
    nodes: Iterable[Node], stop: Callable[[Node], bool] = lambda node: False
) -> list[Node]:
    """The given nodes and all they are computed from, parents before children.

    Nodes for which `stop` is true are listed, but not entered. Iterative: no recursion limit.
    """
    visit = _Visit()
    for root in nodes:
        if id(root) in visit.seen:
            continue
        visit.seen.add(id(root))
        stack: list[tuple[Node, Iterator[Node]]] = [(root, iter(() if stop(root) else root.parents))]
        while stack:
            node, parents = stack[-1]
            for parent in parents:
                if id(parent) not in visit.seen:
                    visit.seen.add(id(parent))
                    stack.append((parent, iter(() if stop(parent) else parent.parents)))
                    break
            else:
                visit.order.append(node)
                stack.pop()
    return visit.order
