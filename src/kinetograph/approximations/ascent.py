"""Climbing the evidence lower bound: compiled blocks of steps, and when to make no more.

With u = m + s (e + W f), e and f standard normal, s > 0 and W of some columns, none for independent
numbers, q is normal with the covariance diag(s) (1 + W W') diag(s). Its evidence lower bound is the
mean of log p(u) - log q(u); of its gradient by m, log s and W the part through u,

    mean of (d log p / du - d log q / du) du / d(m, log s, W),

has the same mean as the whole, and no variance where q is p. The optimiser sees m in units of s.

Source: G. Roeder, Y. Wu, D. Duvenaud, Sticking the landing, Advances in Neural Information
Processing Systems 30 (2017); for rates that fall from plateau to plateau and averaged iterates
M. Welandawe, M. R. Andersen, A. Vehtari, J. Huggins, Robust, automated, and accurate black-box
variational inference, Journal of Machine Learning Research 25 (2024).
"""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..bits.draws import normals
from ..graph.precision import x64
from ..graph.trips import Capacity
from ..optimizers.descent import Steps
from ..optimizers.objective import Objective

__all__ = ["BLOCK", "Ascent", "Block", "Family", "climb"]

BLOCK = 200  # steps
SLOWER = 0.25  # the rate after a plateau
_STEPS = 2  # the purpose of the random numbers; 0 is that of starts, 1 that of draws


class Family(NamedTuple):
    """The parameters of a normal distribution: m, log s, W."""

    mean: Any
    log_scale: Any
    loadings: Any  # (size, rank)

    def draw(self, noise: Any) -> Any:
        """A draw, of size + rank standard normal numbers."""
        size = self.mean.size
        return self.mean + jnp.exp(self.log_scale) * (noise[:size] + self.loadings @ noise[size:])

    def log_density(self, u: Any) -> Any:
        """The log density at a point."""
        white = (u - self.mean) * jnp.exp(-self.log_scale)
        part = self.loadings.T @ white
        inner = jnp.eye(part.size, dtype=part.dtype) + self.loadings.T @ self.loadings
        factor = jnp.linalg.cholesky(inner)
        within = jax.scipy.linalg.solve_triangular(factor, part, lower=True)
        log_scale = jnp.sum(self.log_scale) + jnp.sum(jnp.log(jnp.diag(factor)))
        constant = 0.5 * white.size * math.log(2 * math.pi)
        return -0.5 * (white @ white - within @ within) - log_scale - constant


class Block(NamedTuple):
    """What a block of steps has come to."""

    at: Family
    state: Any  # of the optimiser
    average: Family  # of its steps
    elbo: Any  # the mean over its draws
    error: Any  # the standard error of that
    finite: Any  # the part of the steps whose gradient was
    reports: Any  # of the loops in the model's graph


class Ascent(NamedTuple):
    """What all blocks have come to."""

    family: Family
    elbo: np.ndarray  # of each block
    rate: np.ndarray  # by which the optimiser's steps were multiplied there
    converged: bool
    gain: float  # of the last fall of the rate, or of the last block


def climb(
    objective: Objective,
    optimizer: Steps,
    start: Family,
    key: np.ndarray,
    draws: int,
    most: int,
    tolerance: float,
) -> Ascent | None:
    """Steps until a fall of the rate gains nothing, or so many blocks; None if no step is finite.

    At each rate blocks are made until one is no better than that before by more than the standard
    error, or the tolerance. Then the rate falls; where that has gained no more, it ends.
    """
    blocks = _Blocks(objective, optimizer, draws, key)
    block, rate = blocks.first(start), 1.0
    before, plateau = (-math.inf, 0.0), (-math.inf, 0.0)
    elbos, rates, gain = [], [], math.inf
    for number in range(most):
        block = blocks.go(block, number, rate)
        if not block.finite:
            return None
        here = float(block.elbo), float(block.error)
        elbos.append(here[0])
        rates.append(rate)
        gain, enough = _gain(here, before, tolerance)
        before = here
        if gain > enough:
            continue
        gain, enough = _gain(here, plateau, tolerance)
        if gain <= enough:
            return Ascent(block.average, np.array(elbos), np.array(rates), True, gain)
        plateau, rate = here, SLOWER * rate
        before = -math.inf, 0.0
    return Ascent(block.average, np.array(elbos), np.array(rates), False, gain)


def _gain(
    here: tuple[float, float], there: tuple[float, float], tolerance: float
) -> tuple[float, float]:
    """What was gained, and how much of it is nothing."""
    return here[0] - there[0], max(tolerance, math.hypot(here[1], there[1]))


