"""Random numbers of Python's generators, which staged code would draw once, while it is built."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from ...graph.errors import StagingError
from ...graph.node import CURRENT
from ...graph.source import place_text
from ..calling import CALLING

__all__ = ["drawing_method", "refuse_frozen_draw"]

_GENERATORS = (random.Random, np.random.RandomState, np.random.Generator)
_WITHOUT_DRAWING = {"getstate", "get_state", "seed", "setstate", "set_state", "spawn"}


def drawing_method(function: Callable[..., Any]) -> str | None:
    """Name the random draw that a call would make, or None."""
    name: str = getattr(function, "__name__", "")
    if name == "rvs":  # of SciPy's distributions
        return name
    if not isinstance(getattr(function, "__self__", None), _GENERATORS):
        return None
    return None if name in _WITHOUT_DRAWING else name


def refuse_frozen_draw(function: Callable[..., Any]) -> None:
    """Refuse a random draw of Python's in a branch, a loop or a function of the graph.

    Raises
    ------
    StagingError
        It names the line, and what draws each time.
    """
    context = CURRENT.context
    if context is None and not CALLING.tracing:
        return
    name = drawing_method(function)
    if name is None:
        return
    where = "a function that becomes a graph"
    if context is not None:
        where = f"a branch or loop of the graph ({context.site})"
    raise StagingError(
        f"{name} of a Python generator of random numbers is called{place_text()} in {where}: it "
        "would be drawn once, while the graph is made, and be the same number in every trip and "
        "every call. kg.random.normal() draws in each of them, and so do the other methods of "
        "kg.random and kg.RandomStreams; draw a number that is meant to stay outside, and pass it "
        "as an argument"
    )
