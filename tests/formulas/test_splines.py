"""Penalised splines `s(x)` against mgcv, SciPy's smoothing splines, and sums by hand."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.interpolate import CubicSpline, make_smoothing_spline
from tests.formulas.cases import computed, frame

import kinetograph as kg
from kinetograph.formulas.splines import SplineBasis

DATA = frame()
X = np.arange(1.0, 25.0) ** 1.5
# Of mgcv 1.8-41: Z = smooth2random(smoothCon(s(x, k=6, bs=...), absorb.cons=TRUE), type=2),
# projected to the complement of lines and scaled to sum(Z^2) = 24; singular values, and entries
# of Z Z'.
OF_MGCV = {
    "tp": (
        [4.52787448954, 1.61177930902, 0.813026299351, 0.489395854683],
        [1.38330473047, -0.22867123699, 1.73714136199],
    ),
    "cr": (
        [4.5412667486, 1.60818718112, 0.797835801046, 0.392540880855],
        [1.39133948895, -0.227261609223, 1.75479886031],
    ),
}


def values_of(model):
    return model.transform(np.random.default_rng(11).normal(0, 0.5, model.free_size))


@pytest.mark.parametrize("kind", OF_MGCV)
def test_the_functions_and_their_covariance_are_those_of_mgcv(kind):
    sizes, entries = OF_MGCV[kind]
    functions = SplineBasis(X, 6, kind)(X)
    np.testing.assert_allclose(np.linalg.norm(functions, axis=0), sizes, rtol=1e-10)
    np.testing.assert_allclose((functions @ functions.T)[[0, 7, 23], 2], entries, rtol=1e-9)


@pytest.mark.parametrize("kind", OF_MGCV)
@pytest.mark.parametrize("k", [3, 10, 24])
def test_functions_are_bends_of_decreasing_size(kind, k):
    """They have k - 2 dimensions, contain no line, and are straight outside of the knots."""
    basis = SplineBasis(X, k, kind)
    functions = basis(X)
    assert functions.shape == (24, k - 2)
    with_lines = np.column_stack([np.ones(24), (X - X.mean()) / X.std(), functions])
    gram = with_lines.T @ with_lines
    assert np.linalg.matrix_rank(with_lines) == k
    np.testing.assert_allclose(gram - np.diag(np.diag(gram)), 0.0, atol=1e-9)
    assert np.isclose(np.sum(functions**2), 24)
    assert (np.diff(np.diag(gram)[2:]) < 0).all()
    assert (functions[-1] > 0).all()
    for outside in (X.min() - np.arange(4.0), X.max() + np.arange(4.0)):
        np.testing.assert_allclose(np.diff(basis(outside), 2, axis=0), 0.0, atol=1e-9)


def test_the_basis_does_not_depend_on_order_units_and_repetitions():
    functions = SplineBasis(X, 8)(X)
    order = np.random.default_rng(1).permutation(24)
    np.testing.assert_allclose(SplineBasis(X[order], 8)(X), functions, rtol=1e-7, atol=1e-9)
    scaled = SplineBasis(100 * X - 7, 8)(100 * X - 7)
    np.testing.assert_allclose(scaled, functions, rtol=1e-7, atol=1e-9)
    twice = SplineBasis(np.repeat(X, 2), 8)(X)
    np.testing.assert_allclose(twice, functions, rtol=1e-7, atol=1e-9)
    many = np.linspace(0, 1, 2500)
    few = SplineBasis(np.linspace(0, 1, 500), 6)(many[[100, 1800]])
    np.testing.assert_allclose(SplineBasis(many, 6)(many[[100, 1800]]), few, atol=1e-2)


@pytest.mark.parametrize("kind", OF_MGCV)
def test_the_penalty_is_the_integral_of_the_squared_second_derivative(kind):
    """With a knot at each x, the spline is SciPy's natural spline through its values."""
    functions = SplineBasis(X, 24, kind)(X)

    def penalty(values):
        bends = CubicSpline(X, values, bc_type="natural").derivative(2)
        middle = bends((X[1:] + X[:-1]) / 2)
        return np.sum(np.diff(X) * (bends(X[1:]) ** 2 + bends(X[:-1]) ** 2 + 4 * middle**2)) / 6

    z = np.random.default_rng(3).normal(size=(5, 22))
    ratios = [penalty(functions @ each) / (each @ each) for each in z]
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-8)


