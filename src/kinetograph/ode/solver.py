"""`kg.ode.solve`: the solution of an initial value problem at given times."""

import math
from collections.abc import Callable
from typing import Any, Literal

from ..graph.array import Array
from ..graph.control.results import check_function
from ..graph.public import public
from .arguments import (
    check_options,
    check_order,
    read_positive,
    read_start,
    read_tolerance,
    warn_of_order,
)
from .dense_output import row_width, values_at
from .event_search import Watch
from .events import Solution, read_events
from .integrate import StepLimits, integrate
from .right_hand_side import Leaves, Right
from .rosenbrock import RODAS5P, Rosenbrock
from .step import Method, Trial, choose_first_step
from .stops import read_stops
from .tableaus import TABLEAUS, Tableau
from .times import read_times
from .unreached_times import demand_the_end, mark_unreached

__all__ = ["solve"]

ROOM = 2**18  # bytes up to which a buffer is allocated in full, rather than grown on demand
LARGEST_ROOM = 2**28  # the same, if the loop carries the values at many times
ROWS = 2**22  # bytes up to which the rows of all steps are kept; see `dense_output`
MANY = 300  # output times; with more of them it is faster to look all of them up at once


@public
def solve(
    f: Callable[..., Any] | None = None,
    y0: Any = None,
    ts: Any = None,
    *,
    t0: Any = None,
    rtol: float | None = None,
    atol: Any = None,
    method: Literal["tsit5", "dopri5", "bosh3", "rodas5p"] | str | Tableau = "tsit5",
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

    Embedded Runge-Kutta and Rosenbrock methods of order 5(4) or 3(2) with adaptive step sizes. The
    estimated error of a step, divided by atol + rtol max(|y|, |y new|), is at most 1 in the root
    mean square over the elements of y; if it is larger, the step is rejected and a smaller one is
    tried. At the output times the solution is the method's polynomial inside of the step, of degree
    4 or 3, so the number of steps does not depend on the number of output times.

    Parameters
    ----------
    f
        The right-hand side, called with a time and a value in the structure of `y0`; returns the
        derivative in the same structure. It may also read arrays from outside, such as parameters.
        It is called a few times when the graph is built. An `if` or a loop in it that depends on t
        or y becomes part of the graph, as in `kg.function`. For a vector y it may return a list of
        the elements, and for a tuple y a list, or the other way round.
    y0
        The initial value: an array or number, or a list, tuple, dictionary or named tuple of them,
        nested to any depth. A list of numbers is a structure of scalars; for a vector give an
        array.
    ts
        The output times, shape (n,): numbers or an array, increasing or decreasing from t0 on. If
        their values are known at run time only, the solution is NaN from the first time that is out
        of order.
    t0
        The time of `y0`; `ts[0]` if not given, so that `result[0]` is `y0`.
    rtol, atol
        The relative and the absolute tolerance of a single step; by default 1e-6 and 1e-8, in
        single precision 1e-4 and 1e-6. `atol` may be an array that broadcasts to y, or a structure
        like `y0`. Where `atol` is 0, the element of `y0` must not be 0.
    method
        `"tsit5"` (Tsitouras) or `"dopri5"` (Dormand and Prince), explicit and of order 5(4);
        `"bosh3"` (Bogacki and Shampine), explicit and of order 3(2), which is cheaper for rough
        tolerances and for right-hand sides that are not smooth; or `"rodas5p"` (Steinebach), of
        order 5(4), for stiff equations. Or the `kg.ode.Tableau` of an explicit method.
    jump_ts
        Times at which f or a derivative of f jumps: an array, or a list of numbers and arrays, in
        any order. A step ends at each of them, and f is called on both sides of it, a few rounding
        errors away. Times with which f compares its `t` need not be given: `kg.where(t > x, ...)`,
        `if t < 1:`.
    doses
        A list of pairs (time, amount). The amount, in the structure of `y0`, is added to y at the
        time. An output at the time of a dose includes the dose. A dose before t0 is not allowed:
        `y0` includes it already. If the times decrease, the amount is added, too, when the solution
        arrives at the time; to go back to the state before a dose, give the amount with the other
        sign.
    events
        A `kg.ode.Event`, or a list of them: where a function g(t, y) changes its sign, the solution
        ends or y changes. A function g is a terminal event. With events the result is a `Solution`.
    first_step
        The size of the first step that is tried; by default it is chosen from f near t0.
    max_step
        The largest size of a step. Without it a feature of f that is shorter than a step, such as a
        smooth pulse, may be stepped over unnoticed.
    max_steps
        The largest number of steps, including rejected ones. The default is 1000 for rtol >= 1e-6
        and grows in proportion to rtol^(-1/5) below; for `"bosh3"` it is 63 rtol^(-1/3) if that is
        larger than 1000.
    on_limit
        The reaction if a time is not reached, because `max_steps` do not suffice or a step gets too
        small to change the time: `"nan"`, or `"error"`, with which a compiled function raises. The
        log density of a model is NaN in both cases, so a sampler rejects the move and continues.
    grad
        The way in which derivatives of the loop of steps get the values of all steps: see
        `kg.while_loop`. `"auto"` is `"stack"` if a buffer for `max_steps` steps is small.

    Returns
    -------
    Array, in the structure of `y0`
        Each leaf has the shape (n, *shape of the leaf of y0). Values and derivatives are NaN from
        the first time that was not reached: after too many steps, when a step gets too small to
        change the time, or when f is not finite. They are NaN after a terminal event, too (not at
        its own time); `kg.where(ts <= end.t, y, end.y)` continues with the last value.
    Solution
        With `events`: the array as `y`, and `events` with (count, t, y) of each event: the number
        of its occurrences, their times (infinite if there is none), and the values there before its
        change (NaN if there is none).

    Raises
    ------
    TypeError
        If f cannot be called, or its result has another structure than `y0`.
    ShapeError
        If the result of f, or `ts`, has the wrong shape.
    ValueError
        If `ts` is out of order, or an option is out of its range. If an element of `y0` and its
        `atol` are both 0 (if `y0` is not constant, when a compiled function is called). If f
        switches at times that depend on parameters in a form that cannot be solved for the time,
        such as `t - x > 0`: give `jump_ts`.
    LoopError
        When a compiled function is called, with `on_limit="error"`, if a time was not reached.

    Notes
    -----
    Derivatives of every order, in forward and reverse mode, are exact for the steps that were
    taken, with fixed step sizes ("discretise, then differentiate"). They differ from the
    derivatives of the true solution by as much as the tolerance allows. They differ by no more from
    the derivatives of the computed solution, whose step sizes change with the parameters. `ts`,
    `t0`, `jump_ts` and the times of doses have derivatives, too, if they are arrays. If two jumps
    of f coincide, the sum of the derivatives by their times is right, but neither derivative alone
    is defined.

    Switches of f that depend on y are not searched for. If f jumps at one, the derivatives ignore
    that the time of the switch depends on the parameters. Make the switch an event: `Event(lambda
    t, y: y["level"] - c, change=lambda t, y: y | {"on": 1.0})`, with an f that reads y["on"] and
    returns 0 for its derivative.

    Each step is searched for events at eight points. Two sign changes between two neighbouring
    points are missed, and so is a root at which g does not change its sign; `max_step` makes steps
    shorter. A root at t0 is not an event. If a dose or another event's change carries g over 0,
    that is an event. An output at the time of an event includes the change. The solution is NaN
    where g is NaN, where g jumps over 0 between two constants, and where an event follows itself
    within rounding errors of the time, like the bounces of a ball that comes to rest. The time of
    an event, and all that is computed from it, has three derivatives; higher ones are NaN. Where g
    only touches 0 the derivatives are infinite.

    A rejected step costs as much as an accepted one, and the gradient is NaN if f is not finite in
    a rejected step. Write a right-hand side that is finite a little outside of its domain, such as
    `kg.sqrt(kg.maximum(y, 1e-12))`.

    For a stiff equation, whose rates are much faster than its solution, an explicit method takes
    short steps however smooth the solution is, and `max_steps` may not suffice. `"rodas5p"` is an
    L-stable Rosenbrock method of order 5(4). Each of its steps computes the Jacobian of f by y,
    from the graph, and factorises a matrix with as many rows as y has elements.

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
    Bogacki, Shampine (1989), Appl. Math. Lett. 2. Steinebach (2023), BIT Numer. Math. 63.
    """
    check_function(f, "f", "solve", ("t", "y"))
    assert f is not None
    warn_of_order(f)
    check_order(y0, ts, t0)
    check_options(method, (*TABLEAUS, "rodas5p"), max_steps, on_limit, grad)
    leaves, paths, structure = read_start(y0)
    tolerance = read_tolerance(rtol, atol, leaves, paths, structure)
    times = read_times(ts, t0)
    step: Any = read_positive(first_step, "first_step")
    longest = read_positive(max_step, "max_step")
    right = Right(f, structure, paths, leaves, times.sign)
    stops, times = read_stops(jump_ts, doses, times, right, leaves)
    slopes = right(times.start, leaves)
    event_list = read_events(events)
    watch = Watch(event_list, right) if event_list else None
    trial: Trial
    if method == "rodas5p":
        trial = Rosenbrock(right, RODAS5P, tolerance)
    else:
        tableau = TABLEAUS[method] if isinstance(method, str) else method
        trial = Method(right, tableau, tolerance)
    if step is None:
        step = choose_first_step(trial, times.start, leaves, slopes, times.end - times.start)
    step_limit = max_steps
    if step_limit is None:
        step_limit = _default_step_limit(trial.order, tolerance.relative)
    size = step_limit * row_width(leaves) * times.start.dtype.itemsize
    rows = times.outputs.shape[0] > MANY and size <= ROWS
    # If the loop carries the values at many times, the "auto" of the loop counts them for each
    # step, although the backward pass needs none of them: allow a much larger stack.
    room = ROOM if rows or times.outputs.shape[0] * row_width(leaves) < 2**12 else LARGEST_ROOM
    if grad == "auto" and step_limit * _row_bytes(leaves) <= room:
        grad = "stack"
    limits = StepLimits(
        steps=int(step_limit),
        longest=longest,
        rows=rows,
        grad=grad,
    )
    event_state = watch.begin(times.start, leaves, slopes) if watch is not None else None
    path, ending, event_state = integrate(
        trial, times, stops, leaves, slopes, step, limits, watch, event_state
    )
    results = mark_unreached(values_at(times.outputs, path, rows), times, path)
    occurrences: list[Array] = []
    if watch is not None:
        occurrences = watch.occurrences(event_state, ending.stuck | ending.limited, path)
    if on_limit == "error":
        checked = demand_the_end([*results, *occurrences], ending, limits.steps, method)
        results, occurrences = checked[: len(leaves)], checked[len(leaves) :]
    y = structure.fill(results)
    if events is None:
        return y
    event_results = watch.results(occurrences) if watch is not None else []
    return Solution(y, event_results if isinstance(events, (list, tuple)) else event_results[0])


def _default_step_limit(order: int, rtol: float) -> int:
    """The default of `max_steps`: 1000 or more.

    The number of steps is proportional to rtol^(-1 / order). For order 5 it is 1000 at rtol = 1e-6.
    """
    at_default = 1000 * 1e6 ** (1 / order - 1 / 5)
    return max(1000, math.ceil(at_default * (1e-6 / rtol) ** (1 / order)))


def _row_bytes(leaves: Leaves) -> int:
    """An estimate of the bytes per step that the backward pass reads.

    These are the time, the value, the slopes and the sizes.
    """
    return sum((2 * leaf.size + 1) * leaf.dtype.itemsize for leaf in leaves) + 32
