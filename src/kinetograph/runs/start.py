"""Where chains start: points that the user gave, and what to say when no start is possible."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..graph.errors import ModelError, ShapeError, StartError
from ..graph.precision import x64
from ..models.model import Model
from ..streams.draws import uniforms
from .chains import Chain
from .program import START_ATTEMPTS

__all__ = ["explain_failure", "initial_points"]

_KINDS = (
    "mcmc: initial must be a dictionary of values, a list of one dictionary a chain, or an array "
    "of free states; got {}"
)


def initial_points(model: Model, initial: Any, keys: Sequence[np.ndarray]) -> list[Any]:
    """A free state for each chain, or None where the search should find one."""
    chains = len(keys)
    if initial is None:
        return [None] * chains
    if isinstance(initial, Mapping):
        return [_free(model, initial, key) for key in keys]
    if isinstance(initial, np.ndarray) or _is_numbers(initial):
        states = np.asarray(initial, float)
        if states.shape == (model.free_size,):
            return [states] * chains
        if states.shape != (chains, model.free_size):
            raise ShapeError(
                f"mcmc: initial free states need shape ({chains}, {model.free_size}) or "
                f"({model.free_size},), got {states.shape}"
            )
        return list(states)
    if isinstance(initial, str) or not isinstance(initial, Sequence):
        raise TypeError(_KINDS.format(type(initial).__name__))
    points = list(initial)
    if len(points) != chains:
        raise ModelError(f"mcmc: initial has {len(points)} points for {chains} chains")
    return [_free(model, point, key) for point, key in zip(points, keys, strict=True)]


def _is_numbers(initial: Any) -> bool:
    try:
        return np.asarray(initial).dtype.kind in "iuf"
    except (TypeError, ValueError):
        return False


def _free(model: Model, point: Any, key: np.ndarray) -> np.ndarray:
    """The free state of given values; what is not given is drawn from uniform(-2, 2) on it."""
    if not isinstance(point, Mapping):
        raise TypeError(_KINDS.format(type(point).__name__))
    if len(point) < len(model.names):
        model._check_values(point, complete=False)
        with x64():
            free = np.asarray(4.0 * uniforms(key, 0, 0, model.free_size) - 2.0)
        values = model.transform(free) | dict(point)
    else:
        values = dict(point)
    return model.untransform(values)


def explain_failure(model: Model, chains: Sequence[Chain], given: bool) -> StartError:
    """The error for chains that found no starting point, naming what is not finite."""
    failed = [i for i, chain in enumerate(chains) if chain.failed]
    chain = chains[failed[0]]
    report = model.debug(np.asarray(chain.state.position.q))
    which = f"chain {failed[0]}" if len(failed) == 1 else f"{len(failed)} of {len(chains)} chains"
    how = (
        "the given initial point has no finite log density or gradient"
        if given
        else f"no finite log density and gradient in {START_ATTEMPTS} random starting points"
    )
    lines = [f"{which}: {how}."]
    for term in report.bad_terms[:5]:
        lines.append(f"  {term.name} ~ {term.expression}   log density {term.value}   {term.site}")
        lines += [f"      {text}" for text in term.inputs]
    if report.first_bad:
        lines.append(f"  first value that is not finite: {report.first_bad}")
    if not report.bad_terms:
        lines.append("  Every term is finite at the last point: its gradient is not.")
    lines.append(
        "  Give starting values with initial={name: value}, or look at every node with "
        "model.debug(point)."
    )
    return StartError("\n".join(lines))
