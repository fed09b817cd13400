"""Running averages: NumPy's mean and covariance of the rows, however a run is cut into blocks."""

import jax
import numpy as np
import pytest
import xarray as xr

import kinetograph as kg
from kinetograph.graph.precision import x64
from kinetograph.observables import covariance, kinetic_energy, potential, virial
from kinetograph.programs import program
from kinetograph.programs.averages import Averages
from kinetograph.programs.program import Program
from kinetograph.results.diagnosis import diagnose_averages

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")


def normal():
    mu = kg.normal([10.0, 0.0, -3.0], [1.0, 2.0, 0.5], shape=3, name="mu", dims="axis")
    s = kg.lognormal(0.0, 0.5, name="s")
    return mu, s, kg.model(mu, s, coords={"axis": ["x", "y", "z"]})


MU, S, MODEL = normal()


@kg.observables.observable
def outer(step):
    """A matrix."""
    return step.q[:, None] * step.q[None, :]


WANTED = [covariance(MU), S, potential, kinetic_energy, virial, covariance(outer)]


def run(sampler=None, draws=2300, model=MODEL, **options):
    options = {"warmup": 20, "thin": 2, "chains": 2, "seed": 1, "progress": False} | options
    sampler = sampler or kg.samplers.GLA2(0.1)
    return kg.mcmc(model, sampler, draws, **options)


def check(averages, rows, rtol=1e-12):
    """That averages are those of rows by name, (chain, draw, ...)."""
    for name, mean in averages["mean"].data_vars.items():
        x = np.asarray(rows[name], float)
        scale = np.abs(x).max()
        np.testing.assert_allclose(mean, x.mean(1), rtol=rtol, atol=rtol * scale, err_msg=name)
        variance = averages["variance"][name]
        np.testing.assert_allclose(variance, x.var(1, ddof=1), rtol=10 * rtol, err_msg=name)
    for name, found in averages["covariance"].data_vars.items() if "covariance" in averages else ():
        x = np.asarray(rows[name])
        for i, each in enumerate(found.values):
            if each.ndim == 2:
                np.testing.assert_allclose(each, np.cov(x[i].T), rtol=1e-10, atol=1e-12)
            else:
                for j, one in enumerate(each):
                    np.testing.assert_allclose(one, np.cov(x[i, :, j].T), rtol=1e-10, atol=1e-12)


@pytest.fixture(scope="module")
def tree():
    return run(chains=7, averages=WANTED, observables=[potential, virial, outer])


def test_they_are_the_moments_of_the_rows(tree):
    averages = tree["averages"]
    assert averages["count"].values.tolist() == [2300] * 7
    assert set(averages["mean"].data_vars) == {
        "mu", "s", "potential", "kinetic_energy", "virial", "outer"
    }  # fmt: skip
    check(averages, dict(tree["posterior"].data_vars) | dict(tree["sample_stats"].data_vars))
    full = averages["covariance"]
    assert full["mu"].dims == ("chain", "axis", "axis_other")
    assert full["mu"].sel(axis="x", axis_other="z").shape == (7,)
    assert full["outer"].shape == (7, 4, 4, 4)


def test_without_draws_they_are_the_same_to_the_last_bit(tree, monkeypatch):
    monkeypatch.setattr(program, "ROWS", 317)  # other blocks
    alone = run(chains=1, averages=WANTED, keep=False)
    for kind in ("mean", "variance", "covariance"):
        for name, values in alone["averages"][kind].data_vars.items():
            np.testing.assert_array_equal(values[0], tree["averages"][kind][name][0])
    assert alone["posterior"]["mu"].shape == (1, 0, 3)
    assert alone["sample_stats"]["lp"].shape == (1, 0)
    last = tree["sampler_state"]["position_q"][0]
    np.testing.assert_array_equal(alone["sampler_state"]["position_q"][0], last)


def test_they_change_no_draw_and_are_not_recorded(tree):
    alone = run(chains=1, averages=[potential, virial])
    np.testing.assert_array_equal(alone["posterior"]["mu"][0], tree["posterior"]["mu"][0])
    assert set(alone["sample_stats"].data_vars) == {"lp", "kinetic_energy"}
    alone = run(chains=1, averages=WANTED)  # what was recorded in the other run
    assert set(alone["sample_stats"].data_vars) == {"lp", "kinetic_energy"}


def test_where_none_are_wanted_nothing_is_computed(monkeypatch):
    monkeypatch.setattr(Averages, "add", None)
    bare = Program(MODEL, kg.samplers.SGLD(0.02), MODEL.targets)
    plan = program.Plan(np.int32(1), np.int64(9))
    with x64():
        chain, _ = jax.eval_shape(bare.block, bare.shapes(), MODEL.argument_values, plan)
    assert not jax.tree.leaves(chain.averages)


@pytest.mark.slow
def test_of_walkers():
    sampler = kg.samplers.Stretch(walkers=8)
    tree = run(sampler, 150, averages=[covariance(MU), virial], observables=virial)
    assert tree["averages"].sizes["chain"] == tree["posterior"].sizes["chain"] == 16
    check(tree["averages"], {"mu": tree["posterior"]["mu"], **tree["sample_stats"].data_vars})


