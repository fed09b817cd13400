"""Discrete unknowns summed out, against sums over all their values written out."""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats

import kinetograph as kg
from kinetograph.graph.precision import x64

RNG = np.random.default_rng(7)


def checked(model, by_hand, points):
    """The density and the gradient at free states; `by_hand` is the density of values."""
    found = model.log_prob(points)
    wanted = [by_hand(p) for p in points]
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11)
    step = 1e-5
    for point, slope in zip(points, model.gradient(points), strict=True):
        moved = np.eye(len(point)) * step
        quotient = [(by_hand(point + m) - by_hand(point - m)) / (2 * step) for m in moved]
        np.testing.assert_allclose(slope, quotient, rtol=1e-6, atol=1e-6)


def test_a_change_point():
    y = np.array([3, 5, 4, 6, 1, 0, 2, 1, 1])
    early, late = kg.normal(1, 1, name="early"), kg.normal(0, 1, name="late")
    when = 1 + kg.categorical(np.full(8, 1 / 8), name="when")
    t = np.arange(9)
    kg.observe(y, kg.poisson(kg.exp(kg.where(t < when, early, late))))

    def by_hand(u):
        terms = [
            stats.poisson(np.exp(np.where(t < k, u[0], u[1]))).logpmf(y).sum() - np.log(8)
            for k in range(1, 9)
        ]
        return special.logsumexp(terms) + stats.norm(1, 1).logpdf(u[0]) + stats.norm.logpdf(u[1])

    checked(kg.model(early, late), by_hand, RNG.normal(size=(3, 2)))


def test_labels_of_observations_and_of_groups():
    y, group = RNG.normal(size=7), np.array([0, 0, 1, 2, 2, 2, 1])
    mu = kg.normal([-1.0, 1.0], 1.0, name="mu")
    z = kg.categorical([0.3, 0.7], shape=3, name="z")
    kg.observe(y, kg.normal(mu[z[group]], 0.8))
    mine = kg.normal(0, 1, name="mine")
    odd = kg.bernoulli(0.2, shape=7, name="odd")
    kg.observe(y, kg.normal(kg.where(odd, mine, 0.0), 1 + 9.0 * odd))

    def by_hand(u):
        total = stats.norm([-1, 1], 1).logpdf(u[:2]).sum() + stats.norm.logpdf(u[2])
        for g in range(3):
            each = [
                np.log(p) + stats.norm(u[k], 0.8).logpdf(y[group == g]).sum()
                for k, p in enumerate((0.3, 0.7))
            ]
            total += special.logsumexp(each)
        for value in y:
            each = np.log(0.8) + stats.norm(0, 1).logpdf(value)
            total += np.logaddexp(each, np.log(0.2) + stats.norm(u[2], 10).logpdf(value))
        return total

    checked(kg.model(mu, mine), by_hand, RNG.normal(size=(3, 3)))


def test_occupancy():
    """Sites that are empty or not, each visited several times; where empty, nothing is seen."""
    seen = np.array([[0, 0, 0], [1, 0, 1], [0, 0, 1], [0, 0, 0]])
    there, found = kg.beta(1, 1, name="there"), kg.beta(2, 2, name="found")
    z = kg.bernoulli(there, shape=4, name="z")
    kg.observe(seen, kg.bernoulli(z[:, None] * found))

    def by_hand(u):
        psi, p = special.expit(u)
        total = np.log(psi * (1 - psi)) + stats.beta(2, 2).logpdf(p) + np.log(p * (1 - p))
        for row in seen:
            some = np.log(psi) + stats.bernoulli(p).logpmf(row).sum()
            total += some if row.any() else np.logaddexp(some, np.log1p(-psi))
        return total

    checked(kg.model(there, found), by_hand, RNG.normal(size=(3, 2)))


