"""Ascent of the evidence lower bound by compiled blocks of steps.

With u = m + s (e + W f), e and f standard normal, s > 0 and W of any number of columns (0 for
independent numbers), q is normal with the covariance diag(s) (1 + W W') diag(s). Its evidence lower
bound is the mean of log p(u) - log q(u). Of its gradient with respect to m, log s and W, only the
part through u is used,

    mean of (d log p / du - d log q / du) du / d(m, log s, W).

It has the same mean as the full gradient, and no variance where q equals p. The optimiser sees m in
units of s.

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
from ..optimizers.descent import Steps
from ..optimizers.objective import Objective

__all__ = ["BLOCK", "Ascent", "AscentBlock", "NormalParameters", "climb"]

BLOCK = 200  # steps
SLOWER = 0.25  # factor of the rate after a plateau
_STEPS = 2  # purpose of the random numbers; 0 is for starting points, 1 for draws


class NormalParameters(NamedTuple):
    """The parameters of a normal distribution: m, log s, W."""

    mean: Any
    log_scale: Any
    loadings: Any  # (size, rank)

    def draw(self, noise: Any) -> Any:
        """A draw, made from size + rank standard normal numbers."""
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


class AscentBlock(NamedTuple):
    """The state and statistics after a block of steps."""

    at: NormalParameters
    state: Any  # of the optimiser
    average: NormalParameters  # over the steps of the block
    elbo: Any  # the mean over the draws of the block
    error: Any  # the standard error of the mean
    finite: Any  # the fraction of steps with a finite gradient
    reports: Any  # trip counts of the loops in the model's graph


class Ascent(NamedTuple):
    """The result of all blocks."""

    family: NormalParameters
    elbo: np.ndarray  # of each block
    rate: np.ndarray  # factor of the optimiser's steps in each block
    converged: bool
    gain: float  # of the ELBO since the last fall of the rate, or in the last block


def climb(
    objective: Objective,
    optimizer: Steps,
    start: NormalParameters,
    key: np.ndarray,
    draws: int,
    most_blocks: int,
    tolerance: float,
) -> Ascent | None:
    """Make steps until convergence, or until `most` blocks.

    At each rate blocks are made until the ELBO of a block exceeds that of the block before by no
    more than its standard error, or than the tolerance if that is larger. Then the rate falls. If
    the last fall of the rate has brought no gain, the ascent has converged. Returns None if no step
    of a block has a finite gradient.
    """
    blocks = _Blocks(objective, optimizer, draws, key)
    block, rate = blocks.first(start), 1.0
    previous, plateau = (-math.inf, 0.0), (-math.inf, 0.0)
    elbos, rates, gain = [], [], math.inf
    for number in range(most_blocks):
        block = blocks.go(block, number, rate)
        if not block.finite:
            return None
        latest = float(block.elbo), float(block.error)
        elbos.append(latest[0])
        rates.append(rate)
        gain, enough = _gain(latest, previous, tolerance)
        previous = latest
        if gain > enough:
            continue
        gain, enough = _gain(latest, plateau, tolerance)
        if gain <= enough:
            return Ascent(block.average, np.array(elbos), np.array(rates), True, gain)
        plateau, rate = latest, SLOWER * rate
        previous = -math.inf, 0.0
    return Ascent(block.average, np.array(elbos), np.array(rates), False, gain)


def _gain(
    latest: tuple[float, float], reference: tuple[float, float], tolerance: float
) -> tuple[float, float]:
    """The gain of the ELBO, and the least gain that counts."""
    return latest[0] - reference[0], max(tolerance, math.hypot(latest[1], reference[1]))


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

    def first(self, start: NormalParameters) -> AscentBlock:
        """The state before the first step."""
        start = NormalParameters(*(np.asarray(part, self.objective.dtype) for part in start))
        with x64():
            state = self._transformation(np.asarray(self.rate, self.objective.dtype)).init(start)
        return AscentBlock(start, state, start, -math.inf, 0.0, 1.0, ())

    def go(self, block: AscentBlock, number: int, factor: float) -> AscentBlock:
        """Run the next block."""
        objective, optimizer = self.objective, self.optimizer
        rank = block.at.loadings.shape[1]
        key = ("advi", optimizer.name, optimizer.settings, self.draws, rank)
        numbers = (np.asarray(x, objective.dtype) for x in (self.rate, factor))
        arguments = block.at, block.state, self.key, np.int32(number * BLOCK), *numbers
        owner = self.schedule or optimizer.given
        result: AscentBlock = objective.run(
            key, self._program, *arguments, objective.data, owner=owner
        )
        return result

    def _program(self) -> Any:
        objective, draws = self.objective, self.draws

        def step(number: Any, at: NormalParameters, key: Any, data: Any) -> Any:
            """The gradient of minus the bound, its terms, and loop reports."""
            size = at.mean.size + at.loadings.shape[1]
            noise = normals(key, number, _STEPS, draws * size).reshape(draws, size)
            noise = noise.astype(objective.dtype)
            free, back = jax.vjp(lambda family: jax.vmap(family.draw)(noise), at)
            potential, slope, reports = jax.vmap(objective.traced, (0, None))(free, data)
            log_q, log_q_slope = jax.vmap(jax.value_and_grad(at.log_density))(free)
            (gradient,) = back(((slope + log_q_slope) / draws).astype(free.dtype))
            return gradient, -potential - log_q, reports

        def block(
            at: NormalParameters,
            state: Any,
            key: Any,
            first: Any,
            rate: Any,
            factor: Any,
            data: Any,
        ) -> AscentBlock:
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
                new_point = jax.tree.map(lambda x, d: (x + factor * d).astype(x.dtype), at, change)
                new_point = jax.tree.map(lambda new, old: jnp.where(good, new, old), new_point, at)
                after = jax.tree.map(
                    lambda new, old: jnp.where(good, new, old).astype(old.dtype), after, state
                )
                return (new_point, after), (new_point, terms, good, reports)

            state = jax.tree.map(jnp.asarray, state)
            (at, state), (path, terms, good, reports) = lax.scan(
                turn, (at, state), first + jnp.arange(BLOCK, dtype=jnp.int32)
            )
            average = jax.tree.map(lambda x: jnp.mean(x, 0), path)
            finite = jnp.where(good[:, None], terms, 0.0)
            count = jnp.maximum(jnp.sum(good), 1) * draws
            elbo = jnp.sum(finite) / count
            # Deviations are from the mean of each step, because the mean changes between steps.
            centre = jnp.sum(finite, 1, keepdims=True) / draws
            spread = jnp.sum(jnp.where(good[:, None], (finite - centre) ** 2, 0.0))
            error = jnp.sqrt(spread / max(1, draws - 1) * draws) / count
            return AscentBlock(at, state, average, elbo, error, jnp.mean(good * 1.0), reports)

        return block
