"""`kg.gradients`, `kg.jvp`, `kg.jacobian`, `kg.hessian`: exact derivatives as graph nodes."""

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any, overload

from .array import Array
from .control.contexts import current_context
from .control.control import Control, everything
from .control.loops import While
from .control.structure import flatten
from .control.subgraph import Subgraph
from .derivative import GRADIENTS, HESSIAN, JACOBIAN, JVP, Derivative
from .errors import ShapeError, SymbolicError
from .forms.by_value import FormByValue, forms_by_value
from .messages import describe
from .node import Apply, FormOf, Inner, Node, ancestors, sources
from .operations.elementwise import STOP_GRADIENT, astype
from .operations.operands import as_node
from .source import place_text
from .text import in_words

__all__ = ["gradients", "hessian", "jacobian", "jvp"]


@overload
def gradients(y: Any, xs: Array) -> Array: ...
@overload
def gradients(y: Any, xs: list[Any] | tuple[Any, ...]) -> list[Array]: ...
def gradients(y: Any, xs: Any) -> Any:
    """The gradient of a scalar by arrays, exact, by reverse differentiation.

        gradients(y, x)[...] = dy / dx[...]

    Inside a branch or loop, the derivative is that of what is computed there: loop variables are
    held fixed. By an array that is itself computed, as r = exp(e), y is differentiated as the
    function of r that it is where it uses r, and what r is computed from is held fixed.

    Parameters
    ----------
    y
        A floating-point array with one element.
    xs
        An array, or a list or tuple of arrays, of floating-point numbers.

    Returns
    -------
    Array or list of Array
        Shaped like `xs`. Zero where y does not depend on x.

    Raises
    ------
    ShapeError
        If y has several elements.
    SymbolicError
        If y or x is not of floating point, or if y uses a derivative that went through a computed
        x: that of r**2 by e is one of functions of e, and no function of r.
    ValueError
        If a loop on the way has `grad="stack"` but no bound.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.placeholder((2,), name="x")
    >>> f = kg.compile([x], kg.gradients((x**2).sum(), x))
    >>> f([3.0, 4.0]).tolist()
    [6.0, 8.0]
    """
    node = _scalar(y, "gradients")
    wanted, single = _inputs(xs, "gradients")
    part = _part([node], wanted, "gradients")
    _check_loops(part, wanted)
    made = Derivative(GRADIENTS, part, len(wanted))
    found = [Array(made.part(i, x.shape, x.dtype)) for i, x in enumerate(wanted)]
    return found[0] if single else found


@overload
def jacobian(y: Any, xs: Array) -> Array: ...
@overload
def jacobian(y: Any, xs: list[Any] | tuple[Any, ...]) -> list[Array]: ...
def jacobian(y: Any, xs: Any) -> Any:
    """The derivatives of each element of an array by arrays, exact, by forward differentiation.

        jacobian(y, x)[i, j] = dy[i] / dx[j]

    It takes a pass for each element of x, all at once; of one number `kg.gradients` takes one pass.

    Parameters
    ----------
    y
        A floating-point array of any shape.
    xs
        An array, or a list or tuple of arrays, of floating-point numbers.

    Returns
    -------
    Array or list of Array
        Of shape y.shape + x.shape. Zero where y does not depend on x.

    Raises
    ------
    SymbolicError
        As `kg.gradients`.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.placeholder((2,), name="x")
    >>> f = kg.compile([x], kg.jacobian(kg.stack([x[0] * x[1], x[0] ** 2]), x))
    >>> f([3.0, 4.0]).tolist()
    [[4.0, 3.0], [6.0, 0.0]]
    """
    node = as_node(y, "jacobian")
    _check_float(node, "jacobian", "differentiated")
    wanted, single = _inputs(xs, "jacobian")
    made = Derivative(JACOBIAN, _part([node], wanted, "jacobian"), len(wanted))
    found = [Array(made.part(i, (*node.shape, *x.shape), x.dtype)) for i, x in enumerate(wanted)]
    return found[0] if single else found


