"""Logarithms, log odds and probits of operations, as rules of `representations`.

A link is represented by its operand. Products, quotients and powers are represented by the
logarithms of their operands, complements by the complementary form.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..node import Apply, Data, Node, Operation
from ..numerics.log_links import (
    log_complement,
    log_complement_of_power,
    log_complement_of_product,
    log_complement_of_quotient,
    log_icauchit,
    log_icloglog,
)
from ..operations import reductions, shaping
from ..operations.elementwise import (
    CAST,
    ELEMENTWISE,
    INTEGER_POWER,
    astype,
    elementwise,
    minus,
    plus,
    times,
)
from ..operations.operands import literal
from .conditions import holds
from .representations import KINDS, Form, Rule, operand, register

__all__: list[str] = []


def _operation(function: Callable[..., Any]) -> Operation:
    return Operation(function.__name__, function, elementwise=True)


LOG_ICLOGLOG = _operation(log_icloglog)
LOG_ICAUCHIT = _operation(log_icauchit)
LOG_COMPLEMENT = _operation(log_complement)
LOG_COMPLEMENT_OF_PRODUCT = _operation(log_complement_of_product)
LOG_COMPLEMENT_OF_QUOTIENT = _operation(log_complement_of_quotient)
LOG_COMPLEMENT_OF_POWER = _operation(log_complement_of_power)


def _apply(operation: Operation, x: Node) -> Node:
    return Apply(operation, (x,), x.shape, x.dtype)


def _negative(x: Node) -> Node:
    return elementwise("negative", x)


def _link(name: str, log: Callable[[Node], Node], log1m: Callable[[Node], Node]) -> None:
    operation = ELEMENTWISE[name]
    register(operation, "log")(lambda node, form: log(operand(node)))
    register(operation, "log1m")(lambda node, form: log1m(operand(node)))


_link(
    "expit",
    lambda x: elementwise("log_expit", x),
    lambda x: elementwise("log_expit", _negative(x)),
)
_link(
    "ndtr",
    lambda x: elementwise("log_ndtr", x),
    lambda x: elementwise("log_ndtr", _negative(x)),
)
_link(
    "icloglog",
    lambda x: _apply(LOG_ICLOGLOG, x),
    lambda x: _negative(elementwise("exp", x)),
)
_link(
    "icauchit",
    lambda x: _apply(LOG_ICAUCHIT, x),
    lambda x: _apply(LOG_ICAUCHIT, _negative(x)),
)


for _name, _kind in (("expit", "logit"), ("ndtr", "probit"), ("exp", "log")):
    register(ELEMENTWISE[_name], _kind)(lambda node, form: operand(node))


@register(reductions.SOFTMAX, "log")
def _log_of_softmax(node: Apply, form: Form) -> Node | None:
    return reductions.softmax(node.parents[0], node.attributes["axis"], log=True)


@register(reductions.SOFTMAX, "log1m")
def _log1m_of_softmax(node: Apply, form: Form) -> Node | None:
    axis = node.attributes["axis"]
    if node.shape[axis] != 2:
        return None
    return shaping.flip(reductions.softmax(node.parents[0], axis, log=True), axis)


def _of_complement(kind: str, inner: str) -> None:
    """Register the form of 1 - x by a form of x.

    A form of the same kind has the other sign.
    """

    @register(ELEMENTWISE["subtract"], kind)
    def rule(node: Apply, form: Form) -> Node | None:
        other = form(node.parents[1], inner) if _from_one(node) else None
        return _negative(other) if other is not None and kind == inner else other


for _kind, _inner in (("log", "log1m"), ("log1m", "log"), ("logit",) * 2, ("probit",) * 2):
    _of_complement(_kind, _inner)


def _from_one(node: Apply) -> bool:
    """Whether a difference is 1 - x, of x's own shape."""
    one, x = node.parents
    is_one = isinstance(one, Data) and one.literal and bool(np.all(one.value == 1))
    return is_one and x.shape == node.shape


def _log1m_by_log(node: Apply, form: Form) -> Node | None:
    """The form log(1 - x) by way of the logarithm of x.

    For a probability near 1 the logarithm is as small as the complement, and exact above 0.
    """
    log = form(node, "log")
    return None if log is None else _apply(LOG_COMPLEMENT, log)


@register(ELEMENTWISE["multiply"], "log")
def _log_of_product(node: Apply, form: Form) -> Node | None:
    a, b = (form(parent, "log") for parent in node.parents)
    return None if a is None or b is None else plus(a, b)


@register(ELEMENTWISE["multiply"], "log1m")
def _log1m_of_product(node: Apply, form: Form) -> Node | None:
    if any(map(_is_small, node.parents)):
        return _log1m_by_log(node, form)
    return _log1m_by_both(LOG_COMPLEMENT_OF_PRODUCT, node, form)