def chain_by_hand(y, mu, first, moves):
    seen = stats.norm.logpdf(np.subtract.outer(y, mu))
    terms = []
    for path in product(range(len(mu)), repeat=len(y)):
        log = np.log(first[path[0]]) + seen[0, path[0]]
        for t in range(1, len(y)):
            log += np.log(moves[path[t - 1], path[t]]) + seen[t, path[t]]
        terms.append((log, path))
    return terms


FIRST = np.array([0.2, 0.5, 0.3])
MOVES = np.array([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.25, 0.25, 0.5]])


def test_a_hidden_markov_chain():
    y = RNG.normal(size=(2, 5))
    mu = kg.normal([0.0, 1.0, -1.0], 2.0, name="mu")
    z = kg.markov_chain(FIRST, MOVES, 5, shape=(2, 5), name="z")
    kg.observe(y, kg.normal(mu[z], 1))

    def by_hand(u):
        total = stats.norm([0, 1, -1], 2).logpdf(u).sum()
        for row in y:
            total += special.logsumexp([log for log, _ in chain_by_hand(row, u, FIRST, MOVES)])
        return total

    checked(kg.model(mu), by_hand, RNG.normal(size=(2, 3)))


def test_a_hidden_markov_chain_written_as_a_loop():
    y = RNG.normal(size=5)
    mu = kg.normal([0.0, 1.0, -1.0], 2.0, name="mu")
    moves = kg.data(MOVES)
    z = kg.categorical(FIRST)
    kg.observe(y[0], kg.normal(mu[z], 1))
    for t in range(1, 5):
        z = kg.categorical(moves[z])
        kg.observe(y[t], kg.normal(mu[z], 1))

    def by_hand(u):
        total = stats.norm([0, 1, -1], 2).logpdf(u).sum()
        return total + special.logsumexp([log for log, _ in chain_by_hand(y, u, FIRST, MOVES)])

    checked(kg.model(mu), by_hand, RNG.normal(size=(2, 3)))


def test_one_for_all_beside_one_for_each():
    y = RNG.normal(size=4)
    mu = kg.normal(0, 1, name="mu")
    scale = kg.categorical([0.5, 0.5], name="scale")
    z = kg.bernoulli(kg.data([0.2, 0.6])[scale], shape=4, name="z")
    kg.observe(y, kg.normal(mu + 2.0 * z, kg.data([1.0, 3.0])[scale]))

    def by_hand(u):
        each = []
        for s, (p, sd) in enumerate(((0.2, 1.0), (0.6, 3.0))):
            on = np.log(p) + stats.norm(u[0] + 2, sd).logpdf(y)
            off = np.log1p(-p) + stats.norm(u[0], sd).logpdf(y)
            each.append(np.log(0.5) + np.logaddexp(on, off).sum())
            assert s < 2
        return special.logsumexp(each) + stats.norm.logpdf(u[0])

    checked(kg.model(mu), by_hand, RNG.normal(size=(2, 1)))


def test_two_for_each_observation_and_counts_up_to_a_size():
    y = np.array([2.0, 7.0, 4.0])
    a = kg.normal(0, 1, name="a")
    n = kg.binomial([2, 4, 3], 0.4, name="n")
    k = kg.poisson(2.0, truncation=(None, 6), shape=3, name="k")
    kg.observe(y, kg.normal(a + n + k, 1))

    def by_hand(u):
        total = stats.norm.logpdf(u[0])
        counts = np.arange(7)
        log_k = stats.poisson(2).logpmf(counts) - stats.poisson(2).logcdf(6)
        for value, size in zip(y, (2, 4, 3)):
            each = [
                stats.binom(size, 0.4).logpmf(i)
                + log_k[j]
                + stats.norm(u[0] + i + j, 1).logpdf(value)
                for i in range(size + 1)
                for j in counts
            ]
            total += special.logsumexp(each)
        return total

    checked(kg.model(a), by_hand, RNG.normal(size=(2, 1)))


