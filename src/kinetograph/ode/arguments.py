"""Checks of the arguments of `kg.ode.solve`.

The times are read in `times`, jumps and doses in `stops`, and events in `events`.
"""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..graph.array import Array
from ..graph.checks import run_time_check
from ..graph.control.structure import Structure, flatten
from ..graph.control.while_loop import GRADS
from ..graph.errors import KinetographError, KinetographWarning, ShapeError
from ..graph.functions.mathematics import stop_gradient
from ..graph.operations.elementwise import floating
from ..graph.precision import float_dtype
from ..graph.source import place_text, warn_user
from ..graph.suggestions import did_you_mean
from .right_hand_side import Leaves
from .tableaus import Tableau
from .times import constant_value

__all__ = [
    "Tolerance",
    "check_options",
    "check_order",
    "read_positive",
    "read_start",
    "read_tolerance",
    "warn_of_order",
]

_SPANS = [[first, last] for first in (int, float) for last in (int, float)]
_TIMES = {"t", "time"}


def warn_of_order(f: Callable[..., Any]) -> None:
    """Warn if f takes the time second, by its parameters' names."""
    try:
        names = [*inspect.signature(f).parameters][:2]
    except (TypeError, ValueError):  # some C functions have no signature
        return
    if len(names) == 2 and names[1] in _TIMES and names[0] not in _TIMES:
        warn_user(
            f"solve: f is called as f(t, y), and its parameters are {', '.join(names)}"
            f"{place_text()}; write the time first",
            KinetographWarning,
        )


def check_order(y0: Any, ts: Any, t0: Any) -> None:
    """Recognise the arguments of SciPy's `solve_ivp(f, (t0, t1), y0)`.

    Raises
    ------
    ValueError
        If `y0` may be a span of times, and `ts` cannot be times or gives only `y0` itself.

    Warns
    -----
    KinetographWarning
        If `y0` may be a span of times, and `ts` decreases.
    """
    values = None if ts is None else constant_value(ts)
    if t0 is not None or values is None or values.ndim != 1 or not values.size:
        return
    if type(y0) not in (list, tuple) or [*map(type, y0)] not in _SPANS or not y0[0] < y0[1]:
        return
    steps = np.diff(values)
    if steps.size and (steps > 0).all():
        return
    text = (
        f"solve: y0 = {y0} looks like a span of times, and ts = {values.tolist()} like an initial "
        f"value{place_text()}; the order is solve(f, y0, ts), and ts has all times from t0 on"
    )
    if not steps.size or not (steps < 0).all():
        raise ValueError(text)
    warn_user(text, KinetographWarning)


def read_start(y0: Any) -> tuple[Leaves, list[str], Structure]:
    """The leaves of the initial value, as floating-point arrays."""
    if y0 is None:
        raise ValueError(f"solve: y0 must be provided{place_text()}")
    values, paths, structure = flatten(y0)
    if not values:
        raise ValueError(f"solve: y0 has no elements{place_text()}")
    leaves = []
    for leaf, path in zip(values, paths, strict=True):
        try:
            leaves.append(Array(floating(leaf, "solve")))
        except KinetographError as error:
            raise type(error)(f"solve: y0{path}{place_text()}: {error}") from None
        value = constant_value(leaf)
        if value is not None and not np.isfinite(value).all():
            index = np.argwhere(~np.isfinite(value))[0].tolist()
            raise ValueError(
                f"solve: y0{path}{index or ''} is {value[tuple(index)]}{place_text()}; the "
                "initial value must be finite"
            )
    return leaves, paths, structure


class Tolerance(NamedTuple):
    """The relative tolerance, and the absolute tolerance of each leaf."""

    relative: float
    absolute: list[np.ndarray]

    def scales(self, sizes: Leaves) -> Leaves:
        """The largest tolerated errors of values of these sizes."""
        return [self.relative * size + a for a, size in zip(self.absolute, sizes, strict=True)]


