"""The user's right-hand side: calls it with leaves and checks its results."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from ..autograph.operators.call import converted
from ..graph.array import Array
from ..graph.control.structure import Structure, flatten
from ..graph.errors import KinetographError, ShapeError
from ..graph.functions.arranging import stack
from ..graph.operations.operands import as_node
from ..graph.source import place_text, written_at

__all__ = ["Leaves", "Right", "named"]

Leaves = list[Array]

_SEQUENCES = {list, tuple}
_LIST_ARITHMETIC = re.compile("list|sequence")  # words of Python's errors for lists in arithmetic


class Right:
    """The function f(t, y) as a function of leaves that returns leaves.

    Its branches and loops may depend on t and y. With `sign` -1 the time and the derivative change
    their signs, so that the integrator always goes forward.
    """

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
        self.sign = sign  # multiplies the time that f is called with, and the result of f
        self.converted = converted(f)

    def __call__(self, t: Array, leaves: Sequence[Any]) -> Leaves:
        forward = isinstance(self.sign, int) and self.sign == 1
        slopes = self.leaves(t if forward else self.sign * t, leaves)
        return slopes if forward else [self.sign * slope for slope in slopes]

    def leaves(self, t: Array, leaves: Sequence[Any]) -> Leaves:
        """The leaves of the function's result, without the sign of the direction."""
        y = self.structure.fill(leaves)
        try:
            result = self.converted(t, y)
        except TypeError as error:
            converted_to_numpy = "a NumPy array of it" in str(error)  # as in A @ y
            as_vector = converted_to_numpy or _LIST_ARITHMETIC.search(str(error))
            if type(y) in _SEQUENCES and as_vector:
                text = " computes with y as a vector" if converted_to_numpy else f": {error}"
                hint = f"y is a {type(y).__name__}, as y0 is: for a vector, give np.array(y0)"
                error.args = (f"solve: {self._name()}{text}; {hint}",)
            raise
        if result is None:
            raise ValueError(f"solve: {self._name()} must have a return value")
        vector = self.structure.make is None and len(self.like[0].shape) > 0
        if vector and isinstance(result, (list, tuple)) and result:
            result = self._elements(result)
        if {type(y), type(result)} == _SEQUENCES:
            result = type(y)(result)
        values, _, structure = flatten(result)
        difference = self.structure.difference(structure)
        if difference:
            path, expected, got = difference
            vector = got == "an array" or isinstance(result, list)
            hint = f"; y0 is a {type(y).__name__}: for a vector, give np.array(y0)"
            hint = hint if vector and type(y) in _SEQUENCES else ""
            raise TypeError(
                f"solve: {self._name()} returns {got} where y{path} is {expected}{hint}"
            )
        return [
            self._leaf(leaf, like, path)
            for leaf, like, path in zip(values, self.like, self.paths, strict=True)
        ]

    def _elements(self, result: Sequence[Any]) -> Any:
        """The vector of a list of elements."""
        try:
            return stack(result)
        except KinetographError as error:
            raise type(error)(f"solve: the result of {self._name()}: {error}") from None

    def _leaf(self, leaf: Any, like: Array, path: str) -> Array:
        """A leaf of the result, which must have the value's shape."""
        try:
            node = as_node(leaf, "solve")
        except KinetographError as error:
            raise type(error)(f"solve: the result of {self._name()}: {error}") from None
        if node.shape != like.shape:
            raise ShapeError(
                f"solve: {self._name()} returns shape {node.shape} for y{path} of shape "
                f"{like.shape}; {self.gives} must have the shape of the value"
            )
        return Array(node).astype(like.dtype)

    def _name(self) -> str:
        return named(self.f, self.name)


def named(function: Callable[..., Any], name: str) -> str:
    """The name of a user's function, with file and line.

    For a lambda it is `name`.
    """
    own_name = getattr(function, "__name__", type(function).__name__)
    return f"{name if own_name == '<lambda>' else own_name}{written_at(function) or place_text()}"
