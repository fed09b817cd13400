"""Tuned values of one run in another one."""

import json
from functools import cache

import numpy as np
import pytest
import xarray as xr
from tests.runs.models import gaussian, run, schools

import kinetograph as kg
from kinetograph.programs.program import Program
from kinetograph.runs.earlier_tuning import tuned_values

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")


@pytest.fixture(scope="module")
def tree():
    return run(schools(), chains=2)


@cache
def regression(names=("a", "b"), size=3):
    """A model of no draws, for what is refused before it is compiled."""
    a, b = kg.normal(0, 1, name=names[0]), kg.normal(0, 1, shape=size, name=names[1])
    return kg.model(a, b)


def state_of(tree, name):
    return tree["sampler_state"][name].values


def test_a_run_goes_on_with_them_where_the_other_ended(tree):
    """As a chain does whose step size and scale are set by hand."""
    last = tree["sampler_state/position_q"]
    more = run(schools(), tuned=tree, warmup=0, initial=last, seed=8, draws=70)
    for name in ("hyper_step_size", "hyper_scale"):
        np.testing.assert_array_equal(state_of(more, name), state_of(tree, name))
    np.testing.assert_array_equal(state_of(more, "start_position_q"), last)
    for k in range(2):
        chain = kg.chain(schools(), seed=8, index=k, initial=last.values[k])
        chain.hyper["step_size"] = state_of(tree, "hyper_step_size")[k]
        chain.hyper["scale"] = state_of(tree, "hyper_scale")[k]
        np.testing.assert_array_equal(chain.step(70).posterior["tau"], more["posterior"]["tau"][k])


def test_more_chains_take_them_by_turns(tree):
    more = run(schools(), tuned=tree, warmup=0, chains=5)
    steps = state_of(tree, "hyper_step_size")
    np.testing.assert_array_equal(state_of(more, "hyper_step_size"), steps[[0, 1, 0, 1, 0]])
    assert len(np.unique(more["posterior"]["mu"][:, -1])) == 5


def test_warm_up_begins_with_them(tree):
    """The first transition is made with them; then they move."""
    given = tree.copy(deep=True)
    given["sampler_state"]["hyper_step_size"][:] = [0.123, 0.0456]
    more = run(schools(), tuned=given, warmup=1, draws=1)
    found = state_of(more, "adaptation_step_mu")
    np.testing.assert_allclose(found, np.log(10 * np.array([0.123, 0.0456])))
    assert not np.any(state_of(more, "hyper_step_size") == [0.123, 0.0456])


def test_a_target_that_has_risen_stays_so_unless_it_is_given(tree):
    given = tree.copy(deep=True)
    given["sampler_state"]["hyper_target_acceptance"][:] = [0.9, 0.7]
    options = {"tuned": given, "warmup": 0, "draws": 1}
    found = state_of(run(schools(), **options), "hyper_target_acceptance")
    np.testing.assert_array_equal(found, [0.9, 0.8])
    fixed = run(schools(), sampler=kg.samplers.NUTS(target_acceptance=0.85), **options)
    np.testing.assert_array_equal(state_of(fixed, "hyper_target_acceptance"), [0.85, 0.85])


def test_results_of_a_file_are_as_good(tree, tmp_path):
    tree.to_netcdf(tmp_path / "tree.nc", engine="h5netcdf")
    with xr.open_datatree(tmp_path / "tree.nc", engine="h5netcdf") as opened:
        more = run(schools(), tuned=opened, warmup=0, draws=1)
    steps = state_of(tree, "hyper_step_size")
    np.testing.assert_array_equal(state_of(more, "hyper_step_size"), steps)


def made_up(sampler="NUTS", unknowns='{"a": 1, "b": 3}', **values):
    """Results of two chains as far as they are looked at."""
    held = {"step_size": [0.3, 0.4], "scale": np.ones((2, 4)), "target_acceptance": [0.8, 0.8]}
    held |= values
    state = {
        f"hyper_{name}": (("chain", *(f"{name}_{i}" for i in range(np.ndim(value) - 1))), value)
        for name, value in held.items()
        if value is not None
    }
    tree = xr.DataTree(children={"sampler_state": xr.DataTree(xr.Dataset(state))})
    tree.attrs.update({"sampler": sampler, "unknowns": unknowns})
    return tree


