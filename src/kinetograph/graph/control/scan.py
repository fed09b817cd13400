"""`kg.scan`: a loop over rows, with a fixed number of trips."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..array import Array
from ..errors import ShapeError
from ..lower import Scope
from ..messages import describe
from ..node import CURRENT, Inner, Node, Operation
from ..operations.elementwise import astype
from ..operations.operands import as_node
from ..public import public
from ..rewriting.participation import Tracked, carried_on, plain, read
from ..rewriting.rowwise import Rowwise
from ..source import place_text
from .contexts import ScanContext
from .control_node import Control
from .forms import Growth
from .liveness import Places
from .results import Returned, check_function, collect, wrap_parts
from .rollback import aside
from .structure import Structure, flatten
from .subgraph import Subgraph
from .variables import Variables, grown, match_result, names_of_parameters, read_variables

if TYPE_CHECKING:
    from ..forms.representations import Forms

__all__ = ["Scan", "build", "scan"]


class Scan(Control):
    """A body over carried values, rows and captures.

    Parents: the carry, the carried states, the rows, the captures. Results: the carry, the states,
    the stacked results of all trips.
    """

    __slots__ = ("carried", "length", "results", "reverse", "rows")
    kind_name = "scan"
    tracks = True

    def __init__(
        self,
        context: ScanContext,
        parents: tuple[Sequence[Node], Sequence[Node], Sequence[Node]],
        body: Subgraph,
        *,
        length: int,
        reverse: bool,
    ) -> None:
        carried, rows, captures = parents
        super().__init__(SCAN, (*carried, *rows, *captures), (body,), (context,), {})
        self.carried, self.rows = len(carried), len(rows)
        self.results = len(body.outputs) - self.carried
        self.length, self.reverse = length, reverse

    def static_text(self) -> str:
        """The settings that determine the results, besides parents and subgraphs."""
        return f"{self.carried} {self.rows} {self.length} {self.reverse}"

    def input_name(self, place: int) -> str:
        """The name of the variable or row of a parent.

        Empty for captures.
        """
        is_named = place < self.carried + self.rows
        return self.subgraphs[0].inputs[place].label() if is_named else ""

    def result_name(self, place: int) -> str:
        """The suffix that selects a result in text."""
        if place < self.carried:
            return f".{self.input_name(place)}"
        return f".ys[{place - self.carried}]" if self.results > 1 else ".ys"

    def live_outputs(self, places: Places | None) -> Places:
        """The outputs of the body on which derivatives depend.

        `places` are the places of the differentiated results; None for all.

        They are the fixed point over trips: an output also takes part if a later trip reads it.
        """
        (body,) = self.subgraphs
        live = frozenset(range(len(body.outputs)) if places is None else places)
        while not live >= (
            carried_outputs := {i for i in body.live_inputs(live) if i < self.carried}
        ):
            live |= carried_outputs
        return live

    def live_parents(self, places: Places) -> Iterable[int]:
        """The carry, rows and captures that take part in derivatives."""
        return self.subgraphs[0].live_inputs(self.live_outputs(places)) | {
            i for i in places if i < self.carried
        }

    def surely_reads(self, places: Places | None) -> Iterable[int]:
        """The parents that every trip reads; empty if there are no trips."""
        return self.subgraphs[0].surely_read(self.live_outputs(places)) if self.length else ()

    def compute(self, tensors: list[Any], scope: Scope) -> list[Any]:
        """Compute the carry after the last row, and the stacked results."""
        (body,) = self.subgraphs
        live = self.live_outputs(scope.live_places(self)) if scope.modes else frozenset()
        tracked = {i for i, t in enumerate(tensors) if isinstance(t, Tracked)}
        if tracked and self.length:
            certain_places = body.surely_read(live)
            tensors = [read(t) if i in certain_places else t for i, t in enumerate(tensors)]
            tracked -= certain_places
        if scope.eager:
            return self._interpret(tensors, scope)
        rowwise = Rowwise(self, tracked, 0 if self.reverse else self.length)
        tracked = body.passed_on(tracked, self.carried) & live
        loops = scope.reporting(body)

        def settled(tensors: Sequence[Any]) -> list[Any]:
            if not scope.modes:
                return [jnp.asarray(x) for x in tensors]
            return [
                jax.tree.map(jnp.asarray, carried_on(x, i in tracked))
                if i in live
                else lax.stop_gradient(jnp.asarray(plain(x)))
                for i, x in enumerate(tensors)
            ]

        def turn(state: Any, row: Any) -> Any:
            (carry, reports), (own_rows, row_slices) = state, row
            variables, instead = rowwise.begin(carry, row_slices)
            inner = scope.inside(instead=instead)
            inner.receive(loops, reports)
            outputs = settled(body.compute((*variables, *own_rows, *captures), inner, live))
            next_carry, written = rowwise.end(carry, outputs[: self.carried])
            return (next_carry, inner.reports(loops)), (written, outputs[self.carried :])

        initial = settled(tensors[: self.carried])
        rows = [jnp.asarray(read(t)) for t in tensors[self.carried : self.carried + self.rows]]
        captures = tensors[self.carried + self.rows :]
        carry, row_slices = rowwise.enter((*initial, *rows, *captures))
        start = (carry, scope.inside().reports(loops))
        (final, reports), (written, results) = lax.scan(
            turn, start, (rows, row_slices), length=self.length, reverse=self.reverse
        )
        scope.receive(loops, reports)
        return [*rowwise.leave(initial, final, written, None), *results]

    def form(self, place: int, kind: str, forms: "Forms") -> Node | None:
        """Another form of the last carry or stacked results, or None."""
        (body,), (context,) = self.subgraphs, self.contexts
        assert isinstance(context, ScanContext)
        carried, first_capture = self.carried, self.carried + self.rows
        with aside(self):
            growth = Growth.of(self, place, kind, forms)
            if growth is None:
                return None
            rows, captures = growth.arriving("row"), growth.arriving("captured")
            row_inputs, captured_inputs = (
                body.inputs[carried:first_capture],
                body.inputs[first_capture:],
            )
            inputs = (*growth.entering(body), *row_inputs, *rows, *captured_inputs, *captures)
            parents = (
                growth.starts,
                (*self.parents[carried:first_capture], *(n.outer for n in rows)),
                (*self.parents[first_capture:], *(n.outer for n in captures)),
            )
            form_node, is_carry = growth.wanted, place < carried
            body_of_form = Subgraph(
                inputs, growth.leaving if is_carry else [*growth.leaving, form_node]
            )
            node = Scan(context, parents, body_of_form, length=self.length, reverse=self.reverse)
        if is_carry:
            return node.part(growth.variables, form_node.shape, form_node.dtype)
        return node.part(node.carried, (self.length, *form_node.shape), form_node.dtype)

    def _interpret(self, tensors: list[Any], scope: Scope) -> list[Any]:
        (body,) = self.subgraphs
        carry, captures = tensors[: self.carried], tensors[self.carried + self.rows :]
        rows = [jnp.asarray(read(t)) for t in tensors[self.carried : self.carried + self.rows]]
        order = range(self.length)
        results: list[list[Any]] = []
        for i in reversed(order) if self.reverse else order:
            with scope.within(f"row {i} of {self.title}"):
                outputs = body.compute((*carry, *(r[i] for r in rows), *captures), scope)
            carry = list(outputs[: self.carried])
            results.append(list(map(read, outputs[self.carried :])))
        if self.reverse:
            results.reverse()
        stacked = []
        for place, node in enumerate(body.outputs[self.carried :]):
            column = [jnp.asarray(result[place]) for result in results]
            empty = jnp.zeros((0, *node.shape), node.dtype)
            stacked.append(jnp.stack(column) if column else empty)
        return [*carry, *stacked]


SCAN = Operation("scan", lambda *tensors: None)


@public
def scan(
    f: Callable[..., Any] | None = None,
    init: Any = None,
    xs: Any = None,
    length: int | None = None,
    *,
    reverse: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Loop over rows with carried values, and stack the results.

        carry = init
        for x in xs: carry, y = f(carry, x); ys.append(y)
        return carry, stack(ys)

    Parameters
    ----------
    f
        Called once, now, with the carry and a row. Returns the next carry, in the same structure,
        and a result: any structure of arrays, or None.
    init
        The first carry: a structure of arrays and numbers.
    xs
        A structure of arrays of equal length along the first axis; None to repeat without rows.
    length
        The number of trips; needed where `xs` is None.
    reverse
        Whether to process rows from the last to the first. Each result has the place of its row.
    name
        The name in messages and drawings.

    Returns
    -------
    carry, ys
        The last carry, and the results with a new first axis.

    Raises
    ------
    ValueError
        If lengths do not agree or are not given.
    TypeError
        If the carry changes its structure or type.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.placeholder((4,), name="x")
    >>> total, sums = kg.scan(lambda s, v: (s + v, s + v), 0.0, x)
    >>> f = kg.compile([x], sums)
    >>> [float(v) for v in f([1.0, 2.0, 3.0, 4.0])]
    [1.0, 3.0, 6.0, 10.0]
    """
    check_function(f, "f", "scan", ("the carry", "a row"))
    assert f is not None
    if init is None:
        raise ValueError(f"scan: init must be provided{place_text()}")
    variables = read_variables(init, "scan", f, spread=False)
    rows, row_paths, row_pattern = _rows(xs, f)
    count = _length(rows, row_paths, length)
    return build(f, variables, (rows, row_paths, row_pattern), count, reverse, name)


