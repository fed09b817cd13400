"""Rows of warm-up, where they are kept."""

import numpy as np
import pytest
from tests.runs.models import run, same_draws, weights
from tests.runs.test_batches import Langevin, Watch, rooted

import kinetograph as kg
from kinetograph.observables import n_grad, observable
from kinetograph.runs.assembly import _stacked

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")


@observable
def used(step):
    """What the step was made with."""
    return step.hyper["step_size"]


OPTIONS = {"observables": [n_grad, used], "warmup": 40, "draws": 20, "thin": 3}


@pytest.fixture(scope="module")
def tree():
    return run(weights(), keep_warmup=True, **OPTIONS)


def test_there_is_a_row_for_each_transition_of_warm_up(tree):
    """Which `thin` says nothing of."""
    assert set(tree.children) == {
        "posterior", "sample_stats", "sampler_state", "warmup_posterior", "warmup_sample_stats"
    }  # fmt: skip
    assert tree["warmup_posterior"]["share"].shape == (2, 40, 3)
    assert tree["warmup_posterior"].sizes == {"chain": 2, "draw": 40, "share_dim_0": 3}
    assert list(tree["warmup_sample_stats"].data_vars) == list(tree["sample_stats"].data_vars)
    assert tree["warmup_sample_stats"]["n_grad"].dtype.kind == "i"
    without = run(weights(), **OPTIONS)
    assert same_draws(without, tree, ("posterior", "sample_stats", "sampler_state"))
    assert not any(name.startswith("warmup") for name in without.children)


def test_each_row_is_of_its_own_transition(tree):
    rows, stats = tree["warmup_posterior"], tree["warmup_sample_stats"]
    for k in range(2):
        for i in (0, 17, 39):
            free = weights().untransform({n: v[k, i].values for n, v in rows.data_vars.items()})
            np.testing.assert_allclose(weights().log_prob(free), stats["lp"][k, i], rtol=1e-9)
    # Hyper-parameters change with each transition: an observable sees those that it was made with.
    assert len(np.unique(stats["step_size"])) > 70
    for group in (stats, tree["sample_stats"]):
        np.testing.assert_array_equal(group["used"], group["step_size"])


def test_the_counts_of_gradients_add_up(tree):
    state = tree["sampler_state"]
    groups = (
        tree[group]["n_grad"].sum("draw") for group in ("warmup_sample_stats", "sample_stats")
    )
    np.testing.assert_array_equal(sum(groups), state["gradients"] - state["start_gradients"])


@pytest.mark.parametrize("method", ["threads", "batch"])
def test_without_tuning_warm_up_is_draws_that_come_first(method):
    options = {"sampler": Langevin(), "chains": 3}
    tree = run(rooted(), keep_warmup=True, warmup=1200, draws=30, chain_method=method, **options)
    plain = run(rooted(), warmup=0, draws=1230, **options)
    for group in ("posterior", "sample_stats"):
        for name, expected in plain[group].data_vars.items():
            parts = [tree[f"warmup_{group}"][name], tree[group][name]]
            np.testing.assert_allclose(np.concatenate(parts, 1), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("method", ["threads", "batch"])
def test_ctrl_c_in_warm_up_returns_its_rows(method):
    class Early(Watch):
        def update(self):
            if min(chain.transition for chain in self.chains) > 0:
                raise KeyboardInterrupt

    tree = run(
        rooted(),
        sampler=Langevin(),
        chains=3,
        warmup=2_000_000,
        keep_warmup=True,
        chain_method=method,
        progress=Early(),
    )
    assert tree.attrs["interrupted"] == 1
    assert tree["posterior"].sizes["draw"] == 0
    rows = np.isfinite(tree["warmup_sample_stats"]["lp"]).sum("draw")
    # A chain that was fast has ended its warm-up before.
    made = np.minimum(tree["sampler_state"]["transition"], 2_000_000)
    np.testing.assert_array_equal(rows, made)
    np.testing.assert_array_equal(np.broadcast_to(tree.attrs["warmup"], 3), made)
    assert rows.min() > 0


@pytest.mark.slow
def test_of_walkers_each_is_a_chain():
    tree = run(rooted(), sampler=kg.samplers.Stretch(walkers=4), keep_warmup=True, warmup=7)
    assert tree["warmup_posterior"]["x"].shape == (8, 7)
    assert tree["warmup_sample_stats"]["lp"].shape == (8, 7)


def test_chains_of_other_lengths_are_filled_up():
    found = _stacked([np.ones((3, 2)), np.ones((1, 2))])
    np.testing.assert_array_equal(np.isnan(found[:, :, 0]), [[0, 0, 0], [0, 1, 1]])
    whole = _stacked([np.ones(1, int), np.ones(3, int)])
    assert whole.dtype == int
    assert whole.tolist() == [[1, 0, 0], [1, 1, 1]]
    assert _stacked([np.ones(2, bool), np.ones(1, bool)]).tolist() == [[1, 1], [1, 0]]


WRONG = {
    "keep_warmup must be True or False, got 'yes'": (TypeError, {"keep_warmup": "yes"}),
    "keep_warmup must be True or False, got 1": (TypeError, {"keep_warmup": 1}),
    "keep=False keeps no rows.*; leave out keep_warmup": (
        ValueError,
        {"keep_warmup": True, "keep": False, "averages": [n_grad]},
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_wishes_are_told(message):
    kind, options = WRONG[message]
    with pytest.raises(kind, match=f"^mcmc: {message}"):
        run(weights(), **options)
