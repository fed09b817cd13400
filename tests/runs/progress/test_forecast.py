"""How long a run will still take: of chains that are simulated, by a clock of their own."""

import heapq
from collections import deque

import numpy as np
import pytest

from kinetograph.adaptation.host_warmup import OPEN, Tuner
from kinetograph.runs.chain import Lengths, RunningChain
from kinetograph.runs.progress.forecast import Forecast, clock_text, ends

FACTOR = 1.5
BLOCK = 0.1  # seconds


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def chain_of(warmup=500, begun=0):
    """A chain before its first transition here."""
    chain = RunningChain(np.zeros(4, np.uint32), tuner=Tuner(warmup, True))
    chain.transition = begun
    return chain


def simulated(chains, lengths, threads, cost, opens=None, search=0.0):
    """At each block's end: the share of the work that is done, what is forecast, what is true.

    `cost(chain, transition)` are the seconds of a transition. `opens` are the ends of warm-ups that
    nobody knows before they are 50 transitions away. Chains take turns, as `chains.py` has them.
    """
    clock = Clock()
    forecast = Forecast(chains, lengths, threads, clock)
    queue = deque(range(len(chains)))
    running = [(search, i) for i in (queue.popleft() for _ in range(min(threads, len(chains))))]
    heapq.heapify(running)
    started = dict.fromkeys((i for _, i in running), search)
    blocks, told = {}, []

    def run(i, now):
        """A block: where it ends, and what has been made by then."""
        chain, spent, made = chains[i], 0.0, chains[i].transition
        warmup = opens[i] if opens else chain.tuner.end
        end = warmup + lengths.sampled
        while spent < BLOCK and made < end:
            spent += cost(i, made)
            made += 1
            if made in (warmup, warmup - 50):  # blocks end where the host looks
                break
        blocks[i] = made, spent, end, warmup
        heapq.heappush(running, (now + spent, i))

    begun, running = running, []
    total = 0
    for now, i in begun:
        run(i, now)
    while running:
        clock.now, i = heapq.heappop(running)
        made, spent, end, warmup = blocks[i]
        chain = chains[i]
        total += made - chain.transition
        chain.transition, chain.seconds = made, chain.seconds + spent
        if chain.tuner.end == OPEN and made >= warmup - 50:
            chain.tuner.late, chain.tuner.end = made, warmup
        forecast.update()
        told.append((total, clock.now, forecast.left(), forecast.share))
        if made < end:
            queue.append(i)
        if queue:
            following = queue.popleft()
            first = following not in started
            started[following] = clock.now
            run(following, clock.now + (search if first else 0.0))
    finish = clock.now
    return [(done / total, now, left, finish - now, share) for done, now, left, share in told]


def check(told, block=BLOCK):
    """From a tenth of the transitions on, until few blocks are left."""
    later = [row for row in told if row[0] >= 0.1 and row[3] > 5 * block]
    assert len(later) > 20
    for done, now, left, true, _ in later:
        assert true / FACTOR < left < true * FACTOR, (done, now, left, true)


def steady(seconds, spread=0.0):
    """Transitions that take about so long."""
    rng = np.random.default_rng(3)
    noise = np.exp(spread * rng.standard_normal((64, 5000)))

    def cost(i, transition):
        return seconds * noise[i, transition % 5000]

    return cost


@pytest.mark.parametrize(("chains", "threads"), [(1, 1), (4, 4), (4, 2), (5, 2), (10, 4), (3, 2)])
def test_chains_that_share_threads(chains, threads):
    told = simulated(
        [chain_of() for _ in range(chains)], Lengths(500, 1000, 1), threads, steady(0.02, 0.7)
    )
    check(told)


def test_chains_of_which_some_are_much_slower():
    slow = steady(0.01, 0.5)

    def cost(i, transition):
        return slow(i, transition) * (1, 1, 6, 2, 1)[i]

    check(simulated([chain_of() for _ in range(5)], Lengths(500, 1000, 1), 2, cost))


