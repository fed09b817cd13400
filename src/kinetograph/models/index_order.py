"""Comparison of two pandas indices: do rows with the same position correspond?"""

from typing import Any

import numpy as np

from ..graph.dims import named
from ..graph.tables import plain_labels

__all__ = ["continues", "first_difference", "index_difference", "other_levels"]

MOST_LAGS = 400  # of rows that are compared


def index_difference(a: Any, b: Any, with_dim: bool = False, of_table: bool = False) -> str:
    """A text about how two indices differ.

    It is empty if rows probably correspond. Parts of one column, as in `y[1:]` and `y[:-1]`, are
    combined by position on purpose; no label is then in the same row of both. Numbers of rows, as
    pandas makes them by itself, are not labels, unless both objects have the same numbers. Other
    labels are accepted with a dimension (`with_dim`), but not with a square table (`of_table`).
    Labels that occur several times must occur equally often. Levels of the same names may have
    another order, as after `x.swaplevel()`.
    """
    b = _by_levels(b, a)
    if a is b or a.equals(b):
        return ""
    if not (a.is_unique and b.is_unique):
        x, y = plain_labels(a), plain_labels(b)
        in_order = np.array_equal(x, y) or not np.array_equal(np.sort(x), np.sort(y))
        return "" if in_order or _lagged(x, y) else "the same labels in another order"
    if a.isin(b).all():
        same = np.array_equal(b.get_indexer(a), np.arange(len(a)))  # of other types
        return "" if same else "the same labels in another order"
    if of_table and named(plain_labels(a)) and named(plain_labels(b)):
        return "different labels"
    if with_dim:
        return ""
    if _agree_in_part(a, b):
        return "different labels"
    if not (named(plain_labels(a)) and named(plain_labels(b))):
        return ""
    in_order = a.is_monotonic_increasing and b.is_monotonic_increasing
    is_on_purpose = in_order or continues(a, b) or continues(b, a)
    return "" if is_on_purpose or a.inferred_type != b.inferred_type else "different labels"


def _agree_in_part(a: Any, b: Any) -> bool:
    """Whether some rows have equal labels, as after `x.dropna()` and `y.dropna()`."""
    places = np.arange(len(a))
    if a.dtype != b.dtype or any(np.array_equal(each, places) for each in (a, b)):
        return False
    equal = np.asarray(a == b)
    return bool(equal.any() and not equal.all())


def continues(a: Any, b: Any) -> bool:
    """Whether b begins within a, and continues in the same order."""
    (places,) = (a == b[0]).nonzero()
    return len(places) > 0 and a[places[0] :].equals(b[: len(a) - places[0]])


def _lagged(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether one is the other, shifted by at most half its length."""
    lags = range(1, min(len(a) // 2, MOST_LAGS) + 1)
    pairs = ((x, y, lag) for x, y in ((a, b), (b, a)) for lag in lags if x[lag] == y[0])
    return any(np.array_equal(x[lag:], y[:-lag]) for x, y, lag in pairs)


def _by_levels(index: Any, like: Any) -> Any:
    """An index whose levels are ordered as in another index."""
    return index.reorder_levels(like.names) if other_levels(index, like) else index


def other_levels(a: Any, b: Any) -> bool:
    """Whether two indices have the same levels in another order."""
    names = {*a.names}
    return names == {*b.names} and len(names) == a.nlevels == b.nlevels and a.names != b.names


def first_difference(a: Any, b: Any) -> tuple[int, Any, Any]:
    """The first row in which two indices differ, and its two labels."""
    pairs = enumerate(zip(a, _by_levels(b, a), strict=True))
    return next((i, x, y) for i, (x, y) in pairs if x != y)
