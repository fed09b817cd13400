"""Convergence diagnostics: effective sample size, R-hat, Monte Carlo standard error.

The diagnostics use rank-normalised split chains, and sum autocorrelations by Geyer's initial
monotone sequence. They are defined as in ArviZ, with which the tests compare them. They are
written on NumPy alone, because importing ArviZ takes longer than a whole run of a small model.

Source: A. Vehtari, A. Gelman, D. Simpson, B. Carpenter, P.-C. Bürkner, `Rank-normalization,
folding, and localization: an improved R-hat`, Bayesian Analysis 16 (2021) 667-718.

All functions take draws of shape (chain, draw, ...) and work on each remaining element.
"""

from collections.abc import Callable, Mapping

import numpy as np

from ..bits.quantile import quantile

__all__ = [
    "ess_bulk",
    "ess_mean",
    "ess_tail",
    "mcse_mean",
    "monotone_time",
    "rank_normalised",
    "rhat",
    "rhat_and_ess_bulk",
    "together",
]

Draws = np.ndarray

SUSPECT = 1.005  # above this folded R-hat without ranks, the one with ranks is computed, too
HUGE = 1e100  # a larger draw is scaled before it is squared
_PART = 2**19  # numbers worked on at once, about ten arrays of 4 MiB


def _flat(draws: Draws) -> np.ndarray:
    """The draws in the shape (elements, chain, draw)."""
    chains, length = draws.shape[:2]
    return np.moveaxis(np.asarray(draws, float).reshape(chains, length, -1), -1, 0)


def _shaped(values: np.ndarray, draws: Draws) -> np.ndarray:
    return values.reshape(draws.shape[2:])


def _split(x: np.ndarray) -> np.ndarray:
    half = x.shape[-1] // 2
    return np.concatenate([x[..., :half], x[..., x.shape[-1] - half :]], axis=1)


def rank_normalised(x: np.ndarray) -> np.ndarray:
    """Normal scores of the ranks over all chains.

    Equal values share the mean of their ranks.
    """
    elements, chains, length = x.shape
    flat = x.reshape(elements, -1)
    size = flat.shape[1]
    order = np.argsort(flat, axis=1)
    ordered = np.take_along_axis(flat, order, axis=1)
    if (ordered[:, 1:] == ordered[:, :-1]).any():
        # Twice a mean rank is a whole number, so the scores are looked up in a table.
        table = quantile((0.5 * np.arange(2, 2 * size + 1) - 0.375) / (size + 0.25), np)
        doubled = 2 * np.arange(1, size + 1, dtype=np.int32)
        ordered_scores = np.stack([table[_tied(row, doubled) - 2] for row in ordered])
    else:
        scores = quantile((np.arange(1, size + 1) - 0.375) / (size + 0.25), np)
        ordered_scores = np.broadcast_to(scores, flat.shape)
    scores = np.empty_like(flat)
    np.put_along_axis(scores, order, ordered_scores, axis=1)
    return scores.reshape(elements, chains, length)


def _tied(ordered: np.ndarray, doubled: np.ndarray) -> np.ndarray:
    """Twice the mean ranks of a sorted row with ties."""
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    ends = np.append(starts[1:], len(ordered))
    return np.repeat((starts + ends + 1).astype(doubled.dtype), ends - starts)


def _autocovariance(x: np.ndarray) -> np.ndarray:
    """The autocovariance of each element by lag, averaged over its chains.

    The power spectra of the chains are averaged first, so that one inverse transform is enough.
    """
    length = x.shape[-1]
    size = 1 << (2 * length - 1).bit_length()
    spectrum = np.fft.rfft(x - x.mean(-1, keepdims=True), size, axis=-1)
    power = (spectrum.real**2 + spectrum.imag**2).mean(1)
    return np.fft.irfft(power, size, axis=-1)[:, :length] / length


