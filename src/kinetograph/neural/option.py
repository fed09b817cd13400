"""One option of a simulation: its name, default, type and range."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..runs.arguments import LARGEST
from .choice import name_advice

__all__ = ["Option"]


@dataclass(frozen=True)
class Option:
    """An option.

    Attributes
    ----------
    name, default, group
        The name, the default value, and the group in texts.
    kind
        "whole number", "number", "flag", "name", "text", "file", or the plural of one of them for
        a tuple of values; or "dictionary".
    text
        A sentence.
    remakes
        The first part of a simulation that is made again when the option changes.
    least, above, below
        Bounds of a number: at least, above, or below.
    names
        A function that returns the names to choose from; none for any text.
    objects
        Other values that are accepted in Python, as a text; otherwise empty.
    accepts
        Whether a value is one of these objects.
    is_read
        Whether a file must exist.
    """

    name: str
    default: Any
    kind: str
    group: str
    text: str
    remakes: str = "nothing"
    least: float | None = None
    above: float | None = None
    below: float | None = None
    names: Callable[[], Sequence[str]] | None = None
    objects: str = ""
    accepts: Callable[[Any], bool] = callable
    is_read: bool = False

    def check(self, value: Any) -> Any:
        """The value in its type.

        Raises
        ------
        ValueError
            If it has another type, or is out of its range.
        FileNotFoundError
            If it is a file to read that does not exist.
        """
        if value is None and self.default is None:
            return None
        kind = self.kind.removesuffix("s")
        if kind == self.kind:
            return self._one(kind, value)
        single = isinstance(value, str) or np.ndim(value) == 0
        values = [value] if single else list(value)
        return tuple(self._one(kind, each) for each in values)

    def _one(self, kind: str, value: Any) -> Any:
        """One value of a kind."""
        if self.objects and self.accepts(value):
            return value
        if self.objects and getattr(value, "ndim", None) == 0:  # a number of NumPy or JAX
            value = value.item()
        types: dict[str, Any] = {
            "flag": (bool, np.bool_),
            "whole number": (int, np.integer),
            "number": (int, float, np.integer, np.floating),
            "dictionary": Mapping,
        }
        is_flag = isinstance(value, (bool, np.bool_))
        right = isinstance(value, types.get(kind, str)) and (is_flag == (kind == "flag"))
        if kind == "file" and hasattr(value, "__fspath__"):
            right, value = True, value.__fspath__()
        if kind == "file" and self.is_read and right:
            os.stat(value)  # its error is answered with the name of the argument
        named = self.names is not None and isinstance(value, str)
        if named:
            self._check_name(value)
        elif not right:
            title = getattr(value, "__name__", None) or getattr(value, "name", None)
            hint = f"; write {title}(...)" if isinstance(value, type) and self.objects else ""
            if self.names is not None and title in self.names() and not self.objects:
                hint = f"; write {self.name}={title!r}"
            raise ValueError(f"{self.name}: expected {self.expected}, got {value!r:.60}{hint}")
        if not named and kind in ("number", "whole number"):
            self._check_range(value)
            return int(value) if kind == "whole number" else float(value)
        if kind == "dictionary":
            return dict(value)
        return bool(value) if kind == "flag" else value

    def _check_name(self, value: str) -> None:
        assert self.names is not None
        names = self.names()
        if value not in names:
            hint = name_advice(value, names)
            there = ", ".join(names)
            raise ValueError(f"{self.name}: unknown name {value!r}{hint}; the names are {there}")

    def _check_range(self, value: Any) -> None:
        outside = self.least is not None and not value >= self.least
        outside = outside or (self.above is not None and not value > self.above)
        outside = outside or (self.below is not None and not value < self.below)
        large = isinstance(value, int) and value >= LARGEST
        if outside or large or not np.isfinite(value):
            limit = "; whole numbers are below 2**63" if large else ""
            raise ValueError(f"{self.name}: expected {self.expected}, got {value!r:.60}{limit}")

    @property
    def expected(self) -> str:
        """The values that are accepted, as a text."""
        kind = self.kind if self.kind.endswith("s") else f"a {self.kind}"
        if self.names is not None:
            kind = f"one of {', '.join(self.names())}" + (
                "" if self.kind == "name" else f" or {kind}"
            )
        if self.least is not None:
            kind += f" of at least {self.least:g}"
        if self.above is not None:
            kind += f" above {self.above:g}"
        if self.below is not None:
            kind += f" and below {self.below:g}"
        kind += f" or {self.objects}" if self.objects else ""
        return kind + (" or None" if self.default is None else "")
