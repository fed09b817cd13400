"""The forms of hierarchical unknowns that warm-up has chosen.

A form is a number c for each element, in x = m + s^(1 - c) (y - c m): 1 is the centred form, and 0
is the non-centred form.
"""

import json
from typing import Any

import numpy as np

__all__ = ["FORMS", "chosen_forms", "forms_text"]

FORMS = "hyper_centring"  # in the group sampler_state; the attribute `places` names the unknowns


def chosen_forms(tree: Any) -> dict[str, np.ndarray]:
    """c of each chain and element, by unknown."""
    state = tree["sampler_state"].dataset if "sampler_state" in tree.children else {}
    if FORMS not in state or "places" not in state[FORMS].attrs:
        return {}
    values = state[FORMS].values
    places = json.loads(state[FORMS].attrs["places"])
    return {name: values[:, start:stop] for name, (start, stop) in places.items()}


def forms_text(tree: Any) -> str:
    """The chosen forms, as a line; empty if no form is chosen."""
    return ", ".join(f"{name}: {_range(c)}" for name, c in chosen_forms(tree).items())


def _range(c: np.ndarray) -> str:
    least, largest, mean = float(c.min()), float(c.max()), float(c.mean())
    if least == largest:
        return {0.0: "non-centred", 1.0: "centred"}.get(least, f"c = {least:.2g}")
    return f"c from {least:.2g} to {largest:.2g}, mean {mean:.2g}"
