"""Cases of families of whole numbers and of labels."""

from functools import partial

import mpmath as mp
import numpy as np
from scipy import special, stats
from tests.distributions import references as exact
from tests.distributions.cases import chances, wrong
from tests.distributions.cases.at_random import (
    N,
    beta_binomial_parameters,
    binomial_logit,
    binomial_parameters,
    by_mean,
    counts,
    hurdle,
    hypergeometric_parameters,
    inflated,
    mean_parameters,
    prob_parameters,
    real,
    unit,
    up_to,
    wide,
)
from tests.distributions.cases.case import Case, Random
from tests.distributions.cases.expected import CUTS, SHARES, by_scipy, by_table, numbers
from tests.distributions.cases.points import ETA, UNIT, ZEROS
from tests.distributions.scipys import (
    BetaBinomial,
    Zeros,
    ordered,
)

import kinetograph as kg

__all__ = ["WHOLES"]


WHOLES = {
    "bernoulli": Case(
        law=stats.bernoulli,
        sets=[(0.3,)],
        random=Random("nu", lambda rng: (unit(rng),), lambda rng, p: rng.integers(0, 2, N)),
        density=lambda x, p: exact.log(p) if x == 1 else exact.log1m(p),
        points=(
            "-f",
            [*[(x, p) for p in UNIT for x in (0.0, 1.0)], (0.0, 0.0), (1.0, 1.0), (0.0, 1e-320)],
        ),
        moment_sets=[(0.3,), (0.0,), (1.0,)],
        counts=((0.3,), lambda p: np.array([1 - p, p])),
        draws=[(0.3,)],
        parameters={"prob": (0.5, wrong.SHARE)},
    ),
    "bernoulli_logit": Case(
        law=lambda t: stats.bernoulli(special.expit(t)),
        sets=[(-0.7,)],
        make=lambda t: kg.bernoulli(logit=t),
        random=Random(
            "nr",
            lambda rng: (real(rng),),
            lambda rng, t: rng.integers(0, 2, N),
            lambda x, t: special.log_expit(np.where(x == 1, t, -t)),
        ),
        density=exact.bernoulli_logit,
        points=("-f", [(x, t) for t in ETA for x in (0.0, 1.0)]),
        moment_sets=[(-0.7,), (40.0,), (-300.0,)],
        moments=numbers(
            lambda t: 1 / (1 + mp.exp(-t)), lambda t: 1 / (1 + mp.exp(-t)) / (1 + mp.exp(t))
        ),
        counts=((-0.7,), lambda t: np.array([chances.expit(-t), chances.expit(t)])),
        draws=[(-0.8,)],
    ),
    "binomial": Case(
        law=stats.binom,
        sets=[(40, 0.3), (2000, 0.999)],
        random=Random("nnu", binomial_parameters, up_to),
        density=exact.binomial,
        points=(
            "--f",
            [
                *[(x, 7.0, p) for p in UNIT for x in (0.0, 3.0, 7.0)],
                (0.0, 7.0, 0.0),
                (7.0, 7.0, 1.0),
                (0.0, 0.0, 0.3),
                (5e8, 1e9, 0.5),
                (3e8, 1e9, 0.30001),
                (0.0, 1e9, 1e-9),
                (1e9, 1e9, 1 - 1e-9),
                (7.0, 1e12, 1e-11),
            ],
        ),
        moment_sets=[(40, 0.3), (10**9, 1e-9), (0, 0.5)],
        counts=((6.0, 0.3), chances.binomial),
        draws=[
            (1, 0.3),
            (30, 0.2),
            (20, 0.5),
            (100, 0.9),
            (100, 0.7),
            (10**6, 0.25),
            (10**9, 0.5),
            (10**9, 2.0**-28),
        ],
        parameters={"size": (5, [-1, *wrong.HUGE]), "prob": (0.5, wrong.SHARE)},
    ),
    "binomial_logit": Case(
        law=lambda n, t: stats.binom(n, special.expit(t)),
        sets=[(40, -0.7)],
        make=lambda n, t: kg.binomial(n, logit=t),
        random=Random(
            "nnr",
            lambda rng: (np.floor(wide(rng, 0, 4)).astype(int), real(rng)),
            up_to,
            binomial_logit,
        ),
        density=lambda x, n, t: exact.binomial_by_logs(
            x, n, exact.log_logistic(t), exact.log_logistic(-t)
        ),
        points=(
            "--f",
            [
                *[(x, 7.0, t) for t in ETA for x in (0.0, 3.0, 7.0)],
                (0.0, 0.0, 2.0),
                (5e8, 1e9, 1e-5),
                (3e8, 1e9, -0.847),
                (7.0, 1e12, -25.0),
                (7.0, 1e12, -800.0),
            ],
        ),
        moment_sets=[(40, -0.7)],
        counts=((6.0, -0.7), lambda n, t: chances.binomial(n, chances.expit(t))),
        draws=[(30, -1.0)],
    ),
    "poisson": Case(
        law=stats.poisson,
        sets=[(4.0,), (1e4,)],
        random=Random("np", lambda rng: (wide(rng),), counts),
        density=exact.poisson,
        points=(
            "-f",
            [
                *[
                    (x, rate)
                    for x in (0.0, 1.0, 3.0, 40.0)
                    for rate in (1e-300, 1e-5, 1.0, 3.0, 700.0)
                ],
                (0.0, 0.0),
                (1e12, 1e12),
                (1e12, 1.00001e12),
                (1e6, 1e12),
                (1e12, 1e6),
                (12.0, 12.0 + 1e-9),
            ],
        ),
        moment_sets=[(4.0,), (1e9,)],
        counts=((2.7,), chances.poisson),
        draws=[(0.01,), (3.0,), (9.99,), (10.0,), (123.4,), (1e6,)],
        parameters={"rate": (3.0, [-1.0, 1.1e18, *wrong.NOT_FINITE])},
    ),
    "poisson_log_rate": Case(
        law=lambda t: stats.poisson(np.exp(t)),
        sets=[(1.5,)],
        make=lambda t: kg.poisson(log_rate=t),
        random=Random("nr", lambda rng: (rng.uniform(-9, 9, N),), counts),
        density=lambda x, t: x * t - mp.exp(t) - mp.loggamma(x + 1),
        points=(
            "-f",
            [
                *[(x, t) for x in (0.0, 3.0, 40.0) for t in (-800.0, -40.0, 0.0, 1.0, 40.0, 700.0)],
                (1e12, 27.631),
                (1e12, 27.6311),
                (1e12, -800.0),
            ],
        ),
        moment_sets=[(1.5,)],
        counts=((0.9,), lambda t: chances.poisson(np.exp(t))),
        draws=[(1.2,)],
    ),
    "negative_binomial": Case(
        law=stats.nbinom,
        sets=[(2.5, 0.4), (100.0, 0.01)],
        random=Random(
            "npu", lambda rng: (wide(rng, -2, 3), special.expit(rng.uniform(-9, 9, N))), counts
        ),
        density=exact.negative_binomial,
        points=(
            "-ff",
            [
                *[(x, 2.5, p) for p in UNIT for x in (0.0, 3.0, 40.0)],
                (0.0, 2.0, 1.0),
                (3.0, 1e10, 1 - 3e-10),
                (10000.0, 1e8, 0.9999),
                (1e9, 1e9, 0.5),
                (3.0, 1e-8, 0.3),
            ],
        ),
        moment_sets=[(2.5, 0.4), (1e6, 0.999)],
        counts=((2.5, 0.6), chances.negative_binomial),
        draws=[(0.3, 0.1), (3.5, 0.4), (200.0, 0.9)],
        parameters={
            "size": (2.5, wrong.POSITIVE),
            "prob": (0.5, [0.0, *wrong.SHARE]),
        },
    ),
    "geometric": Case(
        law=lambda p: stats.geom(p, loc=-1),
        sets=[(0.3,), (1e-6,)],
        random=Random(
            "nu", lambda rng: (unit(rng),), counts, lambda x, p: stats.nbinom.logpmf(x, 1, p)
        ),
        density=lambda x, p: exact.log(p) + exact._power(x, exact.log1m(p)),
        points=("-f", [*[(x, p) for p in UNIT for x in (0.0, 3.0, 40.0)], (0.0, 1.0)]),
        moment_sets=[(0.3,), (1e-9,), (1.0,)],
        counts=((0.6,), lambda p: p * (1 - p) ** chances.MANY),
        draws=[(0.3,), (1e-5,)],
        parameters={"prob": (0.5, [0.0, *wrong.SHARE])},
    ),
    "discrete_uniform": Case(
        law=lambda a, b: stats.randint(a, b + 1),
        sets=[(-3, 17), (5, 5)],
        random=Random(
            "nnn",
            lambda rng: (lambda a: (a, a + counts(rng)))(rng.integers(-50, 50, N)),
            lambda rng, a, b: rng.integers(a, b + 1),
        ),
        density=lambda x, low, high: -mp.log(high - low + 1),
        points=("---", [(3.0, -5.0, 9.0), (0.0, 0.0, 0.0), (1e9, 0.0, 1e12)]),
        moment_sets=[(-3, 17), (5, 5)],
        counts=((0.0, 5.0), lambda a, b: np.full(6, 1 / 6)),
        draws=[(-3, 4)],
        parameters={"min": (-1, [4, *wrong.HUGE]), "max": (3, [-2, *wrong.HUGE])},
    ),
    "beta_binomial": Case(
        law=stats.betabinom,
        exact_law=BetaBinomial,
        sets=[(40, 0.7, 2.5), (300, 20.0, 30.0), (50, 0.3, 0.6)],
        random=Random("nnpp", beta_binomial_parameters, up_to),
        density=exact.beta_binomial,
        points=(
            "--ff",
            [
                *[(x, 7.0, a, b) for x in (0.0, 3.0, 7.0) for a, b in [(2.0, 3.0), (1e-5, 7.0)]],
                (0.0, 0.0, 2.0, 3.0),
                (5e8, 1e9, 2.0, 2.0),
                (3e8, 1e9, 3e7, 7e7),
                (3.0, 10.0, 3e8, 7e8),
                (1e9, 1e9, 0.5, 0.5),
            ],
        ),
        moment_sets=[(40, 0.7, 2.5), (300, 1e6, 2e6)],
        counts=((6.0, 0.7, 2.5), chances.beta_binomial),
        draws=[(30, 0.7, 2.5)],
        parameters={
            "size": (5, [-1, *wrong.HUGE]),
            "alpha": (2.0, wrong.POSITIVE),
            "beta": (2.0, wrong.POSITIVE),
        },
    ),
    "hypergeometric": Case(
        law=lambda m, n, k: stats.hypergeom(m + n, m, k),
        sets=[(30, 25, 40), (500, 2000, 300)],
        random=Random(
            "nnnn",
            hypergeometric_parameters,
            lambda rng, m, n, k: rng.integers(np.maximum(0, k - n), np.minimum(m, k) + 1),
        ),
        density=lambda x, m, n, k: (
            exact.log_choose(m, x) + exact.log_choose(n, k - x) - exact.log_choose(m + n, k)
        ),
        points=(
            "----",
            [
                (3.0, 10.0, 20.0, 8.0),
                (0.0, 0.0, 0.0, 0.0),
                (8.0, 10.0, 20.0, 8.0),
                (5e8, 1e9, 1e9, 1e9),
                (3e8, 1e9, 2e9, 9.01e8),
                (0.0, 5.0, 1e12, 1e11),
            ],
        ),
        moment_sets=[(30, 25, 40), (10**6, 3, 10**5), (5, 0, 3)],
        counts=((5.0, 6.0, 4.0), chances.hypergeometric),
        draws=[(30, 25, 40), (300, 2500, 40), (10**6, 3 * 10**6, 5000), (5000, 3000, 7000)],
        parameters={
            "m": (5, [-1, *wrong.HUGE]),
            "n": (6, [-1, *wrong.HUGE]),
            "k": (4, [-1, 12, *wrong.HUGE]),
        },
    ),
    "negative_binomial_mean": Case(
        law=lambda m, d: stats.nbinom(1 / d, 1 / (1 + m * d)),
        sets=[(2.5, 0.4), (300.0, 0.01)],
        make=lambda mean, dispersion: kg.negative_binomial(mean=mean, dispersion=dispersion),
        random=Random(
            "npp", mean_parameters, counts, lambda x, m, d: stats.nbinom.logpmf(x, *by_mean(m, d))
        ),
        density=exact.negative_binomial_mean,
        points=(
            "-ff",
            [
                *[
                    (x, m, d)
                    for x in (0.0, 3.0, 40.0)
                    for m, d in [(2.5, 0.4), (1e-9, 1.0), (1e5, 3.0)]
                ],
                (1e9, 1e9, 0.5),
                (1e9, 1.00001e9, 1e-7),
                (3.0, 4.0, 1e4),
            ],
        ),
        moment_sets=[(2.5, 0.4), (300.0, 1e-8)],
        moments=numbers(lambda m, d: m, lambda m, d: m + d * m * m),
        counts=((1.7, 0.4), chances.negative_binomial_mean),
        draws=[(5.0, 0.4)],
    ),
    "zero_inflated_poisson": Case(
        law=lambda z, m: Zeros(z, stats.poisson(m)),
        sets=[(0.3, 4.0)],
        random=Random(
            "nup",
            lambda rng: (unit(rng), wide(rng)),
            counts,
            lambda x, z, m: inflated(x, z, stats.poisson.logpmf(x, m)),
        ),
        density=exact.inflated(exact.poisson),
        points=(
            "-ff",
            [(x, z, m) for z in (0.0, *ZEROS) for x in (0.0, 3.0) for m in (1e-9, 2.5, 40.0)]
            + [(0.0, 1.0, 2.0), (0.0, 0.3, 800.0)],
        ),
        moment_sets=[(0.3, 4.0)],
        counts=((0.3, 2.7), chances.inflated(chances.poisson)),
        draws=[(0.3, 4.0)],
        parameters={"zero": (0.5, wrong.SHARE), "rate": (3.0, [-1.0, 1.1e18, *wrong.NOT_FINITE])},
    ),
    "zero_inflated_negative_binomial": Case(
        law=lambda z, n, p: Zeros(z, stats.nbinom(n, p)),
        sets=[(0.3, 2.5, 0.4)],
        random=Random(
            "nupu",
            lambda rng: (unit(rng), *prob_parameters(rng)),
            counts,
            lambda x, z, n, p: inflated(x, z, stats.nbinom.logpmf(x, n, p)),
        ),
        density=exact.inflated(exact.negative_binomial),
        points=(
            "-fff",
            [(x, z, 2.5, p) for z in (0.0, *ZEROS) for x in (0.0, 3.0) for p in (1e-5, 0.3, 0.999)],
        ),
        moment_sets=[(0.3, 2.5, 0.4)],
        counts=((0.3, 2.5, 0.6), chances.inflated(chances.negative_binomial)),
        draws=[(0.3, 2.5, 0.4)],
        parameters={
            "zero": (0.5, wrong.SHARE),
            "size": (2.5, wrong.POSITIVE),
            "prob": (0.5, [0.0, *wrong.SHARE]),
        },
    ),
    "zero_inflated_negative_binomial_mean": Case(
        law=lambda z, m, d: Zeros(z, stats.nbinom(1 / d, 1 / (1 + m * d))),
        sets=[(0.3, 2.5, 0.4)],
        make=lambda z, m, d: kg.zero_inflated_negative_binomial(z, mean=m, dispersion=d),
        random=Random(
            "nupp",
            lambda rng: (unit(rng), *mean_parameters(rng)),
            counts,
            lambda x, z, m, d: inflated(x, z, stats.nbinom.logpmf(x, *by_mean(m, d))),
        ),
        density=exact.inflated(exact.negative_binomial_mean),
        points=(
            "-fff",
            [(x, z, m, 0.4) for z in (0.0, *ZEROS) for x in (0.0, 3.0) for m in (1e-3, 2.5, 1e4)],
        ),
        moment_sets=[(0.3, 2.5, 0.4)],
        counts=((0.3, 1.7, 0.4), chances.inflated(chances.negative_binomial_mean)),
        draws=[(0.3, 5.0, 0.4)],
    ),
    "hurdle_poisson": Case(
        law=lambda z, m: Zeros(z, stats.poisson(m), True),
        sets=[(0.3, 4.0)],
        random=Random(
            "nup",
            lambda rng: (unit(rng), wide(rng)),
            counts,
            lambda x, z, m: hurdle(x, z, stats.poisson.logpmf(x, m), np.log(-np.expm1(-m))),
        ),
        density=exact.hurdle(exact.poisson),
        points=(
            "-ff",
            [(x, z, m) for z in ZEROS for x in (0.0, 1.0, 3.0) for m in (1e-3, 2.5, 40.0)]
            + [(0.0, 1.0, 2.0), (3.0, 0.0, 2.0)],
        ),
        moment_sets=[(0.3, 4.0), (0.01, 1e-6), (0.5, 300.0)],
        moments=numbers(
            lambda z, m: (1 - z) * m / -mp.expm1(-m),
            lambda z, m: (1 - z) * (m + m * m) / -mp.expm1(-m) - ((1 - z) * m / -mp.expm1(-m)) ** 2,
        ),
        counts=((0.3, 2.7), chances.hurdle(chances.poisson)),
        draws=[(0.3, 1.5)],
        parameters={"zero": (0.5, wrong.SHARE), "rate": (3.0, [1.1e18, *wrong.POSITIVE])},
    ),
    "hurdle_negative_binomial": Case(
        law=lambda z, n, p: Zeros(z, stats.nbinom(n, p), True),
        sets=[(0.3, 2.5, 0.4)],
        random=Random(
            "nupu",
            lambda rng: (unit(rng), *prob_parameters(rng)),
            counts,
            lambda x, z, n, p: hurdle(
                x, z, stats.nbinom.logpmf(x, n, p), np.log(-np.expm1(n * np.log(p)))
            ),
        ),
        density=exact.hurdle(exact.negative_binomial),
        points=(
            "-fff",
            [(x, z, 2.5, p) for z in ZEROS for x in (0.0, 1.0, 3.0) for p in (1e-5, 0.3, 0.999)],
        ),
        moment_sets=[(0.3, 2.5, 0.4)],
        counts=((0.3, 2.5, 0.6), chances.hurdle(chances.negative_binomial)),
        draws=[(0.3, 2.5, 0.6)],
        parameters={
            "zero": (0.5, wrong.SHARE),
            "size": (2.5, wrong.POSITIVE),
            "prob": (0.5, [0.0, 1.0, *wrong.SHARE]),
        },
    ),
    "hurdle_negative_binomial_mean": Case(
        law=lambda z, m, d: Zeros(z, stats.nbinom(1 / d, 1 / (1 + m * d)), True),
        sets=[(0.3, 2.5, 0.4)],
        make=lambda z, m, d: kg.hurdle_negative_binomial(z, mean=m, dispersion=d),
        random=Random(
            "nupp",
            lambda rng: (unit(rng), *mean_parameters(rng)),
            counts,
            lambda x, z, m, d: hurdle(
                x,
                z,
                stats.nbinom.logpmf(x, *by_mean(m, d)),
                np.log(-np.expm1(-np.log1p(m * d) / d)),
            ),
        ),
        density=exact.hurdle(exact.negative_binomial_mean),
        points=(
            "-fff",
            [(x, z, m, 0.4) for z in ZEROS for x in (0.0, 1.0, 3.0) for m in (1e-3, 2.5, 1e4)],
        ),
        moment_sets=[(0.3, 2.5, 0.4)],
        counts=((0.3, 1.7, 0.4), chances.hurdle(chances.negative_binomial_mean)),
        draws=[(0.3, 5.0, 0.4)],
    ),
    "ordered_logistic": Case(
        law=partial(ordered, stats.logistic),
        sets=[(0.3, [-1.0, 0.5, 2.0])],
        moment_sets=[(0.3, CUTS)],
        moments=by_scipy(lambda eta, cuts: ordered(stats.logistic, eta, cuts)),
        counts=((0.3, (-1.0, 0.5, 2.0)), chances.ordered(chances.expit)),
        draws=[(0.3, CUTS)],
        parameters={
            "eta": (0.5, wrong.NOT_FINITE),
            "cutpoints": ([0.0, 1.0], [[1.0, 0.0], [0.0, wrong.NAN]]),
        },
    ),
    "ordered_probit": Case(
        law=partial(ordered, stats.norm),
        sets=[(0.3, [-1.0, 0.5, 2.0])],
        moment_sets=[(0.3, CUTS)],
        moments=by_scipy(lambda eta, cuts: ordered(stats.norm, eta, cuts)),
        counts=(
            (0.3, (-1.0, 0.5, 2.0)),
            chances.ordered(lambda z: 0.5 * (1 + special.erf(z / np.sqrt(2)))),
        ),
        draws=[(0.3, CUTS)],
        parameters={
            "eta": (0.5, wrong.NOT_FINITE),
            "cutpoints": ([0.0, 1.0], [[1.0, 0.0], [0.0, wrong.NAN]]),
        },
    ),
    "categorical": Case(
        law=lambda prob: stats.rv_discrete(values=(range(len(prob)), prob)),
        moment_sets=[(SHARES,), (np.array([1e-12, 0.0, 1 - 1e-12]),)],
        moments=by_table,
        draws=[(np.array([0.1, 0.0, 0.25, 0.65]),)],
        parameters={"prob": ([0.5, 0.5], wrong.WEIGHTS)},
    ),
    "categorical_logit": Case(
        law=lambda logit: stats.rv_discrete(values=(range(len(logit)), special.softmax(logit))),
        moment_sets=[(np.array([0.3, -1.0, 2.0, 0.1]),)],
        moments=lambda logit: by_table(special.softmax(logit)),
        draws=[(np.log([0.2, 0.1, 1.4, 0.3]),)],
    ),
    "integers": Case(
        law=stats.randint,
        draws=[(-3, 4), (0, 1000)],
        parameters={"low": (-1, [3, 4, *wrong.HUGE]), "high": (3, [-1, -2, *wrong.HUGE])},
    ),
}
