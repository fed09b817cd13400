"""Composed NumPy functions: values compared with NumPy, slopes with differences."""

import numpy as np
import pytest
import scipy.special as sp
from tests.graph.helpers import apply, check_gradient

import kinetograph as kg

RNG = np.random.default_rng(7)
V, W = RNG.normal(size=6), RNG.normal(size=6)
M, N = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4))
S = RNG.normal(size=(3, 3)) + 3 * np.eye(3)
T = RNG.normal(size=(2, 3, 4))
GAPS = np.array([1.0, np.nan, 3.0, -2.0, np.nan, 0.5])
KNOTS = np.array([-1.0, 0.0, 0.5, 2.0])
P = np.array([0.2, 0.3, 0.5])
WEIGHTS = np.array([0.2, 0.3, 0.1, 0.4])

# A function of arrays, and arrays for it; NumPy's result is the reference.
CASES = {
    "quantile": (lambda x: np.quantile(x, 0.3), M),
    "quantiles": (lambda x: np.quantile(x, [[0.1, 0.5], [0.9, 1.0]], axis=1), M),
    "quantile of axes": (lambda x: np.quantile(x, 0.25, axis=(0, 2), keepdims=True), T),
    **{
        f"quantile {how}": (lambda x, how=how: np.quantile(x, [0.0, 0.3, 0.5], method=how), V)
        for how in ("lower", "higher", "midpoint", "nearest")
    },
    "percentile": (lambda x: np.percentile(x, [10, 95], axis=0), M),
    "argsort": (lambda x: np.take_along_axis(x, np.argsort(x, axis=0), 0), M),
    "argsort flat": (lambda x: np.take_along_axis(x, np.argsort(x, axis=None), None), M),
    "average": (lambda x: np.average(x, axis=1), M),
    "weighted": (lambda x, w: np.average(x, weights=w), M, np.abs(N)),
    "weighted axis": (lambda x, w: np.average(x, axis=1, weights=w), M, WEIGHTS),
    "cov": (lambda x: np.cov(x), M),
    "cov of columns": (lambda x: np.cov(x, rowvar=False, bias=True), M),
    "cov of two": (lambda x, y: np.cov(x, y, ddof=2), V, W),
    "cov of one": (lambda x: np.cov(x), V),
    "corrcoef": (lambda x: np.corrcoef(x), M),
    "convolve": (lambda x, y: np.convolve(x, y), V, KNOTS),
    "convolve same": (lambda x, y: np.convolve(x, y, "same"), KNOTS, V),
    "convolve valid": (lambda x, y: np.convolve(x, y, mode="valid"), V, KNOTS),
    "interp": (lambda x, f: np.interp(x, KNOTS, f), M, W[:4]),
    "interp ends": (lambda x: np.interp(x, KNOTS, W[:4], left=-7.0, right=9.0), 3 * M),
    "interp knots": (lambda x, k: np.interp(x, k, W[:4]), V, KNOTS),
    "polyval": (lambda p, x: np.polyval(p, x), V, M),
    "trapezoid": (lambda x: np.trapezoid(x, dx=0.5, axis=0), M),
    "trapezoid at": (lambda x: np.trapezoid(x, KNOTS), M),
    "trapezoid rows": (lambda x, y: np.trapezoid(x, np.cumsum(y**2, 1)), M, N),
    "gradient": (lambda x: np.gradient(x, 0.5), V),
    "gradient at": (lambda x: np.gradient(x, KNOTS, axis=1), M),
    "gradients": (lambda x: np.gradient(x)[0] + np.gradient(x)[1], M),
    "tensordot": (lambda x, y: np.tensordot(x, y), M, N),
    "tensordot axes": (lambda x, y: np.tensordot(x, y, ([0, 2], [1, 0])), T, N.T[:, :2].copy()),
    "tensordot 0": (lambda x, y: np.tensordot(x, y, 0), V, KNOTS),
    "vdot": (lambda x, y: np.vdot(x, y), M, N),
    "vecdot": (lambda x, y: np.vecdot(x, y), M, N),
    "cross": (lambda x, y: np.cross(x, y), S, N[:, :3]),
    "cross axis": (lambda x, y: np.linalg.cross(x, y, axis=0), M, N),
    "matrix_power": (lambda x: np.linalg.matrix_power(x, 5), S),
    "matrix_power -2": (lambda x: np.linalg.matrix_power(x, -2), S),
    "matrix_power 0": (lambda x: np.linalg.matrix_power(x, 0), S),
    "multi_dot": (lambda x, y: np.linalg.multi_dot([x, y, W[:4]]), S, M),
    "pinv": (lambda x: np.linalg.pinv(x), M),
    "pinv tall": (lambda x: np.linalg.pinv(x), M.T.copy()),
    "pinv of low rank": (lambda x: np.linalg.pinv(np.outer(x, W[:4])), V),
    "pinv cut": (lambda x: np.linalg.pinv(x * np.array([[1.0], [1.0], [1e-9]]), rtol=1e-6), S),
    "lstsq": (lambda a, b: np.linalg.lstsq(a, b)[0], M.T.copy(), W[:4]),
    "lstsq sums": (lambda a, b: np.linalg.lstsq(a, b)[1], M.T.copy(), N.T.copy()),
    "lstsq wide": (lambda a, b: np.linalg.lstsq(a, b)[0], M, W[:3]),
    "lstsq values": (lambda a: np.linalg.lstsq(a, W[:3])[3], M),
    "svdvals": (lambda x: np.linalg.svdvals(x), M),
    **{f"norm {o}": (lambda x, o=o: np.linalg.norm(x, o), V) for o in (1, 2, 3, np.inf, -np.inf)},
    **{
        f"matrix norm {o}": (lambda x, o=o: np.linalg.norm(x, o), M)
        for o in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)
    },
    "norm of axes": (lambda x: np.linalg.norm(x, 1, axis=(2, 0), keepdims=True), T),
    "norm 0": (lambda x: np.linalg.norm(x, 0), V),
    "vector_norm": (lambda x: np.linalg.vector_norm(x, axis=1, ord=3), M),
    "matrix_norm": (lambda x: np.linalg.matrix_norm(x), T),
    "append": (lambda x, y: np.append(x, y), M, V),
    "append axis": (lambda x, y: np.append(x, y, axis=0), M, N),
    "pad": (lambda x: np.pad(x, ((1, 0), (2, 3)), constant_values=7.0), M),
    "pad values": (lambda x: np.pad(x, 2, constant_values=((1.0, 2.0), (3.0, 4.0))), M),
    **{
        f"pad {how}": (lambda x, how=how: np.pad(x, ((0, 1), (2, 3)), mode=how), M)
        for how in ("edge", "wrap", "reflect", "symmetric")
    },
    "block": (lambda x, y: np.block([[x, y], [y, 2.0 * x]]), M, N),
    "block of rows": (lambda x, y: np.block([[x], [y]]), V, W),
    "block of numbers": (lambda x: np.block([x[0], x, 1.0]), V),
    "select": (lambda x, y: np.select([x > 0.5, x > 0], [x, y], 3.0), V, W),
    "nan_to_num": (lambda x: np.nan_to_num(x / np.array([1, 2, 1, 1, 1, 3.0])), V),
    "rot90": (lambda x: np.rot90(x), M),
    "rot90 2": (lambda x: np.rot90(x, 2, axes=(1, 2)), T),
    "rot90 -1": (lambda x: np.rot90(x, -1), M),
    "add.outer": (lambda x, y: np.add.outer(x, y), M, V),
    "multiply.outer": (lambda x, y: np.multiply.outer(x, y), V, W),
    "accumulate": (lambda x: np.maximum.accumulate(x), M),
    "accumulate axis": (lambda x: np.multiply.accumulate(x, axis=1), M),
    "var": (lambda x: np.var(x, axis=0, correction=1), M),
    "std": (lambda x: np.std(x, correction=2), V),
    "sum where": (lambda x: np.sum(x, axis=1, where=N > 0), M),
    "prod where": (lambda x: np.prod(x, where=V > 0), V),
    "fmod": (lambda x, y: np.fmod(3 * x, y), V, W),
    "float_power": (lambda x, y: np.float_power(x, y), np.abs(V), W),
    "degrees": (lambda x: np.degrees(x), V),
    "radians": (lambda x: np.radians(x), V),
    "i0": (lambda x: np.i0(x), V),
    "binom": (lambda x, y: sp.binom(x, y), np.abs(V) + 2, np.abs(W)),
    "beta": (lambda x, y: sp.beta(x, y), np.abs(V), np.abs(W)),
    "entr": (lambda x: sp.entr(x), np.abs(V)),
    "rel_entr": (lambda x, y: sp.rel_entr(x, y), np.abs(V), np.abs(W)),
    "boxcox": (lambda x, y: sp.boxcox(x, y), np.abs(V), W),
    "iv": (lambda x: sp.iv(1.5, x), np.abs(V)),
    "kve": (lambda x: sp.kve(-2.5, x), np.abs(V)),
    "zeta": (lambda x, y: sp.zeta(x, y), np.abs(V) + 1.1, np.abs(W)),
    "zeta of one": (lambda x: sp.zeta(x), V),
    "owens_t": (lambda x, y: sp.owens_t(x, y), V, W),
    "stdtr": (lambda x, y: sp.stdtr(x, y), np.abs(V), W),
    "betainc": (lambda x, y, z: sp.betainc(x, y, z), np.abs(V[:3]), np.abs(W[:3]), P),
}


