"""`result.loop`: a while loop's number of trips, and whether it was truncated."""

from typing import TYPE_CHECKING

import numpy as np

from ..array import Array
from .contexts import ControlFlowContext

if TYPE_CHECKING:
    from .loops import While

__all__ = ["LoopHandle"]


class LoopHandle:
    """Further results of a while loop, available as `result.loop`."""

    def __init__(self, node: "While") -> None:
        self._node = node

    @property
    def trips(self) -> Array:
        """The number of times that the body ran: an integer array."""
        return Array(self._node.part(self._node.carried, (), np.dtype(np.int32)))

    @property
    def truncated(self) -> Array:
        """Whether the bound ended the loop while its predicate was still true."""
        return Array(self._node.part(self._node.carried + 1, (), np.dtype(bool)))

    @property
    def context(self) -> ControlFlowContext:
        """The context in which predicate and body were built."""
        return self._node.contexts[0]

    def __repr__(self) -> str:
        return f"<{self._node.title} at {self._node.site}>"
