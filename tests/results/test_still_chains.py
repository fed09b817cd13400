"""A run in which no chain moves is told as such, and nothing else is said of its draws."""

import warnings

import numpy as np
import pytest
import xarray as xr
from tests.runs.models import gaussian

import kinetograph as kg

ROWS = ("chain", "draw")


def results(start=None, moves="", chains=2, draws=30) -> xr.DataTree:
    """Draws that are all equal in each chain, except of the quantity that moves."""
    still = np.arange(chains)[:, None] + np.zeros((chains, draws))
    vector = (*ROWS, "i"), np.stack([still] * 4, -1)
    groups = {
        "posterior": {"mu": (ROWS, still.copy()), "x": vector},
        "unknowns": {"z": (ROWS, still.copy())},
        "sample_stats": {
            "lp": (ROWS, still.copy()),
            "acceptance_rate": (ROWS, np.zeros_like(still)),
        },
    }
    coords = {"chain": range(chains), "draw": range(draws)}
    tree = xr.DataTree.from_dict({name: xr.Dataset(g, coords) for name, g in groups.items()})
    for group in groups:
        if moves in tree[group].data_vars:
            tree[group][moves].values[1, 3] = -0.5
    if start is not None:
        state = {"start_position_log_density": ("chain", np.arange(float(chains)) + start)}
        tree["sampler_state"] = xr.DataTree(xr.Dataset(state))
    return tree


def told(tree):
    return [(each.kind, each.count) for each in kg.diagnose(tree)]


@pytest.mark.parametrize(
    ("start", "place"),
    [(0.0, "at its starting point"), (1.0, "where warm-up left it"), (None, "at one point")],
)
def test_the_place_is_told(start, place):
    (advice,) = kg.diagnose(results(start))
    assert (advice.kind, advice.count) == ("still", 2)
    assert advice.message.startswith(
        f"no chain moved: each chain stayed {place} for 30 draws (chain 0: mu = 0, x[0] = 0, "
        "x[1] = 0, ...), so that they tell nothing about the posterior. Each proposal was refused: "
    )


def test_one_chain_is_told_as_well():
    (advice,) = kg.diagnose(results(chains=1))
    assert advice.message.startswith("no chain moved: the chain stayed at one point for 30 draws")


@pytest.mark.parametrize("moves", ["mu", "x", "z", "lp"])
def test_chains_that_move_are_judged_by_their_draws(moves):
    assert "still" not in dict(told(results(moves=moves)))


def test_few_draws_may_be_equal_by_chance():
    assert "still" not in dict(told(results(draws=19)))
    assert told(results(draws=20)) == [("still", 2)]


def test_draws_that_are_no_numbers_are_told_as_such():
    tree = results()
    tree["sample_stats"]["lp"].values[:] = np.nan
    assert "not_finite" in dict(told(tree))


@pytest.mark.parametrize(
    ("sampler", "reason"),
    [
        (kg.samplers.HMC(step_size=1e4, n_steps=3), "Each proposal was refused (step_size 1e+04)"),
        (kg.samplers.HMC(step_size=1e-40, n_steps=3), "too short to change a number (step_size 1e"),
    ],
    ids=["long", "short"],
)
def test_a_run_warns_of_nothing_else(sampler, reason):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        tree = kg.mcmc(gaussian(), sampler, warmup=0, draws=40, chains=2, seed=1, progress=False)
    (text,) = [str(w.message) for w in seen]
    assert "each chain stayed at its starting point for 40 draws" in text
    assert reason in text
    assert "No chain moved" in kg.report(tree).html
