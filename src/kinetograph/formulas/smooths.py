"""Terms that are not linear: monotonic effects, Gaussian processes.

    mo(x):  b D sum_{j <= x} simo_j,  simo ~ dirichlet(1),  D + 1 levels of x
    gp(x):  f(x),  f a Gaussian process, approximated by a sum of functions (`kg.gp.Hilbert`)

Sources: P.-C. Bürkner, E. Charpentier, Modelling monotonic effects of ordinal predictors in
Bayesian regression models, British Journal of Mathematical and Statistical Psychology 73 (2020);
G. Riutort-Mayol et al., Statistics and Computing 33 (2023).
"""

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..distributions import normal
from ..gp import Hilbert, matern32, matern52, rbf
from ..graph.array import Array
from ..graph.dims import dim
from ..graph.errors import DataError
from ..graph.functions.arranging import concatenate
from ..graph.functions.reductions import cumsum
from ..graph.inputs import data
from ..graph.source import place_text
from ..graph.suggestions import meant
from .columns import check_present, is_text, row_text
from .design import evaluated
from .texts import FormulaCall
from .unknowns import FormulaUnknowns

__all__ = ["Monotonic", "Offset", "Smooth"]

_KERNELS = {"exp_quad": rbf, "matern32": matern32, "matern52": matern52}
_SETTINGS: dict[str, Any] = {"k": 20, "c": 1.5, "cov": "exp_quad", "scale": True}


class Offset:
    """A known term of a linear predictor, `offset(log(exposure))`.

    `number` ends the name of its data, if it is not the first offset.
    """

    number = ""

    def __init__(
        self, parameter: str, call: FormulaCall, frame: pd.DataFrame, scope: Any, main: bool
    ):
        if len(call.positional) != 1 or call.named:
            raise ValueError(f"formula: {call.text} must have one argument{place_text()}")
        self.parameter, self.call, self._scope = parameter, call, scope

    def declare(self, unknowns: FormulaUnknowns, frame: pd.DataFrame) -> None:
        """Make nothing: an offset has no unknowns."""

    def value(self, frame: pd.DataFrame, arrays: Mapping[str, Array], prefix: str) -> Array:
        """The offset of the rows of a frame."""
        after = f"_{self.parameter}" if self.parameter else ""
        values = evaluated(self.call.positional[0], frame, self._scope, self.call.text)
        return data(values, f"{prefix}offset{self.number}{after}", (f"{prefix}obs",))


class Monotonic:
    """A monotonic effect of an ordered column."""

    def __init__(
        self, parameter: str, call: FormulaCall, frame: pd.DataFrame, scope: Any, main: bool
    ):
        self.parameter, self.call, self.main = parameter, call, main
        if len(call.positional) != 1 or call.named:
            raise ValueError(f"formula: {call.text} must have one argument, a column{place_text()}")
        self.column = call.positional[0]
        check_present(frame, [self.column], call.text)
        column = frame[self.column]
        if isinstance(column.dtype, pd.CategoricalDtype) and column.cat.ordered:
            self.levels = list(column.cat.categories)
        elif is_text(column) or np.any(np.asarray(column) != np.floor(np.asarray(column))):
            raise DataError(
                f"formula: {call.text} needs whole numbers or ordered categories, but "
                f"{row_text(frame, 0)} of {self.column!r} has {column.iloc[0]!r}{place_text()}; "
                f"write pandas.Categorical(data[{self.column!r}], categories=[...], ordered=True)"
            )
        else:
            self.levels = list(range(int(column.min()), int(column.max()) + 1))
        if len(self.levels) < 2:
            raise DataError(f"formula: {call.text} has one level, {self.levels[0]!r}{place_text()}")
        part = f"{parameter}_" if parameter else ""
        self.name, self.steps = f"b_{part}mo({self.column})", f"simo_{part}mo({self.column})"

    def declare(self, unknowns: FormulaUnknowns, frame: pd.DataFrame) -> None:
        """Make the mean effect and the shares of steps."""
        after = f"_{self.parameter}" if self.parameter else ""
        codes = self._codes(frame)[:, None].astype(float)
        unknowns.make("b", self.name, (f"b{after}",), main=self.main, columns=codes)
        steps = dim(f"{self.steps}_level", [str(level) for level in self.levels[1:]])
        unknowns.make("simo", self.steps, shape=(len(self.levels) - 1,), dims=(steps,))

    def value(self, frame: pd.DataFrame, arrays: Mapping[str, Array], prefix: str) -> Array:
        """The effects of the rows of a frame."""
        check_present(frame, [self.column], self.call.text)
        parts = concatenate([np.zeros(1), cumsum(arrays[self.steps])])
        codes = data(self._codes(frame), f"{prefix}{self.name}_index", (f"{prefix}obs",))
        return (len(self.levels) - 1) * arrays[self.name] * parts[codes]

    def _codes(self, frame: pd.DataFrame) -> np.ndarray:
        index = {level: i for i, level in enumerate(self.levels)}
        values = list(frame[self.column])
        for row, value in enumerate(values):
            if value not in index:
                raise DataError(
                    f"formula: {self.call.text}: {row_text(frame, row)} has {value!r}, which is "
                    f"not a level{place_text()}; the levels are {', '.join(map(str, self.levels))}"
                )
        return np.array([index[value] for value in values])


