"""Runs of one model with several values of its data: each chain has its own values."""

import numpy as np
import pytest
from tests.runs.models import check_alike

import kinetograph as kg
from kinetograph.runs import variants
from kinetograph.runs.mcmc import program_of
from kinetograph.runs.variants import run_variants

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
Y = np.array([1.0, 2.0, 4.0])
SAMPLERS = {"nuts": kg.samplers.NUTS(), "langevin": kg.samplers.MALA()}


def build():
    mu = kg.normal(0, 10)
    kg.observe(kg.data(Y, name="y"), kg.logistic(mu, 1))
    return mu


def trees(sampler, method, monkeypatch, **options):
    model = kg.model(build)
    values = [{model["y"].node: Y + shift} for shift in (0.0, 100.0, -50.0)]
    monkeypatch.setattr(variants, "chain_method_of", lambda given, threads: method)
    run = {"sampler": SAMPLERS[sampler], "draws": 60, "warmup": 80, "chains": 2, "seed": 3}
    return run_variants("loo", model, values, **(run | options))


@pytest.mark.parametrize("sampler", ["nuts", pytest.param("langevin", marks=pytest.mark.slow)])
def test_a_batch_makes_the_draws_of_threads(sampler, monkeypatch):
    by_thread = trees(sampler, "threads", monkeypatch)
    batch = trees(sampler, "batch", monkeypatch)
    for one, other, centre in zip(by_thread, batch, (0.0, 100.0, -50.0), strict=True):
        assert one["posterior"].sizes == {"chain": 2, "draw": 60}
        mean = one["posterior"]["mu"].values.mean()
        assert abs(mean - centre - Y.mean()) < 2.5  # the posterior's sd is about 1
        check_alike(one, other, 1e-6)


def test_a_variant_is_a_run_with_these_data(monkeypatch):
    """The draws of a chain depend on its data, number and seed alone."""
    _, second, _ = trees("nuts", "threads", monkeypatch, chains=1)
    model = kg.model(build)
    values = [{model["y"].node: Y}, {model["y"].node: Y + 100.0}]
    settings = {"draws": 60, "warmup": 80, "chains": 1, "seed": 3}
    alone = run_variants("loo", model, values, sampler=SAMPLERS["nuts"], **settings)
    np.testing.assert_array_equal(alone[1]["posterior"]["mu"], second["posterior"]["mu"])


def test_sums_of_data_are_computed_once():
    """A normal likelihood is computed from sums of its data, which all chains share."""

    def normal():
        mu = kg.normal(0, 10)
        kg.observe(kg.data(np.arange(50.0), name="y"), kg.normal(mu, 1))
        return mu

    model = kg.model(normal)
    assert model.density.derived
    with pytest.raises(kg.ModelError, match="y cannot differ between chains"):
        run_variants("loo", model, [{model["y"].node: np.arange(50.0)}])


def test_variants_choose_their_own_forms():
    """The forms of an earlier run are of its data; where its chains ended is of use."""
    tau = kg.half_normal(1, name="tau")
    theta = kg.normal(0, tau, shape=3, name="theta")
    kg.observe(kg.data([1.0, 2.0, -1.0], name="y"), kg.normal(theta, 1))
    model = kg.model(tau, theta)
    earlier = kg.mcmc(model, draws=5, warmup=5, chains=2, seed=1, progress=False)
    program = program_of(model, kg.samplers.NUTS(), {"tau": tau.node}, (), (), ())
    positions, tuned = variants._earlier(program, [kg.samplers.NUTS()] * 2, earlier)
    assert tuned == [{}, {}]
    np.testing.assert_array_equal(positions, earlier["sampler_state"]["position_q"].values)
    as_written = kg.samplers.NUTS(parametrisation="as written")
    earlier = kg.mcmc(model, as_written, draws=5, warmup=5, chains=2, seed=1, progress=False)
    program = program_of(model, as_written, {"tau": tau.node}, (), (), ())
    assert all(
        "scale" in values for values in variants._earlier(program, [as_written] * 2, earlier)[1]
    )
