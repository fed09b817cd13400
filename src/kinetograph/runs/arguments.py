"""The arguments that runs have in common."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..graph.array import Array
from ..graph.node import Node
from ..models.model import Model
from ..samplers.sampler import Sampler
from ..streams.keys import fresh_seed

__all__ = ["check_model", "check_sampler", "check_seed", "check_whole"]


def check_model(model: Any, what: str) -> None:
    """Refuse what is no model."""
    if not isinstance(model, Model):
        hint = "; make one with kg.model(...)" if isinstance(model, (Array, Node)) else ""
        raise TypeError(
            f"{what}: the first argument is a {type(model).__name__}, not a model{hint}"
        )


def check_sampler(sampler: Any, what: str) -> Sampler:
    """Refuse what is no sampler."""
    if isinstance(sampler, type):
        raise TypeError(f"{what}: sampler is a class; write sampler={sampler.__name__}()")
    if not isinstance(sampler, Sampler):
        raise TypeError(f"{what}: {sampler!r} is not a sampler, such as kg.samplers.NUTS()")
    return sampler


def check_whole(what: str, least: Mapping[str, tuple[Any, int]]) -> None:
    """Refuse numbers that are not whole, or below the least that is allowed."""
    for name, (value, minimum) in least.items():
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < minimum:
            raise ValueError(
                f"{what}: {name} must be a whole number of at least {minimum}, got {value!r}"
            )


def check_seed(seed: Any, what: str) -> int:
    """The seed; one from the system's entropy for None."""
    if seed is None:
        return fresh_seed()
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"{what}: seed must be a whole number that is not negative, got {seed!r}")
    return int(seed)