def test_a_latent_number_with_a_discrete_parent():
    z = kg.bernoulli(0.3, name="z")
    x = kg.normal(5.0 * z, 1.0, name="x")
    kg.observe([2.0], kg.normal(x, 1))

    def by_hand(u):
        two = np.log([0.7, 0.3]) + stats.norm([0, 5], 1).logpdf(u[0])
        return special.logsumexp(two) + stats.norm(u[0], 1).logpdf(2.0)

    checked(kg.model(x), by_hand, RNG.normal(size=(3, 1)))


def test_inside_of_a_loop():
    """A loop of the graph that depends on a discrete unknown, and reports its trips."""
    y = RNG.normal(size=6)
    rate = kg.normal(0, 1, name="rate")
    when = kg.categorical(np.full(6, 1 / 6), name="when")

    @kg.function
    def path(rate, when):
        x, total = 0.0, 0.0
        for t in range(6):
            if t >= when:
                x = 0.5 * x + rate
            total = total - 0.5 * (kg.data(y)[t] - x) ** 2
        return total

    kg.factor(path(rate, when))

    def by_hand(u):
        each = []
        for k in range(6):
            x, total = 0.0, 0.0
            for t in range(6):
                x = 0.5 * x + u[0] if t >= k else x
                total -= 0.5 * (y[t] - x) ** 2
            each.append(total - np.log(6))
        return special.logsumexp(each) + stats.norm.logpdf(u[0])

    checked(kg.model(rate), by_hand, RNG.normal(size=(2, 1)))


def near(model, target, point, count=4000):
    """Draws of a discrete unknown at states that differ in their last digits only."""
    states = point + 1e-12 * np.arange(count)[:, None]
    with x64():
        data = model.bind().data
        draw = jax.jit(jax.vmap(lambda u: model.density.targets(u, [target.node], data)[0]))
        return np.asarray(draw(jnp.asarray(states)))


def test_draws_of_a_chain_have_their_conditional_distribution():
    y = np.array([0.3, -1.2, 0.8])
    mu = kg.normal([0.0, 1.0, -1.0], 2.0, name="mu")
    z = kg.markov_chain(FIRST, MOVES, 3, name="z")
    kg.observe(y, kg.normal(mu[z], 1))
    u = np.array([0.1, 0.9, -1.1])
    drawn = near(kg.model(mu, z), z, u)
    terms = chain_by_hand(y, u, FIRST, MOVES)
    shares = np.exp([log for log, _ in terms] - special.logsumexp([log for log, _ in terms]))
    counts = np.array([(drawn == path).all(-1).sum() for _, path in terms])
    assert counts.sum() == len(drawn)
    big = shares * len(drawn) > 5
    expected = np.append(shares[big], shares[~big].sum()) * len(drawn)
    observed = np.append(counts[big], counts[~big].sum())
    assert stats.chisquare(observed, expected).pvalue > 1e-7
    assert stats.chisquare(observed, np.roll(expected, 1)).pvalue < 1e-7


def test_a_chain_that_no_term_depends_on_has_its_prior():
    """Beside a chain that is observed."""
    mu = kg.normal([0.0, 1.0, -1.0], 2.0, name="mu")
    z = kg.markov_chain(FIRST, MOVES, 2, name="z")
    seen = kg.markov_chain(FIRST, MOVES, 2, name="seen")
    y = np.array([0.3, -1.2])
    kg.observe(y, kg.normal(mu[seen], 1))
    model, u = kg.model(mu, z, seen), np.array([0.1, 0.9, -1.1])
    logs = [log for log, _ in chain_by_hand(y, u, FIRST, MOVES)]
    wanted = special.logsumexp(logs) + stats.norm([0.0, 1.0, -1.0], 2).logpdf(u).sum()
    assert model.log_prob(u) == pytest.approx(wanted, rel=1e-12)
    first, second = near(model, z, u).T
    counts = np.bincount(3 * first + second, minlength=9)
    shares = (FIRST[:, None] * MOVES).ravel()
    assert stats.chisquare(counts, counts.sum() * shares).pvalue > 1e-7


