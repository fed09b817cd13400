"""What a run was drawn with, made anew from what its results say of it."""

import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from ..graph.array import Array
from ..models.model import Model
from ..observables.average import Average
from ..observables.observable import Observable
from ..samplers.sampler import Sampler
from .arguments import check_sampler, check_samplers

__all__ = [
    "averages_again",
    "observables_again",
    "said_of_quantities",
    "said_of_samplers",
    "samplers_again",
]

_SAMPLERS: Any = import_module("..samplers", __package__)
_OBSERVABLES: Any = import_module("..observables", __package__)


def said_of_samplers(samplers: Sequence[Sampler]) -> dict[str, Any]:
    """What results say of the samplers of chains: settings; of one that differs, a list of each."""
    each = [sampler.settings() for sampler in samplers]
    by_name = {name: [settings[name] for settings in each] for name in each[0]}
    same = all(settings == each[0] for settings in each)
    settings = each[0] if same else {n: _one(values) for n, values in by_name.items()}
    return {
        "sampler_settings": json.dumps(settings),
        "sampler_tune": json.dumps(samplers[0].tune),
        **({} if same else {"samplers": len(samplers)}),
    }


def _one(values: Sequence[Any]) -> Any:
    return values[0] if all(value == values[0] for value in values) else list(values)


def samplers_again(
    said: Mapping[str, Any], given: Any, chains: int, doing: str
) -> Sequence[Sampler]:
    """The samplers of the chains of a run, made anew, or those that are given if they are alike.

    Raises
    ------
    TypeError
        If what is given is no sampler.
    ValueError
        If it is another one, or none is given and it cannot be made anew.
    """
    name = str(said["sampler"])
    if given is not None:
        found = check_samplers(given, chains, doing)
        for each in found:
            check_sampler(each, doing)
        _check(found, name, said, doing)
        return found
    differ = "samplers" in said
    settings, tune = json.loads(said["sampler_settings"]), json.loads(said["sampler_tune"])
    made = None if differ else _made(name, settings, tune)
    if made is None:
        why = (
            "it is another for each chain"
            if differ
            else ("it is none of kg.samplers with settings that are numbers and texts")
        )
        what = f"[{name}(...), ...]" if differ else f"{name}(...)"
        raise ValueError(
            f"{doing}: give the sampler of that run by sampler={what}; {why}, and cannot be made "
            "anew"
        )
    return [made] * chains


def _made(name: str, settings: Mapping[str, Any], tune: Any) -> Sampler | None:
    """A sampler of ours by its settings, if these say all."""
    kind = getattr(_SAMPLERS, name) if name in _SAMPLERS.__all__ else None
    if not (isinstance(kind, type) and issubclass(kind, Sampler)):
        return None
    values = dict(settings)
    for key, value in settings.items():
        if isinstance(value, Mapping):  # of a sampler within it
            inner = {k: v for k, v in value.items() if k not in ("sampler", "tune")}
            values[key] = _made(str(value.get("sampler")), inner, value.get("tune"))
            if values[key] is None:
                return None
    try:
        found = kind(**values)
        if tune is not None:
            found.tune = tune
    except (TypeError, ValueError):
        return None
    same = json.dumps(found.settings()) == json.dumps(settings)
    return found if same else None


def _check(samplers: Sequence[Sampler], name: str, said: Mapping[str, Any], doing: str) -> None:
    kind = type(samplers[0]).__name__
    if kind != name:
        raise ValueError(
            f"{doing}: the results are those of {name}, got sampler={kind}; a run goes on with "
            "its own sampler"
        )
    own = said_of_samplers(samplers)
    here, there = (json.loads(each["sampler_settings"]) for each in (own, said))
    for key in {**there, **here}:
        if here.get(key) != there.get(key):
            raise ValueError(
                f"{doing}: the results were drawn with {key}={there.get(key)!r}, and the "
                f"sampler that is given has {key}={here.get(key)!r}; a run goes on as it was"
            )
    if own["sampler_tune"] != said["sampler_tune"]:
        raise ValueError(
            f"{doing}: the results were drawn with tune={said['sampler_tune']}, got "
            f"tune={own['sampler_tune']}"
        )


def said_of_quantities(
    model: Model, observables: Sequence[Observable], averages: Sequence[Average]
) -> dict[str, str]:
    """What results say of what is recorded, and averaged: names, and whether with covariances."""
    averaged = [
        (model.name(q.node) if isinstance(q, Array) else q.name, covariance)
        for q, covariance in averages
    ]
    recorded = [observable.name for observable in observables]
    return {"observables": json.dumps(recorded), "averages": json.dumps(averaged)}


def observables_again(said: Mapping[str, Any], doing: str) -> list[Observable]:
    """The observables of a run.

    Raises
    ------
    ValueError
        If one is a user's own.
    """
    return [_observable(name, "observables", doing) for name in json.loads(said["observables"])]


def averages_again(said: Mapping[str, Any], model: Model, doing: str) -> list[Average]:
    """What a run averages: targets of the model, and observables.

    Raises
    ------
    ValueError
        If one is a user's own.
    """
    targets = dict(zip(model.target_names, model.targets, strict=True))
    found = []
    for name, covariance in json.loads(said["averages"]):
        quantity: Any = targets.get(name)
        if quantity is None:
            quantity = _observable(name, "averages", doing)
        else:
            quantity = Array(quantity)
        found.append(Average(quantity, covariance))
    return found


def _observable(name: str, what: str, doing: str) -> Observable:
    found = getattr(_OBSERVABLES, name, None)
    if not isinstance(found, Observable) or found.name != name:
        raise ValueError(
            f"{doing}: the run has {name!r} among its {what}, which is none of kg.observables; "
            f"give {what}= as in that run"
        )
    return found
