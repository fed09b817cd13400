"""The texts of errors, which all come before compilation.

Each names the array, the problem and the remedy.
"""

import re

import jax
import numpy as np
import pytest

import kinetograph as kg


@pytest.fixture(autouse=True)
def _nothing_compiles(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("compiled before the error was raised")

    monkeypatch.setattr(jax, "jit", refuse)


def refused(error, text):
    return pytest.raises(error, match=re.escape(text))


# Data --------------------------------------------------------------------------------------------


def test_missing_data():
    with refused(kg.DataError, "nan at index 1 and 1 more missing or infinite value"):
        kg.data([1.0, np.nan, np.inf], name="y")


# Observations ------------------------------------------------------------------------------------


def test_shapes():
    mu = kg.normal(0, 1, shape=8)
    y = kg.data(np.zeros(5))
    with pytest.raises(kg.ShapeError) as caught:
        kg.observe(y, kg.normal(mu, 1))
    assert re.sub(r":\d+", "", re.sub(" +", " ", str(caught.value))) == (
        "observe: the data do not fit the distribution (test_errors.py)\n"
        " normal(mu, 1) shape (8,)\n"
        " y shape (5,)\n"
        " normal's parameters must broadcast to the shape of the data."
    )
    scalar = kg.data(1.0)
    with refused(kg.ShapeError, "must broadcast to the shape of the data"):
        kg.observe(scalar, kg.normal(mu, 1))


@pytest.mark.parametrize(
    "distribution",
    [
        lambda: kg.normal(np.zeros((4, 2)), 1),
        lambda: kg.multivariate_normal(np.zeros(2), np.eye(2)),
        lambda: kg.multivariate_normal(np.zeros((4, 2)), np.eye(2)),
    ],
)
def test_transposed_data(distribution):
    y = kg.data(np.zeros((2, 4)))
    with refused(kg.ShapeError, "The data look transposed: each row is a separate realisation."):
        kg.observe(y, distribution())


def test_event_axes_do_not_broadcast():
    y = kg.data(np.zeros((4, 3)))
    with refused(kg.ShapeError, "observe: the data do not fit the distribution"):
        kg.observe(y, kg.multivariate_normal(np.zeros(1), np.eye(1)))


@pytest.mark.parametrize(
    ("values", "distribution", "text"),
    [
        (
            [1.0, -2.0],
            lambda: kg.gamma(2, 1),
            "gamma data must be positive, but y is -2.0 at index 1",
        ),
        (
            [0.5, 1.5],
            lambda: kg.beta(1, 1),
            "beta data must be between 0 and 1, but y is 1.5 at index 1",
        ),
        (
            [3.0],
            lambda: kg.uniform(0, 2),
            "uniform data must be between 0 and 2, but y is 3.0 at index 0",
        ),
        ([0, 2], lambda: kg.bernoulli(0.5), "bernoulli data must be 0 or 1, but y is 2 at index 1"),
        (
            [1.0, 2.5],
            lambda: kg.poisson(1.0),
            "poisson data must be a whole number that is not negative, but y is 2.5 at index 1",
        ),
        (
            [1, -1],
            lambda: kg.negative_binomial(1.0, 0.5),
            "negative_binomial data must be a whole number that is not negative, but y is -1",
        ),
        (
            [1, 3],
            lambda: kg.binomial([5, 2], 0.5),
            "binomial data must be a whole number from 0 to 2, but y is 3 at index 1",
        ),
        (
            [[1, 0], [0, 9]],
            lambda: kg.binomial(5, 0.5),
            "binomial data must be a whole number from 0 to 5, but y is 9 at index (1, 1)",
        ),
        (
            [0, 3],
            lambda: kg.categorical([0.2, 0.3, 0.5]),
            "categorical data must be a whole number from 0 to 2, but y is 3 at index 1",
        ),
        (
            [0.5, 0.6],
            lambda: kg.dirichlet([1.0, 1.0]),
            "dirichlet data must be positive with sum 1 along the last axis, but y is [0.5 0.6]",
        ),
        (
            [[1.0, 2.0], [2.0, 1.0]],
            lambda: kg.lkj_correlation(1, 2),
            "lkj_correlation data must be a correlation matrix, but y is [[1. 2.]",
        ),
    ],
)
def test_data_outside_the_support(values, distribution, text):
    y = kg.data(values)
    with refused(kg.DataError, text):
        kg.observe(y, distribution())


def test_what_cannot_be_observed():
    mu = kg.normal(0, 1)
    y = kg.data(1.0)
    with refused(TypeError, "the name 'a' is given in place of the data"):
        kg.observe("a", kg.normal(mu, 1))
    with refused(kg.DataError, "nan at index 1"):
        kg.observe([1.0, np.nan], kg.normal(mu, 1))
    with pytest.raises(TypeError, match=r"observe: mu \(.*:\d+\) is an unknown, not data; only"):
        kg.observe(mu, kg.normal(0, 1))
    with pytest.raises(TypeError, match=r"observe: mu \* y \(.*:\d+\) is not data"):
        kg.observe(mu * y, kg.normal(0, 1))
    with refused(kg.DataError, "data 'log(y - 2)'"):
        kg.observe(kg.log(y - 2), kg.normal(mu, 1))
    with refused(TypeError, "the second argument, mu + 1, is not a distribution (test_errors.py:"):
        kg.observe(y, mu + 1)
    with refused(TypeError, "the second argument, the number 2.0, is not a distribution"):
        kg.observe(y, 2.0)
    with refused(TypeError, "is not a distribution"):
        kg.observe(y, kg.variable())


def test_a_distribution_is_used_once():
    mu = kg.normal(0, 1)
    y, z = kg.data(1.0), kg.data(2.0)
    likelihood = kg.normal(mu, 1)
    kg.observe(y, likelihood)
    with pytest.raises(
        kg.ModelError,
        match=r"this normal is the likelihood of y \(test_errors.py:\d+\) already \(.*:\d+\); "
        "write the distribution again",
    ):
        kg.observe(z, likelihood)
    used = kg.normal(mu, 1)
    keep = used + 1
    with refused(kg.ModelError, "used is used elsewhere in the model as an unknown"):
        kg.observe(z, used)
    del keep
    with refused(kg.ModelError, "a target is the likelihood of y (test_errors.py"):
        kg.model(likelihood)
    later = likelihood + mu
    with refused(kg.ModelError, "is the likelihood of y (test_errors.py"):
        kg.model(later)


# Parameters --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: kg.normal(0, 0), ValueError, "normal: sd must be positive, got 0"),
        (lambda: kg.normal(0, -1.5), ValueError, "normal: sd must be positive, got -1.5"),
        (
            lambda: kg.normal(0, [1.0, -1.0]),
            ValueError,
            "normal: sd must be positive, got -1.0 at index 1",
        ),
        (lambda: kg.normal(0, np.nan), ValueError, "normal: sd must be positive, got nan"),
        (lambda: kg.poisson(-1.0), ValueError, "poisson: rate must be at least 0, got -1.0"),
        (lambda: kg.bernoulli(1.5), ValueError, "prob must be between 0 and 1, got 1.5"),
        (lambda: kg.binomial(2.5, 0.5), ValueError, "binomial: size must be a whole number"),
        (
            lambda: kg.categorical([0.5, 0.6]),
            ValueError,
            "categorical: prob must be positive with sum 1 along the last axis, got [0.5 0.6]",
        ),
        (
            lambda: kg.categorical(0.5),
            kg.ShapeError,
            "prob 0.5 needs at least 1 axis, got shape ()",
        ),
        (lambda: kg.categorical([]), kg.ShapeError, "a last axis of at least one category"),
        (lambda: kg.dirichlet([1.0]), kg.ShapeError, "needs a last axis of at least two"),
        (
            lambda: kg.dirichlet([1.0, 0.0]),
            ValueError,
            "alpha must be positive, got 0.0 at index 1",
        ),
        (lambda: kg.uniform(2, 1), ValueError, "min must be below max, got min 2 and max 1"),
        (
            lambda: kg.uniform([0, 3], [1, 2]),
            ValueError,
            "min must be below max, got min 3 and max 2 at index 1",
        ),
        (
            lambda: kg.uniform([0, 1], [1, 2, 3]),
            kg.ShapeError,
            "uniform: the parameters do not fit together: min",
        ),
        (
            lambda: kg.normal(np.zeros(3), np.ones(2)),
            kg.ShapeError,
            "normal: the parameters do not fit together: mean",
        ),
        (
            lambda: kg.normal(np.zeros(3), 1, shape=4),
            kg.ShapeError,
            "normal: shape (4,) does not fit the parameters: mean",
        ),
        (
            lambda: kg.normal(0, 1, shape=-1),
            kg.ShapeError,
            "normal: shape (-1,) has a negative length",
        ),
        (
            lambda: kg.normal(0, 1, shape=2.5),
            TypeError,
            "normal: shape must be a whole number or a tuple of them, got 2.5",
        ),
        (lambda: kg.normal(0, None), TypeError, "normal: the parameter sd is missing"),
        (lambda: kg.normal(0, width=1), TypeError, "unknown parameter width"),
        (lambda: kg.bernoulli(), TypeError, "bernoulli: give one of prob= and logit="),
        (lambda: kg.bernoulli(0.5, logit=0), TypeError, "bernoulli: give one of prob= and logit="),
        (lambda: kg.binomial(3), TypeError, "binomial: give one of prob= and logit="),
        (lambda: kg.categorical(), TypeError, "categorical: give one of prob= and logit="),
        (lambda: kg.poisson(), TypeError, "poisson: give one of rate= and log_rate="),
        (lambda: kg.poisson(1, log_rate=0), TypeError, "poisson: give one of rate= and log_rate="),
        (lambda: kg.multivariate_normal([0, 0]), TypeError, "give one of cov= and chol="),
        (
            lambda: kg.multivariate_normal([0, 0], np.ones((2, 3))),
            kg.ShapeError,
            "must be a square matrix, got shape (2, 3)",
        ),
        (
            lambda: kg.multivariate_normal([0, 0], [[1.0, 0.5], [0.2, 1.0]]),
            ValueError,
            "is not symmetric",
        ),
        (
            lambda: kg.multivariate_normal([0, 0], [[1.0, 0.0], [0.5, 1.0]]),
            ValueError,
            "; give a Cholesky factor by name, chol=array",
        ),
        (
            lambda: kg.multivariate_normal([0, 0], [[1.0, 2.0], [2.0, 1.0]]),
            ValueError,
            "multivariate_normal: cov array is not positive definite",
        ),
        (
            lambda: kg.multivariate_normal([0, 0], [[1.0, 0.0], [0.0, 0.0]]),
            ValueError,
            "multivariate_normal: cov array is not positive definite",
        ),
        (
            lambda: kg.multivariate_normal([0, 0], chol=[[1.0, 2.0], [0.0, 1.0]]),
            ValueError,
            "must be lower triangular with a positive diagonal",
        ),
        (
            lambda: kg.multivariate_normal(np.zeros(3), np.eye(2)),
            kg.ShapeError,
            "of shape (3,) does not fit a 2 x 2 matrix",
        ),
        (
            lambda: kg.multivariate_normal(np.zeros((2, 5)), np.eye(2)),
            kg.ShapeError,
            "each row is a separate realisation: transpose?",
        ),
        (
            lambda: kg.lkj_correlation(1, 1),
            kg.ShapeError,
            "dim must be a whole number of at least 2",
        ),
        (lambda: kg.random_walk(9, kg.half_normal(1, name="s")), kg.ShapeError, "got the array s"),
        (lambda: kg.lkj_cholesky(3, 2.5), kg.ShapeError, "and the second value by position"),
        (lambda: kg.student(0, 1, 3), ValueError, "the values is student(df, mu, sigma)"),
        (lambda: kg.binomial(0.3, 10), ValueError, "the values is binomial(size, prob)"),
        (lambda: kg.categorical(5), kg.ShapeError, "; 5 equal numbers are np.full(5, 1 / 5)"),
        (lambda: kg.dirichlet(3), kg.ShapeError, "; a vector of 3 ones is np.ones(3)"),
        (
            lambda: kg.normal(0, 1, dims=kg.groups(["a", "b"], "g")),
            kg.DimsError,
            "; give its dimension, as in dims=county.dim",
        ),
        (lambda: kg.lkj_correlation(-1, 2), ValueError, "lkj_correlation: eta must be positive"),
        (
            lambda: kg.variable(lower=2, upper=1, name="s"),
            ValueError,
            "variable 's': lower must be below upper, got lower 2 and upper 1",
        ),
        (
            lambda: kg.variable(lower=[0, 1], upper=1),
            ValueError,
            "lower must be below upper, got lower 1 and upper 1 at index 1",
        ),
        (
            lambda: kg.variable(lower="a"),
            TypeError,
            "variable: lower must be a number, or an array of numbers, got 'a' (test_errors",
        ),
        (lambda: kg.variable(upper=np.nan), ValueError, "variable: upper is NaN"),
        (
            lambda: kg.variable(lower=np.inf),
            ValueError,
            "lower is inf, so that no value is allowed",
        ),
        (
            lambda: kg.variable(lower=[0, 1], upper=[2, 3, 4]),
            kg.ShapeError,
            "lower of shape (2,) and upper of shape (3,) do not fit together",
        ),
        (
            lambda: kg.variable(lower=kg.normal(0, 1, shape=2), upper=np.ones(3)),
            kg.ShapeError,
            "lower of shape (2,) and upper of shape (3,) do not fit together",
        ),
        (
            lambda: kg.variable(lower=[0, 1], shape=3),
            kg.ShapeError,
            "variable: bounds of shape (2,) do not fit shape (3,)",
        ),
        (lambda: kg.simplex_variable(1), kg.ShapeError, "at least 2 elements, got shape (1,)"),
        (
            lambda: kg.ordered_variable((3, 1)),
            kg.ShapeError,
            "at least 2 elements, got shape (3, 1)",
        ),
        (
            lambda: kg.cholesky_variable(1),
            kg.ShapeError,
            "dim, the number of rows of the matrix, must be a whole number above 1, got 1",
        ),
        (
            lambda: kg.covariance_variable(1),
            kg.ShapeError,
            "covariance_variable: dim, the number of rows",
        ),
        (
            lambda: kg.correlation_variable(0),
            kg.ShapeError,
            "correlation_variable: dim, the number of rows",
        ),
        (lambda: kg.cholesky_variable(2.5), kg.ShapeError, "a whole number above 1, got 2.5"),
    ],
)
def test_parameters(make, error, text):
    with refused(error, text):
        make()