@pytest.mark.parametrize("name", CASES)
def test_value(name):
    function, *given = CASES[name]
    expected = np.asarray(function(*given))
    found = apply(function, *given)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-13, strict=True)


FLAT = {"matrix_power 0", "norm 0"}
OFTEN = [
    "quantiles",
    "cov",
    "interp knots",
    "pinv",
    "tensordot axes",
    "convolve",
    "matrix norm nuc",
]


def check_slopes(name):
    function, *given = CASES[name]
    for i in range(len(given)):
        check_gradient(lambda x, i=i: function(*given[:i], x, *given[i + 1 :]), given[i], rtol=1e-6)


@pytest.mark.parametrize("name", OFTEN)
def test_gradient(name):
    check_slopes(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in CASES if n not in {*FLAT, *OFTEN}])
def test_other_gradients(name):
    check_slopes(name)


PLACES = {
    "searchsorted": lambda x: np.searchsorted(KNOTS, x),
    "searchsorted right": lambda x: np.searchsorted(KNOTS, x, side="right"),
    "digitize": lambda x: np.digitize(x, KNOTS),
    "digitize right": lambda x: np.digitize(x, KNOTS, right=True),
    "digitize down": lambda x: np.digitize(x, KNOTS[::-1]),
    "digitize down right": lambda x: np.digitize(x, KNOTS[::-1], right=True),
    "argsort": lambda x: np.argsort(x, kind="stable"),
    "isin": lambda x: np.isin(x, [0.5, 2.0]),
    "isin not": lambda x: np.isin(x, [0.5, 2.0], invert=True),
    "count_nonzero": lambda x: np.count_nonzero(x),
    "full_like": lambda x: np.full_like(x, 3),
    "any where": lambda x: np.any(x > 1, where=x < 2),
}


