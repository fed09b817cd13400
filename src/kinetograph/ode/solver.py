"""`kg.ode.solve`: the solution of an initial value problem at given times.

One loop of steps, whose number depends on the values. A step that would go past the next time asked
for is cut to land on it, and the step size that was meant goes on behind. (Loops inside a scan over
the times would each need a buffer for the longest of them.) The step size is no function of the
parameters for derivatives: these are those of the chosen steps, taken as they are.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..graph.array import Array
from ..graph.control.results import check_function, place_text
from ..graph.control.structure import Pattern, flatten
from ..graph.control.while_loop import GRADS, while_loop
from ..graph.elementwise import as_node, floating
from ..graph.errors import KinetographError, ShapeError
from ..graph.functions import abs, exp, log, maximum, minimum, stack, stop_gradient, where
from ..graph.messages import describe
from ..graph.node import Data, Node
from ..graph.precision import float_dtype
from ..graph.source import Site
from .tableaus import TABLEAUS, Tableau

__all__ = ["solve"]

SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
NOW, BEFORE = 0.17, 0.04  # exponents of the errors of this step and of the one before
ROOM = 2**18  # bytes of a buffer that is worth having at once, rather than to be grown on demand
SMALLEST, LARGEST = 1e-20, 1e30  # squared errors that are told apart

Leaves = list[Array]


def solve(
    f: Callable[..., Any] | None = None,
    y0: Any = None,
    ts: Any = None,
    *,
    t0: Any = None,
    rtol: float = 1e-6,
    atol: float = 1e-8,
    method: str = "tsit5",
    first_step: Any = None,
    max_steps: int | None = None,
    on_limit: str = "nan",
    grad: str = "auto",
) -> Any:
    """The solution of an ordinary differential equation at given times.

        dy/dt = f(t, y),    y(t0) = y0,    result[i] = y(ts[i])

    An embedded Runge-Kutta method of order 5(4) with steps of adaptive size: the estimated error of
    a step, divided by atol + rtol max(|y|, |y new|), is at most 1 in the root mean square over the
    elements of y. Where a step's is larger, a smaller step is tried. Steps end exactly at the
    times asked for.

    Parameters
    ----------
    f
        The right-hand side, called with a time and a value in the structure of `y0`; gives the
        derivative in the same structure. What else it reads, parameters say, it captures. It is
        called some times, now, to build its graph. For a vector y it may also return a list of its
        elements.
    y0
        The initial value: an array or number, or a nested structure of them.
    ts
        Increasing times, shape (n,): numbers, or an array. Of one whose values are known only at
        run time, a time that is not reached going forward has the solution NaN.
    t0
        The time of `y0`; `ts[0]` if not given, so that `result[0]` is `y0`.
    rtol, atol
        The relative and the absolute tolerance, of a single step.
    method
        `"tsit5"` (Tsitouras) or `"dopri5"` (Dormand and Prince).
    first_step
        The size of the first step that is tried; chosen from f near t0 if not given.
    max_steps
        The largest number of steps, with those that were refused. If not given, 1000 for
        rtol = 1e-6, more for a smaller one (in proportion to rtol^(-1/5)), and 4 for each time.
    on_limit
        When `max_steps` do not suffice: `"nan"`, or `"error"`, with which a compiled function
        raises.
    grad
        How derivatives of the loop of steps get the values of all steps: see `kg.while_loop`.
        Where a buffer for `max_steps` is small, `"auto"` is `"stack"`.

    Returns
    -------
    Array, in the structure of `y0`
        Each of shape (n, *shape of y0). NaN from the time on that was not reached: after too many
        steps, when a step gets too small to change the time, or when f is not finite. A model's
        density is NaN then, and a sampler refuses the move.

    Raises
    ------
    TypeError
        If f cannot be called or what it returns has another structure than `y0`.
    ShapeError
        If what f returns, or `ts`, has the wrong shape.
    ValueError
        If `ts` does not increase or begins before t0, or for an option out of its range.
    LoopError
        When a compiled function is called, with `on_limit="error"`.

    Notes
    -----
    Derivatives of every order and in both directions are exact for the steps that were made, whose
    sizes are held fixed ("discretise, then differentiate"): they differ from those of the true
    solution by as much as the tolerance allows, and from those of the computed one, whose steps
    move with the parameters, by no more. Derivatives by `ts` and `t0` are there, too, where they
    are arrays.

    A step that is refused costs as much as one that is taken, and if f is not finite in it the
    gradient is NaN: write a right-hand side that is finite a little beyond its domain,
    `kg.sqrt(kg.maximum(y, 1e-12))` say.

    The method is explicit. For a stiff equation its steps are short however smooth the solution is.

    Examples
    --------
    >>> import kinetograph as kg
    >>> rate = kg.placeholder(name="rate")
    >>> y = kg.ode.solve(lambda t, y: -rate * y, 2.0, [0.0, 1.0, 2.0])
    >>> f = kg.compile([rate], [y, kg.gradients(y[2], rate)])
    >>> value, gradient = f(0.5)
    >>> [round(float(v), 5) for v in value], round(float(gradient), 5)
    ([2.0, 1.21306, 0.73576], -1.47152)

    References
    ----------
    Hairer, Nørsett, Wanner (1993), Solving ordinary differential equations I, II.4.
    Tsitouras (2011), Comput. Math. Appl. 62. Dormand, Prince (1980), J. Comput. Appl. Math. 6.
    """
    check_function(f, "f", "solve", ("t", "y"))
    assert f is not None
    tableau = _options(method, rtol, atol, max_steps, on_limit, grad)
    leaves, paths, pattern = _start(y0)
    right = _Right(f, pattern, paths, [leaf.node for leaf in leaves])
    times, start, fixed = _times(ts, t0)
    slopes = right(start, leaves)
    if first_step is None:
        step = _first_step(right, start, leaves, slopes, rtol, atol)
    else:
        step = _given_step(first_step)
    count = times.shape[0]
    usual = math.ceil(1000 * max(1.0, 1e-6 / rtol) ** 0.2) + 4 * count
    limit = usual if max_steps is None else int(max_steps)
    one = _Step(right, tableau, rtol, atol, fixed)
    tiny = 16 * float(np.finfo(start.dtype).eps)
    results = [Array(as_node(np.full((count, *y.shape), np.nan, y.dtype))) for y in leaves]
    reached = 0
    if t0 is None:
        results, reached = [r.at[0].set(y) for r, y in zip(results, leaves, strict=True)], 1

    def unfinished(i: Any, results: Any, t: Any, y: Any, slopes: Any, step: Any, old: Any) -> Any:
        end = times[minimum(i, count - 1)]
        return (i < count) & (t <= end) & (step > tiny * maximum(abs(t), abs(end)))

    def advance(i: Any, results: Any, *state: Any) -> Any:
        landed, state = one(times[i], *state)
        rows = [where(landed, y, np.nan) for y in state[1]]
        results = [result.at[i].set(row) for result, row in zip(results, rows, strict=True)]
        return (where(landed, i + 1, i), results, *state)

    if grad == "auto" and limit * _row_bytes(leaves) <= ROOM:
        grad = "stack"
    first = [reached, results, start, leaves, slopes, step, Array(floating(0.0))]
    stop = "error" if on_limit == "error" else "stop"
    _, results, *_ = while_loop(
        unfinished, advance, first, limit, grad, on_limit=stop, name="steps"
    )
    return pattern.fill(results)


def _row_bytes(leaves: Sequence[Array]) -> int:
    """About what the backward pass needs of a step: the time, the value, the slopes, the sizes."""
    return sum((2 * leaf.size + 1) * leaf.dtype.itemsize for leaf in leaves) + 32


class _Right:
    """The user's function, from leaves to leaves, its results checked."""

    def __init__(
        self, f: Callable[..., Any], pattern: Pattern, paths: Sequence[str], like: Sequence[Node]
    ) -> None:
        self.f, self.pattern, self.paths, self.like = f, pattern, paths, like

    def __call__(self, t: Array, leaves: Sequence[Any]) -> Leaves:
        result = self.f(t, self.pattern.fill(leaves))
        if result is None:
            raise ValueError(f"solve: {self._name()} must have a return value")
        vector = self.pattern.make is None and len(self.like[0].shape) > 0
        if vector and isinstance(result, (list, tuple)) and result:
            result = self._elements(result)
        found, _, pattern = flatten(result)
        difference = self.pattern.difference(pattern)
        if difference:
            path, wanted, got = difference
            raise TypeError(
                f"solve: {self._name()} returns {got} where {self._y(path)} is {wanted}"
            )
        return [
            self._leaf(leaf, like, path)
            for leaf, like, path in zip(found, self.like, self.paths, strict=True)
        ]

    def _elements(self, result: Sequence[Any]) -> Any:
        try:
            return stack(result)
        except KinetographError as error:
            raise type(error)(f"solve: what {self._name()} returns: {error}") from None

    def _leaf(self, leaf: Any, like: Node, path: str) -> Array:
        try:
            node = as_node(leaf, "solve")
        except KinetographError as error:
            raise type(error)(f"solve: what {self._name()} returns: {error}") from None
        if node.shape != like.shape:
            raise ShapeError(
                f"solve: {self._name()} returns shape {node.shape} for {self._y(path)} of shape "
                f"{like.shape}; the derivative has the shape of the value"
            )
        return Array(node).astype(like.dtype)

    def _name(self) -> str:
        """The user's function and where it is written."""
        name = getattr(self.f, "__name__", type(self.f).__name__)
        code = getattr(self.f, "__code__", None)
        place = f" ({Site(code.co_filename, code.co_firstlineno)})" if code else place_text()
        return f"{'f' if name == '<lambda>' else name}{place}"

    def _y(self, path: str) -> str:
        return f"y{path}"


