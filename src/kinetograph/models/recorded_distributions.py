"""The distributions of a model, as an attribute of results.

With it, calls that take a model and results recognise results of another model. A distribution is
recorded as its family and the parameters that are numbers in the user's program. Results of the
same model agree with it for all data, and for expressions written in another way.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

from ..distributions.variable import Distribution, Variable
from ..graph.errors import KinetographWarning
from ..graph.node import Data, Node
from ..graph.source import place_text, warn_user
from .model import Model

__all__ = [
    "DISTRIBUTIONS",
    "recorded_distributions",
    "warn_of_other_distributions",
    "warn_of_other_unknowns",
]

DISTRIBUTIONS = "distributions"  # the name of the attribute
MOST_BYTES = 20_000  # netCDF has room for 64 KiB in an attribute

Recorded = tuple[str, dict[str, float]]


def recorded_distributions(model: Model) -> dict[str, str]:
    """The attribute with the distributions; empty if they are too many."""
    text = json.dumps(_distributions(model))
    return {DISTRIBUTIONS: text} if len(text) <= MOST_BYTES else {}


def warn_of_other_distributions(doing: str, model: Model, results: Any) -> bool:
    """Warn of results of other distributions; returns whether it did."""
    texts = _changes(_distributions(model), results) + _missing(model, results)
    if texts:
        more = f" (and {len(texts) - 1} more differ)" if len(texts) > 1 else ""
        warn_user(
            f"{doing}: the results are of another model{place_text()}: {texts[0]} in this model"
            f"{more}; give results of this model, or the model of the results",
            KinetographWarning,
        )
    return bool(texts)


def warn_of_other_unknowns(doing: str, names: Mapping[Node, str], results: Any) -> None:
    """Warn of unknowns that have the name of other unknowns of results.

    An unknown of a model that has this name there has the draws of this model.
    """
    here = {
        name: _recorded(node.distribution)
        for node, name in names.items()
        if isinstance(node, Variable) and node.distribution and name not in node.called
    }
    if texts := _changes(here, results):
        warn_user(
            f"{doing}: the draws are taken by name, and are of another unknown{place_text()}: "
            f"{texts[0]} in the targets; give results of a model with the unknowns of the targets, "
            "or another name=",
            KinetographWarning,
        )


def _changes(here: dict[str, Recorded], results: Any) -> list[str]:
    """Texts on distributions that differ from distributions of the results."""
    there = _of_results(results)
    return [text for name in here if name in there and (text := _change(here, there, name))]


def _missing(model: Model, results: Any) -> list[str]:
    """Texts on variables of the results that the model lacks."""
    model_names = {*map(model.name, (*model.component.unknowns, *model.component.discrete))}
    model_names |= {*map(model.name, (*model.data, *model.targets, *model.fixed))}
    return [
        f"{name} ~ {family} there, and no {name}"
        for name, (family, _) in _of_results(results).items()
        if name not in model_names
    ]


def _of_results(results: Any) -> dict[str, Recorded]:
    """The distributions that results record."""
    try:
        return dict(json.loads(results.attrs.get(DISTRIBUTIONS, "{}")))
    except (TypeError, ValueError):
        return {}


def _distributions(model: Model) -> dict[str, Recorded]:
    """The distributions of unknowns and observed data, by name."""
    component = model.component
    pairs: list[tuple[Node, Distribution | None]] = [
        (v, v.distribution) for v in (*component.unknowns, *component.discrete)
    ]
    pairs += zip(component.observed, component.likelihoods, strict=True)
    return {model.name(node): _recorded(d) for node, d in pairs if d is not None}


def _recorded(distribution: Distribution) -> Recorded:
    family, numbers = distribution.family, {}
    for parameter, node in zip(family.parameters, distribution.parents, strict=True):
        if isinstance(node, Data) and node.literal and node.size == 1:
            number = float(node.value.item())
            if math.isfinite(number):
                numbers[parameter.name] = number
    return family.name, numbers


def _change(here: dict[str, Recorded], there: dict[str, Recorded], name: str) -> str:
    """A text on another family, or on another number; else empty."""
    (family, numbers), (other, there_numbers) = here[name], there[name]
    if family != other:
        return f"{name} ~ {other} there, and {name} ~ {family}"
    for parameter, number in numbers.items():
        before = there_numbers.get(parameter, number)
        if not math.isclose(number, before, rel_tol=1e-5):
            of = f"the {parameter} of {name} ~ {family}"
            return f"{of} is {before:g} there, and {number:g}"
    return ""
