from functools import cache

import numpy as np
import pytest
from tests.selection import thinned

import kinetograph as kg

X = np.array([-1.0, 0.0, 4.0])


def nested(x):
    return kg.where(x > 0, kg.where(x > 1, kg.log(x - 1), kg.log(x) * kg.log(1 - x)), x / 0.0 + x)


def condition_and_side(x):
    root = kg.sqrt(x)
    return kg.where(root > 0, 1 / root, 0.0)


def shared(x):
    log = kg.log(x)
    return kg.where(x > 0, log, 0.0) + kg.where(x > 2, 2 * log, x * 3)


def broadcast(x):
    # the first row divides by 0, but nowhere is it taken
    return kg.where(x[:, None] > 0, np.array([1.0, 2.0]) / x[:, None], 0.0)


def narrow(x):
    # single numbers that meet whole rows; the roots of x[0] and x[1] are not used
    roots = kg.stack([kg.sqrt(x[0]), kg.sqrt(x[1])])
    rows = kg.where(np.array([False, False, True]), x * kg.exp(-1 / kg.sqrt(x[2])), 0 * x[1])
    return rows + kg.where(x[0] > 0, kg.sum(roots), 0.0)


def column(x):
    # the root is used twice, and once is enough
    root = kg.sqrt(x[:, None])
    return kg.where((x[:, None] > 0) & np.array([True, False]), root * np.array([1.0, 2.0]), 0.0)


def missing(x):
    y = np.array([np.nan, 2.0, np.inf])
    return kg.where(np.isfinite(y), x * y, 0.0)


def read_in_one_branch(v):
    root = kg.sqrt(v)
    return kg.cond(v > 1, lambda: kg.cond(v > 2, lambda: root, lambda: v), lambda: 3 * v)


def read_in_two_of_three(v):
    root = kg.sqrt(v)
    return kg.switch(kg.where(v > 0, 2, 1), [lambda: root, lambda: 3 * v, lambda: 2 * root])


def predicate_and_branch(v):
    root = kg.sqrt(v)
    return kg.cond(root > 0, lambda: 1 / root, lambda: 0 * v)


def summed_outside(x):
    total = kg.sum(kg.log(x))
    return kg.cond(kg.min(x) > 0, lambda: total, lambda: kg.sum(x))


def used_beside_the_branch(x):
    shifted = kg.sqrt(x + 2)
    return kg.cond(x[0] > 0, lambda: shifted * kg.log(x), lambda: x) + 2 * shifted


def doubled_root(v, *, root=None):
    # v + 2 sqrt(v), by a loop
    more = (lambda: kg.sqrt(v)) if root is None else (lambda: root)
    return kg.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s + more()), [0, v])[1]


def side_of_a_branch(v):
    return kg.where(v > 0, kg.cond(v >= 0, lambda: kg.sqrt(v), lambda: v), 2 * v)


def side_of_a_loop_that_reads(v):
    return kg.where(v > 0, doubled_root(v, root=kg.sqrt(v)), 2 * v)


def side_of_a_loop_in_a_branch(v):
    inner = lambda: kg.where(v > 0, doubled_root(v), 2 * v)
    return kg.cond(v > -0.5, inner, lambda: 3 * v)


def two_results(v):
    up, down = kg.cond(v >= 0, lambda: (kg.sqrt(v + 1), v), lambda: (v, kg.exp(v)))
    return kg.where(v > 0, up * kg.log(v), down)


