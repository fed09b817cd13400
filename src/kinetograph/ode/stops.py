"""Times at which steps have to end: where the right-hand side jumps, and where doses are given.

The solution goes on behind a stop from the value there, with the dose, and the right-hand side a
little later; the step that ends there takes it a little earlier. So a comparison of the time with
that of the stop is decided on each side as it should be, and the derivative by the time of the stop
is that of the solution: what f loses at the stop, carried on.
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
from .right import Leaves, Right
from .switches import switching_times
from .times import Times, known

__all__ = ["NO_STOPS", "Stops", "read_stops"]


class Stops(NamedTuple):
    """Times in their order, and of each leaf what is added there; infinity at the end."""

    times: Any
    amounts: Any  # a list of arrays whose first axis is that of the times; None for no doses
    fixed: bool  # whether all times are known now


NO_STOPS = Stops(None, None, True)


def read_stops(
    jumps: Any,
    doses: Any,
    times: Times,
    right: Right,
    leaves: Leaves,
) -> tuple[Stops, Times]:
    """The stops of jumps, those of the right-hand side and doses, in the order of the integration.

    And the times: where a stop is NaN, so is the end.
    """
    whens, amounts = [], []
    for number, (when, amount) in enumerate(_doses(doses)):
        whens.append(_dose_time(when, number, times))
        amounts.append(_amount(amount, number, leaves, right.structure))
    jumps = [_given(value, "jump_ts", times) for value in _several(jumps)]
    known_times = [array for array, _ in (*jumps, *whens)]
    for value in switching_times(right.leaves, times.start, leaves, known_times):
        jumps.append(_given(value, "a time that f switches at", times))
    given = [array for array, _ in (*jumps, *whens)]
    values = [numbers for _, numbers in (*jumps, *whens)]
    if not given:
        return NO_STOPS, times
    count = sum(when.shape[0] for when in given)
    at = concatenate(given)
    kept = None
    if amounts:
        none = count - len(amounts)
        kept = [
            concatenate([np.zeros((none, *leaf.shape), leaf.dtype), stack(list(parts))])
            for leaf, *parts in zip(leaves, *amounts, strict=True)
        ]
    fixed = all(numbers is not None for numbers in values)
    if fixed:
        order: Any = np.argsort(np.concatenate(values), kind="stable")
    else:
        order = _order(at)
        times = times._replace(end=where(_numbers(at), times.end, np.nan))
    at = concatenate([at[order], np.full(1, np.inf, at.dtype)])
    if kept is not None:
        kept = [concatenate([k[order], np.zeros((1, *k.shape[1:]), k.dtype)]) for k in kept]
    return Stops(at, kept, fixed), times


@lift
def _order(at: Any) -> Any:
    return jnp.argsort(at, stable=True)


@lift
def _numbers(at: Any) -> Any:
    return ~jnp.isnan(at).any()


def _dose_time(value: Any, number: int, times: Times) -> tuple[Array, np.ndarray | None]:
    when, numbers = _given(value, f"the time of doses[{number}]", times)
    if when.shape != (1,):
        raise ShapeError(
            f"solve: the time of doses[{number}] has {when.shape[0]} elements{place_text()}; "
            "expected one number"
        )
    if numbers is not None and times.first is not None and numbers[0] < times.first:
        raise ValueError(
            f"solve: doses[{number}] is given before y0 is taken{place_text()}; let t0 be the "
            "time of the first dose, or earlier"
        )
    return when, numbers


def _several(jumps: Any) -> Sequence[Any]:
    if jumps is None:
        return ()
    return jumps if isinstance(jumps, (list, tuple)) else [jumps]


def _given(value: Any, what: str, times: Times) -> tuple[Array, np.ndarray | None]:
    """Times as a vector in the direction of the integration, and their values if known now."""
    try:
        array = Array(floating(value, "solve")).ravel().astype(times.start.dtype)
    except KinetographError as error:
        raise type(error)(f"solve: {what}{place_text()}: {error}") from None
    numbers = known(value)
    if numbers is not None and np.isnan(numbers).any():
        raise ValueError(f"solve: {what} is nan{place_text()}")
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
                f"solve: doses[{number}] is no pair (time, amount){place_text()}; expected a list "
                "of such pairs"
            )
    return [(dose[0], dose[1]) for dose in doses]


def _amount(amount: Any, number: int, leaves: Leaves, structure: Structure) -> Leaves:
    """What a dose adds to each leaf."""
    if structure.make is None and isinstance(amount, (list, tuple)):
        amount = stack(amount)
    found, paths, given = flatten(amount)
    difference = structure.difference(given)
    if difference:
        path, wanted, got = difference
        raise TypeError(
            f"solve: the amount of doses[{number}] is {got} where y{path} is {wanted}"
            f"{place_text()}; it is what is added to y"
        )
    results = []
    for value, path, leaf in zip(found, paths, leaves, strict=True):
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
