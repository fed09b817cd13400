"""Chains stepped by hand."""

import numpy as np
import pytest
from tests.runs.models import run, schools
from tests.samplers.test_sampler import GLA2

import kinetograph as kg

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")


def made(**options):
    return kg.chain(schools(), GLA2(0.05), seed=1, **options)


def test_its_draws_are_those_of_a_run():
    tree = run(schools(), sampler=GLA2(0.05), seed=1, chains=3, draws=60, warmup=20)
    chain = made(index=2, warmup=20)
    found = [chain.step(n) for n in (1, 0, 7, 52)]
    for name in ("mu", "theta"):
        draws = np.concatenate([rows.posterior[name] for rows in found])
        np.testing.assert_array_equal(draws, tree["posterior"][name][2])
    energies = np.concatenate([rows.sample_stats["kinetic_energy"] for rows in found])
    np.testing.assert_array_equal(energies, tree["sample_stats"]["kinetic_energy"][2])
    np.testing.assert_array_equal(chain.slots["p"], tree["sampler_state"]["slots_p"][2])
    assert chain.iteration == 80


def test_thinned_rows_are_counted_from_the_first_transition():
    all_rows = made().step(21).posterior["mu"]
    chain = made()
    parts = [chain.step(n, thin=3) for n in (2, 5, 0, 14)]
    assert [len(rows.posterior["mu"]) for rows in parts] == [0, 2, 0, 5]
    thinned = np.concatenate([rows.posterior["mu"] for rows in parts])
    np.testing.assert_array_equal(thinned, all_rows[2::3])
    energies = np.concatenate([rows.sample_stats["kinetic_energy"] for rows in parts])
    assert energies.shape == (7,)
    with pytest.raises(ValueError, match="thin"):
        chain.step(1, thin=0)


def test_nuts_and_its_warm_up_too():
    tree = run(schools(), chains=1, seed=4, draws=15, warmup=40)
    chain = kg.chain(schools(), seed=4, warmup=40)
    np.testing.assert_array_equal(chain.step(15).posterior["mu"], tree["posterior"]["mu"][0])
    np.testing.assert_array_equal(chain.hyper["scale"], tree["sampler_state"]["hyper_scale"][0])


def test_a_state_that_is_set_again_goes_on_from_there():
    chain = made()
    chain.step(5)
    kept = chain.state
    first = chain.step(10).posterior["mu"]
    chain.state = kept
    np.testing.assert_array_equal(chain.step(10).posterior["mu"], first)
    for bad, error, text in (
        (3, TypeError, "expected a state of this chain, got int"),
        (kept._replace(slots={}), TypeError, "expected a state of this chain"),
        (kept._replace(key=kept.key[:2]), kg.ShapeError, r"key has shape \(4,\), got \(2,\)"),
        (kept._replace(transition=1.0), TypeError, "transition is int32, got float64"),
    ):
        with pytest.raises(error, match=rf"chain\.state.*{text}"):
            chain.state = bad


