"""Standard deviations of columns that may be constant."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from kinetograph.results.deviations import deviations
from kinetograph.tempering.moves import scale_of


@pytest.mark.parametrize("kind", ["float64", "float32"])
@pytest.mark.parametrize("value", [7.0, 0.1, 0.3, 1e8 + 0.1, -1e-30, 0.0])
def test_constant_columns(value, kind):
    column = np.full((60, 1), value).astype(kind).astype(float)
    assert deviations(column).tolist() == [0.0]
    assert StandardScaler().fit(column).var_[0] <= (60 * np.finfo(float).eps * value) ** 2
    assert StandardScaler().fit(column).scale_.tolist() == scale_of(column).tolist() == [1.0]
    assert deviations(column[:, 0]) == 0
    assert deviations(np.full((60, 1), value).astype(kind)).tolist() == [0.0]


@pytest.mark.parametrize("values", [[1e-12, 3e-12], [1e8, 1e8 + 1e-4] * 30, [1.0, 1 + 1e-13]])
def test_columns_that_vary(values):
    column = np.array(values)[:, None]
    assert deviations(column) == column.std() > 0
