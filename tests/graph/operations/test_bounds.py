"""Indices are checked at run time unless they provably lie inside."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.graph.control.control_node import everything
from kinetograph.graph.faults import has_faults
from kinetograph.graph.node import ancestors

LENGTH = 5


def looked_at(f, *places):
    """The number of indices that a function of an array and integers checks."""
    x = kg.placeholder((LENGTH,), name="x")
    integers = [kg.placeholder(dtype=int, name=name) for name in places]
    result = f(x, *integers)
    return sum(map(has_faults, set(everything(ancestors([result.node])))))


@kg.function
def counted(x):
    i, s = 0, 0.0
    while i < len(x) and x[i] > 0:
        s = s + x[i]
        i += 1
    return s


@kg.function
def downwards(x):
    i, s = len(x) - 1, 0.0
    while i >= 1:
        s = s + x[i] * x[i - 1]
        i -= 2
    return s


@kg.function
def sometimes(x):
    i, s = 0, 0.0
    while i <= len(x) - 2:
        s = s + x[i + 1]
        if s > 1:
            i = i + 1
        else:
            i = i + 2
    return s


@kg.function
def broken_off(x):
    s = 0.0
    for i in kg.range(1, len(x)):
        s = s + x[i] * x[i - 1]
        if s > 10:
            break
    return s


@kg.function
def nested(x):
    s = 0.0
    for i in kg.range(len(x)):
        j = i
        while j < len(x):
            s = s + x[j] * x[i]
            j = j + 1
    return s


@kg.function
def guarded(x, i):
    if i >= 0 and i < len(x):
        return x[i]
    return 0.0


@kg.function
def judged_too_late(x):
    """The predicate itself reads where its bound may not be true yet."""
    i, s = 0, 0.0
    while x[i] > 0 and i < len(x):
        i += 1
        s = s + 1
    return s


def after_its_step(x):
    return kg.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s + x[i + 1]), (0, 0.0))[1]


PROVED = {
    "counted": counted,
    "downwards": downwards,
    "sometimes": sometimes,
    "broken off": broken_off,
    "nested": nested,
    "rows of a range": lambda x: kg.vmap(lambda i: x[i])(kg.range(LENGTH)).sum(),
    "numbers of a scan": lambda x: kg.scan(lambda s, i: (s + x[i], None), 0.0, kg.range(3))[0],
    "places": lambda x: x[kg.argmax(x)] + x.at[kg.argmin(x)].set(0.0).sum(),
}
PROVED_WITH_AN_INTEGER = {
    "guarded": guarded,
    "remainders": lambda x, i: x[i % LENGTH] + x[-1 - i % LENGTH],
    "clipped": lambda x, i: x[kg.clip(i, 0, 3) + 1] + x[kg.minimum(kg.maximum(i, -5), 4)],
    "chosen": lambda x, i: x[kg.where(i > 0, 4, kg.stack([i % 2, 3]))].sum(),
    "truths": lambda x, i: x[(i > 3) * 1 + (i > 2).astype(int)],
    "quotients": lambda x, i: x[(i % 20) // 4],
    "looked up": lambda x, i: x[kg.stack([4, 0, 2])[i % 3]],
}
OPEN = {
    "plain": lambda x, i: x[i],
    "one too many": lambda x, i: x[i % 6],
    "too late": lambda x, i: judged_too_late(x),
    "stepped": lambda x, i: after_its_step(x),
    "stepped by an integer": lambda x, i: kg.while_loop(
        lambda k, s: k < 5, lambda k, s: (k + i, s + x[k]), (0, 0.0)
    )[1],
    "data": lambda x, i: x[kg.data(np.array([0, 1])) + 1].sum(),
    "negative remainders": lambda x, i: x[i % -7],
    "wrapped around": lambda x, i: x[(i % 3 + 126).astype("int8") + np.int8(2) - np.int8(127)],
}


@pytest.mark.parametrize("name", PROVED)
def test_proved(name):
    assert looked_at(PROVED[name]) == 0


@pytest.mark.parametrize("name", PROVED_WITH_AN_INTEGER)
def test_proved_for_every_integer(name):
    assert looked_at(PROVED_WITH_AN_INTEGER[name], "i") == 0


@pytest.mark.parametrize("name", OPEN)
def test_looked_at(name):
    assert looked_at(OPEN[name], "i") == 1
