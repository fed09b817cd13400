"""Kernels, exact and approximate processes against NumPy, quadrature and closed forms."""

from functools import partial

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate, special, stats

import kinetograph as kg

gp = kg.gp
X = np.array([0.0, 0.4, 1.1, 2.5, 2.5])


def value(array):
    return kg.compile([], array)()


def distances(x, y=None):
    x = np.reshape(x, (len(x), -1))
    y = x if y is None else np.reshape(y, (len(y), -1))
    return np.sqrt(((x[:, None] - y[None]) ** 2).sum(-1))


FORMULAS = {
    "rbf": (gp.rbf(0.7, 2.0), lambda d: 4 * np.exp(-0.5 * (d / 0.7) ** 2)),
    "matern12": (gp.matern12(0.7, 2.0), lambda d: 4 * np.exp(-d / 0.7)),
    "matern32": (
        gp.matern32(0.7, 2.0),
        lambda d: 4 * (1 + np.sqrt(3) * d / 0.7) * np.exp(-np.sqrt(3) * d / 0.7),
    ),
    "matern52": (
        gp.matern52(0.7, 2.0),
        lambda d: (
            4 * (1 + np.sqrt(5) * d / 0.7 + 5 * d**2 / (3 * 0.49)) * np.exp(-np.sqrt(5) * d / 0.7)
        ),
    ),
    "periodic": (
        gp.periodic(1.3, 0.7, 2.0),
        lambda d: 4 * np.exp(-2 * np.sin(np.pi * d / 1.3) ** 2 / 0.49),
    ),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_kernels_are_their_formulas(name):
    kernel, formula = FORMULAS[name]
    np.testing.assert_allclose(value(kernel(X)), formula(distances(X)), rtol=1e-12, atol=1e-13)
    other = np.array([0.1, 3.0])
    wanted = formula(distances(X, other))
    np.testing.assert_allclose(value(kernel(X, other)), wanted, rtol=1e-10, atol=1e-13)


def test_sums_products_and_the_others():
    kernel = sum([gp.rbf(0.5) * gp.linear(2.0, 1.0), gp.constant(3.0), gp.white(0.1)])
    d = distances(X)
    wanted = np.exp(-2 * d**2) * 4 * np.outer(X - 1, X - 1) + 9 + 0.01 * np.eye(5)
    np.testing.assert_allclose(value(kernel(X)), wanted, rtol=1e-12, atol=1e-13)
    wanted = 4 * np.outer(X - 1, X[:2] + 3 - 1)
    np.testing.assert_allclose(value(gp.linear(2.0, 1.0)(X, X[:2] + 3)), wanted, rtol=1e-12)
    variance = kg.data(3.0)
    for kernel in (3.0 * gp.rbf(0.5), gp.rbf(0.5) * variance, variance * gp.rbf(0.5)):
        np.testing.assert_allclose(value(kernel(X)), 3 * np.exp(-2 * d**2), rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(
            value(kernel.spectrum(np.ones((1, 1)))),
            value(3 * gp.rbf(0.5).spectrum(np.ones((1, 1)))),
        )
    with pytest.raises(kg.ShapeError, match="by a number or by another kernel"):
        np.ones(2) * gp.rbf(0.5)
    across = value(gp.white(2.0)(X, X[:2]))
    np.testing.assert_array_equal(across, np.zeros((5, 2)))
    rows = np.random.default_rng(0).normal(size=(4, 2))
    scaled = value(gp.rbf([0.5, 2.0])(rows))
    np.testing.assert_allclose(scaled, np.exp(-0.5 * distances(rows / [0.5, 2.0]) ** 2), rtol=1e-12)


@pytest.mark.parametrize("name", ["rbf", "matern12", "matern32", "matern52"])
def test_spectral_densities_are_fourier_transforms(name):
    """k(d) = integral of S(w) cos(w d) / (2 pi) dw."""
    kernel, formula = FORMULAS[name]
    w = np.linspace(0, 2000, 2_000_001)
    density = value(kernel.spectrum(w[:, None]))
    for d in (0.0, 0.3, 1.5):
        found = integrate.simpson(density * np.cos(w * d), x=w) / np.pi
        assert found == pytest.approx(formula(d), abs=5e-3 if name == "matern12" else 1e-5)


@pytest.mark.parametrize("name", ["rbf", "matern12", "matern32", "matern52"])
def test_spectral_densities_in_two_dimensions_are_hankel_transforms(name):
    """k(d) = integral of S(w) J0(w d) w / (2 pi) dw, for one length and for two equal lengths."""
    kernel, formula = FORMULAS[name]
    w = np.linspace(0, 1000, 400_001)
    points = w[:, None] * [0.6, 0.8]
    density = value(kernel.spectrum(points))
    for d in (0.0, 0.3, 1.5):
        found = integrate.simpson(density * special.j0(w * d) * w, x=w) / (2 * np.pi)
        assert found == pytest.approx(formula(d), abs=1e-2 if name == "matern12" else 1e-5)
    of_two = value(getattr(gp, name)([0.7, 0.7], 2.0).spectrum(points[:100]))
    np.testing.assert_allclose(of_two, density[:100], rtol=1e-12)


POINTS = np.array([[0.0, 0.3], [1.0, -0.4], [1.0, -0.4], [0.7, 0.3]])  # two of them coincide
# Kernels and their formulas; parameters are lengths for each dimension and a standard deviation.
OF_SQUARES = {
    "rbf": lambda s: mp.exp(-s / 2),
    "matern12": lambda s: mp.exp(-mp.sqrt(s)),
    "matern32": lambda s: (1 + mp.sqrt(3 * s)) * mp.exp(-mp.sqrt(3 * s)),
    "matern52": lambda s: (1 + mp.sqrt(5 * s) + 5 * s / 3) * mp.exp(-mp.sqrt(5 * s)),
}


def squared(one, two, lengths):
    return sum(((a - b) / mp.mpf(v)) ** 2 for a, b, v in zip(one, two, lengths))


def by_formula(name, one, two, *v):
    """The covariance of two points; kernel parameters are the elements of v."""
    if name == "ard sum and product":
        first = OF_SQUARES["matern12"](squared(one, two, v[:2]))
        return first * OF_SQUARES["rbf"](squared(one, two, v[1:2] * 2)) + v[0] * first
    if name == "periodic":
        turn = 2 * mp.pi * mp.sqrt(squared(one, two, (1, 1))) / v[0]
        return mp.exp((mp.cos(turn) - 1) / v[1] ** 2)
    return v[1] ** 2 * OF_SQUARES[name](squared(one, two, (v[0], v[0])))


def kernel_of(name, v):
    if name == "ard sum and product":
        return gp.matern12(v) * gp.rbf(v[1]) + v[0] * gp.matern12(v)
    return gp.periodic(v[0], v[1]) if name == "periodic" else getattr(gp, name)(v[0], v[1])


def test_first_and_second_derivatives_where_points_meet():
    """Derivatives with respect to parameters, against mpmath."""
    names, weights = [*OF_SQUARES, "periodic", "ard sum and product"], np.arange(16.0).reshape(4, 4)
    v, at = kg.placeholder((2,), name="v"), [1.3, 0.6]
    sums = [(kernel_of(name, v)(POINTS) * weights).sum() for name in names]
    outputs = [f(total, v) for total in sums for f in (kg.gradients, kg.hessian)]
    found = kg.compile([v], outputs)(at)
    orders = [(1, 0), (0, 1), (2, 0), (1, 1), (1, 1), (0, 2)]
    for name, slope, curvature in zip(names, found[::2], found[1::2], strict=True):
        wanted = np.zeros(6)
        for i, j in np.ndindex(4, 4):
            pair = POINTS[i], POINTS[j]
            with mp.workdps(30):
                law = partial(by_formula, name, *pair)
                parts = [mp.diff(law, at, n) for n in orders]
            wanted += weights[i, j] * np.array([float(part) for part in parts])
        got = np.concatenate([slope, np.ravel(curvature)])
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9, err_msg=name)


def test_derivatives_by_points_that_meet():
    """Covariances of smooth processes are flat and rightly curved at x = y."""
    x = kg.placeholder((1,), name="x")
    kernels = {gp.rbf(0.5): -4.0, gp.matern32(0.5): -12.0, gp.matern52(0.5): -20 / 3}
    kernels[gp.periodic(2.0, 0.5)] = -4 * np.pi**2
    totals = [kernel(x, [1.0]).sum() for kernel in kernels]
    found = kg.compile([x], [f(t, x) for t in totals for f in (kg.gradients, kg.hessian)])([1.0])
    np.testing.assert_array_equal(np.ravel(found[::2]), 0.0)
    np.testing.assert_allclose(np.ravel(found[1::2]), list(kernels.values()), rtol=1e-12)


@pytest.mark.slow
def test_gradients_at_points_that_meet():
    for make in (gp.rbf, gp.matern12, gp.matern32, gp.matern52):
        length = kg.lognormal(0, 1, name="length")
        kg.observe(np.zeros(5), gp.Process(make(length)).marginal(X, 0.3))
        model = kg.model(length)
        u, step = np.array([0.2]), 1e-5
        slope = (model.log_prob(u + step) - model.log_prob(u - step)) / (2 * step)
        assert model.gradient(u)[0] == pytest.approx(slope, rel=1e-5)


def by_hand(new, x, y, noise):
    k = FORMULAS["rbf"][1]
    a = np.linalg.inv(k(distances(x)) + noise**2 * np.eye(len(x)))
    across = k(distances(x, new))
    return across.T @ a @ y, k(distances(new)) - across.T @ a @ across


def test_points_that_are_close_have_a_factor():
    x = np.linspace(0, 1, 40)
    with pytest.raises(np.linalg.LinAlgError):  # up to the jitter
        np.linalg.cholesky(value(gp.rbf(2.0, 3.0)(x)))
    found = value(kg.cholesky(gp.Process(gp.rbf(2.0, 3.0)).covariance(x)))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found @ found.T, value(gp.rbf(2.0, 3.0)(x)), atol=2e-7)


