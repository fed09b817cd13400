"""`shard="rows"`: runs whose devices share the rows of the data."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from tests.runs.rows_on_devices import model_of_rows, run_of_rows

import kinetograph as kg
from kinetograph.programs import engine
from kinetograph.runs import row_sharding

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
RANDOM = np.random.default_rng(2)


@pytest.fixture(autouse=True)
def seeded(monkeypatch):
    """The numbers of a test do not depend on the tests before."""
    monkeypatch.setattr(sys.modules[__name__], "RANDOM", np.random.default_rng(2))


@pytest.mark.parametrize(
    "names",
    [["hmc"], ["effects"], pytest.param(["default", "baoab", "hierarchy"], marks=pytest.mark.slow)],
)
def test_the_draws_of_one_two_and_eight_devices_have_the_same_bits(names):
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.runs.rows_on_devices", *names],
        env=os.environ | flags, capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-len(names) :] == names


def test_a_shared_run_is_continued_and_resumed_to_the_same_bits(tmp_path):
    model, path = model_of_rows(), tmp_path / "run.zarr"
    whole = run_of_rows(model, draws=30)
    first = run_of_rows(model, draws=10)
    more = kg.extra_samples(first, model, draws=20, progress=False)
    np.testing.assert_array_equal(more["posterior/w"], whole["posterior/w"])
    with pytest.raises(ValueError, match=r"extra_samples: devices that share rows .* threads="):
        kg.extra_samples(first, model, draws=20, threads=2, progress=False)
    assert more.attrs["shard"] == whole.attrs["shard"] == '["t", "x", "y"]'

    def power_cut(so_far):
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        run_of_rows(model, draws=30, store=path, callback=power_cut)
    resumed = kg.resume(path, progress=False)
    np.testing.assert_array_equal(resumed["posterior/w"], whole["posterior/w"])


def test_all_blocks_of_a_device_at_once():
    model = model_of_rows()
    fast = run_of_rows(model, kg.samplers.BAOAB(0.01), draws=3, warmup=0, reduction="fast")
    tree = run_of_rows(model, kg.samplers.BAOAB(0.01), draws=3, warmup=0)
    assert fast.attrs["reduction"] == "fast"
    np.testing.assert_allclose(fast["posterior/w"], tree["posterior/w"], rtol=1e-9)


def test_a_shared_run_samples_the_posterior():
    """Means and standard deviations of a run without shared rows, within 6 standard errors."""
    model = model_of_rows()
    settings = {"draws": 1000, "seed": 3, "progress": False}
    shared = kg.mcmc(model, shard="rows", **settings)["posterior/w"].values
    plain = kg.mcmc(model, **settings | {"seed": 4})["posterior/w"].values
    error = np.sqrt(2.0) * plain.std((0, 1)) / np.sqrt(1000)  # at least 1,000 effective draws
    assert (np.abs(shared.mean((0, 1)) - plain.mean((0, 1))) < 6 * error).all()
    assert np.abs(np.log(shared.std((0, 1)) / plain.std((0, 1)))).max() < 6 / np.sqrt(1000)


def pieces(value: float) -> kg.Model:
    """Rows, and alike likelihoods that are computed from sums."""
    random = np.random.default_rng(5)
    w, a = kg.normal(0, 1, name="w"), kg.normal(0, 1, shape=3, name="a")
    kg.observe(kg.data(random.poisson(2.0, size=100), "y"), kg.poisson(kg.exp(w)))
    for i in range(3):
        z = value if i == 1 else 0.0
        kg.observe(kg.data(random.normal(size=20) + z, f"z{i}"), kg.normal(a[i] + w, 1.0))
    return kg.model(w, a)


def test_new_data_and_other_rows_do_not_meet_an_old_program():
    settings = {"draws": 5, "warmup": 0, "shard": ["y"]}
    model, shifted = pieces(0.0), pieces(3.0)
    first = run_of_rows(model, kg.samplers.BAOAB(0.01), **settings)
    model.set_data({"z1": shifted.value_of(shifted["z1"].node)})
    second = run_of_rows(model, kg.samplers.BAOAB(0.01), **settings)
    fresh = run_of_rows(shifted, kg.samplers.BAOAB(0.01), **settings)
    np.testing.assert_array_equal(second["posterior/a"], fresh["posterior/a"])
    assert (second["posterior/a"] != first["posterior/a"]).any()
    both = model_of_rows()
    for rows in (["y", "t", "x"], ["x", "t", "y"]):
        again = run_of_rows(both, kg.samplers.BAOAB(0.01), **settings | {"shard": rows})
        assert json.loads(again.attrs["shard"]) == rows


def normal_rows() -> kg.Model:
    w = kg.normal(0, 1, name="w")
    kg.observe(kg.data(RANDOM.normal(size=100), "y"), kg.normal(w, 1.0))
    return kg.model(w)


def test_a_likelihood_of_sums_needs_no_rows():
    with pytest.warns(kg.KinetographWarning, match="shard= has no effect: the likelihood of y is"):
        tree = run_of_rows(normal_rows(), draws=5)
    assert "shard" not in tree.attrs


def centred_effects() -> kg.Model:
    z = kg.normal(0, 1, shape=100, name="z")
    y = kg.data(RANDOM.poisson(2.0, size=100), "y")
    kg.observe(y, kg.poisson(kg.exp(z - kg.mean(z))))
    return kg.model(z)


def ordered_effects() -> kg.Model:
    z = kg.ordered_variable(100, name="z")
    kg.observe(kg.data(RANDOM.poisson(2.0, size=100), "y"), kg.poisson(kg.exp(z)))
    return kg.model(z)


def joint_effects() -> kg.Model:
    z = kg.multivariate_normal(np.zeros(100), np.eye(100), name="z")
    kg.observe(kg.data(RANDOM.poisson(2.0, size=100), "y"), kg.poisson(kg.exp(z)))
    return kg.model(z)


def own_bounds() -> kg.Model:
    z = kg.uniform(np.zeros(100), 1.0 + np.arange(100), name="z")
    kg.observe(kg.data(RANDOM.poisson(2.0, size=100), "y"), kg.poisson(z))
    return kg.model(z)


def mixed_rows() -> kg.Model:
    x, w = kg.data(RANDOM.normal(size=100), "x"), kg.normal(0, 1, name="w")
    y = kg.data(RANDOM.poisson(2.0, size=100), "y")
    kg.observe(y, kg.poisson(kg.exp(w * (x - kg.mean(x)))))
    return kg.model(w)


def discrete() -> kg.Model:
    k = kg.bernoulli(0.5, name="k")
    y = kg.data(RANDOM.poisson(2.0, size=100), "y")
    kg.observe(y, kg.poisson(1.0 + k + kg.half_normal(1.0, name="w")))
    return kg.model(k)


def batches() -> kg.Model:
    return kg.minibatch(model_of_rows(), 10)


REFUSED = {
    "few rows": (lambda: model_of_rows(63), {}, "64 blocks, and t has 63 rows"),
    "effects that mix": (centred_effects, {}, "the likelihood of y .*mixes rows"),
    "ordered effects": (ordered_effects, {}, "mixes rows|ordered"),
    "effects of one density": (joint_effects, {}, "multivariate_normal .* need a density for each"),
    "bounds of effects": (own_bounds, {}, r"\(z .*bounds that are numbers"),
    "rows that mix": (mixed_rows, {}, r"the likelihood of y .*mixes rows.* with shard="),
    "a discrete unknown": (discrete, {}, "k is marginalised over all rows together"),
    "mini-batches": (batches, {}, "give the model without kg.minibatch"),
    "threads": (model_of_rows, {"chain_method": "threads"}, "evaluate all chains together"),
    "a number of threads": (model_of_rows, {"threads": 2}, "leave out threads=, or run without"),
    "a misspelling": (model_of_rows, {"shard": "row"}, 'shard must be "rows".*did you mean'),
    "a flag": (model_of_rows, {"shard": True}, 'shard must be "rows" or a list'),
    "no such data": (model_of_rows, {"shard": ["x", "z"]}, "'z' is not a data array of the model"),
    "an empty list": (model_of_rows, {"shard": []}, "same number of rows, got nothing"),
    "a reduction": (model_of_rows, {"reduction": "psum"}, 'reduction must be "tree" or "fast"'),
    "only a reduction": (model_of_rows, {"shard": None, "reduction": "fast"}, 'give shard="rows"'),
    "devices": (model_of_rows, {"devices": 2}, "JAX has 1 device"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    make, arguments, text = REFUSED[name]
    with pytest.raises((kg.ModelError, ValueError, TypeError), match=rf"(?s)^mcmc: .*{text}"):
        run_of_rows(make(), **{"draws": 5} | arguments)


def test_several_processes_are_refused(monkeypatch):
    first = run_of_rows(model_of_rows(), kg.samplers.BAOAB(0.01), draws=2, warmup=0)
    monkeypatch.setattr(row_sharding, "process_count", lambda: 2)
    monkeypatch.setattr(engine, "make_executable", lambda *_: pytest.fail("compiled"))
    text = "shard= divides rows over the devices of one process, and this run has 2 processes"
    with pytest.raises(ValueError, match=f"^mcmc: {text} .*; start one process, or"):
        run_of_rows(model_of_rows(), draws=5)
    with pytest.raises(ValueError, match=f"^extra_samples: {text} .*; start one process, or"):
        kg.extra_samples(first, model_of_rows(), draws=2, progress=False)


def test_rows_without_names():
    """The array of NumPy `x` and the places of recorded values are no arguments of the model."""
    x, y = np.random.default_rng(5).normal(size=(2, 100))
    w = kg.normal(0, 1, name="w")
    kg.observe(kg.data(np.where(x > 1.5, np.nan, y), missing="impute"), kg.student(4, w * x, 1.0))
    model, sampler = kg.model(w), kg.samplers.BAOAB(0.01)
    first = run_of_rows(model, sampler, draws=3, warmup=0)
    more = kg.extra_samples(first, model, sampler=sampler, draws=2, progress=False)
    plain = run_of_rows(model, sampler, draws=5, warmup=0, shard=None)
    np.testing.assert_allclose(more["posterior/w"], plain["posterior/w"], rtol=1e-9)
