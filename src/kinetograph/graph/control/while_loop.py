"""`kg.while_loop`: build a while loop from two Python functions."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from ..array import Array
from ..errors import KinetographError, ShapeError, SymbolicError
from ..messages import describe
from ..node import CURRENT, Inner, Node
from ..operations.elementwise import astype, elementwise
from ..operations.operands import as_node
from ..operations.shaping import reshape
from ..public import public
from ..source import place_text
from .contexts import WhileContext
from .effects import EFFECTS, unfailed
from .loops import GRADS, While
from .results import check_function, wrap_parts
from .state import Cell
from .subgraph import Subgraph
from .variables import Variables, grown, match_result, read_variables

__all__ = ["Options", "as_bound", "build", "check_options", "while_loop"]


@public
def while_loop(
    cond: Callable[..., Any] | None = None,
    body: Callable[..., Any] | None = None,
    loop_vars: Any = None,
    maximum_iterations: Any = None,
    grad: Literal["auto", "stack", "checkpoint", "forward", "none"] | str = "auto",
    *,
    shape_invariants: Any = None,
    back_prop: bool = True,
    on_limit: Literal["stop", "error"] | str = "stop",
    parallel_iterations: int = 10,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Repeat `body` while `cond` is true.

        while cond(*loop_vars): loop_vars = body(*loop_vars)

    The number of trips depends on the values when the program runs. Derivatives of every order, in
    reverse and forward mode, are exact with and without a bound on the number of trips. Both
    functions are called once, now, and once more if a Python number among `loop_vars` has to take
    another type.

    Parameters
    ----------
    cond
        Called with the loop variables; returns a boolean scalar.
    body
        Called with the loop variables; returns their next values, in the same structure.
    loop_vars
        A list or tuple of loop variables, each an array, a number or a nested structure of them;
        any other value is one loop variable. Shapes and types do not change from trip to trip.
    maximum_iterations
        The largest number of trips, after which the loop ends: an integer or an integer array.
    grad
        The way in which reverse derivatives get the values of all trips. `"auto"`: a buffer, which
        is doubled when a run makes more trips than it holds, or `"checkpoint"` if the buffer would
        be too large. `"stack"`: a buffer for `maximum_iterations` trips. `"checkpoint"`: only the
        start is stored, and the loop is run again in segments. `"forward"`: a tangent of each input
        number of the loop is propagated through the trips. `"none"`: the derivative is zero.
    shape_invariants
        Shapes of the loop variables. Growing shapes are not supported and raise an error that
        explains what to do.
    back_prop
        False is the same as `grad="none"`.
    on_limit
        The behaviour when the bound ends the loop while `cond` is still true. `"stop"`: the loop
        returns its current values. `"error"`: a compiled function raises an error. In both cases
        `result.loop.truncated` is true.
    parallel_iterations, swap_memory
        Options of TensorFlow's `while_loop`, accepted without effect, because XLA does the
        scheduling.
    name
        The name of the loop in messages, drawings and reports.

    Returns
    -------
    The loop variables after the last trip, in the structure of `loop_vars`. Each is an array with
    an attribute `loop`, which has `trips` and `truncated`.

    Raises
    ------
    TypeError
        If a function cannot be called, `cond` does not return a boolean scalar, a loop variable
        changes its type, or `body` returns another structure.
    ValueError
        If there are no loop variables, their shapes or number change, or an option is unknown.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x, w = kg.placeholder(name="x"), kg.placeholder(name="w")
    >>> (y,) = kg.while_loop(lambda v: v < 100, lambda v: v * w, [x])
    >>> f = kg.compile([x, w], [y, *kg.gradients(y, [x, w])])
    >>> [float(v) for v in f(2, 2)]
    [128.0, 64.0, 384.0]

    References
    ----------
    Yu et al. (2018), Dynamic control flow in large-scale machine learning, EuroSys.
    """
    check_function(cond, "cond", "while_loop", None)
    check_function(body, "body", "while_loop", None)
    assert cond is not None
    assert body is not None
    check_options(grad, on_limit, parallel_iterations)
    variables = read_variables(loop_vars, "while_loop", body)
    count = len(variables.structure.parts) if variables.several else 1
    arguments = [f"loop_vars[{i}]" for i in range(count)]
    check_function(cond, "cond", "while_loop", arguments)
    check_function(body, "body", "while_loop", arguments)
    bound = as_bound(maximum_iterations)
    _check_invariants(shape_invariants, variables)
    grad = grad if back_prop else "none"
    if grad == "stack" and isinstance(bound, Node) and bound.context is not None:
        raise ValueError(
            f"while_loop: maximum_iterations {describe(bound)}{place_text()} must be statically "
            'known for grad="stack", or be defined at or outside the loop around; '
            'use grad="auto"'
        )
    options = Options(bound, grad, on_limit, parallel_iterations, swap_memory, shape_invariants)
    return build(cond, body, variables, options, name)


