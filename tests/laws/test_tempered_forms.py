"""The law of a power of the density does not depend on the coordinates that warm-up chooses."""

import numpy as np
import pytest
from scipy import stats
from tests.laws.helpers import assert_mean

import kinetograph as kg

BETA = 0.25
LEVELS = np.array([0.05, 0.25, 0.5, 0.75, 0.95])


def bounded():
    """x^2 / (2 / beta) of a half-normal x, whose free number is log x, is Gamma(beta / 2)."""
    x = kg.half_normal(1, name="x")
    return kg.model(x), "x", lambda x: stats.gamma(BETA / 2).cdf(0.5 * BETA * x**2)


def funnel():
    """The density N(th | 0, e^v)^beta leaves the weight e^((1 - beta) v) for v."""
    v = kg.normal(0, 1, name="v")
    th = kg.normal(0, kg.exp(v), name="th")
    law = stats.norm((1 - BETA) / BETA, BETA**-0.5)
    return kg.model(v, th), "v", law.cdf


@pytest.mark.parametrize("build", [bounded, funnel])
def test_a_power_of_the_density(build):
    model, name, cdf = build()
    sampler = kg.samplers.NUTS(inverse_temperature=BETA)
    tree = kg.mcmc(model, sampler, draws=4000, seed=1, progress=False)
    assert np.any(tree["sampler_state"]["hyper_centring"].values < 0.9)  # a form has been chosen
    levels = cdf(tree["posterior"][name].values)
    for level in LEVELS:
        assert_mean(levels < level, level, what=f"share below the quantile {level}")
    with pytest.raises(AssertionError, match="standard errors"):  # another power is refused
        assert_mean(levels**1.3 < 0.5, 0.5)
