"""A function of one point, evaluated at many points.

Points are computed in parts of bounded memory: a part has as many points as give arrays of about
`NUMBERS` numbers. Its size is a power of two, so that any number of points needs few programs.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

__all__ = ["BatchedProgram", "LoopedProgram"]

NUMBERS = 2**20  # about, in the largest array of a part
FEW = 64  # rows for which one program is compiled


class BatchedProgram:
    """A function of one point, compiled for many points at once."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._compiled: dict[int, Any] = {}
        self._sizes: dict[Any, int] = {}

    def __call__(self, points: list[np.ndarray], data: tuple[np.ndarray, ...]) -> np.ndarray:
        count = len(points[0])
        size = min(self._part(points, data), _power(count))
        width = len(points)
        if width not in self._compiled:
            axes = (0,) * width + (None,) * len(data)
            self._compiled[width] = jax.jit(jax.vmap(self.function, axes))
        on_device = jax.device_put(data)
        results = []
        for first in range(0, count, size):
            part = [values[first : first + size] for values in points]
            rest = len(part[0])
            if rest < size:  # a last part has a smaller program
                part = [np.resize(values, (_power(rest), values.shape[1])) for values in part]
            results.append(np.asarray(self._compiled[width](*part, *on_device))[:rest])
        if not results:
            one = jax.eval_shape(self.function, *(p[0] for p in _example(points)), *data)
            return np.zeros((0, *one.shape), one.dtype)
        return np.concatenate(results)

    def _part(self, points: list[np.ndarray], data: tuple[np.ndarray, ...]) -> int:
        """The number of points of a part, a power of two."""
        key = (*(array.shape for array in data), points[0].shape[1])
        if key not in self._sizes:
            jaxpr = jax.make_jaxpr(self.function)(*(p[0] for p in _example(points)), *data)
            self._sizes[key] = _power(max(1, NUMBERS // _largest(jaxpr.jaxpr)) + 1) // 2
        return max(1, self._sizes[key])


class LoopedProgram:
    """A function of one point, evaluated at rows of points.

    The rows are computed one after the other, so the bits of a row do not depend on the number of
    rows.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._each = BatchedProgram(function)
        self._compiled = jax.jit(self._loop, static_argnums=0)

    def __call__(self, points: list[np.ndarray], data: tuple[np.ndarray, ...]) -> np.ndarray:
        """The values, (rows, points of a row, ...)."""
        count, width = points[0].shape[:2]
        at_once = self._each._part([p.reshape(-1, p.shape[-1]) for p in points], data)
        if not count:
            one = jax.eval_shape(self._each.function, *(p[0] for p in _example(points)), *data)
            return np.zeros((0, width, *one.shape), one.dtype)
        most = max(1, NUMBERS // (width * sum(p.shape[-1] for p in points)))
        size, on_device = min(_power(most), _power(max(count, FEW), 8)), jax.device_put(data)
        results = []
        for first in range(0, count, size):
            part = [values[first : first + size] for values in points]
            rest = len(part[0])
            part = [np.resize(values, (size, *values.shape[1:])) for values in part]
            results.append(np.asarray(self._compiled(at_once, rest, part, on_device))[:rest])
        return np.concatenate(results)

    def _loop(self, at_once: int, count: Any, points: list[Any], data: Any) -> Any:
        function = self._each.function
        one = jax.eval_shape(function, *(p[0, 0] for p in points), *data)

        def row(i: Any, values: Any) -> Any:
            rows = tuple(p[i] for p in points)
            new = lax.map(lambda point: function(*point, *data), rows, batch_size=at_once)
            return values.at[i].set(new)

        return lax.fori_loop(
            0, count, row, jnp.zeros((*points[0].shape[:2], *one.shape), one.dtype)
        )


def _example(points: list[np.ndarray]) -> list[np.ndarray]:
    return [np.zeros((1, values.shape[-1]), values.dtype) for values in points]


def _power(count: int, base: int = 2) -> int:
    """The smallest power of a base that is not below a count."""
    bits = base.bit_length() - 1
    return 1 << -(-max(count - 1, 0).bit_length() // bits) * bits


def _largest(jaxpr: Any) -> int:
    """The number of elements of the largest array that a program computes."""
    sizes = [1]
    for equation in jaxpr.eqns:
        sizes += [int(np.prod(v.aval.shape)) for v in equation.outvars if hasattr(v.aval, "shape")]
        for value in jax.tree.leaves(
            list(equation.params.values()), is_leaf=lambda v: hasattr(v, "eqns")
        ):
            inner = getattr(value, "jaxpr", value)
            if hasattr(inner, "eqns"):
                sizes.append(_largest(inner))
    return max(sizes)
