"""The laws of distributions of vectors, from the values of parameters."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from .gaussian_laws import DenseLaw, MarkovLaw

__all__ = ["LAWS", "signed", "usable"]


def _multivariate(shape: tuple[int, ...], mean: Any, factor: Any) -> DenseLaw:
    return DenseLaw(jnp.broadcast_to(mean, shape), factor, False)


def _autoregressive(
    shape: tuple[int, ...], rho: Any, sd: Any, constant: Any, first: Any, first_sd: Any
) -> MarkovLaw:
    return _markov(shape, rho[..., 0], sd, constant, first, first_sd)


def _walk(shape: tuple[int, ...], sd: Any, drift: Any, first: Any, first_sd: Any) -> MarkovLaw:
    return _markov(shape, jnp.ones((), sd.dtype), sd, drift, first, first_sd)


def _markov(
    shape: tuple[int, ...], slope: Any, sd: Any, drift: Any, first: Any, first_sd: Any
) -> MarkovLaw:
    def joined(at_first: Any, later: Any) -> Any:
        at_first = jnp.broadcast_to(at_first, shape[:-1])[..., None]
        later = jnp.broadcast_to(jnp.asarray(later)[..., None], (*shape[:-1], shape[-1] - 1))
        return jnp.concatenate([at_first, later], -1)

    return MarkovLaw(
        joined(jnp.zeros_like(slope, shape=()), slope),
        joined(first, drift),
        joined(usable(first_sd), usable(sd)),
    )


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
    "random_walk": (("sd", "drift", "init_mean", "init_sd"), _walk),
    "ar": (("rho", "sd", "constant", "init_mean", "init_sd"), _autoregressive),
}
