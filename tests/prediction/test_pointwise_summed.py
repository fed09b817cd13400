"""Pointwise log densities with marginalised discrete unknowns, against explicit sums."""

from itertools import pairwise, product

import numpy as np
import pytest
import xarray as xr
from scipy import special, stats

import kinetograph as kg

RNG = np.random.default_rng(5)


def drawn(count=6, **sizes):
    """Results with normal draws of some unknowns, in two chains."""
    posterior = {}
    for name, size in sizes.items():
        shape = (2, count, size) if size else (2, count)
        posterior[name] = (("chain", "draw", f"{name}_dim_0")[: len(shape)], RNG.normal(size=shape))
    return xr.DataTree(children={"posterior": xr.DataTree(xr.Dataset(posterior))})


def likelihood(model, tree, given="others"):
    return kg.log_likelihood(model, tree, given=given)["log_likelihood"]


def by_hand(log_joint, count, given):
    """The log density of each of `count` observations, for one draw.

    `log_joint` gives, for each value of the discrete unknowns, their log density and the log
    densities of all observations.
    """
    prior = np.array([p for p, _ in log_joint])
    each = np.array([e for _, e in log_joint])

    def total(counts):
        return special.logsumexp(prior + each @ np.asarray(counts, float))

    t = np.arange(count)
    if given == "before":
        return np.array([total(t <= i) - total(t < i) for i in t])
    return np.array([total(t >= 0) - total(t != i) for i in t])


def test_labels_of_each_observation_are_as_a_mixture():
    y = RNG.normal(size=7)
    tree = drawn(mu=2)
    found = []
    for written in ("labels", "mixture"):
        mu = kg.normal([-1.0, 1.0], 2.0, name="mu")
        if written == "labels":
            z = kg.categorical([0.3, 0.7], shape=7, name="z")
            kg.observe(kg.data(y, name="y", dims="row"), kg.normal(mu[z], 0.8))
        else:
            parts = kg.mixture(kg.normal(mu, 0.8), weights=np.array([0.3, 0.7]))
            kg.observe(kg.data(y, name="y", dims="row"), parts)
        found.append(likelihood(kg.model(mu), tree)["y"])
    labels, mixture = found
    assert labels.dims == ("chain", "draw", "row")
    assert "given" not in labels.attrs
    np.testing.assert_allclose(labels, mixture, rtol=1e-11, atol=1e-11)
    # The result is the same if the labels are a target and are drawn.
    mu = kg.normal([-1.0, 1.0], 2.0, name="mu")
    z = kg.categorical([0.3, 0.7], shape=7, name="z")
    kg.observe(kg.data(y, name="y", dims="row"), kg.normal(mu[z], 0.8))
    dims = ("chain", "draw", "z_dim_0")
    tree["posterior"] = tree["posterior"].dataset.assign(z=(dims, np.zeros((2, 6, 7), int)))
    again = likelihood(kg.model(mu, z), tree, "before")["y"]
    np.testing.assert_allclose(again, mixture, rtol=1e-11, atol=1e-11)


FIRST = np.array([0.2, 0.5, 0.3])
MOVES = np.array([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.25, 0.25, 0.5]])


def paths(row, mu):
    for path in product(range(3), repeat=len(row)):
        log = np.log(FIRST[path[0]]) + sum(np.log(MOVES[m]) for m in pairwise(path))
        yield log, stats.norm(mu[list(path)], 1).logpdf(row)


@pytest.mark.parametrize("given", ["others", "before"])
def test_hidden_markov_chains(given):
    y = RNG.normal(size=(2, 4))
    tree = drawn(count=2, mu=3)
    mu = kg.normal([0.0, 1.0, -1.0], 2.0, name="mu")
    z = kg.markov_chain(FIRST, MOVES, 4, shape=(2, 4), name="z")
    kg.observe(kg.data(y, name="y"), kg.normal(mu[z], 1))
    model = kg.model(mu)
    found = likelihood(model, tree, given)["y"]
    assert found.attrs["given"] == given
    for i, j, row in product(range(2), repeat=3):
        at = tree["posterior"]["mu"].values[i, j]
        wanted = by_hand(list(paths(y[row], at)), 4, given)
        np.testing.assert_allclose(found[i, j, row], wanted, rtol=1e-11)
    if given == "before":
        prior = kg.log_prior(model, tree)["log_prior"]["mu"][0, 0].sum()
        free = tree["posterior"]["mu"].values[0, 0]
        total = float(found[0, 0].sum() + prior)
        assert total == pytest.approx(model.log_prob(free), rel=1e-12)


