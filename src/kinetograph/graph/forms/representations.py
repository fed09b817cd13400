"""Other forms of a value, such as the logarithm of a rate.

A probability that an inverse link computed rounds to 0 or 1 long before its logarithm is out of
range. A function that needs the logarithm requests it here, and gets a node that computes it from
the operand of the link:

    log     log(x)
    log1m   log(1 - x)
    logit   log(x / (1 - x))
    probit  the z at which the normal distribution function is x
    square  x * x, where x is made of roots and absolute values: `squares`

For matrices there is also the lower Cholesky factor: `cholesky`.

Operations that only move elements (indexing, writing by index, reshaping, joining, choosing) keep a
form. Logarithms also pass through products, quotients and powers. Other operations have no form.
The results of branches, batches and loops have a form if the values computed inside have one:
`control.forms`. `register` adds a rule for an operation, also for links of other packages.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..node import PART, Apply, Bundle, Data, FormOf, Inner, Node, Operation, next_serial, within
from ..numerics.log_links import (
    log_complement,
    log_complement_of_power,
    log_complement_of_product,
    log_complement_of_quotient,
    log_icauchit,
    log_icloglog,
)
from ..operations import reductions, shaping
from ..operations.elementwise import CAST, ELEMENTWISE, INTEGER_POWER, astype, elementwise
from ..operations.indexing import WRITE, WRITE_CHECKED
from ..operations.operands import literal
from .conditions import holds
from .moves import MOVED, keeps_matrices

__all__ = ["Form", "Forms", "register", "represent"]

Form = Callable[[Node, str], Node | None]  # an instance of `Forms`
Rule = Callable[[Apply, Form], Node | None]

DEEPEST = 100  # nested operations that are examined
DEEPEST_SQUARE = 8  # each power requests a square, and most have none
LOG_ICLOGLOG = Operation("log_icloglog", log_icloglog, elementwise=True)
LOG_ICAUCHIT = Operation("log_icauchit", log_icauchit, elementwise=True)
LOG_COMPLEMENT = Operation("log_complement", log_complement, elementwise=True)
LOG_COMPLEMENT_OF_PRODUCT = Operation(
    "log_complement_of_product", log_complement_of_product, elementwise=True
)
LOG_COMPLEMENT_OF_QUOTIENT = Operation(
    "log_complement_of_quotient", log_complement_of_quotient, elementwise=True
)
LOG_COMPLEMENT_OF_POWER = Operation(
    "log_complement_of_power", log_complement_of_power, elementwise=True
)

_RULES: dict[tuple[Operation, str], Rule] = {}


def register(operation: Operation, kind: str) -> Callable[[Rule], Rule]:
    """Make a function the rule for a form of an operation.

    The rule gets the node, and the function that represents its parents. It returns the node of the
    form, or None if this result has no such form.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from kinetograph.graph.operations.elementwise import elementwise
    >>> from kinetograph.graph.node import Operation
    >>> from kinetograph.graph.forms.representations import register
    >>> ILOGLOG = Operation("iloglog", lambda x: jnp.exp(-jnp.exp(-x)), elementwise=True)
    >>> @register(ILOGLOG, "log")
    ... def log_iloglog(node, form):
    ...     (x,) = node.parents
    ...     return elementwise("negative", elementwise("exp", elementwise("negative", x)))
    """

    def decorate(rule: Rule) -> Rule:
        _RULES[operation, kind] = rule
        return rule

    return decorate


def represent(node: Node, kind: str) -> Node | None:
    """The node of another form.

    None if the value is as good.
    """
    # The value of data is as good as its logarithm.
    return None if isinstance(node, Data) else Forms()(node, kind)


class Forms:
    """One search for a form; calling it represents a node.

    Nodes that it makes belong to the branch or loop of the represented node. For loops that are
    being extended, `growing` holds the functions that make further loop variables, by existing
    variable.
    """

    def __init__(self) -> None:
        self.known: dict[tuple[Node, str], Node | None] = {}
        self.growing: dict[Node, Callable[[str], Node | None]] = {}
        self._depth = 0
        self._start = next_serial()

    def __call__(self, node: Node, kind: str) -> Node | None:
        key = node, kind
        if key not in self.known:
            self.known[key] = None
            if self._depth <= (DEEPEST_SQUARE if kind == "square" else DEEPEST):
                self._depth += 1
                with within(node.context):
                    form = self._find(node, kind)
                    # In messages, the new node has the line that the user wrote.
                    if form is not None and form.serial > self._start:
                        form._place = node._place
                    if form is not None and not isinstance(node, Data):
                        form = FormOf(form, node, kind)
                        form._place = node._place
                self._depth -= 1
                self.known[key] = form
        return self.known[key]

    def _find(self, node: Node, kind: str) -> Node | None:
        if isinstance(node, Data):
            return _of_data(node, kind)
        if kind == "square" and not _has_square(node):
            return None
        if isinstance(node, Inner):
            return self._of_inner(node, kind)
        if not isinstance(node, Apply):
            form_of_unknown = getattr(
                node, "form", None
            )  # an unknown has the forms that its bijector computes
            return form_of_unknown(kind) if form_of_unknown is not None else None
        if node.dtype.kind != "f":
            return None
        if isinstance(node, FormOf):
            return self(node.parents[0], kind)
        rule = _RULES.get((node.operation, kind))
        if rule is not None:
            return rule(node, self)
        if node.operation is PART:
            (bundle,) = node.parents
            assert isinstance(bundle, Bundle)
            return bundle.form(node.attributes["place"], kind, self)
        if kind == "cholesky" and not keeps_matrices(node):
            return None
        if node.operation in (WRITE, WRITE_CHECKED):
            return self._of_written(node, kind)
        return self._of_moved(node, kind)

    def _of_moved(self, node: Apply, kind: str) -> Node | None:
        moved = MOVED.get(node.operation)
        if moved is None:
            return None
        parents = list(node.parents)
        for place in range(len(parents))[moved]:
            other = self(parents[place], kind)
            if other is None:
                return None
            parents[place] = other
        return Apply(node.operation, tuple(parents), node.shape, node.dtype, node.attributes)

    def _of_written(self, node: Apply, kind: str) -> Node | None:
        """The form of an array that any number of writes fill."""
        writes: list[Apply] = []
        start: Node = node
        while isinstance(start, Apply) and start.operation in (WRITE, WRITE_CHECKED):
            if start.attributes["how"] != "set":
                return None
            writes.append(start)
            start = start.parents[0]
        form = self(start, kind)
        for write in reversed(writes):
            _, value, *indices = write.parents
            value_form = None if form is None else self(value, kind)
            if form is None or value_form is None:
                return None
            parents = (form, value_form, *indices)
            form = Apply(write.operation, parents, write.shape, write.dtype, write.attributes)
        return form

    def _of_inner(self, node: Inner, kind: str) -> Node | None:
        """The form of a value that enters a branch or loop.

        It is made from the form of the value outside.
        """
        if node in self.growing:
            return self.growing[node](kind)
        if node.role not in ("captured", "row"):
            return None
        context, outer = node.context, self(node.outer, kind)
        if outer is None or context is None:
            return None
        if node.role == "captured":
            return context.add_value(outer)
        return context.argument(outer, "row", f"{kind}({node.label()})", shape=outer.shape[1:])


def _has_square(node: Node) -> bool:
    """Whether a square may be found without changing a branch or loop."""
    if isinstance(node, Inner):
        return node.role == "captured"
    return isinstance(node, Apply) and node.operation is not PART


def _probit(x: Any) -> Any:
    from scipy.special import ndtri

    return ndtri(x)


_FORMS_OF_DATA: dict[str, Callable[[Any], Any]] = {
    "log": np.log,
    "log1m": lambda x: np.log1p(-x),
    "logit": lambda x: np.log(x) - np.log1p(-x),
    "probit": _probit,
}


def _of_data(node: Data, kind: str) -> Node | None:
    """The form of data next to represented values.

    None unless all elements have the form.

    Elements at the bounds have an infinite form, which densities accept.
    """
    if kind == "square":
        return literal(np.square(node.value)) if node.literal else elementwise("square", node)
    function = _FORMS_OF_DATA.get(kind)
    if function is None or node.dtype.kind not in "iuf" or not holds(node, "at least 0"):
        return None
    if kind != "log" and not holds(node, "at most 1"):
        return None
    if node.literal:
        with np.errstate(divide="ignore"):
            return literal(function(node.value.astype(float)))
    if kind == "log":
        return elementwise("log", node)
    return elementwise("log1p", elementwise("negative", node)) if kind == "log1m" else None


def _apply(operation: Operation, x: Node) -> Node:
    return Apply(operation, (x,), x.shape, x.dtype)


def _negative(x: Node) -> Node:
    return elementwise("negative", x)


def _operand(node: Apply) -> Node:
    """The only parent, in the floating type of the result."""
    (x,) = node.parents
    return x if x.dtype == node.dtype else astype(x, node.dtype)


def _link(name: str, log: Callable[[Node], Node], log1m: Callable[[Node], Node]) -> None:
    operation = ELEMENTWISE[name]
    register(operation, "log")(lambda node, form: log(_operand(node)))
    register(operation, "log1m")(lambda node, form: log1m(_operand(node)))


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


@register(ELEMENTWISE["expit"], "logit")
def _logit_of_expit(node: Apply, form: Form) -> Node | None:
    return _operand(node)


@register(ELEMENTWISE["ndtr"], "probit")
def _probit_of_ndtr(node: Apply, form: Form) -> Node | None:
    return _operand(node)


@register(ELEMENTWISE["exp"], "log")
def _log_of_exp(node: Apply, form: Form) -> Node | None:
    return _operand(node)


@register(reductions.SOFTMAX, "log")
def _log_of_softmax(node: Apply, form: Form) -> Node | None:
    return reductions.softmax(node.parents[0], node.attributes["axis"], log=True)


@register(reductions.SOFTMAX, "log1m")
def _log1m_of_softmax(node: Apply, form: Form) -> Node | None:
    axis = node.attributes["axis"]
    if node.shape[axis] != 2:
        return None
    return shaping.flip(reductions.softmax(node.parents[0], axis, log=True), axis)


@register(ELEMENTWISE["subtract"], "log")
def _log_of_complement(node: Apply, form: Form) -> Node | None:
    return form(node.parents[1], "log1m") if _from_one(node) else None


@register(ELEMENTWISE["subtract"], "log1m")
def _log1m_of_complement(node: Apply, form: Form) -> Node | None:
    return form(node.parents[1], "log") if _from_one(node) else None


def _negated(kind: str) -> Rule:
    def rule(node: Apply, form: Form) -> Node | None:
        other = form(node.parents[1], kind) if _from_one(node) else None
        return None if other is None else _negative(other)

    return rule


for _kind in ("logit", "probit"):
    register(ELEMENTWISE["subtract"], _kind)(_negated(_kind))


def _from_one(node: Apply) -> bool:
    """Whether a difference is 1 - x, of x's own shape."""
    one, x = node.parents
    known = isinstance(one, Data) and one.literal and bool(np.all(one.value == 1))
    return known and x.shape == node.shape


