"""Missing values in the constants of a model.

Data of `kg.data` and `kg.observe` are checked where they are stated. A constant, such as a column
in `slope * frame["x"]`, may have missing values if no term depends on them, as after `kg.where`. So
the terms of a model that has such constants are evaluated once, without compiling.
"""

from typing import TYPE_CHECKING

import numpy as np

from ..graph.errors import DataError
from ..graph.messages import describe, index_text, site_text
from ..graph.missing import ADVICE, first_place
from ..graph.missing_places import IN_STEPS, missing_in_variables
from ..graph.node import Data, with_values
from ..graph.source import place_text
from .debug import report

if TYPE_CHECKING:
    from .model import Model

__all__ = ["check_constants"]


def check_constants(model: "Model") -> None:
    """Raise DataError if missing values of a constant make a term NaN."""
    constants = [n for n in model.component.nodes if isinstance(n, Data) and n.literal]
    suspects = [n for n in constants if n.dtype.kind == "f" and np.isnan(n.value).any()]
    if not suspects:
        return
    debugged = report(model, np.zeros(model.free_size), slopes=False)
    origin = debugged.origin
    if origin is None and debugged.bad_terms:  # as of rows of a scan
        with with_values({n: np.nan_to_num(n.value) for n in suspects}):
            filled = report(model, np.zeros(model.free_size), slopes=False)
        origin = suspects[0] if len(filled.bad_terms) < len(debugged.bad_terms) else None
    if not isinstance(origin, Data) or not np.isnan(origin.value).any():
        return
    missing, term = np.isnan(origin.value), debugged.bad_terms[0]
    count = int(missing.sum()) - 1
    more = f" and {count} more missing value{'s' * (count > 1)}" if count else ""
    way_out = "for a lag, write y[1:] and y[:-1]"
    if not origin.shape:  # as from a loop
        where, way_out = missing_in_variables(), f"or, {IN_STEPS}"
        more = f" ({where})" if where else ""
    raise DataError(
        f"model: {describe(origin)}{site_text(origin)}: nan{index_text(first_place(missing))}{more}"
        f", so that the log density of {term.name} ~ {term.expression} is nan for all values of "
        f"the unknowns{place_text()}; {ADVICE}; {way_out}"
    )
