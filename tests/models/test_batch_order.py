"""Orders of batches: which rows a transition uses, in any run that makes it."""

import os
import pickle
import subprocess
import sys

import jax
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.bits.draws import chain_key
from kinetograph.graph.precision import x64
from kinetograph.models.batch_order import batch_order
from kinetograph.programs.executables import lower_block
from kinetograph.programs.program import Program

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
N = 12


class Gradients(kg.Sampler):
    """Stays where it is, and records the gradient there."""

    def step(self, at):
        at = self.evaluate(at.q)
        self.record("gradient", at.gradient)
        return at


def counts_model() -> kg.Model:
    """A model whose gradient is, in its element j, row j's number in the batch times n / size."""
    q = kg.variable(shape=N, name="q")
    kg.factor(-(kg.data(np.eye(N), "rows") @ q))
    return kg.model(q)


MODEL = counts_model()


def used(size, transitions, **options):
    """How often each transition of a chain uses each row, (transitions, rows)."""
    noisy = kg.minibatch(MODEL, size, **options)
    chain = kg.chain(noisy, Gradients(), seed=3, initial=np.zeros(N))
    gradients = chain.step(transitions).sample_stats["gradient"]
    counts = gradients * size / N
    np.testing.assert_allclose(counts.sum(1), size)
    np.testing.assert_allclose(counts, counts.round(), atol=1e-12)
    return counts.round().astype(int)


def test_epochs_use_each_row_once():
    counts = used(4, 9, order="epochs").reshape(3, 3, N)
    np.testing.assert_array_equal(counts.sum(1), np.ones((3, N)))
    assert len(np.unique(counts.reshape(9, N), axis=0)) > 6  # each epoch has an order of its own
    # So the mean of the gradients of an epoch is the gradient of all rows.
    np.testing.assert_array_equal(counts.mean(1) * N / 4, np.ones((3, N)))


def test_wrapped_epochs_use_each_row_once():
    """Batches of 5 of 12 rows: 12 of them are 5 epochs, and the first 12 places the first epoch."""
    counts = used(5, 12, order="epochs")
    np.testing.assert_array_equal(counts.sum(0), np.full(N, 5))
    assert counts[:2].sum(0).max() == 1
    rows = of_order(5, "epochs", 12).ravel().reshape(5, N)
    np.testing.assert_array_equal(np.sort(rows, 1), np.tile(np.arange(N), (5, 1)))


def test_dropped_rows_differ_from_epoch_to_epoch():
    counts = used(5, 60, order="epochs", last="drop").reshape(30, 2, N).sum(1)
    assert counts.max() == 1
    assert counts.sum(1).tolist() == [10] * 30
    assert counts.sum(0).min() > 0
    assert counts.sum(0).max() < 30


def test_the_last_rows_may_be_a_batch_of_their_own():
    """12 rows in batches of 5, 5 and 2: the gradient of a batch is 12 / r times its sum."""
    noisy = kg.minibatch(MODEL, 5, order="epochs", last="keep")
    chain = kg.chain(noisy, Gradients(), seed=3, initial=np.zeros(N))
    gradients = chain.step(9).sample_stats["gradient"].reshape(3, 3, N)
    counts = gradients * np.array([5, 5, 2])[:, None] / N
    np.testing.assert_allclose(counts, counts.round(), atol=1e-12)
    np.testing.assert_array_equal(counts.round().sum(1), np.ones((3, N)))
    np.testing.assert_array_equal(counts.round().sum(2), np.tile([5, 5, 2], (3, 1)))
    assert (counts[0].round() != counts[1].round()).any()
    order = batch_order(N, 5, "epochs", last="keep")
    assert order.epoch(np.arange(7)).tolist() == [0, 0, 0, 1, 1, 1, 2]
    with x64():
        sweep = of_order(5, "symmetric", 6, "keep")
    np.testing.assert_array_equal(sweep, sweep[::-1])
    np.testing.assert_array_equal(np.sort(sweep[:3].ravel()), [*range(12), 12, 12, 12])
    whole = [of_order(4, "epochs", 6, last) for last in ("keep", "drop")]
    np.testing.assert_array_equal(*whole)


def test_cyclic_batches():
    counts = used(5, 12, order="cyclic")
    rows = np.arange(60).reshape(12, 5) % N
    np.testing.assert_array_equal(counts, (rows[..., None] == np.arange(N)).sum(1))
    np.testing.assert_array_equal(of_order(4, "cyclic", 6, "drop").ravel(), np.arange(24) % N)


def test_symmetric_sweeps():
    """Forward and backward through a partition into 2 batches of 5; then by another partition."""
    first, second = used(5, 8, order="symmetric").reshape(2, 4, N)
    for sweep in (first, second):
        np.testing.assert_array_equal(sweep, sweep[::-1])
        assert sweep[:2].sum(0).max() == 1
    assert (first != second).any()


KEY = np.asarray(chain_key(3, 0))


def of_order(size, name, transitions, last=None, key=KEY):
    with x64():
        order = batch_order(N, size, name, last=last)
        rows = jax.jit(jax.vmap(lambda event: order.rows(key, event)))
        return np.asarray(rows(np.arange(transitions, dtype=np.int32)))


