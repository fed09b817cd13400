"""Lazy `and`, `or`, `not`, comparisons and `in`; `assert`; patterns of `match`.

If a symbolic operand decides whether the next operand is evaluated, the next operand is built in a
branch. But an operand that computes only a few numbers, draws nothing and changes no state is
always computed, which is cheaper than a branch.
"""

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...graph.array import Array
from ...graph.checks import run_time_check
from ...graph.control.contexts import current_context
from ...graph.control.rollback import mark, rollback
from ...graph.control.state import current_versions
from ...graph.messages import describe
from ...graph.node import Apply, Data, Node
from ...graph.operations.elementwise import astype, elementwise, promoted
from ...graph.operations.operands import as_node, type_of
from ...graph.source import asserted, place_text
from .branching import if_exp, predicate
from .side_effects import Surroundings
from .staging import building
from .values import as_leaf_node, caller, is_number
from .writing import snapshot

__all__ = ["and_", "assert_stmt", "chain", "in_", "matches", "not_", "or_", "truth"]

Lazy = Callable[[], Any]
_COUNTABLE = (list, tuple, range, set, frozenset, dict)
_CHEAP = 16  # the largest number of elements, and of nodes, that is always computed
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.is_,
    "is not": operator.is_not,
}


def not_(value: Any) -> Any:
    """`not value`."""
    if isinstance(value, Array):
        return Array(elementwise("logical_not", predicate(value, "`not`")))
    return not value


def truth(value: Any, operator_name: str) -> Any:
    """The truth value of an operand whose other properties do not matter.

    `operator_name` is the name of its operator.
    """
    if not isinstance(value, Array):
        return bool(value)
    node = predicate(value, operator_name)
    return value if node is value.node else Array(node)


def and_(value: Any, *operands: Lazy) -> Any:
    """`value and operands[0]() and ...`: the first false operand, or the last."""
    return _chained(value, operands, "and")


def or_(value: Any, *operands: Lazy) -> Any:
    """`value or operands[0]() or ...`: the first true operand, or the last."""
    return _chained(value, operands, "or")


def _chained(value: Any, operands: Sequence[Lazy], word: str) -> Any:
    for index, later in enumerate(operands):
        if isinstance(value, Array):
            return _staged(value, operands[index:], word)
        if bool(value) is (word == "or"):
            return value
        value = later()
    return value


def _staged(value: Array, operands: Sequence[Lazy], word: str) -> Any:
    if not operands:
        return value
    pred = predicate(value, f"`{word}`")

    def remaining() -> Any:
        return _chained(operands[0](), operands[1:], word)

    checkpoint = mark()
    versions = current_versions()
    versions_before = dict(versions.latest), len(versions.effects)
    around = Surroundings(caller())
    with building(f"`{word}`") as written, around.arrays_frozen():
        result = snapshot(remaining())
    around.check(f"`{word}`")
    if isinstance(result, (bool, np.bool_)):
        result = Array(as_node(np.asarray(result)))
    if written.handles:
        result = None  # an operand that writes into arrays is built as a branch
    if isinstance(result, Array) and (versions.latest, len(versions.effects)) == versions_before:
        node = result.node
        flags = node.dtype.kind == "b" and (word == "and" or value.dtype.kind == "b")
        if flags and node.size == 1 and _is_cheap(node, checkpoint.serial):
            return Array(elementwise(f"logical_{word}", pred, predicate(result, f"`{word}`")))
    unified = _unified(value, result, word)
    rollback(checkpoint)
    deciding = word == "or" if value.dtype.kind == "b" else value
    branches = [lambda: unified(remaining()), lambda: unified(deciding)]
    return if_exp(value, *branches) if word == "and" else if_exp(value, *reversed(branches))


