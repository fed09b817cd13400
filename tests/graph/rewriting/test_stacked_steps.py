"""Stacks of alike steps: values and derivatives are those of plain Python.

A random recurrence is one function, which Python runs on NumPy's numbers, and the graph as nodes.
"""

import jax
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.graph.lower import Scope, evaluate
from kinetograph.graph.precision import x64
from kinetograph.graph.rewriting import stacked_steps
from kinetograph.graph.rewriting.stacked_steps import FEWEST

COUNT = 2 * FEWEST
ROWS = np.random.default_rng(0).normal(size=(COUNT + 1, 3))


def equations(outputs, inputs):
    """The number of equations of the program that computes outputs."""

    def program(*tensors):
        environment = dict(zip(inputs, tensors, strict=True))
        return [evaluate([o], dict(environment), scope=Scope())[o] for o in outputs]

    with x64():
        return len(jax.make_jaxpr(program)(*(np.zeros(i.shape) for i in inputs)).jaxpr.eqns)


def checked(recurrence, a=0.7, b=-0.4, few=True):
    """Compare values and gradients with Python's numbers; few says whether it is one batch."""
    x, y = kg.placeholder(), kg.placeholder()
    rows = kg.data(ROWS)
    out = recurrence(x, y, rows, kg)
    weights = np.cos(np.arange(np.prod(out.shape))).reshape(out.shape)
    gradients = kg.gradients((out * weights).sum(), [x, y])
    values = kg.compile([x, y], [out, *gradients])(a, b)
    with x64():

        def plain(x, y):
            return recurrence(x, y, ROWS, jax.numpy)

        expected = plain(np.float64(a), np.float64(b))
        derivatives = jax.grad(lambda p: (plain(*p) * weights).sum())((a, b))
    np.testing.assert_allclose(values[0], expected, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(values[1:], derivatives, rtol=1e-9, atol=1e-10)
    if few is not None:
        assert (equations([out.node], [x.node, y.node]) < COUNT) == few


def batch(x, y, rows, np):
    return np.stack([np.exp(x + y * rows[t, 0]) / (1 + np.exp(x)) for t in range(COUNT)])


def columns(x, y, rows, np):
    return np.stack([x * rows[:, 1][t] + rows[t] @ rows[0] * y for t in range(COUNT)], -1)


def vectors(x, y, rows, np):
    return np.stack([np.sin(x * rows[t] + y) for t in range(COUNT)], 1)


def running_sum(x, y, rows, np):
    level, levels = 0.0, []
    for t in range(COUNT):
        level = level + x * rows[t, 1]
        levels.append(level)
    return np.stack(levels)


def autoregression(x, y, rows, np):
    level, levels = y, []
    for t in range(COUNT):
        level = x * level + rows[t, 2]
        levels.append(level)
    return np.stack(levels)


def second_order(x, y, rows, np):
    levels = [x, y]
    for t in range(COUNT):
        levels.append(0.5 * levels[-1] - x * 0.3 * levels[-2] + rows[t, 0])
    return np.stack(levels)


def far_before_near(x, y, rows, np):
    levels = [x, y, x * y]
    for t in range(COUNT):
        levels.append(np.sin(levels[-3]) * y + 0.5 * levels[-1] + rows[t, 0])
    return np.stack(levels)


def hidden(x, y, rows, np):
    level, slope, levels = x, y, []
    for t in range(COUNT):
        level = level + slope + 0.1 * rows[t, 0]
        slope = 0.9 * slope + x * rows[t, 1]
        levels.append(level)
    return np.stack(levels)


def of_vectors(x, y, rows, np):
    state, states = rows[0] * y, []
    turn = rows[:3] * 0.3
    for t in range(COUNT):
        state = np.tanh(turn @ state + x * rows[t])
        states.append(state)
    return np.stack(states)


def used_elsewhere(x, y, rows, np):
    level, levels = y, []
    for t in range(COUNT):
        level = 0.8 * level + x * rows[t, 2]
        levels.append(level)
    return np.stack(levels) + levels[3] * level


def two_stacks(x, y, rows, np):
    level, levels, means = y, [], []
    for t in range(COUNT):
        level = 0.8 * level + x * rows[t, 2]
        levels.append(level)
        means.append(np.exp(level) * y)
    return np.stack(levels) * np.stack(means) + np.stack(means)[3]


def one_after_another(x, y, rows, np):
    first = running_sum(x, y, rows, np)
    second, each = first[5], []
    for t in range(COUNT):
        second = 0.7 * second + x * first[t]
        each.append(second)
    return np.stack(each)


def halfway(x, y, rows, np):
    """A sum of two addends, the first of which is read elsewhere."""
    level, levels, halves = y, [], []
    for t in range(COUNT):
        halves.append(level + x * rows[t, 0])
        level = halves[-1] + y * rows[t, 1]
        levels.append(level)
    return np.stack(levels) * halves[3]


def one_from_the_last_level(x, y, rows, np):
    level, first, second = y, [], []
    for t in range(COUNT):
        level = x * level + rows[t, 0]
        first.append(level)
    for t in range(COUNT):
        level = np.sin(level) + x * rows[t, 1]
        second.append(level)
    return np.stack(first) * np.stack(second)


def differences(x, y, rows, np):
    each = [np.sin(x * rows[t, 0]) for t in range(COUNT + 1)]
    return np.stack([each[t + 1] - y * each[t] for t in range(COUNT)])


def literals(x, y, rows, np):
    level, levels = x, []
    for t in range(COUNT):
        level = level * (0.5 + 0.01 * t) + y
        levels.append(level)
    return np.stack(levels)


def growing(x, y, rows, np):
    level, levels = x, []
    for _ in range(COUNT):
        level = level + y
        levels.append(level)
    return np.stack(levels)


def rows_from_the_end(x, y, rows, np):
    return np.stack([np.exp(x * rows[-1 - t, 1]) * y * rows[t - 3, 0] for t in range(COUNT)])


def started_by_numbers(x, y, rows, np):
    """The value before the first step has another type, or another shape."""
    level, state, levels, states = 0, 0.0, [], []
    for t in range(COUNT):
        level = np.sin(x * level + rows[t, 0])
        state = np.tanh(y * state + rows[t])
        levels.append(level)
        states.append(state)
    return np.stack(levels)[:, None] * np.stack(states)


def downwards(x, y, rows, np):
    level, levels = x, []
    for t in reversed(range(COUNT)):
        level = y * level + rows[t, 0]
        levels.append(level)
    return np.stack(levels[::-1])


@pytest.mark.parametrize(
    "recurrence",
    [
        batch,
        columns,
        vectors,
        running_sum,
        autoregression,
        second_order,
        far_before_near,
        hidden,
        of_vectors,
        used_elsewhere,
        two_stacks,
        one_after_another,
        one_from_the_last_level,
        halfway,
        differences,
        literals,
        growing,
        rows_from_the_end,
        started_by_numbers,
    ],
)
def test_steps_are_one_batch_or_one_loop(recurrence):
    checked(recurrence)


def shared_shock(x, y, rows, np):
    """Steps of fewer axes than the state, whose lengths coincide or not."""
    level, square, levels, squares = x * rows[0], y * rows[:COUNT, 0], [], []
    for t in range(COUNT):
        level = level + y * rows[t, 0] + rows[t]
        square = square + x * rows[t, 1]
        levels.append(level)
        squares.append(square)
    return np.stack(levels) * np.stack(squares)[:, :3]


def test_steps_of_fewer_axes_than_the_state():
    checked(shared_shock)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32"])
@pytest.mark.parametrize("start", [0, 0.0])
def test_sums_of_whole_numbers(dtype, start):
    """Each addition has a type of its own."""
    largest = {"bool": 2, "uint8": 256, "int32": 2**31 - 1}[dtype]
    first, second = np.random.default_rng(1).integers(0, largest, (2, 30)).astype(dtype)
    a, b = kg.placeholder((30,), first.dtype), kg.placeholder((30,), second.dtype)
    level, expected, levels = start, start, []
    for t in range(30):
        level = level + a[t] + b[t]
        expected = expected + first[t] + second[t]
        levels.append(level)
    found = kg.compile([a, b], kg.stack(levels))(first, second)
    assert found[-1] == expected


def test_a_stack_that_takes_no_part_in_the_derivative():
    """The slope of the root at 0 is infinite, and its row is not used elsewhere."""
    scale = kg.half_normal(1, name="scale")
    roots = [kg.sqrt(scale * value) for value in [1.0, 0.0, *np.linspace(0.5, 2, 28)]]
    best = kg.argmax(kg.stack(roots))
    kg.observe(1.0, kg.normal(roots[5] + 0.1 * best, 1))
    model = kg.model(scale)
    width = 1e-6
    ends = model.log_prob(np.array([[0.3 - width], [0.3 + width]]))
    assert model.gradient([0.3])[0] == pytest.approx(np.diff(ends)[0] / (2 * width), rel=1e-6)


def roots(x, y, rows, np):
    return np.stack([root(x * rows[t, 0], np) for t in range(COUNT)])


def roots_of_vectors(x, y, rows, np):
    return np.stack([y * root(x * rows[t], np) - root(rows[t] + y, np) for t in range(COUNT)])


def roots_in_a_loop(x, y, rows, np):
    level, levels = x, []
    for t in range(COUNT):
        level = 0.5 * root(level - rows[t, 0] / 2, np) + root(rows[t, 1] * x, np)
        levels.append(level)
    return np.stack(levels)


def roots_in_roots(x, y, rows, np):
    return np.stack([root(root(x * rows[t], np) - 0.2, np) for t in range(COUNT)])


@pytest.mark.parametrize("recurrence", [roots, roots_of_vectors, roots_in_a_loop, roots_in_roots])
def test_choices_of_derivatives_are_made_in_each_step(recurrence):
    checked(recurrence, few=None)
    x, y = kg.placeholder(), kg.placeholder()
    out = recurrence(x, y, kg.data(ROWS), kg)
    assert equations([out.node], [x.node, y.node]) < 2 * COUNT


def test_copies_of_one_value_that_are_taken_in_some_steps():
    """The slope of the root of 0 is infinite, and the first step does not take it."""
    x, y = kg.placeholder(), kg.placeholder()
    taken = np.arange(COUNT) % 3 > 0
    rows = kg.data(taken.astype(float))
    out = kg.stack([kg.where(rows[t] > 0, kg.sqrt(y), x) for t in range(COUNT)])
    slopes = kg.compile([x, y], kg.gradients(out.sum(), [x, y]))(0.3, 0.25)
    np.testing.assert_allclose(slopes, [(~taken).sum(), taken.sum()], rtol=1e-12)


def test_a_copy_of_one_value_that_only_a_side_reads():
    """The first of equal roots is read by a side alone, the others elsewhere, too."""
    x = kg.placeholder()
    roots = [kg.sqrt(x) for _ in range(COUNT)]
    rows = kg.data(np.arange(COUNT))
    out = kg.stack([kg.where(rows[t] > 0, roots[t], 0.0) for t in range(COUNT)]).sum()
    out = out + 2 * sum(roots[1:])
    slope = kg.compile([x], kg.gradients(out, x))(0.25)
    assert slope == pytest.approx(3 * (COUNT - 1), rel=1e-12)


def test_sides_that_read_elements_of_an_array():
    x = kg.placeholder((COUNT,))
    out = kg.stack([kg.where(x[t] > 0, kg.sqrt(x[t]), 0.0) for t in range(COUNT)])
    values = np.tile([0.25, 0.0, -1.0], COUNT // 3)
    slope = kg.compile([x], kg.gradients(out.sum(), x))(values)
    np.testing.assert_allclose(slope, np.where(values > 0, 1.0, 0.0), rtol=1e-12)
    assert equations([out.node], [x.node]) < COUNT


def test_a_choice_around_a_whole_stack():
    """A condition outside of the steps guards the roots in them."""
    x = kg.placeholder()
    rows = kg.data(np.linspace(0.5, 1, COUNT))
    out = kg.where(x > 0, kg.stack([kg.sqrt(x * rows[t]) for t in range(COUNT)]), 0.0)
    slope = kg.compile([x], kg.gradients(out.sum(), x))
    assert slope(-1.0) == 0
    assert slope(0.25) == pytest.approx(np.sqrt(np.linspace(0.5, 1, COUNT)).sum(), rel=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_results_of_branches(dtype):
    """A branch has several results, of types of their own."""
    rows, large = np.random.default_rng(2).normal(size=30), 2**60 + 1
    x = kg.placeholder((30,))
    each = []
    for t in range(30):
        second = np.ones(3) if dtype == "float64" else np.full(3, large)
        a, b = kg.cond(
            x[t] > 0, lambda t=t, b=second: (2 * x[t], b), lambda t=t, b=second: (x[t], b)
        )
        each.append(b + (a > 0).astype(dtype))
    found = kg.compile([x], kg.stack(each))(rows)
    expected = second + (rows > 0).astype(dtype)[:, None]
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, expected)


def test_roots_that_a_condition_guards():
    """The slope of the root at 0 is infinite, where the root is not taken."""
    scale, values = kg.placeholder(), kg.data(np.r_[0.0, np.linspace(1, 2, 29)])
    roots = [kg.where(values[t] > 0, kg.sqrt(scale * values[t]), 0.0) for t in range(30)]
    (slope,) = kg.gradients(kg.stack(roots).sum(), [scale])
    expected = 0.5 * np.sqrt(np.linspace(1, 2, 29) / 0.7).sum()
    assert kg.compile([scale], slope)(0.7) == pytest.approx(expected, rel=1e-12)


def test_large_arrays_are_computed_one_by_one(monkeypatch):
    monkeypatch.setattr(stacked_steps, "LARGEST", 3 * COUNT - 1)
    checked(vectors, few=False)
    checked(batch)


def unlike(x, y, rows, np):
    each = [x * rows[t, 0] if t % 2 else np.sin(y) for t in range(COUNT)]
    return np.stack(each)


def irregular(x, y, rows, np):
    """The last step reads the value before, and an earlier one the value before that."""
    levels = [x, y]
    for t in range(COUNT):
        before = levels[-2] if t == 7 else levels[-1]
        levels.append(0.5 * before + rows[t, 0])
    return np.stack(levels)


@pytest.mark.parametrize("recurrence", [unlike, downwards, irregular])
def test_other_stacks_are_computed_one_by_one(recurrence):
    checked(recurrence, few=False)


def root(value, np):
    """The root of positive values, whose slope is not a number elsewhere."""
    if np is kg:
        return kg.where(value > 0, kg.sqrt(value), 0.1 * value)
    return np.where(value > 0, np.sqrt(np.where(value > 0, value, 1.0)), 0.1 * value)


class Recurrence:
    """A random recurrence of one to three states, some of which are stacked."""

    def __init__(self, seed):
        rng = self.rng = np.random.default_rng(seed)
        self.states = rng.integers(1, 4)
        self.vector = rng.random() < 0.3
        self.count = int(rng.integers(FEWEST - 1, FEWEST + 6))
        self.updates = [self.update(k) for k in range(self.states)]
        self.stacked = int(rng.integers(self.states))
        self.outside = rng.random() < 0.5
        self.start = rng.random() < 0.5
        self.axis = int(rng.integers(2)) if self.vector else 0

    def update(self, k):
        rng, terms = self.rng, []
        for _ in range(rng.integers(1, 4)):
            kind = rng.choice(["state", "now", "row", "constant", "time"])
            which = int(rng.integers(k)) if kind == "now" and k else int(rng.integers(self.states))
            kind = "state" if kind == "now" and not k else kind
            lag, weight = int(rng.integers(1, 4)), float(rng.normal() / 3)
            terms.append((kind, which, lag, weight, rng.choice(["plain", "sin", "times", "root"])))
        return terms

    def __call__(self, x, y, rows, np):
        width = 3 if self.vector else None
        first = [x + 0.1 * k + y * rows[k, :3] * (1 if width else 0) for k in range(3)]
        first = [f if width else f[0] for f in first]
        history = [[first[(k + j) % 3] for j in range(3)] for k in range(self.states)]
        for t in range(self.count):
            new = []
            for update in self.updates:
                total = 0.0
                for kind, which, lag, weight, way in update:
                    value = {
                        "state": lambda w=which, lag=lag: history[w][-lag],
                        "now": lambda w=which, new=new: new[w],
                        "row": lambda t=t, w=which: rows[t] if width else rows[t, w],
                        "constant": lambda: y,
                        "time": lambda t=t: 0.01 * t + x,
                    }[kind]()
                    value = np.sin(value) if way == "sin" else value
                    value = root(value, np) if way == "root" else value
                    total = total + weight * (value * x if way == "times" else value)
                new.append(total + (rows[0] * 0 if width else 0.0))
            for each, value in zip(history, new, strict=True):
                each.append(value)
        each = history[self.stacked][0 if self.start else 3 :]
        whole = np.stack(each, self.axis)
        return whole + (history[0][5] * history[-1][-1]).sum() if self.outside else whole


@pytest.mark.parametrize("seed", range(12))
def test_random_recurrences(seed):
    checked(Recurrence(seed), few=None)
