"""Comparisons of draws with exact values: means, distributions, independence.

Draws have the shape (chain, draw, ...), as in a run's results; each remaining element is tested
separately.

Autocorrelations are computed about the mean over all chains. They are summed over a window of five
times the sum of their absolute values (Sokal's window), which is also right for schemes that are
not reversible and for draws that alternate. Geyer's sequence, which `kg.summary` uses for
posteriors, needs reversible chains, and centres each chain separately, which is a bias for many
short chains. If chains do not agree on the mean, their correlations do not decay, which gives a
large autocorrelation time.

Source: A. D. Sokal, Monte Carlo methods in statistical mechanics: foundations and new algorithms,
in: Functional integration, Springer 1997, section 3.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import chdtrc, ndtr

from ..graph.public import public
from .outcomes import MeanTest, PTest

__all__ = [
    "autocorrelation_time",
    "autoregression",
    "chi2_test",
    "independence_test",
    "ks_test",
    "mcse",
    "mean_test",
]


def as_draws(draws: Any, title: str) -> np.ndarray:
    """Check draws of shape (chain, draw, ...); one dimension is one chain."""
    x = np.asarray(draws, float)
    x = x[None] if x.ndim == 1 else x
    if x.ndim < 2 or x.shape[1] < 4 or x.size == 0:
        raise ValueError(
            f"kg.laws.{title}: draws must have the shape (chain, draw, ...) with 4 draws or more, "
            f"got {np.shape(draws)}"
        )
    if not np.isfinite(x).all():
        raise ValueError(f"kg.laws.{title}: {(~np.isfinite(x)).sum()} of the draws are not finite")
    return x


def _elements(x: np.ndarray, function: Callable[[np.ndarray], float]) -> np.ndarray:
    """Apply a function of draws (chain, draw) to each remaining element."""
    flat = x.reshape(*x.shape[:2], -1)
    values = [function(flat[:, :, i]) for i in range(flat.shape[2])]
    return np.array(values).reshape(x.shape[2:])


def _autocorrelations(x: np.ndarray) -> np.ndarray:
    """The autocorrelations of draws (chain, draw) inside of the window.

    They are computed about the common mean of all chains.
    """
    length = x.shape[1]
    spectrum = np.fft.rfft(x - x.mean(), 1 << (2 * length - 1).bit_length(), axis=1)
    products = np.fft.irfft((np.abs(spectrum) ** 2).mean(0))[:length]
    covariances = products / np.arange(length, 0, -1)
    with np.errstate(all="ignore"):
        rho = covariances / covariances[0]
    # The window ends at five times the absolute sum; later correlations are mostly noise.
    beyond = np.arange(length) >= 5 * (2 * np.cumsum(np.abs(rho)) - 1)
    return rho[: int(np.argmax(beyond)) + 1] if beyond.any() else rho


def _time(x: np.ndarray) -> float:
    """The integrated autocorrelation time of draws (chain, draw)."""
    rho = _autocorrelations(x)
    sums = 2 * np.cumsum(rho) - 1
    # If the draws are fewer than the window, the largest sum is the safe estimate.
    closed = len(rho) < x.shape[1]
    time = float(sums[-1] if closed else sums.max())
    return max(time, 1e-3) if np.ptp(x) > 0 else 1.0


@public
def autocorrelation_time(draws: Any) -> np.ndarray:
    """The integrated autocorrelation time, in draws.

    It is 1 + 2 (rho_1 + rho_2 + ...). It is below 1 if successive draws are anticorrelated. The
    relative standard error of the estimate is about sqrt(20 t / n) for n draws in all and a time t.
    `LinearLaw.autocorrelation_time` has exact times of linear schemes.

    Examples
    --------
    >>> from kinetograph import laws
    >>> x = laws.autoregression(0.5, chains=4, draws=50_000, seed=1)  # (1 + 0.5) / (1 - 0.5) = 3
    >>> bool(abs(laws.autocorrelation_time(x) - 3) < 0.15)
    True
    """
    return _elements(as_draws(draws, "autocorrelation_time"), _time)


@public
def mcse(draws: Any) -> np.ndarray:
    """The Monte Carlo standard error of the mean.

    It is the standard deviation divided by the square root of the effective sample size.

    Examples
    --------
    >>> from kinetograph import laws
    >>> x = laws.autoregression(0.0, chains=4, draws=10_000, seed=1)
    >>> bool(abs(laws.mcse(x) - 1 / 200) < 1e-3)
    True
    """
    x = as_draws(draws, "mcse")
    return x.std((0, 1), ddof=1) * np.sqrt(_elements(x, _time) / (x.shape[0] * x.shape[1]))


@public
def mean_test(
    draws: Any, expected: Any, *, expected_error: Any = 0.0, min_ess: float = 400.0
) -> MeanTest:
    """Test whether the mean of draws is the exact value.

    The score is z = (mean - expected) / standard error.

    Parameters
    ----------
    draws
        Draws, of shape (chain, draw, ...), of the quantity whose mean is known, such as q^2.
    expected, expected_error
        The exact mean, or an estimate with its standard error; in the remaining shape.
    min_ess
        The smallest number of effective draws.

    Examples
    --------
    >>> from kinetograph import laws
    >>> x = laws.autoregression(0.5, chains=4, draws=10_000, seed=1)
    >>> laws.mean_test(x**2, 1.0).passed(), laws.mean_test((0.9 * x) ** 2, 1.0).passed()
    (True, False)
    """
    x = as_draws(draws, "mean_test")
    size = x.shape[0] * x.shape[1] / _elements(x, _time)
    error = np.hypot(x.std((0, 1), ddof=1) / np.sqrt(size), expected_error)
    exact_mean = np.broadcast_to(np.asarray(expected, float), size.shape)
    return MeanTest(x.mean((0, 1)), exact_mean, np.asarray(error), size, min_ess)


@public
def ks_test(
    draws: Any, expected: Callable[[np.ndarray], Any] | Any, *, thin: int | None = None
) -> PTest:
    """Test the distribution of draws (Kolmogorov-Smirnov).

    The statistic is the largest distance between two distribution functions.

    Parameters
    ----------
    draws
        Draws of shape (chain, draw, ...); or of shape (draw,), if they are independent.
    expected
        The exact distribution function, or independent draws from the distribution: an array whose
        first axis counts the draws.
    thin
        The spacing of the draws that are used. By default it is three autocorrelation times of the
        draws and of their squares, after which the remaining correlation is negligible.

    Raises
    ------
    ValueError
        If `expected` is not a distribution function, because it leaves [0, 1] or falls; or if
        expected draws have another shape, or are not finite.

    Examples
    --------
    >>> from kinetograph import laws
    >>> from scipy import stats
    >>> x = laws.autoregression(0.5, chains=4, draws=50_000, seed=1)
    >>> laws.ks_test(x, stats.norm.cdf).passed(), laws.ks_test(0.9 * x, stats.norm.cdf).passed()
    (True, False)
    """
    from scipy import stats

    x = as_draws(draws, "ks_test")
    if thin is None:
        thin = _spacing(x) if np.ndim(draws) > 1 else 1
    rows = x[:, thin - 1 :: thin]
    shape = rows.shape[2:]
    columns = rows.reshape(-1, math.prod(shape))
    if not callable(expected):
        expected_draws = np.asarray(expected, float)
        if expected_draws.shape[1:] != shape:
            raise ValueError(
                f"kg.laws.ks_test: each draw has the shape {shape}, but each draw of the expected "
                f"distribution has {expected_draws.shape[1:]}"
            )
        if not np.isfinite(expected_draws).all() or not expected_draws.size:
            raise ValueError(
                "kg.laws.ks_test: the expected draws are not all finite, or there are none"
            )
        expected_draws = expected_draws.reshape(len(expected_draws), -1)
    ps, distances = {}, {}
    for i, index in enumerate(np.ndindex(shape)):
        name = "".join(f"[{j}]" for j in index) or "draws"
        if callable(expected):
            _check_cdf(expected, np.sort(columns[:, i]))
            result = stats.kstest(columns[:, i], expected)
        else:
            result = stats.ks_2samp(columns[:, i], expected_draws[:, i])
        ps[name], distances[name] = float(result.pvalue), float(result.statistic)
    return PTest(ps, distances, len(columns), "KSTest")


def _check_cdf(function: Callable[[np.ndarray], Any], points: np.ndarray) -> None:
    """Refuse a function that is not a distribution function at sorted points."""
    values = np.asarray(function(points))
    title = getattr(function, "__name__", repr(function))
    label = f"kg.laws.ks_test: {title} is not a distribution function"
    if values.shape != points.shape or values.dtype.kind not in "biuf":
        raise ValueError(
            f"{label}: for an array of shape {points.shape} it returns {values.dtype} of shape "
            f"{values.shape}, not a number for each element"
        )
    for bad, reason in (
        (~((values >= 0) & (values <= 1)), "is not between 0 and 1"),
        (np.diff(values, prepend=-np.inf) < -1e-9, "is smaller than at a smaller number"),
    ):
        if bad.any():
            index = int(bad.argmax())
            raise ValueError(
                f"{label}: at {points[index]:.6g} it is {values[index]:.6g}, which {reason}; give "
                "P(X <= x), such as scipy.stats.norm.cdf"
            )


def _spacing(x: np.ndarray) -> int:
    """The spacing after which draws are nearly independent."""
    deviations = (x - x.mean((0, 1))) ** 2
    longest = max(float(_elements(v, _time).max()) for v in (x, deviations))
    return math.ceil(3 * longest) if longest > 1.1 else 1


@public
def chi2_test(counts: Any, expected: Any = None) -> PTest:
    """Test whether counts have the expected proportions (Pearson's chi-squared).

    Parameters
    ----------
    counts
        The number of rows in each class; several rows of counts are several tests.
    expected
        The proportions of the classes; equal by default.

    Examples
    --------
    >>> from kinetograph import laws
    >>> laws.chi2_test([98, 107, 95]).passed(), laws.chi2_test([98, 207, 95]).passed()
    (True, False)
    """
    n = np.atleast_2d(np.asarray(counts, float))
    share = np.ones(n.shape[1]) if expected is None else np.asarray(expected, float)
    expected_counts = n.sum(1, keepdims=True) * share / share.sum()
    statistic = ((n - expected_counts) ** 2 / expected_counts).sum(1)
    ps = chdtrc(n.shape[1] - 1, statistic)
    names = [f"[{i}]" for i in range(len(n))] if len(n) > 1 else ["counts"]
    return PTest(
        dict(zip(names, ps.tolist(), strict=True)),
        dict(zip(names, statistic.tolist(), strict=True)),
        int(n[0].sum()),
        "Chi2Test",
    )


@public
def independence_test(draws: Any) -> PTest:
    """Test whether chains are independent, by the correlations of all pairs.

    Each element is tested. For chains with autocorrelations rho_s the correlation of n draws has
    the standard deviation sqrt((1 + 2 (rho_1^2 + rho_2^2 + ...)) / n).

    Examples
    --------
    >>> from kinetograph import laws
    >>> x = laws.autoregression(0.5, chains=4, draws=10_000, seed=1)
    >>> laws.independence_test(x).passed(), laws.independence_test(x[[0, 1, 2, 0]]).passed()
    (True, False)
    """
    x = as_draws(draws, "independence_test")
    chains, length = x.shape[:2]
    if chains < 2:
        raise ValueError("kg.laws.independence_test: got one chain; give two or more")
    x = x.reshape(chains, length, -1)
    centred = x - x.mean(1, keepdims=True)
    ps, correlations = {}, {}
    first, second = np.triu_indices(chains, 1)
    for element in range(x.shape[2]):
        columns = centred[:, :, element]
        scale = np.sqrt((columns**2).sum(1))
        pairs = (columns @ columns.T / np.outer(scale, scale))[first, second]
        spread = math.sqrt((2 * (_autocorrelations(columns) ** 2).sum() - 1) / length)
        worst = int(np.argmax(np.abs(pairs)))
        name = f"element {element}, chains {first[worst]} and {second[worst]}"
        correlations[name] = float(pairs[worst])
        ps[name] = min(1.0, len(pairs) * float(2 * ndtr(-abs(pairs[worst]) / spread)))
    return PTest(ps, correlations, length, "IndependenceTest")


@public
def autoregression(coefficient: float, chains: int, draws: int, seed: int) -> np.ndarray:
    """Simulate autoregressive chains, of shape (chain, draw).

    With standard normal r, x' = phi x + sqrt(1 - phi^2) r, so the values are standard normal, too.
    They are test data for estimators and tests, because their law is known: the autocorrelation
    time is (1 + phi) / (1 - phi), and for their squares (1 + phi^2) / (1 - phi^2).

    Examples
    --------
    >>> from kinetograph import laws
    >>> laws.autoregression(0.9, chains=4, draws=1000, seed=1).shape
    (4, 1000)
    """
    from scipy.signal import lfilter

    if not -1 < coefficient < 1:
        raise ValueError(
            f"kg.laws.autoregression: coefficient must be within (-1, 1), got {coefficient}"
        )
    noise = np.random.default_rng(seed).normal(size=(chains, draws))
    noise[:, 1:] *= math.sqrt(1 - coefficient**2)
    return lfilter([1.0], [1.0, -coefficient], noise, axis=1)