class Options(NamedTuple):
    """Options of a loop: bound and derivatives; see `while_loop`."""

    bound: int | Node | None = None
    grad: str = "auto"
    on_limit: str = "stop"
    parallel_iterations: int = 10
    swap_memory: bool = False
    shape_invariants: Any = None


def build(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    variables: Variables,
    options: Options,
    name: str | None = None,
) -> Any:
    """Build the loop from functions and variables that have been checked.

    The loop is built again when a Python number among the variables takes the type of an array.
    """
    attributes = {
        "maximum_iterations": options.bound,
        "grad": options.grad,
        "back_prop": options.grad != "none",
        "parallel_iterations": options.parallel_iterations,
        "swap_memory": options.swap_memory,
    }
    for _ in range(5 * len(variables.nodes) + 1):
        context = WhileContext(name, **attributes)
        before = CURRENT.adapted
        attempt = _attempt(context, cond, body, variables)
        adapted = CURRENT.adapted > before
        changed_variables = grown(variables, attempt.inners, attempt.outputs, adapted, "while_loop")
        if changed_variables is None:
            return _finish(context, attempt, variables, options)
        variables, name = changed_variables, context.name
        context.discard()
    raise AssertionError("types of loop variables do not settle")


class _Attempt(NamedTuple):
    inners: list[Inner]
    verdict: Node
    judged: dict[Cell, Node]  # the versions of states that the predicate assigned
    entries: dict[Cell, Node]  # the versions of these states at the start of the body
    outputs: list[Node]


def _attempt(
    context: WhileContext,
    cond: Callable[..., Any],
    body: Callable[..., Any],
    variables: Variables,
) -> _Attempt:
    inners = [
        context.argument(node, "loop variable", path)
        for node, path in zip(variables.nodes, variables.paths, strict=True)
    ]
    context._set("loop_variables", tuple(inners))
    arrays = [Array(inner) for inner in inners]
    with context:
        verdict = cond(*variables.arguments(arrays))
    verdict = _verdict(verdict, context)
    versions = context._versions
    judged = {cell: versions.latest[cell] for cell in versions.assigned}
    entries: dict[Cell, Node] = {}
    for cell in judged:
        entry = versions.entered[cell]
        assert isinstance(entry, Inner)
        entries[cell] = context.argument(entry.outer, "judged state", cell.name)
        versions.latest[cell] = entries[cell]
    with context:
        result = body(*variables.arguments(arrays))
    if result is None:
        raise ValueError(f"while_loop: body must have a return value{place_text()}")
    outputs = match_result(result, variables, context, "while_loop", "body")
    return _Attempt(inners, verdict, judged, entries, outputs)


def _finish(
    context: WhileContext,
    attempt: _Attempt,
    variables: Variables,
    options: Options,
) -> Any:
    outputs = []
    for inner, node in zip(attempt.inners, attempt.outputs, strict=True):
        if node.shape != inner.shape:
            raise _changed_shape(inner, node, options.shape_invariants)
        with context:
            outputs.append(astype(node, inner.dtype) if node.dtype != inner.dtype else node)
    weak = [a.weak and b.weak for a, b in zip(attempt.inners, attempt.outputs, strict=True)]
    versions = context._versions
    cells = list(versions.assigned)
    entries = [versions.entered[cell] for cell in cells]
    entry_ids = set(map(id, entries))
    captures = [
        inner
        for inner in context._arguments
        if inner.role in ("captured", "state") and id(inner) not in entry_ids
    ]
    inputs = [e for e in (*attempt.inners, *entries) if isinstance(e, Inner)]
    body_inputs = [
        *attempt.inners,
        *(attempt.entries.get(c, e) for c, e in zip(cells, entries, strict=True)),
    ]
    verdict = attempt.verdict
    if EFFECTS in versions.assigned:
        with context:
            state = attempt.judged.get(EFFECTS, versions.entered[EFFECTS])
            verdict = elementwise("logical_and", verdict, unfailed(state))
    predicate = Subgraph((*inputs, *captures), (verdict, *attempt.judged.values()))
    body = Subgraph(
        (*(n for n in body_inputs if isinstance(n, Inner)), *captures),
        (*outputs, *(versions.latest[cell] for cell in cells)),
    )
    node = While(
        context,
        [inner.outer for inner in inputs],
        [inner.outer for inner in captures],
        predicate,
        body,
        variables=len(outputs),
        judging=[len(outputs) + cells.index(cell) for cell in attempt.judged],
        bound=options.bound,
        grad=options.grad,
        on_limit=options.on_limit,
    )
    return variables.restored(wrap_parts(node, body.outputs, cells, weak))


