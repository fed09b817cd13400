"""Runs on several devices, in a process with so many host devices.

    python -m tests.runs.on_devices CASE ...

runs the cases, which compare draws, and prints a digest of the draws of each. XLA_FLAGS says how
many devices there are.
"""

import contextlib
import hashlib
import signal
import sys
import tempfile
import threading
import warnings
from pathlib import Path
from typing import Any

import jax
import numpy as np
from tests.runs.models import gaussian, same_draws, schools

import kinetograph as kg
from kinetograph.runs.progress.display import SilentProgress

__all__ = ["CASES"]

GROUPS = ("posterior", "sample_stats", "sampler_state")


class Langevin(kg.Sampler):
    """A user's sampler, with a record of its own."""

    step_size = kg.hyper(0.1, positive=True)

    def step(self, at):
        noise = kg.sqrt(2 * self.step_size) * self.noise("step", like=at.q)
        self.record("kick", kg.sum(noise))
        return self.evaluate(at.q - self.step_size * at.gradient + noise)


def run(model: kg.Model, sampler: Any = None, **options: Any) -> Any:
    settings = {"draws": 100, "warmup": 60, "seed": 5, "chains": 3, "progress": False}
    return kg.mcmc(model, sampler, **(settings | options))


def check(a: Any, b: Any) -> None:
    assert a["posterior"]["chain"].values.tolist() == b["posterior"]["chain"].values.tolist()
    assert same_draws(a, b, GROUPS)


def digest(tree: Any) -> str:
    values = [tree[g][name].values for g in GROUPS for name in sorted(tree[g].data_vars)]
    return hashlib.sha256(b"".join(value.tobytes() for value in values)).hexdigest()


def nuts() -> Any:
    """Chains that end their own warm-ups; there are more devices than chains, or fewer."""
    tree = run(schools(), chains=5, warmup=None, devices="all")
    check(tree, run(schools(), chains=5, warmup=None))
    return tree


def own() -> Any:
    """A user's sampler, whose values differ from chain to chain."""
    samplers = [Langevin(0.05 * k) for k in (1, 2, 3)]
    options = {"thin": 2, "averages": [kg.observables.virial]}
    tree = run(gaussian(), samplers, devices="all", **options)
    alone = run(gaussian(), samplers, **options)
    check(tree, alone)
    assert tree["averages/mean"].equals(alone["averages/mean"])
    return tree


def replaced() -> Any:
    """Data that are replaced after a run on devices."""
    x, y = kg.normal(0, 1, name="x"), kg.data([1.0, 2.0], name="y")
    kg.observe(y, kg.normal(x, 1))
    model = kg.model(x)
    first = run(model, Langevin(), devices="all")
    model.set_data(y=np.array([-3.0, -4.0]))
    tree = run(model, Langevin(), devices="all")
    check(tree, run(model, Langevin()))
    assert float(tree["posterior/x"].mean()) < -1 < 0.5 < float(first["posterior/x"].mean())
    return tree


def continued() -> Any:
    """A run that continues on other devices: results, and a store."""
    devices, model = jax.devices(), gaussian()
    whole = run(model, Langevin(), draws=150)
    begun = run(model, Langevin(), devices="all")
    options = {"draws": 50, "sampler": Langevin(), "progress": False}
    check(kg.extra_samples(begun, model, devices=devices[-1:], **options), whole)
    check(kg.extra_samples(begun, model, **options), whole)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.zarr"
        run(model, Langevin(), devices=devices[::-1], store=path)
        options["draws"] = 150
        check(kg.resume(path, model, devices=devices[:1], **options), whole)
    return whole


