"""Calibration of posteriors whose forms are chosen in warm-up, by simulation."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.models import centring

SIMULATIONS, LEAST = 100, 1e-6


def nested():
    """Classes in schools in districts, with a scale for each level."""
    school, pupil = np.repeat([0, 1, 2], 3), np.repeat(np.arange(9), [1, 2, 20] * 3)
    mu, scales = kg.normal(0, 1, name="mu"), kg.half_normal(1, shape=3, name="scales")
    district = kg.normal(mu, scales[0], shape=3, name="district")
    schools = kg.normal(district[school], scales[1], name="schools")
    kg.observe(kg.data(np.zeros(len(pupil))), kg.normal(schools[pupil], scales[2] + 0.1), name="y")
    return kg.model(mu, scales, district, schools)


def crossed():
    """Two crossed effects, one written centred and one written non-centred."""
    rows, columns = (index.ravel() for index in np.indices((4, 5)))
    mu, sd = kg.normal(2, 0.5, name="mu"), kg.lognormal(-1, 0.7, shape=2, name="sd")
    by_row = kg.normal(mu, sd[0], shape=4, name="by_row")
    z = kg.normal(0, 1, shape=5, name="z")
    rate = kg.exp(by_row[rows] + (sd[1] * z)[columns])
    kg.observe(kg.data(np.zeros(20, int)), kg.poisson(rate), name="y")
    return kg.model(mu, sd, by_row, z)


def slopes():
    """Correlated intercepts and slopes: the slope of a group follows its intercept."""
    group, x = np.repeat(np.arange(6), 4), np.tile([-1.0, 0.0, 1.0, 2.0], 6)
    sd, mean = kg.half_normal(1, shape=2, name="sd"), kg.normal(0, 1, shape=2, name="mean")
    tilt = kg.normal(0, 0.5, name="tilt")
    intercept = kg.normal(mean[0], sd[0], shape=6, name="intercept")
    slope = kg.normal(mean[1] + tilt * (intercept - mean[0]), sd[1], name="slope")
    kg.observe(kg.data(np.zeros(24)), kg.normal(intercept[group] + slope[group] * x, 0.5), name="y")
    return kg.model(sd, mean, tilt, intercept, slope)


def positive():
    """Positive unknowns of a lognormal law, with student unknowns below them."""
    centre, width = kg.normal(0, 0.5, name="centre"), kg.half_normal(0.7, name="width")
    scale = kg.lognormal(centre, width, shape=4, name="scale")
    effect = kg.student(5, 0, scale, name="effect")
    kg.observe(kg.data(np.zeros((3, 4))), kg.normal(effect, 1), name="y")
    return kg.model(centre, width, scale, effect)


def summed_out():
    """Members of two groups with unknown means around an unknown center."""
    centre, width = kg.normal(0, 1, name="centre"), kg.half_normal(1, name="width")
    means = kg.normal(centre, width, shape=2, name="means")
    member = kg.bernoulli(0.3, shape=10, name="member")
    kg.observe(kg.data(np.zeros(10)), kg.normal(means[member], 0.5), name="y")
    return kg.model(centre, width, means)


@pytest.mark.slow
@pytest.mark.parametrize("build", [nested, crossed, slopes, positive, summed_out])
def test_ranks_are_uniform(build):
    tree = kg.calibration(kg.model(build), SIMULATIONS, ranks=39, draws=300, chains=2, seed=1)
    values = np.concatenate([v.values.ravel() for v in tree["p_values"].data_vars.values()])
    assert values.min() > LEAST / values.size
    assert tree.attrs["runs_with_warnings"] < SIMULATIONS


@pytest.mark.slow
def test_a_map_without_its_jacobian_is_found(monkeypatch):
    """The negative control; other tests do not sample its model, so that no cache has a program."""
    right = centring.shifted

    def wrong(*arguments):
        x, log_jacobian = right(*arguments)
        return x, 0.0 * log_jacobian

    monkeypatch.setattr(centring, "shifted", wrong)
    width = kg.half_normal(1, name="width")
    effect = kg.normal(0, width, shape=7, name="effect")
    kg.observe(kg.data(np.zeros(7)), kg.normal(effect, 2), name="y")
    model = kg.model(width, effect)
    tree = kg.calibration(model, SIMULATIONS, ranks=39, draws=300, chains=2, seed=1)
    assert tree["p_values"]["width"].item() < LEAST
