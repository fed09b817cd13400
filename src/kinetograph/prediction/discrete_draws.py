"""Posterior draws of discrete unknowns that a run has not recorded."""

from collections.abc import Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..graph.lower import Environment, evaluate
from ..graph.node import Node, ancestors
from ..graph.precision import x64
from ..models.model import Model
from .recorded_draws import Recorded

__all__ = ["with_discrete"]


def with_discrete(model: Model, draws: Recorded, wanted: Iterable[Node]) -> Recorded:
    """Draw marginalised unknowns that are wanted and not recorded.

        z ~ p(z | x, y)

    They are drawn together, once for each recorded draw x of the other unknowns; recorded arrays
    that depend on them are left out. The draws stay as they are if an unknown of x is not recorded.
    """
    marginal, unknowns = model.density.marginal, model.density.unknowns
    if marginal is None or any(v not in draws.values for v in unknowns):
        return draws
    discrete = set(marginal.discrete)
    if discrete.isdisjoint(set(wanted) - draws.values.keys()):
        return draws

    bound = model.bind().data

    def drawn(row: tuple[Any, Sequence[Any]]) -> list[Any]:
        number, values = row
        environment: Environment = {**bound, **dict(zip(unknowns, values, strict=True))}
        evaluate(marginal.needs(), environment)
        bits = jnp.concatenate([number[None], *(jnp.ravel(v).astype(float) for v in values)])
        found = marginal.draw(environment, bits)
        return [found[v] for v in marginal.discrete]

    with x64():
        rows = jnp.arange(draws.count, dtype=float), [draws.values[v] for v in unknowns]
        values = jax.jit(lambda rows: lax.map(drawn, rows))(rows)
    kept = {n: v for n, v in draws.values.items() if discrete.isdisjoint(ancestors([n]))}
    kept |= {n: np.asarray(v) for n, v in zip(marginal.discrete, values, strict=True)}
    return Recorded(kept, draws.lead)
