"""Activation functions of networks, by name."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from .choice import chosen

__all__ = ["ACTIVATIONS", "activation"]

ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "linear": jax.nn.identity,
    "relu": jax.nn.relu,
    "relu6": jax.nn.relu6,
    "leaky_relu": jax.nn.leaky_relu,
    "elu": jax.nn.elu,
    "gelu": jax.nn.gelu,
    "silu": jax.nn.silu,
    "softplus": jax.nn.softplus,
    "softsign": jax.nn.soft_sign,
    "sigmoid": jax.nn.sigmoid,
    "tanh": jnp.tanh,
}


def activation(value: Any, doing: str) -> Callable[[Any], Any]:
    """Return the activation of a name, or the function given."""
    if callable(value):
        function: Callable[[Any], Any] = value
        return function
    return chosen(ACTIVATIONS, value, f"{doing}: activation")
