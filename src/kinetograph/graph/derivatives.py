"""The exact derivatives `kg.gradients`, `kg.jvp`, `kg.jacobian` and `kg.hessian`.

Each makes one node of the graph, which holds the differentiated subgraph (see `derivative`).
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any, overload

from .array import Array
from .control.contexts import current_context
from .control.control_node import Control, everything
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
from .public import public
from .source import place_text
from .value_texts import in_words

__all__ = ["derivative_again", "gradients", "hessian", "jacobian", "jvp"]


@overload
def gradients(y: Any, xs: Array) -> Array: ...
@overload
def gradients(y: Any, xs: list[Any] | tuple[Any, ...]) -> list[Array]: ...
@public
def gradients(y: Any, xs: Any) -> Any:
    """The exact gradient of a scalar by arrays, by reverse differentiation.

        gradients(y, x)[...] = dy / dx[...]

    Inside a branch or loop, only the computation inside is differentiated: loop variables are held
    fixed. If x is computed itself, such as r = exp(e), y is differentiated as a function of r, and
    the arrays that r is computed from are held fixed.

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
        If y or x is not a floating-point array, or if y uses a derivative that was taken through a
        computed x: for r = exp(e), the derivative of r**2 by e is a function of e, not of r.
    ValueError
        If a loop between x and y has `grad="stack"` but no bound.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.placeholder((2,), name="x")
    >>> f = kg.compile([x], kg.gradients((x**2).sum(), x))
    >>> f([3.0, 4.0]).tolist()
    [6.0, 8.0]
    """
    node = _scalar(y, "gradients")
    x_nodes, single = _inputs(xs, "gradients")
    part = _subgraph([node], x_nodes, "gradients")
    _check_loops(part, x_nodes)
    derivative = Derivative(GRADIENTS, part, len(x_nodes))
    results = [Array(derivative.result(i)) for i in range(len(x_nodes))]
    return results[0] if single else results


@overload
def jacobian(y: Any, xs: Array) -> Array: ...
@overload
def jacobian(y: Any, xs: list[Any] | tuple[Any, ...]) -> list[Array]: ...
@public
def jacobian(y: Any, xs: Any) -> Any:
    """The exact derivatives of an array by arrays, by forward differentiation.

        jacobian(y, x)[i, j] = dy[i] / dx[j]

    It takes one forward pass for each element of x; the passes run as one batch. If y is a single
    number, `kg.gradients` takes only one pass.

    Parameters
    ----------
    y
        A floating-point array of any shape.
    xs
        An array, or a list or tuple of arrays, of floating-point numbers.

    Returns
    -------
    Array or list of Array
        With shape y.shape + x.shape. Zero where y does not depend on x.

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
    _check_float(node, "jacobian", "the differentiated array")
    x_nodes, single = _inputs(xs, "jacobian")
    derivative = Derivative(JACOBIAN, _subgraph([node], x_nodes, "jacobian"), len(x_nodes))
    results = [Array(derivative.result(i)) for i in range(len(x_nodes))]
    return results[0] if single else results


@overload
def hessian(y: Any, xs: Array) -> Array: ...
@overload
def hessian(y: Any, xs: list[Any] | tuple[Any, ...]) -> list[list[Array]]: ...
@public
def hessian(y: Any, xs: Any) -> Any:
    """The exact second derivatives of a scalar by arrays.

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
    x_nodes, single = _inputs(xs, "hessian")
    part = _subgraph([node], x_nodes, "hessian")
    _check_loops(part, x_nodes)
    derivative = Derivative(HESSIAN, part, len(x_nodes))
    count = len(x_nodes)
    places = range(count)
    blocks = [[Array(derivative.result(i * count + j)) for j in places] for i in places]
    return blocks[0][0] if single else blocks


@overload
def jvp(y: Array, xs: Any, tangents: Any) -> Array: ...
@overload
def jvp(y: Any, xs: Any, tangents: Any) -> Any: ...
@public
def jvp(y: Any, xs: Any, tangents: Any) -> Any:
    """The exact directional derivative of arrays, by forward differentiation.

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
        If a tangent does not have the shape of its x.
    SymbolicError
        If y or x is not a floating-point array.

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
        _check_float(node, "jvp", "the differentiated array")
    x_nodes, single = _inputs(xs, "jvp")
    given = [tangents] if single else list(tangents)
    if len(given) != len(x_nodes):
        raise ShapeError(f"jvp: {len(given)} tangents for {len(x_nodes)} arrays{place_text()}")
    directions = []
    for x, tangent in zip(x_nodes, given, strict=True):
        direction = as_node(tangent, "jvp")
        if direction.shape != x.shape:
            raise ShapeError(
                f"jvp: the tangent of {describe(x)} has shape {direction.shape}, expected "
                f"{x.shape}{place_text()}"
            )
        directions.append(astype(direction, x.dtype) if direction.dtype != x.dtype else direction)
    derivative = Derivative(JVP, _subgraph(outputs, x_nodes, "jvp"), len(x_nodes), directions)
    return structure.fill(Array(derivative.result(i)) for i in range(len(outputs)))


