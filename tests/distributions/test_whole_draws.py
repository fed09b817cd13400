"""Whole numbers, booleans and orders: laws, edges, and that an element depends on its place."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from tests.distributions.cases.wholes import WHOLES
from tests.distributions.drawing import GENERATORS, LEVEL, SIZE, draw, make_source
from tests.selection import thinned

from kinetograph.distributions.family import FAMILIES
from kinetograph.graph.precision import x64
from kinetograph.streams.orders import permutation

DTYPES = [np.float64, np.float32]


def fit(x: np.ndarray, law) -> float:
    """p of a chi-square test, neighbouring values pooled to cells of at least 20 expected."""
    low, high = int(law.ppf(1e-12)), int(law.isf(1e-12))
    step = max(1, (high - low) // 2000)
    edges = np.arange(low - 1, high + 1 + step, step)
    expected = np.diff(law.cdf(edges), prepend=0.0, append=1.0) * len(x)
    observed = np.bincount(np.searchsorted(edges, x), minlength=len(expected))
    group = np.floor(np.cumsum(expected) / 20).astype(int)
    group = np.minimum(group, group[-1] - 1) if group[-1] > 0 else group
    e, o = np.bincount(group, expected), np.bincount(group, observed)
    keep = e > 0
    assert not o[~keep].any()
    return stats.chisquare(o[keep], e[keep] * o.sum() / e.sum()).pvalue if keep.sum() > 1 else 1.0


LAWS = [(name, p, case.law(*p)) for name, case in WHOLES.items() for p in case.draws]


@pytest.mark.parametrize("dtype", thinned(DTYPES, 2))
@pytest.mark.parametrize(("name", "parameters", "law"), thinned(LAWS, 2))
def test_law(name, parameters, law, dtype):
    exact = [np.asarray(p, dtype) if np.asarray(p).dtype.kind == "f" else p for p in parameters]
    if dtype == np.float32 and name in ("poisson", "binomial"):
        # The law of the rounded parameters.
        law = {"poisson": stats.poisson, "binomial": stats.binom}[name](*map(float, exact))
    x = draw(name, *parameters, dtype=dtype)
    assert x.dtype == (np.bool_ if name.startswith("bernoulli") else np.int64)
    assert x.shape == (100_000,)
    x = x.astype(np.int64)
    assert fit(x, law) > LEVEL
    assert abs(x.mean() - law.mean()) < 5 * law.std() / np.sqrt(len(x))
    squares = (x - law.mean()) ** 2
    assert abs(squares.mean() - law.var()) < 5 * squares.std() / np.sqrt(len(x))


def test_the_law_test_can_fail():
    x = draw("poisson", 10.0)
    assert fit(x, stats.poisson(10.2)) < LEVEL
    assert fit(x + (np.arange(len(x)) % 10 == 0), stats.poisson(10.0)) < LEVEL
    assert fit(draw("binomial", 100, 0.7), stats.binom(100, 0.705)) < LEVEL
    # A normal number in place of a Poisson one.
    z = np.rint(draw("normal", 123.4, np.sqrt(123.4))).astype(int)
    assert fit(z, stats.poisson(123.4)) < LEVEL
    # Remainders without rejection are biased.
    counts = 100 * np.bincount(np.arange(2**16) % 40000)
    assert stats.chisquare(counts).pvalue < LEVEL


@pytest.mark.parametrize("dtype", DTYPES)
def test_bernoulli_is_exact_at_the_ends(dtype):
    for number in range(10):
        assert not draw("bernoulli", 0.0, dtype=dtype, event=(number, 0)).any()
        assert draw("bernoulli", 1.0, dtype=dtype, event=(number, 0)).all()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", thinned(DTYPES[::-1], 2))
def test_rare_events(dtype):
    """24 bits could not tell 1e-7 from 1.2e-7."""
    total = sum(
        int(draw("bernoulli", 1e-7, shape=10_000_000, dtype=dtype, event=(e, 0)).sum())
        for e in range(10)
    )
    assert 0.001 < stats.poisson(10).cdf(total) < 0.999


@pytest.mark.parametrize(
    ("name", "parameters", "value"),
    [
        ("poisson", (0.0,), 0),
        ("binomial", (0, 0.3), 0),
        ("binomial", (0, 1.0), 0),
        ("binomial", (50, 0.0), 0),
        ("binomial", (50, 1.0), 50),
        ("binomial", (10**12, 1.0), 10**12),
        ("integers", (5, 6), 5),
        ("discrete_uniform", (5, 5), 5),
        ("geometric", (1.0,), 0),
        ("hypergeometric", (7, 0, 3), 3),
        ("hypergeometric", (0, 7, 3), 0),
        ("hypergeometric", (5, 7, 12), 5),
        ("zero_inflated_poisson", (1.0, 3.0), 0),
        ("hurdle_poisson", (0.0, 1e-9), 1),
        ("integers", (-(2**63), -(2**63) + 1), -(2**63)),
        ("categorical", (np.array([0.0, 0.0, 2.0, 0.0]),), 2),
        ("categorical", (np.array([1.0]),), 0),
        ("negative_binomial", (2.5, 1.0), 0),
    ],
)
def test_certain_numbers(name, parameters, value):
    assert (draw(name, *parameters) == value).all()


@pytest.mark.parametrize(
    ("name", "parameters", "value"),
    [
        ("poisson", (-1.0,), -1),
        ("poisson", (np.nan,), -1),
        ("poisson", (np.inf,), -1),
        ("binomial", (-1, 0.5), -1),
        ("binomial", (5, 1.5), -1),
        ("binomial", (5, np.nan), -1),
        ("categorical", (np.array([0.5, -0.5]),), -1),
        ("categorical", (np.array([0.0, 0.0]),), -1),
        ("categorical", (np.array([0.5, np.nan]),), -1),
        ("bernoulli", (np.nan,), False),
        ("bernoulli_logit", (np.nan,), False),
        ("binomial_logit", (5, np.nan), -1),
        ("poisson_log_rate", (np.nan,), -1),
        ("geometric", (0.0,), -1),
        ("geometric", (1.5,), -1),
        ("discrete_uniform", (5, 4), -(2**63)),
        ("beta_binomial", (5, 0.0, 1.0), -1),
        ("beta_binomial", (-5, 1.0, 1.0), -1),
        ("hypergeometric", (3, 2, 6), -1),
        ("negative_binomial_mean", (-1.0, 0.5), -1),
        ("zero_inflated_poisson", (1.5, 2.0), -1),
        ("zero_inflated_poisson", (0.5, -2.0), -1),
        ("hurdle_poisson", (np.nan, 2.0), -1),
        ("hurdle_negative_binomial", (0.5, 0.0, 0.5), -1),
        ("ordered_logistic", (0.0, np.array([1.0, 0.5])), -1),
        ("ordered_probit", (np.nan, np.array([0.5, 1.0])), -1),
        ("negative_binomial", (0.0, 0.5), -1),
        ("negative_binomial", (2.0, 0.0), -1),
        ("negative_binomial", (2.0, 1.5), -1),
        ("integers", (3, 3), -(2**63)),
    ],
)
def test_impossible_parameters(name, parameters, value):
    assert (draw(name, *parameters) == value).all()


def test_huge_numbers():
    x = draw("poisson", 1e15, shape=100_000)
    assert stats.kstest((x - 1e15) / np.sqrt(1e15), "norm").pvalue > LEVEL
    x = draw("binomial", 10**15, 0.3, shape=100_000)
    z = (x - 3e14) / np.sqrt(1e15 * 0.21)
    assert stats.kstest(z, "norm").pvalue > LEVEL
    x = draw("integers", -(2**63), 2**63 - 1)
    assert stats.kstest((x / 2.0**64) + 0.5, "uniform").pvalue > LEVEL
    assert np.bincount(x & 1).min() > 49_000
    # Half of all attempts are refused here.
    x = draw("integers", -(2**62), 2**62 + 1)
    assert stats.kstest((x / 2.0**63) + 0.5, "uniform").pvalue > LEVEL


def test_low_ends_of_unequal_intervals():
    low, width = (np.resize(values, SIZE) for values in ([0, 10, -5], [1, 2, 3]))
    x = draw("integers", low, low + width)
    assert [set(x[i::3].tolist()) for i in range(3)] == [{0}, {10, 11}, {-5, -4, -3}]


def test_classes_in_rows():
    p = np.array([[0.2, 0.8, 0.0], [0.0, 0.5, 0.5]])
    x = draw("categorical", p, shape=(50_000, 2))
    for i in range(2):
        law = stats.rv_discrete(values=(range(3), p[i]))
        assert fit(x[:, i], law) > LEVEL
    assert np.array_equal(x[:, 0], draw("categorical", p[[0, 0]], shape=(50_000, 2))[:, 0])


# Orders -----------------------------------------------------------------------------------------


def test_all_permutations_are_equally_likely():
    x = draw("permutation", shape=(60_000, 4))
    orders = {order: i for i, order in enumerate(itertools.permutations(range(4)))}
    counts = np.bincount([orders[tuple(row)] for row in x.tolist()], minlength=24)
    assert stats.chisquare(counts).pvalue > LEVEL


@pytest.mark.parametrize("n", [0, 1, 2, 1000])
def test_permutations_are_permutations(n):
    x = draw("permutation", shape=n)
    assert x.dtype == np.int64
    assert np.array_equal(np.sort(x), np.arange(n))


class _Words:
    """A source of given words."""

    def __init__(self, words):
        self.shape, self._given = words[0].shape, words

    def words(self, attempt=0):
        return self._given


def test_words_alike_in_their_upper_bits_are_ordered_by_the_lower_ones():
    n = 1100
    rng = np.random.default_rng(2)
    words = [rng.integers(0, high, (2, n), np.uint32) for high in (1, 2**8, 4, 2**32)]
    keys = [w.astype(np.uint64) for w in words]
    order = np.lexsort((keys[2] << 32 | keys[3], keys[0] << 32 | keys[1]))
    with x64():
        found = jax.jit(lambda *words: permutation(_Words(words)))(*words)
    assert np.array_equal(found, order)


def test_weighted_permutations():
    p = np.array([0.5, 0.3, 0.2, 0.0])
    x = draw("weighted_permutation", p, shape=(60_000, 4))
    assert (x[:, 3] == 3).all()
    orders = list(itertools.permutations(range(3)))
    expected = [p[a] * p[b] / (1 - p[a]) for a, b, _ in orders]
    place = {order: i for i, order in enumerate(orders)}
    counts = np.bincount([place[tuple(row)] for row in x[:, :3].tolist()], minlength=6)
    assert stats.chisquare(counts, np.array(expected) * len(x)).pvalue > LEVEL
    assert (draw("weighted_permutation", -p, shape=(60_000, 4)) == -1).all()


# Elements and derivatives -----------------------------------------------------------------------

VARIED = {
    "poisson": (np.array([0.0, 0.5, 9.0, 10.0, 1e6]),),
    "binomial": (np.array([0, 10, 100, 1000, 10**6]), np.array([0.5, 0.9, 0.05, 0.5, 0.9])),
    "integers": (np.array([0, -5, 0, 3, -(2**62)]), np.array([7, 5, 2, 4, 2**62 + 1])),
    "bernoulli": (np.array([0.0, 0.1, 0.5, 0.9, 1.0]),),
}


@pytest.mark.parametrize("name", VARIED)
def test_an_element_does_not_depend_on_its_neighbours(name):
    parameters = [np.resize(p, SIZE) for p in VARIED[name]]
    whole = draw(name, *parameters)
    for i in (66, SIZE - 1):
        others = [np.where(np.arange(SIZE) == i, p, p[::-1]) for p in parameters]
        assert draw(name, *others)[i] == whole[i]


@pytest.mark.parametrize("name", thinned(VARIED, 4))
def test_an_element_does_not_depend_on_how_many_follow(name):
    parameters = [np.resize(p, SIZE) for p in VARIED[name]]
    short = draw(name, *(p[:7] for p in parameters), shape=7)
    assert np.array_equal(short, draw(name, *parameters)[:7])


@pytest.mark.parametrize("name", thinned(["bernoulli", "poisson", "binomial", "integers"], 4))
def test_precision_of_the_parameters_does_not_change_the_bits(name):
    parameters = (0.5,) if name == "bernoulli" else (4.0,)
    parameters = {"binomial": (40, 0.5), "integers": (0, 9)}.get(name, parameters)
    single, double = (draw(name, *parameters, dtype=d) for d in DTYPES)
    assert np.array_equal(single, double)


@pytest.mark.parametrize("name", thinned(["poisson", "binomial", "categorical", "bernoulli"], 4))
def test_there_are_no_derivatives_and_no_errors(name):
    def program(p):
        value = {
            "poisson": (20 * p,),
            "categorical": (jnp.stack([p, 1 - p]),),
            "binomial": (50, p),
        }.get(name, (p,))
        return jnp.sum(p * GENERATORS[name].draw(make_source(20), *value))

    with x64():
        p = jnp.float64(0.3)
        (value, slope), (_, forward) = jax.jit(
            lambda p: (jax.value_and_grad(program)(p), jax.jvp(program, (p,), (jnp.ones_like(p),)))
        )(p)
    np.testing.assert_allclose([slope, forward], value / 0.3)


def test_every_discrete_sampler_is_tested():
    tested = {name for name, *_ in LAWS} | {"permutation", "weighted_permutation"}
    tested |= {"multinomial", "dirichlet_multinomial", "markov_chain"}  # of vectors
    assert tested == {name for name, s in GENERATORS.items() if s.dtype is not None}


@pytest.mark.parametrize("prob", [[0.0, 0.0, 1.0, 1.0], [[0.0, 0.25, 0.75]] * 2])
def test_a_class_of_probability_0_is_not_drawn_at_the_least_bits_either(prob):
    class Least:
        """A source whose bits are all 0."""

        shape = np.shape(prob)[:-1]

        def words(self, attempt=0):
            return (np.zeros(self.shape, np.uint32),) * 4

    with x64():
        drawn = FAMILIES["categorical"].draw(Least(), np.array(prob))
    first = np.argmax(np.array(prob) > 0, axis=-1)
    np.testing.assert_array_equal(drawn, first)
