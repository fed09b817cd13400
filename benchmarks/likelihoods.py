"""Likelihoods of many observations against hand-written JAX.

    python benchmarks/likelihoods.py                 # six models; three minutes on two cores
    python benchmarks/likelihoods.py --models gamma --calls 2000

It times one value with its gradient. Both sides are functions of the free vector and of the data,
in float64, and take turns in one process; a program computes gradients one after the other, as a
sampler does. The hand-written side is what a careful user of JAX writes: with all constants, each
factor that does not depend on the data computed once, and the special functions of JAX. Both must
agree to 1e-9, up to a constant.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import gammaln
from records import record

import kinetograph as kg
from kinetograph.graph.precision import x64

HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)
Density = Callable[..., Any]


@dataclass
class Case:
    """A model, and its hand-written log density of free vector and data."""

    model: kg.Model
    by_hand: Density
    data: tuple[np.ndarray, ...]


def log_normal(x: Any, mean: float, sd: float) -> Any:
    return jnp.sum(-0.5 * ((x - mean) / sd) ** 2) - jnp.size(x) * (np.log(sd) + HALF_LOG_2PI)


def half_normal(log_x: Any, sd: float) -> Any:
    """Log density of a half-normal scale, with the Jacobian of its logarithm."""
    return log_normal(jnp.exp(log_x), 0.0, sd) + np.log(2) + log_x


def normal(rng: np.random.Generator) -> Case:
    """100,000 numbers."""
    y = rng.normal(1.0, 2.0, 100_000)
    mu, sd = kg.normal(0, 10, name="mu"), kg.half_normal(5, name="sd")
    kg.observe(y, kg.normal(mu, sd))

    def by_hand(q: Any, y: Any) -> Any:
        z = (y - q[0]) / jnp.exp(q[1])
        likelihood = -0.5 * jnp.sum(z * z) - y.size * (q[1] + HALF_LOG_2PI)
        return likelihood + log_normal(q[0], 0, 10) + half_normal(q[1], 5)

    return Case(kg.model(mu, sd), by_hand, (y,))


def bernoulli(rng: np.random.Generator) -> Case:
    """A logistic regression, 10,000 x 20."""
    x = rng.normal(size=(10_000, 20))
    y = (rng.random(10_000) < 1 / (1 + np.exp(-x @ rng.normal(0, 0.3, 20)))).astype(float)
    b = kg.normal(0, 1, shape=20, name="b")
    kg.observe(y, kg.bernoulli(logit=kg.data(x) @ b))

    def by_hand(q: Any, x: Any, y: Any) -> Any:
        logit = x @ q
        return jnp.sum(y * logit - jax.nn.softplus(logit)) + log_normal(q, 0, 1)

    return Case(kg.model(b), by_hand, (x, y))


def poisson(rng: np.random.Generator) -> Case:
    """10,000 counts with a log rate of 100 groups."""
    x, group = rng.normal(size=10_000), rng.integers(0, 100, 10_000)
    eta = 0.5 + 0.3 * x + rng.normal(0, 0.5, 100)[group]
    y = rng.poisson(np.exp(eta)).astype(float)
    a, b = kg.normal(0, 2, name="a"), kg.normal(0, 1, name="b")
    tau = kg.half_normal(1, name="tau")
    z = kg.normal(0, 1, shape=100, name="z")
    kg.observe(y, kg.poisson(kg.exp(a + b * x + (tau * z)[group])))

    def by_hand(q: Any, x: Any, y: Any, group: Any) -> Any:
        eta = q[0] + q[1] * x + (jnp.exp(q[2]) * q[3:])[group]
        likelihood = jnp.sum(y * eta - jnp.exp(eta) - gammaln(y + 1))
        prior = log_normal(q[0], 0, 2) + log_normal(q[1], 0, 1) + log_normal(q[3:], 0, 1)
        return likelihood + prior + half_normal(q[2], 1)

    return Case(kg.model(a, b, tau, z), by_hand, (x, y, group))


def gamma(rng: np.random.Generator) -> Case:
    """10,000 positive numbers, shape and rate unknown."""
    y = rng.gamma(2.5, 1 / 1.5, 10_000)
    alpha, rate = kg.half_normal(5, name="alpha"), kg.half_normal(5, name="rate")
    kg.observe(y, kg.gamma(alpha, rate))

    def by_hand(q: Any, y: Any) -> Any:
        a, rate = jnp.exp(q)
        each = jnp.sum((a - 1) * jnp.log(y) - rate * y)
        return each + y.size * (a * q[1] - gammaln(a)) + half_normal(q[0], 5) + half_normal(q[1], 5)

    return Case(kg.model(alpha, rate), by_hand, (y,))


def negative_binomial(rng: np.random.Generator) -> Case:
    """A regression of 10,000 overdispersed counts."""
    x = rng.normal(size=10_000)
    rate = np.exp(1 + 0.5 * x)
    y = rng.poisson(rate * rng.gamma(2.0, 0.5, 10_000)).astype(float)
    a, b = kg.normal(0, 2, name="a"), kg.normal(0, 1, name="b")
    phi = kg.half_normal(1, name="phi")
    kg.observe(y, kg.negative_binomial(log_mean=a + b * x, dispersion=phi))

    def by_hand(q: Any, x: Any, y: Any) -> Any:
        size, eta = jnp.exp(-q[2]), q[0] + q[1] * x
        counts = gammaln(y + size) - gammaln(y + 1)
        log_sum = jnp.logaddexp(eta, -q[2])
        each = counts + y * eta - (y + size) * log_sum
        constant = y.size * (-size * q[2] - gammaln(size))
        prior = log_normal(q[0], 0, 2) + log_normal(q[1], 0, 1) + half_normal(q[2], 1)
        return jnp.sum(each) + constant + prior

    return Case(kg.model(a, b, phi), by_hand, (x, y))


def student(rng: np.random.Generator) -> Case:
    """10,000 heavy-tailed numbers with unknown degrees of freedom."""
    y = 1 + 2 * rng.standard_t(4, 10_000)
    df, mu = kg.half_normal(20, name="df"), kg.normal(0, 10, name="mu")
    sigma = kg.half_normal(5, name="sigma")
    kg.observe(y, kg.student(df, mu, sigma))

    def by_hand(q: Any, y: Any) -> Any:
        df = jnp.exp(q[0])
        z = (y - q[1]) / jnp.exp(q[2])
        each = jnp.sum(jnp.log1p(z * z / df))
        constant = gammaln((df + 1) / 2) - gammaln(df / 2) - 0.5 * jnp.log(np.pi * df) - q[2]
        prior = half_normal(q[0], 20) + log_normal(q[1], 0, 10) + half_normal(q[2], 5)
        return y.size * constant - (df + 1) / 2 * each + prior

    return Case(kg.model(df, mu, sigma), by_hand, (y,))


MODELS = {f.__name__: f for f in (normal, bernoulli, poisson, gamma, negative_binomial, student)}


def looped(density: Density, calls: int) -> Any:
    """A loop of gradients; each moves the point of the next."""

    @jax.jit
    def many(free: Any, data: Any) -> Any:
        def step(_: int, free: Any) -> Any:
            value, slope = jax.value_and_grad(density)(free, *data)
            return free + 1e-9 * slope + 0 * value

        return jax.lax.fori_loop(0, calls, step, free)

    return many


def own_density(model: kg.Model) -> Density:
    def density(free: Any, *data: Any) -> Any:
        return model.density.log_density(free, model.bind(data).data)

    return density


def best_of(programs: list[Any], repeats: int, calls: int) -> list[float]:
    """The minimum over several turns, in microseconds per call."""
    best = [np.inf] * len(programs)
    for _ in range(repeats):
        for k, program in enumerate(programs):
            start = time.perf_counter()
            program().block_until_ready()
            best[k] = min(best[k], 1e6 * (time.perf_counter() - start) / calls)
    return best


def measure(name: str, calls: int, repeats: int) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    case = MODELS[name](rng)
    with x64():
        free = [jnp.asarray(rng.normal(0, 0.3, case.model.free_size)) for _ in range(3)]
        own = tuple(jnp.asarray(v) for v in case.model.argument_values)
        hand = tuple(jnp.asarray(v) for v in case.data)
        densities = own_density(case.model), case.by_hand
        both = [jax.jit(jax.value_and_grad(d)) for d in densities]
        apart = []
        for q in free:
            (value, slope), (other, wanted) = both[0](q, *own), both[1](q, *hand)
            np.testing.assert_allclose(slope, wanted, rtol=1e-9, atol=1e-8)
            apart.append(float(value - other))
        np.testing.assert_allclose(apart, apart[0], atol=1e-9 * abs(float(value)))
        given = zip(densities, (own, hand), strict=True)
        programs = [(looped(density, calls), data) for density, data in given]
        ready = [lambda p=p, data=data: p(free[0], data) for p, data in programs]
        for run in ready:
            run().block_until_ready()
        ours, by_hand = best_of(ready, repeats, calls)
    return {"model": name, "kinetograph": ours, "by hand": by_hand, "ratio": ours / by_hand}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--calls", type=int, default=30, help="gradients in a program")
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--write", action="store_true", help="keep the tables in results/")
    args = parser.parse_args()
    rows = []
    for name in args.models:
        rows.append(measure(name, args.calls, args.repeats))
        print(rows[-1], flush=True)
    lines = ["| model | kinetograph, us | by hand, us | ratio |", "|---|---|---|---|"]
    for row in rows:
        what = (MODELS[row["model"]].__doc__ or "").rstrip(".")
        cells = [f"{row['kinetograph']:.1f}", f"{row['by hand']:.1f}", f"{row['ratio']:.2f}"]
        lines.append(f"| {row['model']}: {what} | {' | '.join(cells)} |")
    page = "\n".join(lines)
    if args.write:
        record("likelihoods", page, rows=rows)
    else:
        print(page)


if __name__ == "__main__":
    main()
