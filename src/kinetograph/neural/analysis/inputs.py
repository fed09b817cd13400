"""Checks of the arrays that the functions of this room take."""

from typing import Any

import numpy as np

from ...graph.value_texts import in_words
from ...results.check import check_tree
from ...results.summary import row_names

__all__ = ["as_draws", "as_points", "as_rows", "finite", "positive", "tree_arrays"]


def numbers(values: Any, subject: str) -> np.ndarray:
    """The values as an array of floats."""
    got = None
    try:
        array = np.asarray(values)
        got = {"c": "complex numbers", "m": "times", "M": "times"}.get(array.dtype.kind)
        if got is None:
            return array.astype(float, copy=False)
    except (TypeError, ValueError):
        pass
    raise TypeError(f"{subject}: expected an array of real numbers, got {got or in_words(values)}")


def as_draws(draws: Any, title: str) -> np.ndarray:
    """Draws of shape (chain, draw, parameter)."""
    x = numbers(draws, f"{title}: draws")
    if x.ndim != 3 or x.shape[0] == 0 or x.shape[1] < 2 or x.shape[2] == 0:
        way = {
            1: "; write draws[None, :, None] for one chain of one parameter",
            2: "; write draws[None] for one chain of shape (draw, parameter), or "
            "draws[:, :, None] for one parameter",
        }
        raise ValueError(
            f"{title}: draws must have the shape (chain, draw, parameter) with two draws or more, "
            f"got {x.shape}{way.get(x.ndim, '')}"
        )
    return x


def as_rows(values: Any, title: str, name: str) -> np.ndarray:
    """Values of shape (chain, draw); one dimension is one chain."""
    x = numbers(values, f"{title}: {name}")
    x = x[None] if x.ndim == 1 else x
    if x.ndim != 2 or x.size == 0:
        raise ValueError(
            f"{title}: {name} must have the shape (chain, draw), got {np.shape(values)}"
        )
    return x


def as_points(points: Any, title: str) -> np.ndarray:
    """Points of shape (point, coordinate); one dimension is one coordinate."""
    x = numbers(points, f"{title}: points")
    x = x[:, None] if x.ndim == 1 else x
    if x.ndim != 2 or x.shape[0] < 2 or x.shape[1] == 0:
        way = "; write draws.reshape(-1, draws.shape[-1])" if x.ndim == 3 else ""
        raise ValueError(
            f"{title}: points must have the shape (point, coordinate) with two points or more, got "
            f"{np.shape(points)}{way}"
        )
    return finite(x, title, "points")


def finite(x: np.ndarray, title: str, name: str) -> np.ndarray:
    """The values, which must all be finite."""
    bad = ~np.isfinite(x)
    if bad.any():
        place = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"{title}: {bad.sum()} of the {x.size} values of {name} are not finite, the first at "
            f"index {place}; drop these rows, or look at the chain that diverged"
        )
    return x


def positive(value: Any, title: str, name: str) -> float:
    """A positive finite number."""
    if not isinstance(value, (int, float, np.number)) or not 0 < value < np.inf:
        raise ValueError(f"{title}: {name} must be a positive number, got {value!r:.60}")
    return float(value)


def tree_arrays(tree: Any, title: str) -> tuple[np.ndarray, list[str], dict[str, np.ndarray]]:
    """The draws of results, the names of their parameters, and the records.

    Numbers that a simulation fixed are left out. The record `potential` is minus the log density;
    the record `step` has the numbers of the draws.
    """
    parts, names = [], []
    for name, variable in check_tree(tree, title).data_vars.items():
        values = np.asarray(variable.values, float)
        values = values.reshape(*values.shape[:2], -1)
        constant = np.flatnonzero((values == values[:1, :1]).all((0, 1)))
        fixed = np.intersect1d(constant, variable.attrs.get("fixed", ()))
        parts.append(np.delete(values, fixed.astype(int), -1))
        names += [n for i, n in enumerate(row_names(str(name), variable)) if i not in fixed]
    if not parts:
        raise ValueError(f"{title}: the posterior of the results has no targets")
    records = {}
    if "sample_stats" in tree.children:
        for name, variable in tree["sample_stats"].data_vars.items():
            if variable.dims == ("chain", "draw") and variable.dtype.kind in "biuf":
                records[str(name)] = np.asarray(variable.values, float)
    if "lp" in records:
        records["potential"] = -records["lp"]
    if "epoch" in records:
        draws = tree["sample_stats"]["draw"].to_numpy()
        records["step"] = np.broadcast_to(draws.astype(float), records["epoch"].shape)
    return np.concatenate(parts, -1), names, records