class _Step(NamedTuple):
    """One trial step."""

    right: _Right
    tableau: Tableau
    rtol: float
    atol: float
    fixed: bool  # whether all times are known, and no derivative by them is wanted

    def __call__(
        self, end: Array, t: Array, y: Leaves, slopes: Leaves, step: Array, before: Array
    ) -> tuple[Array, tuple[Any, ...]]:
        """Whether it ends at `end`, and the state after it.

        That is: time, value, slopes there, next step size, logarithm of the error.
        """
        step = stop_gradient(step)
        t = stop_gradient(t) if self.fixed else t
        last = step >= end - t
        size = where(last, end - t, step)
        new, new_slopes, square = self._attempt(t, y, slopes, size)
        accepted = square <= 1
        error = 0.5 * log(maximum(where(square < LARGEST, square, LARGEST), SMALLEST))
        factor = SAFETY * exp(-NOW * error + where(accepted, BEFORE * before, 0.0))
        factor = minimum(maximum(factor, SHRINK), where(accepted, GROW, 1.0))
        proposed = stop_gradient(size) * factor
        # A step that was cut says little about how large it might have been.
        step = where(accepted & last, maximum(step, proposed), proposed)
        before = where(accepted & ~last, error, before)

        def chosen(new: Any, old: Any) -> Array:
            return where(accepted, new, old)

        return accepted & last, (
            chosen(where(last, end, t + size), t),
            [chosen(a, b) for a, b in zip(new, y, strict=True)],
            [chosen(a, b) for a, b in zip(new_slopes, slopes, strict=True)],
            step,
            before,
        )

    def _attempt(
        self, t: Array, y: Leaves, slopes: Leaves, size: Array
    ) -> tuple[Leaves, Leaves, Array]:
        """The value after a step, the slopes there, and the square of the scaled error."""
        stages = [slopes]
        new = y
        for row, c in zip(self.tableau.a, self.tableau.c, strict=True):
            change = _combined(row, stages)
            new = [a + size * b for a, b in zip(y, change, strict=True)]
            stages.append(self.right(t + c * size, new))
        errors = [size * e for e in _combined(self.tableau.error, stages)]
        scales = [_scale(maximum(abs(a), abs(b)), self) for a, b in zip(y, new, strict=True)]
        return new, stages[-1], stop_gradient(_mean_square(errors, scales))