@pytest.mark.parametrize("name", PLACES)
def test_places_and_ties(name):
    x = np.array([0.5, -1.0, 0.0, 0.5, 2.0, -3.0, 0.25, 9.0, 2.0, 0.0])
    expected = np.asarray(PLACES[name](x))
    found = apply(PLACES[name], x)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of rows without a number
@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std", "max", "min"])
def test_reductions_of_rows_without_a_number(name):
    function = getattr(np, f"nan{name}")
    rows = np.array([GAPS, np.full(6, np.nan), np.arange(6.0)])
    found = apply(lambda x: function(x, axis=1), rows)
    np.testing.assert_allclose(found, function(rows, axis=1), rtol=1e-12)


@pytest.mark.parametrize("function", [np.nanvar, np.nanstd])
def test_degrees_of_freedom_of_variances_that_ignore_nan(function):
    rows = np.array([GAPS, np.arange(6.0)])

    def with_each(x):
        return np.stack([function(x, ddof=n, axis=1) for n in range(4)])

    np.testing.assert_allclose(apply(with_each, rows), with_each(rows), rtol=1e-12)


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std", "max", "min"])
def test_what_is_no_nan(name):
    function = getattr(np, f"nan{name}")
    np.testing.assert_allclose(apply(function, GAPS), function(GAPS), rtol=1e-12)
    rows = np.array([GAPS, np.arange(6.0)])
    found = apply(lambda x: function(x, axis=0, keepdims=True), rows)
    np.testing.assert_allclose(found, function(rows, axis=0, keepdims=True), rtol=1e-12)
    x = kg.placeholder(GAPS.shape)
    slope = kg.compile([x], kg.gradients(function(x), x))(GAPS)
    full = GAPS[~np.isnan(GAPS)]
    y = kg.placeholder(full.shape)
    exact = kg.compile([y], kg.gradients(getattr(np, name)(y), y))(full)
    np.testing.assert_array_equal(slope[np.isnan(GAPS)], 0.0)
    np.testing.assert_allclose(slope[~np.isnan(GAPS)], exact, rtol=1e-12)


