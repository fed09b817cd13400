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
from ..operations.elementwise import as_node
from ..operations.shaping import moveaxis
from ..participation import read
from ..source import place_text
from ..trips import Trips
from .contexts import BatchContext
from .control import Control
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
    """A subgraph over rows and captures; results have the rows as their first axis."""

    __slots__ = ("rows", "size_of_batch")
    kind_name = "vmap"
    tracks = True

    def __init__(
        self, context: BatchContext, rows: list[Node], captures: list[Node], body: Subgraph
    ) -> None:
        super().__init__(BATCH, (*rows, *captures), (body,), (context,), {})
        self.rows = len(rows)
        self.size_of_batch = rows[0].shape[0]

    def static_text(self) -> str:
        """What, beside parents and subgraphs, the results depend on."""
        return f"{self.rows} {self.size_of_batch}"

    def input_name(self, place: int) -> str:
        """The row that a parent gives; nothing for captures."""
        return self.subgraphs[0].inputs[place].label() if place < self.rows else ""

    def live_parents(self, places: Places) -> Iterable[int]:
        """The rows and captures that take part."""
        return self.subgraphs[0].live_inputs(places)

    def form(self, place: int, kind: str, forms: "Forms") -> Node | None:
        """Another form of a result, of all rows."""
        (body,), (context,) = self.subgraphs, self.contexts
        assert isinstance(context, BatchContext)
        with aside(self):
            wanted = forms(body.outputs[place], kind)
            if wanted is None:
                return None
            rows, captures = (arriving([wanted], body.inputs, r) for r in ("row", "captured"))
            inputs = (*body.inputs[: self.rows], *rows, *body.inputs[self.rows :], *captures)
            node = Batch(
                context,
                [*self.parents[: self.rows], *(n.outer for n in rows)],
                [*self.parents[self.rows :], *(n.outer for n in captures)],
                Subgraph(inputs, [wanted]),
            )
        return node.part(0, (self.size_of_batch, *wanted.shape), wanted.dtype)

    def surely_reads(self, places: Places | None) -> Iterable[int]:
        """The rows, and the captures that the computation of each row reads."""
        found = self.subgraphs[0].surely_read(places) if self.size_of_batch else frozenset()
        return found | frozenset(range(self.rows))

    def compute(self, tensors: list[Any], scope: Scope) -> list[Any]:
        """The results of all rows."""
        (body,) = self.subgraphs
        rows, captures = list(map(read, tensors[: self.rows])), tensors[self.rows :]
        if scope.eager or self.size_of_batch == 0:
            each = [
                body.compute((*(r[i] for r in rows), *captures), scope)
                for i in range(self.size_of_batch)
            ]
            return [
                jnp.stack([jnp.asarray(read(outputs[i])) for outputs in each])
                if each
                else jnp.zeros((0, *node.shape), node.dtype)
                for i, node in enumerate(body.outputs)
            ]

        loops = scope.reporting(body)

        def one(*rows: Any) -> Any:
            inner = scope.inside()
            outputs = body.compute((*rows, *captures), inner, scope.live_places(self))
            return tuple(map(read, outputs)), inner.reports(loops)

        results, reports = jax.vmap(one)(*map(jnp.asarray, rows))
        scope.receive(loops, [Trips(*(x.max(0) for x in trips)) for trips in reports])
        return list(results)


BATCH = Operation("vmap", lambda *tensors: None)


def vmap(
    f: Callable[..., Any], name: str | None = None, *, in_axes: Any = 0, out_axes: Any = 0
) -> Callable[..., Any]:
    """The function that computes `f` for every row of its arguments.

        vmap(f)(x, y)[i] = f(x[i], y[i])

    Values, derivatives and the trips of loops of each row are those of the row alone. A conditional
    whose rows take different branches computes all of them, and a loop runs until its last row is
    finished or, on CPU where that is faster, row by row.

    Parameters
    ----------
    f
        A function of arrays that gives a structure of arrays.
    name
        How messages and drawings call it.
    in_axes
        Along which axis the rows of the arguments lie, None for what is the same for all: one
        number for all arguments, or a tuple with one for each, in which there may be structures
        like the argument's, with a number for each of its parts.
    out_axes
        The same of the results, of which each has rows.

    Raises
    ------
    ShapeError
        If arguments have no rows, or not equally many.
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

    def batched(*arguments: Any) -> Any:
        names = names_of_parameters(f, len(arguments))
        flat = [flatten(a, n) for a, n in zip(arguments, names, strict=True)]
        axes = _axes_of_arguments(in_axes, [structure for _, _, structure in flat], names)
        leaves = [leaf for leaves, _, _ in flat for leaf in leaves]
        every = [path for _, where, _ in flat for path in where]
        with_rows = [i for i, axis in enumerate(axes) if axis is not None]
        paths = [every[i] for i in with_rows]
        rows = [_rows_first(leaves[i], axes[i], every[i]) for i in with_rows]
        sizes = {path: n.shape[0] if n.shape else None for path, n in zip(paths, rows)}
        if not rows or len(set(sizes.values())) > 1 or None in sizes.values():
            what = ", ".join(f"{p} has {'none' if n is None else n}" for p, n in sizes.items())
            raise ShapeError(
                f"vmap: arguments need equally many rows: {what or 'there are none'}{place_text()}"
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
        left = iter(leaves)
        check_function(f, "f", "vmap", names)
        with context:
            result = f(*(structure.fill(left) for _, _, structure in flat))
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
            raise ValueError("vmap: out_axes: each result has rows, so that None says nothing")
        moved = [
            moveaxis(part, 0, _axis(place, part.shape, path or "the result"))
            for part, place, path in zip(parts[:count], places, returned.paths, strict=True)
        ]
        return returned.structure.fill(map(Array, moved))

    return batched


def _axes_of_arguments(axes: Any, structures: Sequence[Structure], names: Sequence[str]) -> Axes:
    """Where the rows of each leaf of the arguments are; None: it has none."""
    each = axes if isinstance(axes, (tuple, list)) else [axes] * len(structures)
    if len(each) != len(structures):
        raise ValueError(
            f"vmap: in_axes has {len(each)} entries for {len(structures)} arguments{place_text()}"
        )
    found = [
        axis
        for structure, own, name in zip(structures, each, names, strict=True)
        for axis in _checked_axes(structure, own, f"in_axes of {name}")
    ]
    if found and all(axis is None for axis in found):
        raise ValueError(f"vmap: in_axes is None for all arguments: none has rows{place_text()}")
    return found


def _checked_axes(structure: Structure, axes: Any, what: str) -> Axes:
    try:
        found = list(structure.spread(axes, what))
    except TypeError as error:
        raise TypeError(f"vmap: {error}{place_text()}") from None
    for axis in found:
        if axis is not None and (isinstance(axis, bool) or not isinstance(axis, (int, np.integer))):
            raise TypeError(f"vmap: {what}: expected whole numbers or None, got {axis!r}")
    return found


def _axis(axis: Any, shape: tuple[int, ...], what: str) -> int:
    if not -len(shape) <= axis < len(shape):
        raise ShapeError(f"vmap: {what} of shape {shape} has no axis {axis}{place_text()}")
    return int(axis) % len(shape)


def _rows_first(value: Any, axis: Any, path: str) -> Node:
    """An argument with its rows along the first axis."""
    node = as_node(value, "vmap")
    if axis == 0:  # a number has no rows, which is told with those of the others
        return node
    return moveaxis(node, _axis(axis, node.shape, path), 0)
