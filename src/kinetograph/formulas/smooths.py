"""Smooth functions of columns: Gaussian processes and penalised splines.

    gp(x):  f, a Gaussian process, approximated by a sum of functions (`kg.gp.Hilbert`)
    s(x):   b (x - mean(x)) + sd sum_j z_j B_j(x),  z ~ normal(0, 1) (`splines.py`)

With `by=g` each level of g has its own function; with a column of numbers, `by=z`, the function is
multiplied by z.

Sources: G. Riutort-Mayol et al., Statistics and Computing 33 (2023); S. N. Wood, Generalized
Additive Models (2017).
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
from ..graph.inputs import data
from ..graph.source import place_text
from ..graph.suggestions import did_you_mean
from .by import ByColumn
from .columns import is_text, row_text
from .dates import check_no_dates
from .design import evaluated
from .frames import is_new, numbers_text
from .population import plain_name
from .splines import BASES, SplineBasis, different
from .texts import FormulaCall
from .unknowns import FormulaUnknowns

__all__ = ["GaussianProcessTerm", "SplineTerm"]

_KERNELS = {"exp_quad": rbf, "matern32": matern32, "matern52": matern52}
_OF_PROCESSES: dict[str, Any] = {"k": 20, "c": 1.5, "cov": "exp_quad", "scale": True}
_OTHER_BASES = {  # of mgcv
    "cc": "cyclic splines without a penalty are cc(x, df=...)",
    "fs": "a spline for each level is s(x, by=g)",
    "gp": "a Gaussian process is gp(x)",
    "re": "effects of groups are (1 | g)",
}
_OF_SPLINES: dict[str, Any] = {"k": 10, "bs": "tp"}


class _SmoothTerm:
    """Settings, `by=`, names and rows of both kinds of smooth terms."""

    defaults: Mapping[str, Any]

    def __init__(
        self, parameter: str, call: FormulaCall, frame: pd.DataFrame, scope: Any, main: bool
    ):
        self.parameter, self.call, self.main, self._scope = parameter, call, main, scope
        names = [*self.defaults, "by"]
        unknown = next((name for name in call.named if name not in names), "")
        if unknown or not call.positional:
            hint = did_you_mean(unknown, names)
            if unknown in ("length", "length_scale", "lengthscale", "ls", "lscale", "rho"):
                hint = "; the length is an unknown, and prior={'lscale': ...} replaces its prior"
            usual = ", ".join(f"{name}={value!r}" for name, value in self.defaults.items())
            raise ValueError(
                f"formula: {call.text} has {unknown + '=' if unknown else 'no columns'}"
                f"{place_text()}; write {call.function}(x, by=g, {usual}){hint}"
            )
        self.settings = dict(self.defaults)
        for name in self.settings.keys() & call.named.keys():
            try:
                self.settings[name] = ast.literal_eval(call.named[name])
            except ValueError:
                raise ValueError(
                    f"formula: {call.text} has {name}={call.named[name]}{place_text()}; write the "
                    f"value itself, as in {name}={self.defaults[name]!r}"
                ) from None
            given, usual = self.settings[name], self.defaults[name]
            if isinstance(usual, bool) and not isinstance(given, bool):
                raise ValueError(
                    f"formula: {call.text} has {name}={given!r}{place_text()}; write {name}=True "
                    f"or {name}=False"
                )
        by = call.named.get("by")
        self.by = None if by in (None, "None") else ByColumn(by, frame, scope, call.text)
        part = f"{parameter}_" if parameter else ""
        columns = ", ".join([*call.positional, *([f"by={self.by.text}"] if self.by else [])])
        self.text = plain_name(f"{part}{call.function}({columns})")

    def choose(self, name: str, choices: Mapping[str, Any]) -> str:
        """A setting that is one of several words."""
        value = self.settings[name]
        if value not in choices:
            other = _OTHER_BASES.get(value, "") if name == "bs" else ""
            way_out = f"; {other}" if other else did_you_mean(value, choices)
            raise ValueError(
                f"formula: {self.call.text} has {name}={value!r}{place_text()}; it is one of "
                f"{', '.join(choices)}{way_out}"
            )
        return str(value)

    def levels(self, unknowns: FormulaUnknowns) -> dict[str, Any]:
        """The shape and the dims of an unknown that each function has."""
        if self.by is None or not self.by.levels:
            return {}
        level = unknowns.levels(self.by.text, self.by.labels)
        return {"shape": (len(self.by.levels),), "dims": (level,)}

    def normals(self, unknowns: FormulaUnknowns, count: int) -> None:
        """Make standard normal numbers for each function."""
        name = f"z_{self.text}"
        levels = self.levels(unknowns)
        shape, dims = levels.get("shape", ()), levels.get("dims", ())
        z = normal(0.0, 1.0, shape=(*shape, count), dims=(*dims, None), name=name)
        unknowns.add(name, z, record=False)

    def rows(self, values: np.ndarray, suffix: str, prefix: str) -> Array:
        """Known numbers of the rows of a frame, as data."""
        dims = (f"{prefix}obs", None)[: values.ndim]
        return data(values, f"{prefix}{self.text}_{suffix}", dims)

    def columns(self, frame: pd.DataFrame) -> np.ndarray:
        """The columns of the function, (rows, columns)."""
        parts = self.call.positional
        check_no_dates(frame, parts, self.call.text, "effects of a level for each are (1 | {0})")
        for name in parts:
            if name in frame and is_text(frame[name]) and not is_new(frame):
                raise DataError(
                    f"formula: {self.call.text} takes numbers, but {name!r} is a column of text"
                    f"{place_text()}; its levels have effects by {name} or (1 | {name}), and "
                    f"functions of their own by {self.call.function}(x, by={name}); "
                    f"text that holds numbers is converted by {numbers_text(frame, name)}"
                )
        return np.column_stack([evaluated(t, frame, self._scope, self.call.text) for t in parts])


class GaussianProcessTerm(_SmoothTerm):
    """A Gaussian process of one or several columns of numbers."""

    defaults = _OF_PROCESSES

    def __init__(
        self, parameter: str, call: FormulaCall, frame: pd.DataFrame, scope: Any, main: bool
    ):
        super().__init__(parameter, call, frame, scope, main)
        self.kernel = self.choose("cov", _KERNELS)
        columns = self.columns(frame)
        span = np.linalg.norm(columns.max(0) - columns.min(0))
        if not span:
            raise DataError(f"formula: {call.text} has one value in all rows{place_text()}")
        self.divisor = float(span) if self.settings["scale"] else 1.0
        self.points = columns / self.divisor

    def declare(self, unknowns: FormulaUnknowns, frame: pd.DataFrame) -> None:
        """Make the standard deviation, the length, and the weights of the functions."""
        levels = self.levels(unknowns)
        unknowns.make("sdgp", f"sd_{self.text}", ("sdgp",), main=self.main, **levels)
        lengths = {"columns": self.points, **levels}
        unknowns.make("lscale", f"lscale_{self.text}", ("lscale",), **lengths)
        counts = np.broadcast_to(self.settings["k"], self.points.shape[1:])
        self.normals(unknowns, int(np.prod(counts)))

    def value(self, frame: pd.DataFrame, arrays: Mapping[str, Array], prefix: str) -> Array:
        """The values of the process at the rows of a frame.

        Raises
        ------
        ValueError
            If a row lies outside of the box of the functions.
        """
        columns = self.columns(frame)
        self._check_inside(columns, frame)
        points = columns / self.divisor
        length, sd, z = (arrays[f"{word}_{self.text}"] for word in ("lscale", "sd", "z"))
        if self.by is None:
            return self._process(length, sd, z).at(points)
        if not self.by.levels:
            factors = self.rows(self.by.factors(frame), "by", prefix)
            return factors * self._process(length, sd, z).at(points)
        codes = self.by.codes(frame)
        parts = [
            self._process(length[level], sd[level], z[level]).at(points[codes == level])
            for level in np.unique(codes)
        ]
        order = np.argsort(np.argsort(codes, kind="stable"))  # of the rows, in the parts
        return concatenate(parts)[self.rows(order, "index", prefix)]

    def _check_inside(self, columns: np.ndarray, frame: pd.DataFrame) -> None:
        low, high = self.points.min(0) * self.divisor, self.points.max(0) * self.divisor
        centre, half = (low + high) / 2, (high - low) / 2
        limits = np.broadcast_to(np.asarray(self.settings["c"], float), half.shape)
        outside = np.abs(columns - centre) > half * limits
        if not outside.any():
            return
        row, column = np.argwhere(outside)[0]
        ends = centre[column] + np.array([-1, 1]) * half[column] * limits[column]
        reach = np.abs(columns[:, column] - centre[column]) / half[column]
        raise ValueError(
            f"formula: {self.call.positional[column]} is {columns[row, column]:g} in "
            f"{row_text(frame, int(row))}{place_text()}, but {self.call.text} is defined from "
            f"{ends[0]:g} to {ends[1]:g}; make the model with c={np.ceil(10 * reach.max()) / 10:g}"
        )

    def _process(self, length: Array, sd: Array, z: Array) -> Hilbert:
        kernel = _KERNELS[self.kernel](length, sd)
        basis, boundary = self.settings["k"], self.settings["c"]
        return Hilbert(kernel, self.points, basis=basis, boundary=boundary, z=z)


class SplineTerm(_SmoothTerm):
    """A penalised spline of a column of numbers.

    Attributes
    ----------
    linear
        The population terms that the spline contains.
    """

    defaults = _OF_SPLINES

    def __init__(
        self, parameter: str, call: FormulaCall, frame: pd.DataFrame, scope: Any, main: bool
    ):
        super().__init__(parameter, call, frame, scope, main)
        if len(call.positional) > 1:
            raise ValueError(
                f"formula: {call.text} has {len(call.positional)} columns{place_text()}; a smooth "
                f"function of several columns is gp({', '.join(call.positional)})"
            )
        self.column = call.positional[0]
        kind, k = self.choose("bs", BASES), self.settings["k"]
        if not isinstance(k, int) or k < 3:
            raise ValueError(
                f"formula: {call.text} has k={k!r}{place_text()}; k is a whole number from 3 on"
            )
        x = self.columns(frame)[:, 0]
        count = len(different(x))
        if count < k:
            way_out = f"write k={count}" if count > 2 else f"write {self.column} alone"
            raise DataError(
                f"formula: {call.text} needs k={k} different values, but {self.column} has "
                f"{count}{place_text()}; {way_out}"
            )
        self.basis = SplineBasis(x, k, kind)
        numbers = self.by is not None and not self.by.levels
        self.linear: tuple[str, ...] = (
            (self.by.text, f"{self.column}:{self.by.text}", f"{self.by.text}:{self.column}")
            if self.by is not None and numbers
            else (self.column,)
        )

    def declare(self, unknowns: FormulaUnknowns, frame: pd.DataFrame) -> None:
        """Make the slopes, the standard deviations, and the weights of the functions."""
        after = f"_{self.parameter}" if self.parameter else ""
        place, columns = self.levels(unknowns), self._line(frame)
        if columns.shape[1] > 1:  # a function that multiplies numbers
            labels = [self.linear[0], self.linear[1]]
            place = {"shape": (2,), "dims": (dim(f"b_{self.text}_column", labels),)}
        elif place:
            columns = np.repeat(columns, place["shape"][0], axis=1)
        facts = {"main": self.main, "columns": columns, **place}
        unknowns.make("b", f"b_{self.text}", (f"b{after}",), **facts)
        facts = {"main": self.main, **self.levels(unknowns)}
        if self.by is not None and not self.by.levels:
            facts["columns"] = self.by.factors(frame)[:, None]
        unknowns.make("sds", f"sd_{self.text}", (f"sds{after}",), **facts)
        self.normals(unknowns, self.basis.size)

    def value(self, frame: pd.DataFrame, arrays: Mapping[str, Array], prefix: str) -> Array:
        """The values of the spline at the rows of a frame."""
        slope, sd, z = (arrays[f"{word}_{self.text}"] for word in ("b", "sd", "z"))
        weights = z * (sd[:, None] if sd.shape else sd)  # a product: NUTS chooses its form
        line, bends = self._line(frame), self.basis(self.columns(frame)[:, 0])
        if self.by is not None and self.by.levels:
            codes = self.rows(self.by.codes(frame), "index", prefix)
            slope = slope[codes]
            bent = (self.rows(bends, "basis", prefix) * weights[codes]).sum(-1)
        else:
            if self.by is not None:
                bends = bends * self.by.factors(frame)[:, None]
            bent = self.rows(bends, "basis", prefix) @ weights
        if line.shape[1] > 1:
            return self.rows(line, "line", prefix) @ slope + bent
        return self.rows(line[:, 0], "line", prefix) * slope + bent

    def _line(self, frame: pd.DataFrame) -> np.ndarray:
        """The column x - mean(x); for `by=z` both columns of the slopes."""
        line = self.columns(frame) - self.basis.mean
        if self.by is None or self.by.levels:
            return line
        return self.by.factors(frame)[:, None] * np.hstack([np.ones_like(line), line])
