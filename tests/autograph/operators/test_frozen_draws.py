"""Random numbers of Python's generators in code that becomes a graph."""

import random
from random import gauss

import numpy as np
import pytest
from scipy import stats

import kinetograph as kg

GENERATOR = np.random.default_rng(0)
OWN = random.Random(0)


def by_module():
    return random.gauss(0.0, 1.0)


def by_import():
    return gauss(0.0, 1.0)


def by_builtin():
    return random.random()


def by_numpy():
    return np.random.normal()


def by_generator():
    return GENERATOR.standard_normal(3).sum()


def by_own():
    return OWN.uniform(0.0, 1.0)


def by_scipy():
    return stats.norm.rvs(random_state=0)


def in_comprehension():
    return sum([GENERATOR.normal() for _ in range(3)])


def by_shuffle():
    values = [1.0, 2.0, 3.0]
    random.shuffle(values)
    return values[0]


DRAWS = [by_module, by_import, by_builtin, by_numpy, by_generator, by_own, by_scipy]
DRAWS += [in_comprehension, by_shuffle]


@pytest.mark.parametrize("draw", DRAWS)
def test_a_draw_that_would_be_frozen_is_refused(draw):
    def loop(n):
        s = 0.0
        for _ in kg.range(n):
            s = s + draw()
        return s

    def branch(x):
        if x > 0:
            x = x + draw()
        return x

    def top(x):
        return x + draw()

    for function, argument in ((loop, 3), (branch, 1.0), (top, 1.0)):
        with pytest.raises(kg.StagingError, match=r"drawn once.*kg\.random\.normal\(\)"):
            kg.function(function)(argument)
    with pytest.raises(kg.StagingError, match=r"test_frozen_draws\.py"):
        kg.autograph.convert(loop)(kg.placeholder(dtype=int, name="n"))
    # Outside of loops a converted function runs each time that it is called, as Python's do.
    made = kg.autograph.convert(top)(kg.placeholder(name="x"))
    assert isinstance(made, kg.Array)


def test_the_way_out_draws_in_every_trip_and_every_call():
    @kg.function
    def f(n):
        s, squares = 0.0, 0.0
        for _ in kg.range(n):
            z = kg.random.normal()
            s, squares = s + z, squares + z * z
        return s, squares

    (first, squares), (second, _) = f(100), f(100)
    assert first != second
    assert squares > 1.01 * first**2 / 100  # equal if all draws were one


def test_seeds_and_draws_before_the_graph_are_allowed():
    def f(x):
        random.seed(1)
        return x + kept

    kept = random.random()
    assert float(kg.function(f)(1.0)) == 1.0 + kept