@overload
def hessian(y: Any, xs: Array) -> Array: ...
@overload
def hessian(y: Any, xs: list[Any] | tuple[Any, ...]) -> list[list[Array]]: ...
def hessian(y: Any, xs: Any) -> Any:
    """The second derivatives of a scalar by arrays, exact.

        hessian(y, x)[i, j] = d^2 y / dx[i] dx[j]

    Parameters
    ----------
    y
        A floating-point array with one element.
    xs
        An array, or a list or tuple of arrays.

    Returns
    -------
    Array or list of list of Array
        For an array x: shape x.shape + x.shape. For a list: the block `[i][j]` has shape
        xs[i].shape + xs[j].shape.

    Raises
    ------
    ShapeError, SymbolicError, ValueError
        As `kg.gradients`.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.placeholder((2,), name="x")
    >>> f = kg.compile([x], kg.hessian(x[0] ** 2 * x[1], x))
    >>> f([3.0, 4.0]).tolist()
    [[8.0, 6.0], [6.0, 0.0]]
    """
    node = _scalar(y, "hessian")
    wanted, single = _inputs(xs, "hessian")
    part = _part([node], wanted, "hessian")
    _check_loops(part, wanted)
    made = Derivative(HESSIAN, part, len(wanted))
    count = len(wanted)
    blocks = [
        [
            Array(made.part(i * count + j, (*a.shape, *b.shape), a.dtype))
            for j, b in enumerate(wanted)
        ]
        for i, a in enumerate(wanted)
    ]
    return blocks[0][0] if single else blocks


@overload
def jvp(y: Array, xs: Any, tangents: Any) -> Array: ...
@overload
def jvp(y: Any, xs: Any, tangents: Any) -> Any: ...
def jvp(y: Any, xs: Any, tangents: Any) -> Any:
    """The directional derivative of arrays, exact, by forward differentiation.

        jvp(y, x, v) = sum_j dy / dx[j] v[j]

    Parameters
    ----------
    y
        An array, or a structure of arrays.
    xs
        An array, or a list or tuple of arrays, of floating-point numbers.
    tangents
        The direction, shaped like `xs`.

    Returns
    -------
    The derivatives, in the structure of `y`.

    Raises
    ------
    ShapeError
        If a tangent's shape is not that of its x.
    SymbolicError
        If y or x is not of floating point.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.placeholder((2,), name="x")
    >>> f = kg.compile([x], kg.jvp(x**2, x, [1.0, 10.0]))
    >>> f([3.0, 4.0]).tolist()
    [6.0, 80.0]
    """
    leaves, _, structure = flatten(y, "y")
    outputs = [as_node(leaf, "jvp") for leaf in leaves]
    for node in outputs:
        _check_float(node, "jvp", "differentiated")
    wanted, single = _inputs(xs, "jvp")
    given = [tangents] if single else list(tangents)
    if len(given) != len(wanted):
        raise ShapeError(f"jvp: {len(given)} tangents for {len(wanted)} arrays{place_text()}")
    directions = []
    for x, tangent in zip(wanted, given, strict=True):
        direction = as_node(tangent, "jvp")
        if direction.shape != x.shape:
            raise ShapeError(
                f"jvp: the tangent of {describe(x)} has shape {direction.shape}, expected "
                f"{x.shape}{place_text()}"
            )
        directions.append(astype(direction, x.dtype) if direction.dtype != x.dtype else direction)
    made = Derivative(JVP, _part(outputs, wanted, "jvp"), len(wanted), directions)
    return structure.fill(Array(made.part(i, n.shape, n.dtype)) for i, n in enumerate(outputs))


def _scalar(y: Any, doing: str) -> Node:
    if isinstance(y, (list, tuple)):
        raise TypeError(
            f"{doing}: the first argument is {in_words(y)}, and one number is differentiated"
            f"{place_text()}; write kg.{doing}(y, [x1, x2])"
        )
    node = as_node(y, doing)
    if node.size != 1:
        raise ShapeError(
            f"{doing}: {describe(node)} has shape {node.shape}, expected a single number"
            f"{place_text()}; differentiate its .sum(), or use kg.jacobian"
        )
    _check_float(node, doing, "differentiated")
    return node


def _inputs(xs: Any, doing: str) -> tuple[list[Node], bool]:
    single = isinstance(xs, Array)
    given = [xs] if single else xs
    if not isinstance(given, (list, tuple)) or not given:
        raise TypeError(f"{doing}: xs must be an array or a list of arrays{place_text()}")
    nodes = []
    for x in given:
        if not isinstance(x, Array):
            raise TypeError(
                f"{doing}: cannot differentiate by a {type(x).__name__}{place_text()}; "
                "by arrays of kinetograph only"
            )
        node = x.node
        _check_float(node, doing, "what is differentiated by")
        nodes.append(node)
    if len(set(nodes)) < len(nodes):
        raise ValueError(f"{doing}: an array is given twice{place_text()}")
    return nodes, single


def _check_float(node: Node, doing: str, what: str) -> None:
    if node.dtype.kind != "f":
        raise SymbolicError(
            f"{doing}: {describe(node)} is {node.dtype}; {what} must be of floating point"
            f"{place_text()}"
        )


