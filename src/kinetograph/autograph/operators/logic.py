"""`and`, `or`, `not`, chained comparisons and `in`, lazily; `assert`; patterns of `match`.

Where a symbolic operand decides whether the next one is evaluated, that one is built into a branch.
A branch that only computes a few numbers, draws nothing and changes no state is computed in any
case, which is cheaper than a branch.
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
from .leaks import Surroundings
from .staging import building
from .values import as_leaf_node, caller, is_number
from .writing import snapshot

__all__ = ["and_", "assert_stmt", "chain", "in_", "matches", "not_", "or_", "truth"]

Lazy = Callable[[], Any]
_COUNTABLE = (list, tuple, range, set, frozenset, dict)
_CHEAP = 16  # elements
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


def truth(value: Any, what: str) -> Any:
    """Whether an operand is true, where nothing else of it counts; `what` it is an operand of."""
    if not isinstance(value, Array):
        return bool(value)
    node = predicate(value, what)
    return value if node is value.node else Array(node)


def and_(value: Any, *rest: Lazy) -> Any:
    """`value and rest[0]() and ...`: the first that is false, else the last."""
    return _chained(value, rest, "and")


def or_(value: Any, *rest: Lazy) -> Any:
    """`value or rest[0]() or ...`: the first that is true, else the last."""
    return _chained(value, rest, "or")


def _chained(value: Any, rest: Sequence[Lazy], word: str) -> Any:
    for place, later in enumerate(rest):
        if isinstance(value, Array):
            return _staged(value, rest[place:], word)
        if bool(value) is (word == "or"):
            return value
        value = later()
    return value


def _staged(value: Array, rest: Sequence[Lazy], word: str) -> Any:
    if not rest:
        return value
    pred = predicate(value, f"`{word}`")

    def others() -> Any:
        return _chained(rest[0](), rest[1:], word)

    moment = mark()
    versions = current_versions()
    before = dict(versions.latest), len(versions.effects)
    around = Surroundings(caller())
    with building(f"`{word}`") as written, around.held():
        found = snapshot(others())
    around.check(f"`{word}`")
    if isinstance(found, (bool, np.bool_)):
        found = Array(as_node(np.asarray(found)))
    if written.handles:
        found = None  # what writes is built as a branch
    if isinstance(found, Array) and (versions.latest, len(versions.effects)) == before:
        node = found.node
        flags = node.dtype.kind == "b" and (word == "and" or value.dtype.kind == "b")
        if flags and node.size == 1 and _is_cheap(node, moment.serial):
            return Array(elementwise(f"logical_{word}", pred, predicate(found, f"`{word}`")))
    unified = _unified(value, found, word)
    rollback(moment)
    deciding = word == "or" if value.dtype.kind == "b" else value
    ways = [lambda: unified(others()), lambda: unified(deciding)]
    return if_exp(value, *ways) if word == "and" else if_exp(value, *reversed(ways))


def _unified(value: Array, other: Any, word: str) -> Callable[[Any], Any]:
    """What gives the operands one type: True is 1 and 1 is 1.0, as in Python.

    Of `number and flag` the truth is enough: where the number decides it is 0, which is False.
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
    """Whether what was made since a mark is a little arithmetic."""
    pending, seen = [node], {node}
    while pending:
        node = pending.pop()
        if node.serial < since or isinstance(node, Data):
            continue
        arithmetic = isinstance(node, Apply) and node.operation.elementwise
        if node.context is not current_context() or not arithmetic or node.size > _CHEAP:
            return False
        if len(seen) > _CHEAP:
            return False
        for parent in node.parents:
            if parent not in seen:
                seen.add(parent)
                pending.append(parent)
    return True


def chain(value: Any, word: str, right: Any, *others: Any) -> Any:
    """`value < b < c`: each operand evaluated once, and only as far as needed."""
    first = in_(value, right) if word == "in" else None
    if word == "not in":
        first = not_(in_(value, right))
    elif word != "in":
        first = _COMPARE[word](value, right)
    if not others:
        return first
    following, later, *rest = others
    return and_(first, lambda: chain(right, following, later(), *rest))


def in_(value: Any, container: Any) -> Any:
    """`value in container`."""
    if isinstance(container, Array):
        return (container == value).any()
    ordered = isinstance(container, (list, tuple))
    if (isinstance(value, Array) and isinstance(container, _COUNTABLE)) or (
        ordered and any(isinstance(part, Array) for part in container)
    ):
        found: Any = False
        for part in container:
            if part is None or isinstance(part, (str, bytes)):
                continue  # no array is equal to it
            found = or_(found, functools.partial(_equal, part, value))
        return found
    return value in container


def _equal(first: Any, second: Any) -> Any:
    """Whether two values are the same, as one truth value."""
    found = first == second
    return found.all() if isinstance(found, Array) and found.shape else found


def assert_stmt(condition: Any, message: Lazy | None = None) -> None:
    """`assert condition, message()`: of a symbolic condition, checked when the program runs."""
    if not isinstance(condition, Array):
        if not condition:
            raise AssertionError(*([message()] if message is not None else ()))
        return
    text = str(message()) if message is not None else "assertion failed"
    held = Array(predicate(condition, "`assert`"))
    wrong = asserted() or describe(held.node)
    run_time_check(held, AssertionError, f"{text}: {wrong} is false{place_text()}")


def matches(subject: Any, trial: Callable[[Any], bool], literals: tuple[Any, ...] | None) -> Any:
    """Whether a pattern of `match` fits."""
    if not isinstance(subject, Array):
        return trial(subject)
    if literals is None:
        raise TypeError(
            f"match on the symbolic {describe(subject.node)}{place_text()}: its values are not "
            "known while the graph is built, so only literals, `_` and a name, with or without a "
            "guard, can be matched; write sequence, mapping and class patterns as comparisons of "
            "x.shape, x[i] and so on"
        )
    found: Any = False
    for literal in literals:
        if literal is None or isinstance(literal, str):
            continue  # an array is neither
        found = or_(found, functools.partial(_equal, subject, literal))
    return found