def test_a_chain_in_a_model_without_observations_has_its_prior():
    x = kg.normal(0, 1, name="x")
    z = kg.markov_chain(FIRST, MOVES, 2, name="z")
    model = kg.model(x, z)
    assert model.log_prob([0.5]) == pytest.approx(stats.norm().logpdf(0.5), rel=1e-12)
    first, second = near(model, z, np.array([0.5])).T
    counts = np.bincount(3 * first + second, minlength=9)
    assert stats.chisquare(counts, counts.sum() * (FIRST[:, None] * MOVES).ravel()).pvalue > 1e-7


def test_draws_of_one_for_all_and_one_for_each():
    y = np.array([0.5, 2.5])
    mu = kg.normal(0, 1, name="mu")
    scale = kg.categorical([0.5, 0.5], name="scale")
    z = kg.bernoulli(kg.data([0.2, 0.6])[scale], shape=2, name="z")
    kg.observe(y, kg.normal(mu + 2.0 * z, kg.data([1.0, 3.0])[scale]))
    both = kg.stack([scale, z[0].astype(int), z[1].astype(int)])
    drawn = near(kg.model(mu, both=both), both, np.array([0.2]))
    values = list(product(range(2), repeat=3))
    logs = []
    for s, a, b in values:
        p, sd = ((0.2, 1.0), (0.6, 3.0))[s]
        log = np.log(0.5)
        for value, on in zip(y, (a, b)):
            log += np.log(p if on else 1 - p) + stats.norm(0.2 + 2 * on, sd).logpdf(value)
        logs.append(log)
    expected = np.exp(logs - special.logsumexp(logs)) * len(drawn)
    observed = [(drawn == v).all(-1).sum() for v in values]
    assert stats.chisquare(observed, expected).pvalue > 1e-7
    assert stats.chisquare(observed, np.roll(expected, 1)).pvalue < 1e-7


def test_a_run_gives_the_draws_back():
    y = np.concatenate([RNG.normal(-2, 1, 10), RNG.normal(3, 1, 15)])
    mu = kg.normal([-1.0, 1.0], 3.0, name="mu")
    z = kg.categorical([0.5, 0.5], shape=25, name="z", dims="row")
    kg.observe(y, kg.normal(mu[z], 1), name="y")
    model = kg.model(mu, z)
    assert model.names == ("mu",)
    start = {"mu": [-2.0, 3.0]}
    fit = kg.mcmc(model, seed=1, chains=2, draws=300, progress=False, initial=start)
    assert fit.posterior["z"].dims == ("chain", "draw", "row")
    share = fit.posterior["z"].mean(("chain", "draw")).values
    assert share[:10].max() < 0.2
    assert share[10:].min() > 0.8
    # What follows from recorded draws of it, and new data in its likeness.
    label = kg.predict(model, fit, mine=mu[z[0]])
    assert label is not None


def test_a_run_with_a_likelihood_that_has_few_columns():
    """In closed form: p is Beta(2 + k, 3 - k), with the two chances of k given the data."""
    p = kg.beta(2, 2, name="p")
    k = kg.bernoulli(p, name="k")
    y = np.array([1.9, 2.1, 1.7])
    kg.observe(y, kg.normal(2.0 * k, 1.0))
    chance = special.expit(stats.norm(2, 1).logpdf(y).sum() - stats.norm(0, 1).logpdf(y).sum())
    fit = kg.mcmc(kg.model(p), seed=1, chains=2, draws=1000, progress=False)
    draws = fit.posterior["p"]
    expected = 0.4 + 0.2 * chance
    # At least 400 effective draws of standard deviation 0.2, and six standard errors.
    assert abs(float(draws.mean()) - expected) < 0.06


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (lambda mu: kg.poisson(3.0, name="z"), "infinitely many values"),
        (
            lambda mu: kg.discrete_uniform(kg.discrete_uniform(0, 3, name="first"), 9, name="z"),
            r"z .*bounds that are numbers, .*kg.factor\(kg.where\(allowed, 0.0, -np.inf\)\)$",
        ),
        (lambda mu: kg.categorical(np.ones(20_000) / 20_000, name="z"), "20000 .* most 13333"),
    ],
)
def test_what_has_too_many_values(state, text):
    mu = kg.normal(0, 1, name="mu")
    kg.observe(np.ones(300), kg.normal(mu + state(mu), 1))
    with pytest.raises(kg.ModelError, match=text):
        kg.model(mu)