def _moderate(x: np.ndarray) -> np.ndarray:
    """The draws, scaled for elements whose squares would overflow.

    The draws of such an element are divided by the largest absolute value.
    """
    largest = np.abs(x).max((1, 2), initial=0.0)
    extreme = (largest > HUGE) & np.isfinite(largest)
    return x / np.where(extreme, largest, 1.0)[:, None, None] if extreme.any() else x


def _ess(x: np.ndarray) -> np.ndarray:
    """The effective sample size of each element's mean.

    `x` has the shape (elements, chain, draw).
    """
    _, chains, length = x.shape
    total = chains * length
    constant = np.ptp(x.reshape(len(x), -1), axis=1) < np.finfo(float).resolution
    x = _moderate(x)
    covariance = _autocovariance(x)
    within = covariance[:, 0] * length / (length - 1.0)
    pooled = within * (length - 1.0) / length
    if chains > 1:
        pooled = pooled + x.mean(-1).var(1, ddof=1)
    rho = 1.0 - (within[:, None] - covariance) / pooled[:, None]
    rho[:, 0] = 1.0
    results = np.array([monotone_time(r, length) for r in rho])
    results = np.minimum(
        total / np.maximum(results, 1.0 / np.log10(total)), total * np.log10(total)
    )
    results = np.where(constant, float(total), results)
    return _where_finite(x, results)


