"""SciPy's functions for arguments that are 0, infinite, NaN or out of range."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp

import kinetograph as kg

inf, nan = np.inf, np.nan
ENDS = (0.0, 1e-300, 0.3, 1.0, -0.5, 2.5, 40.0, inf, nan)
TWO = [g.ravel() for g in np.meshgrid(ENDS, ENDS)]
LESS = [v for v in ENDS if v != 1e-300]
POWERS = [g.ravel() for g in np.meshgrid(ENDS, LESS)]
THREE = [g.ravel() for g in np.meshgrid(LESS, LESS, LESS)]
ONE = [np.array([0.0, -0.0, 1e-300, 0.5, -0.5, -2.0, 750.0, -750.0, inf, -inf, nan])]
FUNCTIONS = {
    sp.entr: ONE,
    sp.erfcx: ONE,
    sp.expi: ONE,
    sp.exprel: ONE,
    sp.gammasgn: ONE,
    sp.i0: ONE,
    sp.i0e: ONE,
    sp.i1: ONE,
    sp.i1e: ONE,
    sp.ndtri: ONE,
    sp.boxcox: POWERS,
    sp.boxcox1p: TWO,
    sp.gammainc: TWO,
    sp.gammaincc: TWO,
    sp.huber: TWO,
    sp.inv_boxcox: TWO,
    sp.kl_div: TWO,
    sp.rel_entr: TWO,
    sp.stdtr: TWO,
    sp.xlog1py: [
        np.array([0.0, 0.0, 0.0, 2.0, -2.0, inf]),
        np.array([-1.0, inf, -0.5, -1.0, inf, 1.0]),
    ],
    sp.xlogy: [np.array([0.0, 0.0, 0.0, 2.0, -2.0, inf]), np.array([0.0, inf, 0.5, 0.0, inf, 2.0])],
    sp.betainc: THREE,
    sp.betaincc: THREE,
}


@pytest.fixture(scope="module")
def found():
    """The values of all functions, computed by one program."""
    inputs = [[kg.placeholder(v.shape) for v in values] for values in FUNCTIONS.values()]
    outputs = [f(*arrays) for f, arrays in zip(FUNCTIONS, inputs, strict=True)]
    program = kg.compile([x for arrays in inputs for x in arrays], outputs)
    values = program(*(v for values in FUNCTIONS.values() for v in values))
    return dict(zip(FUNCTIONS, values, strict=True))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_ends(function, found):
    right = function(*FUNCTIONS[function])
    np.testing.assert_allclose(found[function], right, rtol=1e-9, atol=1e-300)


def test_incomplete_betas_and_gammas_of_all_sizes():
    """The error is at most the effect of rounding x."""
    rng = np.random.default_rng(1)
    a, b = 10 ** rng.uniform(-3, 8, (2, 2000))
    x = sp.betaincinv(a, b, 10 ** rng.uniform(-12, 0, 2000))
    a, b, x = (v[(x > 1e-290) & (x < 1)] for v in (a, b, x))
    small, at = 10 ** rng.uniform(-12, -0.5, x.size), 10 ** rng.uniform(-10, 0.3, x.size)
    inputs = [kg.placeholder(x.shape) for _ in range(5)]
    outputs = [sp.betainc(*inputs[:3]), sp.betaincc(*inputs[:3]), sp.gammaincc(*inputs[3:])]
    below, above, upper = kg.compile(inputs, outputs)(a, b, x, small, at)
    for found, function in ((below, sp.betainc), (above, sp.betaincc)):
        right = function(a, b, x)
        rounding = np.abs(function(a, b, np.nextafter(x, 1)) - right)
        assert np.all(np.abs(found - right) <= 1e-11 * right + 20 * rounding + 1e-290)
    np.testing.assert_allclose(upper, sp.gammaincc(small, at), rtol=1e-12)


def test_gammas_near_a_large_mean():
    """Compare with the integral of the density, also where the method changes."""

    def below(a, z):
        with mp.workdps(40):
            a, root = mp.mpf(a), mp.sqrt(mp.mpf(a))

            def density(t):
                x = a + t * root
                return mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a) + mp.log(root))

            return float(mp.quad(density, z - np.array([14, 5, 2, 1, 0.6, 0.3, 0.1, 0])))

    pairs = [(a, z) for a in (0.9e6, 1.1e6, 1e10) for z in (-30.0, -5.0, -1.0, 0.0)]
    a, z = np.array([*pairs, (1.1e6, -20.9), (1.1e6, -21.1)]).T
    x, y = kg.placeholder(a.shape), kg.placeholder(a.shape)
    value = sp.gammainc(x, y)
    at = a + z * np.sqrt(a)
    found, slope = kg.compile([x, y], [value, kg.gradients(value.sum(), y)])(a, at)
    exact = (at - a) / np.sqrt(a)  # up to rounding
    right = [below(*pair) for pair in zip(a, exact)]
    np.testing.assert_allclose(found, right, rtol=1e-9)
    density = (a - 1) * np.log1p((at - a) / a) - (at - a) - 0.5 * np.log(2 * np.pi * a)
    np.testing.assert_allclose(slope, np.exp(density - 1 / (12 * a)), rtol=1e-7)


def test_many_degrees_of_freedom():
    df, t = np.array([1e6, 1e9, 1e13, 1e16, 1e18, 1e300, inf]), -2.0
    x, y = kg.placeholder(df.shape), kg.placeholder(df.shape)
    value = sp.stdtr(x, y)
    found, slope = kg.compile([x, y], [value, kg.gradients(value.sum(), y)])(df, np.full(7, t))
    np.testing.assert_allclose(found, sp.stdtr(df, t), rtol=1e-10)
    density = np.exp(-0.5 * t * t + 0.25 * (t**4 - 2 * t**2 - 1) / df) / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(slope, density, rtol=1e-10)
