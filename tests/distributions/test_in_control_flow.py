"""Log densities by links inside of loops, branches and batches: as right as outside."""

import mpmath as mp
import numpy as np
import pytest
from tests.distributions.references import (
    bernoulli_logit,
    log_logistic,
    negative_binomial_by_logs,
    student,
)

import kinetograph as kg

POINTS = [-40.0, 0.3, 8.3, 40.0]

# The log density given a number, and the truth.
DENSITIES = {
    "icloglog": (
        lambda t: kg.log_density(kg.bernoulli(kg.icloglog(t)), 1),
        lambda t: mp.log(-mp.expm1(-mp.exp(t))),
    ),
    "poisson": (lambda t: kg.log_density(kg.poisson(kg.exp(-t)), 0), lambda t: -mp.exp(-t)),
    "student": (
        lambda t: kg.log_density(kg.student(3.0, t, 1e-160), 1.0),
        lambda t: student(mp.mpf(1), mp.mpf(3), t, mp.mpf(1e-160)),
    ),
}
MORE = {
    "ilogit": (
        lambda t: kg.log_density(kg.bernoulli(kg.ilogit(t)), 0),
        lambda t: bernoulli_logit(0, t),
    ),
    "iprobit": (
        lambda t: kg.log_density(kg.bernoulli(kg.iprobit(t)), 0),
        lambda t: mp.log(mp.ncdf(-t)) if t > 0 else mp.log1p(-mp.ncdf(t)),
    ),
    "negative_binomial": (
        lambda t: kg.log_density(kg.negative_binomial(5.0, kg.ilogit(t)), 0),
        lambda t: negative_binomial_by_logs(0, 5, log_logistic(t), log_logistic(-t)),
    ),
    "categorical": (
        lambda t: kg.log_density(kg.categorical(kg.softmax(kg.stack([t, -t]))), 0),
        lambda t: log_logistic(2 * t),
    ),
    "lognormal": (
        lambda t: kg.log_density(kg.lognormal(0.0, 1.0), kg.exp(t)),
        lambda t: -t * t / 2 - t - mp.log(2 * mp.pi) / 2,
    ),
}


def placed(density, t):
    """The density of t by five ways through the graph; the last two count it twice."""
    yield kg.scan(lambda total, row: (total + density(t) * row, total), 0.0, np.ones(1))[0]
    yield kg.while_loop(
        lambda n, u, total: n < 1, lambda n, u, total: (n + 1, u, total + density(u)), [0, t, 0.0]
    )[2]
    yield kg.cond(t > -1e9, lambda: density(t), lambda: 0.0 * t)
    yield kg.where(t > -1e9, density(t), 0.0) + kg.where(t > 1e9, 2.0, density(t))
    yield kg.vmap(density)(kg.stack([t, t])).sum()


def check(densities):
    t = kg.placeholder((), name="t")
    outputs = [y for density, _ in densities.values() for y in placed(density, t)]
    program = kg.compile([t], [*outputs, *(kg.gradients(y, t) for y in outputs)])
    for point in POINTS:
        results = np.array(program(point), float).reshape(2, len(densities), 5)
        for i, (name, (_, truth)) in enumerate(densities.items()):
            with mp.workdps(60):
                h = mp.mpf(10) ** -25
                below, value, above = (truth(mp.mpf(point) + k * h) for k in (-1, 0, 1))
                slope = float((above - below) / (2 * h))
            for got, wanted in zip(results[:, i], (float(value), slope), strict=True):
                message = f"{name} at {point}: scan, while, cond, where, vmap"
                expected = np.array([1, 1, 1, 2, 2]) * wanted
                np.testing.assert_allclose(got, expected, 1e-10, 1e-13, err_msg=message)


def test_densities_inside_of_loops_branches_and_batches():
    check(DENSITIES)


@pytest.mark.slow
def test_more_densities_inside_of_loops_branches_and_batches():
    check(MORE)


def test_what_comes_from_outside_keeps_its_form():
    """A probability made outside of a loop, and one that is an unknown, used inside."""
    a, q = kg.normal(0, 1, name="a"), kg.beta(2, 2, name="q")
    p = kg.ilogit(a)

    def body(total, outcome):
        of_p = kg.log_density(kg.bernoulli(p), outcome)
        return total + of_p + kg.log_density(kg.bernoulli(q), outcome), total

    total, _ = kg.scan(body, 0.0 * a, kg.data([0, 1, 1]))
    model = kg.model(a, q, factors=total)
    # Of p: -800 of the prior, and the 0 observed; of q: log(1 - q) twice, and its Jacobian.
    np.testing.assert_allclose(model.gradient([800.0, 800.0]), [-801.0, -3.0], rtol=1e-12)
    assert np.isfinite(model.log_prob([800.0, 800.0]))
