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
`control.forms`. `register` adds a rule for an operation, also for links of other packages;
`logarithms` and `squares` have the rules of this package.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..node import PART, Apply, Bundle, Data, FormOf, Inner, Node, Operation, next_serial, within
from ..operations.elementwise import astype, elementwise
from ..operations.indexing import WRITES
from ..operations.operands import literal
from .conditions import holds
from .moves import MOVED, keeps_matrices

__all__ = ["KINDS", "Form", "Forms", "Rule", "operand", "register", "represent"]

Form = Callable[[Node, str], Node | None]  # an instance of `Forms`
Rule = Callable[[Apply, Form], Node | None]

DEEPEST = 100  # nested operations that are examined
DEEPEST_SQUARE = 8  # each power requests a square, and most have none

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
        self.cache: dict[tuple[Node, str], Node | None] = {}
        self.growing: dict[Node, Callable[[str], Node | None]] = {}
        self._depth = 0
        self._start = next_serial()

    def __call__(self, node: Node, kind: str) -> Node | None:
        key = node, kind
        if key not in self.cache:
            self.cache[key] = None
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
                self.cache[key] = form
        return self.cache[key]

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
        if node.operation in WRITES:
            return self._of_written(node, kind)
        return self._of_moved(node, kind)

    def _of_moved(self, node: Apply, kind: str) -> Node | None:
        operands = MOVED.get(node.operation)
        if operands is None:
            return None
        parents = list(node.parents)
        for place in range(len(parents))[operands]:
            other = self(parents[place], kind)
            if other is None:
                return None
            parents[place] = other
        return Apply(node.operation, tuple(parents), node.shape, node.dtype, node.attributes)

    def _of_written(self, node: Apply, kind: str) -> Node | None:
        """The form of an array that any number of writes fill."""
        writes: list[Apply] = []
        start: Node = node
        while isinstance(start, Apply) and start.operation in WRITES:
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
KINDS = (*_FORMS_OF_DATA, "square")  # of single numbers


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


def operand(node: Apply) -> Node:
    """The only parent, in the floating type of the result."""
    (x,) = node.parents
    return x if x.dtype == node.dtype else astype(x, node.dtype)
