"""Other libraries' names of parameters: densities by their names are SciPy's."""

import inspect

import numpy as np
import pytest
from scipy import special, stats
from tests.distributions.stubs import stubs

import kinetograph as kg
from kinetograph.calls.argument_advice import OF_CALLS
from kinetograph.distributions import declaration
from kinetograph.distributions.declaration import DISTRIBUTIONS, declared
from kinetograph.distributions.normal import NORMAL
from kinetograph.graph.lower import evaluate
from kinetograph.graph.precision import x64

COV = np.array([[2.0, 0.3], [0.3, 1.0]])
CHOL = np.linalg.cholesky(COV)
FACTOR = np.array([[1.0, 0.0], [0.4, np.sqrt(1 - 0.16)]])
ROWS = np.array([[1.5, 0.2], [0.2, 0.7]])
VECTOR, MATRIX = np.array([0.4, -0.7]), np.array([[0.1, 0.5], [1.2, -0.3]])
CLASSES = np.array([0.2, 0.5, 0.3])


def by_moments(mean, phi):
    """The parameters of SciPy's negative binomial."""
    return stats.nbinom(phi, phi / (phi + mean))


def positive(law):
    """The density of a number above 0, if 0 has the probability 0.3."""
    return lambda x: np.log(0.7) + law.logpdf(x)


def lkj(eta):
    """The log density of a 2 x 2 correlation matrix, of correlation r = 2 u - 1 with u beta."""
    return lambda x: stats.beta(eta, eta).logpdf((x[1, 0] + 1) / 2) - np.log(2)


def zero_sum(sd):
    """The log density of (x, -x): of a normal number sqrt(2) x."""
    return lambda x: stats.norm(0, sd).logpdf(np.sqrt(2) * x[0])


def classes(prob):
    return lambda x: np.log(prob[x])