@pytest.mark.parametrize(
    ("state", "of", "advice"),
    [
        (
            lambda: kg.bernoulli(0.5, shape=4, name="z"),
            kg.sum,
            r"in place of z \(written.*\), write z_1 = kg.bernoulli\(...\), z_2 = .*, \.\.\.$",
        ),
        (
            lambda: kg.discrete_uniform(0, 9, shape=2, name="z"),
            lambda z: kg.sort(z)[0],
            r"z_1 = kg.discrete_uniform\(\.\.\.\), z_2 = kg.discrete_uniform\(\.\.\.\)$",
        ),
        (lambda: kg.bernoulli(0.5, shape=9, name="z"), kg.sum, "kg.markov_chain, or a loop"),
        # Single unknowns would have 9**8 combinations of values.
        (lambda: kg.discrete_uniform(0, 8, shape=8, name="z"), kg.sum, "kg.markov_chain"),
    ],
)
def test_what_depends_on_several_elements_at_once(state, of, advice):
    mu = kg.normal(0, 1, name="mu")
    kg.observe([1.0], kg.normal(mu + of(state()), 1))
    with pytest.raises(kg.ModelError, match=f"several elements of z at once.*{advice}"):
        kg.model(mu)


def test_what_depends_on_two_neighbours():
    mu = kg.normal(0, 1, name="mu")
    z = kg.bernoulli(0.5, shape=4, name="z")
    kg.observe([1.0, 0.0, 2.0], kg.normal(mu + z[1:] + 2.0 * z[:-1], 1))
    with pytest.raises(kg.ModelError, match="several elements of z at once"):
        kg.model(mu)


def test_arrays_are_summed_out_before_what_is_one_for_all():
    """Whichever was written first, and however many others it stands beside."""
    y = RNG.normal(size=3)
    mu = kg.normal(0, 1, name="mu")
    a = kg.bernoulli(0.3, shape=3, name="a")
    b = kg.bernoulli(0.6, shape=3, name="b")
    one = kg.bernoulli(0.5, name="one")
    kg.observe(y, kg.normal(mu + a + 2.0 * b, 1.0))
    kg.observe(y, kg.normal(mu * one + b, 2.0))

    def by_hand(u):
        each = []
        for s in range(2):
            total = np.log(0.5)
            for value in y:
                total += special.logsumexp(
                    [
                        np.log((0.7, 0.3)[i] * (0.4, 0.6)[j])
                        + stats.norm(u[0] + i + 2 * j, 1).logpdf(value)
                        + stats.norm(u[0] * s + j, 2).logpdf(value)
                        for i, j in product(range(2), repeat=2)
                    ]
                )
            each.append(total)
        return special.logsumexp(each) + stats.norm.logpdf(u[0])

    checked(kg.model(mu), by_hand, RNG.normal(size=(2, 1)))


def test_a_bound_that_depends_on_one():
    z = kg.bernoulli(0.5, name="z")
    x = kg.uniform(0.0, 1.0 + z, name="x")
    kg.observe([1.0], kg.normal(x, 1))
    with pytest.raises(kg.ModelError, match=r"a bound of x.* depends on the discrete unknown z"):
        kg.model(x)


