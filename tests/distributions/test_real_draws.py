"""Real numbers: laws, edges, derivatives, and that an element depends on its place alone."""

import numpy as np
import pytest
from scipy import special, stats
from tests.distributions.cases.reals import REALS
from tests.distributions.drawing import GENERATORS, LEVEL, ROWS, SIZE, derivatives, draw
from tests.selection import thinned

inf = np.inf
MANY = 20_000  # draws whose derivatives share a program
DTYPES = [np.float64, np.float32]

LAWS = [(name, p, case.law(*p)) for name, case in REALS.items() for p in case.draws]
HEAVY = (
    "cauchy",
    "half_cauchy",
    "student",
    "half_student",
    "inverse_gamma",
    "pareto",
)  # no fourth moment
SLOW = ("von_mises",)  # moments of SciPy's by quadrature
NAMES = [f"{name}{parameters}" for name, parameters, _ in LAWS]
# Drawn by the same way as others, whose laws are tested every day.
AGAIN = {
    "truncated_normal(1.0, 2.0, -inf, inf)",
    "truncated_normal(0.0, 1.0, 20.0, 21.0)",
    "gamma(1.0, 2.0)",
    "beta(20.0, 30.0)",
    "student(10000.0, 0.0, 1.0)",
}


@pytest.mark.parametrize("dtype", thinned(DTYPES, 2))
@pytest.mark.parametrize(
    ("name", "parameters", "law"),
    [
        pytest.param(*case, id=name, marks=[pytest.mark.slow] if name in AGAIN else [])
        for case, name in zip(LAWS, NAMES)
    ],
)
def test_law(name, parameters, law, dtype):
    x = draw(name, *parameters, dtype=dtype)
    assert x.dtype == dtype
    assert x.shape == (100_000,)
    assert np.isfinite(x).all()
    assert stats.kstest(x.astype(float), law.cdf).pvalue > LEVEL
    # Pairs of neighbours are independent.
    u = law.cdf(x.astype(float))
    cells, *_ = np.histogram2d(u[::2], u[1::2], bins=10, range=[[0, 1], [0, 1]])
    assert stats.chisquare(cells.ravel()).pvalue > LEVEL


@pytest.mark.parametrize(
    ("name", "parameters", "law"),
    [case for case in LAWS if case[0] not in HEAVY + SLOW],
    ids=[name for name in NAMES if not name.startswith(HEAVY + SLOW)],
)
def test_moments(name, parameters, law):
    x = draw(name, *parameters, event=(1, 0))
    m = [law.moment(k) for k in (1, 2)]
    error = law.std() / np.sqrt(len(x))
    assert abs(x.mean() - m[0]) < 5 * error
    centred = (x - law.mean()) ** 2
    assert abs(centred.mean() - law.var()) < 5 * centred.std() / np.sqrt(len(x))


def test_the_law_test_can_fail():
    x = draw("gamma", 3.5, 2.0)
    assert stats.kstest(x, stats.gamma(3.5 * 1.02, scale=0.5).cdf).pvalue < LEVEL
    assert stats.kstest(x * 1.02, stats.gamma(3.5, scale=0.5).cdf).pvalue < LEVEL
    # Without its correction, the boost of a small shape gives the wrong law.
    small = draw("gamma", 1.3, 1.0)
    assert stats.kstest(small, stats.gamma(0.3).cdf).pvalue < LEVEL


# Edges ------------------------------------------------------------------------------------------


def test_a_uniform_never_reaches_high():
    low, high = np.float32(1e6), np.float32(1e6 + 1)
    x = draw("uniform", float(low), float(high), dtype=np.float32)
    assert x.min() == low
    assert x.max() == np.nextafter(high, low)
    next_one = np.nextafter(np.float32(1), np.float32(2))
    x = draw("uniform", 1.0, float(next_one), dtype=np.float32)
    assert (x == 1).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_empty_interval_gives_its_end(dtype):
    assert (draw("uniform", 0.1, 0.1, dtype=dtype) == dtype(0.1)).all()
    x = draw("truncated_normal", 0.0, 1.0, 0.1, 0.1, dtype=dtype)
    assert (x == dtype(0.1)).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("lower", "upper"), [(5.0, inf), (-inf, -5.0), (300.0, inf), (-3.0001, -3.0), (7.0, 7.5)]
)
def test_truncated_normals_stay_in_their_bounds(lower, upper, dtype):
    x = draw("truncated_normal", 0.0, 1.0, lower, upper, dtype=dtype)
    assert (x >= dtype(lower)).all()
    assert (x <= dtype(upper)).all()
    assert len(np.unique(x)) > 100


