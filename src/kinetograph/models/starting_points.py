"""Starting points of runs: given or random, and errors for bad ones."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np

from ..bits.draws import uniforms
from ..graph.errors import KinetographError, ModelError, ShapeError, StartError
from ..graph.missing import refuse_masked
from ..graph.missing_places import IN_STEPS, missing_in_variables
from ..graph.node import Node
from ..graph.precision import x64
from ..graph.source import place_text
from ..graph.value_texts import shown
from .ancestral.forward import plan
from .ancestral.rows import in_rows, run_rows
from .model import Model
from .start_centres import HALF_WIDTH, start_centres
from .values import check_values

__all__ = [
    "START_ATTEMPTS",
    "blame",
    "ensemble_points",
    "free_sizes",
    "free_states",
    "initial_points",
    "random_point",
]

START_ATTEMPTS = 100


def _kinds(doing: str, one: str, got: Any) -> str:
    """The message that lists the valid kinds of `initial`."""
    is_results = hasattr(got, "subtree")
    hint = "; kg.extra_samples(results, model) continues results" if is_results else ""
    pathfinder_text = "" if one == "start" else '"pathfinder", '
    return (
        f"{doing}: initial must be a dictionary of values, a list with one dictionary for each "
        f"{one}, an array of free states, an approximation of the posterior, {pathfinder_text}"
        f'"random", or "prior"; got {shown(got)}{place_text()}{hint}'
    )


def _by_name(model: Model, one: str) -> str:
    """The form of `initial` with values by name."""
    name = repr(model.names[0])
    return f"initial=[{{{name}: ...}}, {{{name}: ...}}, ...], with a dictionary for each {one}"


def initial_points(
    model: Model, initial: Any, keys: Sequence[np.ndarray], doing: str = "mcmc", one: str = "chain"
) -> list[Any]:
    """A free state for each key, or None to search for one.

    Messages use the word `one` for each thing that `doing` starts from a point.
    """
    count = len(keys)
    word = _word(initial, doing, one)
    if initial is None or word == "random":
        return [None] * count
    if word == "prior":
        return [prior_points(model, key, 1, doing)[0] for key in keys]
    initial = _approximated(model, _values(initial), count, doing)
    if isinstance(initial, Mapping):
        return [_free(model, initial, key, doing, one) for key in keys]
    if isinstance(initial, np.ndarray) or _is_numbers(initial):
        refuse_masked(initial, f"{doing}: initial")
        states = np.asarray(initial, float)
        if states.shape == (model.free_size,):
            return [states] * count
        if states.shape != (count, model.free_size):
            raise ShapeError(
                f"{doing}: initial free states need shape ({count}, {model.free_size}) or "
                f"({model.free_size},), got {states.shape}{place_text()}; values by name are "
                f"given as {_by_name(model, one)}"
            )
        return list(states)
    if not isinstance(initial, Sequence):
        raise TypeError(_kinds(doing, one, initial))
    points = [_values(point) for point in initial]
    if len(points) != count:
        raise ModelError(
            f"{doing}: initial has {len(points)} point{'s' * (len(points) != 1)} for {count} "
            f"{one}s{place_text()}; give one for each, or a single dictionary for all"
        )
    return [_free(model, point, key, doing, one) for point, key in zip(points, keys, strict=True)]


def ensemble_points(
    model: Model, initial: Any, keys: Sequence[np.ndarray], walkers: int, doing: str
) -> list[Any]:
    """The free states of an ensemble's walkers for each key, or None.

    As `initial_points`, but each walker has its own starting point: values by name and free states
    have a leading axis of walkers, and a list has one dictionary for each walker.
    """
    count = len(keys)
    word = _word(initial, doing, "walker")
    if initial is None or word == "random":
        return [None] * count
    if word == "prior":
        return [prior_points(model, key, walkers, doing) for key in keys]
    initial = _approximated(model, _values(initial), count * walkers, doing)
    if isinstance(initial, np.ndarray) and len(initial) == count * walkers:
        initial = initial.reshape(count, walkers, -1)
    if isinstance(initial, Mapping):
        points: Any = _of_walkers(initial, walkers, doing)
    elif isinstance(initial, np.ndarray) or _is_numbers(initial):
        refuse_masked(initial, f"{doing}: initial")
        states, one = np.asarray(initial, float), (walkers, model.free_size)
        if states.shape not in (one, (count, *one)):
            raise ShapeError(
                f"{doing}: initial free states of {walkers} walkers need shape {one} or "
                f"{(count, *one)}, got {states.shape}"
            )
        return list(np.broadcast_to(states, (count, *one)))
    elif not isinstance(initial, Sequence):
        raise TypeError(_kinds(doing, "walker", initial))
    else:
        points = [_values(point) for point in initial]
        if len(points) != walkers:
            raise ModelError(f"{doing}: initial has {len(points)} points for {walkers} walkers")
    return [
        np.stack([_free(model, p, key, doing, "walker", i) for i, p in enumerate(points)])
        for key in keys
    ]


def _of_walkers(values: Mapping[str, Any], walkers: int, doing: str) -> list[dict[str, Any]]:
    """A dictionary for each walker, from values with a leading axis."""
    for name, value in values.items():
        refuse_masked(value, f"{doing}: initial {name}")
    arrays = {name: np.asarray(value) for name, value in values.items()}
    for name, array in arrays.items():
        if array.shape[:1] != (walkers,):
            raise ShapeError(
                f"{doing}: each of {walkers} walkers needs its own starting point, so initial "
                f"values of {name} need a leading axis of {walkers}; got shape {array.shape}"
            )
    return [{name: array[i] for name, array in arrays.items()} for i in range(walkers)]


def _word(initial: Any, doing: str, one: str) -> str | None:
    """The word "random" or "prior", or None for other kinds of `initial`."""
    if not isinstance(initial, str):
        return None
    if initial not in ("random", "prior"):
        raise ValueError(_kinds(doing, one, initial))
    return initial


def free_states(model: Model, rows: Sequence[Any]) -> np.ndarray:
    """Return the free states of rows of values of all unknowns."""

    def free_state(drawn: Sequence[Any], values: Sequence[Any]) -> Any:
        unknowns = dict(zip(model.component.unknowns, drawn, strict=True))
        return model.density.free_state(unknowns, model.bind(values).data)

    def make() -> Any:
        return jax.jit(jax.vmap(free_state, (0, None)))

    with x64():
        return np.asarray(model.functions.get("free states", make)(rows, model.argument_values))


def prior_points(model: Model, key: np.ndarray, count: int, doing: str) -> np.ndarray:
    """The first prior draws with finite log densities, as free states.

    Raises
    ------
    StartError
        If fewer than `count` of `START_ATTEMPTS * count` draws are usable.
    """
    unknowns = model.component.unknowns
    names: dict[Node, str] = {v: model.name(v) for v in unknowns}
    fixed = model.fixed_values
    program = model.functions.get("prior", lambda: plan(doing, unknowns, fixed, {}, names))
    tries = START_ATTEMPTS * count
    given = [in_rows(fixed[node], tries) for node in program.given]
    with model.its_values():
        rows = run_rows(program, key, tries, given)
    states = free_states(model, rows)
    usable = np.isfinite(states).all(1)
    usable[usable] = np.isfinite(model.log_prob(states[usable]))
    if usable.sum() < count:
        raise StartError(
            f"{doing}: of {len(states)} draws from the prior only {usable.sum()} have a finite log "
            f'density, but initial="prior" needs {count}; leave initial out, or give values'
        )
    points: np.ndarray = states[usable][:count]
    return points


def _values(point: Any) -> Any:
    """The values by name of a point from `kg.opt`, else the point."""
    values = getattr(point, "values", None)
    return values if isinstance(values, Mapping) else point


def free_sizes(model: Model) -> dict[str, int]:
    """The number of free numbers of each unknown."""
    return dict(zip(model.names, model.density.sizes, strict=True))


def _approximated(model: Model, initial: Any, count: int, doing: str) -> Any:
    """Free states of an approximation or of tempered draws, or `initial` itself."""
    attributes = getattr(initial, "attrs", {})
    if "approximation" not in attributes and "tempering" not in attributes:
        return initial
    sizes = json.loads(attributes["unknowns"])
    if sizes != free_sizes(model):
        raise ModelError(
            f"{doing}: initial has draws of another model: its unknowns have "
            f"{sizes} free numbers, but the unknowns of this model {free_sizes(model)}"
        )
    states = np.concatenate(initial["unconstrained_posterior/q"].values)
    if len(states) < count:
        raise ModelError(
            f"{doing}: initial has {len(states)} draws for {count} starts; make {count} or more "
            "draws"
        )
    # particles with a common ancestor are neighbours
    apart = len(states) // count if "tempering" in attributes else 1
    points: np.ndarray = states[: apart * count : apart]
    return points


def _is_numbers(initial: Any) -> bool:
    """Whether a value is an array of numbers, or converts to one."""
    try:
        return np.asarray(initial).dtype.kind in "iuf"
    except (TypeError, ValueError):
        return False


def _free(
    model: Model, point: Any, key: np.ndarray, doing: str, one: str, attempt: int = 0
) -> np.ndarray:
    """The free state of given values; missing ones are random.

    Missing values come from `random_point`.
    """
    if not isinstance(point, Mapping) or hasattr(point, "subtree"):
        raise TypeError(_kinds(doing, one, point))
    values = dict(point)
    try:
        if len(point) < len(model.names):
            check_values(model, point, complete=False)
            values = model.transform(random_point(model, key, attempt)) | values
        return model.untransform(values)
    except (KinetographError, TypeError, ValueError) as error:
        hint = ""
        shapes = dict(zip(model.names, (v.shape for v in model.component.unknowns), strict=True))
        more = (np.ndim(value) > len(shapes.get(name, ())) for name, value in point.items())
        if isinstance(error, ShapeError) and one == "chain" and any(more):
            hint = f"; the values of several chains are {_by_name(model, one)}"
        raise type(error)(f"{doing}: initial: {error}{hint}") from None


def random_point(model: Model, key: np.ndarray, attempt: int) -> np.ndarray:
    """A free state, uniform on (-2, 2) around `start_centres`."""
    with x64():
        q = np.asarray(_uniforms(key, np.int32(attempt), model.free_size))
    q = 2 * HALF_WIDTH * q - HALF_WIDTH
    centres = start_centres(model)
    return q if centres is None else q + centres


@partial(jax.jit, static_argnums=2)
def _uniforms(key: Any, attempt: Any, size: int) -> Any:
    return uniforms(key, attempt, 0, size)


def blame(model: Model, free: np.ndarray, given: bool = False) -> list[str]:
    """Lines that name the terms that are not finite at a point.

    `given`: whether the user has chosen the free state.
    """
    report = model.debug(free)
    lines = []
    for term in report.bad_terms[:5]:
        lines.append(f"  {term.name} ~ {term.expression}   log density {term.value}   {term.site}")
        lines += [f"      {text}" for text in term.inputs]
    if report.first_bad:
        lines.append(f"  first value that is not finite: {report.first_bad}")
    if not report.bad_terms:
        lines.append("  Every term is finite at the last point, but its gradient is not.")
    if report.origin is not None:
        lines.append(
            "  This value does not depend on the unknowns: correct the data, drop or replace such "
            'values, or infer missing ones: kg.data(..., missing="impute").'
        )
        if where := missing_in_variables():
            lines.append(f"  {where}: {IN_STEPS}.")
        return lines
    lines.append(
        "  Give other values: model.debug(point) shows every node there, and "
        "kg.calculate(array, values={name: value}) gives the value of any array."
        if given
        else "  Give starting values with initial={name: value}, or look at every node with "
        "model.debug(point)."
    )
    return lines
