"""What a program does beside computing: checks and prints, in the order in which they are written.

One hidden state goes through all of them: 0 until a check fails, then the number of that check.
Branches, loops and batches hand it on like any other state, so an effect happens only in the branch
that is taken and once a trip, and nothing happens after a check has failed. The state is of no use
from one call to the next: every effect at the top begins with an `Entry`, and a compiled function
strings together those that its inputs allow.

Effects belong to compiled functions and `kg.debug`. Where a scope has no `Effects`, in the density
of a model, they do nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from ..node import Apply, Data, Node, Operation
from .control import everything
from .state import Cell, Versions, current_versions

if TYPE_CHECKING:
    from ..lower import Scope

__all__ = ["EFFECTS", "Effect", "Effects", "Entry", "append", "unfailed"]

STATE = np.dtype(np.int32)


class Entry(Data):
    """The state of the effects before one at the top."""

    __slots__ = ("program",)
    kind = "effects"

    def __init__(self, initial: np.ndarray, program: Versions) -> None:
        super().__init__(initial, "effects", literal=True)
        self.program = program


class EffectCell(Cell):
    """The state of the effects; there is one, `EFFECTS`."""

    __slots__ = ()
    passing = True

    def __init__(self) -> None:
        super().__init__(np.zeros((), STATE), "effects", hidden=True)

    def __reduce__(self) -> str:  # type: ignore[override]
        return "EFFECTS"

    def entry(self, program: Versions) -> Node:
        """What stands for it before the first effect."""
        return Entry(self.initial, program)

    def join(self, versions: Node, inside: Node) -> Node:
        """After a batch: that of the first row in which a check has failed."""
        return Apply(JOIN, (versions,), (), STATE)


def _join(states: Any) -> Any:
    padded = jnp.append(states, np.zeros(1, STATE))  # there may be no rows
    return padded[jnp.argmax(padded != 0)]


JOIN = Operation("join", _join)
UNFAILED = Operation("unfailed", lambda state: state == 0)
EFFECTS = EffectCell()


class Effect(Apply):
    """Something a program does: the state of the effects goes in and comes out."""

    __slots__ = ()
    computes = True

    def __init__(self, operation: Operation, parents: tuple[Node, ...]) -> None:
        super().__init__(operation, parents, (), STATE)

    def compute(self, tensors: list[Any], scope: "Scope") -> Any:
        """Do it; gives the next state."""
        raise NotImplementedError

    def error(self) -> Exception | None:
        """What to raise when a program ends with the number of this effect; None if none can."""
        return None


def append(make: Any) -> None:
    """The effect that `make(state)` gives is the next one of the program, branch or loop."""
    versions = current_versions()
    versions.replace(EFFECTS, make(versions.current(EFFECTS)))


def unfailed(state: Node) -> Node:
    """Whether no check has failed: what loops with effects go on for."""
    return Apply(UNFAILED, (state,), (), np.dtype(bool))


@dataclass(frozen=True)
class Effects:
    """The effects of a compiled function.

    `before` tells which effect the one with an entry follows, `numbers` what a check that has
    failed leaves in the state, and `last` where the state is at the end.
    """

    before: Mapping[Node, Node]
    numbers: "Mapping[Effect, int]"
    last: Node

    @staticmethod
    def of(strings: Mapping[Node, Node], needed: Iterable[Node]) -> "Effects | None":
        """Those from entries to ends, in this order; `needed` are all nodes of the function."""
        if not strings:
            return None
        ends = list(strings.values())
        found = dict.fromkeys(n for n in everything(needed) if isinstance(n, Effect))
        numbers = {node: i for i, node in enumerate(found, start=1)}
        return Effects(dict(zip(list(strings)[1:], ends, strict=False)), numbers, ends[-1])

    def raise_failed(self, state: Any) -> None:
        """Raise the error of the check whose number the state is, if any."""
        number = int(state)
        if number:
            node = next(n for n, own in self.numbers.items() if own == number)
            error = node.error()
            assert error is not None
            raise error