def test_far_tail_of_a_truncated_normal_is_exponential():
    a = 1e4
    x = draw("truncated_normal", 0.0, 1.0, a, inf)
    assert stats.kstest((x - a) * a, "expon").pvalue > LEVEL


def test_truncated_normals_are_their_quantiles():
    """u and 1 - u give the two tails; both agree with SciPy's quantile to many digits."""
    u = draw("uniform", 0.0, 1.0)[:1000]
    for a, b in [(-1.0, 3.0), (-3.0, 1.0), (2.0, inf), (-inf, -2.0), (-9.0, 9.0)]:
        x = draw("truncated_normal", 0.0, 1.0, a, b)[:1000]
        turned = a + b < 0
        share = 1 - u if turned else u
        np.testing.assert_allclose(x, stats.truncnorm(a, b).ppf(share), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", thinned(DTYPES, 2))
def test_gamma_of_a_tiny_shape(dtype):
    """Most are too small to be represented; the logarithms are right."""
    x = draw("gamma", 1e-3, 1.0, dtype=dtype).astype(float)
    assert (x >= 0).all()
    above = 1e-30
    law = stats.gamma(1e-3)
    assert stats.binomtest(int((x > above).sum()), len(x), law.sf(above)).pvalue > LEVEL
    tail = x[x > above]
    u = (law.cdf(tail) - law.cdf(above)) / law.sf(above)
    assert stats.kstest(u, "uniform").pvalue > LEVEL


@pytest.mark.parametrize("dtype", thinned(DTYPES, 2))
def test_beta_of_tiny_parameters(dtype):
    x = draw("beta", 1e-3, 1e-3, dtype=dtype).astype(float)
    assert ((x >= 0) & (x <= 1)).all()
    assert stats.binomtest(int((x > 0.5).sum()), len(x)).pvalue > LEVEL
    middle = stats.beta(1e-3, 1e-3).cdf(0.9) - stats.beta(1e-3, 1e-3).cdf(0.1)
    count = int(((x > 0.1) & (x < 0.9)).sum())
    assert stats.binomtest(count, len(x), middle).pvalue > LEVEL


@pytest.mark.parametrize("dtype", thinned(DTYPES, 2))
def test_dirichlet(dtype):
    a = np.array([0.2, 1.0, 3.0])
    x = draw("dirichlet", a, shape=(ROWS, 3), dtype=dtype).astype(float)
    np.testing.assert_allclose(x.sum(-1), 1, atol=1e-6)
    for i in range(3):
        law = stats.beta(a[i], a.sum() - a[i])
        u = law.cdf(x[:, i])
        # In single precision small ones are rounded, and cells are cruder than a KS test.
        cells = np.histogram(u, 50, (0, 1))[0]
        assert stats.chisquare(cells).pvalue > LEVEL
    tiny = draw("dirichlet", np.full(3, 1e-3), shape=(ROWS, 3), dtype=dtype)
    np.testing.assert_allclose(tiny.sum(-1), 1, atol=1e-6)
    assert stats.chisquare(np.bincount(tiny.argmax(-1), minlength=3)).pvalue > LEVEL


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("uniform", (1.0, 0.0)),
        ("normal", (0.0, -1.0)),
        ("half_normal", (-1.0,)),
        ("exponential", (0.0,)),
        ("exponential", (-1.0,)),
        ("laplace", (0.0, -1.0)),
        ("logistic", (0.0, -1.0)),
        ("cauchy", (0.0, -1.0)),
        ("half_cauchy", (-1.0,)),
        ("inverse_gamma", (0.0, 1.0)),
        ("inverse_gamma", (1.0, -1.0)),
        ("truncated_normal", (0.0, 0.0, -1.0, 1.0)),
        ("truncated_normal", (0.0, 1.0, 1.0, -1.0)),
        ("f", (0.0, 1.0)),
        ("f", (1.0, -1.0)),
        ("wald", (0.0, 1.0)),
        ("wald", (1.0, -1.0)),
        ("asymmetric_laplace", (0.0, 1.0, 0.0)),
        ("skew_normal", (0.0, 1.0, np.inf)),
        ("von_mises", (0.0, -1.0)),
        ("von_mises", (np.inf, 1.0)),
        ("weibull", (0.0, 1.0)),
        ("weibull", (1.0, -1.0)),
        ("pareto", (-1.0, 1.0)),
        ("pareto", (1.0, 0.0)),
        ("chi_squared", (0.0,)),
        ("gumbel", (0.0, -1.0)),
        ("half_student", (0.0, 1.0)),
        ("half_student", (1.0, -1.0)),
        ("gamma", (0.0, 1.0)),
        ("gamma", (-1.0, 1.0)),
        ("gamma", (np.nan, 1.0)),
        ("gamma", (inf, 1.0)),
        ("gamma", (1.0, -1.0)),
        ("beta", (-1.0, 1.0)),
        ("student", (0.0, 0.0, 1.0)),
        ("student", (1.0, 0.0, -1.0)),
        ("dirichlet", (np.array([1.0, 1.0, -1.0]),)),
    ],
)
def test_impossible_parameters_give_nan(name, parameters):
    shape = (ROWS, 3) if name == "dirichlet" else SIZE
    assert np.isnan(draw(name, *parameters, shape=shape)).all()