def test_bad_data_parameter_is_named():
    scale = kg.data([1.0, 0.0])
    with refused(ValueError, "normal: sd must be positive, got 0.0 at index 1 in scale"):
        kg.normal(0, scale)


# Models ------------------------------------------------------------------------------------------


def test_targets():
    y = kg.data(1.0)
    mu = kg.normal(0, 1)
    with refused(kg.ModelError, "model: a target, y, is data (test_errors.py"):
        kg.model(y)
    with refused(kg.ModelError, "model: target 'z', y, is data"):
        kg.model(z=y)
    with refused(TypeError, "model: a target is the number 1.0 (test_errors.py"):
        kg.model(1.0)
    with refused(kg.ModelError, "model: none of the arrays in the model are unknown"):
        kg.model(y + 1)
    with refused(kg.ModelError, "one array is given two names, 'a' and 'b'"):
        kg.model(a=mu, b=mu)
    with refused(kg.ModelError, "one array is given as mu by position and as b= (test_errors.py"):
        kg.model(mu, b=mu)
    assert kg.model(mu, mu=mu).names == ("mu",)
    with refused(TypeError, "a factor must be an array of real numbers, got the number 3.0"):
        kg.model(mu, factors=[3.0])


def test_no_targets_in_scope():
    with refused(kg.ModelError, ": name the arrays whose posterior you want"):
        kg.model()