def _log1m_by_both(operation: Operation, node: Apply, form: Form) -> Node | None:
    """The form log(1 - x) from the logarithms of both operands.

    The logarithms of their complements are needed, too; otherwise `_log1m_by_log` is used.
    """
    parts = [form(parent, kind) for kind in ("log", "log1m") for parent in node.parents]
    if None in parts:
        return _log1m_by_log(node, form)
    parents = tuple(astype(part, node.dtype) for part in parts)
    return Apply(operation, parents, node.shape, node.dtype)


def _is_small(node: Node) -> bool:
    """Whether a factor keeps a probability away from 1.

    The logarithm of the product is then as good as that of the complement.
    """
    return isinstance(node, Data) and node.literal and bool(np.all(node.value < 0.99))


@register(ELEMENTWISE["divide"], "log")
def _log_of_quotient(node: Apply, form: Form) -> Node | None:
    odds = _odds(node, form)
    if odds is not None:
        return elementwise("log_expit", odds)
    a, b = (form(parent, "log") for parent in node.parents)
    return None if a is None or b is None else minus(a, b)


@register(ELEMENTWISE["divide"], "log1m")
def _log1m_of_quotient(node: Apply, form: Form) -> Node | None:
    odds = _odds(node, form)
    if odds is None:
        return _log1m_by_both(LOG_COMPLEMENT_OF_QUOTIENT, node, form)
    return elementwise("log_expit", _negative(odds))


@register(ELEMENTWISE["divide"], "logit")
def _odds(node: Apply, form: Form) -> Node | None:
    """log(a / b) for a quotient a / (a + b).

    a and b are positive numbers.
    """
    a, total = node.parents
    if not isinstance(total, Apply) or total.operation is not ELEMENTWISE["add"]:
        return None
    for first, b in (total.parents, total.parents[::-1]):
        if first is a or _same_number(first, a):
            tops, bottoms = form(a, "log"), form(b, "log")
            if tops is not None and bottoms is not None:
                return minus(tops, bottoms)
    return None


def _same_number(a: Node, b: Node) -> bool:
    """Whether nodes are equal constants, as in `2.0 / (2.0 + mean)`."""
    are_literal = isinstance(a, Data) and isinstance(b, Data) and a.literal and b.literal
    return are_literal and a.shape == b.shape and np.array_equal(a.value, b.value)  # type: ignore[attr-defined]


@register(ELEMENTWISE["reciprocal"], "log")
def _log_of_reciprocal(node: Apply, form: Form) -> Node | None:
    log = form(node.parents[0], "log")
    return None if log is None else _negative(log)


def _power(operation: Operation, exponent: Callable[[Apply], float]) -> None:
    @register(operation, "log")
    def log_of_power(node: Apply, form: Form) -> Node | None:
        log = form(node.parents[0], "log")
        y = exponent(node)  # 0 ** 0 is 1
        return None if log is None or y == 0 else times(log, y)

    @register(operation, "log1m")
    def log1m_of_power(node: Apply, form: Form) -> Node | None:
        return _log1m_of_power(node, form, literal(exponent(node), node.dtype))


def _log1m_of_power(node: Apply, form: Form, y: Node) -> Node | None:
    base = node.parents[0]
    log, log1m = form(base, "log"), form(base, "log1m")
    if log is None or log1m is None or not isinstance(y, Data) or not holds(y, "above 0"):
        return _log1m_by_log(node, form)
    parents = tuple(astype(part, node.dtype) for part in (log, log1m, y))
    return Apply(LOG_COMPLEMENT_OF_POWER, parents, node.shape, node.dtype)


_power(ELEMENTWISE["sqrt"], lambda node: 0.5)
_power(ELEMENTWISE["square"], lambda node: 2.0)
_power(INTEGER_POWER, lambda node: float(node.attributes["y"]))


@register(ELEMENTWISE["power"], "log")
def _log_of_power(node: Apply, form: Form) -> Node | None:
    base, y = node.parents
    if not isinstance(y, Data) or not holds(y, "not 0"):  # 0 ** 0 is 1
        return None
    log = form(base, "log")
    return None if log is None else times(log, y)


@register(ELEMENTWISE["power"], "log1m")
def _log1m_of_any_power(node: Apply, form: Form) -> Node | None:
    return _log1m_of_power(node, form, node.parents[1])


for _name in ("exp", "reciprocal"):
    register(ELEMENTWISE[_name], "log1m")(_log1m_by_log)


def _of_cast(kind: str) -> Rule:
    def rule(node: Apply, form: Form) -> Node | None:
        (x,) = node.parents
        inner = form(x, kind) if x.dtype.kind == "f" or isinstance(x, Data) else None
        return None if inner is None else astype(inner, node.dtype)

    return rule


for _kind in KINDS:
    register(CAST, _kind)(_of_cast(_kind))
