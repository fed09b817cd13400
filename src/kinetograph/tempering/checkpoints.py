"""Checkpoints of tempering: all on which the rest of a run depends.

    .kinetograph/state.1, state.2     the last two checkpoints that were written

A checkpoint replaces the older one of the two, so that one is always intact. Results continued from
either of them are the same.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..graph.errors import KinetographError, KinetographWarning
from ..graph.source import warn_user
from ..programs.sealed_files import (
    Damaged,
    arrays_bytes,
    arrays_of,
    read_sealed,
    seal,
    twins,
    write_whole,
)

__all__ = ["RunCheckpoints", "State"]

State = dict[str, Any]  # arrays, and values that JSON can hold
SHARE = 0.05  # the largest part of the time that goes into checkpoints


class RunCheckpoints:
    """The checkpoints of a run; without a folder, none are written.

    Attributes
    ----------
    last
        The state of the last checkpoint before this call of `kg.temper`.
    advice
        The way to continue the run, for messages.
    """

    def __init__(self, hidden: Path | None = None, advice: str = "") -> None:
        self.hidden, self.advice = hidden, advice
        self.last = None if hidden is None else _last(hidden)
        numbers = {"number": 0, "seconds": 0.0} if self.last is None else self.last
        self._number, self._seconds = int(numbers["number"]), numbers["seconds"]
        self._begun, self._next = time.monotonic(), 0.0

    @property
    def seconds(self) -> float:
        """The time that the run has taken, before the last interruption, too."""
        return float(self._seconds + time.monotonic() - self._begun)

    def keep(self, state: Callable[[], State], every: float = 0.0, now: bool = False) -> None:
        """Write a checkpoint if it is due, or `now`.

        It is due some seconds after the last one, and later if the last one took long.
        """
        begun = time.monotonic()
        if self.hidden is None or (begun < self._next + every and not now):
            return
        self._number += 1
        head: State = {"number": self._number, "seconds": self.seconds}
        data = _encoded(state() | head)
        write_whole(twins(self.hidden / "state")[self._number % 2], seal(data))
        ended = time.monotonic()
        self._next = ended + (ended - begun) / SHARE


def _encoded(state: State) -> bytes:
    """A state as bytes: a line of JSON, then arrays."""
    arrays = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
    rest = {name: value for name, value in state.items() if name not in arrays}
    return json.dumps(rest).encode() + b"\n" + arrays_bytes(arrays)


def _last(hidden: Path) -> State | None:
    """The latest intact checkpoint, or None.

    Raises
    ------
    KinetographError
        If all are damaged.
    """
    states: list[State] = []
    problems: list[str] = []
    for twin in twins(hidden / "state"):
        try:
            head, _, arrays = read_sealed(twin).partition(b"\n")
            states.append(json.loads(head) | arrays_of(arrays))
        except Damaged as error:
            problems += [str(error)] * twin.exists()
    if problems and not states:
        raise KinetographError(
            f"temper: {hidden.parent}: the checkpoints are damaged ({'; '.join(problems)}), so the "
            "run cannot be continued; remove the folder, and begin again"
        )
    if problems:
        warn_user(
            f"temper: {hidden.parent}: {problems[0]}; the run continues from the other checkpoint",
            KinetographWarning,
        )
    return max(states, key=lambda state: int(state["number"]), default=None)
