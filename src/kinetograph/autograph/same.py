"""What an object that cannot be hashed is known by: itself."""

from typing import Any

__all__ = ["Same"]


class Same:
    """Equal to itself alone; holding it keeps the object's identity from being reused."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)
