"""Parameters that are impossible: refused where they are known, else never a plausible number."""

import numpy as np
import pytest
from tests.distributions.cases import wrong as wrong_values
from tests.distributions.cases.every import CASES
from tests.selection import thinned

import kinetograph as kg
from kinetograph.streams.methods import METHODS as OFFERED

# The methods, and of each parameter a possible value and impossible ones.
METHODS = {name: case.parameters for name, case in CASES.items() if case.parameters}
LEAST = np.iinfo(np.int64).min
IMPOSSIBLE = {"bernoulli": False, "integers": LEAST, "discrete_uniform": LEAST}


def test_every_method_is_here():
    assert set(METHODS) == set(OFFERED) - {"permutation", "choice"}


@pytest.mark.parametrize("name", METHODS)
def test_known_parameters_are_refused_by_name(name):
    rng = kg.placeholder((6,), dtype="uint32", name="rng")
    for key, (_, wrong) in METHODS[name].items():
        for bad in wrong:
            values = {k: possible for k, (possible, _) in METHODS[name].items()} | {key: bad}
            with np.errstate(invalid="ignore"), pytest.raises(ValueError) as raised:
                kg.streams.draw(name, rng, *values.values())
            text = str(raised.value)
            assert text.startswith(f"{name}: "), text
            assert key in text, text
            assert "test_parameters.py" in text, text


# Cheap to compile; the others take a second or more each.
QUICK = ("uniform", "normal", "exponential", "bernoulli")


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in METHODS]
)
def test_parameters_known_late_give_no_plausible_number(name):
    """Each row of a batch has one wrong parameter; the first row has none."""
    parameters = METHODS[name]
    rows = [{key: possible for key, (possible, _) in parameters.items()}]
    wrong = [(key, bad) for key, (_, some) in parameters.items() for bad in some]
    rows += [rows[0] | {key: bad} for key, bad in wrong if bad not in wrong_values.HUGE]
    # Often: a few vectors would be unrolled, and take longest to compile.
    values = {key: np.array([row[key] for row in rows] * 100) for key in parameters}
    given = {k: kg.placeholder(v.shape, v.dtype, name=k) for k, v in values.items()}
    rng = kg.placeholder((6,), dtype="uint32", name="rng")
    _, drawn = kg.streams.draw(name, rng, *given.values())
    state = kg.streams.new_state(5)
    result = kg.compile([rng, *given.values()], drawn)(state, *values.values())
    assert len(result) == 100 * len(rows)
    impossible = np.isnan(result) if result.dtype.kind == "f" else None
    if impossible is None:
        impossible = result == IMPOSSIBLE.get(name, -1)
    impossible = impossible.reshape(100, len(rows), -1)
    assert impossible[:, 1:].all(), result
    if name != "bernoulli":
        assert not impossible[:, 0].any(), result


def test_numbers_without_sign_that_64_bits_with_sign_cannot_hold():
    low, high = (kg.placeholder((3,), "uint64", name=name) for name in ("low", "high"))
    r = kg.RandomStreams(1)
    drawn = [r.integers(low, high), r.binomial(low, 0.0)]
    ends = np.array([1, 1, 2**63], np.uint64), np.array([2, 2**63, 2**63 + 9], np.uint64)
    between, successes = kg.compile([low, high], drawn)(*ends)
    least = IMPOSSIBLE["integers"]
    assert between.tolist() == [1, least, least]
    assert successes.tolist() == [0, 0, -1]


