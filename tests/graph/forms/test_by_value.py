"""By computed values and unknowns whose logarithm or log odds densities take, or given these."""

import jax
import numpy as np
import pytest
from scipy import stats

import kinetograph as kg
from kinetograph.graph.precision import x64

E = np.log(0.7)


def test_by_a_rate_that_is_computed():
    e = kg.placeholder(name="e")
    rate = kg.exp(e)
    y = kg.log_density(kg.exponential(rate), 3.0)
    by_rate = kg.gradients(y, rate)
    both = kg.log_density(kg.gamma(2.5, 2 * rate), 3.0) * rate
    outputs = [
        by_rate,
        kg.hessian(y, rate),
        kg.jvp(y, rate, 2.0),
        kg.gradients(y, e),
        kg.gradients(by_rate, e),
        kg.gradients(by_rate, rate),
        *kg.gradients(y + rate, [rate, e]),
        kg.gradients(both, rate),
        kg.hessian(both, rate),
        kg.gradients(kg.log_density(kg.exponential(rate), 2 * rate), rate),
        kg.gradients(kg.stop_gradient(y) * rate, rate),
    ]
    r, slope = 0.7, 1 / 0.7 - 3
    log_gamma = stats.gamma.logpdf(3, 2.5, scale=1 / (2 * r))
    truth = [slope, -1 / r**2, 2 * slope, r * slope, -1 / r, -1 / r**2, slope + 1, 0]
    truth += [log_gamma + r * (2.5 / r - 6), 2 * (2.5 / r - 6) - 2.5 / r]
    truth += [1 / r - 4 * r, np.log(r) - 3 * r]
    np.testing.assert_allclose(kg.compile([e], outputs)(E), truth, rtol=1e-12, atol=1e-12)


def test_by_unknowns():
    tau, p = kg.half_normal(1, name="tau"), kg.beta(2, 2, name="p")
    y = kg.log_density(kg.exponential(tau), 3.0) + kg.log_density(kg.binomial(10, p), 4)
    outputs = [*kg.gradients(y, [tau, p]), kg.hessian(y, tau)]
    truth = [1 / 0.7 - 3, 4 / 0.2 - 6 / 0.8, -1 / 0.49]
    np.testing.assert_allclose(kg.compile([tau, p], outputs)(0.7, 0.2), truth, rtol=1e-12)


def test_by_probabilities_that_have_rounded():
    a = kg.placeholder((2,), name="a")
    odds, normal, extreme = kg.ilogit(a), kg.iprobit(a / 8), kg.icloglog(a / 10)
    missed = [(kg.log_density(kg.bernoulli(p), 0), p) for p in (odds, normal, extreme)]
    outputs = [kg.gradients(y.sum(), p) for y, p in missed]
    outputs.append(kg.gradients(kg.log_density(kg.binomial(3, odds), 2).sum(), odds))
    found = kg.compile([a], outputs)([40.0, 1.0])
    at = np.array([40.0, 1.0])
    np.testing.assert_allclose(found[0], -(1 + np.exp(at)), rtol=1e-12)
    np.testing.assert_allclose(found[1], -1 / stats.norm.sf(at / 8), rtol=1e-10)
    np.testing.assert_allclose(found[2], -np.exp(np.exp(at / 10)), rtol=1e-10)
    np.testing.assert_allclose(found[3], 2 * (1 + np.exp(-at)) - (1 + np.exp(at)), rtol=1e-12)


def test_by_what_is_passed_over():
    """A form that is computed from a and b alone does not see their total."""
    e = kg.placeholder((2,), name="e")
    a, b = kg.exp(e[0]), kg.exp(e[1])
    total = a + b
    hit, missed = (kg.log_density(kg.bernoulli(a / total), x) for x in (1, 0))
    outputs = [
        kg.gradients(hit, total),
        kg.gradients(hit, a),
        *kg.gradients(hit, [a, total]),
        kg.hessian(missed, total),
        kg.gradients(kg.log_density(kg.bernoulli(a / total), 1) * total, b),
    ]
    truth = [-1 / 2, 1 / 0.5 - 1 / 2, 1 / 0.5, -1 / 2, 1 / 4 - 1 / 1.5**2, np.log(0.25) - 1]
    found = kg.compile([e], outputs)(np.log([0.5, 1.5]))
    np.testing.assert_allclose(found, truth, rtol=1e-12)


