"""Less common functions of NumPy and SciPy: values and slopes."""

import numpy as np
import pytest
import scipy.special as sp
from tests.graph.helpers import apply, check_gradient

import kinetograph as kg

RNG = np.random.default_rng(8)
V, W = RNG.normal(size=6), RNG.normal(size=6)
M, N = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4))
S = RNG.normal(size=(3, 3)) + 3 * np.eye(3)
T = RNG.normal(size=(2, 3, 4))
GAPS = np.array([[1.0, np.nan, 3.0, -2.0], [np.nan] * 4, [0.5, 0.25, np.nan, 7.0]])
TURNS = np.array([0.0, 1.0, 5.0, 4.0, -3.0, 9.0, 9.5, -10.0])

# Functions with derivatives.
SMOOTH = {
    "sinc": (lambda x: np.sinc(x), np.array([0.0, 1e-9, 0.0499, 0.0501, 0.3, -7.2, 30.0])),
    "linspace": (lambda x, y: np.linspace(x, y, 5, axis=1), V, W),
    "linspace open": (lambda x: np.linspace(x, 3.0, num=4, endpoint=False), M),
    "logspace": (lambda x, y: np.logspace(x[0], y[0], 4, base=2.0), V, W),
    "vander": (lambda x: np.vander(x, 4), V),
    "vander up": (lambda x: np.vander(x, increasing=True), V),
    "unwrap": (lambda x: np.unwrap(x), TURNS),
    "unwrap degrees": (lambda x: np.unwrap(30 * x, period=360.0), TURNS),
    "ediff1d": (lambda x: np.ediff1d(x, to_end=[1.0, 2.0], to_begin=9.0), M),
    "correlate": (lambda x, y: np.correlate(x, y), V, W[:3]),
    "correlate long": (lambda x, y: np.correlate(x, y), W[:3], V),
    "correlate same": (lambda x, y: np.correlate(x, y, "same"), V, W[:4]),
    "correlate full": (lambda x, y: np.correlate(x, y, mode="full"), V[:4], W),
    "poly": (lambda x: np.poly(x), V),
    "polyadd": (lambda x, y: np.polyadd(x, y), V, W[:3]),
    "polysub": (lambda x, y: np.polysub(x, y), V[:2], W),
    "polymul": (lambda x, y: np.polymul(x, y), V, W[:3]),
    "polyder": (lambda x: np.polyder(x, 2), V),
    "polyint": (lambda x: np.polyint(x, 2, [3.0, 4.0]), V),
    "polyfit": (lambda x, y: np.polyfit(x, y, 2), V, W),
    "cumulative_sum": (lambda x: np.cumulative_sum(x, axis=1, include_initial=True), M),
    "cumulative_prod": (lambda x: np.cumulative_prod(x), V),
    "cond": (lambda x: np.linalg.cond(x), S),
    "cond -2": (lambda x: np.linalg.cond(x, -2), S),
    "cond 1": (lambda x: np.linalg.cond(x, 1), S),
    "tensorinv": (lambda x: np.linalg.tensorinv(x.reshape((2, 2, 4)), ind=2), 3 * np.eye(4) + 0.1),
    "tensorsolve": (
        lambda a, b: np.linalg.tensorsolve(a.reshape((2, 2, 2, 2)), b.reshape((2, 2))),
        3 * np.eye(4) + 0.1,
        V[:4],
    ),
    "linalg.trace": (lambda x: np.linalg.trace(x, offset=1), T),
    "linalg.diagonal": (lambda x: np.linalg.diagonal(x), T),
    "linalg.outer": (lambda x, y: np.linalg.outer(x, y), V, W),
    "linalg.tensordot": (lambda x, y: np.linalg.tensordot(x, y, axes=2), M, N),
    "linalg.matmul": (lambda x, y: np.linalg.matmul(x, y), M, N.T.copy()),
    "linalg.matrix_transpose": (lambda x: np.linalg.matrix_transpose(x), T),
    "linalg.vecdot": (lambda x, y: np.linalg.vecdot(x, y, axis=0), M, N),
    "matvec": (lambda a, x: np.matvec(a, x), T, V[:4]),
    "vecmat": (lambda x, a: np.vecmat(x, a), V[:3], T),
    "modf": (lambda x: np.modf(3 * x)[0], V),
    "divmod": (lambda x: np.divmod(x, 0.3)[1], V),
    "exp10": (lambda x: sp.exp10(x), V),
    "exp1": (lambda x: sp.exp1(x), np.array([1e-10, 0.3, 1.0, 5.0, 100.0])),
    "cosm1": (lambda x: sp.cosm1(x), np.array([1e-9, 0.3, -2.0, 6.0])),
    "sindg": (lambda x: sp.sindg(x), 100 * V),
    "cosdg": (lambda x: sp.cosdg(x), 100 * V),
    "tandg": (lambda x: sp.tandg(x), 10 * V),
    "radian": (lambda x, y, z: sp.radian(x, y, z), V, W, V[::-1].copy()),
    "erfcinv": (lambda x: sp.erfcinv(x), np.array([1e-200, 1e-9, 0.3, 1.5, 1.99])),
    "ivp": (lambda x: sp.ivp(1.5, x, 2), V**2),
    "kvp": (lambda x: sp.kvp(2.5, x), V**2 + 0.1),
    "huber": (lambda d, r: sp.huber(d, r), np.array([0.5, 1, 2, 0.1]), V[:4]),
    "pseudo_huber": (lambda d, r: sp.pseudo_huber(d, r), np.array([0.5, 1, 2, 0.1]), V[:4]),
    "inv_boxcox": (lambda x, y: sp.inv_boxcox(x, y), np.array([0.3, 2, 1, 4]), V[:4] ** 2),
    "inv_boxcox1p": (
        lambda x, y: sp.inv_boxcox1p(x, y),
        1e-3 * V,
        np.array([1e-5, -1, 2, 1, 0, 1]),
    ),
    "boxcox1p": (lambda x, y: sp.boxcox1p(x, y), 0.3 * V, np.array([1e-5, -1, 2, 1, 0, 9.0])),
    "exprel": (lambda x: sp.exprel(x), np.array([0, 1e-9, 0.0499, 0.0501, -3, 30.0])),
    "kl_div": (lambda x, y: sp.kl_div(x, y), np.array([1e-9, 1, 2, 5]), np.array([1, 1.001, 1, 9])),
    "betaincc": (
        lambda a, b, x: sp.betaincc(a, b, x),
        np.array([0.5, 3, 20]),
        np.array([0.5, 2, 40]),
        np.array([0.1, 0.99, 0.6]),
    ),
}
# Functions that arrange, compare, count or round.
OTHERS = {
    "around": (lambda x: np.around(x, 1), M),
    "amax": (lambda x: np.amax(x, axis=0), M),
    "amin": (lambda x: np.amin(x, axis=1, keepdims=True), M),
    "nanargmax": (lambda x: np.nanargmax(x, axis=1), GAPS[::2]),
    "nanargmin": (lambda x: np.nanargmin(x), GAPS),
    "nancumsum": (lambda x: np.nancumsum(x, axis=1), GAPS),
    "nancumprod": (lambda x: np.nancumprod(x), GAPS),
    "nanmedian": (lambda x: np.nanmedian(x, axis=0), GAPS),
    "nanquantile": (lambda x: np.nanquantile(x, [[0.0, 0.3], [0.8, 1.0]], axis=1), GAPS),
    "nanquantile keepdims": (lambda x: np.nanquantile(x, 0.4, keepdims=True), GAPS),
    "nanpercentile": (lambda x: np.nanpercentile(x, [10, 99], axis=0, keepdims=True), GAPS),
    "isclose": (
        lambda x: np.isclose(x, [1.0, np.nan, np.inf, 0.0], rtol=1e-3),
        np.array([1.0005, np.nan, np.inf, 1e-9]),
    ),
    "isclose nan": (lambda x: np.isclose(x, x, equal_nan=True), GAPS),
    "allclose": (lambda x, y: np.allclose(x, y), M, M + 1e-9),
    "array_equal": (lambda x: np.array_equal(x, x), GAPS),
    "array_equal nan": (lambda x: np.array_equal(x, x, equal_nan=True), GAPS),
    "array_equiv": (lambda x: np.array_equiv(x, x[:, :1] + 0 * x), M),
    "astype": (lambda x: np.astype(x, np.int32), 3 * M),
    "isposinf": (lambda x: np.isposinf(x), np.array([1, np.inf, -np.inf])),
    "isneginf": (lambda x: np.isneginf(x), np.array([1, np.inf, -np.inf])),
    "isreal": (lambda x: np.isreal(x), M),
    "iscomplex": (lambda x: np.iscomplex(x), M),
    "real": (lambda x: np.real(x), M),
    "imag": (lambda x: np.imag(x), M),
    "real_if_close": (lambda x: np.real_if_close(x), M),
    "conjugate": (lambda x: np.conjugate(x), M),
    "copy": (lambda x: np.copy(x), M),
    "fliplr": (lambda x: np.fliplr(x), T),
    "flipud": (lambda x: np.flipud(x), T),
    "partition": (lambda x: np.partition(x, 2)[2], V),
    "argpartition": (lambda x: np.argpartition(x, 2)[2], V),
    "broadcast_arrays": (lambda x, y: np.broadcast_arrays(x, y)[1], M, V[:4]),
    "meshgrid": (lambda x, y: np.stack(np.meshgrid(x, y, W[:2])), V, W[:3]),
    "meshgrid ij": (lambda x, y: np.meshgrid(x, y, indexing="ij", sparse=True)[1], V, W[:3]),
    "unstack": (lambda x: np.unstack(x, axis=1)[2], M),
    "rollaxis": (lambda x: np.rollaxis(x, 2), T),
    "rollaxis back": (lambda x: np.rollaxis(x, 0, -1), T),
    "resize": (lambda x: np.resize(x, (5, 3)), V),
    "diagflat": (lambda x: np.diagflat(x, 1), M),
    "delete": (lambda x: np.delete(x, [0, 2], axis=1), M),
    "delete slice": (lambda x: np.delete(x, slice(1, 3)), V),
    "atleast_3d": (lambda x: np.atleast_3d(x), V),
    "atleast_3d matrix": (lambda x: np.atleast_3d(x), M),
    "dstack": (lambda x, y: np.dstack([x, y]), M, N),
    "hsplit": (lambda x: np.hsplit(x, 2)[1], M),
    "vsplit": (lambda x: np.vsplit(x, [1])[1], M),
    "dsplit": (lambda x: np.dsplit(x, 2)[1], T),
    "matrix_rank": (lambda x: np.linalg.matrix_rank(x), np.outer(V, W)),
    "matrix_rank tol": (lambda x: np.linalg.matrix_rank(x, 1e3), S),
    "matrix_rank of vector": (lambda x: np.linalg.matrix_rank(x), V),
    "fftshift": (lambda x: np.fft.fftshift(x), V[:5]),
    "ifftshift": (lambda x: np.fft.ifftshift(x, axes=1), M[:, :3]),
    "gammasgn": (lambda x: sp.gammasgn(x), np.array([0.0, 2, -0.5, -1, -1.5, np.nan, np.inf])),
    "round": (lambda x: sp.round(x), np.array([0.5, 1.5, -2.5, 0.3])),
    "kl_div ends": (
        lambda x, y: sp.kl_div(x, y),
        np.array([0, 0, 1, -1, np.nan, 2]),
        np.array([0, 3, 0, 1, 1, -1.0]),
    ),
    "pseudo_huber ends": (
        lambda x, y: sp.pseudo_huber(x, y),
        np.array([0, -1, 1.0]),
        np.array([2, 1, 0.0]),
    ),
    "fix": (lambda x: np.fix(x), 3 * V),
}
PLAIN = {
    "gcd": (lambda x, y: np.gcd(x, y), np.array([12, 0, -6, 7]), np.array([18, 5, 4, 0])),
    "lcm": (lambda x, y: np.lcm(x, y), np.array([12, 0, -6, 7]), np.array([18, 5, 4, 3])),
    "bitwise_count": (lambda x: np.bitwise_count(x), np.array([0, 7, 255, -1])),
    "fmod of two types": (
        lambda x, y: np.fmod(x, y),
        np.array([3, 200, 255, 200, 0], np.uint8),
        np.array([3, -128, 127, 7, -128], np.int8),
    ),
    "fmod of the smallest": (
        lambda x, y: np.fmod(x, y),
        np.array([-128, 100, -100, -128, 7, -7], np.int8),
        np.array([3, -128, -128, -128, -2, 2], np.int8),
    ),
    "median of nothing": (lambda x: np.median(x, axis=0), np.zeros((0, 3))),
    "median of all nothing": (lambda x: np.median(x, keepdims=True), np.zeros((0, 3))),
    "nanmedian of nothing": (lambda x: np.nanmedian(x, axis=0), np.zeros((0, 3))),
    "nanmedian of all nothing": (lambda x: np.nanmedian(x), np.zeros((0, 3))),
    "nanmedian of no rows": (lambda x: np.nanmedian(x, axis=1), np.zeros((0, 3))),
    "divmod whole": (lambda x: np.divmod(x, 3)[0], np.array([-7, 7, 0])),
}
TYPES = {
    "result_type": lambda x: np.result_type(x, np.float32),
    "common_type": lambda x: np.common_type(x),
    "isrealobj": lambda x: np.isrealobj(x),
    "iscomplexobj": lambda x: np.iscomplexobj(x),
    "tril_indices_from": lambda x: np.tril_indices_from(x)[1].tolist(),
    "triu_indices_from": lambda x: np.triu_indices_from(x, 1)[0].tolist(),
    "diag_indices_from": lambda x: np.diag_indices_from(x)[0].tolist(),
    "empty_like": lambda x: np.empty_like(x).shape,
}
CASES = {**SMOOTH, **OTHERS, **PLAIN}