# The family, words of one library, a value, and SciPy's distribution in SciPy's parameters.
SCIPY = [
    ("asymmetric_laplace", {"kappa": 0.7, "loc": 1.0, "scale": 2.0}, 0.3, stats.laplace_asymmetric),
    ("bernoulli", {"p": 0.3}, 1, stats.bernoulli),
    ("beta", {"a": 2.0, "b": 3.0}, 0.3, stats.beta),
    ("beta_binomial", {"n": 9, "a": 2.0, "b": 3.0}, 4, stats.betabinom),
    ("binomial", {"n": 9, "p": 0.3}, 4, stats.binom),
    ("cauchy", {"loc": 1.0, "scale": 2.0}, 0.3, stats.cauchy),
    ("dirichlet_multinomial", {"alpha": CLASSES, "n": 3}, [1, 2, 0], stats.dirichlet_multinomial),
    ("f", {"dfn": 3.0, "dfd": 5.0}, 0.3, stats.f),
    ("gamma", {"a": 2.0}, 0.3, stats.gamma),
    ("gumbel", {"loc": 1.0, "scale": 2.0}, 0.3, stats.gumbel_r),
    ("half_normal", {"scale": 2.0}, 0.3, stats.halfnorm),
    ("inverse_gamma", {"a": 2.0, "scale": 3.0}, 0.3, stats.invgamma),
    ("laplace", {"loc": 1.0, "scale": 2.0}, 0.3, stats.laplace),
    ("logistic", {"loc": 1.0, "scale": 2.0}, 0.3, stats.logistic),
    ("lognormal", {"s": 2.0}, 0.3, stats.lognorm),
    (
        *("matrix_normal", {"mean": MATRIX, "rowcov": ROWS, "colcov": COV}),
        *(np.eye(2), stats.matrix_normal),
    ),
    ("multinomial", {"n": 3, "p": CLASSES}, [1, 2, 0], stats.multinomial),
    ("negative_binomial", {"n": 2.5, "p": 0.3}, 4, stats.nbinom),
    ("normal", {"loc": 1.0, "scale": 2.0}, 0.3, stats.norm),
    ("poisson", {"mu": 2.0}, 4, stats.poisson),
    ("skew_normal", {"a": 0.7, "loc": 1.0, "scale": 2.0}, 0.3, stats.skewnorm),
    ("student", {"df": 3.0, "loc": 1.0, "scale": 2.0}, 0.3, stats.t),
    ("von_mises", {"kappa": 0.7, "loc": 1.0}, 0.3, stats.vonmises),
    ("weibull", {"c": 0.7, "scale": 2.0}, 0.3, stats.weibull_min),
]
# By the documentation of PyMC, Stan and NumPyro.
ELSEWHERE = [
    (
        "asymmetric_laplace",
        {"loc": 1.0, "scale": 2.0, "asymmetry": 0.7},
        0.3,
        stats.laplace_asymmetric(0.7, 1, 2),
    ),
    ("ar", {"rho": [0.5], "sigma": 2.0, "dim": 2}, VECTOR, stats.norm([0, 0.2], 2)),
    ("bernoulli", {"probs": 0.3}, 1, stats.bernoulli(0.3)),
    ("bernoulli", {"theta": 0.3}, 1, stats.bernoulli(0.3)),
    ("bernoulli", {"logit_p": 0.3}, 1, stats.bernoulli(special.expit(0.3))),
    ("bernoulli", {"logits": 0.3}, 1, stats.bernoulli(special.expit(0.3))),
    ("beta", {"alpha": 2.0, "beta": 3.0}, 0.3, stats.beta(2, 3)),
    ("beta", {"concentration1": 2.0, "concentration0": 3.0}, 0.3, stats.beta(2, 3)),
    (
        *("beta_binomial", {"concentration1": 2.0, "concentration0": 3.0, "total_count": 9}),
        *(4, stats.betabinom(9, 2, 3)),
    ),
    ("beta_binomial", {"N": 9, "alpha": 2.0, "beta": 3.0}, 4, stats.betabinom(9, 2, 3)),
    ("binomial", {"N": 9, "theta": 0.3}, 4, stats.binom(9, 0.3)),
    ("binomial", {"total_count": 9, "probs": 0.3}, 4, stats.binom(9, 0.3)),
    ("binomial", {"n": 9, "logit_p": 0.3}, 4, stats.binom(9, special.expit(0.3))),
    ("binomial", {"n": 9, "logits": 0.3}, 4, stats.binom(9, special.expit(0.3))),
    ("categorical", {"p": CLASSES}, 1, classes(CLASSES)),
    ("categorical", {"probs": CLASSES}, 1, classes(CLASSES)),
    ("categorical", {"logit_p": VECTOR}, 1, classes(special.softmax(VECTOR))),
    ("categorical", {"logits": VECTOR}, 1, classes(special.softmax(VECTOR))),
    ("cauchy", {"alpha": 1.0, "beta": 2.0}, 0.3, stats.cauchy(1, 2)),
    ("cauchy", {"mu": 1.0, "sigma": 2.0}, 0.3, stats.cauchy(1, 2)),
    ("chi_squared", {"nu": 3.0}, 0.3, stats.chi2(3)),
    ("dirichlet", {"a": [2.0, 3.0]}, [0.3, 0.7], stats.dirichlet([2, 3])),
    ("dirichlet", {"concentration": [2.0, 3.0]}, [0.3, 0.7], stats.dirichlet([2, 3])),
    (
        *("dirichlet_multinomial", {"n": 3, "a": CLASSES}),
        *([1, 2, 0], stats.dirichlet_multinomial(CLASSES, 3)),
    ),
    (
        *("dirichlet_multinomial", {"total_count": 3, "concentration": CLASSES}),
        *([1, 2, 0], stats.dirichlet_multinomial(CLASSES, 3)),
    ),
    ("discrete_uniform", {"lower": 2, "upper": 6}, 6, stats.randint(2, 7)),
    ("discrete_uniform", {"low": 2, "max": 6}, 2, stats.randint(2, 7)),
    ("exponential", {"lam": 2.0}, 0.3, stats.expon(scale=0.5)),
    ("exponential", {"beta": 2.0}, 0.3, stats.expon(scale=0.5)),
    (
        *("exponentially_modified_normal", {"mu": 1.0, "sigma": 2.0, "lam": 0.7}),
        *(0.3, stats.exponnorm(1 / (2 * 0.7), 1, 2)),
    ),
    (
        *("exponentially_modified_normal", {"loc": 1.0, "scale": 2.0, "rate": 0.7}),
        *(0.3, stats.exponnorm(1 / (2 * 0.7), 1, 2)),
    ),
    ("gamma", {"alpha": 2.0, "beta": 3.0}, 0.3, stats.gamma(2, scale=1 / 3)),
    ("gamma", {"concentration": 2.0, "rate": 3.0}, 0.3, stats.gamma(2, scale=1 / 3)),
    ("geometric", {"probs": 0.3}, 4, stats.geom(0.3, loc=-1)),
    ("gumbel", {"mu": 1.0, "beta": 2.0}, 0.3, stats.gumbel_r(1, 2)),
    ("half_cauchy", {"beta": 2.0}, 0.3, stats.halfcauchy(0, 2)),
    ("half_cauchy", {"sigma": 2.0}, 0.3, stats.halfcauchy(0, 2)),
    ("half_normal", {"sigma": 2.0}, 0.3, stats.halfnorm(0, 2)),
    (
        "half_student",
        {"nu": 3.0, "scale": 2.0},
        0.3,
        lambda x: stats.t(3, 0, 2).logpdf(x) + np.log(2),
    ),
    *(
        (
            "hurdle_gamma",
            {"zero": 0.3, shape: 2.0, rate: 3.0},
            0.3,
            positive(stats.gamma(2, 0, 1 / 3)),
        )
        for shape, rate in [("a", "beta"), ("concentration", "rate")]
    ),
    *(
        (
            "hurdle_lognormal",
            {"zero": 0.3, "mu": 1.0, sd: 2.0},
            0.3,
            positive(stats.lognorm(2, 0, np.e)),
        )
        for sd in ("sigma", "s")
    ),
    *(
        ("zero_inflated_beta", {"gate": 0.3, one: 2.0, two: 3.0}, 0.3, positive(stats.beta(2, 3)))
        for one, two in [("a", "b"), ("alpha", "beta"), ("concentration1", "concentration0")]
    ),
    ("hurdle_poisson", {"zero": 0.3, "mu": 2.0}, 0, lambda x: np.log(0.3)),
    ("hurdle_poisson", {"zero": 0.3, "lam": 2.0}, 0, lambda x: np.log(0.3)),
    ("inverse_gamma", {"alpha": 2.0, "beta": 3.0}, 0.3, stats.invgamma(2, scale=3)),
    ("inverse_gamma", {"concentration": 2.0, "rate": 3.0}, 0.3, stats.invgamma(2, scale=3)),
    ("laplace", {"mu": 1.0, "b": 2.0}, 0.3, stats.laplace(1, 2)),
    ("lkj_correlation", {"n": 2, "eta": 1.5}, [[1.0, 0.4], [0.4, 1.0]], lkj(1.5)),
    ("lkj_correlation", {"dimension": 2, "concentration": 1.5}, [[1.0, 0.4], [0.4, 1.0]], lkj(1.5)),
    ("lkj_cholesky", {"n": 2, "concentration": 1.5}, FACTOR, lkj(1.5)),
    ("lkj_cholesky", {"dimension": 2}, FACTOR, lkj(1.0)),
    ("logistic", {"mu": 1.0, "s": 2.0}, 0.3, stats.logistic(1, 2)),
    ("logistic", {"mu": 1.0, "sigma": 2.0}, 0.3, stats.logistic(1, 2)),
    ("lognormal", {"mu": 1.0, "sigma": 2.0}, 0.3, stats.lognorm(2, scale=np.exp(1))),
    (
        *("matrix_normal", {"mu": MATRIX, "rowchol": np.linalg.cholesky(ROWS), "colchol": CHOL}),
        *(np.eye(2), stats.matrix_normal(MATRIX, ROWS, COV)),
    ),
    (
        "matrix_normal",
        {
            "loc": MATRIX,
            "scale_tril_row": np.linalg.cholesky(ROWS),
            "scale_tril_column": CHOL,
        },
        np.eye(2),
        stats.matrix_normal(MATRIX, ROWS, COV),
    ),
    ("multinomial", {"total_count": 3, "probs": CLASSES}, [1, 2, 0], stats.multinomial(3, CLASSES)),
    ("multinomial", {"size": 3, "theta": CLASSES}, [1, 2, 0], stats.multinomial(3, CLASSES)),
    *(
        (
            "multivariate_normal",
            {place: VECTOR, word: value},
            [0.0, 1.0],
            stats.multivariate_normal(VECTOR, COV),
        )
        for place, word, value in [
            ("mu", "Sigma", COV),
            ("loc", "covariance_matrix", COV),
            ("loc", "scale_tril", CHOL),
            ("mu", "L", CHOL),
            ("loc", "precision_matrix", np.linalg.inv(COV)),
            ("mu", "tau", np.linalg.inv(COV)),
        ]
    ),
    *(
        (
            "multivariate_student",
            {df: 3.0, place: VECTOR, word: value},
            [0.0, 1.0],
            stats.multivariate_t(VECTOR, COV, 3),
        )
        for df, place, word, value in [
            ("nu", "mu", "Sigma", COV),
            ("nu", "mu", "scale", COV),
            ("df", "loc", "scale_tril", CHOL),
            ("df", "loc", "L", CHOL),
        ]
    ),
    *(
        ("negative_binomial", {place: 3.0, word: 2.5}, 4, by_moments(3.0, 2.5))
        for place, word in [
            ("mu", "phi"),
            ("mu", "alpha"),
            ("mean", "concentration"),
            ("mean", "size"),
        ]
    ),
    ("negative_binomial", {"log_mean": np.log(3.0), "phi": 2.5}, 4, by_moments(3.0, 2.5)),
    ("negative_binomial", {"total_count": 2.5, "prob": 0.3}, 4, stats.nbinom(2.5, 0.3)),
    *(
        ("hurdle_negative_binomial", {"zero": 0.3, **words}, 0, lambda x: np.log(0.3))
        for words in [
            *({"mu": 3.0, word: 2.5} for word in ("phi", "alpha", "concentration")),
            {"n": 2.5, "p": 0.3},
            {"total_count": 2.5, "p": 0.3},
        ]
    ),
    *(
        (
            *("zero_inflated_negative_binomial", {"gate": 0.3, **words}, 4),
            lambda x, words=words: (
                np.log(0.7)
                + (stats.nbinom(2.5, 0.3) if "p" in words else by_moments(3.0, 2.5)).logpmf(x)
            ),
        )
        for words in [
            *({"mu": 3.0, word: 2.5} for word in ("phi", "alpha", "concentration")),
            {"n": 2.5, "p": 0.3},
            {"total_count": 2.5, "p": 0.3},
        ]
    ),
    *(
        (
            *("zero_inflated_poisson", {"gate": 0.3, word: 2.0}, 4),
            lambda x: np.log(0.7) + stats.poisson(2.0).logpmf(x),
        )
        for word in ("mu", "lam")
    ),
    ("normal", {"mu": 1.0, "sigma": 2.0}, 0.3, stats.norm(1, 2)),
    (
        *("ordered_logistic", {"predictor": 0.3, "cutpoints": VECTOR[::-1]}, 0),
        lambda x: np.log(special.expit(-0.7 - 0.3)),
    ),
    ("pareto", {"alpha": 3.0, "m": 2.0}, 2.3, stats.pareto(3, scale=2)),
    ("pareto", {"alpha": 3.0, "y_min": 2.0}, 2.3, stats.pareto(3, scale=2)),
    ("pareto", {"alpha": 3.0, "scale": 2.0}, 2.3, stats.pareto(3, scale=2)),
    ("poisson", {"lam": 2.0}, 4, stats.poisson(2)),
    ("random_walk", {"mu": 0.5, "sigma": 2.0, "dim": 2}, VECTOR, stats.norm([0, 0.9], 2)),
    ("random_walk", {"scale": 2.0, "num_steps": 2}, VECTOR, stats.norm([0, 0.4], 2)),
    ("skew_normal", {"mu": 1.0, "sigma": 2.0, "alpha": 0.7}, 0.3, stats.skewnorm(0.7, 1, 2)),
    ("skew_normal", {"xi": 1.0, "omega": 2.0, "alpha": 0.7}, 0.3, stats.skewnorm(0.7, 1, 2)),
    ("student", {"nu": 3.0, "mu": 1.0, "sigma": 2.0}, 0.3, stats.t(3, 1, 2)),
    *(
        ("uniform", {low: 1.0, high: 3.0}, 2.0, stats.uniform(1, 2))
        for low, high in [("lower", "upper"), ("low", "high"), ("alpha", "beta")]
    ),
    ("von_mises", {"loc": 1.0, "concentration": 0.7}, 0.3, stats.vonmises(0.7, 1)),
    ("wald", {"mu": 2.0, "concentration": 3.0}, 0.3, stats.invgauss(2 / 3, scale=3)),
    ("weibull", {"alpha": 0.7, "beta": 2.0}, 0.3, stats.weibull_min(0.7, scale=2)),
    ("weibull", {"alpha": 0.7, "sigma": 2.0}, 0.3, stats.weibull_min(0.7, scale=2)),
    ("weibull", {"concentration": 0.7, "scale": 2.0}, 0.3, stats.weibull_min(0.7, scale=2)),
    *(
        ("wishart", {df: 3.0, word: value}, ROWS, stats.wishart(3, COV))
        for df, word, value in [
            ("nu", "V", COV),
            ("nu", "S", COV),
            ("concentration", "scale_matrix", COV),
            ("concentration", "scale_tril", CHOL),
        ]
    ),
    ("zero_sum_normal", {"sigma": 2.0, "dim": 2}, [0.4, -0.4], zero_sum(2.0)),
    ("zero_sum_normal", {"scale": 2.0, "dim": 2}, [0.4, -0.4], zero_sum(2.0)),
]
TABLE = [
    *((name, words, x, law(**words)) for name, words, x, law in SCIPY),
    *ELSEWHERE,
]


