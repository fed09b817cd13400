"""`kg.summary`: a table of posterior means, intervals and diagnostics."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph.array import Array
from ..graph.markup import table
from ..graph.messages import describe
from ..graph.public import public
from ..graph.source import place_text
from ..graph.suggestions import MissingAttributeError, closest, did_you_mean
from ..graph.value_texts import in_words
from . import diagnostics
from .check import LEAD, as_group, check_draws, unknowns_of, walkers_of

__all__ = ["Summary", "row_names", "summary"]

COLUMNS = ("mean", "sd", "q5", "median", "q95", "mcse_mean", "ess_bulk", "ess_tail", "r_hat")
_ESCAPED = str.maketrans(
    {character: rf"\{character}" for character in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
)
_QUANTILE = re.compile(r"q?(\d{1,2}(?:\.\d+)?)%?")  # names of columns in other libraries
ROUNDING = 1e-6  # of a correlation matrix, also in single precision


class _Column(np.ndarray):
    """A column that is also read by the name of a row.

    Operations on it return NumPy's arrays.
    """

    entry: Callable[[str], Any] | None = None

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str) and self.entry is not None:
            return self.entry(key)
        return np.asarray(self)[key]

    @property
    def values(self) -> np.ndarray:
        """The numbers, as of a column of pandas."""
        return np.asarray(self)

    def to_numpy(self) -> np.ndarray:
        """The numbers, as of a column of pandas."""
        return np.asarray(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise MissingAttributeError(
            f"a column of a summary is a NumPy array and has no attribute {name!r}{place_text()}; "
            f"write table.to_dataframe()[column].{name} for that of pandas",
            name=name,
        )

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return array[()] if return_scalar else np.asarray(array)

    def __repr__(self) -> str:
        return repr(np.asarray(self))


@public
@dataclass(frozen=True, eq=False)
class Summary:
    """A table with row names and columns of numbers; prints itself.

    `table["mean"]` is a column, an array of NumPy; `table["mean", "theta[A]"]` and
    `table["mean"]["theta[A]"]` are an entry, `table.to_dataframe()` is a pandas DataFrame, and
    `table.to_latex()` is the text for a paper. Iterating gives the names of the rows.
    """

    names: tuple[str, ...]
    columns: dict[str, np.ndarray]

    def __eq__(self, other: object) -> bool:
        """Whether another table has the same names and the same numbers."""
        if not isinstance(other, Summary):
            return NotImplemented
        if self.names != other.names or [*self.columns] != [*other.columns]:
            return False
        pairs = zip(self.columns.values(), other.columns.values(), strict=True)
        return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]  # as other tables

    def __getitem__(self, key: Any) -> Any:
        column, *row = key if isinstance(key, tuple) else (key,)
        if column not in self.columns or len(row) > 1 or any(r not in self.names for r in row):
            raise KeyError(
                f"summary: the table has no {key!r}{place_text()}; write table[column] or "
                f"table[column, row], with the columns {', '.join(self.columns)} and the rows "
                f"{_some(self.names)}{self._suggestion((column, *row))}"
            )
        values = self.columns[column]
        if row:
            return values[self.names.index(row[0])]
        view = values.view(_Column)
        view.entry = lambda name: self[column, name]
        return view

    def __array_ufunc__(self, function: Any, *_: Any, **__: Any) -> Any:
        raise TypeError(
            f"summary: {function.__name__} of a table{place_text()}; functions apply to draws, as "
            f"in kg.summary(numpy.{function.__name__}(results['posterior'][[name, ...]])), or to "
            "columns, table['mean']"
        )

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        """Raise TypeError: NumPy and pandas would lose the names."""
        raise TypeError(
            f"summary: a table is not an array{place_text()}; write table.to_dataframe() for a "
            "DataFrame of pandas, or table['mean'] for a column"
        )

    def _suggestion(self, keys: Sequence[Any]) -> str:
        """A suggestion for wrong keys, in any order of column and row."""
        for key in keys:
            if match := _QUANTILE.fullmatch(str(key)):
                probability = abs(2 * float(match[1]) - 100) / 100
                call = f"kg.summary(results, probability={probability:.3g}) has that quantile"
                return f"; {call if probability else 'it is the median'}"
        column = next((c for key in keys if (c := closest(key, self.columns))), None)
        row = next((r for key in keys if (r := closest(key, self.names))), None)
        if row is None and (column is None or len(keys) > 1):
            return ""
        suggested_key = repr(column) if row is None else f"{(column or COLUMNS[0])!r}, {row!r}"
        return f"; did you mean table[{suggested_key}]?"

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def to_dataframe(self) -> Any:
        """The table as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.columns, index=list(self.names))

    def to_latex(self) -> str:
        r"""The printed table in LaTeX, for `\usepackage{booktabs}`.

        Numbers have the digits of the printed table; special characters of names are escaped.
        """
        head, *rows = [[cell.translate(_ESCAPED) for cell in row] for row in self._cells()]
        rows = [[name, *(n.replace("-", "$-$") for n in numbers)] for name, *numbers in rows]
        lines = [" & ".join(row) + r" \\" for row in (head, *rows)]
        columns = "l" + "r" * len(self.columns)
        body = [r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
        return "\n".join([rf"\begin{{tabular}}{{{columns}}}", *body, r"\end{tabular}"])

    def _cells(self) -> list[list[str]]:
        """The texts of the table, with a header row."""
        formats = {"ess_bulk": _count, "ess_tail": _count, "r_hat": lambda v: f"{v:.3f}"}
        digits = _digits(self.columns["mcse_mean"], self.columns["sd"])
        cells = [["", *self.columns]]
        for i, name in enumerate(self.names):
            row = [name]
            for column, values in self.columns.items():
                format_value = formats.get(column)
                places = digits[i] + (1 if column == "mcse_mean" else 0)
                row.append(format_value(values[i]) if format_value else f"{values[i]:.{places}f}")
            cells.append(row)
        return cells

    def __str__(self) -> str:
        cells = self._cells()
        widths = [max(len(row[j]) for row in cells) for j in range(len(cells[0]))]
        return "\n".join(
            "  ".join(
                cell.ljust(w) if j == 0 else cell.rjust(w)
                for j, (cell, w) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in cells
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *rows = self._cells()
        return table(head, rows, numbers=True)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


def _count(value: float) -> str:
    return "nan" if np.isnan(value) else f"{value:.0f}"


def _digits(mcse: np.ndarray, sd: np.ndarray) -> list[int]:
    """Numbers of decimals for each row.

    They show the first digit of the standard error, or two digits of the standard deviation if
    there is no standard error.
    """
    places = []
    for error, spread in zip(mcse, sd, strict=True):
        size = error if np.isfinite(error) and error > 0 else spread
        is_positive = np.isfinite(size) and size > 0
        places.append(int(np.clip(np.ceil(-np.log10(size)) if is_positive else 2, 1, 8)))
    return places


@public
def summary(tree: Any, *names: str | Sequence[str], probability: float = 0.9) -> Summary:
    """Posterior means, standard deviations, quantiles and diagnostics.

    The columns are: mean, sd, the quantiles that bound the central `probability` (named q5 and q95
    for 0.9), median, Monte Carlo standard error of the mean, effective sample sizes for the bulk
    and the tails, and rank-normalised split R-hat (Vehtari et al., 2021), for which the walkers of
    an ensemble are one chain.

    Parameters
    ----------
    tree
        Results of `kg.mcmc`, results opened with `xarray.open_datatree`, a group with draws, such
        as `results["predictions"]`, or a variable, such as `np.exp(results["posterior"]["b"])`.
    *names
        Targets or rows to show (`"theta"`, `"theta[A]"`), also in lists; by default all. Of a
        correlation matrix only the lower half is shown, and other elements if they are named.
        Unknowns that are not targets are shown if they are named here.
    probability
        The probability of the interval between the two outer quantiles.

    Returns
    -------
    Summary
        Prints itself, with as many digits as the Monte Carlo error leaves. `table["mean", "mu"]` is
        an entry, `table.to_dataframe()` a pandas frame, and `table.to_latex()` the text for a
        paper, with the same digits.

    Raises
    ------
    KeyError
        If a name is not that of a target, an unknown or a row.
    TypeError
        If `tree` has neither a posterior nor draws, (chain, draw, ...).
    ValueError
        If it has no draws, or `probability` is not between 0 and 1.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0, 1)
    >>> y = kg.data([0.5, 1.5])
    >>> likelihood = kg.observe(y, kg.normal(mu, 1))
    >>> table = kg.summary(kg.mcmc(kg.model(mu), seed=1, progress=False))
    >>> bool(abs(table["mean", "mu"] - 2 / 3) < 0.1)
    True
    """
    tree = as_group(tree)
    posterior = check_draws(tree, "summary")
    if not 0 < probability < 1:
        share = f"; write probability={probability / 100:g}" if 1 < probability < 100 else ""
        raise ValueError(f"summary: probability must be between 0 and 1, got {probability}{share}")
    if not posterior.sizes.get("draw", 0):
        raise ValueError("summary: the results hold no draws")
    unknowns = {n: v for n, v in unknowns_of(tree).items() if n not in posterior}
    draws, walkers = {**posterior.data_vars, **unknowns}, walkers_of(tree)
    chosen = _chosen(tree, draws, names) or _default(posterior.data_vars)
    outer = ((1 - probability) / 2, (1 + probability) / 2)
    labels = [f"q{100 * p:.3g}" for p in outer]
    order = ("mean", "sd", labels[0], "median", labels[1], *COLUMNS[5:])
    rows: list[str] = []
    parts: dict[str, list[np.ndarray]] = {column: [] for column in order}
    for name, places in chosen:
        variable = draws[name]
        values = np.asarray(variable.values, float)
        chains, length = values.shape[:2]
        if not values.size:  # an array without elements
            continue
        flat = values.reshape(chains, length, -1)
        row_labels = row_names(name, variable)
        if places is not None:
            flat, row_labels = flat[:, :, places], [row_labels[place] for place in places]
        rows += row_labels
        with np.errstate(all="ignore"):  # a diverging chain has draws of any size
            low, median, high = np.quantile(flat, (outer[0], 0.5, outer[1]), axis=(0, 1))
            mean, sd = flat.mean((0, 1)), np.nan * median
            if chains * length > 1:
                # Rounding gives equal draws a small standard deviation.
                varies = flat.min((0, 1)) < flat.max((0, 1))
                sd = np.where(varies | np.isnan(mean), flat.std((0, 1), ddof=1), 0.0)
                mean = np.where(sd == 0, median, mean)
            parts["mean"].append(mean)
            parts["sd"].append(sd)
        parts[labels[0]].append(low)
        parts["median"].append(median)
        parts[labels[1]].append(high)
        for column, f in _DIAGNOSTICS.items():
            draws_of_chains = diagnostics.together(flat, walkers) if column == "r_hat" else flat
            diagnostic = f(draws_of_chains) if length >= 4 else np.full(flat.shape[2], np.nan)
            if column == "mcse_mean" and length >= 4:
                diagnostic = np.where(sd == 0, 0.0, diagnostic)
            parts[column].append(diagnostic)
    return Summary(tuple(rows), {c: np.concatenate([np.empty(0), *p]) for c, p in parts.items()})


_DIAGNOSTICS = {
    "mcse_mean": diagnostics.mcse_mean,
    "ess_bulk": diagnostics.ess_bulk,
    "ess_tail": diagnostics.ess_tail,
    "r_hat": diagnostics.rhat,
}


def _default(targets: Mapping[Any, Any]) -> list[tuple[str, list[int] | None]]:
    """All targets; for correlation matrices the elements below the diagonal."""
    chosen: list[tuple[str, list[int] | None]] = []
    for name, variable in targets.items():
        below = None
        if _is_correlation(np.asarray(variable.values)):
            rows, columns = np.tril_indices(variable.shape[-1], -1)
            below = (rows * variable.shape[-1] + columns).tolist()
        chosen.append((str(name), below))
    return chosen


def _is_correlation(draws: np.ndarray) -> bool:
    """Whether all draws, (chain, draw, row, column), are correlation matrices."""
    if draws.ndim != 4 or draws.shape[2] != draws.shape[3] or draws.shape[2] < 2:
        return False
    if draws.dtype.kind != "f" or not (abs(draws) < 1 + ROUNDING).all():
        return False
    ones = np.diagonal(draws, axis1=2, axis2=3)
    mirrored = np.swapaxes(draws, 2, 3)
    return bool((abs(ones - 1) < ROUNDING).all() and (abs(draws - mirrored) < ROUNDING).all())


def _chosen(tree: Any, draws: Mapping[Any, Any], names: Any) -> list[tuple[str, list[int] | None]]:
    """The named arrays, each with the places of its rows or None."""
    chosen: list[tuple[str, list[int] | None]] = []
    requested: list[str] = []
    for given in names:
        given_names: Any = [given] if isinstance(given, (str, Array)) else given
        given_names = [*given_names] if isinstance(given_names, Iterable) else [None]
        if not all(isinstance(name, str) for name in given_names):
            hint = f"; write probability={given}" if isinstance(given, float) else ""
            arrays = [describe(a.node) for a in given_names if isinstance(a, Array)]
            if arrays and all(name in draws for name in arrays):
                hint = f"; write {', '.join(map(repr, arrays))}"
            raise TypeError(
                f"summary: targets are given by name, got {in_words(given)}{place_text()}{hint}"
            )
        requested += given_names
    for name in requested:
        target = name.partition("[")[0]
        if name in draws:
            chosen += _default({name: draws[name]})
        elif target in draws and name in (rows := row_names(target, draws[target])):
            chosen.append((target, [rows.index(name)]))
        else:
            names_there = ", ".join(map(str, draws))
            if target in draws and target != name and rows[1:]:
                hint = f"; the elements of {target} are {rows[0]} to {rows[-1]}"
            else:
                rows = [row for v, x in draws.items() for row in row_names(str(v), x)]
                hint = _in_group(tree, name) or did_you_mean(name, [*map(str, draws), *rows])
                if target.partition("__")[0] in draws:  # brms: sd_g__Intercept
                    hint = did_you_mean(target.partition("__")[0], draws)
                if name.startswith("~"):
                    hint = "; names select what is shown: give all that the table should have"
                of_group = f"r_{name.rpartition('|')[2].strip()}"
                if "|" in name and of_group in draws:
                    hint = f"; effects of groups are {of_group!r}"
            raise KeyError(
                f"summary: {name!r} is not in the results{place_text()}; they hold "
                f"{names_there}{hint}"
            )
    return chosen


def _in_group(tree: Any, name: str) -> str:
    """Advice on a name that another group has, or an empty text."""
    target = name.partition("[")[0]
    for group, node in getattr(getattr(tree, "root", tree), "children", {}).items():
        if target not in node.data_vars or node[target].dims[:2] != LEAD:
            continue
        if name == target or name in row_names(target, node[target]):
            return f"; write kg.summary(results[{group!r}], {name!r})"
    return ""


def row_names(name: str, variable: Any) -> list[str]:
    """The name of each element of a target, with labels: `theta[A]`."""
    dims = variable.dims[2:]
    if not dims:
        return [name]
    labels = [
        _texts(variable.coords[d].values) if d in variable.coords else range(variable.sizes[d])
        for d in dims
    ]
    return [
        f"{name}[{', '.join(str(axis[i]) for axis, i in zip(labels, place, strict=True))}]"
        for place in np.ndindex(*variable.shape[2:])
    ]


def _texts(labels: np.ndarray) -> Any:
    """Labels of an axis; dates with the digits that differ."""
    if labels.dtype.kind != "M":
        return labels
    units = (labels.astype(f"M8[{unit}]") for unit in ("D", "m", "s"))
    return [str(day) for day in next((u for u in units if np.array_equal(u, labels)), labels)]