def test_no_density():
    x = kg.variable(lower=0)
    with refused(
        kg.ModelError, "none of the arrays in the model are associated with a probability"
    ):
        kg.model(x)


def test_flat_unknown_without_density():
    mu = kg.normal(0, 1)
    x = kg.variable()
    with pytest.raises(
        kg.ModelError,
        match=r"no density depends on x \(written at test_errors.py:\d+\), which is flat",
    ):
        kg.model(mu, x)


def test_discrete_unknown():
    k = kg.poisson(3.0)
    with pytest.raises(
        kg.ModelError,
        match=r"model: k \(written at test_errors.py:\d+\) is a discrete unknown with infinitely",
    ):
        kg.model(k, kg.normal(0, 1))


def test_placeholder():
    x = kg.placeholder()
    mu = kg.normal(x, 1)
    with refused(kg.ModelError, "model: x (written at test_errors.py"):
        kg.model(mu)


def test_values():
    a = kg.gamma(1, 1)
    b = kg.dirichlet([1.0, 1.0])
    low = kg.normal(0, 1)
    c = kg.uniform(low, 5)
    m = kg.model(a, b, c)
    good = {"a": 1.0, "b": [0.5, 0.5], "low": 0.0, "c": 1.0}
    with refused(kg.ModelError, "'d' is not an unknown of this model; its unknowns are a, b"):
        m.untransform({**good, "d": 1.0})
    with refused(kg.ModelError, "values are missing for b, c"):
        m.untransform({"a": 1.0, "low": 0.0})
    with refused(kg.ShapeError, "b: expected shape (2,), got (3,)"):
        m.untransform({**good, "b": [0.2, 0.3, 0.5]})
    with refused(ValueError, "a: must be at least 0, got -1 (test"):
        m.untransform({**good, "a": -1.0})
    with refused(ValueError, "a: must be at least 0 and finite, got inf (test"):
        m.untransform({**good, "a": np.inf})
    with refused(ValueError, "; values on a bound have no free"):
        m.untransform({**good, "a": 0.0})
    with refused(ValueError, "b: must be positive with sum 1 along the last axis, got [0.5 0.6]"):
        m.untransform({**good, "b": [0.5, 0.6]})
    with refused(ValueError, "c: must be between low and 5, got -1 (test"):
        m.untransform({**good, "c": -1.0})
    with refused(ValueError, "c: must be between low and 5, got 5 (test"):
        m.untransform({**good, "c": 5.0})


