"""Forms with respect to whose value is differentiated, or which are given.

A density reads the logarithm e of r = exp(e), and no operation leads from r to e. To differentiate
with respect to r, the form f is treated as the function of r that it is, with a slope that is
written in f. For the logarithm,

    df = exp(-f) dr

which is exact where r has rounded. If r is an input of a program, f is computed from r. See
`representations`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..node import Apply, FormOf, Node, Operation, ancestors, sources, within
from ..numerics.small_matrices import small_cholesky
from ..operations.elementwise import elementwise
from ..operations.linear_algebra import CHOLESKY

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
    def differentiated(form: Any, value: Any) -> Any:
        return form

    @differentiated.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        f, t = differentiated(*primals), tangents[1]
        if kind == "square":
            return f, (2.0 * primals[1] * t).astype(f.dtype)
        if kind == "cholesky":
            return f, jax.jvp(small_cholesky, primals[1:], tangents[1:])[1]
        return f, _scaled(t, _SLOPES[kind](f)).astype(f.dtype)

    return differentiated(form, value)


def _scaled(t: Any, slope: Any) -> Any:
    """t * slope in linear operations, 0 where t is 0.

    It is 0 even if the slope is infinite or NaN. The slope is NaN at elements without such a form,
    as a number above 1 has no log odds; if such an element is read nevertheless, the product is
    infinite.
    """
    most = jnp.finfo(slope.dtype).max
    finite = jnp.where(jnp.isnan(slope), most, jnp.clip(slope, -most, most))
    return t * finite * jnp.where(jnp.isfinite(slope), 1.0, most)


FORM_BY_VALUE = Operation("form", _by_value)


class FormByValue(Apply):
    """A form, differentiated as a function of the node it represents."""

    __slots__ = ()

    def __init__(self, form: FormOf) -> None:
        parents = form, form.of
        super().__init__(FORM_BY_VALUE, parents, form.shape, form.dtype, form.attributes)


def forms_by_value(outputs: Sequence[Node], xs: Sequence[Node]) -> list[FormOf]:
    """The forms in use that depend on xs through the value.

    Their computation does not depend on these xs otherwise.
    """
    inputs = set(xs)
    reach = {x: 1 << place for place, x in enumerate(xs)}  # the xs of each node, as bits
    forms: list[FormOf] = []
    for node in ancestors(outputs, inputs.__contains__, sources):
        if node in inputs:
            continue
        bits = 0
        for parent in node.parents:
            bits |= reach.get(parent, 0)
        if isinstance(node, FormOf):
            value = reach.get(node.of, 0)
            if node.of in inputs or value & ~bits:
                forms.append(node)
            bits |= value
        if bits:
            reach[node] = bits
    return forms


def form_of_value(form: FormOf) -> Node:
    """The form, computed from the value."""
    value, kind = form.of, form.attributes["kind"]
    with within(value.context):
        if kind == "cholesky":
            return Apply(CHOLESKY, (value,), value.shape, value.dtype)
        if kind == "log1m":
            return elementwise("log1p", elementwise("negative", value))
        return elementwise("ndtri" if kind == "probit" else kind, value)