# Elements ---------------------------------------------------------------------------------------

VARIED = {
    "gamma": (np.array([0.01, 0.5, 1.0, 2.0, 30.0]), np.array([1.0, 2.0, 1.0, 3.0, 1.0])),
    "beta": (np.array([0.01, 0.5, 1.0, 2.0, 30.0]), np.array([1.0, 2.0, 0.1, 3.0, 1.0])),
    "normal": (np.arange(5.0), np.ones(5)),
    "student": (np.array([0.5, 1.0, 2.0, 5.0, 30.0]), np.zeros(5), np.ones(5)),
}


@pytest.mark.parametrize("dtype", thinned(DTYPES, 2))
@pytest.mark.parametrize("name", VARIED)
def test_an_element_does_not_depend_on_its_neighbours(name, dtype):
    parameters = [np.resize(p, SIZE) for p in VARIED[name]]
    whole = draw(name, *parameters, dtype=dtype)
    others = [np.where(np.arange(SIZE) == 66, p, p[::-1]) for p in parameters]
    assert draw(name, *others, dtype=dtype)[66] == whole[66]


@pytest.mark.parametrize("dtype", thinned(DTYPES, 2))
@pytest.mark.parametrize("name", thinned(VARIED, 4))
def test_an_element_does_not_depend_on_how_many_follow(name, dtype):
    parameters = [np.resize(p, SIZE) for p in VARIED[name]]
    whole = draw(name, *parameters, dtype=dtype)
    short = draw(name, *(p[:7] for p in parameters), shape=7, dtype=dtype)
    # Vectors and what is left over are compiled differently: all but the last places are equal.
    tolerance = 2e-6 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(short, whole[:7], rtol=tolerance, atol=tolerance)


def test_scalars_vectors_and_matrices_have_the_same_elements():
    flat = draw("exponential", 2.0)[:24]
    cube = draw("exponential", 2.0, shape=(2, 3, 4)).ravel()
    np.testing.assert_allclose(cube, flat, rtol=1e-12)
    scalar = draw("exponential", 2.0, shape=())
    np.testing.assert_allclose(scalar, draw("exponential", 2.0)[0], rtol=1e-12)
    assert draw("exponential", 2.0, shape=(0,)).shape == (0,)
    rows = draw("normal", np.array([[0.0], [10.0]]), np.ones(3), shape=(2, 3))
    assert (rows[1] > 4).all()


# Derivatives ------------------------------------------------------------------------------------

SLOPES = [
    ("uniform", (2.0, 5.0)),
    ("normal", (1.0, 2.0)),
    ("lognormal", (0.5, 0.7)),
    ("half_normal", (2.0,)),
    ("exponential", (2.0,)),
    ("laplace", (1.0, 2.0)),
    ("logistic", (1.0, 2.0)),
    ("cauchy", (1.0, 2.0)),
    ("half_cauchy", (2.0,)),
    ("wald", (1.5, 2.5)),
    ("skew_normal", (1.0, 2.0, 1.6)),
    ("weibull", (1.5, 2.0)),
    ("pareto", (2.5, 3.0)),
    ("gumbel", (1.0, 2.0)),
    ("truncated_normal", (0.3, 1.2, -1.0, 3.0)),
    ("truncated_normal", (0.3, 1.2, 20.0, 30.0)),
]