def test_free_state_of_the_wrong_length():
    a, b = kg.normal(0, 1), kg.normal(0, 1, shape=2)
    m = kg.model(a, b)
    with refused(
        kg.ShapeError, "a free state of this model has 3 numbers (a 1, b 2), got shape (2,)"
    ):
        m.log_prob([1.0, 2.0])


def test_observe_with_its_arguments_exchanged():
    y = kg.data([1.0, 2.0])
    with pytest.raises(TypeError, match="swapped"):
        kg.observe(kg.normal(0, 1), y)


def test_coords_of_no_dimension():
    x = kg.normal(0, 1, shape=2, dims="school")
    with pytest.raises(kg.DimsError, match=r"'schol', which is not a dimension.*are: school"):
        kg.model(x, coords={"schol": ["A", "B"]})


def test_coords_that_are_no_dictionary():
    x = kg.normal(0, 1, shape=2, dims="school")
    with refused(kg.DimsError, "got ['A', 'B']"):
        kg.model(x, coords=["A", "B"])


@pytest.mark.parametrize("dims", [3, (3,), [("a", "b")]])
def test_dims_that_are_no_names(dims):
    for make in (lambda: kg.normal(0, 1, shape=2, dims=dims), lambda: kg.data([1, 2], dims=dims)):
        with refused(kg.DimsError, "dims must be names of axes, such as 'school', or "):
            make()