def test_the_posterior_mean_is_a_smoothing_spline():
    """At known variances: SciPy minimises sum (y - f)^2 + lam integral f''^2."""
    rng = np.random.default_rng(8)
    x = np.sort(rng.uniform(0, 10, 12))
    y = np.sin(x) + 0.3 * rng.normal(size=12)
    wide = {"Intercept": kg.normal(0, 1e6), "b": kg.normal(0, 1e6)}
    model = kg.formula("y ~ s(x, k=12)", {"x": x, "y": y}, prior=wide)
    fixed = kg.condition(model, {"sd_s(x)": 0.8, "sigma": 0.3})
    mode = kg.opt(fixed, seed=1)
    new = np.array([x[0], 0.5 * (x[3] + x[4]), x[-1] + 1])
    fit = model.parameter("mu", {"x": new})
    values = {name: mode.values[name] for name in fixed.names}
    got = computed(model, fit, {**values, "sd_s(x)": 0.8})
    basis = SplineBasis(x, 12)(x)
    z = rng.normal(size=10)
    bends = CubicSpline(x, basis @ z, bc_type="natural")
    fine = np.linspace(x[0], x[-1], 20001)
    ratio = np.trapezoid(bends(fine, 2) ** 2, fine) / (z @ z)  # integral f''^2 = ratio z'z
    expected = make_smoothing_spline(x, y, lam=0.3**2 / 0.8**2 / ratio)
    slope = expected.derivative()(x[-1])
    np.testing.assert_allclose(got[:2], expected(new[:2]), atol=1e-4)
    assert abs(got[2] - (expected(x[-1]) + slope)) < 2e-4


def test_a_spline_is_a_line_and_its_bends():
    model = kg.formula("y ~ z + s(x, k=7)", DATA)
    assert model.names == ("b_z", "Intercept", "b_s(x)", "sd_s(x)", "z_s(x)", "sigma")
    values = values_of(model)
    x, z = DATA["x"].to_numpy(), DATA["z"].to_numpy()
    expected = values["Intercept"] + values["b_z"] * (z - z.mean())
    expected += values["b_s(x)"] * (x - x.mean())
    expected += values["sd_s(x)"] * SplineBasis(x, 7)(x) @ values["z_s(x)"]
    np.testing.assert_allclose(computed(model, model.parameter("mu"), values), expected, rtol=1e-9)
    for other in (model, pickle.loads(pickle.dumps(model))):
        part = computed(other, other.parameter("mu", DATA.iloc[[5, 1]]), values)
        np.testing.assert_allclose(part, expected[[5, 1]], rtol=1e-9)


def test_each_level_has_a_spline():
    model = kg.formula("y ~ g + s(x, by=g, k=5, bs='cr')", DATA)
    name = "s(x, by=g)"
    assert [model[f"{n}_{name}"].shape for n in ("b", "sd", "z")] == [(4,), (4,), (4, 3)]
    assert list(model.coords["g"]) == list("abcd")
    values = values_of(model)
    x, codes = DATA["x"].to_numpy(), DATA["g"].map(dict(zip("abcd", range(4)))).to_numpy()
    basis = SplineBasis(x, 5, "cr")(x)
    function = values[f"b_{name}"][codes] * (x - x.mean()) + values[f"sd_{name}"][codes] * np.sum(
        basis * values[f"z_{name}"][codes], axis=1
    )
    b_g = np.concatenate([[0.0], values["b_g"]])[codes]
    expected = values["Intercept"] + b_g - b_g.mean() + function
    np.testing.assert_allclose(computed(model, model.parameter("mu"), values), expected, rtol=1e-9)
    part = computed(model, model.parameter("mu", DATA.iloc[[7, 3, 0]]), values)
    np.testing.assert_allclose(part, expected[[7, 3, 0]], rtol=1e-9)
    alone = kg.formula("y ~ s(x, by=g)", DATA)
    with pytest.raises(kg.DataError, match=r"row 1 has 'q', which is not a level.*a, b, c, d"):
        alone.response({"x": [1.0, 2.0], "g": ["a", "q"]})


def test_a_coefficient_that_varies_smoothly():
    """The spline multiplies a column, whose effect it contains."""
    model = kg.formula("y ~ s(x, by=w, k=5)", DATA)
    name = "s(x, by=w)"
    assert list(model.coords[f"b_{name}_column"]) == ["w", "x:w"]
    values = values_of(model)
    x, w = DATA["x"].to_numpy(), DATA["w"].to_numpy()
    slopes = values[f"b_{name}"]
    bends = values[f"sd_{name}"] * SplineBasis(x, 5)(x) @ values[f"z_{name}"]
    expected = values["Intercept"] + w * (slopes[0] + slopes[1] * (x - x.mean()) + bends)
    np.testing.assert_allclose(computed(model, model.parameter("mu"), values), expected, rtol=1e-9)
    tenth = kg.formula("y ~ s(x, by=w10)", DATA.assign(w10=10 * w)).priors["sd_s(x, by=w10)"]
    scale = 0.25 * DATA["y"].std(ddof=0) / np.sqrt(np.mean(w**2))
    assert tenth == f"half_normal({scale:.3g})"


