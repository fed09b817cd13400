import math

import jax
import numpy as np
import pytest
import scipy.special as sp
from tests.graph.helpers import apply, check_gradient, gradient, unknown, value

import kinetograph as kg
from kinetograph.graph.lower import evaluate
from kinetograph.graph.operations.elementwise import ELEMENTWISE, elementwise
from kinetograph.graph.precision import x64

SHAPES = [(), (5,), (2, 1, 3), (0,), (2, 0)]
REAL, POSITIVE, UNIT, ABOVE_ONE, SYMMETRIC = (
    (-2.0, 2.0),
    (0.1, 3.0),
    (0.05, 0.95),
    (1.1, 3.0),
    (-0.9, 0.9),
)


def draws(shape, interval, seed=0):
    return np.random.default_rng(seed).uniform(*interval, shape)


# name in the graph: (reference, interval the arguments come from)
UNARY = {
    "negative": (np.negative, REAL),
    "positive": (np.positive, REAL),
    "absolute": (np.absolute, REAL),
    "fabs": (np.fabs, REAL),
    "sign": (np.sign, REAL),
    "rint": (np.rint, REAL),
    "floor": (np.floor, REAL),
    "ceil": (np.ceil, REAL),
    "trunc": (np.trunc, REAL),
    "square": (np.square, REAL),
    "cbrt": (np.cbrt, POSITIVE),
    "sqrt": (np.sqrt, POSITIVE),
    "root": (np.sqrt, POSITIVE),
    "cos_root": (lambda x: np.cos(np.sqrt(x)), POSITIVE),
    "exp_root": (lambda x: np.exp(-np.sqrt(x)), POSITIVE),
    "matern32": (lambda x: (1 + np.sqrt(x)) * np.exp(-np.sqrt(x)), POSITIVE),
    "matern52": (lambda x: (1 + np.sqrt(x) + x / 3) * np.exp(-np.sqrt(x)), POSITIVE),
    "reciprocal": (np.reciprocal, POSITIVE),
    "exp": (np.exp, REAL),
    "exp2": (np.exp2, REAL),
    "expm1": (np.expm1, REAL),
    "log": (np.log, POSITIVE),
    "log2": (np.log2, POSITIVE),
    "log10": (np.log10, POSITIVE),
    "log1p": (np.log1p, SYMMETRIC),
    "sin": (np.sin, REAL),
    "cos": (np.cos, REAL),
    "tan": (np.tan, SYMMETRIC),
    "arcsin": (np.arcsin, SYMMETRIC),
    "arccos": (np.arccos, SYMMETRIC),
    "arctan": (np.arctan, REAL),
    "sinh": (np.sinh, REAL),
    "cosh": (np.cosh, REAL),
    "tanh": (np.tanh, REAL),
    "arcsinh": (np.arcsinh, REAL),
    "arccosh": (np.arccosh, ABOVE_ONE),
    "arctanh": (np.arctanh, SYMMETRIC),
    "deg2rad": (np.deg2rad, REAL),
    "rad2deg": (np.rad2deg, REAL),
    "isnan": (np.isnan, REAL),
    "isfinite": (np.isfinite, REAL),
    "isinf": (np.isinf, REAL),
    "signbit": (np.signbit, REAL),
    "logical_not": (np.logical_not, REAL),
    "expit": (sp.expit, REAL),
    "logit": (sp.logit, UNIT),
    "log_expit": (sp.log_expit, REAL),
    "softplus": (lambda x: np.logaddexp(0.0, x), REAL),
    "log1mexp": (lambda x: np.log1p(-np.exp(-x)), POSITIVE),
    "icloglog": (lambda x: 1 - np.exp(-np.exp(x)), REAL),
    "icauchit": (lambda x: 0.5 + np.arctan(x) / np.pi, REAL),
    "sinpi": (lambda x: np.sin(np.pi * x), REAL),
    "cospi": (lambda x: np.cos(np.pi * x), REAL),
    "tanpi": (lambda x: np.tan(np.pi * x), (-0.4, 0.4)),
    "gammaln": (sp.gammaln, POSITIVE),
    "gamma": (sp.gamma, POSITIVE),
    "psi": (sp.psi, POSITIVE),
    "digamma": (sp.digamma, POSITIVE),
    "trigamma": (lambda x: sp.polygamma(1, x), POSITIVE),
    "erf": (sp.erf, REAL),
    "erfc": (sp.erfc, REAL),
    "erfinv": (sp.erfinv, SYMMETRIC),
    "ndtr": (sp.ndtr, REAL),
    "log_ndtr": (sp.log_ndtr, REAL),
    "ndtri": (sp.ndtri, UNIT),
    "erfcx": (sp.erfcx, REAL),
    "expi": (sp.expi, POSITIVE),
    "exp1": (sp.exp1, POSITIVE),
    "zeta": (sp.zeta, ABOVE_ONE),
    "i0": (sp.i0, REAL),
    "i0e": (sp.i0e, REAL),
    "i1": (sp.i1, REAL),
    "i1e": (sp.i1e, REAL),
}
BINARY = {
    "add": (np.add, REAL),
    "subtract": (np.subtract, REAL),
    "multiply": (np.multiply, REAL),
    "divide": (np.divide, POSITIVE),
    "floor_divide": (np.floor_divide, POSITIVE),
    "remainder": (np.remainder, POSITIVE),
    "power": (np.power, POSITIVE),
    "maximum": (np.maximum, REAL),
    "minimum": (np.minimum, REAL),
    "fmax": (np.fmax, REAL),
    "fmin": (np.fmin, REAL),
    "copysign": (np.copysign, REAL),
    "heaviside": (np.heaviside, REAL),
    "logaddexp": (np.logaddexp, REAL),
    "logaddexp2": (np.logaddexp2, REAL),
    "hypot": (np.hypot, REAL),
    "arctan2": (np.arctan2, REAL),
    "equal": (np.equal, REAL),
    "not_equal": (np.not_equal, REAL),
    "less": (np.less, REAL),
    "less_equal": (np.less_equal, REAL),
    "greater": (np.greater, REAL),
    "greater_equal": (np.greater_equal, REAL),
    "logical_and": (np.logical_and, REAL),
    "logical_or": (np.logical_or, REAL),
    "logical_xor": (np.logical_xor, REAL),
    "beta": (sp.beta, POSITIVE),
    "betaln": (sp.betaln, POSITIVE),
    "comb": (sp.binom, POSITIVE),
    "log_comb": (lambda n, k: np.log(sp.binom(n, k)), (0.9, 1.1)),
    "xlogy": (sp.xlogy, POSITIVE),
    "xlog1py": (sp.xlog1py, POSITIVE),
    "gammainc": (sp.gammainc, POSITIVE),
    "gammaincc": (sp.gammaincc, POSITIVE),
    "stdtr": (sp.stdtr, POSITIVE),
    "kl_div": (sp.kl_div, POSITIVE),
    "owens_t": (sp.owens_t, REAL),
}
TERNARY = {"betainc": (sp.betainc, UNIT), "betaincc": (sp.betaincc, UNIT)}
FUNCTIONS = {**UNARY, **BINARY, **TERNARY}
INTEGER = {
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
}
SHIFTS = {"left_shift": np.left_shift, "right_shift": np.right_shift}
WHOLE = {"gcd", "lcm"}  # tests/graph/numpy has their values
SPECIAL = {"invert", "bitwise_count", *INTEGER, *SHIFTS, *WHOLE}