@pytest.mark.filterwarnings("ignore")  # NumPy's warning about rows of NaN
@pytest.mark.parametrize("name", CASES)
def test_value(name):
    function, *given = CASES[name]
    expected = np.asarray(function(*given))
    found = apply(function, *given)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-13, strict=True)


@pytest.mark.parametrize("name", TYPES)
def test_what_types_and_shapes_tell(name):
    assert TYPES[name](kg.placeholder((3, 3))) == TYPES[name](S)


def check_slopes(name):
    function, *given = SMOOTH[name]
    given = [np.where((np.abs(v) < 1e-3) & (v != 0), 0.01, v) for v in given]
    for i in range(len(given)):
        check_gradient(lambda x, i=i: function(*given[:i], x, *given[i + 1 :]), given[i], 1e-6)


OFTEN = ["sinc", "linspace", "pseudo_huber", "kl_div"]


@pytest.mark.parametrize("name", OFTEN)
def test_gradient(name):
    check_slopes(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in SMOOTH if n not in OFTEN])
def test_other_gradients(name):
    check_slopes(name)


def test_small_numbers_keep_their_digits():
    x = np.array([1e-12, 1e-7, 1e-3])
    for found, right in (
        (apply(lambda x: sp.boxcox1p(x, 1e-9), x), np.log1p(x)),
        (apply(lambda x: sp.inv_boxcox1p(x, 1e-12), x), np.expm1(x)),
        (apply(lambda x: sp.cosm1(x), x), -0.5 * x * x + x**4 / 24),
        (apply(lambda x: sp.pseudo_huber(1.0, x), x), 0.5 * x * x - x**4 / 8),
    ):
        np.testing.assert_allclose(found, right, rtol=1e-11)
