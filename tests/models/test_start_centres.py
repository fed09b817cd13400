"""Random starting points lie where known priors are."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.models.start_centres import start_centres


def centres(*unknowns):
    model = kg.model(*unknowns)
    found = start_centres(model)
    return None if found is None else {n: found[p] for n, p in _places(model).items()}


def _places(model):
    return {model.name(v): place for v, place in model.density.slices.items()}


@pytest.mark.parametrize(
    ("unknown", "expected"),
    [
        (lambda: kg.lognormal(-6, 1), -6),
        (lambda: kg.normal(100, [5, 1000]), [100, 0]),
        (lambda: kg.student(3, -40, 2, shape=2), -40),
        (lambda: kg.exponential(1e4), -np.log(1e4)),
        (lambda: kg.gamma(2, 2e-5), np.log(1e5)),
        (lambda: kg.inverse_gamma(3, 3e6), np.log(1e6)),
        (lambda: kg.half_normal(1e-3), np.log(1e-3)),
        (lambda: kg.half_cauchy(1e6), np.log(1e6)),
        (lambda: kg.half_student(3, 1e6), np.log(1e6)),
        (lambda: kg.weibull(2, 1e6), np.log(1e6)),
    ],
)
def test_a_prior_far_away(unknown, expected):
    x = unknown()
    (centre,) = centres(x).values()
    np.testing.assert_allclose(centre, np.broadcast_to(expected, centre.shape))


def test_other_unknowns_start_around_0():
    mu = kg.normal(3.9, 1)
    near = kg.normal(mu, 1), kg.lognormal(-3, 1), kg.exponential(1), kg.normal(0, 1e6)
    bounded = kg.normal(50, 1, truncation=(40, None)), kg.beta(1, 1000), kg.variable(0, 1)
    given = kg.normal(kg.data(100.0, name="given"), 1)
    assert centres(mu, *near, *bounded, given) is None


def test_chains_begin_there():
    scale, x = kg.lognormal(-9, 0.5, name="scale"), kg.normal(1000, 1, name="x")
    kg.observe(np.full(3, 1e-4), kg.exponential(1 / scale))
    model = kg.model(scale, x)
    tree = kg.mcmc(model, draws=3, warmup=0, chains=2, seed=1, progress=False, initial="random")
    assert abs(np.log(tree["posterior"]["scale"].values[:, 0]) + 9).max() < 3
    assert abs(tree["posterior"]["x"].values[:, 0] - 1000).max() < 3
    found = kg.opt(model, seed=1)
    assert abs(float(found.values["x"]) - 1000) < 1e-3