def graph(name):
    return lambda *operands: kg.Array(elementwise(name, *operands))


def test_every_function_has_a_reference():
    assert set(ELEMENTWISE) == {*FUNCTIONS, *SPECIAL}


def arity(name):
    return 3 if name in TERNARY else 2 if name in {*BINARY, *INTEGER, *SHIFTS, *WHOLE} else 1


def arguments(name, shapes):
    """Two arguments for each shape, from an interval where the function is smooth."""
    interval = FUNCTIONS[name][1]
    places = range(arity(name))
    return [[draws(s, interval, 10 * i + k) for k in places] for i, s in enumerate(shapes)]


def lowered(name, *tensors):
    arrays = [kg.placeholder(t.shape, t.dtype) for t in tensors]
    output = graph(name)(*arrays)
    result = evaluate([output.node], {a.node: t for a, t in zip(arrays, tensors)})[output.node]
    assert result.shape == output.shape
    assert result.dtype == output.dtype
    return result


@pytest.fixture(scope="module")
def values():
    """All functions at one shape, in one compiled program."""
    cases = {n: arguments(n, [(2, 1, 3)])[0] for n in FUNCTIONS}
    with x64():
        run = jax.jit(lambda c: {n: lowered(n, *a) for n, a in c.items()})
        return cases, jax.tree.map(np.asarray, run(cases))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_value(name, values):
    cases, results = values
    reference = FUNCTIONS[name][0]
    expected = reference(*cases[name])
    assert results[name].dtype == expected.dtype
    np.testing.assert_allclose(results[name], expected, rtol=1e-10, atol=1e-14, strict=True)
    with x64():
        for given in arguments(name, SHAPES):  # tracing compares shape and dtype
            found = jax.eval_shape(lambda *a: lowered(name, *a), *given)
            assert found.shape == given[0].shape
            assert found.dtype == expected.dtype


