"""Pools of weighted draws: exact weights and evidence, rounds, other modes."""

import numpy as np
from scipy import stats
from tests.approximations.models import COVARIANCE, MEAN, check_moments, correlated, evidence

import kinetograph as kg
from kinetograph.approximations.low_rank import LowRankNormal
from kinetograph.approximations.pool import OUTSIDE, ROUND, Pool, fill, scouts
from kinetograph.optimizers.objective import Objective


def normal(mean, deviation):
    return LowRankNormal.of_rows(np.atleast_1d(mean), np.diag(np.atleast_1d(deviation)))


def test_weights_are_those_of_the_mixture():
    model, mean, deviation, log_z = evidence()
    pool = Pool(Objective(model, True), 1)
    near, far = normal(mean, deviation), normal(mean + 1, deviation)
    pool.add([(near, 300, 0), (far, 100, OUTSIDE)])
    pool.add([(near, 200, 0)])
    free = pool.free[:, 0]
    mixed = 5 / 6 * stats.norm(mean, deviation).pdf(free)
    mixed += 1 / 6 * stats.norm(mean + 1, deviation).pdf(free)
    np.testing.assert_allclose(pool.log_q, np.log(mixed), rtol=1e-10)
    np.testing.assert_array_equal(pool.label, [0] * 300 + [OUTSIDE] * 100 + [0] * 200)
    assert len(np.unique(free)) == 600
    # The posterior is a part of the mixture, so control variates leave no error.
    np.testing.assert_allclose(pool.evidence([near]), (log_z, 0.0), atol=1e-9)
    plain, error = pool.evidence([])
    assert abs(plain - log_z) < 6 * error
    np.testing.assert_allclose(pool.elbo(near, 0), log_z, rtol=1e-10)


def test_a_good_approximation_takes_one_round():
    objective = Objective(correlated(), True)
    law = LowRankNormal.of_rows(MEAN, np.linalg.cholesky(COVARIANCE).T)
    pool, weights = fill(objective, [(law, 0)], [], 10, 1)
    assert len(pool.free) <= ROUND
    assert weights.efficiency > 0.5


def test_rounds_find_a_covariance_that_the_approximation_lacks():
    """The approximation has a wrong mean and a fifth of the deviations."""
    objective = Objective(correlated(), True)
    law = normal(MEAN + 1, 0.2 * np.sqrt(np.diag(COVARIANCE)))
    pool, weights = fill(objective, [(law, 0)], [], 10, 1)
    assert len(pool.free) > ROUND
    assert weights.efficiency > 0.25
    mean = weights.weight @ pool.free
    rows = pool.free[np.random.default_rng(0).choice(len(pool.free), 2000, p=weights.weight)]
    check_moments(rows, MEAN, COVARIANCE, 0.5)
    np.testing.assert_allclose(mean, MEAN, atol=0.2)


def test_fitted_distributions_do_not_bias_the_evidence():
    """Draws used for a fit would shift log Z by 0.1."""
    x = kg.normal(0.0, 1.0, shape=40, name="x")
    objective = Objective(kg.model(x), True)
    law = normal(np.zeros(40), 1.2 * np.ones(40))
    pool = fill(objective, [(law, 0)], [], 10, 1)[0]
    assert len(pool.free) > ROUND
    log_z, error = pool.evidence([])
    assert abs(log_z) < 6 * error < 0.08


def test_scouts_see_other_modes_and_models_without_a_start_have_none():
    x = kg.variable(shape=2, name="x")
    hills = [-0.5 * kg.sum((x - 3.0) ** 2), -0.5 * kg.sum((x + 3.0) ** 2)]
    model = kg.model(x, factors=[kg.logsumexp(kg.stack(hills))])
    at = {round(law.mean[0]) for law in scouts(Objective(model, True), 1, "here")}
    assert at == {-3, 3}
    z = kg.variable(name="z")
    nowhere = kg.model(z, factors=[kg.log(-kg.exp(z))])
    assert scouts(Objective(nowhere, True), 1, "here") == []
