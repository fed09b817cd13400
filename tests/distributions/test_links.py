"""Densities by an inverse link's result: as right as by the linear predictor itself."""

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest
from scipy import special, stats
from tests.distributions.references import (
    bernoulli_logit,
    binomial_by_logs,
    log_logistic,
    negative_binomial_by_logs,
)

import kinetograph as kg
from kinetograph.graph.lower import evaluate
from kinetograph.graph.node import Data
from kinetograph.graph.precision import x64
from kinetograph.models.term import Term

ETA = np.array([-800.0, -40.0, -8.3, -1.0, 0.3, 2.0, 5.0, 8.3, 37.0, 40.0, 700.0])
COUNTS = np.array([0, 3, 7])


def _log_ndtr(t):
    return mp.log1p(-mp.ncdf(-t)) if t > 0 else mp.log(mp.ncdf(t))


# Each link with the logarithms of the probability and of its complement.
LINKS = {
    "ilogit": (kg.ilogit, log_logistic, lambda t: log_logistic(-t)),
    "iprobit": (kg.iprobit, _log_ndtr, lambda t: _log_ndtr(-t)),
    "icloglog": (
        kg.icloglog,
        lambda t: mp.log(-mp.expm1(-mp.exp(t))),
        lambda t: -mp.exp(t),
    ),
    "icauchit": (
        kg.icauchit,
        lambda t: mp.log(mp.atan2(1, -t) / mp.pi),
        lambda t: mp.log(mp.atan2(1, t) / mp.pi),
    ),
    "complement": (lambda t: 1 - kg.ilogit(-t), log_logistic, lambda t: log_logistic(-t)),
}


def _cases():
    """By name: the distribution given the predictor, what is observed, and the truth."""
    for name, (link, log_p, log_q) in LINKS.items():
        yield (
            f"bernoulli({name})",
            (lambda t, link=link: kg.bernoulli(link(t))),
            np.array([0, 1]),
            lambda x, t, p=log_p, q=log_q: p(t) if x == 1 else q(t),
        )
        if name not in ("ilogit", "iprobit"):
            continue  # they take the same logarithms
        yield (
            f"binomial({name})",
            (lambda t, link=link: kg.binomial(7, link(t))),
            COUNTS,
            lambda x, t, p=log_p, q=log_q: binomial_by_logs(x, 7, p(t), q(t)),
        )
        yield (
            f"negative_binomial({name})",
            (lambda t, link=link: kg.negative_binomial(2.5, link(t))),
            COUNTS,
            lambda x, t, p=log_p, q=log_q: negative_binomial_by_logs(x, 2.5, p(t), q(t)),
        )

    def softmax(x, t):
        return (t, -t, mp.mpf(0))[int(x)] - mp.log(mp.exp(t) + mp.exp(-t) + 1)

    def poisson(x, t):
        return x * t - mp.exp(t) - mp.loggamma(x + 1)

    def log_share(t):
        return mp.log(mp.mpf(2.5) / (mp.mpf(2.5) + mp.exp(t)))

    def log_rest(t):
        return -mp.log1p(mp.mpf(2.5) * mp.exp(-t))

    def classes(t):
        return kg.stack([t, -t], -1)

    yield "poisson", lambda t: kg.poisson(kg.exp(t)), COUNTS, poisson
    yield (
        "poisson of exposure",
        lambda t: kg.poisson(2 * kg.exp(t)),
        COUNTS,
        lambda x, t: poisson(x, t + mp.log(2)),
    )
    yield (
        "negative_binomial of a mean",
        lambda t: kg.negative_binomial(2.5, 2.5 / (2.5 + kg.exp(t))),
        COUNTS,
        lambda x, t: negative_binomial_by_logs(x, 2.5, log_share(t), log_rest(t)),
    )
    yield (
        "exponential",
        lambda t: kg.exponential(kg.exp(t)),
        np.array([0.7]),
        lambda x, t: t - x * mp.exp(t),
    )
    yield (
        "gamma",
        lambda t: kg.gamma(2.0, kg.exp(t)),
        np.array([0.7]),
        lambda x, t: 2 * t - x * mp.exp(t) + mp.log(x),
    )
    yield (
        "categorical(softmax)",
        lambda t: kg.categorical(kg.softmax(kg.stack([t, -t, 0 * t], -1))),
        np.array([0, 1, 2]),
        softmax,
    )
    yield (
        "categorical(imultilogit)",
        lambda t: kg.categorical(kg.imultilogit(classes(t))),
        np.array([0, 1, 2]),
        softmax,
    )
    yield (
        "bernoulli(softmax of two)",
        lambda t: kg.bernoulli(kg.softmax(classes(t))[..., 0]),
        np.array([0, 1]),
        lambda x, t: bernoulli_logit(x, 2 * t),
    )


