"""Chains as a batch: the draws of chains by themselves, and what ends a run ends all of it."""

from functools import cache

import numpy as np
import pytest
from tests.models.test_control_flow import stopping
from tests.runs.models import check_alike, gaussian, run
from tests.samplers import test_composition as composition

import kinetograph as kg
from kinetograph.adaptation.host_warmup import Tuner
from kinetograph.runs.chain import RunningChain
from kinetograph.runs.progress.display import SilentProgress

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
METHODS = ("threads", "batch")
ENDLESS = 2_000_000


@cache
def rooted():
    """x ~ normal(1, 2), and a density that is not a number below -30."""
    x = kg.normal(1, 2, name="x")
    return kg.model(x, factors=[0.01 * kg.sqrt(x + 30)])


class Langevin(kg.Sampler):
    """An unadjusted sampler of a user's, with a record of its own."""

    step_size = kg.hyper(0.1, positive=True)

    def step(self, at):
        noise = kg.sqrt(2 * self.step_size) * self.noise("step", like=at.q)
        self.record("kick", kg.sum(noise))
        return self.evaluate(at.q - self.step_size * at.gradient + noise)


def both(model, **options):
    trees = [run(model, **({"chain_method": m, "chains": 3} | options)) for m in METHODS]
    assert [tree.attrs["chain_method"] for tree in trees] == list(METHODS)
    return trees


class Watch(SilentProgress):
    """Raises Ctrl-C once each chain has so many draws."""

    def __init__(self, draws=ENDLESS):
        self.draws = draws

    def start(self, chains, lengths, at_once):
        self.chains = chains

    def update(self):
        if min(chain.kept for chain in self.chains) >= self.draws:
            raise KeyboardInterrupt


@pytest.mark.slow
def test_a_users_sampler_starts_that_are_given_and_one_value_a_chain():
    samplers = [Langevin(0.1 * k) for k in (1, 2, 3)]
    starts = [{"x": k} for k in (1.0, 2.0, 3.0)]
    trees = both(rooted(), sampler=samplers, initial=starts, thin=3)
    check_alike(*trees)
    assert set(trees[0]["sample_stats"].data_vars) == {"lp", "kick"}
    np.testing.assert_array_equal(trees[1]["sampler_state"]["start_position_q"][:, 0], [1, 2, 3])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sampler", "options"),
    [
        (
            kg.samplers.HMC(0.3, n_steps=4),
            {
                "draws": 10,
                "warmup": 20,
                "thin": 3,
                "averages": [kg.observables.virial],
                "observables": [kg.observables.potential, kg.observables.n_grad],
            },
        ),
        (kg.samplers.RandomWalk(), {"draws": 1500}),
        (kg.samplers.BAOAB(lambda t: 0.5 / (1 + t)), {"thin": 2}),
    ],
)
def test_samplers_with_and_without_gradients_and_schedules(sampler, options):
    check_alike(*both(gaussian(), sampler=sampler, **options))


class Wandering(kg.Sampler):
    """In half of the steps some moves, as many as a value of the program says."""

    moves = kg.hyper(3)

    def step(self, at):
        if self.noise.uniform(name="which") < 0.5:
            for _ in kg.range(self.moves):
                at = self.evaluate(at.q + 0.1 * self.noise("move", like=at.q))
        return at


@cache
def rotated():
    """A model that holds an array constant."""
    x = kg.normal(0, 1, shape=3, name="x")
    kg.observe(np.zeros(3), kg.normal(x @ (np.eye(3) + 0.1), 1.0))
    return kg.model(x)


