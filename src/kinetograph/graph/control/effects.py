"""Effects of a program: checks and prints, in source order.

One hidden state passes through all effects: 0 until a check fails, then the number of that check.
Branches, loops and batches carry it like any other state. Therefore an effect happens only in the
branch that is taken, once per trip, and no effect happens after a check has failed. The state is
not kept between calls: every effect at the top level begins with an `Entry`, and a compiled
function links the effects that can be computed from its inputs.

Effects run in compiled functions and `kg.debug`. In a scope without `Effects`, such as the density
of a model, they do nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from ..node import Apply, Data, Node, Operation
from .control_node import everything
from .state import Cell, Versions, current_versions

if TYPE_CHECKING:
    from ..lower import Scope

__all__ = ["EFFECTS", "Effect", "Effects", "Entry", "append", "unfailed"]

STATE = np.dtype(np.int32)


class Entry(Data):
    """The state of the effects before an effect at the top level."""

    __slots__ = ("program",)
    kind = "effects"

    def __init__(self, initial: np.ndarray, program: Versions) -> None:
        super().__init__(initial, "effects", literal=True)
        self.program = program


class EffectCell(Cell):
    """The state of the effects; `EFFECTS` is the only instance."""

    __slots__ = ()
    passing = True

    def __init__(self) -> None:
        super().__init__(np.zeros((), STATE), "effects", hidden=True)

    def __reduce__(self) -> str:  # type: ignore[override]
        return "EFFECTS"

    def entry(self, program: Versions) -> Node:
        """The node of the state before an effect at top level."""
        return Entry(self.initial, program)

    def join(self, versions: Node, inside: Node) -> Node:
        """The state of the first row with a failed check."""
        return Apply(JOIN, (versions,), (), STATE)


def _join(states: Any) -> Any:
    padded = jnp.append(states, np.zeros(1, STATE))  # there may be no rows
    return padded[jnp.argmax(padded != 0)]


JOIN = Operation("join", _join)
UNFAILED = Operation("unfailed", lambda state: state == 0)
EFFECTS = EffectCell()


class Effect(Apply):
    """A check or print that takes and returns the effects' state."""

    __slots__ = ()
    computes = True

    def __init__(self, operation: Operation, parents: tuple[Node, ...]) -> None:
        super().__init__(operation, parents, (), STATE)

    def compute(self, tensors: list[Any], scope: "Scope") -> Any:
        """Run the effect and return the next state."""
        raise NotImplementedError

    def error(self) -> Exception | None:
        """The error to raise for a failed check; None for other effects."""
        return None


def append(make: Any) -> None:
    """Append the effect `make(state)` to the program, branch or loop."""
    versions = current_versions()
    versions.replace(EFFECTS, make(versions.current(EFFECTS)))


def unfailed(state: Node) -> Node:
    """Whether no check has failed; otherwise loops with effects end."""
    return Apply(UNFAILED, (state,), (), np.dtype(bool))


@dataclass(frozen=True)
class Effects:
    """The effects of a compiled function.

    `before` maps the entry of an effect to the end of the preceding effect. `numbers` maps each
    effect to the state after its check has failed. `last` is the node of the final state.
    """

    before: Mapping[Node, Node]
    numbers: "Mapping[Effect, int]"
    last: Node

    @staticmethod
    def of(strings: Mapping[Node, Node], needed: Iterable[Node]) -> "Effects | None":
        """The effects of a mapping from entries to ends, in this order.

        `needed` are all nodes of the function. Returns None if there are no effects.
        """
        if not strings:
            return None
        ends = list(strings.values())
        effects = dict.fromkeys(n for n in everything(needed) if isinstance(n, Effect))
        numbers = {node: i for i, node in enumerate(effects, start=1)}
        return Effects(dict(zip(list(strings)[1:], ends, strict=False)), numbers, ends[-1])

    def raise_failed(self, state: Any) -> None:
        """Raise the error of the failed check number `state`, if any."""
        number = int(state)
        if number:
            node = next(n for n, effect_number in self.numbers.items() if effect_number == number)
            error = node.error()
            assert error is not None
            raise error