def test_conditional_and_marginal_distributions():
    x, y, new = X[:4], np.array([0.3, 0.1, -0.4, 1.0]), np.array([0.2, 1.7, 4.0])
    process = gp.Process(FORMULAS["rbf"][0], jitter=1e-12)
    k = FORMULAS["rbf"][1](distances(x)) + 0.09 * np.eye(4)
    found = value(kg.log_density(process.marginal(x, 0.3), y))
    assert found == pytest.approx(stats.multivariate_normal(np.zeros(4), k).logpdf(y), rel=1e-9)
    at = np.array([0.1, -0.2, 0.3])
    mean, cov = by_hand(new, x, y, 0.3)
    found = value(kg.log_density(process.conditional(new, x, y, 0.3), at))
    assert found == pytest.approx(stats.multivariate_normal(mean, cov).logpdf(at), rel=1e-7)


def test_the_mean_is_taken_from_what_is_seen_and_added_at_new_points():
    x, y, new = X[:4], np.array([0.3, 0.1, -0.4, 1.0]), np.array([0.2, 1.7, 4.0])
    line = lambda v: 2.0 - 1.5 * v
    process = gp.Process(FORMULAS["rbf"][0], mean=lambda rows: line(rows[:, 0]), jitter=1e-12)
    at = np.array([0.1, -0.2, 0.3])
    mean, cov = by_hand(new, x, y - line(x), 0.3)
    term = kg.log_density(process.conditional(new, x, y, 0.3), at)
    wanted = stats.multivariate_normal(line(new) + mean, cov).logpdf(at)
    seen = kg.log_density(process.marginal(x, 0.3), y)
    k = FORMULAS["rbf"][1](distances(x)) + 0.09 * np.eye(4)
    known = stats.multivariate_normal(line(x), k).logpdf(y)
    np.testing.assert_allclose(kg.compile([], [term, seen])(), [wanted, known], rtol=1e-7)


