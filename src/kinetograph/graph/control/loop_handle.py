"""`result.loop`: what a while loop tells beside its results."""

from typing import TYPE_CHECKING

import numpy as np

from ..array import Array
from .contexts import ControlFlowContext

if TYPE_CHECKING:
    from .loops import While

__all__ = ["LoopHandle"]


class LoopHandle:
    """A while loop; reached by `result.loop`."""

    def __init__(self, node: "While") -> None:
        self._node = node

    @property
    def trips(self) -> Array:
        """How often the body was carried out: a whole number."""
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