WITH = {"EQN": [kg.samplers.BAOAB()], "Splitting": ["BAOAB"]}
SAMPLERS = {
    "of moves": Wandering(),
    "of samplers": composition.Mixture(),
    "of two kinds": composition.Derived(0.7, n_steps=3, tune=()),
    "of a delayed kick": composition.Delayed(),
    **{
        name: getattr(kg.samplers, name)(*WITH.get(name, []))
        for name in kg.samplers.__all__
        if name != "Integrator"
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLERS)
def test_every_sampler_runs_as_a_batch(name):
    # Rounding grows from step to step.
    check_alike(*both(rotated(), sampler=SAMPLERS[name], draws=15, warmup=15), rtol=1e-6)


@pytest.mark.slow
def test_a_loop_that_needs_more_room_than_it_was_compiled_for():
    """The block is made again by a program with more."""
    model = stopping()
    batch, threads = (
        run(
            model,
            sampler=kg.samplers.GLA2(0.1),
            chains=3,
            draws=30,  # rounding grows from step to step
            warmup=0,
            initial="random",
            chain_method=method,
        )
        for method in reversed(METHODS)
    )
    assert max(model.capacity.rows.values()) > 64
    check_alike(threads, batch)


@pytest.mark.slow
def test_chains_that_end_their_warm_up_at_other_transitions(monkeypatch):
    """What one of them does last, others do earlier: none waits for what never comes."""
    numbers = {}

    def end(tuner, transition, *_):
        number = numbers.setdefault(id(tuner), len(numbers))
        if transition >= 100 + 50 * number:
            tuner.late, tuner.end = transition, transition + 20

    monkeypatch.setattr(Tuner, "_end", end)
    sampler = kg.samplers.HMC(0.3, n_steps=2)
    tree = run(
        rooted(), sampler=sampler, chains=3, warmup=None, chain_method="batch", keep_warmup=True
    )
    assert tree.attrs["warmup"] == [120, 170, 220]
    np.testing.assert_array_equal(tree["sampler_state"]["transition"], [180, 230, 280])
    rows = np.isfinite(tree["warmup_posterior"]["x"])
    np.testing.assert_array_equal(rows.sum("draw"), [120, 170, 220])
    assert rows[:, :120].all()
    assert np.isfinite(tree["posterior"]["x"]).all()
    assert len(np.unique(tree["posterior"]["x"][:, -1])) == 3


def test_ctrl_c_returns_what_has_been_drawn():
    options = {"sampler": Langevin(), "chains": 3, "chain_method": "batch"}
    tree = run(rooted(), progress=Watch(300), draws=ENDLESS, **options)
    draws = tree["posterior"].sizes["draw"]
    assert 300 <= draws < ENDLESS
    assert tree.attrs["interrupted"] == 1
    # The state is that of the last draw.
    last = tree["sampler_state"]["transition"].values
    np.testing.assert_array_equal(last, 80 + draws)
    np.testing.assert_array_equal(
        tree["sampler_state"]["position_q"][:, 0], tree["posterior"]["x"][:, -1]
    )


@pytest.mark.parametrize("method", METHODS)
def test_a_chain_without_a_start_ends_the_others(method):
    watch, starts = Watch(), [{"x": x} for x in (1.0, -31.0, 3.0)]
    with pytest.raises(kg.StartError, match=r"^chain 1: the given initial point has no finite"):
        run(
            rooted(),
            sampler=Langevin(),
            chains=3,
            chain_method=method,
            initial=starts,
            draws=ENDLESS,
            progress=watch,
        )
    assert max(chain.transition for chain in watch.chains) < ENDLESS


def test_an_error_in_one_chain_ends_the_others(monkeypatch):
    take, watch = RunningChain.take, Watch()

    def broken(chain, block):
        take(chain, block)
        if chain is watch.chains[1]:
            raise RuntimeError("of chain 1")

    monkeypatch.setattr(RunningChain, "take", broken)
    with pytest.raises(RuntimeError, match="of chain 1"):
        run(rooted(), sampler=Langevin(), chains=3, draws=ENDLESS, progress=watch)
    assert max(chain.transition for chain in watch.chains) < ENDLESS


WRONG = {
    "did you mean 'batch'": (ValueError, {"chain_method": "batches"}),
    "did you mean 'threads'": (ValueError, {"chain_method": "Thread"}),
    "chain_method must be 'threads', 'batch' or None, got 'gpu' \\(": (
        ValueError,
        {"chain_method": "gpu"},
    ),
    "chain_method must be 'threads', 'batch' or None, got True": (
        TypeError,
        {"chain_method": True},
    ),
    "so threads=2 has no effect": (ValueError, {"chain_method": "batch", "threads": 2}),
}


@pytest.mark.parametrize("message", WRONG)
def test_a_wrong_method_is_told(message):
    kind, options = WRONG[message]
    with pytest.raises(kind, match=f"mcmc: .*{message}"):
        run(gaussian(), **options)
