"""A canonical order and sign of the hidden units of a perceptron.

The outputs do not change if hidden units of a layer change places, or, if the activation is odd,
if all weights into and out of a unit and its bias change sign. So each minimum has many copies.
"""

from typing import Any

import numpy as np

from ...graph.public import public
from ..landscape import Landscape
from ..perceptron import Perceptron
from ..surfaces.evaluation import point

__all__ = ["canonical"]

_TOLERANCE = 1e-9  # of outputs that agree


@public
def canonical(landscape: Landscape, parameters: Any) -> np.ndarray:
    """The copy of parameters with canonical hidden units.

    Layer after layer, each unit gets a number: the scalar product of its incoming weights and its
    bias with fixed random numbers. If the activation is odd, units with a negative number change
    sign. Then the units are sorted by their numbers. Whether an activation is odd is found by
    comparing outputs. A layer stays as it is if a change would move a fixed parameter.

    Parameters
    ----------
    landscape
        The losses, a `kg.neural.Landscape`.
    parameters
        Free parameters, (size,).

    Returns
    -------
    array
        Free parameters of the same loss, (size,). For a network that is not made by
        `kg.neural.mlp` they are the parameters given.

    Raises
    ------
    ShapeError
        If the parameters have another size.

    Examples
    --------
    >>> import jax, numpy as np, kinetograph as kg
    >>> x, network = np.linspace(-1, 1, 20)[:, None], kg.neural.mlp([2], "tanh")
    >>> layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    >>> land = kg.neural.Landscape(network, layout, "mean_squared", x, x**2)
    >>> w = np.array([1.0, 2, 3, 4, 5, 6, 7])  # exchange the units, change a sign
    >>> copy = np.array([2.0, -1, 4, -3, 6, -5, 7])
    >>> first, second = (kg.neural.explorer.canonical(land, v) for v in (w, copy))
    >>> bool(np.allclose(first, second))
    True
    """
    w = point(landscape, parameters, "canonical", "parameters")
    if not isinstance(landscape.layout.like, Perceptron):
        return w.copy()
    for layer in range(len(landscape.layout.like.weights) - 1):
        for change in (_signs, _order):
            changed = _free(landscape, change, w, layer)
            if changed is not None and _same_outputs(landscape, w, changed):
                w = changed
    return w


def _numbers(weights: list[np.ndarray], bias: list[np.ndarray], layer: int) -> np.ndarray:
    """The number of each unit of a layer."""
    incoming = np.vstack([weights[layer], *([bias[layer]] if bias else [])])
    return np.asarray(np.random.default_rng(0).standard_normal(len(incoming)) @ incoming)


def _signs(weights: list[np.ndarray], bias: list[np.ndarray], layer: int) -> None:
    """Change the signs of units whose number is negative."""
    signs = np.where(_numbers(weights, bias, layer) < 0, -1.0, 1.0)
    weights[layer] = weights[layer] * signs
    weights[layer + 1] = weights[layer + 1] * signs[:, None]
    if bias:
        bias[layer] = bias[layer] * signs


def _order(weights: list[np.ndarray], bias: list[np.ndarray], layer: int) -> None:
    """Sort the units by their numbers."""
    order = np.argsort(_numbers(weights, bias, layer), kind="stable")
    weights[layer] = weights[layer][:, order]
    weights[layer + 1] = weights[layer + 1][order]
    if bias:
        bias[layer] = bias[layer][order]


def _free(landscape: Landscape, change: Any, w: np.ndarray, layer: int) -> np.ndarray | None:
    """The free parameters after a change; None if a fixed parameter changes."""
    layout = landscape.layout
    full = np.nan_to_num(np.zeros(layout.size) if layout.fixed is None else layout.fixed)
    full[layout.free] = w
    arrays = list(layout.by_name(full).values())
    count = len(layout.like.weights)
    weights, bias = arrays[:count], arrays[count:]
    change(weights, bias, layer)
    changed = np.concatenate([np.ravel(array) for array in (*weights, *bias)])
    held = np.setdiff1d(np.arange(layout.size), layout.free)
    return changed[layout.free] if np.array_equal(changed[held], full[held]) else None


def _same_outputs(landscape: Landscape, before: np.ndarray, after: np.ndarray) -> bool:
    """Whether both have the same outputs for some data."""
    first, second = landscape.outputs(np.stack([before, after]), landscape.x[:20])
    scale = np.finfo(landscape.dtype).eps / np.finfo(float).eps * _TOLERANCE
    return bool(np.abs(first - second).max() <= scale * (1 + np.abs(first).max()))