@pytest.mark.parametrize("after", [0.2, 1.0, 3.0])
def test_the_first_transitions_of_warm_up_take_longest(after):
    later = steady(0.02, 0.5)

    def cost(i, transition):
        return later(i, transition) * (20 if transition < 50 else 1 if transition < 500 else after)

    told = simulated([chain_of() for _ in range(4)], Lengths(500, 1000, 1), 2, cost)
    # While it warms up, nobody knows what sampling costs.
    known = [row for row in told if after == 1.0 or row[0] > 0.4]
    check(known)


@pytest.mark.parametrize("draws", [1000, 4000])
@pytest.mark.parametrize("length", [200, 300, 600, 1100])
def test_warm_ups_that_end_by_themselves(length, draws):
    lengths = [length, int(1.2 * length), length, int(0.95 * max(length, 250))]
    chains = [chain_of(None) for _ in lengths]
    check(simulated(chains, Lengths(None, draws, 1), 2, steady(0.02, 0.5), lengths))


def test_a_run_that_goes_on():
    chains = [chain_of(500, begun=5500) for _ in range(4)]
    told = simulated(chains, Lengths(500, 1000, 1, before=5000), 2, steady(0.05, 0.5))
    check(told)
    assert told[0][4] < 0.01
    assert told[-1][4] == 1.0


def test_a_run_that_goes_on_with_some_chains_at_their_ends():
    chains = [chain_of(500, begun=n) for n in (1500, 1500, 700, 300, 0)]
    check(simulated(chains, Lengths(500, 1000, 1), 2, steady(0.02, 0.5)))


def test_searches_for_starts_are_no_transitions():
    chains = [chain_of() for _ in range(6)]
    check(simulated(chains, Lengths(500, 1000, 1), 3, steady(0.01, 0.5), search=8.0))


def test_transitions_that_take_longer_than_a_block():
    chains = [chain_of(50) for _ in range(4)]
    check(simulated(chains, Lengths(50, 100, 1), 4, steady(20.0, 0.4)), 20.0)


def test_nobody_knows_when_a_run_without_a_number_of_draws_ends():
    chains = [chain_of(100, begun=40)]
    clock = Clock()
    forecast = Forecast(chains, Lengths(100, None, 1), 1, clock)
    chains[0].transition, chains[0].seconds, clock.now = 400, 3.0, 4.0
    forecast.update()
    assert forecast.left() is None
    assert forecast.share is None
    assert forecast.speed_of_all == 90.0  # of this session
    assert forecast.speed(0) == 120.0


def test_before_anything_is_known():
    forecast = Forecast([chain_of()], Lengths(500, 1000, 1), 1, Clock())
    forecast.update()
    assert forecast.left() is None
    assert forecast.left(0) is None
    assert forecast.speed(0) is None
    assert forecast.speed_of_all is None
    assert forecast.share == 0.0


def test_between_blocks_time_goes_on():
    chain, clock = chain_of(0), Clock()
    forecast = Forecast([chain], Lengths(0, 100, 1), 1, clock)
    chain.transition, chain.seconds, clock.now = 10, 10.0, 10.0
    forecast.update()
    clock.now = 15.0
    assert forecast.left() == forecast.left(0) == 85.0
    clock.now = 200.0
    assert forecast.left() == 0.0


def test_a_long_run_is_remembered_by_few_numbers():
    chain, clock = chain_of(0), Clock()
    forecast = Forecast([chain], Lengths(0, 10**6, 1), 1, clock)
    for made in range(1, 30_000):
        chain.transition, chain.seconds = made, 0.5 * made
        forecast.update()
    assert len(forecast._watched[0].made) < 1500
    assert forecast.speed(0) == pytest.approx(2.0)


def test_works_that_share_threads_end_in_turn():
    assert ends([1.0, 1.0], 2) == [1.0, 1.0]
    assert ends([1.0, 1.0], 1) == [2.0, 2.0]
    assert ends([3.0, 1.0, 2.0], 1) == [6.0, 3.0, 5.0]
    # Three on two threads until the first ends, after which each has its own.
    assert ends([4.0, 2.0, 4.0], 2) == [5.0, 3.0, 5.0]
    assert ends([], 1) == []


def test_times_are_read_at_a_glance():
    texts = {None: "--:--", 0: "00:00", 59.6: "01:00", 3599: "59:59", 18151: "5:02:31"}
    texts |= {300_000: "3 d 11 h"}
    assert {seconds: clock_text(seconds) for seconds in texts} == texts
