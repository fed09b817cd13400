"""Checks of the arguments that functions of runs have in common."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..bits.keys import fresh_seed
from ..graph.source import place_text
from ..graph.suggestions import closest, did_you_mean
from ..graph.value_texts import in_words, shown
from ..samplers import __all__ as SAMPLERS
from ..samplers.sampler import Sampler

__all__ = [
    "LARGEST",
    "check_flag",
    "check_one_of",
    "check_sampler",
    "check_samplers",
    "check_seed",
    "check_whole",
]

LARGEST = 2**63  # whole numbers of compiled code are below it


def check_sampler(sampler: Any, title: str) -> Sampler:
    """Refuse a value that is not a sampler."""
    if isinstance(sampler, type):
        raise TypeError(
            f"{title}: sampler is a class{place_text()}; write sampler={sampler.__name__}()"
        )
    if not isinstance(sampler, Sampler):
        hint = ""
        if isinstance(sampler, int) and not isinstance(sampler, bool):
            hint = f"; the number of draws is given by draws={sampler}"
        if isinstance(sampler, Mapping) or np.ndim(sampler) or hasattr(sampler, "columns"):
            hint = "; data belong to the model: model.set_data({name: values, ...}) replaces them"
        if any(base.__name__ == "Optimizer" for base in type(sampler).__mro__):
            hint = "; an optimiser is given to kg.opt"
        name = closest(sampler, SAMPLERS) or "NUTS"
        raise TypeError(
            f"{title}: {in_words(sampler)} is not a sampler, such as kg.samplers.{name}()"
            f"{place_text()}{hint}"
        )
    return sampler


def check_samplers(sampler: Any, chains: int, title: str) -> Sequence[Sampler]:
    """The sampler of each chain, from one sampler or a list.

    Raises
    ------
    TypeError
        If one is not a sampler.
    ValueError
        If the list has another length than the number of chains, or the samplers need different
        programs.
    """
    if not isinstance(sampler, (list, tuple)):
        return [check_sampler(sampler, title)] * chains
    samplers = [check_sampler(each, title) for each in sampler]
    if len(samplers) != chains:
        raise ValueError(
            f"{title}: there are {chains} chains and {len(samplers)} samplers; give one for each"
        )
    for i, each in enumerate(samplers):
        if each.structure() != samplers[0].structure():
            raise ValueError(
                f"{title}: the samplers of chains may differ only in the values of "
                "hyper-parameters, because they share one program; "
                f"chain {i} has {each!r}, chain 0 {samplers[0]!r}"
            )
    return samplers


def check_whole(title: str, least: Mapping[str, tuple[Any, int]]) -> None:
    """Refuse numbers that are not whole, or below their minimum."""
    for name, (value, minimum) in least.items():
        right = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not right or not minimum <= value < LARGEST:
            whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
            hint = f"; write {name}={int(value)}" if whole and value >= minimum else ""
            limit = " and below 2**63" if right and value >= minimum else ""
            raise ValueError(
                f"{title}: {name} must be a whole number of at least {minimum}{limit}, got "
                f"{shown(value)}{place_text()}{hint}"
            )


def check_one_of(
    title: str,
    name: str,
    value: Any,
    choices: Sequence[str],
    otherwise: str = " or None",
    words: Mapping[str, str] | None = None,
) -> None:
    """Refuse a value that is not one of the choices.

    `words` are other libraries' words for the choices.

    Raises
    ------
    TypeError
        If it is not a string.
    ValueError
        If it is another string.
    """
    expected = f"{title}: {name} must be {', '.join(map(repr, choices))}{otherwise}"
    if not isinstance(value, str):
        raise TypeError(f"{expected}, got {shown(value)}")
    if value not in choices:
        word = (words or {}).get(value)
        hint = did_you_mean(value, choices) if word is None else f"; write {name}={word}"
        raise ValueError(f"{expected}, got {value!r}{hint}")


def check_flag(title: str, name: str, value: Any) -> bool:
    """The value as a bool; refuse anything but True and False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{title}: {name} must be True or False, got {shown(value)}")
    return bool(value)


_OF_SEEDS = "; keys are made from a number, as in seed=1"


def check_seed(seed: Any, title: str) -> int:
    """The seed; None takes one from the system's entropy."""
    if seed is None:
        return fresh_seed()
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        hint = "" if isinstance(seed, (int, float, str)) else _OF_SEEDS
        raise ValueError(
            f"{title}: seed must be a whole number that is not negative, got {shown(seed)}"
            f"{place_text()}{hint}"
        )
    return int(seed)