def build(
    f: Callable[..., Any],
    variables: Variables,
    rows: tuple[list[Node], list[str], Structure],
    length: int,
    reverse: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Build the loop from a function, a carry and rows.

    The arguments have been checked.

    The loop is built again when a Python number in the carry takes the type of an array.
    """
    for _ in range(5 * len(variables.nodes) + 1):
        context = ScanContext(name)
        before = CURRENT.adapted
        attempt = _attempt(context, f, variables, rows)
        carry, outputs, _ = attempt
        changed_variables = grown(variables, carry, outputs, CURRENT.adapted > before, "scan")
        if changed_variables is None:
            return _finish(context, variables, attempt, length, reverse)
        variables, name = changed_variables, context.name
        context.discard()
    raise AssertionError("types of the carry do not settle")


def _rows(xs: Any, f: Callable[..., Any]) -> tuple[list[Node], list[str], Structure]:
    name = names_of_parameters(f, 2)[1]
    leaves, paths, structure = flatten(xs, "xs" if name.startswith("loop_vars") else name)
    nodes = [as_node(leaf, "scan") for leaf in leaves]
    for node, path in zip(nodes, paths, strict=True):
        if not node.shape:
            raise ShapeError(
                f"scan: xs{place_text()}: {describe(node)}, the rows of {path!r}, is a single "
                "number and has no rows"
            )
    return nodes, paths, structure


def _length(rows: Sequence[Node], paths: Sequence[str], length: Any) -> int:
    sizes = {path: node.shape[0] for path, node in zip(paths, rows, strict=True)}
    if length is not None:
        if isinstance(length, bool) or not isinstance(length, (int, np.integer)) or length < 0:
            raise ValueError(
                f"scan: length must be a whole number that is known when the graph is built, got "
                f"{length!r}{place_text()}; for a number known only at run time use kg.while_loop"
            )
        sizes = {"length": int(length), **sizes}
    if not sizes:
        raise ValueError(f"scan: give xs or length{place_text()}")
    if len(set(sizes.values())) > 1:
        lengths_text = ", ".join(f"{path} has {size}" for path, size in sizes.items())
        raise ShapeError(f"scan: lengths do not agree: {lengths_text}{place_text()}")
    return next(iter(sizes.values()))


def _attempt(
    context: ScanContext,
    f: Callable[..., Any],
    variables: Variables,
    rows: tuple[list[Node], list[str], Structure],
) -> tuple[list[Inner], list[Node], Returned]:
    carry = [
        context.argument(node, "loop variable", path)
        for node, path in zip(variables.nodes, variables.paths, strict=True)
    ]
    context._set("loop_variables", tuple(carry))
    nodes, paths, structure = rows
    for node, path in zip(nodes, paths, strict=True):
        context.argument(node, "row", path, shape=node.shape[1:])
    inner_rows = [n for n in context._arguments if n.role == "row"]
    with context:
        result = f(
            variables.structure.fill(map(Array, carry)), structure.fill(map(Array, inner_rows))
        )
    if not isinstance(result, tuple) or len(result) != 2:
        raise TypeError(
            f"scan: f must return a pair (carry, y){place_text()}, got {type(result).__name__}; "
            "return (carry, None) where there is no result"
        )
    new = match_result(result[0], variables, context, "scan", "f")
    results = collect(result[1], context, "scan: what f returns")
    return carry, new, results


def _finish(
    context: ScanContext,
    variables: Variables,
    attempt: tuple[list[Inner], list[Node], Returned],
    length: int,
    reverse: bool,
) -> tuple[Any, Any]:
    carry, nodes, results = attempt
    weak = [a.weak and b.weak for a, b in zip(carry, nodes, strict=True)]
    outputs = []
    for inner, node in zip(carry, nodes, strict=True):
        if node.shape != inner.shape:
            raise ShapeError(
                f"scan: {inner.label()!r} enters the loop with shape {inner.shape}, but has shape "
                f"{node.shape} after one iteration{place_text()}"
            )
        with context:
            outputs.append(astype(node, inner.dtype) if node.dtype != inner.dtype else node)
    versions = context._versions
    cells = list(versions.assigned)
    entries = [e for cell in cells if isinstance(e := versions.entered[cell], Inner)]
    entry_ids = set(map(id, entries))
    captures = [
        n for n in context._arguments if n.role in ("captured", "state") and id(n) not in entry_ids
    ]
    inner_rows = [n for n in context._arguments if n.role == "row"]
    latest = [versions.latest[cell] for cell in cells]
    body = Subgraph((*carry, *entries, *inner_rows, *captures), (*outputs, *latest, *results.nodes))
    initial = [n.outer for n in (*carry, *entries)]
    node = Scan(
        context,
        (initial, [n.outer for n in inner_rows], [n.outer for n in captures]),
        body,
        length=length,
        reverse=reverse,
    )
    final_carry = wrap_parts(node, body.outputs[: len(initial)], cells, weak)
    stacked = [
        Array(node.part(len(initial) + i, (length, *n.shape), n.dtype))
        for i, n in enumerate(results.nodes)
    ]
    return variables.restored(final_carry), results.structure.fill(stacked)
