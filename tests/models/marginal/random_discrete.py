"""Random models with finite discrete unknowns, against the sum over all values of these.

The reference is the same model with data in the place of the discrete unknowns and their densities
as factors; it is computed for every combination of values, one by one, and added up here.

    python -m tests.models.marginal.random_discrete FIRST COUNT     seeds, and which are wrong
"""

import itertools
import sys
import traceback
import warnings

import jax
import numpy as np
from scipy import special
from tests.models.rewrites.plain import QUICK, without_rewrites

import kinetograph as kg
from kinetograph.graph.precision import x64

__all__ = ["agree"]

MOST = 3000  # combinations of values
KINDS = ["bernoulli", "categorical", "binomial", "discrete_uniform", "poisson", "chain"]


class Summed:
    """The world in which discrete unknowns are unknowns."""

    tie = None

    def unknown(self, distribution, values):
        return distribution


class Known:
    """The world in which they are data, with their density as a factor."""

    def __init__(self):
        self.data, self.values = [], []

    def unknown(self, distribution, values):
        data = kg.data(np.full(distribution.shape, values[0]))
        kg.factor(kg.log_density(distribution, data) + 0.0 * self.tie)
        self.data.append(data.node)
        self.values += [values] * int(np.prod(distribution.shape, dtype=int))
        return data

    def combinations(self):
        """The data for every combination of values: (combinations, *shape) each."""
        rows = np.array(list(itertools.product(*self.values)))
        ends = np.cumsum([node.size for node in self.data])[:-1]
        parts = np.split(rows, ends, axis=1)
        return [p.reshape(-1, *n.shape) for p, n in zip(parts, self.data, strict=True)]


class Recipe:
    """What a model is made of, drawn once."""

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        self.seed = seed
        self.size = int(rng.integers(2, 5))  # of arrays
        count, left = int(rng.integers(1, 4)), MOST
        self.unknowns = []
        for _ in range(count):
            kind = str(rng.choice(KINDS))
            values = {"bernoulli": 2, "binomial": 3, "poisson": 3}.get(
                kind, int(rng.integers(2, 4))
            )
            shape = () if rng.random() < 0.45 else (self.size,)
            shape = (self.size,) if kind == "chain" else shape
            combinations = values ** int(np.prod(shape, dtype=int))
            if combinations <= left:
                self.unknowns.append((kind, values, shape, int(rng.integers(0, 4))))
                left //= combinations
        self.terms = rng.choice(
            ["normal", "count", "factor", "never", "sure", "where", "both"], rng.integers(1, 4)
        ).tolist()
        self.picks = rng.integers(0, 100, 20).tolist()
        self.y, self.x = rng.normal(size=self.size), rng.normal(size=self.size)
        self.counts = rng.poisson(1.5, self.size)
        self.zero = rng.random() < 0.3  # a probability that is exactly 0

    def model(self, world):
        """The model in one of the worlds."""
        mu = kg.normal(0.0, 1.0, shape=4, name="mu")
        world.tie = mu[0]  # without an unknown in it, a factor is of no model
        share = kg.beta(2.0, 2.0, name="share")
        made = []
        for kind, values, shape, parent in self.unknowns:
            before = made[parent % len(made)][0] if made and parent else None
            same = before is not None and (before.shape in ((), shape) and kind != "chain")
            tilt = 0.5 * mu[0] + (0.7 * before if same else 0.0)
            low = 1 if kind == "discrete_uniform" else 0
            law = self.law(kind, values, shape, share, tilt)
            made.append((world.unknown(law, np.arange(low, low + values)), kind, low))
        picks = iter(self.picks)
        for term in self.terms:
            z, kind, low = made[next(picks) % len(made)]
            other = made[next(picks) % len(made)]
            self.state(term, z - low, other[0] - other[2], mu, share, next(picks))
        return kg.model(mu, share)

    def law(self, kind, values, shape, share, tilt):
        own = [0.2, 0.3, 0.5][:values] if values == 3 else [0.4, 0.6]
        if self.zero:
            own = [0.0, *own[1:]]
        if kind == "bernoulli":
            return kg.bernoulli(kg.ilogit(tilt), shape=shape)
        if kind == "binomial":
            return kg.binomial(2, kg.ilogit(tilt), shape=shape)
        if kind == "poisson":
            return kg.poisson(kg.exp(tilt), truncation=(None, 2), shape=shape)
        if kind == "discrete_uniform":
            return kg.discrete_uniform(1, values, shape=shape)
        if kind == "chain":
            stay = np.full((values, values), 1.0 / values)
            moves = share * np.eye(values) + (1.0 - share) * stay
            return kg.markov_chain(np.array(own) / np.sum(own), moves, *shape)
        steps = np.arange(values)
        if self.zero:
            return kg.categorical(np.array(own) / np.sum(own), shape=shape)
        return kg.categorical(kg.softmax(tilt[..., None] * steps), shape=shape)

    def state(self, term, z, other, mu, share, pick):
        """A term about z, and perhaps about the other unknown."""
        y, x, counts = self.y, self.x, self.counts
        if term == "normal":
            kg.observe(y, kg.normal(mu[z] * x, 0.5 + share))
        elif term == "count":
            kg.observe(counts, kg.poisson(kg.exp(0.5 * mu[1]) * (0.3 + z)))
        elif term == "factor":
            kg.factor((mu[z] * share).sum() if pick % 2 else -mu[2] * z)
        elif term == "never":  # a possible value at which a factor is -inf
            slope = mu[pick % 4] * z
            kg.factor(kg.where(z == pick % 2, -np.inf, kg.log(kg.abs(slope) + 0.1)))
        elif term == "sure":  # log 0 at one value, computed
            kg.factor(kg.log(z * kg.exp(mu[1])) if pick % 2 else kg.log(share * (1.0 * (z == 0))))
        elif term == "where":
            kg.observe(y, kg.normal(kg.where(z > 0, mu[0], x), 1.0))
        elif other.shape in ((), z.shape) or z.shape == ():
            kg.observe(y, kg.normal(mu[z] + 0.5 * other * mu[3], 1.0))