def read_tolerance(
    rtol: Any, atol: Any, leaves: Leaves, paths: list[str], structure: Structure
) -> Tolerance:
    """Read the tolerances; the defaults depend on the precision."""
    coarse = float_dtype().itemsize < 8
    rtol = (1e-4 if coarse else 1e-6) if rtol is None else rtol
    atol = (1e-6 if coarse else 1e-8) if atol is None else atol
    smallest = 100 * float(np.finfo(float_dtype()).eps)
    relative = constant_value(rtol)
    if relative is None or relative.shape or not relative >= smallest:
        raise ValueError(
            f"solve: rtol is {rtol}{place_text()}; it must be a number of at least "
            f"{smallest:.1g}, a hundred rounding errors of {float_dtype()}"
        )
    parts, _, given = flatten(atol)
    whole_atol = structure.make is None and constant_value(atol) is not None
    parts = [atol] if whole_atol else parts * len(leaves) if given.make is None else parts
    if not whole_atol and given.make is not None and structure.difference(given):
        raise TypeError(
            f"solve: atol is {given} where y0 is {structure}{place_text()}; give a number, or one "
            "for each element of y0"
        )
    absolute = [_absolute(*part) for part in zip(parts, leaves, paths, strict=True)]
    for values, leaf, path in zip(absolute, leaves, paths, strict=True):
        _check_relative(values, leaf, path)
    return Tolerance(float(relative), absolute)


def _absolute(atol: Any, leaf: Array, path: str) -> np.ndarray:
    """The absolute tolerance of a leaf, in the shape of the leaf."""
    values = constant_value(atol)
    if values is None or not (values >= 0).all():
        raise ValueError(
            f"solve: atol{path} is {atol}{place_text()}; it must consist of constant numbers, none "
            "of them negative"
        )
    try:
        return np.broadcast_to(values, leaf.shape).astype(leaf.dtype)
    except ValueError:
        raise ShapeError(
            f"solve: atol{path} has shape {values.shape}, y0{path} {leaf.shape}{place_text()}"
        ) from None


def _check_relative(atol: np.ndarray, leaf: Array, path: str) -> None:
    """Refuse elements whose initial value and absolute tolerance are both 0."""
    if atol.all():
        return
    value = constant_value(leaf)
    zeros = None if value is None else np.argwhere((value == 0) & (atol == 0)).tolist()
    element = f"y0{path}" if value is not None or not leaf.shape else f"an element of y0{path}"
    index = zeros[0] if zeros and leaf.shape else ""
    run_time_check(
        ((leaf != 0) | (atol > 0)).all() if zeros is None else not zeros,
        ValueError,
        f"solve: atol is 0, and {element}{index} is 0{place_text()}: no error is small relative "
        "to 0; choose an atol that is small compared with the values that matter",
    )


def read_positive(value: Any, name: str) -> Array | None:
    """Read a step size, which has no derivative; None if not given."""
    if value is None:
        return None
    number = constant_value(value)
    if number is not None and not number.shape and not number > 0:
        raise ValueError(f"solve: {name} must be positive, got {value}{place_text()}")
    step = Array(floating(value, "solve"))
    if step.shape:
        raise ShapeError(f"solve: {name} has shape {step.shape}{place_text()}; expected one number")
    return stop_gradient(step)


def check_options(
    method: str | Tableau, methods: tuple[str, ...], max_steps: Any, on_limit: str, grad: str
) -> None:
    """Refuse unknown methods and options, and a `max_steps` that is not positive."""
    for name, value, choices in (
        *([] if isinstance(method, Tableau) else [("method", method, methods)]),
        ("on_limit", on_limit, ("nan", "error")),
        ("grad", grad, GRADS),
    ):
        if value not in choices:
            alternatives = ", ".join(map(repr, choices)) + did_you_mean(value, choices)
            raise ValueError(
                f"solve: {name} is {value!r}{place_text()}; choose one of {alternatives}"
            )
    is_whole = isinstance(max_steps, (int, np.integer)) and not isinstance(max_steps, bool)
    if max_steps is not None and (not is_whole or max_steps < 1):
        raise ValueError(
            f"solve: max_steps is {max_steps!r}{place_text()}; it must be a positive whole number"
        )
