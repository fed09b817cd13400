"""Taking back what was built since a mark: an attempt that failed, or was made to look at types.

The graph itself is functional, so nodes that nobody holds are gone by themselves. What remembers
them is put back: the versions of states, here and around, the notes of the contexts, and, by
`ON_ROLLBACK`, what outer layers keep.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..node import CURRENT, next_serial
from .contexts import BatchContext, ControlFlowContext
from .control import Control
from .state import Versions, new_program, top_level

__all__ = ["ON_ROLLBACK", "Mark", "aside", "mark", "rollback"]

ON_ROLLBACK: list[Callable[[int], None]] = []  # told the first serial number to forget


@dataclass(frozen=True)
class _Versions:
    """What `Versions` held."""

    versions: Versions
    tables: dict[str, dict[Any, Any]]

    @staticmethod
    def of(versions: Versions) -> "_Versions":
        tables = {n: dict(held) for n, held in vars(versions).items() if isinstance(held, dict)}
        return _Versions(versions, tables)

    def restore(self) -> None:
        for name, held in self.tables.items():
            setattr(self.versions, name, dict(held))


@dataclass(frozen=True)
class _Notes:
    """How much a context had noted: its lists only grow."""

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
    """A moment in the building of a graph by one thread; made by `mark`."""

    serial: int
    context: ControlFlowContext | None
    notes: tuple[_Notes, ...]
    versions: tuple[_Versions, ...]
    program: Versions


def mark() -> Mark:
    """The present moment, to which `rollback` goes back."""
    context = CURRENT.context
    around = tuple(context.enclosing()) if context is not None else ()
    program = top_level()
    versions = (*(c._versions for c in around), program)
    return Mark(
        next_serial(),
        context,
        tuple(map(_Notes.of, around)),
        tuple(map(_Versions.of, versions)),
        program,
    )


def rollback(moment: Mark) -> None:
    """Forget what this thread has built since a mark: assignments, captures, contexts and draws.

    Arrays made since then must not be used any more. The same mark may be gone back to again.
    """
    CURRENT.context = moment.context
    new_program(moment.program)
    for versions in moment.versions:
        versions.restore()
    for notes in moment.notes:
        notes.restore()
    for forget in ON_ROLLBACK:
        forget(moment.serial)


@contextmanager
def aside(node: Control) -> Iterator[None]:
    """Build inside of a finished branch, batch or loop what shall leave no trace in it."""
    notes = [_Notes.of(context) for context in node.contexts]
    try:
        yield
    finally:
        for own in notes:
            own.restore()
        node.claim_contexts()