@pytest.mark.parametrize("given", ["others", "before"])
def test_a_chain_of_unknowns_in_a_loop(given):
    """Each step observes data of its own."""
    y = RNG.normal(size=3)
    tree = drawn(count=1, mu=3)
    mu = kg.normal([0.0, 1.0, -1.0], 2.0, name="mu")
    moves, z = kg.data(MOVES), None
    for t in range(3):
        z = kg.categorical(FIRST if z is None else moves[z])
        kg.observe(kg.data(y[t], name=f"y{t}"), kg.normal(mu[z], 1))
    group = likelihood(kg.model(mu), tree, given)
    found = [float(group[f"y{t}"][1, 0]) for t in range(3)]
    wanted = by_hand(list(paths(y, tree["posterior"]["mu"].values[1, 0])), 3, given)
    np.testing.assert_allclose(found, wanted, rtol=1e-11)


@pytest.mark.parametrize("given", ["others", "before"])
def test_two_observations_in_each_step_of_a_loop(given):
    """The order of the data is that of the steps, not that of the alike terms."""
    y, x = RNG.normal(size=(2, 9))
    first, moves = np.array([0.4, 0.6]), np.array([[0.8, 0.2], [0.3, 0.7]])
    tree = drawn(count=1, mu=2)
    mu, z = kg.normal([0.0, 1.0], 2.0, name="mu"), None
    for t in range(9):
        z = kg.categorical(first if z is None else kg.data(moves)[z])
        kg.observe(kg.data(y[t], name=f"y{t}"), kg.normal(mu[z], 1))
        kg.observe(kg.data(x[t], name=f"x{t}"), kg.normal(z, 2))
    model = kg.model(mu)
    assert len(model.density.marginal.tables) < 9
    group = likelihood(model, tree, given)
    at, joint = tree["posterior"]["mu"].values[1, 0], []
    for path in product(range(2), repeat=9):
        log = np.log(first[path[0]]) + sum(np.log(moves[m]) for m in pairwise(path))
        each = stats.norm(at[list(path)], 1).logpdf(y), stats.norm(path, 2).logpdf(x)
        joint.append((log, np.stack(each, 1).ravel()))
    found = [float(group[f"{name}{t}"][1, 0]) for t in range(9) for name in "yx"]
    np.testing.assert_allclose(found, by_hand(joint, 18, given), rtol=1e-10)
    assert group["y3"].attrs["given"] == given


@pytest.mark.parametrize("given", ["others", "before"])
def test_states_of_a_loop_that_are_observed_as_an_array(given):
    """Two rows of numbers for each state, and states of two chains."""
    y = RNG.normal(size=(2, 9))
    first, moves = np.array([0.4, 0.6]), np.array([[0.8, 0.2], [0.3, 0.7]])
    tree = drawn(count=1, mu=2)
    mu, states = kg.normal([0.0, 1.0], 2.0, name="mu"), []
    for t in range(9):
        new = t in (0, 5)
        states.append(kg.categorical(first if new else kg.data(moves)[states[-1]]))
    kg.observe(kg.data(y, name="y"), kg.normal(mu[kg.stack(states)], [[1.0], [2.0]]))
    found = likelihood(kg.model(mu), tree, given)["y"][1, 0]
    at = tree["posterior"]["mu"].values[1, 0]
    for own in (range(5), range(5, 9)):
        joint = []
        for path in product(range(2), repeat=len(own)):
            log = np.log(first[path[0]]) + sum(np.log(moves[m]) for m in pairwise(path))
            each = stats.norm(at[list(path)], [[1.0], [2.0]]).logpdf(y[:, own])
            joint.append((log, each.ravel()))
        wanted = by_hand(joint, 2 * len(own), given)
        np.testing.assert_allclose(np.ravel(found[:, own]), wanted, rtol=1e-10)