def wanted(law, x):
    """The log density or log probability of SciPy, or of a formula."""
    if not hasattr(law, "logpdf") and not hasattr(law, "logpmf"):
        return law(x)
    try:
        return law.logpdf(x)
    except AttributeError:
        return law.logpmf(x)


@pytest.mark.parametrize(
    ("name", "words", "x", "law"), TABLE, ids=[f"{row[0]}({' '.join(row[1])})" for row in TABLE]
)
def test_densities_by_other_names(name, words, x, law):
    x = np.asarray(x)
    with x64():
        density = kg.log_density(getattr(kg, name)(**words), x)
        value = np.sum(evaluate([density.node], {})[density.node])
    np.testing.assert_allclose(value, np.sum(wanted(law, x)), rtol=1e-10)


def test_the_table_has_all_names():
    tested = {(row[0], word) for row in TABLE for word in row[1]}
    declared_names = {
        (name, word) for name, one in DISTRIBUTIONS.items() for word in one.same_names
    }
    assert declared_names <= tested, declared_names - tested
    assert len(declared_names) > 150


def test_no_name_has_advice_as_well():
    for name, one in DISTRIBUTIONS.items():
        assert not {*one.same_names} & {*OF_CALLS[name]}, name


@pytest.mark.parametrize(
    ("name", "law"),
    [
        ("gamma", lambda alpha, rate: stats.gamma(alpha, scale=1 / rate)),
        ("inverse_gamma", lambda alpha, beta: stats.invgamma(alpha, scale=beta)),
    ],
)
@pytest.mark.parametrize(("mu", "sigma"), [(2.0, 0.5), (0.3, 4.0)])
def test_the_advice_has_the_mean_and_the_standard_deviation(name, law, mu, sigma):
    (advice,) = {OF_CALLS[name][word] for word in ("mu", "mean", "sigma", "sd")}
    call = advice.replace("give ", "law(") + ")"
    made = eval(call, {"law": law, "mu": mu, "sigma": sigma})
    np.testing.assert_allclose([made.mean(), made.std()], [mu, sigma], rtol=1e-12)


