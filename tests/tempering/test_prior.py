"""Draws of the prior as free states."""

import numpy as np
from scipy import stats

import kinetograph as kg
from kinetograph.tempering.prior import AT_ONCE, PriorDraws


def test_draws_continue_and_do_not_repeat():
    sd = kg.exponential(2.0, name="sd")
    kg.observe(0.0, kg.normal(0, sd))
    model = kg.model(sd)
    draws = PriorDraws(model, 1, "temper")
    parts = np.concatenate([draws(n) for n in (3, AT_ONCE, 2000)])
    assert len(np.unique(parts)) == 2003 + AT_ONCE
    np.testing.assert_array_equal(parts, PriorDraws(model, 1, "temper")(len(parts)))
    assert stats.kstest(np.exp(parts[:, 0]), stats.expon(scale=0.5).cdf).pvalue > 1e-6
    later = PriorDraws(model, 1, "temper", 1000)(500)
    assert not np.isin(later, parts).any()