SMOOTH = [n for n in FUNCTIONS if graph(n)(*[unknown(1.0)] * arity(n)).dtype == float]


@pytest.fixture(scope="module")
def slopes():
    """The partial derivatives of all functions, exact ones and central differences."""
    cases = {n: arguments(n, [(2, 1, 3)])[0] for n in SMOOTH}

    def derivatives(c):
        return {
            n: [jax.grad(lambda *a, n=n: lowered(n, *a).sum(), i)(*a) for i in range(len(a))]
            for n, a in c.items()
        }

    with x64():
        exact = jax.jit(derivatives)(cases)
        run = jax.jit(lambda c: {n: lowered(n, *a) for n, a in c.items()})

        def differences(place, step):
            above, below = (
                run({n: [x + h * (i == place) for i, x in enumerate(a)] for n, a in cases.items()})
                for h in (step, -step)
            )
            return {n: np.asarray((above[n] - below[n]) / (2 * step)) for n in cases}

        h = 1e-4
        # Richardson's extrapolation: the square error of the step cancels.
        pairs = [(differences(i, h), differences(i, 2 * h)) for i in range(3)]
        return exact, {n: [(4 * d[n] - e[n]) / 3 for d, e in pairs] for n in cases}


@pytest.mark.slow  # the everyday test of slopes is test_functions.py
@pytest.mark.parametrize("name", SMOOTH)
def test_gradient(name, slopes):
    exact, numeric = slopes
    for found, expected in zip(exact[name], numeric[name]):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_broadcasting():
    for name in BINARY:
        x, y = draws((2, 1, 3), POSITIVE), draws((4, 1), POSITIVE, 3)
        assert graph(name)(unknown(x), unknown(y)).shape == (2, 4, 3)
    np.testing.assert_array_equal(apply(graph("subtract"), x, y), x - y)


@pytest.mark.parametrize("name", INTEGER)
def test_bitwise(name):
    for a, b in [([0, 1, 5, 6], [3, 3, 4, 4]), ([True, True, False], [True, False, False])]:
        a, b = np.array(a), np.array(b)
        np.testing.assert_array_equal(apply(graph(name), a, b), INTEGER[name](a, b))
        np.testing.assert_array_equal(apply(graph("invert"), a), ~a)


@pytest.mark.parametrize("name", SHIFTS)
def test_shifts(name):
    a, b = np.array([1, 5, -7, 1023]), np.array([0, 3, 1, 2])
    np.testing.assert_array_equal(apply(graph(name), a, b), SHIFTS[name](a, b))
    x, n = kg.placeholder((4,), int, name="x"), kg.placeholder((4,), int, name="n")
    both = [x << n, x >> n, 3 << n, 1023 >> n]
    expected = [a << b, a >> b, 3 << b, 1023 >> b]
    for found, right in zip(kg.compile([x, n], both)(a, b), expected, strict=True):
        np.testing.assert_array_equal(found, right)


