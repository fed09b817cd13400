"""The states and effects of a compiled function, taken from its program."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..errors import ModelError
from ..messages import describe, site_text
from ..node import Apply, Bundle, Data, Node, ancestors
from .effects import Entry
from .state import Assigned, Cell, Read, Versions, new_program, top_level

__all__ = ["GraphProgram", "effects_of"]


@dataclass
class GraphProgram:
    """The states and effects of a compiled function.

    `reads` are the nodes of the states in `cells` at the start of a call, `finals` their versions
    at its end.
    """

    cells: tuple[Cell, ...]
    reads: tuple[Node, ...]
    finals: tuple[Node, ...]
    effects: dict[Node, Node]  # from the effect state before an effect to the state after it

    @staticmethod
    def of(outputs: Sequence[Node], inputs: Collection[Node]) -> "GraphProgram":
        """Return the program of the outputs and begin a new one.

        The returned program has the states that the outputs read or assign, and the effects on
        which the outputs depend. It also has all other assignments and effects of the current
        program that can be computed from the inputs. The remaining effects are left for the new
        current program.
        """
        current = top_level()
        part = _ProgramPart(outputs, inputs)
        part.add_pending(current)
        _check_one_program(list(part.homes | {current: None}), part.cells)
        homes = [next(p for p in part.homes if cell in p.latest) for cell in part.cells]
        remaining_effects = {e: end for e, end in current.effects.items() if e not in part.effects}
        if current in homes or len(remaining_effects) < len(current.effects):
            new_program()
            top_level().effects.update(remaining_effects)
        cells = tuple(part.cells)
        reads = tuple(home.entered[cell] for home, cell in zip(homes, cells, strict=True))
        finals = tuple(home.latest[cell] for home, cell in zip(homes, cells, strict=True))
        return GraphProgram(cells, reads, finals, part.effects)


def effects_of(outputs: Sequence[Node], inputs: Collection[Node]) -> dict[Node, Node]:
    """The effects that a function of these outputs would have.

    The mapping leads from the state before each effect to the state after it.
    """
    part = _ProgramPart(outputs, inputs)
    part.add_pending(top_level())
    return part.effects


class _ProgramPart:
    """The states, programs and effects that outputs depend on."""

    def __init__(self, outputs: Sequence[Node], inputs: Collection[Node]) -> None:
        self.inputs = inputs
        self.homes: dict[Versions, None] = {}
        self.cells: dict[Cell, None] = {}
        self.effects: dict[Node, Node] = {}
        self.nodes: set[Node] = set()
        self.complete = True  # whether the inputs suffice
        self._reach(outputs)

    def _reach(self, outputs: Sequence[Node], reached_before: Collection[Node] = ()) -> None:
        pending = list(outputs)
        while pending:
            newly_reached: dict[Node, None] = {}
            for node in ancestors(pending, stop=lambda n: n in self.inputs or n in reached_before):
                if node in self.nodes or node in reached_before:
                    continue
                self.nodes.add(node)
                if isinstance(node, (Read, Assigned)):
                    home, cell = node.program, node.cell
                    self.homes[home] = self.cells[cell] = None
                    newly_reached[home.latest[cell]] = None
                elif isinstance(node, Entry) and node in node.program.effects:
                    self.effects[node] = node.program.effects[node]
                    newly_reached[self.effects[node]] = None
                elif node not in self.inputs and not isinstance(node, (Apply, Bundle, Data)):
                    self.complete = False
            pending = [node for node in newly_reached if node not in self.nodes]

    def add(self, output: Node) -> None:
        """Add an output if it can be computed from the inputs."""
        part = _ProgramPart((), self.inputs)
        part._reach((output,), self.nodes)
        if part.complete:
            self.homes |= part.homes
            self.cells |= part.cells
            self.effects |= part.effects
            self.nodes |= part.nodes

    def add_pending(self, current: Versions) -> None:
        """Add the other assignments and effects of the current program."""
        for cell in current.assigned:
            alive = cell.handle is not None and cell.handle() is not None
            if cell not in self.cells and not cell.hidden and alive:
                self.add(current.latest[cell])
        for entry, end in current.effects.items():
            if entry not in self.effects:
                self.add(end)
        self.effects = dict(sorted(self.effects.items(), key=lambda item: item[0].serial))


def _check_one_program(programs: Sequence[Versions], cells: Collection[Cell]) -> None:
    for cell in cells:
        nodes = [p.latest[cell] for p in programs if cell in p.latest]
        if len(nodes) > 1:
            first, second = nodes[:2]
            raise ModelError(
                f"compile: state {cell.title} is used by two programs, {describe(first)}"
                f"{site_text(first)} and {describe(second)}{site_text(second)}, with a call of "
                "kg.compile between them; write both before compiling"
            )
