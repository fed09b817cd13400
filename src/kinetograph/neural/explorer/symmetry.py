"""A canonical order and sign of the hidden units of a perceptron.

The outputs do not change if hidden units of a layer change places, or, if the activation is odd,
if all weights into and out of a unit and its bias change sign. So each minimum has many copies.
"""

import itertools
import re
from typing import Any, NamedTuple

import numpy as np

from ...graph.public import public
from ..landscape import Landscape
from ..parameters import ParameterLayout
from ..surfaces.evaluation import point

__all__ = ["canonical", "hidden_layers"]

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
        Free parameters of the same loss, (size,). If the tree of the parameters is not the tree of
        a perceptron, one weight matrix and at most one bias for each layer, they are the parameters
        given.

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
    for layers in hidden_layers(landscape.layout):
        for layer in range(len(layers) - 1):
            for change in (_signs, _order):
                changed = _free(landscape, layers, change, w, layer)
                if changed is not None and _same_outputs(landscape, w, changed):
                    w = changed
    return w.copy()


class _Layer(NamedTuple):
    """The places of a layer's arrays in the vector of parameters."""

    weights: slice
    shape: tuple[int, ...]
    bias: slice | None
    transposed: bool  # whether outputs are the first axis of the weights


def hidden_layers(layout: ParameterLayout) -> list[list[_Layer]]:
    """The layers of a perceptron, for each meaning of the weights' axes.

    A layout is one of a perceptron if each part of its tree has one matrix and at most one vector,
    and the matrices fit together in the order of their names. Otherwise the list is empty.
    """
    parts: dict[str, list[str]] = {}
    for name in layout.shapes:
        parts.setdefault(name.rpartition("/")[0], []).append(name)
    chains = []
    for transposed in (False, True):
        layers = [_layer(layout, parts[part], transposed) for part in sorted(parts, key=_natural)]
        whole = [layer for layer in layers if layer is not None]
        sizes = [layer.shape[::-1] if transposed else layer.shape for layer in whole]
        fits = all(a[1] == b[0] for a, b in itertools.pairwise(sizes))
        if len(whole) == len(layers) and fits:
            chains.append(whole)
    return chains


def _natural(name: str) -> list[tuple[int, Any]]:
    """A key that sorts numbers in names by their values."""
    pieces = re.split(r"(\d+)", name)
    return [(1, int(piece)) if piece.isdigit() else (0, piece) for piece in pieces]


def _layer(layout: ParameterLayout, names: list[str], transposed: bool) -> _Layer | None:
    """The layer of a matrix and at most one vector, otherwise None."""
    shapes = {name: layout.shapes[name] for name in names}
    matrices = [name for name, shape in shapes.items() if len(shape) == 2]
    vectors = [name for name, shape in shapes.items() if len(shape) == 1]
    if len(matrices) != 1 or len(matrices) + len(vectors) != len(names) or len(vectors) > 1:
        return None
    shape, places = shapes[matrices[0]], layout.places
    if vectors and shapes[vectors[0]] != (shape[0 if transposed else 1],):
        return None
    bias = places[vectors[0]] if vectors else None
    return _Layer(places[matrices[0]], shape, bias, transposed)


def _numbers(weights: list[np.ndarray], bias: list[np.ndarray | None], layer: int) -> np.ndarray:
    """The number of each unit of a layer."""
    vector = bias[layer]
    incoming = np.vstack([weights[layer], *([] if vector is None else [vector])])
    return np.asarray(np.random.default_rng(0).standard_normal(len(incoming)) @ incoming)


def _signs(weights: list[np.ndarray], bias: list[np.ndarray | None], layer: int) -> None:
    """Change the signs of units whose number is negative."""
    signs = np.where(_numbers(weights, bias, layer) < 0, -1.0, 1.0)
    weights[layer] = weights[layer] * signs
    weights[layer + 1] = weights[layer + 1] * signs[:, None]
    vector = bias[layer]
    bias[layer] = None if vector is None else vector * signs


def _order(weights: list[np.ndarray], bias: list[np.ndarray | None], layer: int) -> None:
    """Sort the units by their numbers."""
    order = np.argsort(_numbers(weights, bias, layer), kind="stable")
    weights[layer] = weights[layer][:, order]
    weights[layer + 1] = weights[layer + 1][order]
    vector = bias[layer]
    bias[layer] = None if vector is None else vector[order]


def _free(
    landscape: Landscape, layers: list[_Layer], change: Any, w: np.ndarray, number: int
) -> np.ndarray | None:
    """The free parameters after a change; None if a fixed parameter changes."""
    layout = landscape.layout
    full = np.nan_to_num(np.zeros(layout.size) if layout.fixed is None else layout.fixed)
    full[layout.free] = w
    matrices = [full[layer.weights].reshape(layer.shape) for layer in layers]
    weights = [m.T if layer.transposed else m for m, layer in zip(matrices, layers, strict=True)]
    bias = [None if layer.bias is None else full[layer.bias] for layer in layers]
    change(weights, bias, number)
    changed = full.copy()
    for layer, matrix, vector in zip(layers, weights, bias, strict=True):
        changed[layer.weights] = (matrix.T if layer.transposed else matrix).ravel()
        if layer.bias is not None:
            changed[layer.bias] = vector
    fixed = np.setdiff1d(np.arange(layout.size), layout.free)
    return changed[layout.free] if np.array_equal(changed[fixed], full[fixed]) else None


def _same_outputs(landscape: Landscape, before: np.ndarray, after: np.ndarray) -> bool:
    """Whether both have the same outputs for some data."""
    first, second = landscape.outputs(np.stack([before, after]), landscape.x[:20])
    scale = np.finfo(landscape.dtype).eps / np.finfo(float).eps * _TOLERANCE
    return bool(np.abs(first - second).max() <= scale * (1 + np.abs(first).max()))
