"""What the class of a sampler declares, looked at when the class is made."""

import inspect
from collections.abc import Iterable
from typing import Any

from .hyper import Hyper, declared

__all__ = ["TUNABLE", "check_class", "check_names", "signature_of", "takes_settings"]

TUNABLE = ("step_size", "scale")  # what warm-up knows how to tune
SHARED = "scale"  # the hyper-parameter of all samplers


def check_class(cls: type, base: type) -> None:
    """Refuse what cannot be meant: names that are taken, and tuning of what is not there.

    Raises
    ------
    TypeError, ValueError
        They name the class and what is wrong.
    """
    own = vars(cls)
    taken = {*dir(base), "_values", "_tune"} - {SHARED, "walkers"}
    inherited = {n for kind in cls.__mro__[1:] for n, v in vars(kind).items() if _is_hyper(v)}
    for name, value in own.items():
        if _is_hyper(value) and name in taken:
            raise TypeError(
                f"{cls.__name__}: {name!r} cannot be a hyper-parameter, as each kg.Sampler has a "
                f"{name} of its own; choose another name"
            )
        if name in inherited and not _is_hyper(value):
            raise TypeError(
                f"{cls.__name__}: {name} = {value!r} hides the hyper-parameter of this name; "
                f"write {name} = kg.hyper({value!r}) for another default"
            )
    if "tunes" in own:
        cls.tunes = check_names(own["tunes"], TUNABLE, f"{cls.__name__}: tunes")  # type: ignore[attr-defined]
    if cls.step is not base.step:  # type: ignore[attr-defined]
        _check_tuned(cls)
    _check_walkers(cls)


def _is_hyper(value: Any) -> bool:
    return isinstance(value, Hyper)


def _check_tuned(cls: Any) -> None:
    names = declared(cls)
    wanted = ("step_size", "target_acceptance") if "step_size" in cls.tunes else ()
    for name in wanted:
        if name not in names:
            raise TypeError(
                f"{cls.__name__}: tunes names 'step_size', which is tuned towards a "
                f"target_acceptance, but the class declares no {name}; write, say, "
                f"{name} = kg.hyper({'0.8, above=0, below=1' if 'target' in name else '0.1'})"
            )
        if names[name].static:
            raise TypeError(
                f"{cls.__name__}: {name} is static and cannot take part in tuning; leave out "
                "static=True"
            )


def _check_walkers(cls: Any) -> None:
    """Refuse walkers that are no part of the program, and what an ensemble cannot have tuned."""
    held = inspect.getattr_static(cls, "walkers")
    if held is None:
        return
    if not (_is_hyper(held) and held.static and held.whole):
        raise TypeError(
            f"{cls.__name__}: the number of walkers shapes the program; declare it as "
            "walkers = kg.hyper(40, lower=2, static=True)"
        )
    if SHARED in cls.tunes:
        raise TypeError(
            f"{cls.__name__}: the scales of an ensemble's coordinates cannot be tuned; leave "
            f"{SHARED!r} out of tunes"
        )


def check_names(given: Any, known: Iterable[str], what: str) -> tuple[str, ...]:
    """Names in a tuple or list, each of them known.

    Raises
    ------
    TypeError, ValueError
        If they are no names, or one is not known.
    """
    if not isinstance(given, (tuple, list)):
        hint = f", as in ({given!r},)" if isinstance(given, str) else ""
        raise TypeError(f"{what} must be a tuple of names{hint}, got {given!r}")
    for name in given:
        if name not in known:
            raise ValueError(f"{what} may name {', '.join(known) or 'nothing'}, got {name!r}")
    return tuple(dict.fromkeys(given))


def takes_settings(cls: type) -> bool:
    """Whether a class of its own `__init__`, if it has one, hands on all that it is given."""
    init = vars(cls).get("__init__")
    if init is None:
        return True
    _, *rest = inspect.signature(init).parameters.values()
    open_ended = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    return tuple(p.kind for p in rest) == open_ended


def signature_of(cls: type) -> inspect.Signature:
    """How a sampler is made: its own settings in order, then those of all by keyword."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    own = [
        inspect.Parameter(
            name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            # An integrator is given by its name, too.
            default=getattr(hyper.default, "name", hyper.default),
        )
        for name, hyper in declared(cls).items()
        if name != SHARED
    ]
    shared = [inspect.Parameter(name, keyword, default=None) for name in (SHARED, "tune")]
    return inspect.Signature([*own, *shared])
