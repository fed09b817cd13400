"""`kg.neural.network`: one interface for networks of every origin.

A network is a function of parameters, a tree of arrays, and of one row of inputs. Networks of Flax
(linen and NNX), Equinox, and plain JAX functions are wrapped; `kg.neural.mlp` makes a multilayer
perceptron without another library.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph.public import public
from .interface import Network
from .modules import network_of_module
from .perceptron import mlp

__all__ = ["Network", "as_network", "mlp", "network"]


@public
def network(value: Any) -> Network:
    """Make a network from a module, a function or widths.

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
        return Network(_Given(parameters).start, function, "function")
    if isinstance(value, Sequence) and all(isinstance(w, (int, np.integer)) for w in value):
        return mlp(value)
    wrapped = network_of_module(value)
    if wrapped is not None:
        return wrapped
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    hint = f"; write [{value}] for one hidden layer" if whole else ""
    if isinstance(value, tuple) and len(value) == 2 and callable(value[1]):
        hint = "; the function comes first: write (function, parameters)"
    raise TypeError(
        f"{doing}: expected kg.neural.mlp(...), the widths of hidden layers, a module of Flax or "
        f"Equinox, or a pair (function, parameters), got {type(value).__name__}{hint}"
    )


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and callable(value[0])


@dataclass(frozen=True)
class _Given:
    """Initial parameters that are given."""

    parameters: Any

    def start(self, key: Any, row: Any, outputs: int) -> Any:
        return self.parameters