def test_quantiles_with_nan_and_infinities():
    given = [0.0, 0.1, 1 / 3, 0.5, 1.0]
    np.testing.assert_array_equal(apply(lambda x: np.quantile(x, given), GAPS), np.nan)
    x = np.array([-np.inf, 1.0, 2.0, np.inf])  # for which NumPy returns NaN at the ends
    found = apply(lambda x: np.quantile(x, given), x)
    np.testing.assert_allclose(found, [-np.inf, -np.inf, 1.0, 1.5, np.inf])


def test_least_squares_of_any_rank():
    a = np.outer(V, W[:3])
    for given, right in ((a, V), (M, W[:3]), (M.T, N.T)):
        expected = np.linalg.lstsq(given, right)
        for k, place in ((0, "x"), (2, "rank"), (3, "values")):
            found = apply(lambda a, b, k=k: np.linalg.lstsq(a, b)[k], given, right)
            np.testing.assert_allclose(found, expected[k], rtol=1e-10, atol=1e-14, err_msg=place)
    assert apply(lambda a: np.linalg.lstsq(a, W[:3])[1], M).shape == (0,)


X = kg.placeholder((4,), name="x")
A = kg.placeholder((2, 3), name="a")


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: np.quantile(X, 1.5), ValueError, "between 0 and 1, got 1.5"),
        (lambda: np.quantile(X, 0.5, method="weibull"), ValueError, "choose one of linear"),
        (lambda: np.searchsorted(A, X), kg.ShapeError, "searchsorted in a: needs a vector"),
        (lambda: np.digitize(X, [0, 2, 1]), kg.ShapeError, "ascending or descending"),
        (lambda: np.take_along_axis(A, np.array([0]), 0), kg.ShapeError, "need as many axes"),
        (lambda: np.average(A, weights=X), kg.ShapeError, r"average of a, shape \(2, 3\): weights"),
        (lambda: np.cov(np.zeros((2, 1)) * A[:, :1]), kg.ShapeError, "1 observations"),
        (lambda: np.convolve(A, X), kg.ShapeError, "convolve: needs two vectors"),
        (lambda: np.interp(X, A[0], X), kg.ShapeError, "interp: needs points and values of one"),
        (lambda: np.gradient(X, edge_order=2), ValueError, "edge_order is 2; 1 is available"),
        (lambda: np.tensordot(A, X, 1), kg.ShapeError, r"axes of a of lengths \[3\], and of x"),
        (lambda: np.cross(A, X), kg.ShapeError, "cross of x, .* needs 3 numbers"),
        (lambda: np.linalg.matrix_power(A, 2), kg.ShapeError, "needs square matrices"),
        (lambda: np.linalg.lstsq(A, X), kg.ShapeError, "a matrix and a right side with as many"),
        (lambda: np.linalg.pinv(A, X), kg.SymbolicError, "pinv: rcond must be known while"),
        (lambda: sp.iv(2, X), kg.SymbolicError, r"must be n \+ 1/2, as 2.5, up to 30.5, got 2"),
        (lambda: sp.kv(X, 2), kg.SymbolicError, "the order must be known while .* which x is not"),
        (lambda: kg.kve(31.5, X), kg.SymbolicError, "up to 30.5, got 31.5"),
        (lambda: np.linalg.norm(A, 3), kg.SymbolicError, "ord=3 is not available over 2 axes"),
        (lambda: np.pad(X, 1, mode="mean"), ValueError, "mode is one of constant, edge"),
        (lambda: np.pad(X, [1, 2, 3]), kg.ShapeError, "pad of x, .* do not fit"),
        (lambda: np.select([X > 0], []), kg.ShapeError, "1 conditions and 0 choices"),
        (lambda: kg.polygamma(-1, X), kg.SymbolicError, "order must be a whole number"),
        (lambda: kg.multigammaln(X, 0), kg.SymbolicError, "d must be a whole number"),
        (lambda: np.fft.fft(X), kg.SymbolicError, "fft.fft is not available .* kg.lift"),
    ],
)
def test_messages(call, error, text):
    with pytest.raises(error, match=text):
        call()
