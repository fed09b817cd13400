import jax
import numpy as np
import pytest
from scipy import special as sp

import kinetograph as kg
from kinetograph.graph.numerics import log_sums
from kinetograph.graph.precision import x64

INF = np.inf
ROWS = np.array(
    [[-INF, -INF, -INF], [-INF, 1.0, 2.0], [3.0, 3.0, -INF], [800.0, -800.0, 0.0], [INF, 1.0, 0.0]]
)


@pytest.fixture(scope="module")
def found():
    """Values and derivatives of the sums of all functions, in one program."""

    def value_and_slope(function):
        value, pull = jax.vjp(function, ROWS)
        weights = np.arange(1.0, 1 + value.size).reshape(value.shape)
        return value, pull(weights)[0]

    with x64():
        run = jax.jit(
            lambda: {
                "logsumexp": value_and_slope(lambda x: log_sums.logsumexp(x, (1,))),
                "softmax": value_and_slope(log_sums.softmax),
                "log_softmax": value_and_slope(log_sums.log_softmax),
            }
        )
        return jax.tree.map(np.asarray, run())


def test_logsumexp_with_infinite_terms(found):
    value, slope = found["logsumexp"]
    np.testing.assert_allclose(value, sp.logsumexp(ROWS, 1), rtol=1e-12)
    shares = np.zeros((5, 3))
    shares[1:4] = sp.softmax(ROWS[1:4], 1)
    shares[4, 0] = 1  # the infinite term dominates
    np.testing.assert_allclose(slope, shares * np.arange(1, 6)[:, None], rtol=1e-13)


def test_softmax_with_terms_of_zero_weight(found):
    shares = sp.softmax(ROWS[1:4], 1)
    for name, right in [("softmax", shares), ("log_softmax", sp.log_softmax(ROWS[1:4], 1))]:
        value, slope = found[name]
        np.testing.assert_allclose(value[1:4], right, rtol=1e-13, atol=1e-300)
        assert np.isnan(value[0]).all()  # no distribution has all its weights 0
        weights = np.arange(1.0, 16).reshape(5, 3)[1:4]
        if name == "softmax":
            expected = shares * (weights - (shares * weights).sum(1, keepdims=True))
        else:
            expected = weights - shares * weights.sum(1, keepdims=True)
        np.testing.assert_allclose(slope[1:4], expected, rtol=1e-12, atol=1e-12)


def forward(x, log_moves, loop):
    """The probability of four steps of a chain with forbidden moves."""
    slopes = kg.stack([x, 2 * x])

    def step(a):
        return kg.logsumexp(a[:, None] + log_moves, axis=0) + slopes

    start = kg.stack([0.0 * x, -INF + 0.0 * x])
    if loop == "unrolled":
        for _ in range(4):
            start = step(start)
    elif loop == "while":
        start = kg.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, step(a)), [0, start])[1]
    else:
        start, _ = kg.scan(lambda a, _: (step(a), a[0]), start, np.arange(4.0))
    return kg.logsumexp(start)


def test_forward_pass_with_forbidden_transitions():
    x = kg.placeholder(name="x")
    log_moves = np.array([[0.0, -INF], [-INF, 0.0]])
    outputs = []
    for loop in ("unrolled", "while", "scan"):
        y = forward(x, log_moves, loop)
        outputs += [y, kg.gradients(y, x)]
    outputs.append(kg.hessian(forward(x, log_moves, "while"), x))
    # the first state is never left
    np.testing.assert_allclose(kg.compile([x], outputs)(0.5), [2.0, 4.0] * 3 + [0.0], atol=1e-12)


def test_logaddexp_with_infinite_and_finite_terms():
    pairs = np.array([[-INF, -INF], [INF, 1.0], [-INF, 1.0], [2.0, 2.0], [INF, INF], [800.0, 0.0]])
    pairs = np.array([*pairs, [1.5, 0.25]])
    x = kg.placeholder((7, 2), name="x")
    y, z = np.logaddexp(x[:, 0], x[:, 1]), np.logaddexp2(x[:, 0], x[:, 1])
    f = kg.compile([x], [y, kg.gradients(y.sum(), x), z, kg.gradients(z.sum(), x)])
    value, slope, value2, slope2 = f(pairs)
    np.testing.assert_allclose(value, np.logaddexp(*pairs.T), rtol=1e-12)
    np.testing.assert_allclose(value2, np.logaddexp2(*pairs.T), rtol=1e-12)
    right = [[0, 0], [1, 0], [0, 1], [0.5, 0.5], [0.5, 0.5], [1, 0]]
    shares = [[1 / (1 + base**-1.25), 1 / (1 + base**1.25)] for base in (np.e, 2.0)]
    np.testing.assert_allclose(slope, [*right, shares[0]], rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(slope2, [*right, shares[1]], rtol=1e-12, atol=1e-200)
