"""New rows of a model: types of columns, arrays and predictions."""

import hashlib
from typing import Any

import numpy as np
import pandas as pd

from ..distributions.variable import Variable
from ..graph.array import Array
from ..graph.errors import KinetographWarning
from ..graph.node import Data, ancestors
from ..graph.source import place_text, warn_user
from ..models.discovery import above
from .frames import variables_in, with_variables

__all__ = ["ROWS", "of_same_rows", "rows_key", "typed_as", "without_names"]

ROWS = "new_rows"  # the attribute of predictions that identifies their rows


def typed_as(frame: pd.DataFrame, model_frame: pd.DataFrame) -> pd.DataFrame:
    """New rows with the types of the model's columns.

    True and False in a column of objects are booleans. Texts and categories are converted to each
    other, as methods of pandas in a formula differ between them. Categories have the codes of the
    model's.
    """
    changed: dict[str, Any] = {}
    for name in frame.columns.intersection(model_frame.columns):
        column, like = frame[name], model_frame[name]
        if isinstance(column, pd.DataFrame) or isinstance(like, pd.DataFrame):
            continue
        categories = isinstance(column.dtype, pd.CategoricalDtype)
        if like.dtype == bool and column.dtype == object:
            if pd.api.types.infer_dtype(column, skipna=False) == "boolean":
                changed[name] = column.astype(bool)
        elif categories and not isinstance(like.dtype, pd.CategoricalDtype):
            changed[name] = column.astype(object).infer_objects()
        elif isinstance(like.dtype, pd.CategoricalDtype):
            has_categories = column.isin(like.cat.categories).all()
            changed |= {name: column.astype(like.dtype)} if has_categories else {}
    return with_variables(frame.assign(**changed) if changed else frame, variables_in(model_frame))


def without_names(array: Array, first: int) -> Array:
    """The array; arrays made for it lose their names.

    Their serials are above `first`. Several arrays of rows can then be used in one expression.
    """
    for node in ancestors([array.node], above=lambda node: tuple(above(node))):
        if node.serial > first and isinstance(node, (Data, Variable)):
            node.name = None
    return array


def rows_key(frame: pd.DataFrame, model_frame: pd.DataFrame) -> str:
    """A text that identifies the values in the model's columns."""
    digest = hashlib.blake2s(digest_size=8)
    for name in sorted(map(str, frame.columns.intersection(model_frame.columns))):
        column = frame[name].astype(object).map(str).to_numpy(object)
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(pd.util.hash_array(column)).tobytes())
    return digest.hexdigest()


def of_same_rows(results: Any, rows: str) -> Any:
    """Results without predictions of other new rows.

    Warns
    -----
    KinetographWarning
        If predictions are left out.
    """
    if not rows or "predictions" not in getattr(results, "children", ()):
        return results
    earlier = results["predictions"].to_dataset()
    left_out = [str(name) for name in earlier.data_vars if "new_obs" in earlier[name].dims]
    if not left_out or earlier.attrs.get(ROWS, rows) == rows:
        return results
    warn_user(
        f"predict: {', '.join(left_out)} of an earlier call is left out of the group predictions, "
        f"because the new rows have other values now{place_text()}; keep the earlier results as "
        "well",
        KinetographWarning,
    )
    reduced = results.copy()
    reduced["predictions"].dataset = earlier.drop_vars(left_out)
    return reduced