# Of one formula each, whose derivatives are JAX's.
ALIKE = {
    "weibull",
    "pareto",
    "gumbel",
    "lognormal",
    "half_normal",
    "exponential",
    "laplace",
    "logistic",
    "half_cauchy",
}


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        case if case[0] not in ALIKE else pytest.param(*case, marks=pytest.mark.slow)
        for case in SLOPES
    ],
)
def test_derivatives_equal_finite_differences(name, parameters):
    arguments = range(len(parameters))
    _, forward, back = derivatives(name, parameters, arguments, 200)
    step = 1e-5
    for i in arguments:
        up, down = (
            derivatives(
                name, [p + s * step * (k == i) for k, p in enumerate(parameters)], arguments, 200
            )[0]
            for s in (1, -1)
        )
        difference = (up - down) / (2 * step)
        np.testing.assert_allclose(forward[i], difference, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(back[i], forward[i].sum(), rtol=1e-9)


@pytest.mark.parametrize("bounds", [(0.0, inf), (-inf, 0.0), (-inf, inf), (60.0, inf)])
@pytest.mark.parametrize("dtype", thinned(DTYPES[::-1], 2))
def test_derivatives_with_infinite_bounds_are_numbers(bounds, dtype):
    x, forward, back = derivatives("truncated_normal", (0.5, 2.0, *bounds), range(2), 50, dtype)
    assert np.isfinite(forward).all()
    np.testing.assert_allclose(back, np.sum(forward, -1), rtol=1e-3, atol=1e-3)
    if bounds == (-inf, inf):
        expected = [np.ones(50), (x - 0.5) / 2]
        np.testing.assert_allclose(forward, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("a", [1e-3, 0.3, 1.0, 4.0, 300.0])
def test_derivative_by_the_shape_is_that_of_the_quantile(a):
    x, (forward,), (back,) = derivatives("gamma", (a, 2.0), [0], MANY)
    np.testing.assert_allclose(back, forward.sum(), rtol=1e-9)
    x, forward = x[:200], forward[:200]
    g = 2 * x
    keep = g > 1e-290
    h = 1e-5 * a
    p = special.gammainc(a, g)
    lower = p < 0.5
    with np.errstate(all="ignore"):
        quantile = [
            np.where(
                lower,
                special.gammaincinv(a + s, p),
                special.gammainccinv(a + s, special.gammaincc(a, g)),
            )
            for s in (h, -h)
        ]
        expected = (quantile[0] - quantile[1]) / (2 * h) / 2
    np.testing.assert_allclose(forward[keep], expected[keep], rtol=3e-4, atol=1e-250)


@pytest.mark.parametrize("kappa", [0.3, 5.0, 2000.0])
def test_derivative_by_the_concentration_of_angles(kappa):
    """d E cos x / d kappa is the variance of cos x."""
    x, (_, forward), _ = derivatives("von_mises", (0.0, kappa), [0, 1], MANY)
    slopes = -np.sin(x) * forward
    wanted = 1 - (ratio := special.i1e(kappa) / special.i0e(kappa)) / kappa - ratio**2
    assert abs(slopes.mean() - wanted) < 5 * slopes.std() / np.sqrt(MANY)
    assert slopes.std() < 30 * wanted


@pytest.mark.slow
def test_derivatives_of_expectations():
    """d E log x / d a = trigamma(a) for gamma and beta numbers: the derivative is unbiased."""
    x, (forward,), _ = derivatives("gamma", (0.7, 1.0), [0], MANY)
    slopes = forward / x
    assert abs(slopes.mean() - special.polygamma(1, 0.7)) < 5 * slopes.std() / np.sqrt(MANY)
    x, (forward,), _ = derivatives("beta", (0.7, 2.0), [0], MANY)
    # d E x / d a = b / (a + b)^2
    error = forward.std() / np.sqrt(MANY)
    assert abs(forward.mean() - 2.0 / 2.7**2) < 5 * error


@pytest.mark.parametrize("dtype", thinned(DTYPES, 2))
@pytest.mark.slow
def test_derivatives_stay_numbers_at_tiny_shapes(dtype):
    for name, parameters in [("beta", (1e-3, 1e-3)), ("gamma", (1e-3, 1.0))]:
        _, forward, back = derivatives(name, parameters, [0], MANY, dtype)
        assert np.isfinite(forward).all()
        assert np.isfinite(back).all()
    _, forward, back = derivatives("dirichlet", (np.full(3, 0.01),), [0], (50, 3), dtype)
    assert np.isfinite(forward).all()
    assert np.isfinite(back).all()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
def test_derivatives_of_a_student_number(dtype):
    _, forward, back = derivatives("student", (3.0, 1.0, 2.0), range(3), 50, dtype)
    assert np.isfinite(forward).all()
    np.testing.assert_allclose(back, np.sum(forward, -1), rtol=1e-3, atol=1e-4)


def test_every_sampler_of_real_numbers_is_tested():
    tested = {name for name, *_ in LAWS} | {"dirichlet", "multivariate_normal", "lkj_correlation"}
    tested |= {"multivariate_normal_precision", "multivariate_student", "matrix_normal"}
    tested |= {"wishart", "lkj_cholesky", "ar", "random_walk", "zero_sum_normal"}
    tested |= {"hurdle_gamma", "hurdle_lognormal", "zero_inflated_beta"}  # in test_atoms
    assert tested == {name for name, g in GENERATORS.items() if g.dtype is None}
