"""Multilayer perceptrons: `kg.neural.mlp`."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..graph.public import public
from .activations import activation
from .choice import chosen
from .interface import Network

__all__ = ["Perceptron", "mlp"]


class Perceptron(NamedTuple):
    """The parameters of a multilayer perceptron.

    As one vector they are all weight matrices in the order of layers, each in row-major order with
    the index of the input first, then all bias vectors.
    """

    weights: tuple[Any, ...]
    bias: tuple[Any, ...]


@dataclass(frozen=True)
class _Layers:
    """The functions of a perceptron's network, without closures."""

    widths: tuple[int, ...]
    activations: tuple[Any, ...]
    bias: bool
    initial: Any
    dropout: float | None = None

    def start(self, key: Any, row: Any, outputs: int) -> Perceptron:
        """Initial parameters."""
        rule, bias = _initial(self.initial)
        sizes = [int(np.size(row)), *self.widths, outputs]
        keys = jax.random.split(key, len(sizes))
        shapes = list(itertools.pairwise(sizes))
        weights = [rule(k, s) for k, s in zip(keys, shapes, strict=False)]
        vectors = [jnp.full(size, bias) for size in sizes[1:]] if self.bias else []
        return Perceptron(tuple(weights), tuple(vectors))

    def apply(self, parameters: Perceptron, row: Any) -> Any:
        """The outputs of a row."""
        x = jnp.reshape(row, -1)
        vectors = parameters.bias or (0.0,) * len(parameters.weights)
        functions = [activation(each, "mlp") for each in self.activations]
        for function, matrix, vector in zip(functions, parameters.weights, vectors, strict=True):
            x = function(x @ matrix + vector)
        return x

    def apply_noisy(self, parameters: Perceptron, row: Any, word: Any) -> Any:
        """The outputs of a row with dropped hidden units.

        All units stay if the word is 0.
        """
        x, key = jnp.reshape(row, -1), jax.random.key(word)
        rate, vectors = self.dropout, parameters.bias or (0.0,) * len(parameters.weights)
        functions = [activation(each, "mlp") for each in self.activations]
        layers = zip(functions, parameters.weights, vectors, strict=True)
        for number, (function, matrix, vector) in enumerate(layers):
            x = function(x @ matrix + vector)
            if number < len(self.widths) and rate is not None:
                layer = jax.random.fold_in(key, number)
                uniform = jax.random.uniform(layer, x.shape, jnp.float32)
                stays = jnp.where(uniform < rate, 0.0, 1 / (1 - rate)).astype(x.dtype)
                x = x * jnp.where(word == 0, jnp.ones((), x.dtype), stays)
        return x

    def apply_rows(self, parameters: Perceptron, rows: Any) -> Any:
        """The outputs of many rows, (rows, width).

        Units are the leading axis of hidden values: with few units and many rows the products and
        activations of long arrays take half the time.
        """
        x = jnp.reshape(rows, (len(rows), -1)).T
        vectors = parameters.bias or (None,) * len(parameters.weights)
        for each, matrix, vector in zip(self.activations, parameters.weights, vectors, strict=True):
            x = matrix.T @ x
            x = x if vector is None else x + vector[:, None]
            function = activation(each, "mlp")
            x = function(x) if isinstance(each, str) else jax.vmap(function, 1, 1)(x)
        return x.T


@public
def mlp(
    hidden: Sequence[int] = (),
    activations: Any = "relu",
    output_activation: Any = "linear",
    *,
    bias: bool = True,
    initial: str | Callable[[Any, tuple[int, ...]], Any] = "he",
    dropout: float | None = None,
) -> Network:
    """Make a multilayer perceptron.

        x_0 = inputs,   x_{k+1} = a_k(x_k W_k + b_k),   outputs = x_{last}

    Parameters
    ----------
    hidden
        The widths of the hidden layers; zeros are skipped. Without layers the network is linear.
    activations
        The activation of hidden layers: a name or a function, or one for each layer. "gelu" is its
        approximation by tanh, as in `jax.nn.gelu`.
    output_activation
        The activation of the outputs.
    bias
        Whether layers have a bias.
    initial
        How weights begin: "uniform", U(-0.5, 0.5) with biases of 0.1; "glorot", "he" or "normal"
        (of standard deviation 1) with biases of 0; or a function of a JAX key and a shape.
    dropout
        The probability with which training sets the value of a hidden unit to 0, for each row and
        step; other values are divided by 1 - dropout. Losses, predictions and derivatives of the
        trained network are computed without it.

    Returns
    -------
    Network
        Its numbers of inputs and outputs follow from the data.

    Raises
    ------
    ValueError
        If a width is negative, the name of an activation or rule is unknown, or dropout is not a
        number from 0 to below 1.

    Examples
    --------
    >>> import jax, numpy as np, kinetograph as kg
    >>> network = kg.neural.mlp([10], "tanh")
    >>> parameters = network.start(jax.random.key(1), np.zeros(3), 2)
    >>> [w.shape for w in parameters.weights], network.row(parameters, np.ones(3)).shape
    ([(3, 10), (10, 2)], (2,))
    """
    if isinstance(hidden, (int, np.integer)):
        raise TypeError(
            f"mlp: hidden: expected the widths of the hidden layers, got {hidden}; write "
            f"mlp([{hidden}])"
        )
    widths = [int(width) for width in hidden if width]
    if any(width < 0 for width in widths):
        raise ValueError(f"mlp: hidden: widths must not be negative, got {list(hidden)}")
    one_for_all = callable(activations) or isinstance(activations, str)
    names = [activations] * len(widths) if one_for_all else list(activations)
    if len(names) != len(widths):
        raise ValueError(f"mlp: {len(names)} activations for {len(widths)} hidden layers")
    for each in (*names, output_activation):
        activation(each, "mlp")
    _initial(initial)
    if dropout is not None and not 0 <= dropout < 1:
        raise ValueError(f"mlp: dropout: expected a number from 0 to below 1, got {dropout!r}")
    rate = float(dropout) if dropout and widths else None
    layers = _Layers(tuple(widths), (*names, output_activation), bias, initial, rate)
    last = output_activation if isinstance(output_activation, str) else None
    return Network(
        layers.start,
        layers.apply,
        f"perceptron {widths}",
        output_activation=last,
        apply_rows=layers.apply_rows,
        apply_noisy=None if rate is None else layers.apply_noisy,
        noise=None if rate is None else "dropout",
    )


def _initial(rule: Any) -> tuple[Callable[[Any, tuple[int, ...]], Any], float]:
    """The rule for weights, and the value of biases."""
    if callable(rule):
        return rule, 0.0
    rules: dict[str, tuple[Callable[..., Any], float]] = {
        "uniform": (lambda key, shape: jax.random.uniform(key, shape, float, -0.5, 0.5), 0.1),
        "glorot": (jax.nn.initializers.glorot_normal(dtype=float), 0.0),
        "he": (jax.nn.initializers.he_normal(dtype=float), 0.0),
        "normal": (lambda key, shape: jax.random.normal(key, shape, float), 0.0),
    }
    return chosen(rules, rule, "mlp: initial")