def test_a_model_of_discrete_unknowns_alone():
    z = kg.bernoulli(0.5, name="z")
    kg.observe([1.0], kg.normal(1.0 * z, 1))
    with pytest.raises(kg.ModelError, match="all unknowns are discrete"):
        kg.model(z)


def of_two_levels():
    mu = kg.normal([-1.0, 1.0], 1.0, name="mu")
    z = kg.categorical([0.3, 0.7], shape=3, name="z")
    group = kg.data([0, 0, 1, 2], name="group")
    kg.observe([0.3, -0.2, 1.4, 0.1], kg.normal(mu[z[group]], 0.8), name="y")
    return mu, z, group


def test_values_are_given():
    mu, z, group = of_two_levels()
    model = kg.condition(kg.model(mu, z), z=[0, 1, 1])
    u = np.array([-0.5, 0.7])
    y, level = np.array([0.3, -0.2, 1.4, 0.1]), u[np.array([0, 1, 1])[group.node.value]]
    wanted = stats.norm(level, 0.8).logpdf(y).sum() + stats.norm([-1, 1], 1).logpdf(u).sum()
    assert model.log_prob(u) == pytest.approx(wanted + np.log(0.3 * 0.7 * 0.7), rel=1e-12)
    cut = kg.do(kg.model(mu, z), z=[0, 1, 1])
    assert cut.log_prob(u) == pytest.approx(wanted, rel=1e-12)


def test_other_data():
    mu, z, _ = of_two_levels()
    model = kg.model(mu, z)
    u = np.array([[-0.5, 0.7], [0.2, 0.1]])
    model.log_prob(u)
    model.set_data(y=[1.0, 1.0, 0.0, -1.0], group=[2, 1, 0, 0])
    found = model.log_prob(u)
    mu, z = kg.normal([-1.0, 1.0], 1.0, name="mu"), kg.categorical([0.3, 0.7], shape=3, name="z")
    kg.observe([1.0, 1.0, 0.0, -1.0], kg.normal(mu[z[np.array([2, 1, 0, 0])]], 0.8), name="y")
    np.testing.assert_allclose(found, kg.model(mu, z).log_prob(u), rtol=1e-12)


def test_terms_that_are_infinite_outside_the_support():
    y = RNG.normal(size=3)
    a, b = kg.normal(0, 1, name="a"), kg.normal(0, 1, name="b")
    low = np.array([1, 2, 1])
    z = kg.discrete_uniform(low, 3, name="z")
    kg.observe(y, kg.normal(a * kg.log(z - low + 1.0) + b * kg.log(z) + b / (z - low + 1.0), 1))

    def by_hand(u):
        total = stats.norm.logpdf(u).sum()
        for value, first in zip(y, low, strict=True):
            k = np.arange(first, 4)
            n = k - first + 1
            means = u[0] * np.log(n) + u[1] * np.log(k) + u[1] / n
            total += special.logsumexp(stats.norm(means, 1).logpdf(value)) - np.log(len(k))
        return total

    checked(kg.model(a, b), by_hand, RNG.normal(size=(3, 2)))


def test_many_numbers_below_the_support():
    a = kg.normal(0, 1, name="a")
    z = kg.discrete_uniform(30_000, 30_002, name="z")
    kg.observe(0.5, kg.normal(a + (z - 30_000), 1))

    def by_hand(u):
        means = u[0] + np.arange(3)
        each = special.logsumexp(stats.norm(means, 1).logpdf(0.5)) - np.log(3)
        return each + stats.norm.logpdf(u[0])

    checked(kg.model(a), by_hand, RNG.normal(size=(3, 1)))


def test_the_report_of_a_model():
    mu = kg.normal([-1.0, 1.0], 1.0, name="mu")
    z = kg.categorical([0.3, 0.7], shape=3, name="z")
    kg.observe([0.1, 0.2, -1.0], kg.normal(mu[z], 0.8))
    model = kg.model(mu, z)
    report = model.debug([0.3, 0.9])
    assert report.log_density == pytest.approx(model.log_prob([0.3, 0.9]), rel=1e-12)
    assert [t.name for t in report.terms] == ["mu", "z"]
    assert "marginalised" in str(report)
    assert report.first_bad is None


