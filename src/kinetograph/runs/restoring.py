"""Restore the sampler, observables and averages of a run from its results."""

import json
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from ..graph.array import Array
from ..models.model import Model
from ..observables.average import Average
from ..observables.observable import Observable
from ..samplers.sampler import Sampler
from .arguments import check_sampler, check_samplers

__all__ = [
    "arguments_to_give",
    "restored_averages",
    "restored_observables",
    "quantity_attributes",
    "sampler_attributes",
    "restored_samplers",
]

_SAMPLERS: Any = import_module("..samplers", __package__)
_OBSERVABLES: Any = import_module("..observables", __package__)


def sampler_attributes(samplers: Sequence[Sampler]) -> dict[str, Any]:
    """The attributes of results that describe the samplers of chains.

    The settings that differ between chains are lists with a value for each chain.
    """
    each = [sampler.settings() for sampler in samplers]
    by_name = {name: [settings[name] for settings in each] for name in each[0]}
    same = all(settings == each[0] for settings in each)
    settings = each[0] if same else {n: _one_or_list(values) for n, values in by_name.items()}
    return {
        "sampler_settings": json.dumps(settings),
        "sampler_tune": json.dumps(samplers[0].tune),
        **({} if same else {"samplers": len(samplers)}),
    }


def _one_or_list(values: Sequence[Any]) -> Any:
    return values[0] if all(value == values[0] for value in values) else list(values)


def restored_samplers(
    attributes: Mapping[str, Any], given: Any, chains: int, doing: str
) -> Sequence[Sampler]:
    """The samplers of the chains of a run.

    They are restored from the attributes of results, or are the given ones if these equal the
    run's.

    Raises
    ------
    TypeError
        If a given value is not a sampler.
    ValueError
        If another sampler is given, or none is given and it cannot be restored.
    """
    name = str(attributes["sampler"])
    if given is not None:
        samplers = check_samplers(given, chains, doing)
        for each in samplers:
            check_sampler(each, doing)
        _check(samplers, name, attributes, doing)
        return samplers
    differs = "samplers" in attributes
    settings, tune = (
        json.loads(attributes["sampler_settings"]),
        json.loads(attributes["sampler_tune"]),
    )
    restored = None if differs else _restored(name, settings, tune)
    if restored is None:
        reason = (
            "it differs from chain to chain"
            if differs
            else ("it is not one of kg.samplers with settings that are numbers and texts")
        )
        example = f"[{name}(...), ...]" if differs else f"{name}(...)"
        raise ValueError(
            f"{doing}: give the sampler of that run by sampler={example}; {reason}, so it cannot "
            "be restored"
        )
    return [restored] * chains


def _restored(name: str, settings: Mapping[str, Any], tune: Any) -> Sampler | None:
    """A sampler of kinetograph, if its settings describe it completely."""
    kind = getattr(_SAMPLERS, name) if name in _SAMPLERS.__all__ else None
    if not (isinstance(kind, type) and issubclass(kind, Sampler)):
        return None
    values = dict(settings)
    for key, value in settings.items():
        if isinstance(value, Mapping):  # the settings of an inner sampler
            inner = {k: v for k, v in value.items() if k not in ("sampler", "tune")}
            values[key] = _restored(str(value.get("sampler")), inner, value.get("tune"))
            if values[key] is None:
                return None
    try:
        sampler = kind(**values)
        if tune is not None:
            sampler.tune = tune
    except (TypeError, ValueError):
        return None
    same = json.dumps(sampler.settings()) == json.dumps(settings)
    return sampler if same else None


def _check(
    samplers: Sequence[Sampler], name: str, attributes: Mapping[str, Any], doing: str
) -> None:
    kind = type(samplers[0]).__name__
    if kind != name:
        raise ValueError(
            f"{doing}: the results come from {name}, got sampler={kind}; a run continues with "
            "its own sampler"
        )
    given = sampler_attributes(samplers)
    given_settings, run_settings = (
        json.loads(each["sampler_settings"]) for each in (given, attributes)
    )
    for key in {**run_settings, **given_settings}:
        if given_settings.get(key) != run_settings.get(key):
            raise ValueError(
                f"{doing}: the results were drawn with {key}={run_settings.get(key)!r}, but the "
                f"given sampler has {key}={given_settings.get(key)!r}; a run continues with the "
                "same settings"
            )
    if given["sampler_tune"] != attributes["sampler_tune"]:
        raise ValueError(
            f"{doing}: the results were drawn with tune={attributes['sampler_tune']}, got "
            f"tune={given['sampler_tune']}"
        )


def arguments_to_give(
    attributes: Mapping[str, Any], samplers: Sequence[Sampler], model: Model
) -> list[str]:
    """The arguments of a run that its results do not restore."""
    described = {**attributes, **sampler_attributes(samplers), "sampler": _class_name(samplers[0])}
    attempts: dict[str, Callable[[], Any]] = {
        "sampler": lambda: restored_samplers(described, None, len(samplers), ""),
        "observables": lambda: restored_observables(attributes, ""),
        "averages": lambda: restored_averages(attributes, model, ""),
    }
    needed = []
    for argument, attempt in attempts.items():
        try:
            attempt()
        except ValueError:
            needed.append(argument)
    return needed


def _class_name(sampler: Sampler) -> str:
    """The class name of a sampler, empty for a user's class."""
    is_ours = type(sampler).__module__.partition(".")[0] == __name__.partition(".")[0]
    return type(sampler).__name__ if is_ours else ""


def quantity_attributes(
    model: Model, observables: Sequence[Observable], averages: Sequence[Average]
) -> dict[str, str]:
    """The attributes of results that describe observables and averages.

    They are the names, and for each average whether it has a covariance.
    """
    averaged = [
        (model.name(q.node) if isinstance(q, Array) else q.name, covariance)
        for q, covariance in averages
    ]
    recorded = [observable.name for observable in observables]
    return {"observables": json.dumps(recorded), "averages": json.dumps(averaged)}


def restored_observables(attributes: Mapping[str, Any], doing: str) -> list[Observable]:
    """The observables of a run.

    Raises
    ------
    ValueError
        If one is not in `kg.observables`.
    """
    return [
        _observable(name, "observables", doing) for name in json.loads(attributes["observables"])
    ]


def restored_averages(attributes: Mapping[str, Any], model: Model, doing: str) -> list[Average]:
    """The averages of a run: of targets and of observables.

    Raises
    ------
    ValueError
        If one is not in `kg.observables`.
    """
    targets = dict(zip(model.target_names, model.targets, strict=True))
    restored = []
    for name, covariance in json.loads(attributes["averages"]):
        quantity: Any = targets.get(name)
        if quantity is None:
            quantity = _observable(name, "averages", doing)
        else:
            quantity = Array(quantity)
        restored.append(Average(quantity, covariance))
    return restored


def _observable(name: str, argument: str, doing: str) -> Observable:
    observable = getattr(_OBSERVABLES, name, None)
    if not isinstance(observable, Observable) or observable.name != name:
        raise ValueError(
            f"{doing}: the {argument} of the run contain {name!r}, which is not in kg.observables; "
            f"give {argument}= as in that run"
        )
    return observable