def derivative_again(node: Derivative, operands: Sequence[Node]) -> Derivative:
    """Write a derivative with new values, arrays and tangents, in this order."""
    count = len(node.values)
    values, xs = operands[:count], list(operands[count : count + node.count])
    part = _subgraph(values, xs, node.operation.name)
    _check_loops(part, xs)
    return Derivative(node.operation, part, node.count, operands[count + node.count :])


def _scalar(y: Any, doing: str) -> Node:
    if isinstance(y, (list, tuple)):
        raise TypeError(
            f"{doing}: the first argument must be one array, got {in_words(y)}"
            f"{place_text()}; write kg.{doing}(y, [x1, x2])"
        )
    node = as_node(y, doing)
    if node.size != 1:
        raise ShapeError(
            f"{doing}: {describe(node)} has shape {node.shape}, expected a single number"
            f"{place_text()}; differentiate its .sum(), or use kg.jacobian"
        )
    _check_float(node, doing, "the differentiated array")
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
                "xs must be kinetograph arrays"
            )
        node = x.node
        _check_float(node, doing, "the arrays by which one differentiates")
        nodes.append(node)
    if len(set(nodes)) < len(nodes):
        raise ValueError(f"{doing}: an array is given twice{place_text()}")
    return nodes, single


def _check_float(node: Node, doing: str, role: str) -> None:
    if node.dtype.kind != "f":
        raise SymbolicError(
            f"{doing}: {describe(node)} is {node.dtype}; {role} must be floating-point"
            f"{place_text()}"
        )


def _subgraph(outputs: Sequence[Node], xs: list[Node], doing: str) -> Subgraph:
    """The subgraph from xs to outputs in the current context.

    Nodes that do not depend on xs become further inputs, after xs.
    """
    context, outer = current_context(), list(xs)
    if context is not None:
        outputs = [context.add_value(node) for node in outputs]
        xs[:] = [context.add_value(node) for node in xs]
    inputs = set(xs)
    inside = ancestors(outputs, stop=inputs.__contains__)
    constants: dict[Node, None] = {}
    if any(type(node) is FormOf for node in inside):
        forms = forms_by_value(outputs, xs)
        outputs = [*outputs, *map(FormByValue, forms)]
        inputs.update(forms)
        constants.update(dict.fromkeys(forms))
        inside = ancestors(outputs, stop=inputs.__contains__)
    if context is not None:
        _check_captures(inside, outputs[0], xs, outer, doing)
    if any(isinstance(node, Derivative) for node in inside):
        _check_derivatives(outputs, inputs, doing)
    depends = set(inputs)
    for node in inside:
        if node not in inputs and any(parent in depends for parent in node.parents):
            depends.add(node)
    for node in ancestors(outputs, stop=lambda n: n in inputs or n not in depends):
        if node not in depends:
            constants[node] = None
    return Subgraph((*xs, *constants), outputs)


def _check_captures(
    inside: Sequence[Node], y: Node, xs: Sequence[Node], outer: Sequence[Node], doing: str
) -> None:
    """Refuse a captured x that also reaches y through other captured values."""
    captured = [n for n in inside if isinstance(n, Inner) and n.role == "captured"]
    for x, original in zip(xs, outer, strict=True):
        if not isinstance(x, Inner) or x is original:
            continue
        for inner in captured:
            if inner is not x and _depends(inner.outer, x.outer):
                raise SymbolicError(
                    f"{doing}: inside a branch or loop, {describe(y)} depends on "
                    f"{describe(x)} also through {describe(inner)}, which is computed outside"
                    f"{place_text()}; compute {describe(inner)} inside, or differentiate outside"
                )


def _check_derivatives(outputs: Sequence[Node], inputs: Container[Node], doing: str) -> None:
    """Refuse an x through which a derivative in use was taken."""
    used = ancestors(outputs, lambda n: n in inputs or _stops_gradient(n))
    for derivative in used:
        if not isinstance(derivative, Derivative) or derivative in inputs:
            continue
        for x in _nodes_inside(derivative):
            if x in inputs:
                raise SymbolicError(
                    f"{doing}: {describe(outputs[0])} uses a derivative by "
                    f"{describe(derivative.parents[0])} that was taken through {describe(x)}"
                    f"{place_text()}, so it is not a function of {describe(x)} alone; "
                    f"differentiate by {describe(derivative.parents[0])}, or hold the derivative "
                    "fixed with kg.stop_gradient"
                )


def _nodes_inside(node: Control) -> Iterator[Node]:
    """The nodes computed inside a node, and inside the nodes in it."""
    for part in node.subgraphs:
        inputs = set(part.inputs)
        for inner in ancestors(part.outputs, inputs.__contains__, sources):
            if inner not in inputs:
                yield inner
                if isinstance(inner, Control):
                    yield from _nodes_inside(inner)


def _stops_gradient(node: Node) -> bool:
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
    """Refuse loops that must keep a stack but have no known bound."""
    depends = set(xs)
    for node in part.nodes:
        if any(parent in depends for parent in node.parents):
            depends.add(node)
    for node in everything(n for n in part.nodes if n in depends):
        if isinstance(node, While) and node.grad == "stack" and node.bound is None:
            raise no_accumulator(node)


def no_accumulator(loop: While) -> ValueError:
    """The error for `grad="stack"` without a bound known at build time."""
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
