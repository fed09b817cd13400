"""The arguments of `kg.ode.solve`, checked."""

from typing import Any, NamedTuple

import numpy as np

from ..graph.array import Array
from ..graph.checks import run_time_check
from ..graph.control.structure import Structure, flatten
from ..graph.control.while_loop import GRADS
from ..graph.elementwise import floating
from ..graph.errors import KinetographError, ShapeError, SymbolicError
from ..graph.functions import stop_gradient
from ..graph.messages import describe
from ..graph.precision import float_dtype
from ..graph.source import place_text
from .right import Leaves
from .tableaus import TABLEAUS, Tableau

__all__ = ["Times", "check_relative", "read_first_step", "read_options", "read_start", "read_times"]


class Times(NamedTuple):
    """The times asked for, and the one of the initial value."""

    start: Array
    end: Array
    outputs: Array
    fixed: bool  # whether all are known now, so that no derivative by them is wanted


def read_start(y0: Any) -> tuple[Leaves, list[str], Structure]:
    """The leaves of the initial value, as floating-point arrays."""
    if y0 is None:
        raise ValueError(f"solve: y0 must be provided{place_text()}")
    if isinstance(y0, list) and all(isinstance(v, (int, float)) for v in y0):
        y0 = np.asarray(y0, float)
    found, paths, structure = flatten(y0)
    if not found:
        raise ValueError(f"solve: y0 has no elements{place_text()}")
    leaves = []
    for leaf, path in zip(found, paths, strict=True):
        try:
            leaves.append(Array(floating(leaf, "solve")))
        except KinetographError as error:
            raise type(error)(f"solve: y0{path}{place_text()}: {error}") from None
    return leaves, paths, structure


def check_relative(leaves: Leaves, paths: list[str]) -> None:
    """Refuse elements that begin at 0 where the tolerance is relative alone."""
    for leaf, path in zip(leaves, paths, strict=True):
        known = _known(leaf)
        zeros = None if known is None else np.argwhere(known == 0).tolist()
        what = f"y0{path}" if known is not None or not leaf.shape else f"an element of y0{path}"
        place = zeros[0] if zeros and leaf.shape else ""
        run_time_check(
            (leaf != 0).all() if zeros is None else not zeros,
            ValueError,
            f"solve: atol is 0, and {what}{place} is 0{place_text()}: no error is small relative "
            "to 0; choose an atol that is small beside the values that matter",
        )


def read_times(ts: Any, t0: Any) -> Times:
    """The times."""
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
    end = times[-1] if values is not None else times.max()
    return Times(start.astype(node.dtype), end, times, fixed)


def _known(value: Any) -> np.ndarray | None:
    try:
        return np.asarray(value, float)
    except SymbolicError:
        return None


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
    if t0 is not None and not np.isfinite(t0):
        raise ValueError(f"solve: t0 is {t0}{place_text()}; it must be finite")
    if t0 is not None and not t0 <= ts[0]:
        raise ValueError(f"solve: ts[0] = {ts[0]:g} lies before t0 = {t0:g}{place_text()}")


def read_first_step(first_step: Any) -> Array:
    if isinstance(first_step, (int, float)) and not first_step > 0:
        raise ValueError(f"solve: first_step must be positive, got {first_step}{place_text()}")
    step = Array(floating(first_step, "solve"))
    if step.shape:
        raise ShapeError(
            f"solve: first_step has shape {step.shape}{place_text()}; expected one number"
        )
    return stop_gradient(step)


def read_options(
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
