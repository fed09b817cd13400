"""Cases of families of real numbers."""

import mpmath as mp
import numpy as np
from scipy import special, stats
from tests.distributions import references as exact
from tests.distributions.cases import wrong
from tests.distributions.cases.at_random import (
    N,
    exponnorm,
    location_scale,
    positives,
    real,
    tails,
    unit,
    wide,
)
from tests.distributions.cases.case import Case, Random
from tests.distributions.cases.expected import by_scipy, half_student, numbers, weibull
from tests.distributions.cases.points import FAR, LOCATED, POSITIVES, UNIT
from tests.distributions.scipys import HalfT, Pareto, SkewNormal, VonMises

__all__ = ["REALS"]


REALS = {
    "normal": Case(
        law=stats.norm,
        sets=[(1.5, 2.0), (-3.0, 0.1)],
        random=Random("rrp", location_scale, tails),
        density=exact.normal,
        points=("fff", LOCATED),
        moment_sets=[(1.5, 2.0), (-1e8, 1e-3)],
        draws=[(1.0, 2.0)],
        parameters=wrong.placed("mean", "sd"),
    ),
    "half_normal": Case(
        law=lambda sd: stats.halfnorm(0, sd),
        sets=[(2.0,), (1e-3,)],
        random=Random("pp", lambda rng: (wide(rng),), lambda rng, sd: np.abs(tails(rng, 0.0, sd))),
        density=lambda x, sd: mp.log(2) + exact.normal(x, 0, sd),
        points=("ff", [*POSITIVES, (0.0, 1.0)]),
        moment_sets=[(2.0,), (1e-3,)],
        draws=[(2.0,)],
        parameters={"sd": (2.0, wrong.SCALE)},
    ),
    "cauchy": Case(
        law=stats.cauchy,
        sets=[(1.0, 2.0)],
        random=Random("rrp", location_scale, tails),
        density=lambda x, m, s: -mp.log1p(((x - m) / s) ** 2) - mp.log(mp.pi * s),
        points=("fff", LOCATED + FAR),
        moment_sets=[(1.0, 2.0)],
        draws=[(1.0, 2.0)],
        parameters=wrong.placed("location", "scale"),
    ),
    "half_cauchy": Case(
        law=lambda scale: stats.halfcauchy(0, scale),
        sets=[(2.0,)],
        random=Random(
            "pp", lambda rng: (wide(rng),), lambda rng, scale: np.abs(tails(rng, 0.0, scale))
        ),
        density=lambda x, s: mp.log(2) - mp.log1p((x / s) ** 2) - mp.log(mp.pi * s),
        points=("ff", [*POSITIVES, (0.0, 1.0), (1e154, 1.0), (1e300, 1e-5), (1e200, 1e-200)]),
        moment_sets=[(2.0,)],
        draws=[(2.0,)],
        parameters={"scale": (2.0, wrong.SCALE)},
    ),
    "student": Case(
        law=stats.t,
        sets=[(3.0, 1.0, 2.0), (0.5, 0.0, 1.0), (200.0, 0.0, 1.0)],
        random=Random(
            "rprp",
            lambda rng: (wide(rng, -1, 4), *location_scale(rng)),
            lambda rng, df, mu, sigma: tails(rng, mu, sigma),
        ),
        density=exact.student,
        points=(
            "ffff",
            [
                *[(x, 3.0, mu, sigma) for x, mu, sigma in [*LOCATED[:4], *LOCATED[5:7], *FAR[:3]]],
                *[(0.3, df, 0.1, 2.0) for df in (0.1, 33.0, 1e5, 1e10)],
            ],
        ),
        moment_sets=[
            (3.0, 1.0, 2.0),
            (1.5, 0.0, 1.0),
            (2.0, -1.0, 1.0),
            (2.001, 1.0, 3.0),
            (1e7, 0.0, 2.0),
        ],
        draws=[(2.5, 1.0, 2.0), (1e4, 0.0, 1.0)],
        parameters={"df": (3.0, wrong.POSITIVE), **wrong.placed("mu", "sigma")},
    ),
    "lognormal": Case(
        law=lambda m, s: stats.lognorm(s, scale=np.exp(m)),
        sets=[(0.5, 0.75)],
        random=Random("prp", lambda rng: (rng.normal(size=N) * 3, wide(rng, -2, 1)), positives),
        density=lambda x, m, s: exact.normal(mp.log(x), m, s) - mp.log(x),
        points=(
            "fff",
            [
                (0.7, 0.1, 2.0),
                (1e-300, 0.0, 1.0),
                (1e300, 1.0, 0.5),
                (1.0, 0.0, 1e-6),
                (2.0, 700.0, 3.0),
            ],
        ),
        moment_sets=[(0.5, 0.75), (-3.0, 1e-5), (1.0, 8.0)],
        moments=numbers(
            lambda m, s: mp.exp(m + s * s / 2),
            lambda m, s: (mp.exp(s * s) - 1) * mp.exp(2 * m + s * s),
        ),
        draws=[(0.5, 0.7)],
        parameters=wrong.placed("meanlog", "sdlog"),
    ),
    "exponential": Case(
        law=lambda rate: stats.expon(scale=1 / rate),
        sets=[(0.5,), (1e4,)],
        random=Random("pp", lambda rng: (wide(rng),), positives),
        density=lambda x, rate: mp.log(rate) - rate * x,
        points=(
            "ff",
            [(0.7, 1.3), (0.0, 2.0), (1e-300, 1e-300), (1e300, 1e-300), (800.0, 2.0)],
        ),
        moment_sets=[(0.5,), (1e4,)],
        draws=[(2.0,)],
        parameters={"rate": (2.0, wrong.POSITIVE)},
    ),
    "gamma": Case(
        law=lambda a, rate: stats.gamma(a, scale=1 / rate),
        sets=[(2.5, 1.5), (0.1, 3.0), (4000.0, 2.0)],
        random=Random("ppp", lambda rng: (wide(rng), wide(rng)), positives),
        density=exact.gamma_density,
        points=(
            "fff",
            [
                (0.7, 2.0, 1.3),
                (0.7, 1.0, 1.3),
                (1e-300, 1.0, 2.0),
                (1e-200, 0.1, 2.0),
                (1e200, 3.0, 1e-200),
                (9.9, 1e-8, 0.1),
                (1.0, 1e10, 1e10),
                (1.00001, 1e10, 1e10),
                (3e-5, 2e12, 1e17),
            ],
        ),
        moment_sets=[(2.5, 1.5), (1e-8, 3.0), (1e9, 1e-3)],
        draws=[(0.3, 2.0), (1.0, 2.0), (3.5, 2.0), (1e6, 1.0)],
        parameters={"alpha": (2.0, wrong.POSITIVE), "rate": (2.0, wrong.POSITIVE)},
    ),
    "chi_squared": Case(
        law=stats.chi2,
        sets=[(4.5,), (0.2,)],
        random=Random("pp", lambda rng: (wide(rng),), positives),
        density=lambda x, df: exact.gamma_density(x, df / 2, mp.mpf(1) / 2),
        points=(
            "ff",
            [(0.7, 3.0), (1e-200, 0.1), (1e50, 3.0), (9.9, 1e-8), (2e10, 2e10), (2.00001e10, 2e10)],
        ),
        moment_sets=[(4.5,), (1e-3,)],
        draws=[(3.0,)],
        parameters={"df": (2.0, wrong.POSITIVE)},
    ),
    "weibull": Case(
        law=lambda a, b: stats.weibull_min(a, scale=b),
        sets=[(1.5, 2.0), (0.3, 1.0)],
        random=Random(
            "ppp",
            lambda rng: (wide(rng, -2, 1), wide(rng)),
            lambda rng, a, b: b * rng.uniform(0, 5, N) ** (1 / a),
        ),
        density=exact.weibull,
        points=(
            "fff",
            [
                (0.7, 2.0, 1.3),
                (0.7, 1.0, 1.3),
                (1e-200, 0.1, 2.0),
                (1e-300, 2.0, 1e300),
                (1e200, 3.0, 1e200),
                (9.9, 1e-8, 0.1),
                (1.00000001, 1e8, 1.0),
                (30.0, 2.0, 1.0),
            ],
        ),
        moment_sets=[(1.5, 2.0), (0.1, 1.0), (19.0, 2.0), (21.0, 2.0), (1e3, 1.0), (1e7, 3.0)],
        moments=numbers(lambda *p: weibull(*p)[0], lambda *p: weibull(*p)[1]),
        draws=[(1.5, 2.0)],
        parameters={"alpha": (2.0, wrong.POSITIVE), "scale": (2.0, wrong.POSITIVE)},
    ),
    "pareto": Case(
        law=lambda a, b: stats.pareto(a, scale=b),
        exact_law=Pareto,
        sets=[(2.5, 3.0), (0.5, 1.0)],
        random=Random(
            "ppp",
            lambda rng: (wide(rng), wide(rng)),
            lambda rng, a, b: b * (1.1 + wide(rng, -3, 6)),
            lambda x, a, b: stats.expon.logpdf(np.log(x / b), scale=1 / a) - np.log(x),
        ),
        density=lambda x, a, b: mp.log(a) + a * mp.log(b) - (a + 1) * mp.log(x),
        points=(
            "fff",
            [
                (0.7, 2.0, 0.3),
                (1e200, 0.1, 1e-200),
                (1e300, 1e-8, 1e299),
                (1.0 + 1e-9, 1e10, 1.0),
                (2e-300, 3.0, 1e-300),
            ],
        ),
        moment_sets=[(2.5, 3.0), (1.5, 2.0), (0.5, 1.0), (1.0, 1.0), (1e5, 2.0)],
        draws=[(2.5, 3.0)],
        parameters={"a": (2.0, wrong.POSITIVE), "b": (2.0, wrong.POSITIVE)},
    ),
    "gumbel": Case(
        law=stats.gumbel_r,
        sets=[(1.0, 2.0)],
        random=Random("rrp", location_scale, lambda rng, m, s: m + s * rng.uniform(-6, 60, N)),
        density=exact.gumbel,
        points=(
            "fff",
            [p for p in LOCATED if (p[0] - p[1]) / p[2] > -600]
            + [(800.0, 0.0, 1.0), (-600.0, 1.0, 1.0), (1e200, 3.0, 1e190)],
        ),
        moment_sets=[(1.0, 2.0)],
        draws=[(1.0, 2.0)],
        parameters=wrong.placed("location", "scale"),
    ),
    "half_student": Case(
        law=HalfT,
        sets=[(3.0, 2.0), (0.5, 1.0)],
        random=Random(
            "ppp",
            lambda rng: (wide(rng, -1, 4), wide(rng)),
            lambda rng, df, sigma: np.abs(tails(rng, 0.0, sigma)),
            lambda x, df, sigma: stats.t.logpdf(x, df, 0, sigma) + np.log(2),
        ),
        density=lambda x, df, sigma: mp.log(2) + exact.student(x, df, 0, sigma),
        points=(
            "fff",
            [
                *[(x, 3.0, sigma) for x, sigma in [*POSITIVES[:1], *POSITIVES[2:], (0.0, 1.0)]],
                *[(0.3, df, 2.0) for df in (0.1, 33.0, 1e5, 1e10)],
            ],
        ),
        moment_sets=[(3.0, 2.0), (2.001, 1.0), (60.0, 3.0), (1e8, 0.5)],
        moments=numbers(lambda *p: half_student(*p)[0], lambda *p: half_student(*p)[1]),
        draws=[(2.5, 2.0)],
        parameters={"df": (3.0, wrong.POSITIVE), "sigma": (2.0, wrong.SCALE)},
    ),
    "inverse_gamma": Case(
        law=lambda a, b: stats.invgamma(a, scale=b),
        sets=[(2.5, 1.5), (0.5, 3.0)],
        random=Random("ppp", lambda rng: (wide(rng), wide(rng)), positives),
        density=lambda x, a, b: exact.gamma_density(1 / x, a, b) - 2 * mp.log(x),
        points=(
            "fff",
            [
                (0.7, 2.0, 1.3),
                (1.4, 1.0, 1.3),
                (1e-200, 0.1, 2e-200),
                (1e200, 3.0, 1e200),
                (9.9, 1e-8, 0.1),
                (1.0, 1e10, 1e10),
                (1.00001, 1e10, 1e10),
            ],
        ),
        moment_sets=[(2.5, 1.5), (1.5, 3.0), (0.8, 1.0), (2.0, 1.0), (1e6, 1e5)],
        draws=[(2.5, 3.0)],
        parameters={"alpha": (2.0, wrong.POSITIVE), "beta": (2.0, wrong.POSITIVE)},
    ),
    "beta": Case(
        law=stats.beta,
        sets=[(2.5, 1.5), (0.2, 0.3), (300.0, 700.0)],
        random=Random("upp", lambda rng: (wide(rng), wide(rng)), lambda rng, a, b: unit(rng)),
        density=exact.beta,
        points=(
            "fff",
            [
                *[(x, a, b) for x in UNIT for a, b in [(2.0, 3.0), (1.0, 1.0), (0.1, 7.0)]],
                (0.5, 1e10, 1e10),
                (0.50001, 1e10, 1e10),
                (0.25, 1e9, 3e9),
                (1e-9, 3.0, 3e9),
                (0.4, 1e-8, 1e-8),
            ],
        ),
        moment_sets=[(2.5, 1.5), (1e-5, 3.0), (3e8, 7e8)],
        draws=[(0.5, 3.0), (20.0, 30.0)],
        parameters={"shape1": (2.0, wrong.POSITIVE), "shape2": (2.0, wrong.POSITIVE)},
    ),
    "uniform": Case(
        law=lambda a, b: stats.uniform(a, b - a),
        sets=[(-1.0, 3.0)],
        random=Random(
            "nrr",
            lambda rng: (lambda a: (a, a + wide(rng)))(real(rng)),
            lambda rng, a, b: a + (b - a) * rng.uniform(0.1, 0.9, N),
        ),
        density=exact.uniform,
        points=("-ff", [(0.5, 0.0, 1.0), (0.0, 0.0, 1.0), (1.0, 0.0, 1.0), (1e200, -1e200, 1e201)]),
        moment_sets=[(-1.0, 3.0), (1e6, 1e6 + 1)],
        draws=[(2.0, 5.0)],
        parameters={"min": (0.5, [*wrong.NOT_FINITE, 3.0]), "max": (2.0, [*wrong.NOT_FINITE, 0.0])},
    ),
    "laplace": Case(
        law=stats.laplace,
        sets=[(1.0, 2.0)],
        random=Random(
            "rrp",
            location_scale,
            tails,
            lambda x, m, s: stats.expon.logpdf(np.abs(x - m), scale=s) - np.log(2),
        ),
        density=lambda x, m, s: -abs(x - m) / s - mp.log(2 * s),
        points=("fff", [p for p in LOCATED if p[0] != p[1]]),
        moment_sets=[(1.0, 2.0)],
        draws=[(1.0, 2.0)],
        parameters=wrong.placed("mu", "sigma"),
    ),
    "logistic": Case(
        law=stats.logistic,
        sets=[(1.0, 2.0)],
        random=Random("rrp", location_scale, tails),
        density=exact.logistic,
        points=("fff", [*LOCATED[:4], *LOCATED[5:], (800.0, 0.0, 1.0), (-800.0, 0.0, 1.0)]),
        moment_sets=[(1.0, 2.0)],
        draws=[(1.0, 2.0)],
        parameters=wrong.placed("location", "scale"),
    ),
    "exponentially_modified_normal": Case(
        law=lambda mean, sd, rate: stats.exponnorm(1 / (sd * rate), mean, sd),
        sets=[(1.0, 2.0, 1.6), (0.0, 1.0, 0.1)],
        random=Random(
            "rrpp",
            lambda rng: (*location_scale(rng), wide(rng, -2, 2)),
            lambda rng, m, s, rate: m + s * rng.normal(size=N) * 2 + rng.exponential(1 / rate),
            lambda x, m, s, rate: exponnorm((x - m) / s, s * rate) - np.log(s),
        ),
        density=exact.exponentially_modified_normal,
        points=(
            "ffff",
            [(0.3, 0.1, 2.0, r) for r in (1e-5, 1.3, 20.0)]
            + [(-20.0, 0.0, 1.0, 3.0), (90.0, 0.0, 1.0, 3.0), (7.0, 6.5, 0.01, 0.3)],
        ),
        moment_sets=[(1.0, 2.0, 1.6), (0.0, 1.0, 1e-3)],
        draws=[(1.0, 2.0, 0.8)],
        parameters={**wrong.placed("mean", "sd"), "rate": (2.0, wrong.POSITIVE)},
    ),
    "von_mises": Case(
        law=lambda mu, kappa: stats.vonmises(kappa, mu),
        exact_law=VonMises,
        sets=[(0.0, 1.0), (1.2, 0.3), (-3.0, 40.0), (8.0, 300.0)],
        random=Random(
            "rrp",
            lambda rng: (rng.uniform(-3, 3, N), wide(rng, -2, 4)),
            lambda rng, mu, kappa: rng.uniform(-np.pi, np.pi, N),
            lambda x, mu, kappa: (
                kappa * (np.cos(x - mu) - 1) - np.log(2 * np.pi * special.i0e(kappa))
            ),
        ),
        density=exact.von_mises,
        points=(
            "fff",
            [
                (0.3, 0.1, 2.0),
                (3.0, -3.0, 0.01),
                (1e-3, 0.0, 900.0),
                (1e-3, 2e-3, 1100.0),
                (1e-6, 0.0, 1e9),
                (3.0, 50.0, 1e-9),
            ],
        ),
        moment_sets=[(0.0, 1.0), (1.2, 0.3), (-3.0, 40.0), (8.0, 1000.0), (-1.0, 2e-9)],
        moments=by_scipy(VonMises),
        draws=[(0.0, 2.5), (0.0, 1e-3), (0.0, 400.0)],
        parameters=wrong.placed("mu", "kappa"),
    ),
    "f": Case(
        law=stats.f,
        sets=[(4.5, 3.0), (0.5, 30.0)],
        random=Random("ppp", lambda rng: (wide(rng, -1, 2), wide(rng, -1, 2)), positives),
        density=exact.f,
        points=(
            "fff",
            [
                (0.7, 3.0, 5.0),
                (0.7, 2.0, 1.3),
                (1e-200, 0.1, 2.0),
                (1e200, 3.0, 0.5),
                (1.0001, 1e8, 3e8),
                (1.0, 3.0, 1e10),
                (9.9, 1e-8, 0.1),
            ],
        ),
        moment_sets=[(4.5, 9.0), (2.0, 3.0), (3.0, 1.5), (3.0, 4.001), (1e6, 1e7)],
        draws=[(4.5, 10.0)],
        parameters={"df1": (2.0, wrong.POSITIVE), "df2": (2.0, wrong.POSITIVE)},
    ),
    "wald": Case(
        law=lambda mu, lam: stats.invgauss(mu / lam, scale=lam),
        sets=[(1.5, 2.5), (1.0, 100.0)],
        random=Random(
            "ppp",
            lambda rng: (wide(rng, -2, 2), wide(rng, -2, 2)),
            lambda rng, mu, lam: mu * wide(rng, -2, 2),
        ),
        density=exact.wald,
        points=(
            "fff",
            [
                (0.7, 1.3, 2.0),
                (1e-5, 1.0, 2.0),
                (1e100, 1e99, 1e98),
                (1.00001, 1.0, 1e10),
                (30.0, 1.0, 3.0),
                (1e-150, 1e-149, 1e-160),
            ],
        ),
        moment_sets=[(1.5, 2.5), (1e4, 1e-2)],
        draws=[(1.5, 2.5)],
        parameters={"mu": (2.0, wrong.POSITIVE), "lam": (2.0, wrong.POSITIVE)},
    ),
    "asymmetric_laplace": Case(
        law=lambda mu, sigma, kappa: stats.laplace_asymmetric(kappa, mu, sigma),
        sets=[(1.0, 2.0, 1.6)],
        random=Random(
            "rrpp",
            lambda rng: (*location_scale(rng), wide(rng, -1, 1)),
            lambda rng, mu, sigma, kappa: tails(rng, mu, sigma),
        ),
        density=exact.asymmetric_laplace,
        points=(
            "ffff",
            [(*p, k) for p in LOCATED if p[0] != p[1] for k in (1.0, 0.3, 20.0)],
        ),
        moment_sets=[(1.0, 2.0, 1.6), (0.0, 1.0, 1e-3)],
        draws=[(1.0, 2.0, 1.6)],
        parameters={**wrong.placed("mu", "sigma"), "kappa": (2.0, wrong.POSITIVE)},
    ),
    "skew_normal": Case(
        law=lambda location, scale, alpha: stats.skewnorm(alpha, location, scale),
        exact_law=SkewNormal,
        sets=[(1.0, 2.0, 1.6), (0.0, 1.0, -5.0), (0.0, 1.0, 0.0)],
        random=Random(
            "rrpp",
            lambda rng: (*location_scale(rng), wide(rng, -1, 1)),
            lambda rng, m, s, a: m + s * (rng.normal(size=N) + a / np.hypot(a, 1)),
        ),
        density=exact.skew_normal,
        points=(
            "ffff",
            [(*p, k) for p in LOCATED if abs(p[0] - p[1]) < 30 * p[2] for k in (0.0, 3.0, -20.0)]
            + [(-30.0, 0.0, 1.0, 3.0), (30.0, 0.0, 1.0, 3.0)],
        ),
        moment_sets=[(1.0, 2.0, 1.6), (0.0, 1.0, -1e9), (0.0, 1.0, 0.0)],
        draws=[(1.0, 2.0, -3.0)],
        parameters={**wrong.placed("location", "scale"), "alpha": (0.5, wrong.NOT_FINITE)},
    ),
    "truncated_normal": Case(
        law=lambda mean, sd, low, high: stats.truncnorm(
            (low - mean) / sd, (high - mean) / sd, mean, sd
        ),
        draws=[
            (0.0, 1.0, -1.0, 3.0),
            (1.0, 2.0, -np.inf, np.inf),
            (1.0, 2.0, 0.0, np.inf),
            (0.0, 1.0, -np.inf, -6.0),
            (0.0, 1.0, 20.0, 21.0),
            (0.0, 1.0, 50.0, np.inf),
        ],
        parameters={
            "mean": (0.5, wrong.NOT_FINITE),
            "sd": (2.0, wrong.POSITIVE),
            "lower": (-1.0, [wrong.NAN, wrong.INF, 3.0]),
            "upper": (1.0, [wrong.NAN, -wrong.INF, -3.0]),
        },
    ),
}
