"""`result.loop`: what a while loop tells beside its results."""

import numpy as np

from ..array import Array
from ..errors import NoAttributeError
from ..messages import describe
from ..node import PART, Apply, Node
from .contexts import ControlFlowContext
from .loops import While

__all__ = ["LoopHandle", "handle"]


class LoopHandle:
    """A while loop; reached by `result.loop`."""

    def __init__(self, node: While) -> None:
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


def handle(node: Node) -> LoopHandle:
    """The loop an array comes from."""
    if isinstance(node, Apply) and node.operation is PART and isinstance(node.parents[0], While):
        return LoopHandle(node.parents[0])
    raise NoAttributeError(f"{describe(node)} is not the result of a while loop")
