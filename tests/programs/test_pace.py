"""How blocks are cut: by time, which is seen at once, and not by a count."""

from dataclasses import replace

import numpy as np
import pytest
from tests.runs.models import gaussian, run, same_draws

import kinetograph as kg
from kinetograph.programs import engine, memory_cache
from kinetograph.programs.pace import BLOCK_SECONDS, LONGEST_SECONDS, Pace
from kinetograph.programs.state import Where
from kinetograph.runs import chains, stepping

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
OVERHEAD = 5e-4  # seconds of a block, beside its gradients


def lengths(cost: float, gradients: int) -> list[float]:
    """How long blocks take until so many gradients are spent, if one costs so many seconds."""
    pace, found = Pace(), []
    while gradients > 0:
        spent = min(pace.gradients, gradients)
        gradients -= spent
        found.append(OVERHEAD + cost * spent)
        pace.adjust(spent, found[-1])
    return found


@pytest.mark.parametrize("cost", [3e-7, 1e-5, 1e-3, 2e-2, 5e-2])
def test_a_block_takes_little_time_whatever_a_gradient_costs(cost):
    found = lengths(cost, int(1 / cost))
    assert max(found) < 0.6
    assert np.median(found) > 0.5 * BLOCK_SECONDS or cost > BLOCK_SECONDS / 2
    assert len(found) < 30  # in a second


def test_a_gradient_slower_than_a_block_is_one_block():
    assert lengths(1.0, 20)[1:] == [1.0 + OVERHEAD] * 10


def test_cheap_gradients_take_few_blocks_to_come_to_the_pace():
    """Blocks cost time, too: measuring takes about five of them."""
    assert sum(seconds < BLOCK_SECONDS / 2 for seconds in lengths(3e-7, 10**7)) <= 5


def test_no_block_has_more_than_ten_times_the_gradients_of_the_block_before():
    """However fast a block was: the next gradients may be slower."""
    pace = Pace()
    for _ in range(6):
        before = pace.gradients
        pace.adjust(before, 1e-9)
        assert before < pace.gradients <= 10 * before


class Clock:
    """Time that passes with gradients alone, and how many each call of a program spent."""

    def __init__(self, monkeypatch, cost, kept):
        self.now, self.spent, self.cost = 0.0, [], cost
        for module in (chains, engine, stepping):
            monkeypatch.setattr(module, "time", self)
        for known, compiled in kept.items():
            timed = {"search": self.search(compiled), "block": self.block(compiled)}
            monkeypatch.setitem(kept, known, replace(compiled, pace=Pace(), **timed))

    def search(self, compiled):
        def timed(*arguments):
            found, begun = compiled.search(*arguments), arguments[-3]
            self.pass_with(found.search.start.gradients - begun.start.gradients)
            return found

        return timed

    def block(self, compiled):
        def timed(*arguments):
            state, block = compiled.block(*arguments)
            self.pass_with(Where(*block.progress).spent)
            return state, block

        return timed

    def pass_with(self, gradients):
        self.spent.append(int(gradients))
        self.now += self.cost * self.spent[-1]

    def perf_counter(self):
        return self.now


def test_runs_of_expensive_gradients_look_up_often(monkeypatch):
    """Gradients of 20 ms: Ctrl-C and progress are seen each half a second, from the start."""
    plain = run(gaussian(), draws=40, warmup=20, chain_method="threads")
    chain = kg.chain(gaussian(), seed=5, warmup=20)
    rows = chain.step(40)
    clock = Clock(monkeypatch, 0.02, memory_cache.PROGRAMS[gaussian()])
    tree = run(gaussian(), draws=40, warmup=20, threads=1, chain_method="threads")
    assert len(clock.spent) > 20
    assert max(clock.spent) <= 30  # with the rest of a transition, or of a search
    assert same_draws(tree, plain)
    clock.spent.clear()
    again = kg.chain(gaussian(), seed=5, warmup=20).step(40)
    assert len(clock.spent) > 10
    assert max(clock.spent) <= 30  # with the rest of a transition, or of a search
    np.testing.assert_array_equal(again.posterior["x"], rows.posterior["x"])
    np.testing.assert_array_equal(again.posterior["x"], plain["posterior"]["x"][0])


def test_where_the_host_takes_long_a_block_is_worth_several_times_that():
    """With thousands of chains the host takes longer for a block than a short one would."""
    pace = Pace()
    for _ in range(10):
        pace.adjust(pace.gradients, 1e-4 * pace.gradients, 0.5)
    assert pace.gradients == pytest.approx(2.0 / 1e-4, rel=0.01)


def test_what_chains_lose_by_waiting_for_one_makes_blocks_longer_up_to_a_bound():
    pace = Pace()
    for _ in range(10):
        seconds = 1e-4 * pace.gradients
        pace.adjust(pace.gradients, seconds, 0.9 * seconds)
    assert pace.gradients == pytest.approx(LONGEST_SECONDS / 1e-4, rel=0.01)