@pytest.mark.parametrize("last", ["wrap", "drop"])
def test_each_row_is_equally_likely_at_each_place(last):
    """So an estimate has the mean of all rows: 3000 chains, 6 standard errors of their counts."""
    with x64():
        order = batch_order(N, 5, "epochs", last=last)
        keys = np.stack([chain_key(seed, 0) for seed in range(3000)])
        rows = np.asarray(jax.jit(jax.vmap(lambda key: order.rows(key, 1)))(keys))
    counts = (rows[..., None] == np.arange(N)).sum((0, 1))
    mean = 3000 * 5 / N
    assert np.abs(counts - mean).max() < 6 * np.sqrt(mean)


@pytest.mark.parametrize(
    ("order", "last"), [("epochs", None), ("symmetric", None), ("epochs", "keep")]
)
def test_runs_use_the_same_batches(order, last):
    """A continued chain, a chain of its own, threads and a batch of chains."""
    noisy = pickle.loads(pickle.dumps(kg.minibatch(MODEL, 5, order=order, last=last)))
    options = {"draws": 7, "warmup": 2, "chains": 2, "seed": 3, "progress": False}
    options["initial"] = np.zeros(N)
    both = [kg.mcmc(noisy, Gradients(), chain_method=m, **options) for m in ("threads", "batch")]
    threads, batch = (tree["sample_stats"]["gradient"].values for tree in both)
    np.testing.assert_array_equal(threads, batch)
    assert (threads[0] != threads[1]).any()
    rows = of_order(5, order, 9, last, key=np.asarray(chain_key(3, 1)))[2:]
    counts = (rows[..., None] == np.arange(N)).sum(1)
    np.testing.assert_allclose(threads[1], counts * N / counts.sum(1, keepdims=True))
    make = {"seed": 3, "index": 1, "warmup": 2, "initial": np.zeros(N)}
    chain = kg.chain(noisy, Gradients(), **make)
    first, state = chain.step(3).sample_stats["gradient"], chain.state
    later = kg.chain(noisy, Gradients(), **make)
    later.state = state
    continued = later.step(4).sample_stats["gradient"]
    np.testing.assert_array_equal(np.concatenate([first, continued]), threads[1])


TWO_DEVICES = """
import jax, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from kinetograph.bits.draws import chain_key
from kinetograph.graph.precision import x64
from kinetograph.models.batch_order import batch_order
assert len(jax.devices()) == 2
with x64():
    order = batch_order(101, 9, "epochs")
    keys = np.stack([chain_key(1, i) for i in range(4)])
    rows = jax.vmap(jax.vmap(order.rows, (None, 0)), (0, None))
    mesh = NamedSharding(Mesh(np.array(jax.devices()), ("chains",)), PartitionSpec("chains"))
    shared = jax.jit(rows)(jax.device_put(keys, mesh), np.arange(30))
    assert len(shared.sharding.device_set) == 2
    np.testing.assert_array_equal(shared, jax.jit(rows)(keys, np.arange(30)))
"""


@pytest.mark.slow
def test_two_devices():
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    subprocess.run([sys.executable, "-c", TWO_DEVICES], check=True, env=os.environ | flags)


@pytest.mark.parametrize("order", ["random", "epochs", "cyclic", "symmetric"])
def test_no_batch_comes_from_the_host(order):
    """The compiled program of a block has the gather, and neither callbacks nor transfers."""
    noisy = kg.minibatch(MODEL, 5, order=order)
    with x64():
        program = lower_block(Program(noisy, kg.samplers.SGLD(0.1), noisy.targets), None).compile()
    text = program.as_text()
    assert "gather" in text or "dynamic-slice" in text
    assert not any(word in text for word in ("callback", "infeed", "outfeed", "host-transfer"))


def test_epochs_that_are_complete():
    steps = np.arange(8)
    assert batch_order(N, 5).epoch(steps).tolist() == [0, 0, 0, 1, 1, 2, 2, 2]
    assert batch_order(N, 5, "epochs", last="drop").epoch(steps).tolist() == (steps // 2).tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"order": "epoch"},
            r"unknown name 'epoch'.*; did you mean 'epochs'\?; the names are random, epochs",
        ),
        ({"order": "epochs", "replace": True}, "replace=True is for order='random'"),
        ({"order": "epochs", "last": "all"}, "last must be 'wrap', 'drop' or 'keep', got 'all'"),
        ({"last": "wrap"}, "last= is for orders with epochs, not for 'random'"),
        ({"order": "cyclic", "last": "drop"}, "the last 2 of 12 rows would be in no batch of 5"),
        ({"order": "cyclic", "last": "keep"}, "the last 2 of 12 rows would always be a batch of 2"),
        ({"order": "symmetric", "last": "wrap"}, "needs whole batches, and 12 rows"),
    ],
)
def test_orders_that_do_not_fit(options, message):
    with pytest.raises(ValueError, match=message):
        kg.minibatch(MODEL, 5, **options)


def test_the_covariance_of_a_last_batch_of_one_row_is_refused():
    noisy = kg.minibatch(MODEL, 11, order="epochs", last="keep")
    with pytest.raises(kg.ModelError, match=r"from one row, which is the last batch of an epoch"):
        kg.chain(noisy, kg.samplers.CCAdL(0.01), seed=1, initial=np.zeros(N)).step(1)


def test_copies_and_new_data_keep_the_order():
    x = kg.data(np.arange(6.0), "x")
    mean = kg.normal(0.0, 1.0, name="mean")
    kg.observe(x, kg.normal(mean, 1.0))
    noisy = kg.minibatch(kg.model(mean), 4, order="epochs", last="drop")
    with pytest.warns(kg.KinetographWarning, match="written again"):
        noisy.set_data(x=np.arange(8.0))
    assert noisy.batch.order == (8, 4, "epochs", False, "drop")