# function of X, its gradient there, by hand
CASES = {
    "root": (lambda x: kg.where(x > 0, kg.sqrt(x), 0.0), [0, 0, 0.25]),
    "other side": (lambda x: kg.where(x <= 0, 0.0, kg.log(x)), [0, 0, 0.25]),
    "product": (lambda x: kg.where(x > 0, kg.log(x) / x, x), [1, 1, (1 - np.log(4)) / 16]),
    "both": (lambda x: kg.where(x < 0, kg.sqrt(-x), kg.sqrt(x + 1)), [-0.5, 0.5, 0.5 / 5**0.5]),
    "overflow": (lambda x: kg.where(x < 1, x, x * kg.exp(400 * x)), [1, 1, np.inf]),
    "overflow not taken": (lambda x: kg.where(x < 5, x, x * kg.exp(400 * x)), [1, 1, 1]),
    "cast": (lambda x: kg.where(x > 0, kg.sqrt(x), 0), [0, 0, 0.25]),
    "powers": (lambda x: kg.where(x > 0, x**0.5 + x**-1.5, 0.0), [0, 0, 0.25 - 1.5 * 4**-2.5]),
    "special": (lambda x: kg.where(x > 0, kg.gammaln(x), x), [1, 1, 1.2561176684318]),
    "logit": (lambda x: kg.where((x > 0) & (x < 1), kg.logit(x), x), [1, 1, 1]),
    "items": (lambda x: kg.where(x[:2] > 0, x[2] / x[:2], 0.0), [0, 0, 0]),
    "of a sum": (lambda x: kg.where(kg.min(x) > 0, kg.sum(kg.log(x)), kg.sum(x)), [1, 1, 1]),
    "nested": (nested, [np.inf, np.inf, 1 / 3]),
    "condition and side": (condition_and_side, [0, 0, -0.5 * 4**-1.5]),
    "shared": (shared, [3, 3, 0.75]),
    "broadcast": (broadcast, [0, 0, -3 / 16]),
    "narrow": (narrow, [0, 0, 1.25 * np.exp(-0.5)]),
    "column": (column, [0, 0, 0.25]),
    "missing": (missing, [0, 2, 0]),
    "batch of branches": (
        kg.vmap(lambda v: kg.cond(v > 0, lambda: kg.sqrt(v), lambda: 0.0 * v)),
        [0, 0, 0.25],
    ),
    "read in one branch": (kg.vmap(read_in_one_branch), [3, 3, 0.25]),
    "read in two of three": (kg.vmap(read_in_two_of_three), [3, 3, 0.5]),
    "predicate and branch": (kg.vmap(predicate_and_branch), [0, 0, -0.5 * 4**-1.5]),
    "summed outside": (summed_outside, [1, 1, 1]),
    "used beside the branch": (used_beside_the_branch, 1 + 1 / np.sqrt(X + 2)),
    "side of a branch": (kg.vmap(side_of_a_branch), [2, 2, 0.25]),
    "side of a loop": (kg.vmap(lambda v: kg.where(v > 0, doubled_root(v), 2 * v)), [2, 2, 1.5]),
    "side of a loop that reads": (kg.vmap(side_of_a_loop_that_reads), [2, 2, 1.5]),
    "side of a loop in a branch": (kg.vmap(side_of_a_loop_in_a_branch), [3, 2, 1.5]),
    "side of two results": (
        kg.vmap(two_results),
        [np.exp(-1), 1, np.log(4) / 20**0.5 + 5**0.5 / 4],
    ),
    "side of a scan": (
        lambda x: kg.where(
            x[1] > 0, kg.scan(lambda c, v: (c + kg.log(v), c), 0.0, x)[0], kg.sum(x)
        ),
        [1, 1, 1],
    ),
    "batch": (kg.vmap(lambda v: kg.where(v > 0, kg.sqrt(v), 0.0)), [0, 0, 0.25]),
    "scan": (
        lambda x: kg.scan(lambda c, v: (c, kg.where(v > 0, kg.sqrt(v), 0.0)), 0.0, x)[1],
        [0, 0, 0.25],
    ),
    "while": (
        lambda x: kg.while_loop(
            lambda i, s: i < 2,
            lambda i, s: (i + 1, s + kg.where(x > 0, kg.sqrt(x), 0.0)),
            [0, 0 * x],
        )[1],
        [0, 0, 0.5],
    ),
}


@pytest.fixture(scope="module")
def found():
    """Of all cases the gradient and the sum of it by forward mode, in one program."""
    inputs, outputs = [], []
    for function, _ in CASES.values():
        x = kg.placeholder((3,), name="x")
        y = function(x)
        inputs.append(x)
        outputs += [kg.gradients(y.sum(), x), kg.jvp(y, x, np.ones(3)).sum()]
    results = kg.compile(inputs, outputs)(*[X] * len(CASES))
    return dict(zip(CASES, zip(results[::2], results[1::2], strict=True), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_side_not_taken_does_not_reach_the_gradient(name, found):
    slope = np.asarray(CASES[name][1], float)
    reverse, forward = found[name]
    np.testing.assert_allclose(reverse, slope, rtol=1e-12)
    np.testing.assert_allclose(forward, slope.sum(), rtol=1e-12)


SMOOTH = [name for name, (_, slope) in CASES.items() if np.isfinite(slope).all()]
EVERYDAY = SMOOTH[::3]


@cache
def second(everyday: bool):
    """Of some cases the gradient of the sum of the gradient, in one program."""
    names = [name for name in SMOOTH if (name in EVERYDAY) == everyday]
    inputs = [kg.placeholder((3,), name="x") for _ in names]
    slopes = [
        kg.gradients(CASES[name][0](x).sum(), x) for name, x in zip(names, inputs, strict=True)
    ]
    outputs = [kg.gradients(slope.sum(), x) for slope, x in zip(slopes, inputs, strict=True)]
    return dict(zip(names, kg.compile(inputs, outputs)(*[X] * len(names)), strict=True))


@pytest.mark.parametrize("name", thinned(SMOOTH, 3))
def test_nor_the_gradient_of_the_gradient(name):
    assert np.isfinite(second(name in EVERYDAY)[name]).all()
