"""Which states and effects a compiled function has: those of its program."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..errors import ModelError
from ..messages import describe, site_text
from ..node import Apply, Bundle, Data, Node, ancestors
from .effects import Entry
from .state import Assigned, Cell, Read, Versions, new_program, top_level

__all__ = ["Program", "effects_of"]


@dataclass
class Program:
    """States, the nodes that read them at the start, their versions at the end, and effects."""

    cells: tuple[Cell, ...]
    reads: tuple[Node, ...]
    finals: tuple[Node, ...]
    effects: dict[Node, Node]  # from the state before one to that after it, in order

    @staticmethod
    def of(outputs: Sequence[Node], given: Collection[Node]) -> "Program":
        """The program that outputs belong to; what is written from now on is another one.

        It has the states that the outputs read or assign, and the effects on the way. Of the
        assignments and effects of the program that is being written, the others are carried out
        too, where the inputs allow it; other effects are left for later.
        """
        current = top_level()
        part = _Part(outputs, given)
        part.add_pending(current)
        _refuse_two(list(part.homes | {current: None}), part.cells)
        homes = [next(p for p in part.homes if cell in p.latest) for cell in part.cells]
        left = {e: end for e, end in current.effects.items() if e not in part.effects}
        if current in homes or len(left) < len(current.effects):
            new_program()
            top_level().effects.update(left)
        cells = tuple(part.cells)
        reads = tuple(home.entered[cell] for home, cell in zip(homes, cells, strict=True))
        finals = tuple(home.latest[cell] for home, cell in zip(homes, cells, strict=True))
        return Program(cells, reads, finals, part.effects)


def effects_of(outputs: Sequence[Node], given: Collection[Node]) -> dict[Node, Node]:
    """The effects a function of these outputs would have, from entries to ends."""
    part = _Part(outputs, given)
    part.add_pending(top_level())
    return part.effects


class _Part:
    """What outputs need: states, the programs they belong to, and effects."""

    def __init__(self, outputs: Sequence[Node], given: Collection[Node]) -> None:
        self.given = given
        self.homes: dict[Versions, None] = {}
        self.cells: dict[Cell, None] = {}
        self.effects: dict[Node, Node] = {}
        self.nodes: set[Node] = set()
        self.complete = True  # whether the inputs suffice
        self._reach(outputs)

    def _reach(self, outputs: Sequence[Node], known: Collection[Node] = ()) -> None:
        wanted = list(outputs)
        while wanted:
            fresh: dict[Node, None] = {}
            for node in ancestors(wanted, stop=lambda n: n in self.given or n in known):
                if node in self.nodes or node in known:
                    continue
                self.nodes.add(node)
                if isinstance(node, (Read, Assigned)):
                    home, cell = node.program, node.cell
                    self.homes[home] = self.cells[cell] = None
                    fresh[home.latest[cell]] = None
                elif isinstance(node, Entry) and node in node.program.effects:
                    self.effects[node] = node.program.effects[node]
                    fresh[self.effects[node]] = None
                elif node not in self.given and not isinstance(node, (Apply, Bundle, Data)):
                    self.complete = False
            wanted = [node for node in fresh if node not in self.nodes]

    def add(self, output: Node) -> None:
        """Have another output, where the inputs allow it."""
        other = _Part((), self.given)
        other._reach((output,), self.nodes)
        if other.complete:
            self.homes |= other.homes
            self.cells |= other.cells
            self.effects |= other.effects
            self.nodes |= other.nodes

    def add_pending(self, current: Versions) -> None:
        """Have what the program that is being written does besides."""
        for cell in current.assigned:
            alive = cell.handle is not None and cell.handle() is not None
            if cell not in self.cells and not cell.hidden and alive:
                self.add(current.latest[cell])
        for entry, end in current.effects.items():
            if entry not in self.effects:
                self.add(end)
        self.effects = dict(sorted(self.effects.items(), key=lambda item: item[0].serial))


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