def _combined(weights: Sequence[float], stages: Sequence[Leaves]) -> Leaves:
    """The weighted sum of the stages, leaf by leaf."""
    terms = [(w, stage) for w, stage in zip(weights, stages, strict=True) if w]
    sums = []
    for place in range(len(stages[0])):
        total = terms[0][0] * terms[0][1][place]
        for weight, stage in terms[1:]:
            total = total + weight * stage[place]
        sums.append(total)
    return sums


def _scale(size: Array, tolerance: Any) -> Array:
    return tolerance.atol + tolerance.rtol * size


def _mean_square(values: Leaves, scales: Leaves) -> Array:
    """The mean over all elements of (value / scale)^2."""
    squares = [(v / s) ** 2 for v, s in zip(values, scales, strict=True)]
    total = squares[0].sum()
    for square in squares[1:]:
        total = total + square.sum()
    return total / sum(max(square.size, 1) for square in squares)


def _first_step(
    right: _Right, t: Array, y: Leaves, slopes: Leaves, rtol: float, atol: float
) -> Array:
    """A step with an error well below the tolerance (Hairer, Nørsett, Wanner, p. 169)."""
    scales = [atol + rtol * abs(leaf) for leaf in y]
    d0 = _mean_square(y, scales) ** 0.5
    d1 = _mean_square(slopes, scales) ** 0.5
    known = (d0 >= 1e-5) & (d1 >= 1e-5)
    trial = where(known, 0.01 * d0 / where(known, d1, 1.0), 1e-6)
    ahead = [leaf + trial * slope for leaf, slope in zip(y, slopes, strict=True)]
    later = right(t + trial, ahead)
    bends = [a - b for a, b in zip(later, slopes, strict=True)]
    curvature = maximum(d1, _mean_square(bends, scales) ** 0.5 / trial)
    flat = curvature <= 1e-15
    step = where(flat, maximum(1e-6, trial * 1e-3), (0.01 / where(flat, 1.0, curvature)) ** (1 / 5))
    step = minimum(100 * trial, step)
    # Where f is not finite a little ahead, begin with the trial.
    return stop_gradient(where(np.isfinite(step), step, trial))


