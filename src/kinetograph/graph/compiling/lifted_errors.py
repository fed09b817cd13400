"""Errors about derivatives of lifted functions that JAX cannot compute.

JAX raises its error while it builds the program, without the name and line of the user's function.
To find the function, the derivatives of all lifted functions in the graph are tried one by one.
"""

from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp

from ..control.control_node import everything
from ..errors import DerivativeError
from ..lift import Lifted
from ..messages import describe, site_text
from ..node import Apply, Bundle, Node
from ..precision import x64

__all__ = ["refused_derivative"]

_TWICE = (
    "It has a rule for reverse mode only (jax.custom_vjp), but kg.jvp, kg.hessian inside loops and "
    'grad="forward" use forward mode: use kg.gradients (twice for second derivatives), or define '
    "the rule with jax.custom_jvp, which works in both modes"
)
_LOOP = (
    "JAX cannot differentiate its loops in reverse mode: write them with kg.while_loop, which has "
    "gradients, or with jax.lax.scan; kg.jvp works without changes"
)
_RULE = "Define its derivative with jax.custom_jvp"
_ADVICE = {"custom_vjp": _TWICE, "while_loop": _LOOP, "": _RULE}


def refused_derivative(nodes: Iterable[Node], error: Exception) -> DerivativeError | None:
    """The error that names the lifted function behind a JAX error."""
    first = str(error).partition("\n")[0]
    for node in everything(nodes):
        if not isinstance(node, (Apply, Bundle)) or not isinstance(node.operation.lower, Lifted):
            continue
        for derive in (_forward, _reverse):
            if _complaint(derive, node) != first:
                continue
            advice = next(text for word, text in _ADVICE.items() if word in first)
            mode = "" if advice is _RULE else f" in {derive.__name__.removeprefix('_')} mode"
            return DerivativeError(
                f"{describe(node)}{site_text(node)}: JAX has no derivative of the lifted function "
                f"{node.operation.name!r}{mode} ({first.rstrip('.')}). {advice}"
            )
    return None


def _forward(function: Callable[..., Any], floats: list[Any]) -> Any:
    return jax.jvp(function, floats, floats)


def _reverse(function: Callable[..., Any], floats: list[Any]) -> Any:
    results, pull = jax.vjp(function, *floats)
    return pull(results)


def _complaint(derive: Callable[..., Any], node: Apply | Bundle) -> str:
    """The first line of JAX's error for a derivative; empty without error."""
    kinds = [(n.shape, n.dtype) for n in node.parents]
    places = [i for i, (_, dtype) in enumerate(kinds) if dtype.kind == "f"]

    def function(*floats: Any) -> Any:
        tensors = [jnp.zeros(shape, dtype) for shape, dtype in kinds]
        for place, tensor in zip(places, floats, strict=True):
            tensors[place] = tensor
        results = node.operation.lower(*tensors)
        return [
            t for t in (results if isinstance(results, list) else [results]) if t.dtype.kind == "f"
        ]

    floats = [jnp.zeros(*kinds[place]) for place in places]
    try:
        with x64():
            jax.jit(lambda *floats: derive(function, list(floats))).lower(*floats)
    except (TypeError, ValueError) as error:
        return str(error).partition("\n")[0]
    return ""
