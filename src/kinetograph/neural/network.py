"""`kg.neural.network`: one interface for networks of every origin.

A network is a function of parameters, a tree of arrays, and of one row of inputs. Networks of Flax
(linen and NNX), Equinox, and plain JAX functions are wrapped; `kg.neural.mlp` makes a multilayer
perceptron without another library.
"""

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

__all__ = ["Network", "Perceptron", "as_network", "mlp", "network"]

Start = Callable[[Any, Any, int], Any]


@public
@dataclass(frozen=True)
class Network:
    """A network, for any width of its inputs and outputs.

    Attributes
    ----------
    start
        Makes initial parameters from a JAX key, an example row and the number of outputs.
    apply
        Computes the outputs, a vector, from parameters and one row of inputs.
    title
        A short text for messages and results.
    width
        The number of outputs, if the network determines it, otherwise None.
    output_activation
        The name of the activation of the outputs, if it is known.
    """

    start: Start
    apply: Callable[[Any, Any], Any]
    title: str
    width: int | None = None
    output_activation: str | None = None

    def outputs(self, parameters: Any, rows: Any) -> Any:
        """The outputs of some rows, (rows, width)."""
        return jax.vmap(self.row, (None, 0))(parameters, rows)

    def row(self, parameters: Any, row: Any) -> Any:
        """The outputs of one row, as a vector."""
        return jnp.reshape(self.apply(parameters, row), -1)


class Perceptron(NamedTuple):
    """The parameters of a multilayer perceptron.

    As one vector they are all weight matrices in the order of layers, each in row-major order with
    the index of the input first, then all bias vectors.
    """

    weights: tuple[Any, ...]
    bias: tuple[Any, ...]


@public
def mlp(
    hidden: Sequence[int] = (),
    activations: Any = "relu",
    output_activation: Any = "linear",
    *,
    bias: bool = True,
    initial: str | Callable[[Any, tuple[int, ...]], Any] = "he",
) -> Network:
    """Make a multilayer perceptron.

        x_0 = inputs,   x_{k+1} = a_k(x_k W_k + b_k),   outputs = x_{last}

    Parameters
    ----------
    hidden
        The widths of the hidden layers; zeros are skipped. Without layers the network is linear.
    activations
        The activation of hidden layers: a name or a function, or one for each layer.
    output_activation
        The activation of the outputs.
    bias
        Whether layers have a bias.
    initial
        How weights begin: "uniform", U(-0.5, 0.5) with biases of 0.1; "glorot", "he" or "normal"
        (of standard deviation 1) with biases of 0; or a function of a JAX key and a shape.

    Returns
    -------
    Network
        Its numbers of inputs and outputs follow from the data.

    Raises
    ------
    ValueError
        If a width is negative, or there is no activation or rule of that name.

    Examples
    --------
    >>> import jax, numpy as np, kinetograph as kg
    >>> network = kg.neural.mlp([10], "tanh")
    >>> parameters = network.start(jax.random.key(1), np.zeros(3), 2)
    >>> [w.shape for w in parameters.weights], network.row(parameters, np.ones(3)).shape
    ([(3, 10), (10, 2)], (2,))
    """
    widths = [int(width) for width in hidden if width]
    if any(width < 0 for width in widths):
        raise ValueError(f"mlp: hidden: widths must not be negative, got {list(hidden)}")
    one_for_all = callable(activations) or isinstance(activations, str)
    names = [activations] * len(widths) if one_for_all else list(activations)
    if len(names) != len(widths):
        raise ValueError(f"mlp: {len(names)} activations for {len(widths)} hidden layers")
    functions = [activation(each, "mlp") for each in (*names, output_activation)]
    weights_rule, bias_start = _initial(initial)

    def start(key: Any, row: Any, outputs: int) -> Perceptron:
        sizes = [int(np.size(row)), *widths, outputs]
        keys = jax.random.split(key, len(sizes))
        shapes = list(itertools.pairwise(sizes))
        weights = [weights_rule(k, s) for k, s in zip(keys, shapes, strict=False)]
        vectors = [jnp.full(size, bias_start) for size in sizes[1:]] if bias else []
        return Perceptron(tuple(weights), tuple(vectors))

    def apply(parameters: Perceptron, row: Any) -> Any:
        x = jnp.reshape(row, -1)
        vectors = parameters.bias or (0.0,) * len(parameters.weights)
        for function, matrix, vector in zip(functions, parameters.weights, vectors, strict=True):
            x = function(x @ matrix + vector)
        return x

    last = output_activation if isinstance(output_activation, str) else None
    return Network(start, apply, f"perceptron {widths}", output_activation=last)


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