@pytest.mark.parametrize(
    ("write", "text"),
    [
        (
            lambda: kg.normal(mean=0, mu=1),
            r"normal: mean is given twice, as mean= and as mu= \(.*.py:\d+\); give one",
        ),
        (lambda: kg.normal(loc=0, mu=1), "normal: mean is given twice, as loc= and as mu="),
        (
            lambda: kg.normal(0, mu=1),
            r"normal: mean \(mu\) is given twice .*by position and by name",
        ),
        (lambda: kg.normal(0, 1, sigma=1), r"normal: sd \(sigma\) is given twice .*by position"),
        (
            lambda: kg.beta(alpha=2),
            r"beta: the parameter shape2 is missing .* shape1 \(alpha\), shape2",
        ),
        (lambda: kg.RandomStreams(1).gamma(1, a=2), r"gamma: alpha \(a\) is given twice"),
        (lambda: kg.RandomStreams(1).poisson(1, mu=2), r"poisson: rate \(mu\) is given twice"),
        (
            lambda: kg.RandomStreams(1).bernoulli(logits=2),
            "bernoulli: unknown parameter logits",
        ),
        (lambda: kg.negative_binomial(mu=2, phi=3, dispersion=1), "one of size= and dispersion="),
        (lambda: kg.negative_binomial(prob=0.5, dispersion=1), "one of size= and dispersion="),
        (lambda: kg.negative_binomial(mean=1, log_mean=1), "one of size= and dispersion="),
    ],
)
def test_wrong_calls(write, text):
    with pytest.raises(TypeError, match=text):
        write()