class _Blocks:
    """The compiled block of an optimiser over an objective."""

    def __init__(self, objective: Objective, optimizer: Steps, draws: int, key: np.ndarray) -> None:
        self.objective, self.optimizer, self.draws, self.key = objective, optimizer, draws, key
        rate = optimizer.learning_rate
        self.schedule = rate if callable(rate) else None
        self.rate = 0.0 if rate is None or callable(rate) else float(rate)

    def _transformation(self, rate: Any) -> Any:
        import optax

        return optax.with_extra_args_support(self.optimizer.make(self.schedule or rate))

    def first(self, start: Family) -> Block:
        """Before the first step."""
        start = Family(*(np.asarray(part, self.objective.dtype) for part in start))
        with x64():
            state = self._transformation(np.asarray(self.rate, self.objective.dtype)).init(start)
        return Block(start, state, start, -math.inf, 0.0, 1.0, ())

    def go(self, block: Block, number: int, factor: float) -> Block:
        """The next block, made again where a model's loop lacked room."""
        objective, optimizer = self.objective, self.optimizer
        rank = block.at.loadings.shape[1]
        key = ("advi", optimizer.name, optimizer.settings, self.draws, rank)
        of = self.schedule or optimizer.given
        numbers = (np.asarray(x, objective.dtype) for x in (self.rate, factor))
        arguments = (self.key, np.int32(number * BLOCK), *numbers, objective.data)
        while True:
            run = objective.kept(key, lambda capacity: jax.jit(self._program(capacity)), of)
            with x64():
                found: Block = jax.tree.map(np.asarray, run(block.at, block.state, *arguments))
            if not objective.model.ensure_capacity(objective.model.density.loops, found.reports):
                return found

    def _program(self, capacity: Capacity) -> Any:
        objective, draws = self.objective, self.draws

        def density(free: Any, data: Any) -> Any:
            return objective.traced(free, data, capacity)

        def step(number: Any, at: Family, key: Any, data: Any) -> Any:
            """The gradient of minus the bound, its terms, and what loops report."""
            size = at.mean.size + at.loadings.shape[1]
            noise = normals(key, number, _STEPS, draws * size).reshape(draws, size)
            noise = noise.astype(objective.dtype)
            free, back = jax.vjp(lambda family: jax.vmap(family.draw)(noise), at)
            potential, slope, reports = jax.vmap(density, (0, None))(free, data)
            log_q, log_q_slope = jax.vmap(jax.value_and_grad(at.log_density))(free)
            (gradient,) = back(((slope + log_q_slope) / draws).astype(free.dtype))
            return gradient, -potential - log_q, reports

        def block(
            at: Family, state: Any, key: Any, first: Any, rate: Any, factor: Any, data: Any
        ) -> Block:
            steps = self._transformation(rate)

            def turn(carry: Any, number: Any) -> Any:
                at, state = carry
                gradient, terms, reports = step(number, at, key, data)
                good = jnp.all(jnp.isfinite(terms))
                for part in gradient:
                    good = good & jnp.all(jnp.isfinite(part))
                scale = jnp.exp(at.log_scale)
                gradient = gradient._replace(mean=scale * gradient.mean)
                change, after = steps.update(
                    gradient, state, at, value=-jnp.mean(terms), grad=gradient
                )
                change = change._replace(mean=scale * change.mean)
                moved = jax.tree.map(lambda x, d: (x + factor * d).astype(x.dtype), at, change)
                moved = jax.tree.map(lambda new, old: jnp.where(good, new, old), moved, at)
                after = jax.tree.map(
                    lambda new, old: jnp.where(good, new, old).astype(old.dtype), after, state
                )
                return (moved, after), (moved, terms, good, reports)

            state = jax.tree.map(jnp.asarray, state)
            (at, state), (path, terms, good, reports) = lax.scan(
                turn, (at, state), first + jnp.arange(BLOCK, dtype=jnp.int32)
            )
            average = jax.tree.map(lambda x: jnp.mean(x, 0), path)
            finite = jnp.where(good[:, None], terms, 0.0)
            count = jnp.maximum(jnp.sum(good), 1) * draws
            elbo = jnp.sum(finite) / count
            # Draws of a step scatter about its own mean, which moves.
            centre = jnp.sum(finite, 1, keepdims=True) / draws
            spread = jnp.sum(jnp.where(good[:, None], (finite - centre) ** 2, 0.0))
            error = jnp.sqrt(spread / max(1, draws - 1) * draws) / count
            return Block(at, state, average, elbo, error, jnp.mean(good * 1.0), reports)

        return block
