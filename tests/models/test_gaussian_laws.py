"""Maps from standard normal numbers to normal vectors given data."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kinetograph.graph.precision import x64
from kinetograph.models.gaussian_laws import DenseLaw, ElementwiseLaw, MarkovLaw, StepLaw
from kinetograph.models.intercept_law import InterceptLaw
from kinetograph.models.system_law import LinearRow, SystemLaw


def dense(rng, batch, n, standard):
    """A law, with its mean and its matrix."""
    mean = rng.normal(size=(*batch, n))
    factor = np.tril(rng.normal(size=(n, n))) + 2 * np.eye(n)
    return DenseLaw(mean, factor, standard), mean, np.broadcast_to(factor, (*batch, n, n))


def markov(rng, batch, n, standard=False):
    slopes, drifts = rng.normal(size=(2, *batch, n))
    slopes[..., 0] = 0.0
    scales = rng.uniform(0.3, 2, size=(*batch, n))
    steps = np.eye(n) - np.vectorize(np.diag, signature="(k),()->(n,n)")(slopes[..., 1:], -1)
    inverse = np.linalg.inv(steps)
    mean = (inverse @ drifts[..., None])[..., 0]
    return MarkovLaw(slopes, drifts, scales), mean, inverse * scales[..., None, :]


def sums(rng, batch, n, standard=False):
    """Running sums of steps, some of which have negative scales."""
    drifts, scales, means = rng.normal(size=(3, *batch, n))
    law = StepLaw(None, drifts, scales, means, rng.uniform(0.3, 2, size=(*batch, n)))
    return law, np.cumsum(drifts, -1), np.tril(np.ones((n, n))) * scales[..., None, :]


def steps(rng, batch, n, standard=False):
    """A process of steps, some of which have negative scales."""
    law, mean, factor = markov(rng, batch, n)
    signs = np.sign(rng.normal(size=n))
    means, sds = rng.normal(size=(*batch, n)), rng.uniform(0.3, 2, size=(*batch, n))
    scales = law.scales * signs
    return StepLaw(law.slopes, law.drifts, scales, means, sds), mean, factor * signs


def test_scales_of_very_different_sizes_lose_no_digits():
    """A level that is unknown at first, with tiny steps."""
    n = 50
    scales = np.full(n, 1e-6)
    scales[0] = 1e6
    law = MarkovLaw((np.arange(n) > 0).astype(float), np.zeros(n), scales)
    h, values = np.full(n, 1.0), np.linspace(1, 2, n)
    with x64():
        mean, log_size = law.spread(np.zeros(n), h, h * values)
        u = law.gathered(mean, h, h * values)
    # All elements are the same number, whose data are n values.
    np.testing.assert_allclose(mean, values.mean(), rtol=1e-7)
    np.testing.assert_allclose(u, 0.0, atol=1e-3)
    np.testing.assert_allclose(log_size, -0.5 * np.log(n) + (n - 1) * np.log(1e-6), rtol=1e-7)


def elementwise(rng, batch, n, standard):
    mean, scales = rng.normal(size=(2, *batch, n))
    return ElementwiseLaw(mean, scales, standard), mean, scales[..., None] * np.eye(n)


@pytest.mark.parametrize(("batch", "n"), [((), 1), ((), 2), ((), 7), ((3,), 4)])
@pytest.mark.parametrize(
    ("kind", "standard"),
    [
        (dense, True),
        (dense, False),
        (elementwise, True),
        (elementwise, False),
        (markov, False),
        (sums, False),
        (steps, False),
    ],
)
def test_the_map_gives_the_normal_distribution_given_data(kind, standard, batch, n):
    """Mean, covariance and Jacobian are those of dense NumPy matrices."""
    rng = np.random.default_rng(n)
    law, mean, factor = kind(rng, batch, n, standard)
    h, r, u = rng.uniform(0, 3, (*batch, n)), *rng.normal(size=(2, *batch, n))
    h[..., 0] = 0.0  # no data
    x = mean + (factor @ u[..., None])[..., 0]
    with x64():
        unknown, log_size = law.spread(u, h, r)
        back = law.gathered(unknown, h, r)
        centre, _ = law.spread(np.zeros_like(u), h, r)
        slopes = jax.jacobian(lambda u: law.spread(u, h, r)[0])(u)
        of_x = law.written(x)
        numbers, value = law.numbers(of_x), law.value(of_x)
    np.testing.assert_allclose(back, u, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(numbers, u, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(value, x, rtol=1e-9, atol=1e-10)
    square = np.asarray(slopes).reshape(u.size, u.size)
    np.testing.assert_allclose(log_size, np.linalg.slogdet(square)[1], rtol=1e-9, atol=1e-12)
    transposed = np.swapaxes(factor, -1, -2)
    covariance = np.linalg.inv(np.eye(n) + transposed @ (h[..., None] * factor))
    expected = (covariance @ transposed @ (r - h * mean)[..., None])[..., 0]
    if kind in (sums, steps):
        mean, factor = law.means, law.sds[..., None] * np.eye(n)
    if not standard:
        expected = mean + (factor @ expected[..., None])[..., 0]
        covariance = factor @ covariance @ np.swapaxes(factor, -1, -2)
    np.testing.assert_allclose(centre, expected, rtol=1e-8, atol=1e-9)
    for one in np.ndindex(batch):
        of_one = np.asarray(slopes)[(*one, slice(None), *one, slice(None))]
        np.testing.assert_allclose(of_one @ of_one.T, covariance[one], rtol=1e-8, atol=1e-9)


def system(rng, steps, states, noises, sds=()):
    """A law with coefficients that change, and all of its numbers as lines of the noises.

    The first states are unknown numbers with standard deviations `sds`.
    """
    count = len(sds)

    def row(own=None):
        noise = [*rng.normal(size=(noises, steps))]
        if own is not None:  # an unknown, which depends on the noises up to its own
            noise[own] = rng.uniform(0.3, 2, steps) * rng.choice([-1.0, 1.0])
            noise[own + 1 :] = [0.0] * (noises - own - 1)
        return LinearRow([*0.7 * rng.normal(size=(states, steps))], noise, rng.normal())

    start, rows = rng.normal(size=states), [row() for _ in range(states)]
    for k in range(count):
        same = [float(j == k) for j in range(states)]
        rows[k] = LinearRow(same, [0.0] * noises, 0.0)
    unknowns, observed = [row(j) for j in range(noises)], row()
    x = np.concatenate([np.zeros((states, count + noises * steps)), start[:, None]], 1)
    x[np.arange(count), np.arange(count)] = sds
    numbers = x[:count]
    lines = []
    for t in range(steps):
        z = np.zeros((noises, count + noises * steps + 1))
        z[np.arange(noises), count + np.arange(noises) * steps + t] = 1.0

        def at(each, x=x, z=z, t=t):
            coefficients = [np.broadcast_to(c, steps)[t] for c in (*each.state, *each.noise)]
            line = coefficients @ np.concatenate([x, z])
            line[-1] += each.constant
            return line

        lines.append([at(each) for each in (*unknowns, observed)])
        x = np.stack([at(each) for each in rows])
    lines = np.moveaxis(lines, 0, 1)
    law = SystemLaw(steps, [*start], rows, unknowns, observed)
    every = np.concatenate([numbers, lines[:-1].reshape(noises * steps, -1)])
    return (InterceptLaw(law, [*sds]) if count else law), every, lines[-1]


@pytest.mark.parametrize(
    ("states", "noises", "sds"),
    [(1, 2, ()), (2, 1, ()), (3, 2, ()), (2, 1, (1.5,)), (3, 1, (0.5, 2.0)), (3, 2, (3.0,))],
)
def test_a_system_has_the_normal_distribution_given_data(states, noises, sds):
    """Mean, covariance and Jacobian are those of dense NumPy matrices."""
    rng, steps, numbers = np.random.default_rng(states), 6, len(sds)
    law, unknowns, f = system(rng, steps, states, noises, sds)
    count = numbers + noises * steps
    h, r, u = rng.uniform(0, 3, steps), rng.normal(size=steps), rng.normal(size=count)
    h[1], r[1] = 0.0, 0.0  # no datum

    def rows(flat):
        """The unknown numbers are the first elements of their rows."""
        padded = jnp.pad(flat[:numbers, None], ((0, 0), (0, steps - 1)))
        return jnp.concatenate([padded, flat[numbers:].reshape(noises, steps)])

    def flat(rows):
        return jnp.concatenate([rows[:numbers, 0], jnp.ravel(rows[numbers:])])

    def moved(u):
        return flat(law.spread(rows(u), h, r)[0])

    with x64():
        value, log_size = law.spread(rows(jnp.asarray(u)), h, r)
        back = flat(law.gathered(value, h, r))
        centre, square = np.asarray(moved(jnp.zeros(count))), np.asarray(jax.jacobian(moved)(u))
        of_f, z = law.value(value), flat(law.numbers(value))
        other = law.written(np.asarray(of_f) + 1.0, value)
        of_other, elements = law.value(other), np.asarray(flat(value))
    np.testing.assert_allclose(back, u, rtol=1e-9, atol=1e-9)
    expected = np.linalg.solve(unknowns[:, :-1], elements - unknowns[:, -1])
    np.testing.assert_allclose(z, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(of_f, f[:, :-1] @ expected + f[:, -1], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(of_other, np.asarray(of_f) + 1.0, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(other[:numbers], value[:numbers])
    np.testing.assert_allclose(log_size, np.linalg.slogdet(square)[1], rtol=1e-9, atol=1e-9)
    covariance = np.linalg.inv(np.eye(count) + f[:, :-1].T @ (h[:, None] * f[:, :-1]))
    mean = covariance @ f[:, :-1].T @ (r - h * f[:, -1])
    expected = unknowns[:, :-1] @ mean + unknowns[:, -1]
    np.testing.assert_allclose(centre, expected, rtol=1e-8, atol=1e-9)
    covariance = unknowns[:, :-1] @ covariance @ unknowns[:, :-1].T
    np.testing.assert_allclose(square @ square.T, covariance, rtol=1e-8, atol=1e-9)


def test_a_system_with_scales_of_very_different_sizes():
    """A level that is unknown at first, with tiny steps and a tiny slope."""
    n = 50
    scales = np.full(n, 1e-6)
    scales[0] = 1e6
    level = LinearRow([1.0, 1.0], [scales, 0.0], 0.0)
    slope = LinearRow([0.0, 1.0], [0.0, 1e-9], 0.0)
    own = [LinearRow([0.0, 0.0], noise, 0.0) for noise in ([1.0, 0.0], [0.0, 1.0])]
    law = SystemLaw(n, [0.0, 0.0], [level, slope], own, level)
    h, values = np.full(n, 1.0), np.linspace(1, 2, n)
    with x64():
        z, log_size = law.spread(np.zeros((2, n)), h, h * values)
        f, u = law.value(z), law.gathered(z, h, h * values)
    np.testing.assert_allclose(f, values.mean(), rtol=1e-6)
    np.testing.assert_allclose(u, 0.0, atol=1e-3)
    np.testing.assert_allclose(log_size, -0.5 * np.log(n) - np.log(1e6), rtol=1e-6)