class Smooth:
    """A Gaussian process of one or several columns of numbers."""

    def __init__(
        self, parameter: str, call: FormulaCall, frame: pd.DataFrame, scope: Any, main: bool
    ):
        self.parameter, self.call, self.main, self._scope = parameter, call, main, scope
        unknown = [name for name in call.named if name not in _SETTINGS]
        if unknown or not call.positional:
            word = unknown[0] if unknown else ""
            raise ValueError(
                f"formula: {call.text} has {word + '=' if word else 'no columns'}{place_text()}; "
                f"write gp(x, k=20, c=1.5, cov='exp_quad', scale=True){meant(word, _SETTINGS)}"
            )
        settings = _SETTINGS | {n: ast.literal_eval(value) for n, value in call.named.items()}
        self.basis, self.boundary, kernel = settings["k"], settings["c"], settings["cov"]
        if kernel not in _KERNELS:
            raise ValueError(
                f"formula: {call.text} has cov={kernel!r}{place_text()}; it is one of "
                f"{', '.join(_KERNELS)}{meant(kernel, _KERNELS)}"
            )
        self.kernel = str(kernel)
        columns = self._columns(frame)
        span = np.linalg.norm(columns.max(0) - columns.min(0))
        if not span:
            raise DataError(f"formula: {call.text} has one value in all rows{place_text()}")
        self.divisor = float(span) if settings["scale"] else 1.0
        self.points = columns / self.divisor
        part = f"{parameter}_" if parameter else ""
        self.text = f"{part}gp({', '.join(call.positional)})"

    def declare(self, unknowns: FormulaUnknowns, frame: pd.DataFrame) -> None:
        """Make the standard deviation, the length, and the weights of the functions."""
        unknowns.make("sdgp", f"sd_{self.text}", ("sdgp",), main=self.main)
        unknowns.make("lscale", f"lscale_{self.text}", ("lscale",), columns=self.points)
        count = int(np.prod(np.broadcast_to(self.basis, self.points.shape[1:])))
        z = normal(0.0, 1.0, shape=(count,), name=f"z_{self.text}")
        unknowns.add(f"z_{self.text}", z)

    def value(self, frame: pd.DataFrame, arrays: Mapping[str, Array], prefix: str) -> Array:
        """The values of the process at the rows of a frame."""
        length, sd = arrays[f"lscale_{self.text}"], arrays[f"sd_{self.text}"]
        process = Hilbert(
            _KERNELS[self.kernel](length, sd),
            self.points,
            basis=self.basis,
            boundary=self.boundary,
            z=arrays[f"z_{self.text}"],
        )
        return process.at(self._columns(frame) / self.divisor)

    def _columns(self, frame: pd.DataFrame) -> np.ndarray:
        parts = self.call.positional
        return np.column_stack([evaluated(t, frame, self._scope, self.call.text) for t in parts])
