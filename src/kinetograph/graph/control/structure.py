"""Nested structures of arrays: tuples, lists, dictionaries, named tuples and dataclasses.

`flatten` returns the leaves in order, the path of each leaf as the user would write it (`p.j`,
`p[0]`, `p['a']`), and the `Structure`. `Structure.fill` makes the same structure of other leaves.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import repeat
from typing import Any

__all__ = ["LEAF", "Structure", "flatten", "opened"]


@dataclasses.dataclass(frozen=True)
class Structure:
    """A structure without its leaves."""

    make: Callable[[list[Any]], Any] | None  # makes the value from its parts; None for a leaf
    kind: Any = None  # type and keys, equal for equal structures
    parts: tuple["Structure", ...] = ()

    def fill(self, leaves: Iterable[Any]) -> Any:
        """Make a value of this structure with the given leaves."""
        return self.take(iter(leaves))

    def take(self, leaves: Iterator[Any]) -> Any:
        """Make a value of this structure from an iterator of leaves."""
        if self.make is None:
            return next(leaves)
        return self.make([part.take(leaves) for part in self.parts])

    def leaves_of(self, value: Any, path: str = "") -> Iterator[Any]:
        """The leaves of a value of this structure.

        Its dictionaries may have another order, and a list may take the place of a tuple.

        Raises
        ------
        TypeError
            If the value has another structure; the message says where.
        """
        if self.make is None:
            yield value
            return
        parts = self._parts_of(value)
        if parts is None:
            raise TypeError(f"{path}: expected {self}, got {_kind_of(value)}")
        for (step, part), inner in zip(self._steps(), parts, strict=True):
            yield from part.leaves_of(inner, path + step)

    def spread(self, prefix: Any, path: str = "") -> Iterator[Any]:
        """The entry of a prefix that applies to each leaf.

        Raises
        ------
        TypeError
            If the prefix has another structure; the message says where.
        """
        if self.make is None or opened(prefix) is None or prefix is None:
            yield from repeat(prefix, self.count)
            return
        parts = self._parts_of(prefix)
        if parts is None:
            raise TypeError(f"{path}: expected {self} or one for all, got {_kind_of(prefix)}")
        for (step, part), inner in zip(self._steps(), parts, strict=True):
            yield from part.spread(inner, path + step)

    def _parts_of(self, value: Any) -> list[Any] | None:
        """The parts of a value of this structure, or None."""
        if self.kind is None:
            return [] if value is None else None
        owner, names = self.kind
        if self.keys is not None:
            matches = isinstance(value, Mapping) and value.keys() == set(names)
            return [value[name] for name in names] if matches else None
        if names is not None:
            return [getattr(value, n) for n in names] if isinstance(value, owner) else None
        matches = isinstance(value, (list, tuple)) and len(value) == len(self.parts)
        return list(value) if matches else None

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Structure) and self.kind == other.kind and self.parts == other.parts
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.parts))

    def difference(self, other: "Structure", path: str = "") -> tuple[str, str, str] | None:
        """The first path where two structures differ, and both structures there.

        Returns None if they are equal. The structures are given as text.
        """
        if self.kind != other.kind or len(self.parts) != len(other.parts):
            return path, str(self), str(other)
        for (step, part), other_part in zip(self._steps(), other.parts, strict=True):
            difference = part.difference(other_part, path + step)
            if difference:
                return difference
        return None

    def new_keys(self, other: "Structure", path: str = "") -> list[str]:
        """The paths of the dictionary keys that only the other structure has."""
        if self.kind == other.kind:
            pairs = zip(self._steps(), other.parts, strict=True)
            return [key for (step, a), b in pairs for key in a.new_keys(b, path + step)]
        if self.keys is None or other.keys is None:
            return []
        parts_by_step = {step: part for step, part in self._steps()}
        return [
            key
            for step, part in other._steps()
            for key in (
                parts_by_step[step].new_keys(part, path + step)
                if step in parts_by_step
                else [path + step]
            )
        ]

    @property
    def count(self) -> int:
        """The number of leaves."""
        return 1 if self.make is None else sum(part.count for part in self.parts)

    @property
    def keys(self) -> tuple[Any, ...] | None:
        """The keys of a dictionary; None for other structures."""
        is_dict = isinstance(self.kind, tuple) and self.kind[0] is dict
        return self.kind[1] if is_dict else None

    def has_keys(self) -> bool:
        """Whether the structure contains dictionaries."""
        return self.keys is not None or any(part.has_keys() for part in self.parts)

    def _steps(self) -> Iterator[tuple[str, "Structure"]]:
        return zip(_steps(self.kind, len(self.parts)), self.parts, strict=True)

    def __str__(self) -> str:
        if self.make is None:
            return "an array"
        if self.kind is None:
            return "None"
        kind, names = self.kind
        if names is None:
            return f"{kind.__name__} of {len(self.parts)}"
        return f"{kind.__name__} of {', '.join(map(str, names)) or 'nothing'}"


LEAF = Structure(None, "leaf")


def _kind_of(value: Any) -> str:
    """The description of a value in error messages about structures."""
    container = opened(value)
    if container is None:
        return f"a value of type {type(value).__name__}"
    kind, parts, make = container
    return str(Structure(make, kind, tuple(LEAF for _ in parts)))


def _steps(kind: Any, count: int) -> list[str]:
    """The text after a container's path that selects each part.

    Examples: `[0]` or `.name`.
    """
    if not isinstance(kind, tuple):  # None, or a leaf
        return []
    owner, names = kind
    if names is None:
        return [f"[{i}]" for i in range(count)]
    return [f"[{name!r}]" if issubclass(owner, dict) else f".{name}" for name in names]


def flatten(
    value: Any, path: str = "", is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[Any], list[str], Structure]:
    """Split a value into leaves, their paths, and its structure.

    A container for which `is_leaf` returns true is a leaf, too.
    """
    leaves: list[Any] = []
    paths: list[str] = []

    def visit(value: Any, path: str) -> Structure:
        container = None if is_leaf is not None and is_leaf(value) else opened(value)
        if container is None:
            leaves.append(value)
            paths.append(path)
            return LEAF
        kind, parts, make = container
        steps = _steps(kind, len(parts))
        inner = tuple(visit(p, path + step) for p, step in zip(parts, steps, strict=True))
        return Structure(make, kind, inner)

    structure = visit(value, path)
    return leaves, paths, structure


def opened(value: Any) -> tuple[Any, list[Any], Callable[[list[Any]], Any]] | None:
    """Type and keys, parts, and constructor of a container.

    Returns None for a leaf. The constructor makes a container from a list of parts.
    """
    owner = type(value)
    if value is None:
        return None, [], lambda parts: None
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return (owner, value._fields), list(value), lambda parts: owner(*parts)
    if owner in (tuple, list):
        return (owner, None), list(value), owner
    if isinstance(value, dict):
        keys = tuple(value)
        return (dict, keys), list(value.values()), lambda parts: dict(zip(keys, parts, strict=True))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = tuple(f.name for f in dataclasses.fields(value) if f.init)

        def make(parts: list[Any]) -> Any:
            return dataclasses.replace(value, **dict(zip(names, parts, strict=True)))

        return (owner, names), [getattr(value, n) for n in names], make
    return None
