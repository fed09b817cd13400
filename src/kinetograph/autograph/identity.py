"""Hashable wrappers for objects that have no hash."""

from typing import Any

__all__ = ["ByIdentity"]


class ByIdentity:
    """A wrapper that is equal only to wrappers of the same object.

    It holds the object, so that its identity is not reused.
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByIdentity) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)
