"""The order of chains, and how many of them warm up at once."""

import threading

import numpy as np
import pytest
from tests.runs.models import run, schools

from kinetograph.runs import queues
from kinetograph.runs.chain import RunningChain
from kinetograph.runs.queues import ChainQueue, ChainTurns

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")

WARMUP, TURNS = 3, 5


def chains_with_turns(count, order):
    """Chains that note their turns, the first of which are warm-up."""
    for number in range(count):
        chain = RunningChain(np.zeros(4, np.uint32), number=number)
        chain.tuner.end = WARMUP

        def turns(chain=chain):
            for _ in range(TURNS):
                order.append((chain.number, chain.transition >= WARMUP))
                chain.transition += 1
                yield

        yield ChainTurns(turns(), chain)


def take_all(queue):
    while (each := queue.take()) is not None:
        if next(each.turns, 0) is None:
            queue.put(each)
        else:
            queue.ended(each)


def test_all_chains_take_turns():
    order = []
    take_all(ChainQueue(list(chains_with_turns(4, order)), 4))
    assert [number for number, _ in order] == [0, 1, 2, 3] * TURNS


@pytest.mark.parametrize("threads", [1, 2])
def test_a_limited_number_of_chains_warms_up_at_once(threads):
    order = []
    queue = ChainQueue(list(chains_with_turns(7, order)), 2)
    workers = [threading.Thread(target=take_all, args=(queue,)) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not queue
    warming = set()
    for number in range(7):
        assert [drawn for n, drawn in order if n == number] == [False] * 3 + [True] * 2
    for i, (number, drawn) in enumerate(order):
        if not drawn:
            warming.add(number)
            assert (
                len(warming) <= 2 + threads - 1
            )  # a thread notes a turn before it takes its place
        later = [n for n, after in order[i + 1 :] if n == number and not after]
        warming -= set() if later else {number}
    if threads == 1:  # draws begin after all warm-ups, and go round
        assert [n for n, drawn in order if drawn] == [*range(7), *range(7)]


def test_draws_do_not_depend_on_how_many_chains_warm_up_at_once(monkeypatch):
    whole = run(schools(), draws=20, chains=5, warmup=None, threads=1)
    monkeypatch.setattr(queues, "MOST_BYTES", 1)
    monkeypatch.setattr(queues, "LEAST", 2)
    limited = run(schools(), draws=20, chains=5, warmup=None, threads=1)
    assert whole["posterior"].equals(limited["posterior"])