def _start(y0: Any) -> tuple[Leaves, list[str], Pattern]:
    """The leaves of the initial value, as floating-point arrays."""
    if y0 is None:
        raise ValueError(f"solve: y0 must be provided{place_text()}")
    if isinstance(y0, list) and all(isinstance(v, (int, float)) for v in y0):
        y0 = np.asarray(y0, float)
    found, paths, pattern = flatten(y0)
    if not found:
        raise ValueError(f"solve: y0 has no elements{place_text()}")
    leaves = []
    for leaf, path in zip(found, paths, strict=True):
        try:
            leaves.append(Array(floating(leaf, "solve")))
        except KinetographError as error:
            raise type(error)(f"solve: y0{path}{place_text()}: {error}") from None
    return leaves, paths, pattern


def _times(ts: Any, t0: Any) -> tuple[Array, Array, bool]:
    """The times, the first one, and whether all are numbers that are known now."""
    if ts is None:
        raise ValueError(f"solve: ts must be provided{place_text()}")
    node = floating(np.asarray(ts) if isinstance(ts, (list, tuple)) else ts, "solve")
    if len(node.shape) != 1 or not node.size:
        raise ShapeError(
            f"solve: ts is {describe(node)} of shape {node.shape}{place_text()}; expected a vector "
            "of at least one time"
        )
    times = Array(node)
    start = times[0] if t0 is None else Array(floating(t0, "solve"))
    if start.shape:
        raise ShapeError(f"solve: t0 has shape {start.shape}{place_text()}; expected one number")
    values = _known(ts)
    if values is not None:
        _check_increasing(values, None if t0 is None else _known(t0))
    fixed = not isinstance(ts, Array) and not isinstance(t0, Array)
    return times, start.astype(node.dtype), fixed


def _known(value: Any) -> np.ndarray | None:
    node = getattr(value, "node", None)
    if node is None:
        return np.asarray(value, float)
    return np.asarray(node.value, float) if isinstance(node, Data) else None


def _check_increasing(ts: np.ndarray, t0: np.ndarray | None) -> None:
    if not np.isfinite(ts).all():
        place = int(np.flatnonzero(~np.isfinite(ts))[0])
        raise ValueError(f"solve: ts[{place}] is {ts[place]}{place_text()}")
    down = np.flatnonzero(np.diff(ts) <= 0)
    if down.size:
        i = int(down[0])
        raise ValueError(
            f"solve: ts must increase, but ts[{i}] = {ts[i]:g} is followed by ts[{i + 1}] = "
            f"{ts[i + 1]:g}{place_text()}"
        )
    if t0 is not None and not t0 <= ts[0]:
        raise ValueError(f"solve: ts[0] = {ts[0]:g} lies before t0 = {t0:g}{place_text()}")


def _given_step(first_step: Any) -> Array:
    if isinstance(first_step, (int, float)) and not first_step > 0:
        raise ValueError(f"solve: first_step must be positive, got {first_step}{place_text()}")
    step = Array(floating(first_step, "solve"))
    if step.shape:
        raise ShapeError(
            f"solve: first_step has shape {step.shape}{place_text()}; expected one number"
        )
    return stop_gradient(step)


def _options(
    method: str, rtol: float, atol: float, max_steps: Any, on_limit: str, grad: str
) -> Tableau:
    for name, value, choices in (
        ("method", method, tuple(TABLEAUS)),
        ("on_limit", on_limit, ("nan", "error")),
        ("grad", grad, GRADS),
    ):
        if value not in choices:
            listed = ", ".join(map(repr, choices))
            raise ValueError(f"solve: {name} is {value!r}{place_text()}; choose one of {listed}")
    least = 100 * float(np.finfo(float_dtype()).eps)
    if not rtol >= least:
        raise ValueError(f"solve: rtol is {rtol}{place_text()}; it must be at least {least:.1g}")
    if not atol >= 0:
        raise ValueError(f"solve: atol is {atol}{place_text()}; it must not be negative")
    whole = isinstance(max_steps, (int, np.integer)) and not isinstance(max_steps, bool)
    if max_steps is not None and (not whole or max_steps < 1):
        raise ValueError(
            f"solve: max_steps is {max_steps!r}{place_text()}; it must be a positive whole number"
        )
    return TABLEAUS[method]
