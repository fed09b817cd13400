"""`kg.vmap`: a function of rows, computed for all rows at once."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ..array import Array
from ..elementwise import as_node
from ..errors import ModelError, ShapeError
from ..lower import Scope
from ..node import Node, Operation
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
from .structure import flatten
from .subgraph import Subgraph
from .variables import names_of_parameters

if TYPE_CHECKING:
    from ..representations import Forms

__all__ = ["Batch", "vmap"]


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


def vmap(f: Callable[..., Any], name: str | None = None) -> Callable[..., Any]:
    """The function that computes `f` for every row of its arguments.

        vmap(f)(x, y)[i] = f(x[i], y[i])

    Values, derivatives and the trips of loops of each row are those of the row alone. A conditional
    whose rows take different branches computes all of them, and a loop runs until its last row is
    finished.

    Parameters
    ----------
    f
        A function of arrays that gives a structure of arrays.
    name
        How messages and drawings call it.

    Raises
    ------
    ShapeError
        If arguments have no rows, or not equally many.
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
    """
    check_function(f, "f", "vmap", None)

    def batched(*arguments: Any) -> Any:
        names = names_of_parameters(f, len(arguments))
        flat = [flatten(a, n) for a, n in zip(arguments, names, strict=True)]
        rows = [as_node(leaf, "vmap") for leaves, _, _ in flat for leaf in leaves]
        paths = [path for _, where, _ in flat for path in where]
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
        left = iter(map(Array, inner))
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
        return returned.structure.fill(map(Array, parts[:count]))

    return batched