def test_a_chain_and_an_array_in_either_order():
    def model(chain_first):
        a = kg.normal(0, 1, name="a")
        if chain_first:
            s = kg.markov_chain([0.3, 0.7], [[0.9, 0.1], [0.2, 0.8]], 3, name="s")
        z = kg.bernoulli(0.3, shape=3, name="z")
        if not chain_first:
            s = kg.markov_chain([0.3, 0.7], [[0.9, 0.1], [0.2, 0.8]], 3, name="s")
        kg.observe([1.0, 2.0, 3.0], kg.normal(a * s + z, 1.0))
        return kg.model(a)

    def by_hand(u):
        start, step = [0.3, 0.7], [[0.9, 0.1], [0.2, 0.8]]
        total = 0.0
        for s in product((0, 1), repeat=3):
            p = start[s[0]] * step[s[0]][s[1]] * step[s[1]][s[2]]
            for z in product((0, 1), repeat=3):
                share = p * np.prod([0.3 if each else 0.7 for each in z])
                means = u[0] * np.array(s) + z
                total += share * np.prod(stats.norm(means, 1).pdf([1.0, 2.0, 3.0]))
        return np.log(total) + stats.norm.logpdf(u[0])

    for chain_first in (False, True):
        checked(model(chain_first), by_hand, np.array([[0.3]]))


def test_a_chain_of_probabilities_that_depend_on_a_discrete_unknown_is_refused():
    for of_start in (False, True):
        a, z = kg.normal(0, 1, name="a"), kg.bernoulli(0.3, name="z")
        shares = kg.where(z == 1, np.array([0.9, 0.1]), np.array([0.5, 0.5]))
        initial, transition = (
            (shares, np.full((2, 2), 0.5)) if of_start else ([0.5, 0.5], kg.stack([shares] * 2))
        )
        s = kg.markov_chain(initial, transition, 3, name="s")
        kg.observe([0.1, 0.5, 2.0], kg.normal(a + s, 1.0))
        with pytest.raises(
            kg.ModelError, match=r"chain s \(.*unknown z \(.*a loop with an unknown"
        ):
            kg.model(a)


@pytest.mark.parametrize("form", ["array", "loop", "branches"])
def test_a_side_that_is_not_taken_has_no_derivative(form):
    """The root of a negative number has an infinite slope, and is not used."""
    y = np.linspace(0.2, 2, 9)

    def mean(a, z):
        if form == "branches":
            return kg.cond(a > 0, lambda: kg.sqrt(a) + 0.3 * z, lambda: kg.exp(a) * z)
        return kg.where(a > 0, kg.sqrt(a) + 0.3 * z, kg.exp(a) * z)

    def build():
        a = kg.normal(0, 2)
        if form == "array":
            kg.observe(y, kg.normal(mean(a, kg.bernoulli(0.3, shape=9)), 1))
        else:
            for value in y:
                kg.observe(value, kg.normal(mean(a, kg.bernoulli(0.3)), 1))
        return a

    def expected(a):
        means = np.array([np.sqrt(a), np.sqrt(a) + 0.3] if a > 0 else [0.0, np.exp(a)])
        densities = stats.norm.pdf(y[:, None], means) @ [0.7, 0.3]
        return stats.norm.logpdf(a, 0, 2) + np.sum(np.log(densities))

    model = kg.model(build)
    for a in (-1.0, 0.8):
        quotient = (expected(a + 1e-5) - expected(a - 1e-5)) / 2e-5
        np.testing.assert_allclose(model.log_prob([a]), expected(a), rtol=1e-10)
        np.testing.assert_allclose(model.gradient([a]), [quotient], rtol=1e-6)
