"""`kg.ode.Event`: an event where a function g(t, y(t)) changes its sign."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..graph.control.results import check_function
from ..graph.public import public
from ..graph.source import place_text
from .right_hand_side import named

__all__ = ["Event", "Occurrences", "Solution", "read_events"]


@public
class Event:
    """An event where g(t, y(t)) changes its sign; for `kg.ode.solve(events=...)`.

    Parameters
    ----------
    g
        A function of the time and of the value in the structure of `y0`, which returns one number.
        It may also read arrays from outside, such as an unknown threshold.
    change
        A function of the time and the value, which returns the value from which the solution
        continues. If the right-hand side has to switch at the event, put the switch into y:
        `change=lambda t, y: y | {"on": 1.0}`.
    direction
        1: only where g grows through 0 in the direction of the integration; -1: only where it falls
        through 0; 0: both.
    terminal
        Whether the solution ends at the event. By default it ends there unless there is a `change`.
    keep
        The number n of occurrences in the results, which then have an axis of length n: the first n
        are reported. By default only the first one is reported, without that axis.

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
        is_number = isinstance(direction, (int, float, np.number)) and not isinstance(
            direction, bool
        )
        if not is_number or direction not in (-1, 0, 1):
            raise ValueError(
                f"Event: direction is {direction!r}{place_text()}; choose 1, where g grows "
                "through 0, -1, where it falls through 0, or 0 for both"
            )
        if not isinstance(terminal, (bool, type(None))):
            raise ValueError(f"Event: terminal is {terminal!r}{place_text()}; give True or False")
        if terminal and change is not None:
            raise ValueError(
                f"Event: a terminal event has a change{place_text()}; the solution does not "
                "continue after it: leave one of the two out"
            )
        is_whole = isinstance(keep, (int, np.integer)) and not isinstance(keep, bool)
        if keep is not None and (not is_whole or keep < 1):
            raise ValueError(
                f"Event: keep is {keep!r}{place_text()}; it must be a positive whole number, "
                "or None"
            )


class Occurrences(NamedTuple):
    """The occurrences of an event: their number, their times, the values there.

    The values precede the event's `change`.
    """

    count: Any
    t: Any
    y: Any


class Solution(NamedTuple):
    """The values at the output times, and the events.

    `events` is one `Occurrences`, or a list of them if a list of events was given.
    """

    y: Any
    events: Any


def read_events(events: Any) -> list[Event]:
    """Read the argument `events`: None, one event or a list of events.

    A function g is read as a terminal event.
    """
    if events is None:
        return []
    several = events if isinstance(events, (list, tuple)) else [events]
    for number, event in enumerate(several):
        if not isinstance(event, Event) and not callable(event):
            label = f"events[{number}]" if several is events else "events"
            raise TypeError(
                f"solve: {label} is {type(event).__name__}{place_text()}; expected "
                "kg.ode.Event(g), or a function g(t, y), or a list of them"
            )
        for name in ("terminal", "direction"):
            if hasattr(event, name) and not isinstance(event, Event):
                raise TypeError(
                    f"solve: {named(event, 'g of an event')} has an attribute {name!r}; here it is "
                    f"an argument: kg.ode.Event(g, {name}={getattr(event, name)!r})"
                )
    return [event if isinstance(event, Event) else Event(event) for event in several]