@public
def network(value: Any) -> Network:
    """Make a network of a module, a function with parameters, or the widths of hidden layers.

    Parameters
    ----------
    value
        A `Network`; a sequence of whole numbers, the hidden layers of `kg.neural.mlp`; a module of
        Flax linen; a module of Flax NNX or Equinox, or a function of a JAX key that makes one; or a
        pair (function, parameters), where function(parameters, row) gives the outputs of one row.

    Returns
    -------
    Network

    Raises
    ------
    TypeError
        If the value is none of these.

    Examples
    --------
    >>> import jax.numpy as jnp, numpy as np, kinetograph as kg
    >>> wave = kg.neural.network((lambda w, x: w["a"] * jnp.sin(x), {"a": 2.0}))
    >>> wave.row({"a": 2.0}, np.array([0.0])).tolist()
    [0.0]
    """
    return as_network(value, "network")


def as_network(value: Any, doing: str) -> Network:
    """The network of a value; `doing` begins messages."""
    if isinstance(value, Network):
        return value
    if _is_pair(value):
        function, parameters = value
        return Network(lambda key, row, outputs: parameters, function, "function")
    if isinstance(value, Sequence) and all(isinstance(w, (int, np.integer)) for w in value):
        return mlp(value)
    for make in (_linen, _nnx, _equinox):
        made = make(value)
        if made is not None:
            return made
    raise TypeError(
        f"{doing}: expected kg.neural.mlp(...), the widths of hidden layers, a module of Flax or "
        f"Equinox, or a pair (function, parameters), got {type(value).__name__}"
    )


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and callable(value[0])


def _library(value: Any) -> str:
    """The libraries from which the class of a value descends, as one text."""
    return " ".join(kind.__module__ for kind in type(value).__mro__)


def _linen(value: Any) -> Network | None:
    if "flax.linen" not in _library(value):
        return None

    def start(key: Any, row: Any, outputs: int) -> Any:
        variables = value.init(key, jnp.asarray(row))
        if set(variables) != {"params"}:
            others = ", ".join(sorted(set(variables) - {"params"}))
            raise TypeError(
                f"network: {type(value).__name__} keeps {others} beside its parameters, which "
                "depend on batches; sampling needs a function of parameters and one row"
            )
        return variables["params"]

    def apply(parameters: Any, row: Any) -> Any:
        return value.apply({"params": parameters}, row)

    return Network(start, apply, type(value).__name__)


def _nnx(value: Any) -> Network | None:
    module = _of_factory(value, "flax.nnx")
    if module is None:
        return None
    from flax import nnx

    def split(module: Any) -> Any:
        return nnx.split(module, nnx.Param, ...)

    graph, _, others = split(module)

    def start(key: Any, row: Any, outputs: int) -> Any:
        return nnx.to_pure_dict(split(value(key) if module is not value else module)[1])

    def apply(parameters: Any, row: Any) -> Any:
        state = split(module)[1]
        nnx.replace_by_pure_dict(state, parameters)
        return nnx.merge(graph, state, others)(row)

    return Network(start, apply, type(module).__name__)


def _equinox(value: Any) -> Network | None:
    module = _of_factory(value, "equinox")
    if module is None:
        return None
    import equinox

    def split(module: Any) -> tuple[Any, Any]:
        return equinox.partition(module, equinox.is_inexact_array)

    others = split(module)[1]

    def start(key: Any, row: Any, outputs: int) -> Any:
        return split(value(key) if module is not value else module)[0]

    def apply(parameters: Any, row: Any) -> Any:
        return equinox.combine(parameters, others)(row)

    return Network(start, apply, type(module).__name__)


def _of_factory(value: Any, library: str) -> Any:
    """The module itself, or one that a function of a key makes, if it is of the library."""
    if library in _library(value):
        return value
    if not callable(value) or isinstance(value, type):
        return None
    try:
        made = value(jax.random.key(0))
    except Exception:  # the function does not take a key: it is something else
        return None
    return made if library in _library(made) else None
