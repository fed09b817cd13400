"""A warning about data whose values are all censored.

Bounds that equal the data censor every value: then no value has a density, and the posterior only
says that each number lies beyond its bound. Usually the user gave the times of all rows as bounds,
although most of them were observed.

A model may state observed and censored values as two likelihoods of one family with the same
unknowns. Such a model does not give the warning.
"""

from typing import TYPE_CHECKING

import numpy as np

from ..distributions.censoring import Censored
from ..distributions.variable import Distribution
from ..graph.errors import KinetographWarning
from ..graph.node import Data
from ..graph.source import place_text, warn_user
from .discovery import unknowns_above
from .statements import placed

if TYPE_CHECKING:
    from .model import Model

__all__ = ["warn_of_all_censored"]

_INFINITY = {"lower": "-np.inf", "upper": "np.inf"}
_PAIR = {"lower": "({0}, None)", "upper": "(None, {0})"}
_SIDE = {"lower": "left", "upper": "right"}


def warn_of_all_censored(model: "Model") -> None:
    """Warn of data whose values are all censored on one side."""
    component = model.component
    pairs = [*zip(component.likelihoods, component.observed, strict=True)]
    sides = {likelihood: _side(likelihood, data) for likelihood, data in pairs}
    for likelihood, data in pairs:
        side = sides[likelihood]
        if side and not any(_completes(other, likelihood) for other, s in sides.items() if not s):
            text = _text(model.name(data), likelihood, data, side)
            warn_user(f"model: {text}", KinetographWarning)


def _side(likelihood: Distribution, data: Data) -> str:
    """The side on which all values are censored, or an empty string.

    A single value is often one of several likelihoods, and has no side.
    """
    family = likelihood.family
    if not isinstance(family, Censored):
        return ""
    value = data.value
    if not family.sides:
        ends = {"lower": value[..., 0], "upper": value[..., 1]}
        open_ended = {"upper": np.isposinf(ends["upper"]), "lower": np.isneginf(ends["lower"])}
        rows = ends["lower"].size
        return next((s for s, beyond in open_ended.items() if rows > 1 and beyond.all()), "")
    bounds = dict(zip(family.sides, likelihood.parents[-len(family.sides) :], strict=True))
    for side, bound in bounds.items():
        if isinstance(bound, Data) and data.size > 1:
            reached = value <= bound.value if side == "lower" else value >= bound.value
            if np.all(reached):
                return side
    return ""


def _completes(other: Distribution, censored: Distribution) -> bool:
    """Whether a likelihood has the values that are not censored."""
    assert isinstance(censored.family, Censored)
    family = other.family.base if isinstance(other.family, Censored) else other.family
    shared = {*unknowns_above([other])} & {*unknowns_above([censored])}
    return family is censored.family.base and bool(shared)


def _text(name: str, likelihood: Distribution, data: Data, side: str) -> str:
    """The text of the warning."""
    family = likelihood.family
    assert isinstance(family, Censored)
    count = data.size if family.sides else data.size // 2
    problem = (
        f"all {count} values of {name} are {_SIDE[side]}-censored{place_text()}, as "
        f"{placed(likelihood)}"
    )
    more = "at least" if side == "upper" else "at most"
    if not family.sides:
        exact = "[y, y]"
        return (
            f"{problem}: each interval is open, so that no value is known exactly; a value that "
            f"was observed is the interval {exact}. In a formula, cens(c) is 1 for the censored "
            "rows, not for the observed ones"
        )
    bounds = _PAIR[side].format("bounds")
    return (
        f"{problem}: none is {'below' if side == 'upper' else 'above'} its bound, so that the "
        f"model knows of each number only that it is {more} its bound. Give a bound to the "
        f"censored values alone: censoring={bounds}, with bounds = np.where(is_censored, {name}, "
        f"{_INFINITY[side]})"
    )