def test_priors_of_splines():
    s = DATA["y"].std(ddof=0)
    model = kg.formula("y ~ s(x)", DATA)
    assert model.priors["sd_s(x)"] == f"half_normal({2.5 * s:.3g})"
    assert model.priors["b_s(x)"] == f"normal(0, {2.5 * s / DATA['x'].std(ddof=0):.3g})"
    brms = kg.formula("y ~ s(x)", DATA, default_priors="brms").priors
    assert (brms["b_s(x)"], brms["sd_s(x)"]) == ("flat", "half_student(3, 2.5)")
    formulas = ["y ~ s(x, by=g)", "sigma ~ s(z)"]
    assert kg.formula(formulas, DATA).priors["sd_sigma_s(z)"] == "half_normal(1)"
    prior = {"sds": kg.exponential(1), "sds_sigma": kg.exponential(2)}
    model = kg.formula(formulas, DATA, prior=prior)
    assert model.priors["sd_s(x, by=g)"] == "exponential(1)"
    assert model.priors["sd_sigma_s(z)"] == "exponential(2)"
    with pytest.raises(ValueError, match="allows negative numbers"):
        kg.formula("y ~ s(x)", DATA, prior={"sd_s(x)": kg.normal(0, 1)})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y ~ x + s(x)", r"s\(x\) in .* contains the linear effect of x.*leave the term x out"),
        ("y ~ z * s(x, by=z)", "must be a summand of its own"),
        ("y ~ z + s(x, by=z)", "contains the linear effect of z"),
        ("y ~ x:z + s(x, by=z)", "contains the linear effect of x:z"),
        ("y ~ s(x) + s(x, k=5)", r"has two terms s\(x\)"),
        ("y ~ s(grade)", "needs k=10 different values, but grade has 4.*write k=4"),
        ("y ~ s(b)", "write b alone"),
        ("y ~ s(x, k=2)", "k is a whole number from 3 on"),
        ("y ~ s(x, k='a')", "k is a whole number from 3 on"),
        ("y ~ s(x, k=size)", "k=size.*write the value itself, as in k=10"),
        ("y ~ s(x, z)", r"has 2 columns.*is gp\(x, z\)"),
        ("y ~ s(x, bs='cc')", r"it is one of tp, cr; cyclic splines .* are cc\(x, df="),
        ("y ~ s(x, bs='tps')", "it is one of tp, cr; did you mean 'tp'"),
        ("y ~ s(x, m=2)", r"has m=.*write s\(x, by=g, k=10, bs='tp'\)"),
        ("y ~ s(x, by=gg)", "unknown column 'gg'.*mean 'g'"),
        ("y ~ s(x, by=one)", "'one' has one level, 'a'.*leave by= out"),
        ("y ~ s(close, k=10)", "needs k=10 different values, but close has 9"),
        ("y ~ s(t)", "takes numbers, but 't' is a column of text"),
        ("y ~ s(x):z", r"'\+ s\(x\)', or '\+ s\(x, by=z\)' for a function that depends on z"),
        ("y ~ t2(x, z)", r"is gp\(x, z\)"),
    ],
)
def test_splines_that_cannot_be_made(text, message):
    with pytest.raises(ValueError, match=message):
        kg.formula(text, DATA.assign(one="a", close=np.resize([*range(9), 3 + 1e-9], len(DATA))))


@pytest.mark.slow
def test_a_wave_is_recovered():
    rng = np.random.default_rng(2)
    x = rng.uniform(0, 10, 200)
    data = pd.DataFrame({"x": x, "y": 2 + np.sin(x) + rng.normal(0, 0.3, 200)})
    model = kg.formula("y ~ s(x)", data)
    results = kg.mcmc(model, draws=300, chains=2, seed=2, progress=False)
    new = np.linspace(0.5, 9.5, 10)
    drawn = model.predict(results, {"x": new}, kind="mean")["predictions"]["y_mean"].values
    drawn = drawn.reshape(-1, 10)
    assert (abs(drawn.mean(0) - 2 - np.sin(new)) < 5.5 * drawn.std(0) + 0.05).all()
    assert (drawn.std(0) < 0.15).all()
