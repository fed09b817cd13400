"""Warnings about Python loops that add nodes in each trip."""

import warnings

from ...graph.errors import AutographWarning, StagingError
from ...graph.node import next_serial
from ...graph.source import PACKAGE, place_text

__all__ = ["ITERATION_LIMIT", "UNROLLED_ITERATIONS", "Unrolling"]

UNROLLED_ITERATIONS = 50  # number of trips that add to the graph at which a warning is given
ITERATION_LIMIT = 100_000_000
_ADVICE = {
    "for": "Write kg.range(...) in place of range(...), kg.data(array) in place of a NumPy array, "
    "or kg.stack(list) in place of a list of arrays",
    "while": "Make its condition depend on an array, such as kg.data(number)",
}


class Unrolling:
    """A counter of the trips of one loop.

    It has no effect under `python -O`.
    """

    __slots__ = ("adding", "count", "serial", "statement", "warned")

    def __init__(self, statement: str) -> None:
        self.statement = statement
        self.count = self.adding = 0
        self.serial = next_serial() if __debug__ else 0
        self.warned = False

    def step(self) -> None:
        """Count one trip.

        Raises
        ------
        StagingError
            If the loop has run too many times.
        """
        if not __debug__:
            return
        self.count += 1
        if self.warned or self.adding > 0 or self.count < 16 or self.count % 64 == 0:
            self._note()
        if self.count > ITERATION_LIMIT:
            raise StagingError(
                f"iteration limit exceeded{place_text()}: this Python loop has run "
                f"{ITERATION_LIMIT} times while a graph was built"
            )

    def _note(self) -> None:
        serial = next_serial()
        if serial > self.serial + 1:
            self.adding += 1
        self.serial = serial
        if self.adding > UNROLLED_ITERATIONS and not self.warned:
            self.warned = True
            warnings.warn(
                f"Large unrolled loop detected{place_text()}: this `{self.statement}` runs in "
                f"Python and has added nodes to the graph in {self.adding} iterations. They are "
                "compiled together if they are alike and their results are stacked or observed, "
                f"otherwise one by one. {_ADVICE[self.statement]}, to make it a loop of the graph",
                AutographWarning,
                skip_file_prefixes=(PACKAGE,),
            )
