"""Checks for effects of Python during the tracing of a method.

Such effects happen once, while the graph is made, and not in each step.
"""

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
    "the number would be drawn once, while the graph is made, and be equal in all steps and "
    'chains; use self.noise, as in self.noise("name", like=at.q) or self.noise.uniform(name="u"). '
    "To draw a number only once, draw it in __init__"
)


@contextmanager
def watched(holder: Any, where: str) -> Iterator[None]:
    """A block that refuses Python's random numbers and reports changed attributes.

    A changed attribute of `holder` gives a warning at the end of the block.

    Raises
    ------
    ModelError
        If a function in the block draws a random number of Python or NumPy. The message names the
        line.
    """

    def refuse_draw(function: Any) -> None:
        name = drawing_method(function)
        if name is not None:
            raise ModelError(f"{where} calls {name} of Python{place_text()}: {_INSTEAD}")

    outer_watch, CALLING.watch = CALLING.watch, refuse_draw
    attributes = _plain_attributes(holder)
    try:
        yield
    finally:
        CALLING.watch = outer_watch
    for name, value in _plain_attributes(holder).items():
        if name in attributes and attributes[name] != value:
            warnings.warn(
                f"{where} changes self.{name}: Python does so once, while the graph is made, and "
                "not in each step. Make a value that changes from step to step a slot: return it "
                "from init, take it in step by its name and return it with the point",
                AutographWarning,
                skip_file_prefixes=(PACKAGE, contextlib.__file__, functools.__file__),
            )


def _plain_attributes(holder: Any) -> dict[str, Any]:
    """The attributes without arrays of the graph, in a comparable form.

    `self.count += 1` reads an attribute of the class, and makes one of the object.
    """
    values: dict[str, Any] = {}
    for of_user in reversed(type(holder).__mro__):
        if of_user.__module__.partition(".")[0] != __name__.partition(".")[0]:
            values |= {n: v for n, v in vars(of_user).items() if not hasattr(v, "__get__")}
    attributes = {}
    for name, value in {**values, **getattr(holder, "__dict__", {})}.items():
        leaves = flatten(value)[0]
        if not name.startswith("_") and not any(isinstance(leaf, Array) for leaf in leaves):
            attributes[name] = [
                leaf.tobytes() if isinstance(leaf, np.ndarray) else leaf for leaf in leaves
            ]
    return attributes
