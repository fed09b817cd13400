"""Advice on the form of hierarchical unknowns.

It is given for runs whose chains have not mixed, or that have divergences. It is about unknowns
whose form warm-up has not chosen.

The hierarchies of the model are an attribute of results, so that `kg.diagnose` knows them, too.
"""

import json
import weakref
from collections.abc import Collection
from contextlib import suppress
from dataclasses import asdict
from typing import Any

import numpy as np

from ..models.hierarchies import SERIES, Hierarchy, hierarchies
from ..models.model import Model
from .chosen_forms import chosen_forms

__all__ = ["HIERARCHIES", "other_form", "recorded_hierarchies", "remedy"]

HIERARCHIES = "hierarchies"  # the name of the attribute
SHORTENED = "..."  # in the text of a long expression, which cannot be written as it is
CHOOSE = "the warm-up of kg.samplers.NUTS(parametrisation='auto') chooses a form"
ENOUGH = 10  # divergences from which the values of scales there are evidence
SMALL, LARGE = 0.35, 0.65  # mean ranks of a scale at divergences; 0.5 if it has no influence
_TEXTS: "weakref.WeakKeyDictionary[Model, tuple[int, str]]" = weakref.WeakKeyDictionary()


def recorded_hierarchies(model: Model) -> dict[str, str]:
    """The attribute with the hierarchies of a model."""
    version, text = _TEXTS.get(model, (None, ""))
    if version != model.version:
        with suppress(Exception):  # a failure here must not lose the draws of the run
            text = json.dumps([asdict(each) for each in hierarchies(model)])
        _TEXTS[model] = model.version, text
    return {HIERARCHIES: text} if text else {}


def remedy(tree: Any, diverging: np.ndarray | None = None) -> str:
    """The advice on the model's form, as the start of a sentence.

    `diverging` are flags of draws, (chain, draw).
    """
    recorded = tree.attrs.get(HIERARCHIES)
    if recorded is None:
        return (
            "Reparametrise (a hierarchy often wants theta = mu + tau * z), use tighter priors, or"
        )
    each = _unchosen(tree, json.loads(recorded))
    if not each:
        return "Use tighter priors, or"
    ranks = [_rank(tree, hierarchy, diverging) for hierarchy in each]
    # The scale with the clearest evidence; otherwise a centred unknown before a non-centred one.
    order = sorted(range(len(each)), key=lambda i: (-_evidence(ranks[i]), not each[i].centred))
    chosen, rank = each[order[0]], ranks[order[0]]
    more = _more([each[i] for i in order[1:]], chosen.centred)
    if chosen.centred:
        place = f", which is small in most of these draws{more}" if rank < SMALL else more
        return (
            f"{_called(chosen)} is centred, {chosen.written}, with the unknown scale "
            f"{chosen.scale}{place}: write {chosen.instead}, use tighter priors, or"
        )
    place = f", and {chosen.scale} is large in most of these draws" if rank > LARGE else ""
    form = f"{_centred_form(chosen)} if the data say much about each element"
    if chosen.instead == SERIES:
        form = SERIES
    written = "" if SHORTENED in chosen.written else f", {chosen.written}"
    return (
        f"{_called(chosen)} is non-centred already{written}{more}{place}: use a tighter "
        f"prior of {' and '.join(chosen.scales)}, {form}, or"
    )


def other_form(tree: Any, unmixed: Collection[str]) -> str:
    """The advice to write an unknown in the other form.

    It is given for the first hierarchy with an unknown or a scale among the targets in `unmixed`.
    The text is empty if no hierarchy has one, or if warm-up has chosen its form.
    """
    each = _unchosen(tree, json.loads(tree.attrs.get(HIERARCHIES, "[]")))
    chooses = json.loads(tree.attrs.get("sampler_settings", "{}")).get("parametrisation") == "auto"
    for hierarchy in sorted(each, key=lambda each: not each.centred):
        names = {hierarchy.unknown.partition(" ")[0], *hierarchy.alike, *hierarchy.scales}
        if not names.isdisjoint(unmixed):
            if hierarchy.centred:
                advice = (
                    f"{_called(hierarchy)} is centred, {hierarchy.written}, with the unknown scale "
                    f"{hierarchy.scale}: write {hierarchy.instead}"
                )
            elif hierarchy.instead == SERIES:
                advice = f"{_called(hierarchy)} has the steps of a series: write {SERIES}"
            else:
                form = _centred_form(hierarchy)
                written = f", {hierarchy.written}:" if form != "the centred form" else ";"
                advice = (
                    f"{_called(hierarchy)} is non-centred{written} {form} mixes better if the data "
                    "say much about each element"
                )
            return f"{advice}. " if chooses else f"{advice}; {CHOOSE}. "
    return ""


def _centred_form(hierarchy: Hierarchy) -> str:
    """The centred form, written if its text is not too long."""
    short = "" if SHORTENED in hierarchy.instead else f" {hierarchy.instead}"
    return f"the centred form{short}"


def _called(hierarchy: Hierarchy) -> str:
    """The name of an unknown, and the number of alike ones."""
    count = len(hierarchy.alike)
    return f"{hierarchy.unknown}{f' (and {count} more like it)' if count else ''}"


def _unchosen(tree: Any, recorded: list[Any]) -> list[Hierarchy]:
    """The hierarchies whose form warm-up has not chosen."""
    each = (Hierarchy(**fields) for fields in recorded)
    chosen = chosen_forms(tree)
    return [one for one in each if one.unknown.partition(" ")[0] not in chosen]


def _rank(tree: Any, hierarchy: Hierarchy, diverging: np.ndarray | None) -> float:
    """The mean rank of a scale at divergences; 0.5 if unknown."""
    if diverging is None or diverging.sum() < ENOUGH:
        return 0.5
    posterior, ranks = tree["posterior"].dataset, []
    for name in hierarchy.scales:
        if name not in posterior or posterior[name].values.shape[:2] != diverging.shape:
            continue
        values = posterior[name].values
        rows = values.reshape((diverging.size, -1))
        order = rows.argsort(0).argsort(0) / max(len(rows) - 1, 1)
        ranks.append(float(order[diverging.ravel()].mean()))
    return ranks[0] if ranks else 0.5


def _evidence(rank: float) -> float:
    distance = abs(rank - 0.5)
    return distance if not SMALL <= rank <= LARGE else 0.0


def _more(hierarchies: list[Hierarchy], centred: bool) -> str:
    """The names of further unknowns of the same form."""
    names = [n for o in hierarchies if o.centred == centred for n in (o.unknown, *o.alike)]
    if not names:
        return ""
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f" (and so {'is' if len(names) == 1 else 'are'} {shown})"