def _unified(value: Array, other: Any, word: str) -> Callable[[Any], Any]:
    """A function that gives both operands one type, as in Python.

    True becomes 1, and 1 becomes 1.0. For `number and flag` the truth of the number is enough: if
    the number decides, it is 0, which is False.
    """
    if not is_number(other):
        return lambda operand: operand
    kinds = [as_leaf_node(part).dtype.kind for part in (value, other)]
    if kinds[0] == kinds[1]:
        return lambda operand: operand
    if word == "and" and kinds[1] == "b":
        return lambda operand: Array(predicate(Array(as_leaf_node(operand)), "`and`"))
    types = [type_of(as_leaf_node(part)) for part in (value, other)]
    dtype = promoted(*types)

    def as_common(operand: Any) -> Array:
        node = astype(as_leaf_node(operand), dtype)
        node.weak = all(isinstance(kind, type) for kind in types)
        return Array(node)

    return as_common


def _is_cheap(node: Node, since: int) -> bool:
    """Whether the nodes made since a mark are a little arithmetic."""
    pending, visited = [node], {node}
    while pending:
        node = pending.pop()
        if node.serial < since or isinstance(node, Data):
            continue
        arithmetic = isinstance(node, Apply) and node.operation.elementwise
        if node.context is not current_context() or not arithmetic or node.size > _CHEAP:
            return False
        if len(visited) > _CHEAP:
            return False
        for parent in node.parents:
            if parent not in visited:
                visited.add(parent)
                pending.append(parent)
    return True


def chain(value: Any, word: str, right: Any, *following_parts: Any) -> Any:
    """`value < b < c`, with lazy operands.

    Each operand is evaluated at most once.
    """
    first = in_(value, right) if word == "in" else None
    if word == "not in":
        first = not_(in_(value, right))
    elif word != "in":
        first = _COMPARE[word](value, right)
    if not following_parts:
        return first
    following, later, *remaining = following_parts
    return and_(first, lambda: chain(right, following, later(), *remaining))


def in_(value: Any, container: Any) -> Any:
    """`value in container`."""
    if isinstance(container, Array):
        return (container == value).any()
    ordered = isinstance(container, (list, tuple))
    if (isinstance(value, Array) and isinstance(container, _COUNTABLE)) or (
        ordered and any(isinstance(part, Array) for part in container)
    ):
        result: Any = False
        for part in container:
            if part is None or isinstance(part, (str, bytes)):
                continue  # never equal to an array
            result = or_(result, functools.partial(_equal, part, value))
        return result
    return value in container


def _equal(first: Any, second: Any) -> Any:
    """Whether two values are equal, as one truth value."""
    result = first == second
    return result.all() if isinstance(result, Array) and result.shape else result


def assert_stmt(condition: Any, message: Lazy | None = None) -> None:
    """`assert condition, message()`; checked at run time if symbolic."""
    if not isinstance(condition, Array):
        if not condition:
            raise AssertionError(*([message()] if message is not None else ()))
        return
    text = str(message()) if message is not None else "assertion failed"
    truth_value = Array(predicate(condition, "`assert`"))
    condition_text = asserted() or describe(truth_value.node)
    run_time_check(truth_value, AssertionError, f"{text}: {condition_text} is false{place_text()}")


def matches(subject: Any, trial: Callable[[Any], bool], literals: tuple[Any, ...] | None) -> Any:
    """Whether a pattern of `match` fits.

    `trial` tries it on a Python value, and `literals` are the values with which a symbolic subject
    is compared; None if the pattern needs more than comparisons.

    Raises
    ------
    TypeError
        If a symbolic subject meets such a pattern.
    """
    if not isinstance(subject, Array):
        return trial(subject)
    if literals is None:
        raise TypeError(
            f"match on the symbolic {describe(subject.node)}{place_text()}: its values are not "
            "known while the graph is built, so only literals, `_` and a name, with or without a "
            "guard, can be matched; write sequence, mapping and class patterns as comparisons, "
            "for example of x.shape or x[i]"
        )
    result: Any = False
    for literal in literals:
        if literal is None or isinstance(literal, str):
            continue  # an array is neither None nor a text
        result = or_(result, functools.partial(_equal, subject, literal))
    return result
