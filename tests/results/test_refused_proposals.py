"""Solutions that could not be had: refused, counted, and named with the solver."""

import warnings

import numpy as np
import pytest
import xarray as xr

import kinetograph as kg
from kinetograph.results.refused_proposals import refused

SEEN = np.array([1.2, 1.5])


def rooted(**options):
    """y' = sqrt(1 - x): there is no solution for x above 1, and its posterior is up to there."""
    x = kg.lognormal(0.0, 0.5, name="x")
    y = kg.ode.solve(lambda t, y: kg.sqrt(1 - x) + 0 * y, 1.0, [0.0, 1.0, 2.0], **options)
    kg.observe(SEEN, kg.normal(y[1:], 0.5))
    return kg.model(x)


def told(model, sampler=None, **options):
    """The results and their findings, which are those that were warned of."""
    lengths = {"draws": 200, "warmup": 100, "chains": 2} | options
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tree = kg.mcmc(model, sampler, seed=1, progress=False, **lengths)
    found = {advice.kind: advice for advice in kg.diagnose(tree)}
    assert [str(w.message) for w in caught] == [advice.message for advice in found.values()]
    return tree, found


def check_refused(tree, found):
    stats = tree["sample_stats"].dataset
    count = stats["bad"].values.sum()
    assert (tree.posterior["x"].values < 1).all()
    assert found["unsolved"].count == count > 0
    assert f"in {count} of {stats['bad'].size} draws" in found["unsolved"].message
    assert "by kg.ode.solve (test_refused_proposals.py:18" in found["unsolved"].message


@pytest.mark.parametrize("on_limit", ["nan", pytest.param("error", marks=pytest.mark.slow)])
def test_what_is_refused_is_counted_and_named(on_limit):
    tree, found = told(rooted(on_limit=on_limit), kg.samplers.RandomWalk(0.5))
    check_refused(tree, found)
    stats = tree["sample_stats"].dataset
    assert not (stats["bad"].values & stats["accepted"].values).any()
    assert "steps were used" not in found["unsolved"].message


@pytest.mark.slow
def test_it_is_no_divergence():
    """A trajectory that ends there is not one whose steps were too long."""
    tree, found = told(rooted())
    check_refused(tree, found)
    stats = tree["sample_stats"].dataset
    assert (stats["diverging"].values >= stats["bad"].values).all()
    assert "divergences" not in found


@pytest.mark.slow
def test_steps_that_are_used_up_are_told():
    rate = kg.lognormal(3.0, 2.0, name="rate")
    y = kg.ode.solve(lambda t, y: -rate * (y - kg.cos(t)), 0.0, [0.0, 1.0], max_steps=60)
    kg.observe(0.5, kg.normal(y[1], 0.3))
    _, found = told(kg.model(rate), kg.samplers.RandomWalk(1.0))
    assert "all of its 60 steps were used" in found["unsolved"].message


@pytest.mark.slow
def test_nothing_is_told_where_nothing_was_refused():
    """Nor of a sampler that does not record it; and models without a solver are as they were."""
    k = kg.lognormal(0.0, 0.3, name="k")
    kg.observe(0.4, kg.normal(kg.ode.solve(lambda t, y: -k * y, 1.0, [0.0, 1.0])[1], 0.2))
    tree, found = told(kg.model(k), kg.samplers.RandomWalk(0.5), draws=1000)
    assert not tree["sample_stats/bad"].values.any()
    assert "unsolved" not in found
    tree, found = told(rooted(), kg.samplers.Slice())
    assert "bad" not in tree["sample_stats"]
    assert "unsolved" not in found
    tree, _ = told(kg.model(kg.normal(0.0, 1.0, name="x")))
    assert "bad" not in tree["sample_stats"]
    assert "solvers" not in tree.attrs


def test_a_draw_of_several_proposals_counts_once():
    """As a step of an ensemble has; one that was refused is enough."""
    flags = np.zeros((2, 3, 4), bool)
    flags[0, 1, 2] = flags[1, 2] = True
    stats = xr.Dataset({"bad": (("chain", "draw", "walker"), flags)})
    tree = xr.DataTree(children={"sample_stats": xr.DataTree(stats)})
    none, counted = refused(tree)  # without a solver a proposal may be bad for other reasons
    assert none == []
    assert not counted.any()
    tree.attrs["solvers"] = '["a solver"]'
    solvers, counted = refused(tree)
    assert solvers == ["a solver"]
    assert counted.tolist() == [[False, True, False], [False, False, True]]
