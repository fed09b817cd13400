"""Warnings about the order of the rows of pandas objects.

Arrays are combined by position, and pandas objects by the labels of their index. So a column that
was sorted, shuffled or taken from other rows gives other results than in pandas. Each array has the
index of its rows, which are its first axis, where a rule below says so. The labels of a dimension
are an index, too. Rows that are combined with the steps of a series, such as `kg.ar`, are steps.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..distributions.variable import Distribution, Variable
from ..graph.dims import named
from ..graph.errors import KinetographWarning
from ..graph.messages import describe, site_text
from ..graph.node import Apply, Data, Node
from ..graph.operations.elementwise import WHERE
from ..graph.operations.indexing import LABELS, READS, SLICE
from ..graph.operations.linear_algebra import CHOLESKY, MATMUL
from ..graph.operations.shaping import TRANSPOSE
from ..graph.source import place_text, warn_user
from ..graph.tables import plain_labels, row_index
from .factor import LOG_DENSITY
from .series_rows import accumulated, is_series, series_of

if TYPE_CHECKING:
    from .model import Model

__all__ = ["first_difference", "index_difference", "warn_of_other_rows", "warn_of_row_labels"]

MOST_LAGS = 400  # of rows that are compared
_DATES = {"date", "datetime", "datetime64", "period", "timedelta", "timedelta64"}
_BY_ROWS = {WHERE, LABELS, *LOG_DENSITY.values()}


def warn_of_row_labels(model: "Model") -> None:
    """Warn of rows that pandas would combine otherwise, and of unsorted series."""
    component = model.component
    indexed: dict[Node, LabelledRows] = {}
    indexed |= {n: rows for n in component.observed if (rows := _rows_of(n)) is not None}
    pairs: dict[tuple[LabelledRows, LabelledRows], None] = {}
    observed: dict[Node, Node] = dict(zip(component.likelihoods, component.observed, strict=True))
    series = series_of(component.nodes, observed, _followed)  # with a text about each
    steps = {rows: series[node] for node in series if (rows := _rows_of(node)) is not None}
    for node in component.nodes:
        rows = _rows_of(node) if node not in indexed else None
        if rows is not None:
            indexed[node] = rows
        if isinstance(node, Data):
            continue
        followed = [*_followed(node)]
        if node in observed:
            followed.append(observed[node])
        if isinstance(node, Distribution) and is_series(node) and len(node.shape) > 1:
            columns = _steps_of(node.target)
            steps |= {} if columns is None else {columns: f"kg.{node.family.name}"}
        if names := [series[n] for n in (node, *followed) if n in series]:
            series[node] = names[0]
            steps |= {indexed[n]: names[0] for n in (node, *followed) if n in indexed}
        pairs |= dict.fromkeys(_of_other_axes(node, observed.get(node), indexed))
        labelled = dict.fromkeys(indexed[n] for n in followed if n in indexed)
        if rows is not None:  # an unknown with a dimension
            pairs |= dict.fromkeys((rows, other) for other in labelled)
        first, *further = labelled or (None,)
        if first is not None:
            indexed.setdefault(node, first)
            pairs |= dict.fromkeys((first, other) for other in further)
            last = indexed.get(observed[node]) if node in observed else None
            if last is not None and _follows(last, first):
                steps[last] = "a lag"  # y[1:] and y[:-1] of pandas
    unequal = [(a, b, how) for a, b in pairs if (how := _difference(a, b))]
    if unequal:
        warn_user(f"model: {_text(unequal)}", KinetographWarning)
    for rows, name in steps.items():
        if text := _unsorted_text(rows, name):
            warn_user(f"model: {text}", KinetographWarning)
            return


def warn_of_other_rows(doing: str, argument: str, given: Any, node: Node) -> None:
    """Warn if pandas would combine given values and rows of data otherwise."""
    index = getattr(getattr(given, "node", given), "rows", None)
    index, rows = row_index(given) if index is None else index, _rows_of(node)
    if index is None or rows is None or len(index) != len(rows.index):
        return
    if how := index_difference(index, rows.index, rows.is_dim, rows.is_square):
        row, *labels = first_difference(index, rows.index)
        warn_user(
            f"{doing}: {argument}= is a pandas object whose index has {how}, compared "
            f"with {describe(node)}{site_text(node)}: row {row} is {labels[0]} in {argument}= and "
            f"{labels[1]} in the data. Labels are combined with data by position: give "
            f"{argument}= in the order of the data, as in x.loc[y.index], or x.to_numpy() if the "
            "positions are right",
            KinetographWarning,
        )


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """The labels of the rows of data or of an unknown."""

    node: Node
    index: Any  # of pandas
    is_dim: bool = False
    axis: str = "row"  # or column

    @property
    def is_square(self) -> bool:
        """Whether rows and columns have the same labels."""
        if not isinstance(self.node, Data) or self.node.rows is None or self.node.columns is None:
            return False
        return bool(self.node.columns.equals(self.node.rows))


def _rows_of(node: Node) -> LabelledRows | None:
    """The labels of the rows, from a pandas object or a dimension."""
    if not isinstance(node, (Data, Variable)):
        return None
    if isinstance(node, Data) and node.rows is not None:
        return LabelledRows(node, node.rows)
    return _labels_on(node, 0)


def _steps_of(node: Node | None) -> LabelledRows | None:
    """The labels of the last axis, the steps of series."""
    source = node.source if isinstance(node, Data) else None
    if isinstance(source, Apply) and source.operation is TRANSPOSE:
        return _rows_of(source.parents[0])
    return _columns_of(node)


def _labels_on(node: Data | Variable, axis: int) -> LabelledRows | None:
    """The labels of a dimension."""
    dim = node.dims[axis] if node.dims else None
    labels = None if dim is None else node.coords.get(dim)
    if labels is None or not named(labels):
        return None
    import pandas as pd  # not before a model has labels: the import takes long

    return LabelledRows(node, pd.Index(labels), True, "column" if axis else "row")


def _followed(node: Node) -> Iterable[Node]:
    """The nodes whose rows are the rows of this node."""
    if isinstance(node, Variable):
        return () if node.distribution is None else _aligned(node, (node.distribution,))
    if isinstance(node, Distribution):
        return (
            _parameters_of_vectors(node) if node.family.event_ndim else _aligned(node, node.parents)
        )
    if not isinstance(node, Apply) or not node.shape:
        return ()
    if node.operation.elementwise or node.operation in _BY_ROWS:
        return _aligned(node, node.parents)
    if operands := accumulated(node):
        return operands
    if node.operation is CHOLESKY or (node.operation is MATMUL and len(node.parents[0].shape) == 2):
        return node.parents[:1]
    if node.operation in (*READS, SLICE):
        if len(node.parents) == 2 and node.shape[:1] == node.parents[1].shape:
            return node.parents[1:]
        if node.attributes["template"][:1] == (slice(None),):
            return node.parents[:1]
    return ()


def _parameters_of_vectors(node: Distribution, one_vector: bool = True) -> list[Node]:
    """The parameters with a row for each element of a vector."""
    if node.family.event_ndim != 1 or (one_vector and len(node.shape) != 1):
        return []
    size = node.shape[-1]
    return [p for p in node.parents if p.shape in ((size,), (size, size))]


def _of_other_axes(
    node: Node, observed: Node | None, indexed: dict[Node, LabelledRows]
) -> Iterator[tuple[LabelledRows, LabelledRows]]:
    """Pairs of labels that are combined along other axes than the rows.

    These are the columns of a matrix and the rows of the second operand of a product, or the
    columns of many vectors and the rows of their covariance.
    """
    if isinstance(node, Apply) and node.operation is MATMUL:
        table, other = node.parents
        columns = _columns_of(table) if len(table.shape) == 2 else None
        if columns is not None and other in indexed:
            yield columns, indexed[other]
    elif isinstance(node, Distribution) and len(node.shape) == 2:
        columns = _columns_of(observed or node.target)
        for parameter in _parameters_of_vectors(node, one_vector=False):
            if columns is not None and parameter in indexed:
                yield columns, indexed[parameter]


def _columns_of(node: Node | None) -> LabelledRows | None:
    """The labels of the last axis of a table."""
    if isinstance(node, Data) and node.columns is not None:
        return LabelledRows(node, node.columns, axis="column")
    return _labels_on(node, -1) if isinstance(node, (Data, Variable)) else None


def _aligned(node: Node, operands: Iterable[Node]) -> list[Node]:
    return [
        operand
        for operand in operands
        if len(operand.shape) == len(node.shape) and operand.shape[:1] == node.shape[:1]
    ]


def _difference(a: LabelledRows, b: LabelledRows) -> str:
    """A text about how the labels differ."""
    return index_difference(a.index, b.index, a.is_dim or b.is_dim, a.is_square or b.is_square)


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
    is_on_purpose = in_order or _continues(a, b) or _continues(b, a)
    return "" if is_on_purpose or a.inferred_type != b.inferred_type else "different labels"


def _agree_in_part(a: Any, b: Any) -> bool:
    """Whether some rows have equal labels, as after `x.dropna()` and `y.dropna()`."""
    places = np.arange(len(a))
    if a.dtype != b.dtype or any(np.array_equal(each, places) for each in (a, b)):
        return False
    equal = np.asarray(a == b)
    return bool(equal.any() and not equal.all())


def _continues(a: Any, b: Any) -> bool:
    """Whether b begins within a, and continues in the same order."""
    (places,) = (a == b[0]).nonzero()
    return len(places) > 0 and a[places[0] :].equals(b[: len(a) - places[0]])


def _follows(rows: LabelledRows, earlier: LabelledRows) -> bool:
    """Whether unsorted rows are later rows of the same column."""
    a, b = earlier.index, rows.index
    return not (b.is_monotonic_increasing or b.equals(a)) and _continues(a, b)


def _lagged(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether one is the other, shifted by at most half its length."""
    lags = range(1, min(len(a) // 2, MOST_LAGS) + 1)
    pairs = ((x, y, lag) for x, y in ((a, b), (b, a)) for lag in lags if x[lag] == y[0])
    return any(np.array_equal(x[lag:], y[:-lag]) for x, y, lag in pairs)


def _by_levels(index: Any, like: Any) -> Any:
    """An index whose levels are ordered as in another index."""
    return index.reorder_levels(like.names) if _other_levels(index, like) else index


def _other_levels(a: Any, b: Any) -> bool:
    """Whether two indices have the same levels in another order."""
    names = {*a.names}
    return names == {*b.names} and len(names) == a.nlevels == b.nlevels and a.names != b.names


def first_difference(a: Any, b: Any) -> tuple[int, Any, Any]:
    """The first row in which two indices differ, and its two labels."""
    pairs = enumerate(zip(a, _by_levels(b, a), strict=True))
    return next((i, x, y) for i, (x, y) in pairs if x != y)


def _unsorted_text(rows: LabelledRows, series: str) -> str:
    """A text about dates of a series; empty if they are sorted."""
    index = rows.index
    if index.inferred_type not in _DATES or index.is_monotonic_increasing:
        return ""
    i = next(i for i in range(1, len(index)) if not index[i] >= index[i - 1])
    axis, by_columns = rows.axis, rows.axis == "column"
    return (
        f"the {axis}s of {describe(rows.node)}{site_text(rows.node)} are the steps of a series, "
        f"by {series}{place_text()}, but their dates are not sorted: {axis} {i} is "
        f"{index[i]}, after {index[i - 1]} in {axis} {i - 1}. Steps are taken in the order of "
        f"the {axis}s: sort the data first, as in x.sort_index({'axis=1' * by_columns}), or "
        "write x.to_numpy() if the order is right"
    )


def _text(pairs: Sequence[tuple[LabelledRows, LabelledRows, str]]) -> str:
    a, b, how = pairs[0]
    x, y = (f"{describe(each.node)}{site_text(each.node)}" for each in (a, b))
    row, *labels = first_difference(a.index, b.index)
    more = f" (and {len(pairs) - 1} more such pairs)" if len(pairs) > 1 else ""
    owners, axis = "the indices of their pandas objects", "row"
    levels = ".reorder_levels(y.index.names)" if _other_levels(a.index, b.index) else ""
    way_out = f"x{levels}.loc[y.index], or write x.to_numpy() if the positions are right"
    if a.is_dim or b.is_dim:
        owners = "the index of a pandas object and the labels of a dimension"
        way_out = "y.loc[labels], or write y.to_numpy() if the positions are right"
    if a.axis == "column":
        axis = "place"
        owners = (
            f"the columns of the first and the {'labels' if b.is_dim else 'index'} of the second"
        )
        labels_in_words = "labels" if b.is_dim else "y.index"
        way_out = f"x[{labels_in_words}], or write x.to_numpy() if the positions are right"
    return (
        f"{x} and {y} are combined{place_text()}{more}, but {owners} "
        f"have {how}: {axis} {row} is {labels[0]} in one and {labels[1]} in the other. "
        f"Arrays are combined by position: give the rows of both in the same order, as in {way_out}"
    )