def _changed_shape(inner: Inner, node: Node, invariants: Any) -> Exception:
    name = inner.label()
    if invariants is not None:
        return ShapeError(
            f"while_loop: {name!r} grows from shape {inner.shape} to {node.shape}{place_text()}: "
            "shape_invariants cannot allow it, because compiled programs have fixed shapes; start "
            "with a buffer of the largest size and a counter, and write into it with "
            f"{name}.at[i].set(value)"
        )
    return ShapeError(
        f"while_loop: {name!r} enters the loop with shape {inner.shape}, but has shape "
        f"{node.shape} after one iteration{place_text()}. Shapes are fixed in compiled programs "
        "(shape_invariants cannot change that): start with an array of the final shape and write "
        f"into it with {name}.at[i].set(value)"
    )


def _verdict(value: Any, context: WhileContext) -> Node:
    with context:
        if isinstance(value, (bool, np.bool_)):
            value = np.asarray(value)
        try:
            node = as_node(value, "while_loop")
        except KinetographError as error:
            raise TypeError(f"while_loop: what cond returns{place_text()}: {error}") from None
        if node.dtype.kind != "b" or node.size != 1:
            raise SymbolicError(
                f"while_loop: cond must return a bool scalar, got {node.dtype} of shape "
                f"{node.shape}{place_text()}; return a comparison, such as i < 10, or use "
                ".any() or .all()"
            )
        return context.add_value(reshape(node, ()) if node.shape else node)


def as_bound(value: Any) -> int | Node | None:
    """The bound of a loop as a number or node.

    Raises ValueError if the bound is not valid.
    """
    if value is None:
        return None
    node = as_node(value, "while_loop")
    if node.shape or node.dtype.kind not in "iu":
        raise ValueError(
            f"while_loop: maximum_iterations must be a scalar whole number, got "
            f"{describe(node)} ({node.dtype}, shape {node.shape}){place_text()}"
        )
    if isinstance(value, (int, np.integer)):
        if value < 0:
            raise ValueError(
                f"while_loop: maximum_iterations must not be negative, got {value}{place_text()}"
            )
        return int(min(value, 2**31 - 1))
    return node


def check_options(grad: str, on_limit: str, parallel_iterations: Any) -> None:
    """Raise an error if an option of a loop is not valid."""
    if grad not in GRADS:
        choices = ", ".join(map(repr, GRADS))
        raise ValueError(f"while_loop: grad is {grad!r}{place_text()}; choose one of {choices}")
    if on_limit not in ("stop", "error"):
        raise ValueError(
            f"while_loop: on_limit is {on_limit!r}{place_text()}; choose 'stop' or 'error'"
        )
    whole = isinstance(parallel_iterations, (int, np.integer))
    if isinstance(parallel_iterations, bool) or not whole or parallel_iterations < 1:
        raise TypeError(
            "while_loop: parallel_iterations must be a positive integer, got "
            f"{parallel_iterations!r}{place_text()}"
        )


def _check_invariants(invariants: Any, variables: Variables) -> None:
    if invariants is None:
        return
    shapes = list(invariants) if isinstance(invariants, (list, tuple)) else [invariants]
    if len(variables.nodes) == 1 and not any(isinstance(s, (list, tuple)) for s in shapes):
        shapes = [shapes]
    if len(shapes) != len(variables.nodes):
        raise ValueError(
            f"while_loop: {len(shapes)} shape_invariants for {len(variables.nodes)} loop "
            f"variables{place_text()}"
        )
    for shape, node, path in zip(shapes, variables.nodes, variables.paths, strict=True):
        if shape is None:
            continue
        fits = len(shape) == len(node.shape) and all(
            s in (None, n) for s, n in zip(shape, node.shape, strict=True)
        )
        if not fits:
            raise ShapeError(
                f"while_loop: the shape invariant specified for {path!r}, {tuple(shape)}, is not "
                f"compatible with the initial shape {node.shape}{place_text()}"
            )