def test_no_other_order_of_values_is_named_if_none_fits():
    with pytest.raises(ValueError, match=r"sd must be positive, got -1.0 \(\S+\)$"):
        kg.normal(0, -1)


@pytest.mark.parametrize(
    ("shape", "part"), [((30, 1), "data[:, 0]"), ((30, 1, 3), "data[:, 0, :]")]
)
def test_data_with_an_axis_of_length_1(shape, part):
    mu = kg.normal(0, 1, shape=(30, *shape[2:]), name="mu")
    with refused(kg.ShapeError, f"have an axis of length 1: observe {part}.") as caught:
        kg.observe(np.zeros(shape), kg.normal(mu, 1))
    assert "transposed" not in str(caught.value)


@pytest.mark.parametrize(
    "cov",
    [
        lambda sd, factor: factor,
        lambda sd, factor: kg.diag(sd) @ factor,
        lambda sd, factor: factor @ kg.diag(sd),
        lambda sd, factor: sd[:, None] * factor,
        lambda sd, factor: 2.0 * kg.cholesky(factor @ factor.T + np.eye(2)),
    ],
)
def test_a_cholesky_factor_is_not_taken_for_a_covariance(cov):
    sd, factor = kg.half_normal(1, shape=2, name="sd"), kg.lkj_cholesky(2, 2, name="factor")
    matrix = cov(sd, factor)
    for make, name in (
        (lambda: kg.multivariate_normal([0, 0], matrix), "cov"),
        (lambda: kg.multivariate_student(3, [0, 0], matrix), "cov"),
        (lambda: kg.wishart(5, matrix), "scale"),
    ):
        with pytest.raises(ValueError, match=f"{name} .* is a Cholesky factor, .*by name, chol="):
            make()


