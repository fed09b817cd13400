"""Warnings about the order of the rows of pandas objects.

Arrays are combined by position, and pandas objects by the labels of their index. So a column that
was sorted, shuffled or taken from other rows gives other results than in pandas. Each array has the
index of its rows, which are its first axis, where a rule below says so, and each table the index of
its columns. The labels of a dimension are an index, too. Rows that are combined with the steps of a
series, such as `kg.ar`, are steps.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
from ..graph.tables import row_index
from .factor import LOG_DENSITY
from .index_order import continues, first_difference, index_difference, other_levels
from .series_rows import accumulated, is_series, series_of

if TYPE_CHECKING:
    from .model import Model

__all__ = ["warn_of_other_rows", "warn_of_row_labels"]

_DATES = {"date", "datetime", "datetime64", "period", "timedelta", "timedelta64"}
_BY_ROWS = {WHERE, LABELS, *LOG_DENSITY.values()}


def warn_of_row_labels(model: "Model") -> None:
    """Warn of rows that pandas would combine otherwise, and of unsorted series."""
    component = model.component
    indexed: Labels = {}
    indexed |= {n: rows for n in component.observed if (rows := _rows_of(n)) is not None}
    columns: Labels = {}
    columns |= {n: labels for n in component.observed if (labels := _columns_of(n)) is not None}
    pairs: dict[tuple[LabelledRows, LabelledRows], None] = {}
    observed: dict[Node, Node] = dict(zip(component.likelihoods, component.observed, strict=True))
    series = series_of(component.nodes, observed, _followed)  # with a text about each
    steps = {rows: series[node] for node in series if (rows := _rows_of(node)) is not None}
    for node in component.nodes:
        rows = _rows_of(node) if node not in indexed else None
        if rows is not None:
            indexed[node] = rows
        if node not in columns and (labels := _columns_of(node)) is not None:
            columns[node] = labels
        if isinstance(node, Data):
            continue
        followed = [*_followed(node)]
        if node in observed:
            followed.append(observed[node])
        if isinstance(node, Distribution) and is_series(node) and len(node.shape) > 1:
            of_steps = _steps_of(node.target)
            steps |= {} if of_steps is None else {of_steps: f"kg.{node.family.name}"}
        if names := [series[n] for n in (node, *followed) if n in series]:
            series[node] = names[0]
            steps |= {indexed[n]: names[0] for n in (node, *followed) if n in indexed}
        pairs |= dict.fromkeys(_of_other_axes(node, observed.get(node), indexed, columns))
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


Labels = dict[Node, LabelledRows]


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
        return _parameters_of_rows(node)
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


def _parameters_of_rows(node: Distribution) -> list[Node]:
    """The parameters with a row for each row of a distribution's array."""
    events, axes = node.family.event_ndim, len(node.shape)
    if not events:
        return _aligned(node, node.parents)
    named_parameters = zip(node.family.parameters, node.parents, strict=True)
    operands = [p for parameter, p in named_parameters if parameter.name != "col_chol"]
    return [p for p in operands if axes == events and p.shape[:1] == node.shape[:1]]


def _operands_of_columns(
    node: Node, indexed: Labels, columns: Labels
) -> Iterator[LabelledRows | None]:
    """Labels of the operands that share the last axis of a table.

    The factor of a covariance has the labels of its rows.
    """
    operands: Sequence[Node] = ()
    if isinstance(node, Variable) and node.distribution is not None:
        operands = (node.distribution,)
    elif isinstance(node, Distribution):
        named_parameters = [*zip(node.family.parameters, node.parents, strict=True)]
        events = node.family.event_ndim
        factors = [p for each, p in named_parameters if each.name in ("chol", "col_chol")]
        yield from (indexed.get(factor) for factor in factors if events)
        operands = [p for each, p in named_parameters if each.event_ndim <= events]
        operands = [p for p in operands if p not in factors]
    elif isinstance(node, Apply) and node.operation is MATMUL:
        operands = node.parents[1:]
    elif isinstance(node, Apply) and (node.operation.elementwise or node.operation in _BY_ROWS):
        operands = node.parents
    for operand in operands:
        if operand.shape[-1:] == node.shape[-1:]:
            yield (indexed if len(operand.shape) == 1 else columns).get(operand)


def _of_other_axes(
    node: Node, observed: Node | None, indexed: Labels, columns: Labels
) -> Iterator[tuple[LabelledRows, LabelledRows]]:
    """Pairs of labels that are combined along other axes than the rows.

    These are the columns of a matrix and the rows of the second operand of a product, and the
    columns of tables with each other and with the vectors that broadcast to them. The labels of the
    columns of `node` are added to `columns`.
    """
    if isinstance(node, Apply) and node.operation is MATMUL:
        table, other = node.parents
        if table in columns and other in indexed:
            yield columns[table], indexed[other]
    if len(node.shape) != 2:
        return
    tables = [columns.get(node), None if observed is None else columns.get(observed)]
    labels = [*tables, *_operands_of_columns(node, indexed, columns)]
    first, *further = dict.fromkeys(each for each in labels if each is not None) or (None,)
    if first is not None:
        columns.setdefault(node, first)
        for second in further:
            assert second is not None
            yield (second, first) if second.axis == "column" else (first, second)


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


def _follows(rows: LabelledRows, earlier: LabelledRows) -> bool:
    """Whether unsorted rows are later rows of the same column."""
    a, b = earlier.index, rows.index
    return not (b.is_monotonic_increasing or b.equals(a)) and continues(a, b)


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
    levels = ".reorder_levels(y.index.names)" if other_levels(a.index, b.index) else ""
    way_out = f"x{levels}.loc[y.index], or write x.to_numpy() if the positions are right"
    if a.is_dim or b.is_dim:
        owners = "the index of a pandas object and the labels of a dimension"
        way_out = "y.loc[labels], or write y.to_numpy() if the positions are right"
    if a.axis == b.axis == "column":
        axis, owners, way_out = "column", "the columns of the two tables", "x[y.columns]"
    elif "column" in (a.axis, b.axis):
        axis = "place"
        owners = (
            f"the columns of the first and the {'labels' if b.is_dim else 'index'} of the second"
        )
        labels_in_words = "labels" if b.is_dim else "y.index"
        way_out = f"x[{labels_in_words}], or write x.to_numpy() if the positions are right"
    return (
        f"{x} and {y} are combined{place_text()}{more}, but {owners} "
        f"have {how}: {axis} {row} is {labels[0]} in one and {labels[1]} in the other. "
        f"Arrays are combined by position: give both the same order, as in {way_out}"
    )
