"""Reports of the converter on statements that became part of the graph."""

import os
import sys
from typing import Any

from ..graph.array import Array
from ..graph.messages import describe
from ..graph.public import public
from ..graph.source import here, site_of

__all__ = ["report", "set_verbosity", "verbosity"]

VARIABLE = "KINETOGRAPH_AUTOGRAPH_VERBOSITY"


class _Level:
    value = 0


def _from_environment() -> int:
    text = os.environ.get(VARIABLE, "0")
    return int(text) if text.isdigit() else 0


_Level.value = _from_environment()


def verbosity() -> int:
    """The level of reports; see `set_verbosity`."""
    return _Level.value


@public
def set_verbosity(level: int) -> None:
    """Set the level of the converter's reports on standard error.

    Parameters
    ----------
    level
        0: no reports. 1: each statement that becomes part of the graph, with the array that it
        depends on. 2: also statements that run as Python. 3 and more: also the converted code of
        each function. The environment variable KINETOGRAPH_AUTOGRAPH_VERBOSITY sets the level at
        the start.

    Raises
    ------
    ValueError
        If the level is not a whole number from 0 to 10.

    Examples
    --------
    >>> import kinetograph as kg
    >>> kg.autograph.set_verbosity(0)
    """
    if isinstance(level, bool) or not isinstance(level, int) or not 0 <= level <= 10:
        raise ValueError(f"set_verbosity: level is {level!r}; it must be a number from 0 to 10")
    _Level.value = level


def report(statement: str, value: Any) -> None:
    """Report whether a statement became part of the graph."""
    if _Level.value == 0:
        return
    symbolic = isinstance(value, Array) or getattr(value, "symbolic", False)
    if symbolic or _Level.value >= 2:
        outcome = "staged" if symbolic else "Python"
        node = getattr(value, "node", None)
        name = describe(node) if node is not None else type(value).__name__
        kind = "kg.Array" if isinstance(value, Array) else type(value).__name__
        say(f"{site_of(here())}: {statement} {outcome} ({name}: {kind})")


def say(text: str) -> None:
    """Print a line to standard error."""
    print(f"autograph: {text}", file=sys.stderr)