def test_the_spectrum_of_a_sum_is_that_of_both():
    one, two, w = gp.rbf(0.5, 2.0), gp.matern32([0.7, 1.2]), np.array([[0.0, 0.3], [1.0, -2.0]])
    parts = [value(kernel.spectrum(w)) for kernel in (one, two)]
    np.testing.assert_allclose(value((one + two).spectrum(w)), sum(parts), rtol=1e-14)


def test_a_latent_function_and_its_prediction():
    x, y = X[:4], np.array([0.3, 0.1, -0.4, 1.0])
    process = gp.Process(gp.rbf(0.7, 2.0), mean=lambda rows: 0.5 * rows[:, 0])
    f = process.latent(x, name="z")
    kg.observe(y, kg.normal(f, 0.3))
    model = kg.model(f=f)
    fit = kg.mcmc(model, seed=1, draws=1000, chains=2, progress=False)
    k = FORMULAS["rbf"][1](distances(x))
    a = k @ np.linalg.inv(k + 0.09 * np.eye(4))
    mean = 0.5 * x + a @ (y - 0.5 * x)
    sd = np.sqrt(np.diag(k - a @ k))
    draws = fit.posterior["f"]
    np.testing.assert_allclose(draws.mean(("chain", "draw")), mean, atol=6 * sd.max() / 20)
    new = process.conditional(np.array([0.2, 6.0]), x, f)
    found = kg.predict(model, fit, new=new, seed=1)["predictions"]["new"]
    assert float(found[..., 1].mean()) == pytest.approx(3.0, abs=0.4)  # far away: the prior
    assert float(found[..., 1].std()) == pytest.approx(2.0, abs=0.3)


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
def test_conditional_values_have_the_labels_of_the_new_points():
    length = kg.half_normal(1, name="length")
    process = gp.Process(gp.rbf(length))
    x, y = np.linspace(0, 1, 6), np.linspace(0, 1, 6) ** 2
    kg.observe(y, process.marginal(x, 0.1))
    model = kg.model(length)
    new = process.conditional([0.3, 0.8], x, y, 0.1, dims=kg.dim("time", ["early", "late"]))
    results = kg.mcmc(model, draws=4, warmup=4, chains=1, seed=1, progress=False)
    predictions = kg.predict(model, results, new=new, seed=1)["predictions"]["new"]
    assert predictions.dims == ("chain", "draw", "time")
    assert predictions.sel(time="late").shape == (1, 4)


