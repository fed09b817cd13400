"""Links keep their stable form through branches, batches, loops and writes: log densities whose
probabilities round to 0 and 1, against the logistic formula at the linear predictor."""

import numpy as np
import pytest

import kinetograph as kg

x = kg.placeholder((4,), name="x")
POINT = np.array([37.0, -800.0, 0.3, 50.0])
Y = np.array([0, 1, 1, 0])
WANTED = -np.logaddexp(0, (1 - 2 * Y) * POINT)
SLOPE = Y - np.array([1.0, 0.0, 1 / (1 + np.exp(-0.3)), 1.0])


made = kg.ilogit(x)


def converted(f):
    return kg.function(f)(x)


@converted
def filled(x):
    p = np.zeros(4)
    for t in kg.range(4):
        p[t] = kg.ilogit(x[t])
    return p


@converted
def filled_while(x):
    p, t = np.full(4, 0.5), 0
    while t < x.shape[0] and x[t] > -1e9:
        p[t] = kg.ilogit(x[t])
        t += 1
    return p


@converted
def appended(x):
    return kg.stack([kg.ilogit(x[t]) for t in range(4)])


@converted
def complemented(x):
    p, q = np.zeros(4), np.ones(4)
    for t in kg.range(4):
        p[t] = kg.ilogit(x[t])
        q[t] = 1 - p[t]
    return 1 - q


@converted
def branched(x):
    p = np.zeros(4)
    for t in kg.range(4):
        if x[t] > 0:
            p[t] = kg.ilogit(x[t])
        else:
            p[t] = 1 - kg.ilogit(-x[t])
    return p


@converted
def nested(x):
    p = np.zeros((2, 2))
    for i in kg.range(2):
        for j in kg.range(2):
            p[i, j] = kg.ilogit(x[2 * i + j])
    return p.reshape(-1)


def written(x):
    p = kg.Array(kg.graph.operations.elementwise.as_node(np.zeros(4)))
    for t in range(8):  # the last write of each element counts
        p = p.at[t % 4].set(kg.ilogit(x[t % 4]))
    return p


# Each a buffer, a batch or a branch of ilogit(x).
CASES = {
    "vmap": kg.vmap(kg.ilogit)(x),
    "vmap of rows": kg.vmap(lambda p: 1 - p)(1 - kg.ilogit(x)),
    "vmap with a capture": kg.vmap(lambda i: made[i])(np.arange(4)),
    "scan": kg.scan(lambda c, v: (c, kg.ilogit(v)), 0.0, x)[1],
    "scan of rows": kg.scan(lambda c, p: (c, p), 0.0, kg.ilogit(x), reverse=True)[1],
    "scan of a carry": kg.scan(lambda p, v: (1 - p, p), kg.ilogit(x), length=3)[1][2],
    "last carry": kg.scan(lambda p, v: (1 - p, p), kg.ilogit(x), length=2)[0],
    "cond": kg.cond(x[0] > 0, lambda: kg.ilogit(x), lambda: 1 - kg.ilogit(-x)),
    "loop": filled,
    "while": filled_while,
    "comprehension": appended,
    "two variables": complemented,
    "branch in a loop": branched,
    "loop in a loop": nested,
    "loop in a vmap": kg.vmap(
        lambda v: kg.while_loop(lambda p, n: n < 3, lambda p, n: (1 - p, n + 1), [kg.ilogit(v), 1])[
            0
        ]
    )(x),
    "writes": written(x),
}


@pytest.fixture(scope="module")
def found():
    """All densities and gradients, by one program."""
    densities = [kg.log_density(kg.bernoulli(p), Y) for p in CASES.values()]
    slopes = [kg.gradients(density.sum(), x) for density in densities]
    results = kg.compile([x], densities + slopes)(POINT)
    return dict(zip(CASES, zip(results, results[len(CASES) :], strict=False), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_a_probability_keeps_its_log_odds(name, found):
    value, slope = found[name]
    np.testing.assert_allclose(value, WANTED, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(slope, SLOPE, rtol=1e-12, atol=1e-300)
