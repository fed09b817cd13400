"""Values of unknowns, given by name."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..distributions.variable import Variable
from ..graph.compiling.inside_jax import has_tracer
from ..graph.errors import ModelError, ShapeError
from ..graph.missing import refuse_masked
from ..graph.source import place_text
from ..graph.suggestions import did_you_mean
from ..graph.value_texts import in_words, shown

if TYPE_CHECKING:
    from .log_density import LogDensity

__all__ = ["check_values", "checked_value", "outside_support"]


def check_values(
    model: "LogDensity", values: Mapping[str, Any], complete: bool
) -> dict[Variable, np.ndarray]:
    """The checked values by unknown.

    With `complete`, all unknowns must have values.

    Raises
    ------
    ModelError
        If a name is unknown or missing.
    ShapeError
        If a value has another shape than its unknown.
    TypeError
        If a value is not a number, or is being traced by JAX.
    ValueError
        If a value lies outside its unknown's support.
    """
    if hasattr(values, "subtree"):
        raise TypeError(
            f"values of unknowns must be given for one point, got {in_words(values)}"
            f"{place_text()}; kg.calculate(..., values=results) and kg.log_likelihood take all "
            "draws"
        )
    if not isinstance(values, Mapping):
        raise TypeError(
            f"values of unknowns are given by name, as in {{{model.names[0]!r}: 1.0}}, got "
            f"{in_words(values)}{place_text()}"
        )
    by_name = dict(zip(model.names, model.component.unknowns, strict=True))
    for name in values:
        if name not in by_name:
            raise ModelError(
                f"{name!r} is not an unknown of this model; its unknowns are "
                f"{', '.join(model.names)}{place_text()}{did_you_mean(name, by_name)}"
            )
    missing = [n for n in model.names if n not in values]
    if complete and missing:
        raise ModelError(f"values are missing for {', '.join(missing)}{place_text()}")
    checked: dict[Variable, np.ndarray] = {}
    for name in values:
        node = by_name[name]
        with model.its_values():
            checked[node] = checked_value(name, node, values[name])
    return checked


def checked_value(name: str, node: Variable, value: Any) -> np.ndarray:
    """The value of an unknown as an array, checked as in `check_values`."""
    array = _numbers(name, value, node)
    if array.shape != node.shape:
        raise ShapeError(f"{name}: expected shape {node.shape}, got {array.shape}{place_text()}")
    if not np.all(node.support.contains(array)):
        raise outside_support(name, node, array)
    return array


def _numbers(name: str, value: Any, node: Variable) -> np.ndarray:
    refuse_masked(value, name)
    try:
        return np.asarray(value, node.dtype)
    except (TypeError, ValueError):
        if has_tracer(value):
            raise TypeError(
                f"{name}: values are looked at, and JAX is tracing this one; make free states "
                "outside of JAX's transformations (model.transform can be called inside)"
            ) from None
        kind = "a number" if not node.shape else f"numbers of shape {node.shape}"
        raise TypeError(f"{name}: expected {kind}, got {shown(value)}{place_text()}") from None


def outside_support(name: str, node: Variable, value: np.ndarray, more: str = "") -> ValueError:
    """The error for a value outside of its unknown's support."""
    got = np.array2string(value, threshold=6) if np.ndim(value) else f"{value:g}"
    finite = "" if np.all(np.isfinite(value)) else " and finite"
    needed = f"{node.support.describe()}{finite}"
    return ValueError(f"{name}: must be {needed}, got {got}{place_text()}{more}")
