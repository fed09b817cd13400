"""The user's right-hand side: called with leaves, its results checked."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from ..autograph.operators.call import converted
from ..graph.array import Array
from ..graph.control.structure import Structure, flatten
from ..graph.errors import KinetographError, ShapeError, SymbolicError
from ..graph.functions.arranging import stack
from ..graph.operations.elementwise import as_node
from ..graph.source import place_text, written_at

__all__ = ["Leaves", "Right", "named"]

Leaves = list[Array]

_OF_LISTS = re.compile("list|sequence")  # what Python says of arithmetic with lists


class Right:
    """The function f(t, y), from leaves to leaves; its `if`s and loops may depend on t and y."""

    def __init__(
        self,
        f: Callable[..., Any],
        structure: Structure,
        paths: Sequence[str],
        like: Leaves,
        sign: Any = 1,
        name: str = "f",
        gives: str = "the derivative",
    ) -> None:
        self.f, self.structure, self.paths, self.like = f, structure, paths, like
        self.name, self.gives = name, gives  # for messages
        self.sign = sign  # of the direction in time; t comes times the sign, and so goes the result
        self.converted = converted(f)

    def __call__(self, t: Array, leaves: Sequence[Any]) -> Leaves:
        forward = isinstance(self.sign, int) and self.sign == 1
        slopes = self.leaves(t if forward else self.sign * t, leaves)
        return slopes if forward else [self.sign * slope for slope in slopes]

    def leaves(self, t: Array, leaves: Sequence[Any]) -> Leaves:
        """What the function gives for the leaves, at the user's own time."""
        y = self.structure.fill(leaves)
        try:
            result = self.converted(t, y)
        except TypeError as error:
            as_vector = isinstance(error, SymbolicError) or _OF_LISTS.search(str(error))
            if isinstance(y, list) and as_vector:
                hint = "y is a list, as y0 is: for a vector, give np.array(y0)"
                error.args = (f"solve: {self._name()}: {error}; {hint}",)
            raise
        if result is None:
            raise ValueError(f"solve: {self._name()} must have a return value")
        vector = self.structure.make is None and len(self.like[0].shape) > 0
        if vector and isinstance(result, (list, tuple)) and result:
            result = self._elements(result)
        found, _, structure = flatten(result)
        difference = self.structure.difference(structure)
        if difference:
            path, wanted, got = difference
            vector = got == "an array" or isinstance(result, list)
            hint = "; y0 is a list: for a vector, give np.array(y0)" if vector else ""
            hint = hint if isinstance(y, list) else ""
            raise TypeError(f"solve: {self._name()} returns {got} where y{path} is {wanted}{hint}")
        return [
            self._leaf(leaf, like, path)
            for leaf, like, path in zip(found, self.like, self.paths, strict=True)
        ]

    def _elements(self, result: Sequence[Any]) -> Any:
        try:
            return stack(result)
        except KinetographError as error:
            raise type(error)(f"solve: what {self._name()} returns: {error}") from None

    def _leaf(self, leaf: Any, like: Array, path: str) -> Array:
        try:
            node = as_node(leaf, "solve")
        except KinetographError as error:
            raise type(error)(f"solve: what {self._name()} returns: {error}") from None
        if node.shape != like.shape:
            raise ShapeError(
                f"solve: {self._name()} returns shape {node.shape} for y{path} of shape "
                f"{like.shape}; {self.gives} has the shape of the value"
            )
        return Array(node).astype(like.dtype)

    def _name(self) -> str:
        return named(self.f, self.name)


def named(function: Callable[..., Any], name: str) -> str:
    """A user's function, with its own name if it has one, and where it is written."""
    own = getattr(function, "__name__", type(function).__name__)
    return f"{name if own == '<lambda>' else own}{written_at(function) or place_text()}"
