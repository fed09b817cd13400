"""The holder of likelihoods and factors: the unknowns, or a model function."""

import contextlib
import weakref
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field

from ..distributions.variable import Variable
from ..graph.array import Array
from ..graph.node import Data, Node, next_serial
from ..graph.source import Site

__all__ = ["EARLIER", "STATED_INSIDE", "StatementStore", "alone", "building", "statements_of"]

Pairs = list[tuple[Node, Data | None]]


@dataclass(eq=False)
class StatementStore:
    """The statements of one run of a model function.

    They are kept apart from all statements outside of it.
    """

    statements: dict[Variable, Pairs] = field(default_factory=dict)
    observed: list[tuple[Array, Node]] = field(default_factory=list)  # and the nodes before


# By unknown of a model: the number of the last node when the model was made, and its place.
EARLIER: "weakref.WeakKeyDictionary[Variable, tuple[int, Site | None]]"
EARLIER = weakref.WeakKeyDictionary()
# Unknowns that a model function made, with statements that are not known outside of it.
STATED_INSIDE: "weakref.WeakSet[Variable]" = weakref.WeakSet()
_BUILDING: ContextVar[StatementStore | None] = ContextVar("building", default=None)


def building() -> StatementStore | None:
    """The statements of the model function that runs; None outside of one."""
    return _BUILDING.get()


def statements_of(unknown: Variable) -> Pairs:
    """The likelihoods and factors of an unknown, each with its data."""
    store = _BUILDING.get()
    return unknown.statements if store is None else store.statements.setdefault(unknown, [])


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Keep the statements of a block apart from all other statements.

    Arrays with missing values are restored at the end.
    """
    store, first = StatementStore(), next_serial()
    token = _BUILDING.set(store)
    try:
        yield
    finally:
        _BUILDING.reset(token)
        inside = (v for v, pairs in store.statements.items() if pairs and v.serial > first)
        STATED_INSIDE.update(inside)
        for array, node in reversed(store.observed):
            array.node = node