def test_covariances_that_are_computed_from_factors_are_taken():
    sd, factor = kg.half_normal(1, shape=2, name="sd"), kg.lkj_cholesky(2, 2, name="factor")
    scaled = kg.diag(sd) @ (factor @ factor.T) @ kg.diag(sd)
    for cov in (factor @ factor.T, kg.diag(sd) @ kg.diag(sd), scaled):
        assert kg.multivariate_normal([0, 0], cov).shape == (2,)


def test_texts_and_functions_in_place_of_a_model():
    def build():
        return kg.normal(0, 1)

    with refused(TypeError, "make one with kg.formula('y ~ x', data)"):
        kg.mcmc("y ~ x")
    with refused(TypeError, "make one with kg.model(build)"):
        kg.mcmc(build)
    with refused(kg.ModelError, "A model is made after its arrays, without a `with` block"):
        kg.model()


def test_parameters_of_the_distribution_given_to_observe():
    with refused(TypeError, "it is a parameter of the distribution"):
        kg.observe([1.0], kg.normal(0, 1), censoring=(None, 2.0))


def test_exchanged_parameters_of_which_one_is_unknown():
    p, n = kg.beta(1, 1), np.array([10, 12])
    with refused(ValueError, "; the order of the values is binomial(size, prob)"):
        kg.binomial(p, n)
    with refused(ValueError, "got 148.0"):
        kg.binomial(10, 148.0)
