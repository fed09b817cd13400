"""The forms of unknowns that warm-up has chosen.

A form of a hierarchy is a number c for each element, in x = m + s^(1 - c) (y - c m): 1 is the
centred form, and 0 is the non-centred form. A vector that is normal given other unknowns is sampled
as written, or in coordinates given data of the precision h of each element. Coefficients and
effects of a predictor are sampled in these forms, or together. An unknown with bounds is sampled by
its free numbers, or with normal tails.
"""

import json
from typing import Any

import numpy as np

__all__ = [
    "FORMS",
    "INFORMATION",
    "JOINT",
    "chosen_forms",
    "chosen_precisions",
    "chosen_tails",
    "forms_text",
]

# In the group sampler_state; the attributes `places` and `tails` name the unknowns.
MOST_TEXTS = 10  # unknowns of a line
FORMS, INFORMATION, JOINT = "hyper_centring", "hyper_information", "hyper_joint"


def chosen_forms(tree: Any) -> dict[str, np.ndarray]:
    """c of each chain and element, by unknown."""
    return _of_unknowns(tree, FORMS)


def chosen_tails(tree: Any) -> dict[str, np.ndarray]:
    """c of each chain and element of unknowns with bounds.

    1 is the free number.
    """
    return _of_unknowns(tree, FORMS, "tails")


def chosen_precisions(tree: Any) -> dict[str, np.ndarray]:
    """h of each chain and element, by unknown.

    It is below 0 for a vector as written.
    """
    return {name: values[:, 0] for name, values in _of_unknowns(tree, INFORMATION).items()}


def _of_unknowns(tree: Any, variable: str, named: str = "places") -> dict[str, np.ndarray]:
    """The values of each unknown, along the last axis of a variable."""
    state = tree["sampler_state"].dataset if "sampler_state" in tree.children else {}
    if variable not in state or named not in state[variable].attrs:
        return {}
    values = state[variable].values
    places = json.loads(state[variable].attrs[named])
    return {name: values[..., start:stop] for name, (start, stop) in places.items()}


def forms_text(tree: Any) -> str:
    """The chosen forms, as a line; empty if no form is chosen."""
    names, used = _together(tree)
    alone = set(names) if used.all() else set()  # their other forms are in use
    texts = [f"{n}: {_range(c)}" for n, c in chosen_forms(tree).items() if n not in alone]
    tails = {n: (c < 1).reshape(len(c), -1).any(1) for n, c in chosen_tails(tree).items()}
    texts += [f"{n}: normal tails{_of_chains(used)}" for n, used in tails.items() if used.any()]
    texts += [f"{n}: {_precision(h)}" for n, h in chosen_precisions(tree).items() if n not in alone]
    if len(texts) > MOST_TEXTS:
        texts = [*texts[:MOST_TEXTS], f"and {len(texts) - MOST_TEXTS} more"]
    if used.any():
        listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        texts.append(f"{listed}: together{_of_chains(used)}")
    return ", ".join(texts)


def _together(tree: Any) -> tuple[list[str], np.ndarray]:
    """The unknowns of a joint block, and whether each chain uses it."""
    state = tree["sampler_state"].dataset if "sampler_state" in tree.children else {}
    if JOINT not in state or "unknowns" not in state[JOINT].attrs:
        return [], np.zeros(1, bool)
    return json.loads(state[JOINT].attrs["unknowns"]), state[JOINT].values[:, 0, 0] >= 0


def _range(c: np.ndarray) -> str:
    least, largest, mean = float(c.min()), float(c.max()), float(c.mean())
    if least == largest:
        return {0.0: "non-centred", 1.0: "centred"}.get(least, f"c = {least:.2g}")
    return f"c from {least:.2g} to {largest:.2g}, mean {mean:.2g}"


def _precision(h: np.ndarray) -> str:
    chains = h[:, 0] >= 0  # all elements of a vector, or none
    if not chains.any():
        return "as written"
    used = h[chains]
    return f"given data of precision {used.min():.2g} to {used.max():.2g}{_of_chains(chains)}"


def _of_chains(used: np.ndarray) -> str:
    """A phrase for the chains, unless it is all of them."""
    return "" if used.all() else f" in {used.sum()} of {len(used)} chains"
