"""The log density that results record, compared with that of a model.

Results of another model with unknowns of the same names and priors are recognised by it. The same
model has the same density if it is written in another way.
"""

import json
from typing import Any

import numpy as np

from ..graph.errors import KinetographError, KinetographWarning
from ..graph.source import place_text, warn_user
from ..models.model import Model
from ..models.result_groups import data_groups
from .check import statistics_of, unknowns_of

__all__ = ["other_density", "warn_of_other_density"]

TOLERANCE = 1e-3  # relative; rounding of draws near the ends of a range costs digits


def other_density(model: Model, results: Any) -> str:
    """The difference from the recorded log density, or an empty text.

    The density differs if it does so for the first, the middle and the last draw. Nothing is
    compared where the density is that of a part of the data, of other data, or of rounded draws.
    """
    attributes = results.attrs
    if "sampler_settings" not in attributes or model.batch is not None:
        return ""
    if int(attributes.get("walkers", 1)) > 1 or _is_tempered(attributes):
        return ""
    statistics = statistics_of(results)
    draws = {**unknowns_of(results)} | {**results["posterior"].dataset}
    names = [model.name(v) for v in model.component.unknowns]
    if "lp" not in statistics or not names or not set(names) <= draws.keys():
        return ""
    density = statistics["lp"]
    if density.dims != ("chain", "draw") or not density.size or density.dtype != np.float64:
        return ""
    if any(not draws[name][dim].equals(density[dim]) for name in names for dim in density.dims):
        return ""
    if any(draws[name].dtype != np.float64 for name in names) or not _same_data(model, results):
        return ""
    text = ""
    for k in (0, density.sizes["draw"] // 2, -1):
        there = float(density[0, k])
        try:
            here = float(model.log_prob({name: draws[name][0, k].values for name in names}))
        except (KinetographError, ValueError, TypeError):
            return ""
        if not np.isfinite(there) or abs(here - there) <= TOLERANCE * max(1.0, abs(there)):
            return ""
        text = f"the log density of a draw is {there:.6g} there, and {here:.6g} in this model"
    return text


def warn_of_other_density(doing: str, model: Model, results: Any) -> None:
    """Warn if results are of a model with another log density."""
    text = other_density(model, results)
    if text:
        warn_user(
            f"{doing}: the results are of another model{place_text()}: {text}; give results of "
            "this model, or the model of the results. Other values of covariates are given by "
            "kg.data and model.set_data",
            KinetographWarning,
        )


def _is_tempered(attributes: Any) -> bool:
    settings = json.loads(attributes["sampler_settings"])
    return isinstance(settings, dict) and settings.get("inverse_temperature", 1.0) != 1.0


def _same_data(model: Model, results: Any) -> bool:
    """Whether a model and results have the same named data."""
    for group, data in data_groups(model).items():
        there = results[group].dataset.data_vars if group in results.children else {}
        if data.data_vars.keys() != there.keys():
            return False
        for name, values in data.data_vars.items():
            recorded = np.asarray(there[name].values)
            equal_nan = recorded.dtype.kind == "f" and values.dtype.kind == "f"
            if not np.array_equal(recorded, values.values, equal_nan=equal_nan):
                return False
    return True