def test_a_sum_of_functions_has_the_covariance_of_the_kernel():
    x = np.linspace(0, 3, 7)
    kernel, formula = FORMULAS["matern52"]
    f = gp.Hilbert(kernel, x, basis=120, boundary=4.0)
    again = f.at(x[2:4])
    model = kg.model(f.z)
    columns, others = [], []
    for row in np.eye(120):
        found = kg.calculate(values={f.z: row}, f=f.values, again=again)
        columns.append(found["f"])
        others.append(found["again"])
    factor = np.stack(columns, -1)
    np.testing.assert_allclose(factor @ factor.T, formula(distances(x)), atol=2e-3)
    np.testing.assert_allclose(np.stack(others, -1), factor[2:4], rtol=1e-10, atol=1e-12)
    assert model.free_size == 120


def test_the_functions_are_waves_from_one_end_of_the_box_to_the_other():
    """The sum in the paper, in two dimensions, for points anywhere."""
    x = np.array([[5.0, -3.0], [6.5, -2.0], [9.0, -1.0], [7.0, -2.5]])
    f = gp.Hilbert(gp.rbf([1.5, 0.8], 2.0), x, basis=[3, 2], boundary=1.3)
    z = np.linspace(-1.0, 1.5, 6)
    half = 1.3 * np.array([2.0, 1.0])
    orders = np.array([(j, k) for j in (1, 2, 3) for k in (1, 2)])
    waves = np.pi * orders / (2 * half)
    spectrum = 4 * 2 * np.pi * 1.5 * 0.8 * np.exp(-0.5 * ((waves * [1.5, 0.8]) ** 2).sum(-1))
    from_end = x - [7.0, -2.0] + half
    phi = np.sin(from_end[:, None] * waves) / np.sqrt(half)
    found = kg.calculate(values={f.z: z}, f=f.values)["f"]
    np.testing.assert_allclose(found, phi.prod(-1) @ (np.sqrt(spectrum) * z), rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: gp.Process(3.0), TypeError, "expected a kernel.* got the number 3.0"),
        (
            lambda: gp.Process(X),
            TypeError,
            r"got a NumPy array.*kg.gp.Process\(kernel\).latent\(x\)",
        ),
        (lambda: gp.Process(X, gp.rbf(1.0)), TypeError, "and takes points later: kg.gp.Process"),
        (lambda: gp.Process(kg.data([1.0]), 2.0), TypeError, "and takes points later"),
        (lambda: gp.Process(gp.rbf(1.0), X), TypeError, "mean must be a number.* points later"),
        (lambda: gp.Process(0.0, gp.rbf(1.0)), TypeError, r"write kg.gp.Process\(kernel, mean\)"),
        (lambda: gp.Process(np.sin, gp.rbf(1.0)), TypeError, r"write kg.gp.Process\(kernel, mean"),
        (lambda: gp.Process(gp.rbf(1.0), gp.rbf(1.0)), TypeError, r"Process\(first \+ second\)"),
        (lambda: gp.Hilbert(X, gp.rbf(1.0)), TypeError, r"swapped: write kg.gp.Hilbert\(kernel, x"),
        (lambda: gp.Hilbert(gp.rbf, X), TypeError, r"as in kg.gp.rbf\(1.0\)"),
        (lambda: gp.Hilbert(gp.linear(1.0), X), TypeError, "no spectral density"),
        (lambda: gp.Hilbert(gp.rbf(1.0), X, boundary=0.9), ValueError, "above 1"),
        (lambda: gp.Hilbert(gp.rbf(1.0), X, basis=2.5), ValueError, "whole numbers"),
        (lambda: gp.Hilbert(gp.rbf(1.0), X).at([9.0]), ValueError, "outside the box"),
        (lambda: gp.Hilbert(gp.rbf(1.0), X).at(np.ones((2, 2))), kg.ShapeError, "1 dimensions"),
        (lambda: gp.Hilbert(gp.rbf(1.0), X).latent, AttributeError, "here it is values"),
        (lambda: gp.Process(gp.rbf(1.0)).prior, AttributeError, r"here it is latent\(x\)"),
        (lambda: gp.rbf(1.0)(np.ones((2, 2, 2))), kg.ShapeError, "rows of a matrix"),
        (lambda: gp.rbf(1.0)(X, np.ones((2, 2))), kg.ShapeError, "same dimension, got 1 and 2"),
        (
            lambda: gp.rbf(1.0) + np.eye(3),
            TypeError,
            r"rbf: a kernel is not a matrix.*kernel\(x\) is",
        ),
        (lambda: np.eye(3) + gp.rbf(1.0), TypeError, "cannot be added to a NumPy array of shape"),
        (lambda: gp.rbf(1.0) + 1.0, TypeError, "cannot be added to the number 1"),
        (lambda: gp.rbf(1.0)[0], TypeError, "a kernel is not a matrix and cannot be indexed"),
        (lambda: gp.rbf(1.0) @ X, TypeError, "a kernel is not a matrix and cannot be multiplied"),
        (lambda: kg.data(X) + gp.rbf(1.0), TypeError, "a kernel is not a matrix"),
        (lambda: kg.cholesky(gp.rbf(1.0)), TypeError, "a kernel is not a matrix"),
        (lambda: kg.multivariate_normal(X, gp.rbf(1.0)), TypeError, "a kernel is not a matrix"),
        (lambda: gp.Process(gp.rbf(1.0))(X), TypeError, r"write process.latent\(x\)"),
        (
            lambda: gp.Process(gp.rbf(1.0), lambda x: 2 * x).marginal(X, 1.0),
            kg.ShapeError,
            r"one number for each point, of shape \(\d+,\), got .* write x\[:, 0\]",
        ),
        (
            lambda: gp.Process(gp.rbf(1.0)).conditional(X, [0.5, 1.5], X, 1.0),
            kg.ShapeError,
            r"conditional\(new, x, seen, noise\) .* x of 2 rows and seen of shape",
        ),
    ],
)
def test_bad_input(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_lengths_are_one_or_one_for_each_dimension():
    """Points are not accepted as lengths, unlike in some other libraries."""
    x = np.zeros((5, 2))
    for name in ("rbf", "matern12", "matern32", "matern52"):
        make = getattr(kg.gp, name)
        assert make(np.ones(2))(x).shape == (5, 5)
        with pytest.raises(
            kg.ShapeError, match=rf"{name}: length .* got shape \(5, 2\).*0.5\)\(x\)"
        ):
            make(x)
        for length in (np.ones(1), kg.half_normal(1, shape=3)):
            with pytest.raises(
                kg.ShapeError, match=f"{name}: length has . numbers?, .* 2 dimensions"
            ):
                make(length)(x)
            with pytest.raises(
                kg.ShapeError, match=f"{name}: length has . numbers?, .* 2 dimensions"
            ):
                kg.gp.Hilbert(make(length), np.arange(8.0).reshape(4, 2), basis=3)