def monotone_time(rho: np.ndarray, length: int) -> float:
    """The autocorrelation time by Geyer's initial monotone sequence.

    Autocorrelations are summed in pairs, up to the first pair whose sum is not positive.
    """
    pairs = max((length - 1) // 2, 1)
    even, odd = rho[0 : 2 * pairs : 2], rho[1 : 2 * pairs : 2]
    sums = even + odd
    negative = np.flatnonzero(~(sums > 0))
    last = int(negative[0]) if len(negative) else pairs - 1
    # The first even lag after the pairs that count is counted once.
    tail = even[last] if even[last] > 0 or sums[last] >= 0 else 0.0
    monotone = np.minimum.accumulate(sums[:last])
    return float(-1.0 + 2.0 * monotone.sum() + tail)


def _where_finite(x: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The values of elements whose draws are all finite; NaN elsewhere."""
    return np.where(np.isfinite(x).all((1, 2)), values, np.nan)


def _by_parts(kernel: Callable[[np.ndarray], np.ndarray], draws: Draws) -> np.ndarray:
    """The values of a kernel, computed in parts of the elements.

    Parts keep the work arrays small.
    """
    x = _flat(draws)
    step = max(1, _PART // max(1, x.shape[1] * x.shape[2]))
    with np.errstate(all="ignore"):  # a diverging chain has draws of any size
        parts = [kernel(x[i : i + step]) for i in range(0, max(len(x), 1), step)]
    return np.concatenate(parts, axis=-1)


def together(draws: Draws, walkers: int) -> Draws:
    """Join the walkers of each ensemble to one chain.

    The draws of all walkers follow each other, draw by draw. R-hat of these chains is the nested
    R-hat of C. Margossian et al., Bayesian Analysis (2024): it asks whether independent ensembles
    agree, not whether each walker has been everywhere.
    """
    chains, length, *shape = draws.shape
    split = draws.reshape(chains // walkers, walkers, length, *shape)
    return np.moveaxis(split, 1, 2).reshape(chains // walkers, length * walkers, *shape)


def ess_mean(draws: Draws) -> np.ndarray:
    """Effective sample size for the mean."""
    return _shaped(_by_parts(lambda x: _ess(_split(x)), draws), draws)


def ess_bulk(draws: Draws) -> np.ndarray:
    """Effective sample size of the rank-normalised draws."""

    def kernel(x: np.ndarray) -> np.ndarray:
        return _where_finite(x, _ess(rank_normalised(_split(x))))

    return _shaped(_by_parts(kernel, draws), draws)


def ess_tail(draws: Draws, probability: float = 0.9) -> np.ndarray:
    """The tail effective sample size.

    It is the smaller one of the effective sample sizes of the two quantiles that bound a central
    interval of this probability.
    """
    edges = ((1 - probability) / 2, (1 + probability) / 2)

    def kernel(x: np.ndarray) -> np.ndarray:
        limits = np.quantile(x.reshape(len(x), -1), edges, axis=1)
        sizes = [_ess(_split((x <= limit[:, None, None]).astype(float))) for limit in limits]
        return _where_finite(x, np.minimum(*sizes))

    return _shaped(_by_parts(kernel, draws), draws)


def rhat(draws: Draws) -> np.ndarray:
    """The larger of rank-normalised split R-hat and its folded form.

    It is infinite for chains that are constant and differ, and NaN for a constant quantity.
    """

    def kernel(x: np.ndarray) -> np.ndarray:
        x = _split(x)
        values = [_basic_rhat(rank_normalised(part)) for part in (x, _folded(x))]
        return _where_finite(x, np.fmax(*values))

    return _shaped(_by_parts(kernel, draws), draws)


def _folded(x: np.ndarray) -> np.ndarray:
    """Distances from the median over all chains."""
    median = np.median(x.reshape(len(x), -1), axis=1)
    return np.abs(x - median[:, None, None])


def _basic_rhat(x: np.ndarray) -> np.ndarray:
    """R-hat; infinite for different constants, and NaN for one constant.

    Rounding would give constant chains a small variance, and R-hat a large number.
    """
    length = x.shape[-1]
    between = length * x.mean(-1).var(1, ddof=1)
    within = x.var(-1, ddof=1).mean(1)
    ratio: np.ndarray = np.sqrt((between / within + length - 1) / length)
    still = (x == x[..., :1]).all((1, 2))
    equal = (x[..., 0] == x[:, :1, 0]).all(1)
    return np.where(still, np.where(equal, np.nan, np.inf), ratio)


def mcse_mean(draws: Draws) -> np.ndarray:
    """Monte Carlo standard error of the mean: sd / sqrt(ess)."""
    with np.errstate(all="ignore"):
        sd = draws.std(axis=(0, 1), ddof=1)
        return sd / np.sqrt(ess_mean(draws))


def rhat_and_ess_bulk(
    targets: Mapping[str, Draws],
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Rank-normalised split R-hat and bulk effective sample size of each target.

    The check after every run uses this function. Both numbers come from one ranking. The folded
    R-hat, which detects chains of different spread, needs a second ranking: it is computed only
    where the folded R-hat without ranks is not close to 1.
    """

    def kernel(x: np.ndarray) -> np.ndarray:
        halves = _split(x)
        scores = rank_normalised(halves)
        varies = np.ptp(halves.reshape(len(halves), -1), axis=1) > 0
        r = np.where(varies, _basic_rhat(scores), np.nan)
        folded = _folded(halves)
        suspect = varies & ~(_basic_rhat(folded) < SUSPECT)
        if suspect.any():
            spread = _basic_rhat(rank_normalised(folded[suspect]))
            r[suspect] = np.fmax(r[suspect], spread)
        return _where_finite(x, np.stack([r, _ess(scores)]))

    rhats, sizes = {}, {}
    for names in _together(targets):
        draws = [targets[name] for name in names]
        joined = [d.reshape(*d.shape[:2], -1) for d in draws]
        both = _by_parts(kernel, joined[0] if len(joined) == 1 else np.concatenate(joined, -1))
        ends = np.cumsum([j.shape[2] for j in joined])
        for name, d, part in zip(names, draws, np.split(both, ends[:-1], axis=1), strict=True):
            rhats[name], sizes[name] = _shaped(part[0], d), _shaped(part[1], d)
    return rhats, sizes


def _together(targets: Mapping[str, Draws]) -> list[list[str]]:
    """Groups of targets that are computed at once.

    Many small targets share a group; a large one is alone.
    """
    groups: list[list[str]] = []
    room = 0
    for name, draws in targets.items():
        if not groups or draws.size > room:
            groups.append([])
            room = _PART
        groups[-1].append(name)
        room -= draws.size
    return groups
