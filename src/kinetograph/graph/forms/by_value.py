"""Forms of a computed value by which is differentiated, or which is given.

Of r = exp(e) a density reads the logarithm e, and nothing leads from r to e. By r, the form f is
differentiated as the function of r that it is, by a slope that is written in f: of the logarithm,

    df = exp(-f) dr

which is exact where r has rounded. Where r is an input, f is computed from it. See
`representations`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..node import Apply, FormOf, Node, Operation, ancestors, sources, within
from ..operations.elementwise import elementwise
from ..operations.linear_algebra import CHOLESKY, small_cholesky

__all__ = ["FormByValue", "form_of_value", "forms_by_value"]

_SLOPES: dict[str, Callable[[Any], Any]] = {
    "log": lambda f: jnp.exp(-f),
    "log1m": lambda f: -jnp.exp(-f),
    "logit": lambda f: 2.0 + 2.0 * jnp.cosh(f),
    "probit": lambda f: np.sqrt(2.0 * np.pi) * jnp.exp(0.5 * f * f),
}


def _by_value(form: Any, value: Any, *, kind: str) -> Any:
    """The form, differentiated as a function of the value."""

    @jax.custom_jvp
    def known(form: Any, value: Any) -> Any:
        return form

    @known.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        f, t = known(*primals), tangents[1]
        if kind == "square":
            return f, (2.0 * primals[1] * t).astype(f.dtype)
        if kind == "cholesky":
            return f, jax.jvp(small_cholesky, primals[1:], tangents[1:])[1]
        return f, _scaled(t, _SLOPES[kind](f)).astype(f.dtype)

    return known(form, value)


def _scaled(t: Any, slope: Any) -> Any:
    """t * slope, in linear operations: 0 where t is 0, also if the slope is infinite or NaN.

    It is NaN at elements that have no such form, as a number above 1 has no log odds; where one of
    them is read all the same, the product is infinite.
    """
    most = jnp.finfo(slope.dtype).max
    finite = jnp.where(jnp.isnan(slope), most, jnp.clip(slope, -most, most))
    return t * finite * jnp.where(jnp.isfinite(slope), 1.0, most)


FORM_BY_VALUE = Operation("form", _by_value)


class FormByValue(Apply):
    """A form, differentiated as a function of the node that it is a form of."""

    __slots__ = ()

    def __init__(self, form: FormOf) -> None:
        parents = form, form.of
        super().__init__(FORM_BY_VALUE, parents, form.shape, form.dtype, form.attributes)


def forms_by_value(outputs: Sequence[Node], xs: Sequence[Node]) -> list[FormOf]:
    """The forms in use that xs reach by the value, but not by what they are computed from."""
    given = set(xs)
    reach = {x: 1 << place for place, x in enumerate(xs)}  # which xs a node depends on, as bits
    found: list[FormOf] = []
    for node in ancestors(outputs, given.__contains__, sources):
        if node in given:
            continue
        bits = 0
        for parent in node.parents:
            bits |= reach.get(parent, 0)
        if isinstance(node, FormOf):
            value = reach.get(node.of, 0)
            if node.of in given or value & ~bits:
                found.append(node)
            bits |= value
        if bits:
            reach[node] = bits
    return found


def form_of_value(form: FormOf) -> Node:
    """The form, computed from the value."""
    value, kind = form.of, form.attributes["kind"]
    with within(value.context):
        if kind == "cholesky":
            return Apply(CHOLESKY, (value,), value.shape, value.dtype)
        if kind == "log1m":
            return elementwise("log1p", elementwise("negative", value))
        return elementwise("ndtri" if kind == "probit" else kind, value)
