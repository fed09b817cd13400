"""Stops: times of jumps and doses, where a step has to end.

After a stop the solution continues from the value there, with the dose added. The step that ends at
a stop evaluates the right-hand side a little before the stop, and the next step a little after it.
So a comparison of the time with the time of the stop has the right result on each side. The
derivative by the time of the stop then is the derivative of the true solution: the difference of f
across the stop, propagated to later times.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ..graph.array import Array
from ..graph.control.structure import Structure, flatten
from ..graph.errors import KinetographError, ShapeError, SymbolicError
from ..graph.functions.arranging import concatenate, stack
from ..graph.functions.mathematics import where
from ..graph.lift import lift
from ..graph.operations.elementwise import floating
from ..graph.source import place_text
from .right_hand_side import Leaves, Right
from .switches import switching_times
from .times import Times, constant_value

__all__ = ["NO_STOPS", "Stops", "read_stops"]


class Stops(NamedTuple):
    """The times in the order of the integration, and the amounts added."""

    times: Any  # an array whose last element is infinity; None if there are no stops
    amounts: Any  # for each leaf an array with an amount for each time; None without doses
    fixed: bool  # whether all times are constants


NO_STOPS = Stops(None, None, True)


def read_stops(
    jumps: Any,
    doses: Any,
    times: Times,
    right: Right,
    leaves: Leaves,
) -> tuple[Stops, Times]:
    """Read the stops: given jumps, switches of the right-hand side, and doses.

    Also returns the times, whose end is NaN if a stop is NaN.
    """
    whens, amounts = [], []
    for number, (when, amount) in enumerate(_doses(doses)):
        whens.append(_dose_time(when, number, times))
        amounts.append(_amount(amount, number, leaves, right.structure))
    jumps = [_vector_of_times(value, "jump_ts", times) for value in _several(jumps)]
    known_times = [array for array, _ in (*jumps, *whens)]
    for value in switching_times(right.leaves, times.start, leaves, known_times):
        jumps.append(_vector_of_times(value, "a time at which f switches", times))
    all_times = [array for array, _ in (*jumps, *whens)]
    values = [numbers for _, numbers in (*jumps, *whens)]
    if not all_times:
        return NO_STOPS, times
    count = sum(when.shape[0] for when in all_times)
    stop_times = concatenate(all_times)
    added = None
    if amounts:
        jump_count = count - len(amounts)
        added = [
            concatenate([np.zeros((jump_count, *leaf.shape), leaf.dtype), stack(list(parts))])
            for leaf, *parts in zip(leaves, *amounts, strict=True)
        ]
    fixed = all(numbers is not None for numbers in values)
    if fixed:
        order: Any = np.argsort(np.concatenate(values), kind="stable")
    else:
        order = _order(stop_times)
        times = times._replace(end=where(_has_no_nan(stop_times), times.end, np.nan))
    stop_times = concatenate([stop_times[order], np.full(1, np.inf, stop_times.dtype)])
    if added is not None:
        added = [concatenate([k[order], np.zeros((1, *k.shape[1:]), k.dtype)]) for k in added]
    return Stops(stop_times, added, fixed), times


@lift
def _order(at: Any) -> Any:
    return jnp.argsort(at, stable=True)


@lift
def _has_no_nan(at: Any) -> Any:
    return ~jnp.isnan(at).any()


def _dose_time(value: Any, number: int, times: Times) -> tuple[Array, np.ndarray | None]:
    when, numbers = _vector_of_times(value, f"the time of doses[{number}]", times)
    if when.shape != (1,):
        raise ShapeError(
            f"solve: the time of doses[{number}] has {when.shape[0]} elements{place_text()}; "
            "expected one number"
        )
    if numbers is not None and times.first is not None and numbers[0] < times.first:
        raise ValueError(
            f"solve: the time of doses[{number}] is before t0{place_text()}; let t0 be the "
            "time of the first dose, or earlier"
        )
    return when, numbers


def _several(jumps: Any) -> Sequence[Any]:
    if jumps is None:
        return ()
    return jumps if isinstance(jumps, (list, tuple)) else [jumps]


def _vector_of_times(value: Any, label: str, times: Times) -> tuple[Array, np.ndarray | None]:
    """Times as a vector in the integrator's direction, and their constant values."""
    try:
        array = Array(floating(value, "solve")).ravel().astype(times.start.dtype)
    except KinetographError as error:
        raise type(error)(f"solve: {label}{place_text()}: {error}") from None
    numbers = constant_value(value)
    if numbers is not None and np.isnan(numbers).any():
        raise ValueError(f"solve: {label} is nan{place_text()}")
    if numbers is not None:
        numbers = numbers.ravel() * times.sign if isinstance(times.sign, int) else None
    return times.sign * array, numbers


def _doses(doses: Any) -> list[tuple[Any, Any]]:
    if doses is None:
        return []
    if not isinstance(doses, (list, tuple)):
        raise TypeError(
            f"solve: doses is {type(doses).__name__}{place_text()}; expected a list of pairs "
            "(time, amount)"
        )
    for number, dose in enumerate(doses):
        if not isinstance(dose, (list, tuple)) or len(dose) != 2:
            raise TypeError(
                f"solve: doses[{number}] is not a pair (time, amount){place_text()}; expected a "
                "list of such pairs"
            )
    return [(dose[0], dose[1]) for dose in doses]


def _amount(amount: Any, number: int, leaves: Leaves, structure: Structure) -> Leaves:
    """The amount that a dose adds to each leaf."""
    if structure.make is None and isinstance(amount, (list, tuple)):
        amount = stack(amount)
    values, paths, given = flatten(amount)
    difference = structure.difference(given)
    if difference:
        path, expected, got = difference
        raise TypeError(
            f"solve: the amount of doses[{number}] is {got} where y{path} is {expected}"
            f"{place_text()}; the amount is added to y and needs its structure"
        )
    results = []
    for value, path, leaf in zip(values, paths, leaves, strict=True):
        try:
            array = Array(floating(value, "solve"))
            results.append((array + np.zeros(leaf.shape, leaf.dtype)).astype(leaf.dtype))
        except (SymbolicError, ShapeError) as error:
            text = f"solve: the amount{path} of doses[{number}]{place_text()}: {error}"
            raise type(error)(text) from None
        if results[-1].shape != leaf.shape:
            raise ShapeError(
                f"solve: the amount of doses[{number}] has shape {array.shape} where y{path} has "
                f"{leaf.shape}{place_text()}"
            )
    return results
