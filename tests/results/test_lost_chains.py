"""Chains that are lost are told by number, and why."""

import numpy as np
import pytest
import xarray as xr
from tests.runs.models import gaussian, run

import kinetograph as kg
from kinetograph.results.lost_chains import lost_chains

CHAINS, DRAWS = 4, 200


def results(density, *, steps=None, starts=None) -> xr.DataTree:
    """Results with this log density, of chains with these step sizes and starts."""
    chains = len(density)
    state = {
        "hyper_step_size": ("chain", np.ones(chains) if steps is None else steps),
        "start_position_log_density": ("chain", np.zeros(chains) if starts is None else starts),
    }
    dims = ("chain", "draw")
    groups = {
        "posterior": xr.Dataset({"x": (dims, np.random.default_rng(1).normal(size=density.shape))}),
        "sample_stats": xr.Dataset({"lp": (dims, density)}),
        "sampler_state": xr.Dataset(state),
    }
    return xr.DataTree.from_dict(groups)


def usual(chains=CHAINS, draws=DRAWS, sd=2.0):
    return -210.0 - sd * np.random.default_rng(2).gamma(2.0, size=(chains, draws))


def test_nobody_is_lost_in_a_good_run():
    assert lost_chains(results(usual())) == {}
    tree = run(gaussian(), draws=200, warmup=200, chains=4)
    assert lost_chains(tree) == {}


@pytest.mark.parametrize("seed", range(5))
def test_nor_where_chains_mix_slowly(seed):
    """Chains whose log densities are autoregressive differ by a standard deviation or two."""
    rng = np.random.default_rng(seed)
    lp = np.zeros((8, 500))
    for t in range(1, 500):
        lp[:, t] = 0.99 * lp[:, t - 1] + rng.normal(size=8)
    assert lost_chains(results(lp)) == {}


def test_a_chain_that_never_left_its_start():
    lp = usual()
    lp[3] = -5e72
    found = lost_chains(results(lp, starts=np.array([0, 0, 0, -5e72])))
    assert list(found) == [3]
    assert found[3].startswith("never left its start (log density -5e+72, the other chains -21")
    found = lost_chains(results(lp))
    assert found[3].startswith("never left the place where warm-up left it")


def test_a_chain_that_hardly_moves():
    lp = usual()
    lp[1] = lp[1].mean() + 1e-3 * np.arange(DRAWS) / DRAWS
    found = lost_chains(results(lp, steps=np.array([1, 3e-9, 1, 1])))
    assert list(found) == [1]
    assert "hardly moves" in found[1]
    assert "step size 3e-09" in found[1]


def test_chains_in_a_lower_mode():
    lp = usual()
    lp[[0, 2]] -= 63.0
    found = lost_chains(results(lp))
    assert list(found) == [0, 2]
    assert found[0].startswith("is 6")
    assert lost_chains(results(lp - 1e6)).keys() == found.keys()
    lp[[0, 2]] += 60.0  # 3 below, at a spread of 2.8: a slow chain may be there
    assert lost_chains(results(lp)) == {}


def test_chains_stuck_in_a_neck_above_those_that_move():
    lp = usual()
    lp[:2] = np.array([[2.6], [0.6]])
    assert list(lost_chains(results(lp))) == [0, 1]


def test_the_odd_one_out_is_named_and_not_the_majority():
    lp = usual()
    lp[2] += 40.0
    found = lost_chains(results(lp))
    assert list(found) == [2]
    assert " above the other chains" in found[2]


def test_chains_that_all_crawl_are_nowhere_in_particular():
    crawl = 0.01 * np.random.default_rng(3).normal(size=(CHAINS, DRAWS))
    lp = np.array([[-2.4], [-1.9], [-2.0], [-2.6]]) + crawl
    tree = results(lp)
    tree["sampler_state/position_q"] = xr.DataArray(np.zeros((CHAINS, 3)), dims=("chain", "d"))
    assert lost_chains(tree) == {}


def test_a_chain_whose_steps_are_orders_shorter():
    found = lost_chains(results(usual(), steps=np.array([0.5, 0.6, 1e-4, 0.7])))
    assert list(found) == [2]
    assert "takes steps of 0.0001, the other chains of 0.6" in found[2]
    assert lost_chains(results(usual(), steps=np.array([0.5, 0.6, 0.05, 0.7]))) == {}


@pytest.mark.parametrize("shape", [(1, 200), (4, 10)])
def test_little_is_said_of_little(shape):
    assert lost_chains(results(np.zeros(shape))) == {}
    lp = usual(*shape)
    lp[0] = -1e9
    assert lost_chains(results(lp)) == {}


def test_they_are_warned_of_with_what_helps():
    lp = usual()
    lp[3] -= 1000
    (advice,) = [a for a in kg.diagnose(results(lp)) if a.kind == "lost_chains"]
    assert advice.count == 1
    assert "not where the other chains are: chain 3 is 1e+03 below" in advice.message
    assert "several modes" in advice.message
    assert "initial=kg.opt(model)" in advice.message


def two_wells() -> kg.Model:
    x = kg.variable(name="x")
    wells = kg.logaddexp(-0.5 * (x - 100) ** 2, -50.0 - 0.5 * (x + 100) ** 2)
    return kg.model(x, factors=[wells])


def test_a_chain_in_a_lower_well_is_named_by_the_run():
    initial = [{"x": 100.0}, {"x": 100.0}, {"x": -100.0}, {"x": 100.0}]
    with pytest.warns(kg.SamplingWarning, match=r"1 of 4 chains .* chain 2 is 5\d"):
        run(two_wells(), sampler=kg.samplers.RandomWalk(), draws=500, chains=4, initial=initial)