@pytest.mark.parametrize("given", ["others", "before"])
def test_rows_and_a_change_in_loops_are_as_those_of_arrays(given):
    y, x = RNG.normal(size=(2, 12))
    tree, found = drawn(count=2, mu=2), []
    for loop in (True, False):
        mu, s = kg.normal([0.0, 1.0], 2.0, name="mu"), kg.discrete_uniform(0, 12)
        z = (
            [kg.categorical([0.3, 0.7]) for _ in y]
            if loop
            else kg.categorical([0.3, 0.7], shape=12)
        )
        for i in range(12) if loop else ():
            kg.observe(kg.data(y[i], name=f"y{i}"), kg.normal(mu[z[i]], 1))
            kg.observe(kg.data(x[i], name=f"x{i}"), kg.normal(kg.where(i < s, mu[0], mu[1]), 1))
        if not loop:
            kg.observe(kg.data(y, name="y"), kg.normal(mu[z], 1))
            level = kg.where(np.arange(12) < s, mu[0], mu[1])
            kg.observe(kg.data(x, name="x"), kg.normal(level, 1))
        group = likelihood(kg.model(mu), tree, given)
        names = [f"{n}{i}" for n in "yx" for i in range(12)]
        found.append(np.stack([group[n] for n in names], -1) if loop else group)
        assert group["x5" if loop else "x"].attrs["given"] == given
        assert "given" not in group["y5" if loop else "y"].attrs
    arrays = np.concatenate([found[1]["y"], found[1]["x"]], -1)
    np.testing.assert_allclose(found[0], arrays, rtol=1e-11)


@pytest.mark.parametrize("given", ["others", "before"])
def test_sites_that_are_visited_several_times(given):
    """A site with an observation cannot be empty."""
    seen = np.array([[0, 0, 0], [1, 0, 1], [0, 0, 1]])
    tree = drawn(count=2, a=0)
    a = kg.normal(0, 1, name="a")
    there = kg.bernoulli(0.4, shape=3, name="there")
    kg.observe(kg.data(seen, name="seen"), kg.bernoulli(there[:, None] * kg.ilogit(a)))
    alone = kg.observe(kg.data([0.5, 1.0], name="alone"), kg.normal(a, 1))
    assert alone.shape
    group = likelihood(kg.model(a), tree, given)
    assert "given" not in group["alone"].attrs
    draws = tree["posterior"]["a"].values
    wanted = stats.norm(draws[..., None], 1).logpdf([0.5, 1.0])
    np.testing.assert_allclose(group["alone"], wanted, rtol=1e-11)
    for site in range(3):
        with np.errstate(divide="ignore", invalid="ignore"):
            p = special.expit(draws[1, 1])
            empty = np.where(seen[site] == 1, -1e9, 0.0)
            full = stats.bernoulli(p).logpmf(seen[site])
        joint = [(np.log(0.6), empty), (np.log(0.4), full)]
        wanted = by_hand(joint, 3, given)
        np.testing.assert_allclose(group["seen"][1, 1, site], wanted, rtol=1e-11, atol=1e-11)


JUMPS = [0.0, 0, 0, 10, 0, 0, 10, 10]


