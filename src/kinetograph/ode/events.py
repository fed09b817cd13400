"""What happens where a function of time and solution changes its sign: `kg.ode.Event`."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..graph.control.results import check_function
from ..graph.source import place_text
from .right import named

__all__ = ["Event", "Occurrences", "Solution", "read_events"]


class Event:
    """Something that happens where g(t, y(t)) changes its sign; for `kg.ode.solve(events=...)`.

    Parameters
    ----------
    g
        A function of the time and of the value in the structure of `y0`; gives one number. What
        else it reads, an unknown threshold say, it captures.
    change
        A function of the same that gives the value with which the solution goes on. What the
        right-hand side is to switch by goes into y, too: `change=lambda t, y: y | {"on": 1.0}`.
    direction
        1: only where g grows through 0, along the way from t0 on; -1: only where it falls; 0: both.
    terminal
        Whether the solution ends there. If not given it does, unless there is a `change`.
    keep
        Of how many times the results tell: None for the first one alone, or the number n of the
        first ones, with an axis for them.

    Raises
    ------
    TypeError, ValueError
        If g or change cannot be called with (t, y), or an option is out of its range.

    Examples
    --------
    A ball that loses a fifth of its speed in each bounce:

    >>> import kinetograph as kg
    >>> bounce = kg.ode.Event(
    ...     lambda t, y: y["height"],
    ...     change=lambda t, y: {"height": 0.0, "speed": -0.8 * y["speed"]},
    ...     direction=-1,
    ...     keep=3,
    ... )
    >>> drop = kg.placeholder(name="drop")
    >>> y0 = {"height": drop, "speed": 0.0}
    >>> fall = lambda t, y: {"height": y["speed"], "speed": -9.81}
    >>> y, bounces = kg.ode.solve(fall, y0, [0.0, 1.0, 2.0], events=bounce)
    >>> f = kg.compile([drop], [bounces.t, kg.gradients(bounces.t[2], drop), bounces.count])
    >>> times, gradient, count = f(1.0)
    >>> [round(float(t), 4) for t in times], round(float(gradient), 4), int(count)
    ([0.4515, 1.174, 1.7519], 0.876, 3)
    """

    def __init__(
        self,
        g: Callable[..., Any],
        change: Callable[..., Any] | None = None,
        direction: int = 0,
        terminal: bool | None = None,
        keep: int | None = None,
    ) -> None:
        self.g, self.change, self.direction, self.keep = g, change, direction, keep
        self.terminal = change is None if terminal is None else terminal
        check_function(g, "g", "Event", ("t", "y"))
        if change is not None:
            check_function(change, "change", "Event", ("t", "y"))
        number = isinstance(direction, (int, float, np.number)) and not isinstance(direction, bool)
        if not number or direction not in (-1, 0, 1):
            raise ValueError(
                f"Event: direction is {direction!r}{place_text()}; choose 1, where g grows "
                "through 0, -1, where it falls, or 0 for both"
            )
        if not isinstance(terminal, (bool, type(None))):
            raise ValueError(f"Event: terminal is {terminal!r}{place_text()}; True or False")
        if terminal and change is not None:
            raise ValueError(
                f"Event: a terminal event has a change{place_text()}; the solution does not go on "
                "behind it: leave one of the two out"
            )
        whole = isinstance(keep, (int, np.integer)) and not isinstance(keep, bool)
        if keep is not None and (not whole or keep < 1):
            raise ValueError(
                f"Event: keep is {keep!r}{place_text()}; it must be a positive whole number, "
                "or None"
            )


class Occurrences(NamedTuple):
    """How often an event happened, when, and what the value was, before a change."""

    count: Any
    t: Any
    y: Any


class Solution(NamedTuple):
    """The values at the times asked for, and what happened: `Occurrences`, or a list of them."""

    y: Any
    events: Any


def read_events(events: Any) -> list[Event]:
    """The events, of which one may be given by itself, and functions for those that end it."""
    if events is None:
        return []
    several = events if isinstance(events, (list, tuple)) else [events]
    for number, event in enumerate(several):
        if not isinstance(event, Event) and not callable(event):
            what = f"events[{number}]" if several is events else "events"
            raise TypeError(
                f"solve: {what} is {type(event).__name__}{place_text()}; expected kg.ode.Event(g), "
                "or a function g(t, y), or a list of them"
            )
        for name in ("terminal", "direction"):
            if hasattr(event, name) and not isinstance(event, Event):
                raise TypeError(
                    f"solve: {named(event, 'g of an event')} has an attribute {name!r}; here it is "
                    f"an argument: kg.ode.Event(g, {name}={getattr(event, name)!r})"
                )
    return [event if isinstance(event, Event) else Event(event) for event in several]
