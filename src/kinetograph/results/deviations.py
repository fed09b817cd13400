"""Standard deviations of columns that may be constant.

The deviation of n equal numbers m is not 0 in floating point if their mean is not m to the last
bit: it is up to n eps |m|. A division by it would give any number.

Source of the bound: scikit-learn, StandardScaler.
"""

from typing import Any

import numpy as np

__all__ = ["deviations"]


def deviations(values: np.ndarray) -> Any:
    """Standard deviations of columns, 0 where they are constant up to rounding."""
    values = np.asarray(values, float)
    sd = values.std(0)
    rounding = len(values) * np.finfo(float).eps * np.abs(values.mean(0))
    return np.where(sd > rounding, sd, 0.0)