def _part(outputs: Sequence[Node], xs: list[Node], doing: str) -> Subgraph:
    """The graph between xs and outputs, as it stands in the current context."""
    context, outer = current_context(), list(xs)
    if context is not None:
        outputs = [context.add_value(node) for node in outputs]
        xs[:] = [context.add_value(node) for node in xs]
    given = set(xs)
    inside = ancestors(outputs, stop=given.__contains__)
    constants: dict[Node, None] = {}
    if any(type(node) is FormOf for node in inside):
        forms = forms_by_value(outputs, xs)
        outputs = [*outputs, *map(FormByValue, forms)]
        given.update(forms)
        constants.update(dict.fromkeys(forms))
        inside = ancestors(outputs, stop=given.__contains__)
    if context is not None:
        _check_captures(inside, outputs[0], xs, outer, doing)
    if any(isinstance(node, Derivative) for node in inside):
        _check_derivatives(outputs, given, doing)
    depends = set(given)
    for node in inside:
        if node not in given and any(parent in depends for parent in node.parents):
            depends.add(node)
    for node in ancestors(outputs, stop=lambda n: n in given or n not in depends):
        if node not in depends:
            constants[node] = None
    return Subgraph((*xs, *constants), outputs)


def _check_captures(
    inside: Sequence[Node], y: Node, xs: Sequence[Node], outer: Sequence[Node], doing: str
) -> None:
    """Refuse x from outside where y depends on it also through other values from outside."""
    captured = [n for n in inside if isinstance(n, Inner) and n.role == "captured"]
    for x, original in zip(xs, outer, strict=True):
        if not isinstance(x, Inner) or x is original:
            continue
        for inner in captured:
            if inner is not x and _depends(inner.outer, x.outer):
                raise SymbolicError(
                    f"{doing}: inside of a branch or loop, {describe(y)} depends on "
                    f"{describe(x)} also through {describe(inner)}, which is computed outside"
                    f"{place_text()}; compute {describe(inner)} inside, or differentiate outside"
                )


def _check_derivatives(outputs: Sequence[Node], given: Container[Node], doing: str) -> None:
    """Refuse an x through which a derivative that is used has been taken: there it is not free."""
    used = ancestors(outputs, lambda n: n in given or _is_fixed(n))
    for made in used:
        if not isinstance(made, Derivative) or made in given:
            continue
        for x in _passed(made):
            if x in given:
                raise SymbolicError(
                    f"{doing}: {describe(outputs[0])} uses a derivative by "
                    f"{describe(made.parents[0])} that goes through {describe(x)}"
                    f"{place_text()}: so it is no function of {describe(x)}; differentiate by "
                    f"{describe(made.parents[0])}, or hold the derivative fixed by kg.stop_gradient"
                )


def _passed(node: Control) -> Iterator[Node]:
    """What is computed inside of a node from what it is given, in nodes inside of these, too."""
    for part in node.subgraphs:
        inputs = set(part.inputs)
        for inner in ancestors(part.outputs, inputs.__contains__, sources):
            if inner not in inputs:
                yield inner
                if isinstance(inner, Control):
                    yield from _passed(inner)


def _is_fixed(node: Node) -> bool:
    return isinstance(node, Apply) and node.operation is STOP_GRADIENT


def _depends(node: Node, on: Node) -> bool:
    if node is on:
        return True
    for above in ancestors([node], above=sources):
        if above is on:
            return True
        if not isinstance(above, Inner) or above.role != "captured":
            continue
        if isinstance(on, Inner) and _depends(above.outer, on.outer):
            return True
    return False


def _check_loops(part: Subgraph, xs: Iterable[Node]) -> None:
    """Refuse loops that are to keep a stack of a size nobody knows."""
    depends = set(xs)
    for node in part.nodes:
        if any(parent in depends for parent in node.parents):
            depends.add(node)
    for node in everything(n for n in part.nodes if n in depends):
        if isinstance(node, While) and node.grad == "stack" and node.bound is None:
            raise no_accumulator(node)


def no_accumulator(loop: While) -> ValueError:
    """The complaint about `grad="stack"` without a bound known when the graph is built."""
    name = loop.contexts[0].name
    place = f" ({loop.site})" if loop.site else ""
    why = (
        "its maximum_iterations must be statically known"
        if loop.bounded
        else f"maximum_iterations was not passed to while_loop {name!r}"
    )
    return ValueError(
        f"Cannot create a gradient accumulator for {loop.variable_name(0)!r} of the while loop "
        f'{name!r}{place} with grad="stack" because {why}; pass a number, or use grad="auto"'
    )
