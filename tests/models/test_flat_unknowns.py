"""Unknowns whose data depend on them through steps alone."""

import warnings

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.models.flat_unknowns import warn_of_flat

T = np.arange(8.0)
Y = np.array([3, 2, 4, 3, 1, 0, 1, 0])


def change_point(of):
    """A model of counts whose rate is `of(change, level)`."""

    def build():
        change, level = kg.uniform(0, 8), kg.exponential(1, shape=2)
        kg.observe(Y, kg.poisson(of(change, level)), name="y")
        return change, level

    return kg.model(build)


@pytest.mark.parametrize(
    ("rate", "step"),
    [
        (lambda c, x: kg.where(T < c, x[0], x[1]), r"T < change"),
        (lambda c, x: x[(T > c).astype(int)], r"T > change"),
        (lambda c, x: x[0] + kg.floor(c), r"floor\(change\)"),
        (lambda c, x: x[0] * np.sign(c - T) + 9.0, r"sign\(change - T\)"),
        (lambda c, x: kg.cond(c > 4.0, lambda: x[0] + 0 * T, lambda: x[1] + 0 * T), "change > 4"),
    ],
)
def test_the_unknown_and_the_step_are_named(rate, step):
    text = (
        rf"depends on change only through steps, as in {step} \(.*\): its gradient by change is 0"
    )
    with pytest.warns(kg.KinetographWarning, match=text):
        warn_of_flat(change_point(rate), "mcmc")


def test_the_place_of_the_step_is_told():
    def rate(c, x):
        return kg.where(T < c, *x)

    line = rate.__code__.co_firstlineno + 1
    with pytest.warns(kg.KinetographWarning, match=rf"written at test_flat_unknowns.py:{line}\)"):
        warn_of_flat(change_point(rate), "mcmc")


@pytest.mark.parametrize(
    "rate",
    [
        lambda c, x: x[0] + (x[1] - x[0]) * kg.ilogit(T - c),
        lambda c, x: kg.where(T < c, x[0], x[0] + (c - T) ** 2),
        lambda c, x: kg.where(T < 3, x[0], x[1] + c),
        lambda c, x: x[0] + kg.abs(c - T),
        lambda c, x: x[0] + kg.scan(lambda s, t: (s + c, s), 0.0, T)[1],
    ],
)
def test_other_unknowns_are_not(rate):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_flat(change_point(rate), "mcmc")


def test_unknowns_above_discrete_ones_and_priors_are_not():
    def build():
        share, scale = kg.beta(1, 1), kg.half_normal(1)
        group = kg.bernoulli(share, shape=8)
        effect = kg.normal(0, scale)
        kg.observe(T, kg.normal(kg.where(group, effect, 0.0), 1), name="t")
        return share, scale, effect

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_flat(kg.model(build), "mcmc")


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
def test_runs_warn_if_the_sampler_moves_by_gradients():
    model = change_point(lambda c, x: kg.where(T < c, x[0], x[1]))
    settings = {"draws": 4, "warmup": 4, "chains": 1, "seed": 1, "progress": False}
    with pytest.warns(kg.KinetographWarning, match=r"kg.discrete_uniform\(0, n\), which is marg"):
        kg.mcmc(model, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("error", kg.KinetographWarning)
        warnings.simplefilter("ignore", kg.SamplingWarning)
        kg.mcmc(model, kg.samplers.Slice(), **settings)


def test_constraints_by_factors_do_not_warn():
    x, z = kg.normal(0, 1, name="x"), kg.normal(0, 1, name="z")
    kg.factor(kg.where(x > 1, -np.inf, 0.0))
    kg.observe(0.5, kg.normal(x, 1), name="y")
    kg.factor(kg.where(z > 1, -np.inf, 0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_flat(kg.model(x), "mcmc")
        warn_of_flat(kg.model(z), "mcmc")
