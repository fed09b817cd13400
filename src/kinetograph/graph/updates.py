"""Functional updates: `x.at[i].set(v)` returns a copy of x with x[i] = v."""

from typing import TYPE_CHECKING, Any

from .operations import indexing

if TYPE_CHECKING:
    from .array import Array

__all__ = ["At"]


class At:
    """The object `x.at`, which is indexed by the elements to update."""

    __slots__ = ("_array",)

    def __init__(self, array: "Array") -> None:
        self._array = array

    def __getitem__(self, key: Any) -> "AtIndex":
        return AtIndex(self._array, key)


class AtIndex:
    """The elements at an index, to be updated in a copy: `x.at[i]`."""

    __slots__ = ("_array", "_key")

    def __init__(self, array: "Array", key: Any) -> None:
        self._array, self._key = array, key

    def set(self, value: Any) -> "Array":
        """Return a copy with these elements replaced."""
        return self._array._new(indexing.update(self._array, self._key, value, "set"))

    def add(self, value: Any) -> "Array":
        """Return a copy with `value` added to these elements."""
        return self._array._new(indexing.update(self._array, self._key, value, "add"))

    def multiply(self, value: Any) -> "Array":
        """Return a copy with these elements multiplied by `value`."""
        return self._array._new(indexing.update(self._array, self._key, value, "multiply"))
