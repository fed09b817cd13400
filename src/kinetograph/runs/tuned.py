"""What warm-up has tuned in another run, taken over by a new one."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..graph.errors import ModelError
from ..kernels.directions import Directions
from ..samplers.sampler import Sampler
from .program import Program

__all__ = ["check_unknowns", "tuned_values", "unknowns_text"]

WHOLE = "give what kg.mcmc returned, whole"


def unknowns_text(program: Program) -> str:
    """The unknowns of a model with the numbers of their free coordinates, for the record."""
    return json.dumps(_sizes(program))


def _sizes(program: Program) -> dict[str, int]:
    return {name: int(np.prod(shape)) for name, (_, shape) in program.space.parts.items()}


def tuned_values(
    program: Program, samplers: Sequence[Sampler], results: Any
) -> list[dict[str, Any]]:
    """For the sampler of each chain the values of hyper-parameters that `results` say are tuned.

    Chain k takes those of chain k modulo the number of chains there.

    Raises
    ------
    TypeError
        If they are no results.
    ModelError
        If they are those of another model.
    ValueError
        If they are those of another sampler, or a value is missing or out of its range.
    """
    if results is None:
        return [{} for _ in samplers]
    state = _state(results)
    _check_sampler(samplers[0], results)
    check_unknowns(program, results, "mcmc: tuned")
    names = program.warmup.tune + program.warmup.within
    if not names:
        raise ValueError(
            f"mcmc: tuned: {samplers[0]!r} tunes nothing that could be taken over; leave it out"
        )
    held = {name: _variable(state, name) for name in names}
    count = len(next(iter(held.values())))
    return [
        _of_chain(program, sampler, {n: v[k % count] for n, v in held.items()}, state, k % count)
        for k, sampler in enumerate(samplers)
    ]


def _state(results: Any) -> Any:
    """The group that holds the states of chains."""
    try:
        state = results["sampler_state"].dataset
        known = "unknowns" in results.attrs and "sampler" in results.attrs
    except (KeyError, TypeError, AttributeError, IndexError):
        known = False
    if not known:
        raise TypeError(
            f"mcmc: tuned: expected results of kg.mcmc, got {type(results).__name__} without the "
            f"group sampler_state or the attributes that tell whose it is: {WHOLE}"
        )
    return state


def _check_sampler(sampler: Sampler, results: Any) -> None:
    there, here = results.attrs["sampler"], type(sampler).__name__
    if there != here:
        raise ValueError(
            f"mcmc: tuned: the results are those of {there}, whose tuned values say nothing to "
            f"{here}; give results of {here}, or sampler={there}(...)"
        )


def check_unknowns(program: Program, results: Any, doing: str) -> None:
    """Refuse results of a model with other unknowns.

    Raises
    ------
    TypeError
        If they do not tell.
    ModelError
        If there are others.
    """
    try:
        there = dict(json.loads(results.attrs["unknowns"]))
    except (TypeError, ValueError):
        raise TypeError(
            f"{doing}: the attribute unknowns, {results.attrs['unknowns']!r:.80}, does not "
            f"tell the unknowns of a model: {WHOLE}"
        ) from None
    here = _sizes(program)
    if list(there.items()) == list(here.items()):
        return
    for name in there | here:
        if there.get(name) == here.get(name):
            continue
        sizes = [
            f"{_numbers(of[name])} {where}" if name in of else f"none {where}"
            for of, where in ((there, "there"), (here, "here"))
        ]
        what = f"the unknown {name!r} has {' and '.join(sizes)}"
        break
    else:
        what = f"the unknowns are in the order {', '.join(there)} there, {', '.join(here)} here"
    raise ModelError(
        f"{doing}: the results are those of another model: {what}; give results of this model, "
        "whose data alone may be others"
    )


def _numbers(count: int) -> str:
    return f"{count} free number{'' if count == 1 else 's'}"


def _variable(state: Any, name: str) -> np.ndarray:
    """A hyper-parameter of each chain."""
    held = state.get(f"hyper_{name}")
    if held is None or held.ndim == 0 or len(held) == 0:
        raise ValueError(
            f"mcmc: tuned: the group sampler_state of the results has no hyper_{name}: {WHOLE}"
        )
    return np.asarray(held.values)


def _directions(sampler: Sampler, own: Mapping[str, Any], state: Any, chain: int) -> dict[str, Any]:
    """The directions of the metric, where it has some."""
    parts = {name: state.get(f"hyper_directions_{name}") for name in Directions._fields}
    held = {name: np.asarray(v.values)[chain] for name, v in parts.items() if v is not None}
    room = own.get("directions")
    if not held:
        return {}
    if room is None:
        if np.all(held.get("count") == 0):
            return {}
        raise ValueError(
            f"mcmc: tuned: the metric of the results has directions, and that of {sampler!r} has "
            "none; give a sampler with the metric of that run, such as "
            f'{type(sampler).__name__}(metric="auto")'
        )
    if {name: np.shape(v) for name, v in held.items()} != {
        name: np.shape(v) for name, v in room._asdict().items()
    }:
        raise ValueError(
            f"mcmc: tuned: the metric of the results has room for "
            f"{len(held.get('stretches', ()))} directions, and that of {sampler!r} for "
            f"{len(room.stretches)}; give a sampler with the metric of that run"
        )
    like = room._asdict()
    return {"directions": Directions(**{n: v.astype(like[n].dtype) for n, v in held.items()})}


def _of_chain(
    program: Program, sampler: Sampler, values: Mapping[str, Any], state: Any, chain: int
) -> dict[str, Any]:
    """The values for a chain; the target of acceptance is as high as it had risen."""
    own = sampler.hypers(program.space)
    found = {}
    for name, value in values.items():
        if np.shape(value) != np.shape(own[name]):
            raise ValueError(
                f"mcmc: tuned: hyper_{name} has shape {np.shape(value)} a chain, and "
                f"{np.shape(own[name])} is expected: {WHOLE}"
            )
        found[name] = np.asarray(value, own[name].dtype)
    found |= _directions(sampler, own, state, chain)
    if "target_limit" in own:
        risen = np.minimum(_variable(state, "target_acceptance")[chain], own["target_limit"])
        found["target_acceptance"] = np.maximum(own["target_acceptance"], risen)
    try:
        sampler.check_hypers(found)
    except (TypeError, ValueError) as error:
        raise ValueError(f"mcmc: tuned: of chain {chain} there, {error}") from error
    return found
