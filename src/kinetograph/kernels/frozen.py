"""What Python does once, while the graph of a method is made, and not in each step."""

import contextlib
import functools
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..autograph.calling import CALLING
from ..autograph.operators.frozen_draws import drawing_method
from ..graph.array import Array
from ..graph.control.structure import flatten
from ..graph.errors import AutographWarning, ModelError
from ..graph.source import PACKAGE, place_text

__all__ = ["watched"]

_INSTEAD = (
    "it would be drawn once, while the graph is made, and be the same in all steps and chains; "
    'use self.noise, as in self.noise("name", like=at.q) or self.noise.uniform(name="u"). What '
    "is meant to be drawn once belongs in __init__"
)


@contextmanager
def watched(holder: Any, where: str) -> Iterator[None]:
    """Refuse random numbers of Python in the meantime; tell what attributes of `holder` change.

    Raises
    ------
    ModelError
        It names the line.
    """

    def look(function: Any) -> None:
        name = drawing_method(function)
        if name is not None:
            raise ModelError(f"{where} calls {name} of Python's{place_text()}: {_INSTEAD}")

    before, CALLING.watch = CALLING.watch, look
    held = _plain_attributes(holder)
    try:
        yield
    finally:
        CALLING.watch = before
    for name, value in _plain_attributes(holder).items():
        if name in held and held[name] != value:
            warnings.warn(
                f"{where} changes self.{name}: Python does so once, while the graph is made, and "
                "not in each step. What changes from step to step is a slot: return it from "
                "init, take it in step by its name and return it with the point",
                AutographWarning,
                skip_file_prefixes=(PACKAGE, contextlib.__file__, functools.__file__),
            )


def _plain_attributes(holder: Any) -> dict[str, Any]:
    """The attributes that hold no arrays of the graph, in a form that can be compared."""
    found = {}
    for name, value in getattr(holder, "__dict__", {}).items():
        leaves = flatten(value)[0]
        if not name.startswith("_") and not any(isinstance(leaf, Array) for leaf in leaves):
            found[name] = [
                leaf.tobytes() if isinstance(leaf, np.ndarray) else leaf for leaf in leaves
            ]
    return found