@pytest.mark.parametrize(
    ("write", "kind", "text"),
    [
        (lambda r: r.choice(np.array([10.0, 20.0]), 8, p=[0.1, 0.1, 0.8]), ValueError, "p must"),
        (lambda r: r.choice(3, 8, p=[0.1, 0.9]), ValueError, "p must be one probability"),
        (lambda r: r.choice(2, 8, p=[[0.5, 0.5]]), ValueError, "p must be one probability"),
        (lambda r: r.choice(2, 8, p=0.5), ValueError, "p must be one probability"),
        (lambda r: r.choice(2, 8, p=[0.5, 0.5001]), ValueError, "p must sum to 1, got a sum of 1."),
        (lambda r: r.choice(2, 8, p=[-0.1, 1.1]), ValueError, "p must be non-negative"),
        (lambda r: r.choice(2, 8, p=[np.nan, 1.0]), ValueError, "p must be non-negative"),
        (lambda r: r.choice(4, 3, replace=False, p=[0.5, 0.5, 0, 0]), ValueError, "only 2 of p"),
        (lambda r: r.choice(2, 3, replace=False), ValueError, "3 of 2"),
        (lambda r: r.choice(0, 8), ValueError, "x is empty"),
        (lambda r: r.choice(np.zeros((0, 3)), 2), ValueError, "x is empty"),
        (lambda r: r.choice(-3, 8), ValueError, "x must be a whole number"),
        (lambda r: r.choice(2.5, 8), ValueError, "x must be a whole number"),
        (lambda r: r.choice(True, 8), ValueError, "x must be a whole number"),
        (lambda r: r.permutation(-1), ValueError, "x must be a whole number"),
        (lambda r: r.permutation(2.5), ValueError, "x must be a whole number"),
        (lambda r: r.permutation(kg.placeholder(dtype=int, name="n")), ValueError, "x n is"),
        (lambda r: r.uniform(-1e308, 1e308), ValueError, "max - min must be finite"),
        (lambda r: r.integers(0, 2**63), ValueError, "high must be"),
        (lambda r: r.integers(0, 2**64), TypeError, "high"),
        (lambda r: r.integers(0.0, 5.0), TypeError, "low 0 must be whole"),
        (lambda r: r.binomial(2.5, 0.5), TypeError, r"size 2\.5 must be whole"),
        (lambda r: r.normal(0.0, 1e300, dtype="float32"), ValueError, r"1e\+300 \(float32\)"),
        (lambda r: r.normal(dtype=int), TypeError, "dtype must be"),
        (lambda r: r.normal(dtype="float16"), TypeError, "dtype must be"),
        (lambda r: r.normal(1j), TypeError, "mean"),
        (lambda r: r.multivariate_normal([0, 0], [1, 1]), ValueError, "cov .* must be a square"),
        (lambda r: r.multivariate_normal([0, 0], np.eye(3)), ValueError, "does not fit a 3 x 3"),
        (lambda r: r.dirichlet([]), ValueError, "alpha"),
        (lambda r: r.categorical([]), ValueError, "at least one category"),
        (lambda r: r.beta([1.0, 2.0], [1.0, 2.0, 3.0]), ValueError, "do not fit together"),
    ],
)
def test_what_cannot_be_drawn(write, kind, text):
    with pytest.raises(kind, match=text):
        write(kg.RandomStreams(1))


def test_nothing_of_nothing():
    r = kg.RandomStreams(1)
    empty = [r.permutation(0), r.choice(0, 0), r.choice(0, (0, 2)), r.choice(3, 0, p=[1.0, 0, 0])]
    shapes = [x.shape for x in kg.compile([], empty)()]
    assert shapes == [(0,), (0,), (0, 2), (0,)]


def test_probabilities_known_late():
    r = kg.RandomStreams(1)
    p = kg.placeholder((3,), name="p")
    floats, whole = np.array([1.0, 2.0, 3.0]), np.array([[1, 1], [2, 2], [3, 3]])
    f = kg.compile(
        p,
        [
            r.choice(floats, 4, p=p),
            r.choice(whole, 4, p=p),
            r.choice(3, 4, p=p),
            r.choice(floats, 2, replace=False, p=p),
        ],
    )
    real, rows, places, distinct = f([0.5, 0.5, 0.0])
    assert set(real) <= {1.0, 2.0}
    assert set(np.ravel(rows)) <= {1, 2}
    assert set(places) <= {0, 1}
    assert sorted(distinct) == [1.0, 2.0]
    for bad in ([0.5, 0.6, 0.0], [0.0, 0.0, 0.0], [-0.5, 1.0, 0.5], [np.nan, 0.5, 0.5]):
        real, rows, places, distinct = f(bad)
        assert np.isnan(real).all()
        assert (rows == -1).all()
        assert (places == -1).all()
        assert np.isnan(distinct).all()
    # Two are wanted, and one can be had.
    assert np.isnan(f([0.0, 1.0, 0.0])[3]).tolist() == [False, True]


@pytest.mark.parametrize("kind", thinned(["", "zero_inflated_", "hurdle_"], 3))
def test_negative_binomial_numbers_by_mean_and_dispersion(kind):
    name, n = f"{kind}negative_binomial", 20_000
    zero = (0.25,) if kind else ()

    def draws(*values, **named):
        streams = kg.RandomStreams(3)
        return kg.compile([], getattr(streams, name)(*zero, *values, shape=n, **named))()

    mean, dispersion = 5.0, 0.5
    by_mean = draws(mean=mean, dispersion=dispersion)
    np.testing.assert_array_equal(draws(log_mean=np.log(mean), dispersion=dispersion), by_mean)
    law = getattr(kg, name)
    told = [f(law(*zero, mean=mean, dispersion=dispersion)) for f in (kg.expectation, kg.variance)]
    centre, variance = kg.compile([], told)()
    assert by_mean.mean() == pytest.approx(centre, abs=5 * np.sqrt(variance / n))
    # The fourth moment, and so the error of the variance, by the draws.
    error = np.sqrt(np.mean((by_mean - centre) ** 4) / n)
    assert by_mean.var() == pytest.approx(variance, abs=5 * error)
    # By size and prob the law is the same, and the numbers another's.
    others = draws(1 / dispersion, 1 / (1 + dispersion * mean))
    assert others.mean() == pytest.approx(centre, abs=5 * np.sqrt(variance / n))
    with pytest.raises(TypeError, match=rf"{name}: give size= and prob=, or mean="):
        draws(2.0, mean=3.0, dispersion=0.5)
    with pytest.raises(ValueError, match=r"mean: dispersion must be .* got -1"):
        draws(mean=3.0, dispersion=-1.0)