def agree(seed, points=2):
    """Whether value and gradient are those of the sum over all combinations of values.

    Gives how many combinations there are, at how many points all of them are impossible, and
    whether some are; None of a model that cannot be summed out.
    """
    recipe = Recipe(seed)
    known = Known()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kg.KinetographWarning)
        try:
            model = recipe.model(Summed())
        except kg.ModelError as error:
            if "marginalise" not in str(error):
                raise
            return None
        with without_rewrites():
            plain = recipe.model(known)
    where = np.random.default_rng(seed).normal(scale=0.7, size=(points, model.free_size))
    data = known.combinations()

    def everything(points, values, own, data):
        def summed(point):
            return model.density.log_density(point, model.bind(values).data)

        def of_one(point, row):
            environment = plain.bind(own).data | dict(zip(known.data, row, strict=True))
            return plain.density.log_density(point, environment)

        found = jax.vmap(jax.value_and_grad(summed))(points)
        each = jax.vmap(lambda p: jax.vmap(lambda *r: jax.value_and_grad(of_one)(p, r))(*data))
        return found, each(points)

    with x64():
        arguments = where, model.argument_values, plain.argument_values, data
        program = jax.jit(everything).lower(*arguments).compile(QUICK)
        found, (values, slopes) = jax.tree.map(np.asarray, program(*arguments))
    impossible = np.isneginf(values)
    assert not np.isnan(values).any()
    wanted = special.logsumexp(values, 1)
    np.testing.assert_allclose(found[0], wanted, rtol=1e-9, atol=1e-11)
    some = np.isfinite(wanted)
    weights = np.exp(values[some] - wanted[some, None])
    parts = np.where(impossible[some][..., None], 0.0, slopes[some])
    wanted_slopes = (weights[..., None] * parts).sum(1)
    scale = 1.0 + np.abs(wanted_slopes).max(initial=0.0)
    np.testing.assert_allclose(found[1][some], wanted_slopes, rtol=1e-7, atol=1e-9 * scale)
    return values.shape[1], int((~some).sum()), bool(impossible.any())


def main(first, count):
    wrong, refused, infinite, never = [], 0, 0, 0
    for seed in range(first, first + count):
        try:
            found = agree(seed)
        except Exception:
            traceback.print_exc(limit=-3)
            wrong.append(seed)
            continue
        refused += found is None
        infinite += found is not None and found[2]
        never += found is not None and found[1] > 0
    print(
        f"{count} models from seed {first}: {refused} that cannot be summed out, {infinite} with "
        f"impossible values, {never} with nothing else; wrong: {wrong or 'none'}",
        flush=True,
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
