"""Networks made of modules of Flax (linen and NNX) and Equinox.

The functions of a network are methods of a small class that holds the module. So a network can be
pickled if its module can.
"""

from dataclasses import dataclass
from functools import partial
from inspect import signature
from types import FunctionType, MethodType
from typing import Any

import jax
import jax.numpy as jnp

from .interface import Network

__all__ = ["network_of_module"]


def network_of_module(value: Any) -> Network | None:
    """The network of a module or of its factory, otherwise None."""
    if "flax.linen" in _library(value):
        return _network(_Linen(value), value)
    module = _module_of(value)
    for library, kind in (("flax.nnx", _Nnx), ("equinox", _Equinox)):
        if library in _library(module):
            return _network(kind(module, value), module)
    if module is not value:
        raise TypeError(
            "network: expected a function of a JAX key that makes a module of Flax NNX or "
            f"Equinox, or a pair (function, parameters); the function returned {_described(module)}"
        )
    return None


def _network(functions: Any, module: Any) -> Network:
    return Network(functions.start, functions.apply, type(module).__name__)


def _library(value: Any) -> str:
    """The modules of a value's classes, as one text."""
    return " ".join(kind.__module__ for kind in type(value).__mro__)


@dataclass(frozen=True)
class _Linen:
    module: Any

    def start(self, key: Any, row: Any, outputs: int) -> Any:
        try:
            variables = self.module.init(key, jnp.asarray(row))
        except ValueError as error:
            if '"deterministic"' not in str(error):
                raise
            raise TypeError(
                f"network: {type(self.module).__name__} has dropout, which is neither on nor off: "
                "write flax.linen.Dropout(rate, deterministic=True), which is off; training with "
                "dropout needs kg.neural.mlp(..., dropout=rate)"
            ) from error
        if set(variables) != {"params"}:
            collections = ", ".join(sorted(set(variables) - {"params"}))
            raise TypeError(
                f"network: {type(self.module).__name__} keeps {collections} in addition to its "
                "parameters; sampling needs a function of parameters and one row"
            )
        return variables["params"]

    def apply(self, parameters: Any, row: Any) -> Any:
        return self.module.apply({"params": parameters}, row)


@dataclass(frozen=True)
class _Made:
    """A module, and the value given: itself or its factory."""

    module: Any
    value: Any

    def _fresh(self, key: Any) -> Any:
        return self.module if self.module is self.value else self.value(key)


class _Nnx(_Made):
    @staticmethod
    def _split(module: Any) -> Any:
        from flax import nnx

        return nnx.split(module, nnx.Param, ...)

    def start(self, key: Any, row: Any, outputs: int) -> Any:
        from flax import nnx

        return nnx.to_pure_dict(self._split(self._fresh(key))[1])

    def apply(self, parameters: Any, row: Any) -> Any:
        from flax import nnx

        graph, state, rest = self._split(self.module)
        nnx.replace_by_pure_dict(state, parameters)
        return nnx.merge(graph, state, rest)(row)


class _Equinox(_Made):
    @staticmethod
    def _split(module: Any) -> tuple[Any, Any]:
        import equinox

        return equinox.partition(module, equinox.is_inexact_array)

    def start(self, key: Any, row: Any, outputs: int) -> Any:
        return self._split(self._fresh(key))[0]

    def apply(self, parameters: Any, row: Any) -> Any:
        import equinox

        return equinox.combine(parameters, self._split(self.module)[1])(row)


def _module_of(value: Any) -> Any:
    """The module that a function makes, or the value itself.

    Errors of the user's function pass unchanged.
    """
    is_module = any(library in _library(value) for library in ("flax.nnx", "equinox"))
    is_ours = str(getattr(value, "__module__", "")).partition(".")[0] == __name__.partition(".")[0]
    if is_module or is_ours or not callable(value) or isinstance(value, type):
        return value
    key = jax.random.key(0)
    try:
        signature(value).bind(key)
    except (TypeError, ValueError):  # it does not take a key: it is something else
        return value
    if isinstance(value, (FunctionType, MethodType, partial)):
        return value(key)
    try:
        return value(key)
    except Exception:  # it takes another value
        return value


def _described(value: Any) -> str:
    if isinstance(value, Network):
        return "a kg.neural.Network; give this network without the function"
    return f"{type(value).__name__}"