@pytest.mark.parametrize("phi", [0.0, -2, [1.0, 0.0]])
def test_phi_must_be_positive(phi):
    for make in (kg.negative_binomial, kg.RandomStreams(1).negative_binomial):
        with pytest.raises(ValueError, match=r"negative_binomial: size \(phi\) must be positive"):
            make(mu=3.0, phi=phi)


def test_messages_name_the_word_of_the_call():
    with pytest.raises(ValueError, match=r"normal: sd \(sigma\) must be positive, got -1"):
        kg.normal(mu=0, sigma=-1)
    with pytest.raises(kg.ShapeError, match=r"mean \(mu\) .*, sd array of shape \(3,\)"):
        kg.normal(mu=[0.0, 1.0], sd=[1.0, 2.0, 3.0])


def test_streams_draw_by_other_names():
    for name, words in [
        ("gamma", {"alpha": 2.0, "beta": 3.0}),
        ("binomial", {"n": 9, "p": 0.3}),
        ("negative_binomial", {"mu": 3.0, "phi": 2.5}),
    ]:
        same_names = DISTRIBUTIONS[name].same_names
        ours = {same_names.get(word, word): value for word, value in words.items()}
        draws = [
            repr(getattr(kg.RandomStreams(7), name)(**named, shape=5)) for named in (words, ours)
        ]
        assert draws[0] == draws[1]
        assert draws[0].startswith(f"<operation {name}")


