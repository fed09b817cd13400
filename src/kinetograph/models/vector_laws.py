"""The laws of distributions of vectors, from the values of parameters."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp

from .gaussian_laws import DenseLaw, MarkovLaw

__all__ = ["LAWS", "ProcessRows", "process_rows", "signed", "usable"]


def _multivariate(shape: tuple[int, ...], mean: Any, factor: Any) -> DenseLaw:
    return DenseLaw(jnp.broadcast_to(mean, shape), factor, False)


class ProcessRows(NamedTuple):
    """The values x of a process.

    x_t = sum_k a_(k, t) x_(t-k) + d_t + s_t z_t
    """

    slopes: list[Any]  # a, one array (..., n) for each lag k = 1, 2, ...
    drifts: Any  # d
    scales: Any  # s


def process_rows(key: str, shape: tuple[int, ...], values: Sequence[Any]) -> ProcessRows:
    """The rows of `kg.ar` and `kg.random_walk`, from the values of the parameters."""
    if key == "random_walk":
        values = (jnp.ones((1,), values[0].dtype), *values)
    rho, sd, drift, first, first_sd = values
    order = rho.shape[-1]

    def joined(at_first: Any, later: Any) -> Any:
        at_first = jnp.broadcast_to(jnp.asarray(at_first)[..., None], (*shape[:-1], order))
        rest = (*shape[:-1], shape[-1] - order)
        return jnp.concatenate(
            [at_first, jnp.broadcast_to(jnp.asarray(later)[..., None], rest)], -1
        )

    zero = jnp.zeros((), rho.dtype)
    return ProcessRows(
        [joined(zero, rho[..., k]) for k in range(order)],
        joined(first, drift),
        joined(usable(first_sd), usable(sd)),
    )


def _markov(key: str) -> Callable[..., MarkovLaw]:
    def law(shape: tuple[int, ...], *values: Any) -> MarkovLaw:
        rows = process_rows(key, shape, values)
        (slopes,) = rows.slopes
        return MarkovLaw(slopes, rows.drifts, rows.scales)

    return law


def usable(sd: Any) -> Any:
    """Standard deviations; 1 for 0, inf and NaN.

    The maps are one to one for any positive values.
    """
    fits = (jnp.abs(sd) > jnp.sqrt(jnp.finfo(sd.dtype).tiny)) & jnp.isfinite(sd)
    return jnp.where(fits, jnp.abs(sd), 1.0)


def signed(scale: Any) -> Any:
    """Scales that are usable, with their signs."""
    return jnp.where(scale < 0, -1.0, 1.0).astype(scale.dtype) * usable(scale)


LAWS: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "multivariate_normal": (("mean", "chol"), _multivariate),
    "random_walk": (("sd", "drift", "init_mean", "init_sd"), _markov("random_walk")),
    "ar": (("rho", "sd", "constant", "init_mean", "init_sd"), _markov("ar")),
}
