"""`kg.vmap`: a function of rows, computed for all rows at once."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ..array import Array
from ..errors import ModelError, ShapeError
from ..lower import Scope
from ..node import Node, Operation
from ..operations.operands import as_node
from ..operations.shaping import moveaxis
from ..public import public
from ..rewriting.participation import read
from ..source import place_text
from ..trips import Trips
from ..value_texts import check_name
from .contexts import BatchContext
from .control_node import Control
from .forms import arriving
from .liveness import Places
from .results import check_function, collect
from .rollback import aside
from .state import current_versions
from .structure import Structure, flatten
from .subgraph import Subgraph
from .variables import names_of_parameters

if TYPE_CHECKING:
    from ..forms.representations import Forms

__all__ = ["Batch", "vmap"]

Axes = list[int | None]


class Batch(Control):
    """A node that computes a subgraph for every row.

    Parents: the rows, then the captures. The first axis of each result is the number of rows.
    """

    __slots__ = ("length", "rows")
    kind_name = "vmap"
    tracks = True
    carried = 0  # as for a loop over rows

    def __init__(
        self, context: BatchContext, rows: list[Node], captures: list[Node], body: Subgraph
    ) -> None:
        super().__init__(BATCH, (*rows, *captures), (body,), (context,), {})
        self.rows = len(rows)
        self.length = rows[0].shape[0]

    def static_text(self) -> str:
        """The settings that determine the results, besides parents and subgraphs."""
        return f"{self.rows} {self.length}"

    def input_name(self, place: int) -> str:
        """The name of the row that a parent provides; empty for captures."""
        return self.subgraphs[0].inputs[place].label() if place < self.rows else ""

    def live_parents(self, places: Places) -> Iterable[int]:
        """The rows and captures on which derivatives depend."""
        return self.subgraphs[0].live_inputs(places)

    def form(self, place: int, kind: str, forms: "Forms") -> Node | None:
        """Another form of a result for all rows, or None."""
        (body,), (context,) = self.subgraphs, self.contexts
        assert isinstance(context, BatchContext)
        with aside(self):
            row_form = forms(body.outputs[place], kind)
            if row_form is None:
                return None
            rows, captures = (arriving([row_form], body.inputs, r) for r in ("row", "captured"))
            inputs = (*body.inputs[: self.rows], *rows, *body.inputs[self.rows :], *captures)
            node = Batch(
                context,
                [*self.parents[: self.rows], *(n.outer for n in rows)],
                [*self.parents[self.rows :], *(n.outer for n in captures)],
                Subgraph(inputs, [row_form]),
            )
        return node.part(0, (self.length, *row_form.shape), row_form.dtype)

    def surely_reads(self, places: Places | None) -> Iterable[int]:
        """The rows, and the captures that the computation of every row reads."""
        places_read = self.subgraphs[0].surely_read(places) if self.length else frozenset()
        return places_read | frozenset(range(self.rows))

    def compute(self, tensors: list[Any], scope: Scope) -> list[Any]:
        """Compute the results of all rows."""
        (body,) = self.subgraphs
        rows, captures = list(map(read, tensors[: self.rows])), tensors[self.rows :]
        if scope.eager or self.length == 0:
            each = [
                body.compute((*(r[i] for r in rows), *captures), scope) for i in range(self.length)
            ]
            return [
                jnp.stack([jnp.asarray(read(outputs[i])) for outputs in each])
                if each
                else jnp.zeros((0, *node.shape), node.dtype)
                for i, node in enumerate(body.outputs)
            ]

        loops = scope.reporting(body)

        def compute_row(*rows: Any) -> Any:
            inner = scope.inside()
            outputs = body.compute((*rows, *captures), inner, scope.live_places(self))
            return tuple(map(read, outputs)), inner.reports(loops)

        results, reports = jax.vmap(compute_row)(*map(jnp.asarray, rows))
        scope.receive(loops, [Trips(*(x.max(0) for x in trips)) for trips in reports])
        return list(results)


BATCH = Operation("vmap", lambda *tensors: None)


@public
def vmap(
    f: Callable[..., Any], name: str | None = None, *, in_axes: Any = 0, out_axes: Any = 0
) -> Callable[..., Any]:
    """Return a function that computes `f` for every row of its arguments.

        vmap(f)(x, y)[i] = f(x[i], y[i])

    Values, derivatives and numbers of loop trips are the same as if each row were computed alone.
    If the rows of a conditional take different branches, all branches are computed. A loop runs
    until its last row is finished or, on CPU where that is faster, row by row.

    Parameters
    ----------
    f
        A function of arrays that returns a structure of arrays.
    name
        The name in messages and drawings.
    in_axes
        The axis of each argument along which its rows lie; None for an argument that is the same
        for all rows. Either one number for all arguments, or a tuple with an entry for each
        argument. An entry may be a nested structure like its argument, with a number for each part.
    out_axes
        The axis of the rows in each result, given in the same way. None is not allowed.

    Raises
    ------
    ShapeError
        If an argument has no rows, or the arguments have different numbers of rows.
    TypeError, ValueError
        If `in_axes` or `out_axes` do not fit the arguments or results, or no argument has rows.
    ModelError
        If `f` assigns a state: the rows have no order.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.placeholder((3,), name="x")
    >>> def halvings(v):
    ...     return kg.while_loop(lambda v, n: v > 1, lambda v, n: (v / 2, n + 1), [v, 0])[1]
    >>> f = kg.compile([x], kg.vmap(halvings)(x))
    >>> [int(n) for n in f([1.0, 7.0, 100.0])]
    [0, 3, 7]

    The columns of a matrix, with one number for all:

    >>> a = kg.data([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> total = kg.vmap(lambda column, k: k * column.sum(), in_axes=(1, None))
    >>> [float(v) for v in kg.compile([x], total(a, x[0]))([2.0, 0.0, 0.0])]
    [10.0, 14.0, 18.0]
    """
    check_function(f, "f", "vmap", None)
    check_name("vmap", name, "; kg.vmap(f) returns a function: write kg.vmap(f)(...)")

    def batched(*arguments: Any) -> Any:
        names = names_of_parameters(f, len(arguments))
        flattened = [flatten(a, n) for a, n in zip(arguments, names, strict=True)]
        axes = _axes_of_arguments(in_axes, [structure for _, _, structure in flattened], names)
        leaves = [leaf for leaves, _, _ in flattened for leaf in leaves]
        all_paths = [path for _, where, _ in flattened for path in where]
        with_rows = [i for i, axis in enumerate(axes) if axis is not None]
        paths = [all_paths[i] for i in with_rows]
        rows = [_rows_first(leaves[i], axes[i], all_paths[i]) for i in with_rows]
        sizes = {path: n.shape[0] if n.shape else None for path, n in zip(paths, rows)}
        if not rows or len(set(sizes.values())) > 1 or None in sizes.values():
            counts = ", ".join(f"{p} has {'none' if n is None else n}" for p, n in sizes.items())
            raise ShapeError(
                "vmap: arguments need equally many rows: "
                f"{counts or 'there are none'}{place_text()}"
            )
        size = rows[0].shape[0]
        numbers = as_node(np.arange(size, dtype=np.uint32))
        context = BatchContext(name, size=size, _numbers=numbers)
        inner = [
            context.argument(n, "row", path, shape=n.shape[1:])
            for n, path in zip(rows, paths, strict=True)
        ]
        for i, row in zip(with_rows, inner, strict=True):
            leaves[i] = Array(row)
        remaining_leaves = iter(leaves)
        check_function(f, "f", "vmap", names)
        with context:
            result = f(*(structure.fill(remaining_leaves) for _, _, structure in flattened))
        returned = collect(result, context, "vmap: what the function returns")
        cells = list(context._versions.assigned)
        for cell in cells:
            if not cell.hidden:
                raise ModelError(
                    f"vmap: the function assigns state {cell.title}{place_text()}, but the rows "
                    "have no order; return values and assign them outside"
                )
        inner = [n for n in context._arguments if n.role == "row"]
        captures = [n for n in context._arguments if n.role != "row"]
        outputs = [*returned.nodes, *(context._versions.latest[cell] for cell in cells)]
        body = Subgraph((*inner, *captures), outputs)
        node = Batch(context, [n.outer for n in inner], [n.outer for n in captures], body)
        parts = [node.part(i, (size, *n.shape), n.dtype) for i, n in enumerate(outputs)]
        count = len(returned.nodes)
        for cell, part, version in zip(cells, parts[count:], outputs[count:], strict=True):
            current_versions().replace(cell, cell.join(part, version))
        places = _checked_axes(returned.structure, out_axes, "out_axes")
        if None in places:
            raise ValueError("vmap: out_axes: None is not allowed, because each result has rows")
        moved = [
            moveaxis(part, 0, _axis(place, part.shape, path or "the result"))
            for part, place, path in zip(parts[:count], places, returned.paths, strict=True)
        ]
        return returned.structure.fill(map(Array, moved))

    return batched


def _axes_of_arguments(axes: Any, structures: Sequence[Structure], names: Sequence[str]) -> Axes:
    """The row axis of each leaf of the arguments; None without rows."""
    argument_axes = axes if isinstance(axes, (tuple, list)) else [axes] * len(structures)
    if len(argument_axes) != len(structures):
        raise ValueError(
            f"vmap: in_axes has {len(argument_axes)} entries for {len(structures)} arguments"
            f"{place_text()}"
        )
    leaf_axes = [
        axis
        for structure, axes_of_argument, name in zip(structures, argument_axes, names, strict=True)
        for axis in _checked_axes(structure, axes_of_argument, f"in_axes of {name}")
    ]
    if leaf_axes and all(axis is None for axis in leaf_axes):
        raise ValueError(f"vmap: in_axes is None for all arguments: none has rows{place_text()}")
    return leaf_axes


def _checked_axes(structure: Structure, axes: Any, subject: str) -> Axes:
    try:
        leaf_axes = list(structure.spread(axes, subject))
    except TypeError as error:
        raise TypeError(f"vmap: {error}{place_text()}") from None
    for axis in leaf_axes:
        if axis is not None and (isinstance(axis, bool) or not isinstance(axis, (int, np.integer))):
            raise TypeError(f"vmap: {subject}: expected whole numbers or None, got {axis!r}")
    return leaf_axes


def _axis(axis: Any, shape: tuple[int, ...], subject: str) -> int:
    if not -len(shape) <= axis < len(shape):
        raise ShapeError(f"vmap: {subject} of shape {shape} has no axis {axis}{place_text()}")
    return int(axis) % len(shape)


def _rows_first(value: Any, axis: Any, path: str) -> Node:
    """An argument with its rows along the first axis."""
    node = as_node(value, "vmap")
    if axis == 0:  # a number without rows is reported later, with the sizes of all arguments
        return node
    return moveaxis(node, _axis(axis, node.shape, path), 0)
