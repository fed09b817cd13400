"""Where likelihoods and factors are held: by the unknowns, or by a model function that runs."""

import contextlib
import weakref
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field

from ..distributions.variable import Variable
from ..graph.array import Array
from ..graph.node import Data, Node
from ..graph.source import Site

__all__ = ["EARLIER", "Held", "alone", "building", "statements_of"]

Pairs = list[tuple[Node, Data | None]]


@dataclass(eq=False)
class Held:
    """What one run of a model function has stated, apart from all that is stated elsewhere."""

    statements: dict[Variable, Pairs] = field(default_factory=dict)
    observed: list[tuple[Array, Node]] = field(default_factory=list)  # and what arrays were before


# Of the unknowns of models: the last node when the model was made, and where it was.
EARLIER: "weakref.WeakKeyDictionary[Variable, tuple[int, Site | None]]"
EARLIER = weakref.WeakKeyDictionary()
_BUILDING: ContextVar[Held | None] = ContextVar("building", default=None)


def building() -> Held | None:
    """What the model function that runs at present has stated; None outside of one."""
    return _BUILDING.get()


def statements_of(unknown: Variable) -> Pairs:
    """The likelihoods and factors that an unknown bears on, each with its data."""
    held = _BUILDING.get()
    return unknown.statements if held is None else held.statements.setdefault(unknown, [])


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Keep what is stated within apart; arrays with missing values are afterwards as before."""
    held = Held()
    token = _BUILDING.set(held)
    try:
        yield
    finally:
        _BUILDING.reset(token)
        for array, node in reversed(held.observed):
            array.node = node