@pytest.mark.slow
def test_of_a_batch_of_chains(tree):
    """The draws and averages are those of chains by themselves."""
    batch = run(draws=40, chains=3, chain_method="batch", averages=[MU, potential])
    alone = tree["posterior"]["mu"][:3, :40]
    np.testing.assert_allclose(batch["posterior"]["mu"], alone, rtol=1e-9, atol=1e-9)
    assert batch["averages"]["count"].values.tolist() == [40] * 3
    check(batch["averages"], {"mu": alone, "potential": -batch["sample_stats"]["lp"]}, 1e-9)


def test_interrupted_they_are_of_what_was_done():
    class Interrupts:
        def say(self, text): ...
        def finish(self): ...

        def start(self, chains, lengths, at_once):
            self.chains = chains

        def update(self):
            if min(chain.kept for chain in self.chains) >= 3000:
                raise KeyboardInterrupt

    options = {"draws": 10_000_000, "chains": 1, "averages": WANTED}
    tree = run(keep=False, progress=Interrupts(), **options)
    count = int(tree["averages/count"][0])
    assert tree.attrs["interrupted"]
    assert 3000 <= count < 10_000_000
    options["draws"] = count
    again = run(keep=False, **options)
    np.testing.assert_array_equal(tree["averages/mean/mu"], again["averages/mean/mu"])


def test_by_hand():
    observables = [potential, virial, outer]
    chain = kg.chain(MODEL, kg.samplers.GLA2(0.1), seed=1, averages=WANTED, observables=observables)
    before = chain.state
    rows = [chain.step(n) for n in (1, 400, 0, 900)]
    mu = np.concatenate([r.posterior["mu"] for r in rows])
    u = np.concatenate([r.sample_stats["potential"] for r in rows])
    found = chain.averages
    np.testing.assert_allclose(found["mu"].mean, mu.mean(0), rtol=1e-12)
    np.testing.assert_allclose(found["mu"].covariance, np.cov(mu.T), rtol=1e-10)
    np.testing.assert_allclose(found["potential"].variance, u.var(ddof=1), rtol=1e-11)
    assert found["mu"].count == 1301
    chain.reset_averages()
    assert chain.averages["mu"].count == 0
    mu = chain.step(50).posterior["mu"]
    np.testing.assert_allclose(chain.averages["mu"].mean, mu.mean(0), rtol=1e-12)
    last = chain.state
    # A state has its averages: a chain goes on with them from where it was.
    chain.state = before
    assert chain.step(1301, keep=False).posterior["mu"].shape == (0, 3)
    np.testing.assert_array_equal(chain.averages["mu"].covariance, found["mu"].covariance)
    chain.reset_averages()
    chain.step(50)
    np.testing.assert_array_equal(chain.state.position.q, last.position.q)


def test_of_no_draws_there_are_none():
    averages = run(draws=0, averages=WANTED, keep=False)["averages"]
    assert averages["count"].values.tolist() == [0, 0]
    for kind in ("mean", "variance", "covariance"):
        assert np.isnan(averages[kind]["mu"]).all()


def test_what_looks_wrong_is_warned_of():
    with pytest.warns(kg.SamplingWarning, match="average of mu is not a finite number in 2 of 2"):
        run(kg.samplers.GLA2(50.0), averages=WANTED, keep=False)
    parts = {
        "sampler_state": xr.Dataset({"divergences": ("chain", [3, 5])}),
        "averages/mean": xr.Dataset({"mu": ("chain", [0.0, 1.0])}),
    }
    (found,) = diagnose_averages(xr.DataTree.from_dict(parts), 100)
    assert found.kind == "divergences"
    assert found.message.startswith("8 of 200 draws (4 %) ended in a divergence, 5 of them in")


def test_what_is_refused():
    of_same_name = kg.observables.observable(lambda step: step.q, "mu")
    for error, said, averages in [
        (kg.ModelError, r"mu \* 2.*test_averages.* is not a target of the model, which", [MU * 2]),
        (kg.ShapeError, "s is one number, whose covariance is its variance", covariance(S)),
        (kg.ShapeError, "virial is one number", [covariance(virial)]),
        (ValueError, "averages: 'mu' is given twice", [MU, of_same_name]),
        (TypeError, "averages: 'virial' is a string", "virial"),
        (kg.ModelError, "this sampler has no record 'accepted'", kg.observables.rejection),
    ]:
        with pytest.raises(error, match=said):
            run(averages=averages)
        with pytest.raises(error, match=said):
            kg.chain(MODEL, kg.samplers.GLA2(0.1), averages=averages)
    walkers = kg.samplers.Stretch(walkers=8)  # whose virials are no vector of one point
    with pytest.raises(kg.ShapeError, match="virial is one number"):
        kg.chain(MODEL, walkers, averages=[covariance(virial)])
    with pytest.raises(ValueError, match=r"keep=False keeps no draws .*; give .* by averages="):
        run(keep=False)
    mine = kg.observables.observable(lambda step: step.q, "virial")
    with pytest.raises(ValueError, match="'virial' is given twice"):
        run(averages=mine, observables=virial)