def test_dtypes_are_numpys():
    rng = np.random.default_rng(0)
    samples = [
        rng.integers(1, 5, 3).astype(t)
        if np.dtype(t).kind != "b"
        else np.array([True, False, True])
        for t in ("bool", "int32", "int64", "uint8", "float32", "float64")
    ]
    checked = 0
    for name, (reference, _) in BINARY.items():
        if not isinstance(reference, np.ufunc) or not hasattr(np, reference.__name__):
            continue
        for a in samples:
            for b in [*samples, 2, 2.0, True]:
                try:
                    with np.errstate(all="ignore"):
                        expected = reference(a, b)
                except TypeError:
                    with pytest.raises(kg.SymbolicError, match=name):
                        graph(name)(unknown(a), b if np.ndim(b) == 0 else unknown(b))
                    continue
                second = b if np.ndim(b) == 0 else unknown(b)
                found = graph(name)(unknown(a), second).dtype
                whole = a.dtype.kind in "biu" and np.asarray(b).dtype.kind in "biu"
                if whole and expected.dtype.kind == "f":
                    assert found == np.float64, (name, a.dtype, b)
                else:
                    assert found == expected.dtype, (name, a.dtype, b)
                checked += 1
    assert checked > 500


def test_tensors_have_the_promised_dtype():
    for name in ELEMENTWISE:
        count = arity(name)
        for t in ("bool", "int32", "uint8", "float32"):
            try:
                array = graph(name)(*[kg.placeholder(3, t)] * count)
            except kg.SymbolicError:
                continue
            stand_in = jax.ShapeDtypeStruct((3,), np.dtype(t))
            with x64():
                # traces without computing; `lowered` compares shape and dtype
                found = jax.eval_shape(lambda x, n=name, k=count: lowered(n, *[x] * k), stand_in)
            assert found.dtype == array.dtype


def test_whole_numbers_under_transcendental_functions_are_in_working_precision():
    x = unknown(np.array([True, False]))
    assert kg.exp(x).dtype == np.float64
    with kg.precision("float32"):
        assert kg.exp(x).dtype == np.float32
        assert (x / 2).dtype == np.float32


@pytest.mark.parametrize("exponent", [-3, -1, 0, 1, 2, 3, 7, 8, 9, 0.5, 2.0, 1.5, -0.5])
def test_power_with_a_known_exponent(exponent):
    x = draws((4,), POSITIVE)
    np.testing.assert_allclose(apply(lambda x: x**exponent, x), x**exponent, rtol=1e-12)
    check_gradient(lambda x: x**exponent, x)
    if exponent == int(exponent):
        np.testing.assert_allclose(apply(lambda x: x**exponent, -x), (-x) ** exponent, rtol=1e-12)


def test_power_of_a_known_base():
    x = draws((4,), REAL)
    np.testing.assert_allclose(apply(lambda x: 2**x, x), 2**x, rtol=1e-12)
    check_gradient(lambda x: 2**x, x)


def test_subgradients():
    def slope(f, at):
        x = kg.placeholder(np.shape(at))
        return gradient(f(x), x, at, weights=1.0)[0]

    assert slope(abs, 0.0) == 0.0
    np.testing.assert_array_equal(slope(lambda x: x.max(), [1.0, 3.0, 3.0]), [0, 0.5, 0.5])
    np.testing.assert_array_equal(slope(lambda x: x.min(), [1.0, 1.0, 3.0]), [0.5, 0.5, 0])
    assert slope(lambda x: kg.maximum(x, 1.0), 1.0) == 0.5
    guarded = slope(lambda x: kg.where(x > 0, kg.sqrt(kg.where(x > 0, x, 1)), 0), [0.0, 4.0])
    np.testing.assert_array_equal(guarded, [0.0, 0.25])
    points = np.array([[0.0, 1.0], [0.0, 1.0], [3.0, 5.0]])
    assert np.isfinite(slope(lambda x: kg.pairwise_distance(x), points)).all()


