"""The interface of networks: functions of parameters and one row of inputs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from ..graph.public import public

__all__ = ["Network"]

Start = Callable[[Any, Any, int], Any]


@public
@dataclass(frozen=True, repr=False)
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
    apply_rows
        Computes the outputs of many rows, (rows, width), if this is faster than `apply` of each.
    apply_noisy
        Computes the outputs of a row with noise, from parameters, the row, and a random word: a
        whole number of 32 bits. The word 0 gives the outputs of `apply`. None without noise.
    noise
        The name of the noise, such as "dropout"; None without noise.
    """

    start: Start
    apply: Callable[[Any, Any], Any]
    title: str
    width: int | None = None
    output_activation: str | None = None
    apply_rows: Callable[[Any, Any], Any] | None = None
    apply_noisy: Callable[[Any, Any, Any], Any] | None = None
    noise: str | None = None

    def __repr__(self) -> str:
        width = "" if self.width is None else f", {self.width} outputs"
        return f"Network({self.title}{width})"

    def outputs(self, parameters: Any, rows: Any) -> Any:
        """The outputs of some rows, (rows, width)."""
        if self.apply_rows is not None:
            return self.apply_rows(parameters, rows)
        return jax.vmap(self.row, (None, 0))(parameters, rows)

    def noisy_outputs(self, parameters: Any, rows: Any, words: Any) -> Any:
        """The outputs of some rows with noise, by their words."""
        assert self.apply_noisy is not None

        def one(row: Any, word: Any) -> Any:
            assert self.apply_noisy is not None
            return jnp.reshape(self.apply_noisy(parameters, row, word), -1)

        return jax.vmap(one)(rows, words)

    def row(self, parameters: Any, row: Any) -> Any:
        """The outputs of one row, as a vector."""
        return jnp.reshape(self.apply(parameters, row), -1)
