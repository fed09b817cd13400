"""`kg.ode.solve`: the solution of an initial value problem at given times."""

import math
from collections.abc import Callable
from typing import Any, Literal

from ..graph.array import Array
from ..graph.control.results import check_function
from .arguments import check_options, read_positive, read_start, read_tolerance
from .dense_output import row_width, values_at
from .events import Solution, read_events
from .integrate import Limits, integrate
from .right import Leaves, Right
from .rosenbrock import RODAS5P, Rosenbrock
from .step import Method, Trial, choose_first_step
from .stops import read_stops
from .tableaus import TABLEAUS
from .times import read_times
from .unreached import demand_the_end, mark_unreached
from .watch import Watch

__all__ = ["solve"]

ROOM = 2**18  # bytes of a buffer that is worth having at once, rather than to be grown on demand
LARGEST_ROOM = 2**28
ROWS = 2**22  # bytes of the rows of all steps that are worth having; see `dense_output`
MANY = 300  # output times from which on it is quicker to look all of them up at once


def solve(
    f: Callable[..., Any] | None = None,
    y0: Any = None,
    ts: Any = None,
    *,
    t0: Any = None,
    rtol: float | None = None,
    atol: Any = None,
    method: Literal["tsit5", "dopri5", "rodas5p"] | str = "tsit5",
    jump_ts: Any = None,
    doses: Any = None,
    events: Any = None,
    first_step: Any = None,
    max_step: Any = None,
    max_steps: int | None = None,
    on_limit: Literal["nan", "error"] | str = "nan",
    grad: Literal["auto", "stack", "checkpoint", "forward", "none"] | str = "auto",
) -> Any:
    """The solution of an ordinary differential equation at given times.

        dy/dt = f(t, y),    y(t0) = y0,    result[i] = y(ts[i])

    An embedded method of order 5(4), of Runge-Kutta's or Rosenbrock's kind, with steps of adaptive
    size: the estimated error of a step, divided by atol + rtol max(|y|, |y new|), is at most 1 in
    the root mean square over the elements of y. Where a step's is larger, a smaller step is tried.
    The solution at the times asked for is that of the method's own polynomial of degree 4 inside of
    steps, so that steps are as many as the solution needs, however many times there are.

    Parameters
    ----------
    f
        The right-hand side, called with a time and a value in the structure of `y0`; gives the
        derivative in the same structure. What else it reads, parameters say, it captures. It is
        called some times, now, to build its graph; an `if` or a loop in it that depends on t or y
        becomes part of the graph, as in `kg.function`. For a vector y it may also return a list of
        its elements.
    y0
        The initial value: an array or number, or a list, tuple, dictionary or named tuple of them,
        nested at will. A list is a list, of numbers, too: for a vector give an array.
    ts
        Times that increase, or decrease, from t0 on, shape (n,): numbers, or an array. Of one whose
        values are known only at run time, a time that goes back has the solution NaN.
    t0
        The time of `y0`; `ts[0]` if not given, so that `result[0]` is `y0`.
    rtol, atol
        The relative and the absolute tolerance, of a single step; 1e-6 and 1e-8 if not given, 1e-4
        and 1e-6 in single precision. `atol` may be an array that fits y, or a structure like `y0`.
        Where it is 0 no element of `y0` may be 0.
    method
        `"tsit5"` (Tsitouras) or `"dopri5"` (Dormand and Prince), which are explicit, or `"rodas5p"`
        (Steinebach) for stiff equations.
    jump_ts
        Times at which f jumps, or its derivatives do: an array, or a list of numbers and arrays,
        in any order. Steps end there, and f is called on both sides, a few roundings away. Times
        that f compares its `t` with need not be given: `kg.where(t > x, ...)`, `if t < 1:`.
    doses
        A list of pairs (time, amount): what is added to y at the time, in the structure of `y0`. At
        its own time a dose has been given. One before t0 has not been: `y0` has it already. Where
        the times decrease, too, the amount is added when the solution comes to the time: going
        back from y0 to the time before a dose takes the amount with the other sign.
    events
        What happens where a function g(t, y) changes its sign, at times that the solution decides:
        a `kg.ode.Event`, which may end the solution or change y, or a list of them. A function g by
        itself ends it. The result then is a pair.
    first_step
        The size of the first step that is tried; chosen from f near t0 if not given.
    max_step
        The largest size of a step: what is shorter, a pulse that f gives a smooth shape, may be
        stepped over unseen.
    max_steps
        The largest number of steps, with those that were refused. If not given, 1000 for
        rtol = 1e-6, more for a smaller one (in proportion to rtol^(-1/5)).
    on_limit
        When a time is not reached, as `max_steps` do not suffice or a step gets too small to
        change the time: `"nan"`, or `"error"`, with which a compiled function raises. The log
        density of a model is NaN in both cases: a sampler refuses the move and goes on.
    grad
        How derivatives of the loop of steps get the values of all steps: see `kg.while_loop`.
        Where a buffer for `max_steps` is small, `"auto"` is `"stack"`.

    Returns
    -------
    Array, in the structure of `y0`
        Each of shape (n, *shape of its y0). NaN from the time on that was not reached, and so are
        its derivatives: after too many steps, when a step gets too small to change the time, or
        when f is not finite. So it is behind an event that ends the solution, at whose own time the
        value is that there; `kg.where(ts <= end.t, y, end.y)` holds it.
    Solution
        With `events`: the array as `y`, and `events`, of each (count, t, y): how often it happened,
        when, infinity for never, and the value then, before its change, NaN for never.

    Raises
    ------
    TypeError
        If f cannot be called or what it returns has another structure than `y0`.
    ShapeError
        If what f returns, or `ts`, has the wrong shape.
    ValueError
        If `ts` goes back, or an option is out of its range; where an element of `y0` is 0 and
        `atol` is, now or when a compiled function is called. If f switches at times that parameters
        decide about in a way from which no time follows, `t - x > 0` say: give `jump_ts`.
    LoopError
        When a compiled function is called, with `on_limit="error"`.

    Notes
    -----
    Derivatives of every order and in both directions are exact for the steps that were made, whose
    sizes are held fixed ("discretise, then differentiate"): they differ from those of the true
    solution by as much as the tolerance allows, and from those of the computed one, whose steps
    move with the parameters, by no more. Derivatives by `ts`, `t0`, `jump_ts` and the times of
    doses are there, too, where they are arrays. Where two jumps of f come together the sum of the
    derivatives by their times is right, and each of them is not defined.

    What f switches by that depends on y is not looked for: where f jumps there, derivatives lack
    what the time of the switch moves by. Make it an event: `Event(lambda t, y: y["level"] - c,
    change=lambda t, y: y | {"on": 1.0})`, with an f that reads y["on"], whose derivative is 0.

    An event is looked for at eight places of each step: two changes of a sign between two of them
    are not seen, nor is a root at which g does not change its sign. `max_step` makes steps shorter.
    A root at t0 is no event; a dose, or another event's change, that carries g over 0 is one. At
    the time of an event the change has been made. Where g is not a number, and from where an event
    follows itself within roundings of the time on, as the bounces of a ball that comes to rest,
    the solution is NaN; so it is where g jumps over 0 between two constants. The time of an event
    has its first three derivatives, and so has what follows from it, and further ones are NaN;
    where g only touches 0 they are infinite.

    A step that is refused costs as much as one that is taken, and if f is not finite in it the
    gradient is NaN: write a right-hand side that is finite a little beyond its domain,
    `kg.sqrt(kg.maximum(y, 1e-12))` say.

    For a stiff equation, one with rates much faster than its solution, the steps of an explicit
    method are short however smooth the solution is, and `max_steps` may not suffice. `"rodas5p"` is
    a Rosenbrock method, L-stable and of order 5(4), too. Each of its steps takes the Jacobian of f
    by y, from the graph, and factorises a matrix of as many rows as y has elements.

    Examples
    --------
    >>> import kinetograph as kg
    >>> rate = kg.placeholder(name="rate")
    >>> y = kg.ode.solve(lambda t, y: -rate * y, 2.0, [0.0, 1.0, 2.0])
    >>> f = kg.compile([rate], [y, kg.gradients(y[2], rate)])
    >>> value, gradient = f(0.5)
    >>> [round(float(v), 5) for v in value], round(float(gradient), 5)
    ([2.0, 1.21306, 0.73576], -1.47152)

    A second dose at an unknown time:

    >>> at = kg.placeholder(name="at")
    >>> y = kg.ode.solve(lambda t, y: -0.5 * y, 2.0, [0.0, 1.0, 2.0], doses=[(at, 1.0)])
    >>> value, gradient = kg.compile([at], [y, kg.gradients(y[2], at)])(1.0)
    >>> [round(float(v), 5) for v in value], round(float(gradient), 5)
    ([2.0, 2.21306, 1.34229], 0.30327)

    The time at which a level is reached:

    >>> level = kg.placeholder(name="level")
    >>> down = kg.ode.Event(lambda t, y: y - level)
    >>> y, end = kg.ode.solve(lambda t, y: -0.5 * y, 2.0, [0.0, 1.0, 9.0], events=down)
    >>> f = kg.compile([level], [y, end.t, kg.gradients(end.t, level)])
    >>> [[round(float(v), 4) for v in value.ravel()] for value in f(1.0)]
    [[2.0, 1.2131, nan], [1.3863], [-2.0]]

    References
    ----------
    Hairer, Nørsett, Wanner (1993), Solving ordinary differential equations I, II.4.
    Tsitouras (2011), Comput. Math. Appl. 62. Dormand, Prince (1980), J. Comput. Appl. Math. 6.
    Steinebach (2023), BIT Numer. Math. 63.
    """
    check_function(f, "f", "solve", ("t", "y"))
    assert f is not None
    check_options(method, (*TABLEAUS, "rodas5p"), max_steps, on_limit, grad)
    leaves, paths, structure = read_start(y0)
    tolerance = read_tolerance(rtol, atol, leaves, paths, structure)
    times = read_times(ts, t0)
    step: Any = read_positive(first_step, "first_step")
    longest = read_positive(max_step, "max_step")
    right = Right(f, structure, paths, leaves, times.sign)
    stops, times = read_stops(jump_ts, doses, times, right, leaves)
    slopes = right(times.start, leaves)
    happenings = read_events(events)
    watch = Watch(happenings, right) if happenings else None
    trial: Trial
    if method == "rodas5p":
        trial = Rosenbrock(right, RODAS5P, tolerance)
    else:
        trial = Method(right, TABLEAUS[method], tolerance)
    if step is None:
        step = choose_first_step(trial, times.start, leaves, slopes, times.end - times.start)
    most = max_steps
    if most is None:
        most = math.ceil(1000 * max(1.0, 1e-6 / tolerance.relative) ** 0.2)
    size = most * row_width(leaves) * times.start.dtype.itemsize
    rows = times.outputs.shape[0] > MANY and size <= ROWS
    # Where the values at all times are carried, what a step needs of them cannot be seen: nothing.
    room = ROOM if rows or times.outputs.shape[0] * row_width(leaves) < 2**12 else LARGEST_ROOM
    if grad == "auto" and most * _row_bytes(leaves) <= room:
        grad = "stack"
    limits = Limits(
        steps=int(most),
        longest=longest,
        rows=rows,
        grad=grad,
    )
    known = watch.begin(times.start, leaves, slopes) if watch is not None else None
    path, ending, seen = integrate(trial, times, stops, leaves, slopes, step, limits, watch, known)
    results = mark_unreached(values_at(times.outputs, path, rows), times, path)
    told: list[Array] = []
    if watch is not None:
        told = watch.occurrences(seen, ending.stuck | ending.limited, path)
    if on_limit == "error":
        demanded = demand_the_end([*results, *told], ending, limits.steps, method)
        results, told = demanded[: len(leaves)], demanded[len(leaves) :]
    y = structure.fill(results)
    if events is None:
        return y
    found = watch.results(told) if watch is not None else []
    return Solution(y, found if isinstance(events, (list, tuple)) else found[0])


def _row_bytes(leaves: Leaves) -> int:
    """About what the backward pass needs of a step: the time, the value, the slopes, the sizes."""
    return sum((2 * leaf.size + 1) * leaf.dtype.itemsize for leaf in leaves) + 32
