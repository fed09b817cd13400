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


def with_discrete(model: Model, draws: Recorded, targets: Iterable[Node]) -> Recorded:
    """Draw marginalised unknowns that targets need and results lack.

        z ~ p(z | x, y)

    They are drawn together, once for each recorded draw x of all other unknowns; recorded arrays
    that depend on them are left out. The draws stay as they are if a continuous unknown is not
    recorded.
    """
    marginal, unknowns = model.density.marginal, model.density.unknowns
    if marginal is None or any(v not in draws.values for v in unknowns):
        return draws
    recorded = [v for v in marginal.discrete if v in draws.values]
    drawn = [v for v in marginal.discrete if v not in draws.values]
    if set(drawn).isdisjoint(targets):
        return draws
    given = (*unknowns, *recorded)

    def draw(row: tuple[Any, Sequence[Any]], data: Environment) -> list[Any]:
        number, values = row
        value = dict(zip(given, values, strict=True))
        environment: Environment = {**data, **{v: value[v] for v in unknowns}}
        evaluate(marginal.needs(), environment)
        bits = jnp.concatenate([number[None], *(jnp.ravel(v).astype(float) for v in values)])
        drawn_values = marginal.draw(environment, bits, {v: value[v] for v in recorded})
        return [drawn_values[v] for v in drawn]

    def draw_all(rows: Any, arguments: Sequence[Any]) -> list[Any]:
        data = model.bind(arguments).data
        return lax.map(lambda row: draw(row, data), rows)

    program = model.functions.get(("discrete", tuple(drawn)), lambda: jax.jit(draw_all))
    with x64():
        rows = jnp.arange(draws.count, dtype=float), [draws.values[v] for v in given]
        values = program(rows, model.argument_values)
    valid_draws = {n: v for n, v in draws.values.items() if set(drawn).isdisjoint(ancestors([n]))}
    valid_draws |= {n: np.asarray(v) for n, v in zip(drawn, values, strict=True)}
    return Recorded(valid_draws, draws.lead)