def test_by_a_matrix_of_known_factor():
    start = kg.placeholder((2, 2), name="start")
    factor = kg.cholesky(start)
    turned = factor.T
    matrix = factor @ turned
    again = kg.cholesky(matrix)
    y = again[0, 0] + 2 * again[1, 0] + 3 * again[1, 1]
    by_matrix = kg.gradients(y, matrix)
    along = kg.jvp(again, matrix, np.array([[0.0, 0.0], [0.0, 2.0]]))
    outputs = [by_matrix, *(kg.gradients(y, x) for x in (turned, factor, again))]
    outputs.append(kg.gradients(by_matrix[1, 1], matrix)[1, 1])
    outputs.append(along[1])
    a, b, c = 2.0, 0.3, 1.0
    found = kg.compile([start], outputs)([[a, b], [b, c]])
    last = np.sqrt(c - b * b / a)  # the factor is [[sqrt(a), 0], [b / sqrt(a), last]]
    by_a = 0.5 / np.sqrt(a) - b / a**1.5 + 1.5 * (b / a) ** 2 / last
    by_b = 2 / np.sqrt(a) - 3 * b / (a * last)
    slopes = np.array([[by_a, 0], [by_b, 1.5 / last]])
    known, weights = np.linalg.cholesky([[a, b], [b, c]]), [[1, 0], [2, 3]]
    truth = [slopes, known.T @ slopes, weights, weights, -0.75 / last**3, [0, 1 / last]]
    for ours, theirs in zip(found, truth, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def test_across_branches_loops_and_batches():
    e = kg.placeholder(name="e")
    rate, seen = kg.exp(e), kg.data([1.0, 2.0, 3.0], name="seen")

    def density(x, rate=rate):
        return kg.log_density(kg.exponential(rate), x)

    looped, _ = kg.scan(lambda total, x: (total + density(x), 0.0), 0.0, seen)
    inside, _ = kg.scan(lambda t, x: (t + kg.gradients(density(x), rate), 0.0), 0.0, seen)
    branch = kg.cond(e > 0, lambda: density(3.0), lambda: density(3.0, 2 * rate))
    taken = kg.cond(e > 0, lambda: 3 * kg.exp(e), lambda: kg.exp(2 * e))
    _, power = kg.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * rate), [0, rate])
    outputs = [
        kg.gradients(looped, rate),
        kg.gradients(kg.vmap(density)(seen).sum(), rate),
        inside,
        kg.gradients(inside, rate),
        kg.gradients(branch, rate),
        kg.gradients(density(3.0, taken), taken),
        *(kg.gradients(density(3.0, power), x) for x in (power, rate)),
    ]
    r, slope = 0.7, 3 / 0.7 - 6
    truth = [slope, slope, slope, -3 / r**2, 1 / r - 6]
    truth += [1 / r**2 - 3, 1 / r**4 - 3, 4 / r - 12 * r**3]
    np.testing.assert_allclose(kg.compile([e], outputs)(E), truth, rtol=1e-12)


def test_where_a_rate_of_zero_is_not_used():
    e = kg.placeholder((2,), name="e")
    rate = kg.exp(e)
    y = kg.where(rate > 0, kg.log_density(kg.exponential(rate), 3.0), 0.0).sum()
    alone = kg.log_density(kg.exponential(rate), 3.0)[1]
    found = kg.compile([e], [kg.gradients(y, rate), kg.gradients(alone, rate)])([-np.inf, E])
    np.testing.assert_allclose(found, [[0, 1 / 0.7 - 3]] * 2, rtol=1e-12)


def test_inside_of_a_loop_by_what_was_used_outside():
    start = kg.placeholder((2, 2), name="start")
    factor = kg.cholesky(start)
    matrix = factor @ factor.T
    again = kg.cholesky(matrix)
    with pytest.raises(kg.SymbolicError, match="depends on matrix also through again"):
        kg.scan(lambda c, x: (c + kg.gradients(again.sum() * x, matrix), 0.0), matrix, np.ones(2))


def test_of_a_saved_graph(tmp_path):
    e = kg.placeholder(name="e")
    rate = kg.exp(e)
    y = kg.log_density(kg.exponential(rate), 3.0)
    kg.save_graph(tmp_path / "graph.kg", {"e": e, "rate": rate, "y": y, "g": kg.gradients(y, rate)})
    graph = kg.load_graph(tmp_path / "graph.kg")
    outputs = [graph["g"], *(kg.gradients(graph["y"], graph[x]) for x in ("rate", "e"))]
    found = kg.compile([graph["e"]], outputs)(E)
    np.testing.assert_allclose(found, [1 / 0.7 - 3, 1 / 0.7 - 3, 1 - 2.1], rtol=1e-12)


def test_a_computed_value_is_an_input():
    e = kg.placeholder((2,), name="e")
    a, b = kg.exp(e[0]), kg.exp(e[1])
    total, p, q = a + b, kg.ilogit(e[0]), kg.iprobit(e[0])
    rated = kg.log_density(kg.exponential(a), 3.0)
    trials = [kg.log_density(kg.bernoulli(p), x) for x in (0, 1)]
    trials += [kg.log_density(kg.bernoulli(made), 0) for made in (q, a / total, 1 - p)]
    outputs = [rated, kg.gradients(rated, a), *trials, kg.gradients(trials[0], p)]
    found = kg.compile([e, a, p, q, total], outputs)([0.0, 0.0], 0.7, 0.2, 0.3, 2.0)
    truth = [np.log(0.7) - 2.1, 1 / 0.7 - 3, np.log(0.8), np.log(0.2), np.log(0.7)]
    truth += [np.log(1 - 0.7 / 2), np.log(0.2), -1 / 0.8]
    np.testing.assert_allclose(found, truth, rtol=1e-12)
    with x64():
        slope = jax.grad(kg.compile([a], rated))(0.7)
    np.testing.assert_allclose(slope, 1 / 0.7 - 3, rtol=1e-12)
    factor = kg.cholesky(kg.placeholder((2, 2), name="start"))
    matrix = factor @ factor.T
    found = kg.compile([matrix], kg.cholesky(matrix))([[4.0, 2.0], [2.0, 5.0]])
    np.testing.assert_allclose(found, [[2, 0], [1, 2]], rtol=1e-12)


def test_elements_without_such_a_form_do_not_spoil_those_that_have_one():
    """Of exp(0.3), which is no probability: not read, or read on the side that is not taken."""
    e = kg.placeholder((2,))
    r = kg.exp(e)
    y = kg.log_density(kg.bernoulli(r[1]), 0)
    guarded = kg.sum(kg.where(r < 1, kg.log_density(kg.bernoulli(r), 0), 0.0))
    outputs = [kg.gradients(y, r), kg.gradients(guarded, r)]
    p = np.exp(-0.5)
    for found in kg.compile([e], outputs)([0.3, -0.5]):
        np.testing.assert_allclose(found, [0.0, -1 / (1 - p)], rtol=1e-12)