def batches() -> Any:
    """Chains of each device as a batch, which has the draws of such a batch on one device."""
    model, options = gaussian(), {"sampler": Langevin(), "chain_method": "batch"}
    tree = run(model, chains=5, devices="all", **options)
    size = tree.attrs["chains_per_batch"]
    assert size == -(-5 // min(len(jax.devices()), 5))
    for first in range(0, 5 - size + 1, size):
        alone = run(model, chains=range(first, first + size), **options)
        check(tree.isel(chain=slice(first, first + size)), alone)
    more = {"draws": 50, "sampler": Langevin(), "progress": False}
    one = kg.extra_samples(tree, model, **more)
    check(kg.extra_samples(tree, model, devices="all", **more), one)
    check(one, run(model, chains=5, devices="all", **options, draws=150))
    return one


class Interrupts(SilentProgress):
    """Sends the signal of Ctrl-C once each chain has draws."""

    def start(self, chains: Any, lengths: Any, at_once: int) -> None:
        self.chains, self.sent = chains, False

    def update(self) -> None:
        if not self.sent and min(chain.kept for chain in self.chains) > 500:
            self.sent = True
            signal.raise_signal(signal.SIGINT)


def stopped() -> None:
    """Ctrl-C returns the draws so far, and the run continues on one device."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background processes
    tree = run(gaussian(), Langevin(), devices="all", draws=10**7, progress=Interrupts())
    assert tree.attrs["interrupted"] == 1
    draws = tree["posterior"].sizes["draw"]
    more = kg.extra_samples(tree, gaussian(), 100, sampler=Langevin(), progress=False)
    whole = run(gaussian(), Langevin(), draws=draws + 100)
    # Chains that were ahead have made further draws.
    np.testing.assert_array_equal(more["posterior/x"], whole["posterior/x"][:, : draws + 100])
    names = [thread.name for thread in threading.enumerate() if not thread.daemon]
    assert names == ["MainThread"]


def failing() -> None:
    """A chain without a start ends the chains on other devices."""
    x = kg.normal(1, 2, name="x")
    model = kg.model(x, factors=[0.01 * kg.sqrt(x + 30)])
    starts = [{"x": value} for value in (1.0, -31.0, 3.0)]
    with contextlib.suppress(kg.StartError):
        run(model, Langevin(), devices="all", initial=starts, draws=10**7)
        raise AssertionError("no error")


def cached() -> Any:
    """Programs from the disk, for the default device and others."""
    tree = run(gaussian(), Langevin(), devices="all")
    kg.clear_cache()
    check(run(gaussian(), Langevin()), tree)
    kg.clear_cache()
    check(run(gaussian(), Langevin(), devices="all"), tree)
    kg.clear_cache()
    check(run(gaussian(), Langevin(), devices=jax.devices()[-1:]), tree)
    return tree


def together() -> Any:
    """Coefficients and effects sampled together, by a program that is compiled within the run."""
    generator, group = np.random.default_rng(1), np.repeat(np.arange(8), 5)
    predictors = generator.normal(size=(40, 2))
    effects = 1.5 * generator.normal(size=8)[group]
    counts = generator.poisson(np.exp(1 + predictors @ [0.3, -0.2] + effects))
    a, b = kg.normal(0, 3), kg.normal(0, 1, shape=2)
    sd, z = kg.half_normal(2), kg.normal(0, 1, shape=8)
    kg.observe(counts, kg.poisson(kg.exp(a + predictors @ b + (sd * z)[group])))
    model = kg.model(a, b, sd, z)
    tree = run(model, warmup=None, devices="all", draws=30)
    assert (tree["sampler_state/hyper_joint"][:, 0, 0] > 0).all()
    check(tree, run(model, warmup=None, draws=30))
    return tree


def looping() -> Any:
    """A loop that needs more room than it was compiled for."""
    from tests.models.test_control_flow import stopping

    model, options = stopping(), {"draws": 30, "warmup": 0, "initial": "random"}
    tree = run(model, kg.samplers.GLA2(0.1), devices="all", **options)
    assert max(model.capacity.rows.values()) > 64
    check(tree, run(model, kg.samplers.GLA2(0.1), **options))
    return tree


def printing() -> Any:
    """A program that calls the host, which cannot be loaded for another device."""
    x = kg.normal(0, 1, name="x")
    kg.print("x:", x)
    model = kg.model(x, factors=[-0.1 * x**2])
    return run(model, Langevin(), devices="all", draws=2, warmup=0)


def single() -> Any:
    """A free state of float32."""
    with kg.precision("float32"):
        model = kg.model(kg.normal(0, 1, shape=3, name="x"))
    tree = run(model, Langevin(), devices="all")
    assert tree["posterior/x"].dtype == np.float32
    check(tree, run(model, Langevin()))
    return tree


CASES = {
    case.__name__: case
    for case in (
        *(nuts, own, replaced, continued, batches, stopped, failing, cached, together, looping),
        *(printing, single),
    )
}

if __name__ == "__main__":
    warnings.simplefilter("ignore", kg.SamplingWarning)
    for name in sys.argv[1:]:
        result = CASES[name]()
        print(name, "" if result is None else digest(result), flush=True)