def _log1m_by_log(node: Apply, form: Form) -> Node | None:
    """The form log(1 - x) by way of the logarithm of x.

    For a probability near 1 the logarithm is as small as the complement, and exact above 0.
    """
    log = form(node, "log")
    return None if log is None else _apply(LOG_COMPLEMENT, log)


@register(ELEMENTWISE["multiply"], "log")
def _log_of_product(node: Apply, form: Form) -> Node | None:
    a, b = (form(parent, "log") for parent in node.parents)
    return None if a is None or b is None else elementwise("add", a, b)


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
    return None if a is None or b is None else elementwise("subtract", a, b)


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
                return elementwise("subtract", tops, bottoms)
    return None


def _same_number(a: Node, b: Node) -> bool:
    """Whether nodes are equal constants, as in `2.0 / (2.0 + mean)`."""
    known = isinstance(a, Data) and isinstance(b, Data) and a.literal and b.literal
    return known and a.shape == b.shape and np.array_equal(a.value, b.value)  # type: ignore[attr-defined]


@register(ELEMENTWISE["reciprocal"], "log")
def _log_of_reciprocal(node: Apply, form: Form) -> Node | None:
    log = form(node.parents[0], "log")
    return None if log is None else _negative(log)


def _power(operation: Operation, exponent: Callable[[Apply], float]) -> None:
    @register(operation, "log")
    def log_of_power(node: Apply, form: Form) -> Node | None:
        log = form(node.parents[0], "log")
        y = exponent(node)  # 0 ** 0 is 1
        return None if log is None or y == 0 else elementwise("multiply", log, y)

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
    return None if log is None else elementwise("multiply", log, y)


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


for _kind in (*_FORMS_OF_DATA, "square"):
    register(CAST, _kind)(_of_cast(_kind))