def test_an_unknown_phi():
    """The dispersion is computed from it when the model runs."""
    phi = kg.half_normal(sigma=3, name="phi")
    density = kg.log_density(kg.negative_binomial(mu=3.0, phi=phi), 4)
    (value,) = kg.compile([phi], [density])(2.5)
    np.testing.assert_allclose(value, by_moments(3.0, 2.5).logpmf(4), rtol=1e-10)


def test_names_are_declared_and_documented(monkeypatch):
    assert kg.normal.same_names == {"loc": "mean", "mu": "mean", "scale": "sd", "sigma": "sd"}
    assert "`loc` or `mu` for `mean`; `scale` or `sigma` for `sd`" in inspect.getdoc(kg.normal)
    assert [*inspect.signature(kg.normal).parameters][:3] == ["mean", "sd", "shape"]
    text = "\n".join(stubs().values())
    assert "def normal(mean: Any = 0.0, sd: Any = 1.0, *, " in text
    assert "mu: Any = ..., scale: Any = ..., sigma: Any = ...) -> Array" in text
    monkeypatch.setattr(declaration, "DISTRIBUTIONS", {})
    for same in ({"mean": "sd"}, {"mean": "m", "sd": "m"}, {"mean": "name"}, {"centre": "m"}):
        with pytest.raises(ValueError, match="at_one: other names for parameters that clash"):

            @declared(NORMAL, same=same)
            def at_one(mean=0.0, sd=1.0):
                """A normal unknown."""
