"""Densities of observations that are left out, from draws of two posteriors.

Draws of the posterior without the observation give p(y_i | y_-i) as the mean of l = p(y_i | x), and
draws of the posterior with it as 1 / mean(1 / l). If the observation is far from its prediction,
few draws decide either mean. The bridge uses both kinds of draws, with the shares s and t of their
numbers:

    r = mean_without(l / (s r + t l)) / mean_with(1 / (s r + t l))

Source   X.-L. Meng, W. H. Wong, Statistica Sinica 6 (1996) 831-860, equations 2.2 and 3.2.
"""

import numpy as np

from .observations import Observations, log_mean_exp

__all__ = ["MOST_ERROR", "bridged", "is_reliable_mean", "text_of_unlikely"]

MOST_ERROR = 0.3  # the standard error of a log density, for independent draws
SHOWN = 5  # observations of a message
MOST_STEPS = 1000
PRECISION = 1e-8


def bridged(without: np.ndarray, together: np.ndarray) -> tuple[float, float]:
    """log p(y_i | y_-i), and its standard error for independent draws.

    The arguments are log p(y_i | x) of draws of the posteriors without and with the observation.
    """
    a, b = (each[np.isfinite(each)] for each in (without, together))
    if not a.size or not b.size:
        return -np.inf, np.inf
    share = np.log(a.size) - np.log(without.size)  # draws without it that are possible with it
    log_s, log_t = np.log([a.size, b.size]) - np.log(a.size + b.size)
    r = float(np.median(a))
    f = g = np.zeros(1)
    for _ in range(MOST_STEPS):
        f, g = a - np.logaddexp(log_s + r, log_t + a), -np.logaddexp(log_s + r, log_t + b)
        before, r = r, float(log_mean_exp(f, (0,)) - log_mean_exp(g, (0,)))
        if abs(r - before) < PRECISION:
            break
    return r + share, float(np.sqrt(_relative_variance(f) + _relative_variance(g)))


def is_reliable_mean(values: np.ndarray) -> bool:
    """Whether many draws decide the mean of densities, given by logarithms."""
    with np.errstate(invalid="ignore"):
        return bool(np.sqrt(_relative_variance(values)) <= MOST_ERROR)


def text_of_unlikely(doing: str, observations: Observations, units: np.ndarray) -> str:
    """The warning about units whose densities few draws decide."""
    named = ", ".join(observations.text(unit) for unit in units[:SHOWN])
    more = f" and {len(units) - SHOWN} more" if len(units) > SHOWN else ""
    return (
        f"{doing}: {named}{more}: so far from the predictions of the fit without "
        f"{'it' if len(units) == 1 else 'them'} that few draws decide the density, so elpd is not "
        "reliable. Check these data; a distribution with heavier tails, such as kg.student, "
        "predicts such values, and more draws (draws=) help"
    )


def _relative_variance(logs: np.ndarray) -> float:
    """The variance of the mean of exponentials, relative to its square."""
    values = np.exp(logs - logs.max())
    return float(values.var() / values.mean() ** 2 / values.size)
