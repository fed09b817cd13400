"""The sampler that results say they were drawn with."""

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from ..samplers.sampler import Sampler
from .arguments import check_sampler

__all__ = ["sampler_again"]

_SAMPLERS: Any = import_module("..samplers", __package__)


def sampler_again(attributes: Mapping[str, Any], given: Any, doing: str) -> Sampler:
    """The sampler of a run, made anew from its attributes, or the one that is given if it is alike.

    Raises
    ------
    TypeError
        If what is given is no sampler.
    ValueError
        If it is another one, or none is given and it cannot be made anew.
    """
    name = str(attributes["sampler"])
    settings = json.loads(attributes["sampler_settings"])
    tune = json.loads(attributes.get("sampler_tune", "null"))
    if given is not None:
        _check(check_sampler(given, doing), name, settings, tune, doing)
        return given  # type: ignore[no-any-return]
    made = _made(name, settings, tune)
    if made is None:
        raise ValueError(
            f"{doing}: give the sampler of that run by sampler={name}(...); it is none of "
            "kg.samplers with settings that are numbers and texts, and cannot be made anew"
        )
    return made


def _made(name: str, settings: Mapping[str, Any], tune: Any) -> Sampler | None:
    kind = getattr(_SAMPLERS, name) if name in _SAMPLERS.__all__ else None
    if not (isinstance(kind, type) and issubclass(kind, Sampler)):
        return None
    values = {}
    for key, value in settings.items():
        inner = isinstance(value, Mapping)
        values[key] = value
        if inner:
            rest = {k: v for k, v in value.items() if k != "sampler"}
            made = _made(str(value.get("sampler")), rest, None)
            if made is None:
                return None
            values[key] = made
    try:
        found = kind(**values)
        if tune is not None:
            found.tune = tune
    except (TypeError, ValueError):
        return None
    same = json.dumps(found.settings()) == json.dumps(settings)
    return found if same else None


def _check(sampler: Sampler, name: str, settings: Mapping[str, Any], tune: Any, doing: str) -> None:
    if type(sampler).__name__ != name:
        raise ValueError(
            f"{doing}: the results are those of {name}, got sampler={type(sampler).__name__}; a "
            "run goes on with its own sampler"
        )
    own = json.loads(json.dumps(sampler.settings()))
    for key in {**settings, **own}:
        if own.get(key) != settings.get(key):
            raise ValueError(
                f"{doing}: the results were drawn with {key}={settings.get(key)!r}, and the "
                f"sampler that is given has {key}={own.get(key)!r}; a run goes on as it was"
            )
    if tune is not None and list(sampler.tune) != tune:
        raise ValueError(
            f"{doing}: the results were drawn with tune={tune}, got tune={list(sampler.tune)}"
        )
