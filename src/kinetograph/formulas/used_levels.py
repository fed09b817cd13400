"""Levels of categorical terms that have rows.

pandas keeps the levels of a categorical when its rows are left out. A level without rows would be
the reference of the other levels if it is the first, and has no effect that data inform.
"""

from typing import Any

import numpy as np
import pandas as pd
from formulaic import ModelSpec
from formulaic.materializers import PandasMaterializer
from formulaic.materializers.types import FactorValues
from formulaic.transforms.contrasts import CustomContrasts

__all__ = ["matrix_of_used_levels"]


def matrix_of_used_levels(formula: Any, frame: pd.DataFrame, **options: Any) -> Any:
    """The model matrix of a formula, without levels that have no rows.

    Levels that a user lists, by `levels=` or by the rows of a matrix of contrasts, stay.
    """
    context = options.pop("context", None)
    materializer = PandasMaterializer(frame, context=context)
    matrix = materializer.get_model_matrix(formula, **options)
    state = _state_of_used(materializer, matrix.model_spec)
    if not state:
        return matrix
    options["encoder_state"] = state
    return PandasMaterializer(frame, context=context).get_model_matrix(formula, **options)


def _state_of_used(materializer: PandasMaterializer, spec: ModelSpec) -> dict[str, Any]:
    """The encoder states of factors that have levels without rows."""
    states: dict[str, Any] = {}
    for text, (kind, state) in spec.encoder_state.items():
        contrasts = getattr(state.get("contrasts"), "contrasts", None)
        if text not in materializer.factor_cache or isinstance(contrasts, CustomContrasts):
            continue
        values: Any = materializer.factor_cache[text].values
        values = values.__wrapped__ if isinstance(values, FactorValues) else values
        values = getattr(values, "__wrapped__", values)
        dtype = getattr(values, "dtype", None)
        if not isinstance(dtype, pd.CategoricalDtype) or "categories" not in state:
            continue
        codes = np.unique(np.asarray(pd.Series(values).cat.codes))
        used = [dtype.categories[code] for code in codes if code >= 0]
        if len(used) < len(dtype.categories):
            states[text] = (kind, {"categories": used})
    return states
