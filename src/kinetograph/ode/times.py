"""The times of `kg.ode.solve`: checks, and the direction of the integration."""

from typing import Any, NamedTuple

import numpy as np

from ..graph.array import Array
from ..graph.errors import ShapeError, SymbolicError
from ..graph.functions.mathematics import where
from ..graph.messages import describe
from ..graph.missing import refuse_masked
from ..graph.node import Data
from ..graph.operations.elementwise import floating
from ..graph.source import place_text

__all__ = ["Times", "constant_value", "read_times"]


class Times(NamedTuple):
    """The times of the initial value and of the outputs.

    All are multiplied by `sign`, so that they grow.
    """

    start: Array
    end: Array
    outputs: Array
    fixed: bool  # whether all are numbers, so that derivatives by them cannot be requested
    sign: Any  # -1 if the times decrease; an array if the direction is known at run time only
    first: float | None  # the start, if it is constant


def constant_value(value: Any) -> np.ndarray | None:
    """The value as a NumPy array if it is constant; None otherwise."""
    if isinstance(value, Array):
        node = value.node
        return node.value.astype(float) if isinstance(node, Data) and node.literal else None
    refuse_masked(value, "solve")
    try:
        return None if np.asarray(value).dtype.kind in "mM" else np.asarray(value, float)
    except (SymbolicError, TypeError, ValueError):
        return None


def read_times(ts: Any, t0: Any) -> Times:
    """Read the arguments `ts` and `t0`."""
    if ts is None:
        raise ValueError(f"solve: ts must be provided{place_text()}")
    values = constant_value(ts)
    node = floating(ts if values is None else values, "solve")
    if len(node.shape) != 1 or not node.size:
        raise ShapeError(
            f"solve: ts is {describe(node)} of shape {node.shape}{place_text()}; expected a vector "
            "of at least one time; the order is solve(f, y0, ts)"
        )
    times = Array(node)
    start = times[0] if t0 is None else Array(floating(t0, "solve"))
    if start.shape:
        raise ShapeError(f"solve: t0 has shape {start.shape}{place_text()}; expected one number")
    start = start.astype(node.dtype)
    fixed = not isinstance(ts, Array) and not isinstance(t0, Array)
    first = constant_value(t0) if t0 is not None else None if values is None else values[0]
    if first is not None and not np.isfinite(first):
        name = "t0" if t0 is not None else "ts[0]"
        raise ValueError(f"solve: {name} is {first}{place_text()}; it must be finite")
    sign = _sign(values, first)
    if values is not None:
        _check_order(values, first, sign)
    if sign is None:
        sign = where(times[-1] < start, -1.0, 1.0).astype(node.dtype)
    if sign is not FORWARD:
        start, times = sign * start, sign * times
    end = times.max() if values is None else times[-1]
    first_time = None if first is None or not isinstance(sign, int) else float(sign * first)
    return Times(start, end, times, fixed, sign, first_time)


FORWARD = 1


def _sign(values: np.ndarray | None, first: np.ndarray | None) -> Any:
    """The direction of the times: 1, -1, or None if unknown."""
    if values is None or (first is None and len(values) == 1):
        return None
    return -1 if values[-1] < (values[0] if first is None else first) else FORWARD


def _check_order(ts: np.ndarray, first: np.ndarray | None, sign: Any) -> None:
    """Refuse times that are infinite, out of order, or around t0."""
    if not np.isfinite(ts).all():
        index = int(np.flatnonzero(~np.isfinite(ts))[0])
        raise ValueError(f"solve: ts[{index}] is {ts[index]}{place_text()}")
    if sign is None:
        return
    wrong_indices = np.flatnonzero(sign * np.diff(ts) <= 0)
    if first is not None and len(ts) > 1 and (sign * np.diff(ts) < 0).all():
        side, word = ("after", "or less") if sign < 0 else ("before", "or more")
        raise ValueError(
            f"solve: ts goes from {ts[0]:g} to {ts[-1]:g}, but t0 = {first:g} lies {side} all of "
            f"them{place_text()}; give t0={ts[0]:g} {word}, or ts from t0 on, that is, ts[::-1]"
        )
    if wrong_indices.size:
        i = int(wrong_indices[0])
        equal = ts[i] == ts[i + 1]
        raise ValueError(
            f"solve: ts must increase, or decrease, from t0 on, but ts[{i}] = {ts[i]:g} is "
            f"followed by ts[{i + 1}] = {ts[i + 1]:g}{place_text()}; "
            + ("give each time once, and index the result" if equal else "sort them")
        )
    if first is not None and sign * (ts[0] - first) < 0:
        raise ValueError(
            f"solve: ts[0] = {ts[0]:g} and ts[{len(ts) - 1}] = {ts[-1]:g} lie on both sides of "
            f"t0 = {first:g}{place_text()}; solve in each direction separately"
        )