CASES = {name: rest for name, *rest in _cases()}


def term_of(make, predictor, observed):
    """The term of the log density of data, one row for each value observed."""
    y = np.broadcast_to(observed[:, None], (len(observed), *predictor.shape))
    distribution = make(predictor).node.distribution
    data = Data(np.array(y))
    distribution.target = data
    return Term(distribution), data


@pytest.fixture(scope="module")
def computed():
    """All values and derivatives, by one program."""
    eta = kg.placeholder(ETA.shape, name="eta")
    terms = [term_of(make, eta, observed) for make, observed, _ in CASES.values()]

    def run(predictor):
        results = []
        for term, data in terms:

            def elements(predictor, term=term, data=data):
                environment = {data: data.value}
                environment[eta.node] = predictor
                evaluate(term.needs(), environment)
                return term.elements(environment)

            values, pull = jax.vjp(elements, predictor)
            # Each row is told apart from the others.
            rows = jnp.eye(data.shape[0])[..., None] * jnp.ones(data.shape[1:])
            (slopes,) = jax.vmap(pull)(rows)
            results.append((values, slopes))
        return results

    with x64():
        results = jax.jit(run)(ETA)
    return dict(zip(CASES, jax.tree.map(np.asarray, results), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives(computed, name):
    _, observed, truth = CASES[name]
    values, slopes = computed[name]
    with mp.workdps(60):
        for i, x in enumerate(observed):
            for j, t in enumerate(ETA):
                x, t = mp.mpf(float(x)), mp.mpf(t)
                h = mp.mpf(10) ** -30
                below, value, above = (truth(x, t + k * h) for k in (-1, 0, 1))
                slope = (above - below) / (2 * h)
                for got, wanted in ((values[i, j], value), (slopes[i, j], slope)):
                    bound = 1e-10 * abs(float(wanted)) + 1e-13
                    assert abs(got - float(wanted)) <= bound, (x, t, got, float(wanted))


def gradient_program(model):
    """The program of a log density and its gradient, as text."""
    with x64():
        free = jax.ShapeDtypeStruct((model.free_size,), float)
        run = lambda free, values: model.bind(values).value_and_gradient(free)[:2]
        return jax.jit(run).lower(free, model.argument_values).compile().as_text()


def test_no_exponential_is_undone():
    """exp(eta) is used as it is, its logarithm never taken, however it was moved about."""
    eta = kg.normal(0, 1, shape=(4, 3), name="eta")
    rate = kg.exp(eta)
    moved = kg.stack([rate.T.reshape(-1)[np.array([3, 1, 2, 5])], rate[:, 1]])
    chosen = kg.where(moved > 1, moved, np.broadcast_to(rate[0, 0], (2, 4)))
    y = kg.data(np.arange(8).reshape(2, 4) + 1.0)
    kg.observe(y, kg.exponential(chosen))
    text = gradient_program(kg.model(eta))
    assert "exponential(" in text
    assert " log(" not in text
    plain = kg.normal(0, 1, shape=(2, 4), name="plain")
    y2 = kg.data(np.arange(8).reshape(2, 4) + 1.0)
    kg.observe(y2, kg.exponential(kg.exp(plain) + 0.1))
    assert " log(" in gradient_program(kg.model(plain))


def test_a_shifted_probability_takes_the_plain_path():
    a = kg.normal(0, 1, name="a")
    y = kg.data([0, 1, 1])
    kg.observe(y, kg.bernoulli(kg.ilogit(a) * 0.5 + 0.1))
    model = kg.model(a)
    p = 0.5 * special.expit(0.7) + 0.1
    wanted = stats.norm.logpdf(0.7) + np.log1p(-p) + 2 * np.log(p)
    assert float(model.log_prob([0.7])) == pytest.approx(wanted, rel=1e-12)


def test_unknowns_give_their_free_state():
    """Probabilities that round to 1, rates that round to 0, where the free state says more."""
    p, rate = kg.beta(2, 3, name="p"), kg.gamma(2, 3, name="rate")
    weights = kg.dirichlet([1.0, 2.0, 3.0], name="weights")
    x, times, label = kg.data([0, 1]), kg.data([0.5]), kg.data([2])
    kg.observe(x, kg.bernoulli(p))
    kg.observe(times, kg.exponential(rate))
    kg.observe(label, kg.categorical(weights))
    model = kg.model(p, rate, weights)
    free = np.array([800.0, -800.0, -760.0, 5.0])
    # p(u) = (2 + 1) log(x) + (3 + 1) log(1 - x), with the Jacobian x (1 - x)
    assert model.gradient(free)[0] == pytest.approx(-4.0, rel=1e-12)
    assert model.gradient(free)[1] == pytest.approx(3.0, rel=1e-12)
    assert np.isfinite(model.log_prob(free))
    assert np.isfinite(model.gradient(free)).all()


def regression():
    """A model, a grid of points, and the log posterior there by hand, but for a constant."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=200) * 2
    outcome = (rng.random(200) < -np.expm1(-np.exp(0.5 + 1.5 * x))).astype(int)
    b0, b1 = kg.normal(0, 10, name="b0"), kg.normal(0, 10, name="b1")
    y = kg.data(outcome)
    kg.observe(y, kg.bernoulli(kg.icloglog(b0 + b1 * kg.data(x))))
    grid0, grid1 = np.meshgrid(np.linspace(-0.6, 1.8, 121), np.linspace(0.6, 3.2, 131))
    w = np.exp(grid0[..., None] + grid1[..., None] * x)
    by_hand = np.where(outcome == 1, np.log(-np.expm1(-w) + 1e-320), -w).sum(-1)
    by_hand -= 0.5 * (grid0**2 + grid1**2) / 100
    points = np.stack([grid0, grid1], -1)
    return kg.model(b0, b1), points, by_hand


def test_density_of_a_complementary_log_log_regression():
    model, points, by_hand = regression()
    log_p = model.log_prob(points)
    np.testing.assert_allclose(log_p - log_p.max(), by_hand - by_hand.max(), atol=1e-8)
    assert np.isfinite(model.gradient(points.reshape(-1, 2))).all()


@pytest.mark.slow
def test_posterior_of_a_complementary_log_log_regression():
    """Against the posterior by quadrature on a grid: no step is lost to a NaN."""
    model, points, by_hand = regression()
    grid1 = points[..., 1]
    mass = np.exp(by_hand - by_hand.max())
    mass /= mass.sum()
    mean = (mass * grid1).sum()
    sd = np.sqrt((mass * (grid1 - mean) ** 2).sum())
    run = kg.mcmc(model, draws=500, warmup=300, chains=2, seed=1, progress=False)
    draws = run["posterior"]["b1"].to_numpy()
    assert int(run["sample_stats"]["diverging"].sum()) == 0
    # 1000 draws of an effective size above 100: six standard errors.
    assert abs(draws.mean() - mean) < 0.6 * sd
    assert 0.6 < draws.std() / sd < 1.6


SURE = {
    "bernoulli": (kg.bernoulli, [0, 1], [0.0, 1.0], (kg.ilogit, kg.iprobit)),
    "binomial": (lambda p: kg.binomial(10, p), [0, 3, 10], [0.0, 1.0], (kg.ilogit, kg.iprobit)),
    "binomial of many": (
        lambda p: kg.binomial(20_000, p),
        [0, 300, 20_000],
        [0.0, 1.0],
        (kg.ilogit,),
    ),
    "negative_binomial": (
        lambda p: kg.negative_binomial(2.0, p),
        [0, 3],
        [0.0, 1.0],
        (kg.ilogit, kg.iprobit),
    ),
    "poisson": (kg.poisson, [0, 3], [0.0], (kg.exp,)),
}


@pytest.mark.parametrize(
    "name",
    [n if not n.startswith("binomial") else pytest.param(n, marks=pytest.mark.slow) for n in SURE],
)
def test_what_is_certain_stands_beside_what_is_linked(name):
    """Probabilities and rates that are 0 or 1 in some places, by the plain formula in these."""
    make, outcomes, bounds, links = SURE[name]
    t = kg.placeholder((3,), name="t")
    seen, known = np.array(outcomes)[:, None], np.array([bounds[0], bounds[-1], 0.5])
    outputs, truth = [], []
    for link in links:
        mixed = kg.log_density(make(kg.where(t > 0, link(t), known)), seen)
        assert len(mixed.node.attributes["forms"]) > 0
        plain = kg.log_density(make(kg.concatenate([known[:2], link(t[2:]) + 0.0])), seen)
        outputs += [mixed, kg.gradients(mixed[:, 2].sum(), t)]
        truth += [plain, kg.gradients(plain[:, 2].sum(), t)]
    found = kg.compile([t], [*outputs, *truth])([-1.0, -1.0, 0.5])
    for ours, theirs in zip(found, found[len(outputs) :], strict=False):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


def test_a_model_of_certain_outcomes():
    a = kg.normal(0, 1, name="a")
    p = kg.where(np.array([True, False, False]), kg.ilogit(a), np.array([0.5, 0.0, 1.0]))
    kg.observe(kg.data([1, 0, 1], name="y"), kg.bernoulli(p))
    model = kg.model(a)
    prior = -0.5 * np.log(2 * np.pi)
    assert float(model.log_prob([0.0])) == pytest.approx(prior - np.log(2), rel=1e-12)
    assert float(model.gradient([0.0])[0]) == pytest.approx(0.5, rel=1e-12)


def test_derivatives_by_rates_that_are_quotients_of_what_overflows():
    t = kg.placeholder((), name="t")
    outputs = []
    for make in (kg.exponential, lambda rate: kg.gamma(2.0, rate)):
        for rate in (1 / kg.exp(t), 2 * (1 / kg.exp(t)) ** 2):
            y = kg.log_density(make(rate), 3.0)
            outputs += [kg.gradients(y, t), kg.hessian(y, t)]
    f = kg.compile([t], outputs)
    np.testing.assert_array_equal(f(720.0), [-1, 0, -2, 0, -2, 0, -4, 0])
    powers = (1, 3 * np.exp(-1.5)), (2, 6 * np.exp(-3.0))  # of exp(t), and 3 times the rate
    wanted = [[a * c - a * s, -a * a * c] for s in (1, 2) for a, c in powers]
    np.testing.assert_allclose(f(1.5), np.ravel(wanted), rtol=1e-12)


def test_second_derivatives_by_what_both_have_a_known_logarithm():
    logs = kg.placeholder((2,), name="logs")
    x, rate = kg.exp(logs[0]), kg.exp(logs[1])
    densities = [kg.log_density(make(2.5, rate), x) for make in (kg.gamma, kg.inverse_gamma)]
    by_gamma, by_inverse = kg.compile([logs], [kg.hessian(y, logs) for y in densities])([0.4, 0.3])
    np.testing.assert_allclose(by_gamma, -np.exp(0.7) * np.ones((2, 2)), rtol=1e-12)
    np.testing.assert_allclose(by_inverse, -np.exp(-0.1) * np.array([[1, -1], [-1, 1]]), rtol=1e-12)


@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_rate_that_overflows_is_impossible(count):
    rate, log_rate = kg.placeholder((), name="rate"), kg.placeholder((), name="log_rate")
    by_rate = kg.log_density(kg.poisson(rate), count)
    by_log = kg.log_density(kg.poisson(log_rate=log_rate), count)
    assert kg.compile([rate], by_rate)(np.inf) == -np.inf
    for extreme in (np.inf, 1e300, 800.0):
        value, slope = kg.compile([log_rate], [by_log, kg.gradients(by_log, log_rate)])(extreme)
        assert value == slope == -np.inf


@pytest.mark.parametrize("log_rate", [-30.0, -300.0, -800.0])
def test_counts_that_are_not_zero_of_a_tiny_rate_are_one(log_rate):
    x = kg.placeholder((), name="x")
    for count, want, slope in ((0, np.log(0.2), 0.0), (1, np.log(0.8), 0.0)):
        density = kg.log_density(kg.hurdle_poisson(0.2, kg.exp(x)), count)
        found = kg.compile([x], [density, kg.gradients(density, x)])(log_rate)
        np.testing.assert_allclose(found, [want, slope], rtol=1e-12, atol=1e-12)
    density = kg.log_density(kg.hurdle_poisson(0.2, kg.exp(x)), 2)
    found = kg.compile([x], [density, kg.gradients(density, x)])(log_rate)
    np.testing.assert_allclose(found, [np.log(0.8) + log_rate - np.log(2), 1.0], rtol=1e-12)


@pytest.mark.parametrize("x", [0, 1, 4])
@pytest.mark.parametrize("eta", [-800.0, -40.0, 0.3, 5.0, 800.0])
def test_counts_with_many_zeros_by_the_logarithm_of_a_rate_or_mean(eta, x):
    """The density is that of the exponential, and exact where this overflows or is rounded to 0."""
    zero, at = 0.2, kg.placeholder((), name="eta")
    with np.errstate(over="ignore"):
        rate = np.exp(eta)
    cases = [
        (kg.zero_inflated_poisson, kg.hurdle_poisson, "log_rate", {}, x * eta - rate),
        (
            kg.zero_inflated_negative_binomial,
            kg.hurdle_negative_binomial,
            "log_mean",
            {"size": 1.0},  # a geometric number
            x * special.log_expit(eta) + special.log_expit(-eta),
        ),
    ]
    for inflated, hurdle, word, more, log_f in cases:
        log_f = log_f - special.gammaln(x + 1) if word == "log_rate" else log_f
        log_none = -rate if word == "log_rate" else special.log_expit(-eta)
        log_some = np.log1p(-np.exp(log_none)) if eta > -30 else eta
        wants = (
            np.logaddexp(np.log(zero), np.log1p(-zero) + log_f) if x == 0 else np.log(0.8) + log_f,
            np.log(zero) if x == 0 else np.log(0.8) + log_f - log_some,
        )
        for make, want in zip((inflated, hurdle), wants, strict=True):
            density = kg.log_density(make(zero, **{word: at}, **more), x)
            found = kg.compile([at], density)(eta)
            np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-12, err_msg=str(make))
            with pytest.raises(
                TypeError, match=r"give (one of rate= and log_rate=|size= and prob)"
            ):
                make(zero, **{word: at}, **{word.removeprefix("log_"): 1.0}, **more)


@pytest.mark.parametrize(
    ("make", "law"),
    [
        (kg.zero_inflated_poisson, lambda x, r: 0.2 * (x == 0) + 0.8 * stats.poisson.pmf(x, r)),
        (
            kg.hurdle_poisson,
            lambda x, r: np.where(x == 0, 0.2, 0.8 * stats.poisson.pmf(x, r) / -np.expm1(-r)),
        ),
    ],
)
def test_counts_with_many_zeros_by_log_rate_against_scipy(make, law):
    log_rate, x = np.array([-1.3, 0.4, 2.0]), np.array([[0], [1], [3]])
    found = kg.compile([], kg.log_density(make(0.2, log_rate=log_rate), x))()
    np.testing.assert_allclose(found, np.log(law(x, np.exp(log_rate))), rtol=1e-12)
    drawn = kg.calculate(make(0.2, log_rate=0.4, name="x"), draws=2000, seed=1)
    shares = np.bincount(np.ravel(drawn["x"]).astype(int), minlength=4)[:4] / 2000
    np.testing.assert_allclose(shares, law(np.arange(4), np.exp(0.4)), atol=0.05)


def test_slopes_of_counts_with_many_zeros_where_the_rate_overflows():
    """An observed 0 says nothing more of the rate; another count is impossible, as of a Poisson."""
    eta, chance = kg.placeholder(name="eta"), kg.placeholder(name="chance")
    terms = [
        kg.log_density(make(zero, kg.exp(eta)), count)
        for make in (kg.zero_inflated_poisson, kg.hurdle_poisson)
        for zero in (chance, kg.ilogit(chance))
        for count in (0, 3)
    ]
    outputs = [part for term in terms for part in (term, *kg.gradients(term, [eta, chance]))]
    f = kg.compile([eta, chance], outputs)
    for at in (705.0, 709.5, 720.0, 1000.0):
        rows = np.reshape(f(at, 0.3), (8, 3))
        plain, linked = (np.log(0.3), 0.0, 1 / 0.3), (np.log(special.expit(0.3)), 0.0)
        np.testing.assert_allclose(rows[[0, 4]], [plain] * 2, rtol=1e-12)
        np.testing.assert_allclose(rows[[2, 6], :2], [linked] * 2, rtol=1e-12)
        np.testing.assert_allclose(rows[[2, 6], 2], special.expit(-0.3), rtol=1e-12)
        rate = np.exp(at) if at < 709.7 else np.inf
        np.testing.assert_allclose(rows[1::2, :2], -rate, rtol=1e-12)