def directions(room, count):
    """Of the metric of two chains."""
    return {
        "directions_vectors": np.broadcast_to(np.eye(room, 4), (2, room, 4)),
        "directions_stretches": np.full((2, room), 3.0),
        "directions_count": [count, count],
    }


def without(attribute):
    tree = made_up()
    del tree.attrs[attribute]
    return tree


WRONG = {
    "expected results of kg.mcmc, got int": (TypeError, 3),
    "expected results of kg.mcmc, got dict": (TypeError, {"step_size": 0.3}),
    "expected results of kg.mcmc, got Dataset": (TypeError, made_up()["sampler_state"].dataset),
    "got DataTree without the group sampler_state": (TypeError, xr.DataTree()),
    "attributes unknowns and sampler: give the complete results": (
        TypeError,
        without("unknowns"),
    ),
    "'many', does not list the unknowns": (TypeError, made_up(unknowns="many")),
    "come from HMC, .* not fit NUTS .*; give results of NUTS, or sampler=HMC": (
        ValueError,
        made_up("HMC"),
    ),
    "another model: the unknown 'b' has 5 free numbers there and 3 free numbers here": (
        kg.ModelError,
        made_up(unknowns='{"a": 1, "b": 5}'),
    ),
    "the unknown 'c' has 1 free number there and none here": (
        kg.ModelError,
        made_up(unknowns='{"a": 1, "c": 1, "b": 3}'),
    ),
    "the unknown 'b' has none there and 3 free numbers here": (
        kg.ModelError,
        made_up(unknowns='{"a": 1}'),
    ),
    "in the order b, a there, a, b here": (kg.ModelError, made_up(unknowns='{"b": 3, "a": 1}')),
    "has no hyper_scale: give the complete results": (ValueError, made_up(scale=None)),
    "hyper_scale has shape .3,. for a chain, and .4,. is expected": (
        ValueError,
        made_up(scale=np.ones((2, 3))),
    ),
    "chain 1 of the results: NUTS: step_size must be positive": (
        ValueError,
        made_up(step_size=[0.3, 0.0]),
    ),
    "room for 2 directions, and the metric of NUTS.* for 4 .*; give a sampler with the metric": (
        ValueError,
        made_up(**directions(2, 1)),
    ),
    "has room for 0 directions": (ValueError, made_up(directions_count=[1, 1])),
    "chain 0 of the results: NUTS: directions: vectors must be orthonormal": (
        ValueError,
        made_up(**(directions(4, 2) | {"directions_vectors": np.ones((2, 4, 4))})),
    ),
    "chain 0 of the results: NUTS: scale must be finite": (
        ValueError,
        made_up(scale=np.full((2, 4), np.nan)),
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_does_not_fit_is_refused(message, monkeypatch):
    """Before anything is compiled."""
    kind, results = WRONG[message]
    monkeypatch.setattr("kinetograph.runs.run.build", None)
    with pytest.raises(kind, match=f"^mcmc: tuned: .*{message}"):
        run(regression(), tuned=results)


def test_directions_of_the_metric_are_taken_too():
    """As far as there is room for them."""
    program = Program(regression(), kg.samplers.NUTS(), [])
    given = made_up(**directions(4, 2))
    (found,) = tuned_values(program, [kg.samplers.NUTS()], given)
    np.testing.assert_array_equal(found["directions"].vectors, np.eye(4))
    assert found["directions"].count == 2
    diagonal = kg.samplers.NUTS(metric="diagonal")
    program = Program(regression(), diagonal, [])
    with pytest.raises(
        ValueError, match=r"metric='diagonal'\) has none; .* NUTS\(metric=\"auto\"\)"
    ):
        tuned_values(program, [diagonal], given)
    assert "directions" not in tuned_values(program, [diagonal], made_up(**directions(4, 0)))[0]


def test_a_sampler_that_tunes_nothing_is_told():
    with pytest.raises(ValueError, match=r"SGLD\(step_size=0.1\) tunes nothing.* leave out tuned="):
        run(gaussian(), sampler=kg.samplers.SGLD(0.1), tuned=made_up("SGLD", '{"x": 1}'))


def test_unknowns_are_noted(tree):
    assert json.loads(tree.attrs["unknowns"]) == {"mu": 1, "tau": 1, "z": 8}
