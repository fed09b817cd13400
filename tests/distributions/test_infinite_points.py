"""Log densities at infinity: -inf without a slope, in agreement with SciPy."""

import numpy as np
import pytest
from tests.distributions.cases.every import CASES

import kinetograph as kg
from kinetograph.distributions.family import FAMILIES


def parameters_of(name):
    case = CASES[name]
    sets = [*case.draws, *case.sets, *case.moment_sets]
    return sets[0] if sets else tuple(value for value, _ in case.parameters.values())


def made(name):
    return (CASES[name].make or getattr(kg, name))(*parameters_of(name))


SCALARS = [
    name
    for name in CASES
    if name in FAMILIES
    and not FAMILIES[name].event_ndim
    and (CASES[name].make or hasattr(kg, name))
]


def at_infinity(distribution):
    x = kg.placeholder(name="x")
    density = kg.log_density(distribution, x)
    run = kg.compile([x], [density, kg.gradients(density, x)])
    return np.array([run(np.inf), run(-np.inf)], float)


@pytest.mark.parametrize("name", SCALARS)
def test_the_density_is_zero_without_a_slope(name):
    assert at_infinity(made(name)).tolist() == [[-np.inf, 0.0]] * 2


@pytest.mark.parametrize("name", [name for name in SCALARS if CASES[name].law])
def test_scipy_agrees(name):
    law = CASES[name].law(*parameters_of(name))
    function = getattr(law, "logpmf" if FAMILIES[name].discrete else "logpdf", None)
    values = [np.ravel(function(x))[0] for x in (np.inf, -np.inf)] if function else []
    assert all(value == -np.inf or np.isnan(value) for value in values)  # SciPy may subtract inf


def test_mixtures_of_equal_and_of_different_supports():
    for second in (lambda: kg.logistic(1, 2), lambda: kg.exponential(1.0)):
        mixed = kg.mixture(kg.logistic(0, 1), second(), weights=[0.5, 0.5])
        values = at_infinity(mixed)
        assert values[:, 0].tolist() == [-np.inf] * 2
        assert not np.isnan(values).any()


@pytest.mark.parametrize("make", [kg.logistic, kg.gumbel])
def test_a_model_with_an_infinite_element(make):
    x = make(0.0, 1.0, shape=2, name="x")
    assert kg.model(x).log_prob([-np.inf, 0.5]) == -np.inf


def test_infinite_counts_are_not_data():
    with pytest.raises(kg.DataError, match="inf"):
        kg.log_density(kg.poisson(2.0), np.array([1.0, np.inf]))
