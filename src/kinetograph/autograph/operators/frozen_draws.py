"""Refusal of Python's random generators in staged code.

They would draw only once, while the graph is built.
"""

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
    if name == "rvs":  # a method of SciPy's distributions
        return name
    if not isinstance(getattr(function, "__self__", None), _GENERATORS):
        return None
    return None if name in _WITHOUT_DRAWING else name


def refuse_frozen_draw(function: Callable[..., Any]) -> None:
    """Refuse a random draw of Python in staged code.

    Staged code is a branch, a loop or a function of the graph.

    Raises
    ------
    StagingError
        If the call would draw. The message names the line, and a function that draws at each
        execution.
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
        f"{name} of a Python generator of random numbers is called{place_text()} in {where}: the "
        "number would be drawn once, while the graph is made, and be equal in all trips and calls. "
        "kg.random.normal() and the other methods of kg.random and kg.RandomStreams draw in each "
        "trip and call. To draw a number only once, draw it outside and pass it as an argument"
    )