def test_where_and_clip_against_numpy():
    x, y = draws((2, 3), REAL), draws((3,), REAL, 1)
    np.testing.assert_array_equal(
        apply(lambda x, y: kg.where(x > y, x, y), x, y), np.where(x > y, x, y)
    )
    for a, b in [(1, 2), (1, 2.5), (True, False), (True, 3)]:
        found = apply(lambda x, a=a, b=b: kg.where(x > 0, a, b), x)
        expected = np.where(x > 0, a, b)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
    i = np.arange(3)
    assert kg.where(i > 1, unknown(i), 1).dtype == np.int64
    for low, high in [(-0.5, 0.5), (None, 0.5), (-0.5, None)]:
        found = apply(lambda x, low=low, high=high: kg.clip(x, low, high), x)
        np.testing.assert_array_equal(found, np.clip(x, low, high))
    check_gradient(lambda x: kg.where(x > y, x * x, y), x)
    check_gradient(lambda x: kg.clip(x, -0.5, 0.5), x)


def test_extreme_arguments():
    big = np.array([-800.0, -40.0, 40.0, 800.0])
    np.testing.assert_allclose(apply(kg.softplus, big), np.logaddexp(0, big), rtol=1e-10)
    np.testing.assert_allclose(apply(kg.ilogit, big), sp.expit(big), rtol=1e-10)
    np.testing.assert_allclose(apply(kg.log_ndtr, big / 20), sp.log_ndtr(big / 20), rtol=1e-10)
    small = np.array([1e-20, 1e-8, 0.5, 1.0, 50.0, 800.0])
    with np.errstate(divide="ignore"):
        expected = np.where(small < 0.7, np.log(-np.expm1(-small)), np.log1p(-np.exp(-small)))
    np.testing.assert_allclose(apply(kg.log1mexp, small), expected, rtol=1e-12)
    check_gradient(kg.log1mexp, np.array([1e-2, 0.5, 1.0, 30.0]))
    halves = np.array([-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 1e6 + 0.5])
    assert set(np.abs(apply(kg.sinpi, halves))) == {0.0, 1.0}
    assert set(np.abs(apply(kg.cospi, halves))) == {0.0, 1.0}


def test_betaln_far_and_near():
    a, b = map(np.ravel, np.meshgrid(*[[1e-3, 0.5, 1.0, 9.9, 10.0, 11.0, 300.0]] * 2))
    whole = [(10, 10), (10, 11), (11, 15), (4, 10), (10, 300)]
    exact = [-math.log(m * math.comb(m + n - 1, m)) for m, n in whole]
    ones = [(1.0, b) for b in (1e-3, 1.0, 20.0, 1e6, 1e12)]
    x, y = kg.placeholder((59,), name="x"), kg.placeholder((59,), name="y")
    z = kg.betaln(x, y)
    given = np.concatenate([np.stack([a, b]), np.transpose(whole + ones)], axis=1)
    found, slope = kg.compile([x, y], [z, kg.gradients(z.sum(), x)])(*given)
    np.testing.assert_allclose(found[:49], sp.betaln(a, b), rtol=1e-11, atol=1e-14)  # 0 at (1, 1)
    np.testing.assert_allclose(found[49:54], exact, rtol=2e-14)
    np.testing.assert_allclose(found[54:], -np.log(given[1, 54:]), rtol=1e-13, atol=1e-15)
    wanted = sp.psi(given[0]) - sp.psi(given.sum(0))
    np.testing.assert_allclose(slope, wanted, rtol=1e-7, atol=1e-10)


def test_constants_are_copies():
    a = np.array([1.0, 2.0])
    y = unknown(np.zeros(2)) + a
    a[0] = 99.0
    assert value(y, {kg.Array(y.node.parents[0]): np.zeros(2)}).tolist() == [1.0, 2.0]


def test_python_numbers_do_not_widen():
    x = kg.placeholder((2,), np.float32)
    for y in (x + 1, x * 2.5, 1 / x, x**2, x**1.7, kg.where(x > 0, x, 0.0), kg.maximum(0.0, x)):
        assert y.dtype == np.float32
    assert (x + np.float64(1)).dtype == np.float64
    assert jax.config.jax_enable_x64 is False
