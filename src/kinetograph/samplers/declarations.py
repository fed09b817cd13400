"""Checks of a sampler's class when it is defined."""

import inspect
from collections.abc import Iterable
from typing import Any

from ..graph.source import place_text
from .hyper import Hyper, declared
from .scale import Scale

__all__ = ["TUNABLE", "check_class", "check_names", "signature_of", "takes_settings"]

TUNABLE = ("step_size", "scale")  # the hyper-parameters that warm-up can tune
SHARED = "scale"  # the hyper-parameter that all samplers have


def check_class(cls: type, base: type) -> None:
    """Refuse names that are reserved, and tuning of missing hyper-parameters.

    Raises
    ------
    TypeError, ValueError
        The message names the class and the attribute.
    """
    attributes = vars(cls)
    reserved = {*dir(base), "_values", "_tune"} - {SHARED, "walkers"}
    inherited = {n for kind in cls.__mro__[1:] for n, v in vars(kind).items() if _is_hyper(v)}
    for name, value in attributes.items():
        if name == SHARED and not isinstance(value, Scale) and cls is not base:
            raise TypeError(
                f"{cls.__name__}: scale is the scale of the coordinates of every sampler"
                f"{place_text()}: a step is made in the coordinates q / scale; choose another name "
                "for a size of steps, such as step_size = kg.hyper(0.3, positive=True)"
            )
        if _is_hyper(value) and name in reserved:
            raise TypeError(
                f"{cls.__name__}: {name!r} cannot be a hyper-parameter, because kg.Sampler has an "
                f"attribute {name}{place_text()}; choose another name"
            )
        if name in inherited and not _is_hyper(value):
            raise TypeError(
                f"{cls.__name__}: {name} = {value!r} hides the hyper-parameter {name}"
                f"{place_text()}; write {name} = kg.hyper({value!r}) for another default"
            )
    if "tunes" in attributes:
        cls.tunes = check_names(attributes["tunes"], TUNABLE, f"{cls.__name__}: tunes")  # type: ignore[attr-defined]
    if cls.step is not base.step:  # type: ignore[attr-defined]
        _check_tuned(cls)
    _check_walkers(cls)


def _is_hyper(value: Any) -> bool:
    return isinstance(value, Hyper)


def _check_tuned(cls: Any) -> None:
    """Refuse to tune a step size that is missing or static."""
    names = declared(cls)
    required = ("step_size", "target_acceptance") if "step_size" in cls.tunes else ()
    for name in required:
        if name not in names:
            raise TypeError(
                f"{cls.__name__}: tunes names 'step_size', which is tuned towards a "
                f"target_acceptance, but the class declares no {name}; write, for example, "
                f"{name} = kg.hyper({'0.8, above=0, below=1' if 'target' in name else '0.1'})"
            )
        if names[name].static:
            raise TypeError(
                f"{cls.__name__}: {name} is static and cannot be used in tuning; leave out "
                "static=True"
            )


def _check_walkers(cls: Any) -> None:
    """Refuse `walkers` that are not static, and ensembles that tune their scales."""
    walkers = inspect.getattr_static(cls, "walkers")
    if walkers is None:
        return
    if not (_is_hyper(walkers) and walkers.static and walkers.whole):
        raise TypeError(
            f"{cls.__name__}: the number of walkers shapes the program; declare it as "
            "walkers = kg.hyper(40, lower=2, static=True)"
        )
    if SHARED in cls.tunes:
        raise TypeError(
            f"{cls.__name__}: the scales of an ensemble's coordinates cannot be tuned; leave "
            f"{SHARED!r} out of tunes"
        )


def check_names(given: Any, names: Iterable[str], title: str) -> tuple[str, ...]:
    """Check that `given` is a tuple or list of some of `names`.

    Raises
    ------
    TypeError, ValueError
        If it is not a tuple or list, or a name is not in `names`.
    """
    if not isinstance(given, (tuple, list)):
        hint = f", as in ({given!r},)" if isinstance(given, str) else ""
        raise TypeError(f"{title} must be a tuple of names{hint}, got {given!r}")
    for name in given:
        if name not in names:
            raise ValueError(f"{title} may name {', '.join(names) or 'nothing'}, got {name!r}")
    return tuple(dict.fromkeys(given))


def takes_settings(cls: type) -> bool:
    """Whether the class's `__init__`, if it has one, takes `*values, **settings`."""
    init = vars(cls).get("__init__")
    if init is None:
        return True
    _, *parameters = inspect.signature(init).parameters.values()
    open_ended = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    return tuple(p.kind for p in parameters) == open_ended


def signature_of(cls: type) -> inspect.Signature:
    """The signature of a sampler: its settings, then the shared ones."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    settings = [
        inspect.Parameter(
            name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            # The default of an integrator is shown by its name.
            default=getattr(hyper.default, "name", hyper.default),
        )
        for name, hyper in declared(cls).items()
        if name != SHARED
    ]
    shared = [inspect.Parameter(name, keyword, default=None) for name in (SHARED, "tune")]
    return inspect.Signature([*settings, *shared])
