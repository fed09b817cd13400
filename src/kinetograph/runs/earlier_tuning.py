"""Take over the tuning of another run."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..adaptation.joint_choice import UNUSED
from ..graph.errors import ModelError
from ..kernels.directions import Directions
from ..programs.program import Program
from ..samplers.sampler import Sampler

__all__ = ["check_unknowns", "tuned_values", "unknowns_text"]

COMPLETE = "give the complete results of kg.mcmc"


def unknowns_text(program: Program) -> str:
    """The unknowns with their numbers of free coordinates, as JSON."""
    return json.dumps(_sizes(program))


def _sizes(program: Program) -> dict[str, int]:
    return {name: int(np.prod(shape)) for name, (_, shape) in program.space.parts.items()}


def tuned_values(
    program: Program, samplers: Sequence[Sampler], results: Any
) -> list[dict[str, Any]]:
    """The tuned hyper-parameters in `results`, for the sampler of each chain.

    Chain k takes the values of chain k modulo the number of chains in the results.

    Raises
    ------
    TypeError
        If `results` are not results of a run.
    ModelError
        If the results come from another model.
    ValueError
        If the results come from another sampler, or a value is missing or out of its range.
    """
    if results is None:
        return [{} for _ in samplers]
    state = _state(results)
    _check_sampler(samplers[0], results)
    check_unknowns(program, results, "mcmc: tuned")
    names = program.warmup.tune + program.warmup.within
    if not names:
        raise ValueError(
            f"mcmc: tuned: {samplers[0]!r} tunes nothing, so nothing can be taken over; leave out "
            "tuned="
        )
    tuned = {name: _variable(state, name) for name in names}
    count = len(next(iter(tuned.values())))
    return [
        _of_chain(program, sampler, {n: v[k % count] for n, v in tuned.items()}, state, k % count)
        for k, sampler in enumerate(samplers)
    ]


def _state(results: Any) -> Any:
    """The group that holds the states of chains."""
    try:
        state = results["sampler_state"].dataset
        has_attributes = "unknowns" in results.attrs and "sampler" in results.attrs
    except (KeyError, TypeError, AttributeError, IndexError):
        has_attributes = False
    if not has_attributes:
        raise TypeError(
            f"mcmc: tuned: expected results of kg.mcmc, got {type(results).__name__} without the "
            f"group sampler_state or the attributes unknowns and sampler: {COMPLETE}"
        )
    return state


def _check_sampler(sampler: Sampler, results: Any) -> None:
    there, here = results.attrs["sampler"], type(sampler).__name__
    if there != here:
        raise ValueError(
            f"mcmc: tuned: the results come from {there}, whose tuned values do not fit {here}; "
            f"give results of {here}, or sampler={there}(...)"
        )


def check_unknowns(program: Program, results: Any, doing: str) -> None:
    """Refuse results of a model with other unknowns.

    Raises
    ------
    TypeError
        If the attribute `unknowns` of the results cannot be read.
    ModelError
        If the unknowns differ.
    """
    try:
        there = dict(json.loads(results.attrs["unknowns"]))
    except (TypeError, ValueError):
        raise TypeError(
            f"{doing}: the attribute unknowns, {results.attrs['unknowns']!r:.80}, does not "
            f"list the unknowns of a model: {COMPLETE}"
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
        difference = f"the unknown {name!r} has {' and '.join(sizes)}"
        break
    else:
        difference = (
            f"the unknowns are in the order {', '.join(there)} there, {', '.join(here)} here"
        )
    raise ModelError(
        f"{doing}: the results come from another model: {difference}; give results of this model "
        "(its data may differ)"
    )


def _numbers(count: int) -> str:
    return f"{count} free number{'' if count == 1 else 's'}"


def _variable(state: Any, name: str) -> np.ndarray:
    """A hyper-parameter of each chain."""
    variable = state.get(f"hyper_{name}")
    if variable is None or variable.ndim == 0 or len(variable) == 0:
        raise ValueError(
            f"mcmc: tuned: the group sampler_state of the results has no hyper_{name}: {COMPLETE}"
        )
    return np.asarray(variable.values)


def _forms(hyper: Mapping[str, Any], state: Any, chain: int) -> dict[str, Any]:
    """The forms of unknowns to which the tuned metric belongs."""
    if "hyper_centring" not in state:
        return {}
    if "centring" not in hyper:
        raise ValueError(
            "mcmc: tuned: the results were sampled with parametrisation='auto', and their metric "
            "belongs to the chosen forms; give sampler=kg.samplers.NUTS(parametrisation='auto')"
        )
    names = [name for name in ("centring", "information", "joint") if name in hyper]
    forms = {name: _variable(state, name)[chain].astype(hyper[name].dtype) for name in names}
    if "joint" in forms and forms["joint"][0, 0] < 0:  # the warm-up ended before it was computed
        forms["joint"][0, 0] = UNUSED
    return forms


def _directions(
    sampler: Sampler, hyper: Mapping[str, Any], state: Any, chain: int
) -> dict[str, Any]:
    """The directions of the metric, if the metric has any."""
    parts = {name: state.get(f"hyper_directions_{name}") for name in Directions._fields}
    arrays = {name: np.asarray(v.values)[chain] for name, v in parts.items() if v is not None}
    room = hyper.get("directions")
    if not arrays:
        return {}
    if room is None:
        if np.all(arrays.get("count") == 0):
            return {}
        raise ValueError(
            f"mcmc: tuned: the metric of the results has directions, and the metric of {sampler!r} "
            "has none; give a sampler with the metric of that run, such as "
            f'{type(sampler).__name__}(metric="auto")'
        )
    if {name: np.shape(v) for name, v in arrays.items()} != {
        name: np.shape(v) for name, v in room._asdict().items()
    }:
        raise ValueError(
            f"mcmc: tuned: the metric of the results has room for "
            f"{len(arrays.get('stretches', ()))} directions, and the metric of {sampler!r} for "
            f"{len(room.stretches)}; give a sampler with the metric of that run"
        )
    fields = room._asdict()
    return {"directions": Directions(**{n: v.astype(fields[n].dtype) for n, v in arrays.items()})}


def _of_chain(
    program: Program, sampler: Sampler, values: Mapping[str, Any], state: Any, chain: int
) -> dict[str, Any]:
    """The tuned values for a chain.

    The target acceptance is not below the value that it had in the results.
    """
    hyper = sampler.hypers(program.space)
    tuned = {}
    for name, value in values.items():
        if np.shape(value) != np.shape(hyper[name]):
            raise ValueError(
                f"mcmc: tuned: hyper_{name} has shape {np.shape(value)} for a chain, and "
                f"{np.shape(hyper[name])} is expected: {COMPLETE}"
            )
        tuned[name] = np.asarray(value, hyper[name].dtype)
    tuned |= _directions(sampler, hyper, state, chain) | _forms(hyper, state, chain)
    if "target_limit" in hyper:
        raised = np.minimum(_variable(state, "target_acceptance")[chain], hyper["target_limit"])
        tuned["target_acceptance"] = np.maximum(hyper["target_acceptance"], raised)
    try:
        sampler.check_hypers(tuned)
    except (TypeError, ValueError) as error:
        raise ValueError(f"mcmc: tuned: chain {chain} of the results: {error}") from error
    return tuned
