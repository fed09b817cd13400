"""`kg.cond`, `kg.switch` and `kg.case`: one of several branches at run time.

This file calls the functions of the branches, checks their results and converts the results to
common types. The node that the branches become is in `conditional`.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..array import Array
from ..errors import ShapeError, SymbolicError
from ..messages import describe
from ..node import Apply, Data, Inner, Node
from ..operations.elementwise import CAST, elementwise, where
from ..operations.operands import as_node
from ..operations.shaping import reshape
from ..public import public
from ..source import place_text
from ..value_texts import in_words
from .conditional import Cond
from .contexts import CondContext
from .results import Returned, check_function, collect, common_dtype, converted, wrap_parts
from .subgraph import Subgraph

__all__ = ["case", "cond", "join", "switch"]


@public
def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    *,
    strict: bool = False,
    name: str | None = None,
) -> Any:
    """Compute one of two branches, chosen by a predicate at run time.

    Both functions are called once, now, to build their graphs. When the program runs, values made
    inside a function are computed only if its branch is taken. Values made outside are always
    computed.

    Parameters
    ----------
    pred
        A boolean array with one element.
    true_fn, false_fn
        Functions without arguments that return the same structure of arrays: tuples, lists,
        dictionaries, named tuples and dataclasses, nested in any way. A Python number takes the
        type of the value that the other branch returns in its place.
    strict
        Whether a list of one array is returned as a list and not as the array.
    name
        The name in messages and drawings.

    Returns
    -------
    The structure that the functions return.

    Raises
    ------
    TypeError
        If a function cannot be called, `pred` is not a boolean scalar, or the branches return
        different structures or types.
    ShapeError
        If the branches return different shapes.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x, y = kg.placeholder(name="x"), kg.placeholder(name="y")
    >>> f = kg.compile([x, y], kg.cond(x < y, lambda: x * 17, lambda: y + 23))
    >>> float(f(2, 5)), float(f(9, 5))
    (34.0, 28.0)
    """
    check_function(true_fn, "true_fn", "cond")
    check_function(false_fn, "false_fn", "cond")
    node = _predicate(pred)
    assert true_fn is not None
    assert false_fn is not None
    functions = {"false_fn": false_fn, "true_fn": true_fn}
    return _build(node, functions, order=(1, 0), strict=strict, name=name, doing="cond")


@public
def switch(
    index: Any,
    branches: Sequence[Callable[[], Any]],
    *,
    default: Callable[[], Any] | None = None,
    strict: bool = False,
    name: str | None = None,
) -> Any:
    """Compute one of n branches, chosen by an integer at run time.

    Branches are numbered 0 .. n - 1. An index outside this range takes `default` or, if there is no
    default, the nearest branch.

    Parameters
    ----------
    index
        An integer array with one element.
    branches
        Functions without arguments that return the same structure of arrays; see `kg.cond`.
    default
        A function of the same kind for all other numbers.
    strict, name
        As in `kg.cond`.

    Raises
    ------
    ValueError
        If there are no branches.
    TypeError
        As in `kg.cond`.

    Examples
    --------
    >>> import kinetograph as kg
    >>> i = kg.placeholder(dtype=int, name="i")
    >>> f = kg.compile([i], kg.switch(i, [lambda: 10, lambda: 20], default=lambda: -1))
    >>> [int(f(k)) for k in (0, 1, 7)]
    [10, 20, -1]
    """
    if not isinstance(branches, Sequence) or not branches:
        raise ValueError(f"switch: no branches were given{place_text()}")
    functions = {f"branches[{i}]": f for i, f in enumerate(branches)}
    node = as_node(index, "switch")
    if node.size != 1 or node.dtype.kind not in "iu":
        raise SymbolicError(
            f"switch: the index {describe(node)} must be an integer scalar, got {node.dtype} of "
            f"shape {node.shape}{place_text()}"
        )
    node = reshape(node, ())
    if default is not None:
        functions["default"] = default
        count = len(branches)
        in_range = elementwise(
            "logical_and", elementwise("greater_equal", node, 0), elementwise("less", node, count)
        )
        node = where(in_range, node, count)
    for argument_name, function in functions.items():
        check_function(function, argument_name, "switch")
    order = tuple(range(len(functions)))
    return _build(node, functions, order=order, strict=strict, name=name, doing="switch")


@public
def case(
    pred_fn_pairs: Sequence[tuple[Any, Callable[[], Any]]],
    default: Callable[[], Any] | None = None,
    *,
    strict: bool = False,
    name: str | None = None,
) -> Any:
    """Compute the branch of the first predicate that is true.

    All predicates are computed, but only one branch is. If no predicate is true, `default` is taken
    or, if there is no default, the last branch.

    Parameters
    ----------
    pred_fn_pairs
        Pairs of a boolean scalar and a function without arguments; see `kg.cond`.
    default
        A function of the same kind, for the case that no predicate is true.
    strict, name
        As in `kg.cond`.

    Raises
    ------
    ValueError
        If there are no pairs.
    TypeError
        As in `kg.cond`.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.placeholder(name="x")
    >>> sign = kg.case([(x > 0, lambda: 1), (x < 0, lambda: -1)], default=lambda: 0)
    >>> f = kg.compile([x], sign)
    >>> [int(f(v)) for v in (2.5, -3.0, 0.0)]
    [1, -1, 0]
    """
    if not isinstance(pred_fn_pairs, Iterable):
        raise TypeError(
            "case: takes a list of pairs of a predicate and a function, got "
            f"{in_words(pred_fn_pairs)}{place_text()}"
        )
    pairs = list(pred_fn_pairs)
    if not pairs:
        raise ValueError(f"case: no branches were given{place_text()}")
    functions: dict[str, Any] = {}
    for i, pair in enumerate(pairs):
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(
                f"case: pair {i} must be a tuple of a predicate and a function{place_text()}"
            )
        functions[f"the function of pair {i}"] = pair[1]
    if default is not None:
        functions["default"] = default
    for argument_name, function in functions.items():
        check_function(function, argument_name, "case")
    index = as_node(np.int64(len(functions) - 1))
    for i in reversed(range(len(pairs))):
        index = where(_predicate(pairs[i][0]), i, index)
    order = tuple(range(len(functions)))
    return _build(index, functions, order=order, strict=strict, name=name, doing="case")


def _predicate(pred: Any) -> Node:
    if isinstance(pred, bool):
        raise TypeError(
            f"cond: pred must not be a Python bool, got {pred}{place_text()}; its value is known "
            "now: use Python's own `if`"
        )
    node = as_node(pred, "cond")
    if node.dtype.kind != "b" or node.size != 1:
        kind = f"{node.dtype} of shape {node.shape}" if node.shape else str(node.dtype)
        advice = "use .astype(bool) to cast" if node.size == 1 else "use .any() or .all()"
        raise SymbolicError(
            f"cond: pred {describe(node)}: expected a bool scalar, got {kind}{place_text()}; "
            f"write a comparison, such as x > 0, or {advice}"
        )
    return reshape(node, ()) if node.shape else node


def _build(
    index: Node,
    functions: dict[str, Callable[[], Any]],
    *,
    order: Sequence[int],
    strict: bool,
    name: str | None,
    doing: str,
) -> Any:
    """Build the branches, in the order written, and the node."""
    names = list(functions)
    contexts: dict[int, CondContext] = {}
    returned: dict[int, Returned] = {}
    for number in order:
        context = CondContext(
            index, number, name or (contexts[order[0]].name if contexts else None)
        )
        contexts[number] = context
        result = context.call(functions[names[number]])
        if result is None:
            raise ValueError(f"{doing}: {names[number]} must have a return value{place_text()}")
        returned[number] = collect(result, context, f"{doing}: what {names[number]} returns")
        if not returned[number].nodes:
            raise ValueError(
                f"{doing}: {names[number]} must return at least one result{place_text()}"
            )
    branches = [returned[number] for number in range(len(names))]
    contexts_by_number = [contexts[number] for number in range(len(names))]
    _check_structures(branches, names, order, doing)
    outputs = _unified(branches, contexts_by_number, names, order, doing)
    result = branches[order[0]].structure.fill(join(index, contexts_by_number, outputs, flat=False))
    return result[0] if type(result) is list and len(result) == 1 and not strict else result


def join(
    index: Node,
    contexts: Sequence[CondContext],
    outputs: Sequence[Sequence[Node]],
    flat: bool = True,
) -> list[Array]:
    """Join finished branches and return their results.

    The outputs of the branches agree in shape and type.

    The new version of a state that a branch assigned is the version of the branch that is taken.
    If `flat` is true and neither of two branches computes anything, the results are `where` of the
    two values and no conditional is made.
    """
    cells = list(dict.fromkeys(cell for context in contexts for cell in context._versions.assigned))
    if not cells and not outputs[0]:
        return []
    weak = [all(node.weak for node in nodes) for nodes in zip(*outputs, strict=True)]
    if flat and not cells and index.dtype.kind == "b":
        chosen = [_chosen(index, no, yes) for no, yes in zip(*outputs, strict=True)]
        if None not in chosen:
            for node, is_weak in zip(chosen, weak, strict=True):
                assert node is not None
                node.weak = is_weak
            return [Array(node) for node in chosen if node is not None]
    every = [
        [*nodes, *(context._versions.current(cell) for cell in cells)]
        for context, nodes in zip(contexts, outputs, strict=True)
    ]
    node = _node(index, contexts, every)
    return wrap_parts(node, every[0], cells, weak)


def _chosen(index: Node, no: Node, yes: Node) -> Node | None:
    """Choose between two values if neither is computed in its branch.

    Returns None if one of them is computed.
    """
    first, second = _uncomputed(yes), _uncomputed(no)
    if first is None or second is None:
        return None
    return first if first is second and isinstance(first, Node) else where(index, first, second)


def _uncomputed(node: Node) -> Node | np.ndarray | None:
    """The outer node or literal behind a node, or None.

    The node belongs to a branch; None means that the branch computes it.
    """
    if isinstance(node, Inner) and node.role == "captured":
        return node.outer
    if isinstance(node, Data) and node.literal:
        return node.value
    if isinstance(node, Apply) and node.operation is CAST:
        value = _uncomputed(node.parents[0])
        return value.astype(node.dtype) if isinstance(value, np.ndarray) else None
    return None


def _node(index: Node, contexts: Sequence[CondContext], outputs: Sequence[list[Node]]) -> Cond:
    captures: dict[Node, int] = {}
    subgraphs, places = [], []
    for context, nodes in zip(contexts, outputs, strict=True):
        inputs: list[Inner] = context._arguments
        subgraphs.append(Subgraph(inputs, nodes))
        places.append(tuple(captures.setdefault(inner.outer, len(captures)) for inner in inputs))
    return Cond(index, list(captures), subgraphs, contexts, places)


def _check_structures(
    branches: Sequence[Returned], names: Sequence[str], order: Sequence[int], doing: str
) -> None:
    first = order[0]
    for number in order[1:]:
        difference = branches[first].structure.difference(branches[number].structure)
        if difference:
            path, first_structure, other_structure = difference
            raise TypeError(
                f"{doing}: Incompatible return types of {names[first]} and {names[number]}"
                f"{place_text()}: at {path or 'the top'} {names[first]} returns {first_structure}, "
                f"{names[number]} returns {other_structure}"
            )


def _unified(
    branches: Sequence[Returned],
    contexts: Sequence[CondContext],
    names: Sequence[str],
    order: Sequence[int],
    doing: str,
) -> list[list[Node]]:
    """The outputs of the branches, converted to common types."""
    outputs: list[list[Node]] = [[] for _ in branches]
    first = order[0]
    for i, path in enumerate(branches[first].paths):
        nodes = [branch.nodes[i] for branch in branches]
        place = f" at {path}" if path else ""
        dtype = common_dtype(nodes)
        if dtype is None:
            kinds = ", ".join(str(nodes[n].dtype) for n in order)
            who = " and ".join(names[n] for n in order)
            raise TypeError(
                f"{doing}: Outputs of {who} must have the same type: {kinds}{place}"
                f"{place_text()}; convert one with .astype"
            )
        for number in order[1:]:
            if nodes[number].shape != nodes[first].shape:
                raise ShapeError(
                    f"{doing}: branch shapes differ{place}: {nodes[first].shape} from "
                    f"{names[first]} vs {nodes[number].shape} from {names[number]}{place_text()}; "
                    "pad the smaller one, or compute both and choose elements with kg.where"
                )
        for out, node, context in zip(outputs, nodes, contexts, strict=True):
            out.append(converted(node, dtype, context))
    return outputs