@pytest.mark.parametrize("given", ["others", "before"])
@pytest.mark.parametrize("sd", [2.0, 0.3, 0.16, 0.01])  # of 12, 560, 2,000 and 500,000 nats
@pytest.mark.parametrize("y", [JUMPS, [0.0] * 7 + [10], [0.0, 10, 0, 10, 0, 10, 0, 10]])
def test_observations_that_contradict_the_other_ones(y, sd, given):
    """Change points with rows on the wrong side, up to densities of 0 in double precision."""
    y = np.array(y)
    a = kg.normal(0, 1, name="a")
    first, last = kg.discrete_uniform(0, 8, name="first"), kg.discrete_uniform(0, 8, name="last")
    t = np.arange(8)
    inside = kg.where(t >= first, kg.where(t < last, 1.0, 0.0), 0.0)
    kg.observe(kg.data(y, name="y"), kg.normal(a + 10 * inside, sd))
    tree = drawn(count=1, a=0)
    tree["posterior"]["a"][:] = [[0.01], [-0.02]]
    found = likelihood(kg.model(a), tree, given)["y"]
    for chain, value in enumerate([0.01, -0.02]):
        joint = []
        for start, stop in product(range(9), repeat=2):
            mean = value + 10.0 * ((t >= start) & (t < stop))
            joint.append((0.0, stats.norm(mean, sd).logpdf(y)))
        np.testing.assert_allclose(found[chain, 0], by_hand(joint, 8, given), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("count", [1, 50])
def test_values_that_are_improbable_with_and_probable_without_an_observation(count):
    """One value has a density of exp(-599), and the other ones of other observations, too."""
    y, means = np.array([34.61, -1.5, -1.5]), np.r_[0.0, np.full(count, 34.61)]
    a = kg.normal(0, 1, name="a")
    z = kg.categorical(np.full(count + 1, 1 / (count + 1)), name="z")
    kg.observe(kg.data(y, name="y"), kg.normal(a + kg.data(means)[z], 1.0))
    tree = drawn(count=1, a=0)
    tree["posterior"]["a"][:] = 0.0
    found = likelihood(kg.model(a), tree)["y"][0, 0]
    joint = [(0.0, stats.norm(mean, 1).logpdf(y)) for mean in means]
    np.testing.assert_allclose(found, by_hand(joint, 3, "others"), rtol=1e-8)


@pytest.mark.parametrize("given", ["others", "before"])
def test_one_for_all_beside_one_for_each(given):
    y = RNG.normal(size=3)
    tree = drawn(count=1, mu=0)
    mu = kg.normal(0, 1, name="mu")
    scale = kg.categorical([0.5, 0.5], name="scale")
    z = kg.bernoulli(kg.data([0.2, 0.6])[scale], shape=3, name="z")
    kg.observe(kg.data(y, name="y"), kg.normal(mu + 2.0 * z, kg.data([1.0, 3.0])[scale]))
    at = tree["posterior"]["mu"].values[0, 0]
    joint = []
    for s, *on in product(range(2), repeat=4):
        p, sd = ((0.2, 1.0), (0.6, 3.0))[s]
        log = np.log(0.5) + stats.bernoulli(p).logpmf(on).sum()
        joint.append((log, stats.norm(at + 2 * np.array(on), sd).logpdf(y)))
    found = likelihood(kg.model(mu), tree, given)["y"][0, 0]
    np.testing.assert_allclose(found, by_hand(joint, 3, given), rtol=1e-11)


def test_unknowns_with_discrete_parents():
    """The prior is a mixture; likelihoods are conditioned on the unknowns' values."""
    tree = drawn(count=3, x=2)
    z = kg.bernoulli(0.3, shape=2, name="z")
    x = kg.normal(5.0 * z, 1.0, name="x")
    kg.observe(kg.data([2.0, 3.0], name="y"), kg.normal(x + z, 1))
    model = kg.model(x)
    results = kg.log_prior(model, kg.log_likelihood(model, tree))
    draws = tree["posterior"]["x"].values
    one = np.log(0.3) + stats.norm(5, 1).logpdf(draws)
    none = np.log(0.7) + stats.norm(0, 1).logpdf(draws)
    prior = np.logaddexp(none, one)
    np.testing.assert_allclose(results["log_prior"]["x"], prior, rtol=1e-11)
    y = np.array([2.0, 3.0])
    joint = np.logaddexp(
        none + stats.norm(draws, 1).logpdf(y), one + stats.norm(draws + 1, 1).logpdf(y)
    )
    np.testing.assert_allclose(results["log_likelihood"]["y"], joint - prior, rtol=1e-10)


def test_factors_are_no_priors():
    """Factors affect all terms that share their discrete unknowns."""
    tree = drawn(count=2, x=2)
    z = kg.bernoulli(0.3, shape=2, name="z")
    x = kg.normal(5.0 * z, 1.0, name="x")
    kg.factor(0.7 * kg.sum(1.0 * z))
    kg.observe(kg.data([2.0, 3.0], name="y"), kg.normal(x + z, 1))
    model = kg.model(x)
    results = kg.log_prior(model, kg.log_likelihood(model, tree))
    draws, y = tree["posterior"]["x"].values, np.array([2.0, 3.0])
    one = np.log(0.3) + stats.norm(5, 1).logpdf(draws)
    none = np.log(0.7) + stats.norm(0, 1).logpdf(draws)
    np.testing.assert_allclose(results["log_prior"]["x"], np.logaddexp(none, one), rtol=1e-11)
    one = one + 0.7
    both = none + stats.norm(draws, 1).logpdf(y), one + stats.norm(draws + 1, 1).logpdf(y)
    wanted = np.logaddexp(*both) - np.logaddexp(none, one)
    np.testing.assert_allclose(results["log_likelihood"]["y"], wanted, rtol=1e-10)


def test_other_data():
    tree = drawn(count=2, mu=2)
    group = kg.data([0, 0, 1], name="group")

    def made(y, group):
        mu, z = kg.normal(0, 2, shape=2, name="mu"), kg.bernoulli(0.3, shape=3, name="z")
        kg.observe(kg.data(y, name="y"), kg.normal(mu[z[group].astype(int)], 0.8))
        return kg.model(mu)

    model = made([0.3, -0.2, 1.4], group)
    before = likelihood(model, tree)["y"]
    assert before.attrs["given"] == "others"
    model.set_data(y=[1.0, 0.0, 2.0], group=[0, 1, 2])
    wanted = likelihood(made([1.0, 0.0, 2.0], kg.data([0, 1, 2], name="group")), tree)["y"]
    np.testing.assert_allclose(likelihood(model, tree)["y"], wanted, rtol=1e-12)
    assert "given" not in wanted.attrs


def test_loops_are_part_of_it():
    y = RNG.normal(size=4)
    tree = drawn(count=2, rate=0)
    rate = kg.normal(0, 1, name="rate")
    when = kg.categorical(np.full(4, 0.25), name="when")

    @kg.function
    def path(rate, when):
        x, found = 0.0, np.zeros(4)
        for t in kg.range(4):
            if t >= when:
                x = 0.5 * x + rate
            found[t] = x
        return found

    kg.observe(kg.data(y, name="y"), kg.normal(path(rate, when), 1))
    found = likelihood(kg.model(rate), tree)["y"][1, 1]
    at, joint = tree["posterior"]["rate"].values[1, 1], []
    for k in range(4):
        x, means = 0.0, np.zeros(4)
        for t in range(4):
            means[t] = x = 0.5 * x + at if t >= k else x
        joint.append((np.log(0.25), stats.norm(means, 1).logpdf(y)))
    np.testing.assert_allclose(found, by_hand(joint, 4, "others"), rtol=1e-11)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
def test_arviz_compares_such_models():
    azs = pytest.importorskip("arviz_stats")
    y = np.concatenate([RNG.normal(-2, 1, 12), RNG.normal(3, 1, 18)])
    mu = kg.normal([-1.0, 1.0], 3.0, name="mu")
    z = kg.categorical([0.4, 0.6], shape=30, name="z")
    kg.observe(kg.data(y, name="y"), kg.normal(mu[z], 1))
    model = kg.model(mu, z)
    fit = kg.mcmc(model, seed=1, draws=200, progress=False, initial={"mu": [-2.0, 3.0]})
    loo = azs.loo(kg.log_likelihood(model, fit))
    # The density at the posterior mean, minus about one for each of its two numbers.
    at = fit.posterior["mu"].mean(("chain", "draw")).values
    best = np.log(stats.norm(at, 1).pdf(y[:, None]) @ [0.4, 0.6]).sum()
    assert loo.elpd == pytest.approx(best - 2, abs=1.5)


def test_it_is_said_what_others_are():
    mu = kg.normal(0, 1, name="mu")
    kg.observe([1.0], kg.normal(mu, 1), name="y")
    with pytest.raises(ValueError, match="given must be 'others' or 'before', got 'after'"):
        kg.log_likelihood(kg.model(mu), drawn(mu=0), given="after")


def test_densities_too_many_for_memory(monkeypatch):
    a, s = kg.normal(0, 1, name="a"), kg.categorical(np.full(5, 0.2), name="s")
    kg.observe(np.ones(5), kg.normal(kg.where(np.arange(5) < s, a, 0.0), 1.0), name="y")
    model = kg.model(a)
    draws = kg.mcmc(model, draws=2, warmup=10, chains=1, seed=1, progress=False)
    monkeypatch.setattr("kinetograph.models.marginal.pointwise.MOST", 10)
    with pytest.raises(kg.ModelError, match=r"values of s are 20 numbers .* 10 .*kg\.kfold"):
        kg.log_likelihood(model, draws)
