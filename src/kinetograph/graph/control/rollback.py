"""Undo the building of a graph since a mark.

The graph itself is functional, so nodes without references are deleted by Python. The records that
refer to nodes are restored: the versions of states in all enclosing contexts, the lists of the
contexts and, through `ON_ROLLBACK`, the records of outer layers.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..hooks import ON_ROLLBACK
from ..node import CURRENT, next_serial
from .contexts import BatchContext, ControlFlowContext
from .control_node import Control
from .state import Versions, new_program, top_level

__all__ = ["Mark", "aside", "mark", "rollback"]


@dataclass(frozen=True)
class _Versions:
    """A copy of the tables of a `Versions` object."""

    versions: Versions
    tables: dict[str, dict[Any, Any]]

    @staticmethod
    def of(versions: Versions) -> "_Versions":
        tables = {n: dict(table) for n, table in vars(versions).items() if isinstance(table, dict)}
        return _Versions(versions, tables)

    def restore(self) -> None:
        for name, table in self.tables.items():
            setattr(self.versions, name, dict(table))


@dataclass(frozen=True)
class _Notes:
    """The lengths of the lists of a context; these lists only grow."""

    context: ControlFlowContext
    lengths: tuple[int, ...]
    row_number: object

    @staticmethod
    def of(context: ControlFlowContext) -> "_Notes":
        return _Notes(context, tuple(map(len, _lists(context))), _row_number(context))

    def restore(self) -> None:
        *lists, external = _lists(self.context)
        *lengths, captured = self.lengths
        for notes, length in zip(lists, lengths, strict=True):
            del notes[length:]
        while len(external) > captured:
            external.popitem()
        if isinstance(self.context, BatchContext):
            self.context._set("_number", self.row_number)


def _lists(context: ControlFlowContext) -> tuple:
    return context._values, context._nested, context._arguments, context._external


def _row_number(context: ControlFlowContext) -> object:
    return context._number if isinstance(context, BatchContext) else None


@dataclass(frozen=True)
class Mark:
    """A point in the building of a graph; made by `mark`."""

    serial: int
    context: ControlFlowContext | None
    notes: tuple[_Notes, ...]
    versions: tuple[_Versions, ...]
    program: Versions


def mark() -> Mark:
    """Record the present state, which `rollback` restores."""
    context = CURRENT.context
    enclosing = tuple(context.enclosing()) if context is not None else ()
    program = top_level()
    versions = (*(c._versions for c in enclosing), program)
    return Mark(
        next_serial(),
        context,
        tuple(map(_Notes.of, enclosing)),
        tuple(map(_Versions.of, versions)),
        program,
    )


def rollback(moment: Mark) -> None:
    """Undo assignments, captures, contexts and draws of this thread since a mark.

    Arrays made since the mark must not be used afterwards. The same mark may be used several times.
    """
    CURRENT.context = moment.context
    new_program(moment.program)
    for versions in moment.versions:
        versions.restore()
    for notes in moment.notes:
        notes.restore()
    ON_ROLLBACK(moment.serial)


@contextmanager
def aside(node: Control) -> Iterator[None]:
    """Build in a finished node's contexts, then restore the contexts."""
    notes = [_Notes.of(context) for context in node.contexts]
    try:
        yield
    finally:
        for context_notes in notes:
            context_notes.restore()
        node.claim_contexts()
