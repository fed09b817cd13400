"""Which states a compiled function has: those of its program."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..errors import ModelError
from ..messages import describe, site_text
from ..node import Apply, Bundle, Data, Node, ancestors
from .state import Assigned, Cell, Read, Versions, new_program, top_level

__all__ = ["Program"]


@dataclass
class Program:
    """States, the nodes that read them at the start, and their versions at the end."""

    cells: tuple[Cell, ...]
    reads: tuple[Node, ...]
    finals: tuple[Node, ...]

    @staticmethod
    def of(outputs: Sequence[Node], given: Collection[Node]) -> "Program":
        """The program that outputs belong to; what is written from now on is another one.

        It has the states that the outputs read or assign. Of the assignments of the program that is
        being written, those of other states are carried out too, where the inputs allow it.
        """
        found: dict[Versions, None] = {}
        own: dict[Cell, None] = {}
        wanted, seen = list(outputs), set[Node]()
        while wanted:
            fresh: list[Node] = []
            for node in ancestors(wanted, stop=lambda n: n in given):
                if not isinstance(node, (Read, Assigned)):
                    continue
                home, cell = node.program, node.cell
                found[home] = None
                own[cell] = None
                if home.latest[cell] not in seen:
                    fresh.append(home.latest[cell])
                    seen.add(home.latest[cell])
            wanted = fresh
        current = top_level()
        found.setdefault(current)
        pending = _pending(current, own, given)
        _refuse_two(list(found), own)
        if pending or any(cell in current.latest for cell in own):
            new_program()
        cells = (*own, *pending)
        homes = [next(p for p in found if cell in p.latest) for cell in cells]
        reads = tuple(home.entered[cell] for home, cell in zip(homes, cells, strict=True))
        finals = tuple(home.latest[cell] for home, cell in zip(homes, cells, strict=True))
        return Program(cells, reads, finals)


def _pending(current: Versions, own: Collection[Cell], given: Collection[Node]) -> list[Cell]:
    """Assigned states that no output needs, whose handles still live and inputs are there."""
    found = []
    for cell in current.assigned:
        alive = cell.handle is not None and cell.handle() is not None
        if cell in own or cell.hidden or not alive:
            continue
        nodes = ancestors([current.latest[cell]], stop=lambda n: n in given)
        if all(n in given or isinstance(n, (Apply, Bundle, Data, Read)) for n in nodes):
            found.append(cell)
    return found


def _refuse_two(found: Sequence[Versions], own: Collection[Cell]) -> None:
    for cell in own:
        nodes = [p.latest[cell] for p in found if cell in p.latest]
        if len(nodes) > 1:
            first, second = nodes[:2]
            raise ModelError(
                f"compile: state {cell.title} is used by two programs, {describe(first)}"
                f"{site_text(first)} and {describe(second)}{site_text(second)}, with a call of "
                "kg.compile between them; write both before compiling"
            )