def test_what_it_shows_is_the_models():
    chain = made()
    rows = chain.step(3)
    model = schools()
    np.testing.assert_allclose(chain.log_density, model.log_prob(chain.q), rtol=1e-10)
    np.testing.assert_allclose(chain.gradient, model.gradient(chain.q), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(chain.values["mu"], rows.posterior["mu"][-1], rtol=1e-12)
    assert rows.sample_stats["lp"][-1] == chain.log_density


def test_slots_and_hyper_parameters_can_be_set():
    """Without noise and friction the step is a leapfrog step, and turning p around goes back."""
    model = schools()
    chain = kg.chain(model, GLA2(0.01, friction=0.0), seed=1)
    chain.hyper["friction"] = 0.0
    start = chain.q
    chain.step(25)
    assert np.abs(chain.q - start).max() > 0.01
    chain.slots["p"] = -chain.slots["p"]
    chain.step(25)
    np.testing.assert_allclose(chain.q, start, rtol=1e-9, atol=1e-9)
    chain.hyper = {"step_size": 1e-6}
    before = chain.q
    chain.step()
    assert np.abs(chain.q - before).max() < 1e-4


def test_it_can_be_moved():
    chain = made()
    p = chain.slots["p"]
    chain.move(np.zeros(chain.q.size))
    np.testing.assert_array_equal(chain.q, 0.0)
    np.testing.assert_array_equal(chain.slots["p"], p)
    np.testing.assert_allclose(chain.log_density, schools().log_prob(chain.q), rtol=1e-10)


def test_errors():
    chain = made()
    with pytest.raises(KeyError, match="no slot 'r'; it has: p"):
        chain.slots["r"] = 0.0
    with pytest.raises(kg.ShapeError, match=r"slot 'p' has shape \(10,\), got \(3,\)"):
        chain.slots["p"] = np.zeros(3)
    with pytest.raises(ValueError, match="step_size must be positive"):
        chain.hyper["step_size"] = -1.0
    with pytest.raises(ValueError, match=r"chain\.step: n must be a whole number"):
        chain.step(-1)
    with pytest.raises(TypeError, match=r"chain: .* is not a sampler"):
        kg.chain(schools(), 3)
    with pytest.raises(kg.StartError):
        chain.move(np.full(chain.q.size, np.nan))
    assert "GLA2" in repr(chain)
    assert "after 0 transitions" in repr(chain)


def two():
    """Oscillators of stiffness 1 and 4."""
    b = kg.normal(0.0, 0.5, name="b")
    return kg.model(b, kg.normal(0.0, 1.0, shape=2, name="a"))


def test_momenta_may_be_given():
    """Without friction the first step is a step of the Verlet scheme from these momenta."""
    h, start = 0.1, {"a": [0.3, -0.2], "b": 0.5}
    sampler = kg.samplers.BAOAB(h, friction=0.0)
    given = {"a": [1.0, 2.0], "b": -3.0}
    chain = kg.chain(two(), sampler, seed=1, initial=start, momenta=given)
    q, p = np.array([0.5, 0.3, -0.2]), np.array([-3.0, 1.0, 2.0])
    stiffness = np.array([4.0, 1.0, 1.0])
    np.testing.assert_array_equal(chain.slots["p"], p)
    p = p - 0.5 * h * stiffness * q
    q = q + h * p
    chain.step()
    np.testing.assert_allclose(chain.q, q, rtol=1e-12)
    np.testing.assert_allclose(chain.slots["p"], p - 0.5 * h * stiffness * q, rtol=1e-12)
    still = kg.chain(two(), sampler, seed=1, initial=start, momenta=0.0)
    assert not still.slots["p"].any()
    drawn = kg.chain(two(), sampler, seed=1, initial=start)
    assert drawn.slots["p"].all()


def test_momenta_that_cannot_be():
    with pytest.raises(kg.ModelError, match=r"HMC has no slot p .*keeps nothing between steps"):
        kg.chain(two(), kg.samplers.HMC(0.1), seed=1, momenta=0.0)
    with pytest.raises(kg.ModelError, match=r"MCLMC has no slot p .*its slots are u"):
        kg.chain(two(), kg.samplers.MCLMC(0.1), seed=1, momenta=0.0)
    sampler = kg.samplers.BAOAB(0.1)
    with pytest.raises(ValueError, match="momenta: give the momenta of all unknowns, b, a; got a"):
        kg.chain(two(), sampler, seed=1, momenta={"a": [1.0, 2.0]})
    with pytest.raises(kg.ShapeError, match=r"momenta of a have shape \(2,\) .* got \(3,\)"):
        kg.chain(two(), sampler, seed=1, momenta={"a": np.ones(3), "b": 1.0})
    with pytest.raises(kg.ShapeError, match=r"slot 'p' has shape \(3,\), got \(2,\)"):
        kg.chain(two(), sampler, seed=1, momenta=np.ones(2))
