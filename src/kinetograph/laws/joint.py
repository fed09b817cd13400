"""Samplers tested against the joint law of parameters and data, for which no posterior is needed.

Draws theta from the prior, data y from the model given theta: then theta is a draw of the posterior
given y, and stays one under any right transition. A wrong sampler, density or gradient shows as
parameters that no longer follow the prior.

Sources: J. Geweke, Getting it right: joint distribution tests of posterior simulators, JASA 99
(2004) 799-804. A. Gandy, J. Scott, Unit testing for MCMC and other Monte Carlo methods,
arXiv:2001.06465 (2020): replicas that start from the prior. S. Talts, M. Betancourt, D. Simpson,
A. Vehtari, A. Gelman, Validating Bayesian inference algorithms with simulation-based calibration,
arXiv:1804.06788 (2018).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .estimates import chi2_test
from .outcomes import PTest

__all__ = ["Calibration", "geweke_test", "rank_test", "simulation_based_calibration"]

Generator = np.random.Generator


def geweke_test(
    prior: Callable[[Generator, int], Any],
    simulate: Callable[[Generator, Any], Any],
    transition: Callable[[Generator, Any, Any], Any],
    *,
    replicas: int = 2000,
    steps: int = 10,
    seed: int,
    functions: Mapping[str, Callable[[Any, Any], Any]] | None = None,
) -> PTest:
    """Geweke's joint test: does a sampler keep the joint law of parameters and data?

    Each of many independent replicas draws parameters from the prior, and then in turn data given
    the parameters, and parameters by the sampler given the data. If the sampler is right the
    parameters are draws from the prior after any number of such steps: Kolmogorov and Smirnov's
    test compares them, and their distances from the median, with ten times as many fresh ones.

    Parameters
    ----------
    prior
        `prior(rng, replicas)`: parameters, an array whose first axis counts the replicas.
    simulate
        `simulate(rng, parameters)`: data of each replica.
    transition
        `transition(rng, parameters, data)`: the sampler's next parameters of each replica, by one
        transition or some.
    replicas, steps, seed
        How many replicas, how many times in turn, and the seed of the NumPy generator.
    functions
        Further quantities to compare, by name: functions of (parameters, data) that give a number
        for each replica. The elements of the parameters are always compared.

    Examples
    --------
    The mean of two normal observations, by a right Gibbs step and by one of too small variance:

    >>> from kinetograph import laws
    >>> prior = lambda rng, n: rng.normal(size=n)
    >>> data = lambda rng, mu: mu[:, None] + rng.normal(size=(len(mu), 2))
    >>> gibbs = lambda rng, mu, y: y.sum(1) / 3 + rng.normal(size=len(mu)) / 3**0.5
    >>> wrong = lambda rng, mu, y: y.sum(1) / 3 + rng.normal(size=len(mu)) / 3
    >>> laws.geweke_test(prior, data, gibbs, seed=1).passed()
    True
    >>> laws.geweke_test(prior, data, wrong, seed=1).passed()
    False
    """
    from scipy import stats

    rng = np.random.default_rng(seed)
    parameters = np.asarray(prior(rng, replicas))
    if parameters.shape[:1] != (replicas,):
        raise ValueError(
            f"kg.laws.geweke_test: the prior gives the shape {parameters.shape} for {replicas} "
            "replicas, which the first axis has to count"
        )
    for _ in range(steps):
        data = simulate(rng, parameters)
        moved = np.asarray(transition(rng, parameters, data))
        if moved.shape != parameters.shape:
            raise ValueError(
                f"kg.laws.geweke_test: the transition turns {parameters.shape} into {moved.shape}"
            )
        parameters = moved
    fresh = np.asarray(prior(rng, 10 * replicas))
    found = _quantities(parameters, functions, lambda: simulate(rng, parameters))
    wanted = _quantities(fresh, functions, lambda: simulate(rng, fresh))
    ps, distances = {}, {}
    for name, values in found.items():
        # A scale shows best as a distance from the median.
        median = np.median(wanted[name])
        for label, x, y in (
            (name, values, wanted[name]),
            (f"|{name} - median|", abs(values - median), abs(wanted[name] - median)),
        ):
            one = stats.ks_2samp(x, y)
            ps[label], distances[label] = float(one.pvalue), float(one.statistic)
    return PTest(ps, distances, replicas, "GewekeTest")


def _quantities(
    parameters: np.ndarray,
    functions: Mapping[str, Callable[[Any, Any], Any]] | None,
    simulate: Callable[[], Any],
) -> dict[str, np.ndarray]:
    """The numbers to compare, one for each replica, by name."""
    named = {
        "parameters" + "".join(f"[{i}]" for i in index): parameters[(slice(None), *index)]
        for index in np.ndindex(parameters.shape[1:])
    }
    if functions:
        data = simulate()
        named |= {name: np.asarray(f(parameters, data)) for name, f in functions.items()}
    for name, values in named.items():
        if values.shape != (len(parameters),):
            raise ValueError(
                f"kg.laws.geweke_test: {name} has the shape {values.shape} and not a number for "
                f"each of {len(parameters)} replicas"
            )
        if not np.isfinite(values).all():
            bad = (~np.isfinite(values)).sum()
            raise ValueError(f"kg.laws.geweke_test: {bad} values of {name} are not finite")
    return named


@dataclass(frozen=True, eq=False)
class Calibration(PTest):
    """Simulation-based calibration: a test, with the `ranks` (simulation, ...) and `draws`."""

    ranks: np.ndarray
    draws: int

    __repr__ = PTest.__repr__


def simulation_based_calibration(
    prior: Callable[[Generator], Any],
    simulate: Callable[[Generator, Any], Any],
    sample: Callable[[Generator, Any], Any],
    *,
    simulations: int = 200,
    seed: int,
    bins: int | None = None,
) -> Calibration:
    """Simulation-based calibration: are true parameters ranked uniformly among posterior draws?

    For each simulation parameters come from the prior, data from the model, draws from the sampler;
    the rank of the true parameter among L independent draws is uniform on 0, ..., L.

    Parameters
    ----------
    prior
        `prior(rng)`: parameters, a number or an array.
    simulate
        `simulate(rng, parameters)`: data.
    sample
        `sample(rng, data)`: L draws of the posterior, the first axis counting them, thinned so that
        they are independent; L is always the same.
    simulations, seed
        How many, and the seed of the NumPy generator.
    bins
        How many classes of ranks the chi-squared test has; as many as leave twenty ranks to each,
        at most 20, if not given.

    Examples
    --------
    >>> from kinetograph import laws
    >>> prior = lambda rng: rng.normal()
    >>> data = lambda rng, mu: mu + rng.normal(size=2)
    >>> exact = lambda rng, y: y.sum() / 3 + rng.normal(size=99) / 3**0.5
    >>> narrow = lambda rng, y: y.sum() / 3 + rng.normal(size=99) / 3
    >>> laws.simulation_based_calibration(prior, data, exact, simulations=400, seed=1).passed()
    True
    >>> laws.simulation_based_calibration(prior, data, narrow, simulations=400, seed=1).passed()
    False
    """
    rng = np.random.default_rng(seed)
    ranks, lengths = [], set()
    for _ in range(simulations):
        truth = np.asarray(prior(rng))
        draws = np.asarray(sample(rng, simulate(rng, truth)))
        if draws.ndim != truth.ndim + 1 or draws.shape[1:] != truth.shape:
            raise ValueError(
                f"kg.laws.simulation_based_calibration: the draws have the shape {draws.shape}, "
                f"and a parameter {truth.shape}; the first axis counts the draws"
            )
        below, equal = (draws < truth).sum(0), (draws == truth).sum(0)
        ranks.append(below + rng.integers(0, equal + 1))  # among equal ones any place is fair
        lengths.add(len(draws))
    if len(lengths) != 1:
        raise ValueError(
            "kg.laws.simulation_based_calibration: the number of draws has to be the same for all "
            f"data, got {sorted(lengths)}"
        )
    return rank_test(np.array(ranks), lengths.pop(), bins=bins)


def rank_test(ranks: Any, draws: int, *, bins: int | None = None) -> Calibration:
    """Are ranks among `draws` draws uniform on 0, ..., draws? The chi-squared test.

    Parameters
    ----------
    ranks
        Whole numbers from 0 to `draws`; the first axis counts simulations, each other element is
        looked at by itself.
    draws
        Among how many draws they are ranks.
    bins
        How many classes; see `simulation_based_calibration`.

    Examples
    --------
    >>> import numpy as np
    >>> from kinetograph import laws
    >>> laws.rank_test(np.random.default_rng(1).integers(0, 100, size=1000), draws=99).passed()
    True
    """
    r = np.asarray(ranks)
    if not np.issubdtype(r.dtype, np.integer) or r.min() < 0 or r.max() > draws:
        raise ValueError(f"kg.laws.rank_test: ranks are whole numbers from 0 to {draws}")
    if bins is None:
        bins = min(20, len(r) // 20)
    bins = min(bins, draws + 1)
    if bins < 2:
        raise ValueError(f"kg.laws.rank_test: {len(r)} ranks are too few; take 40 or more")
    # Classes of ranks that follow each other, as equal in number as can be.
    classes = np.arange(draws + 1) * bins // (draws + 1)
    share = np.bincount(classes, minlength=bins)
    ps, statistics = {}, {}
    for index in np.ndindex(r.shape[1:]):
        name = "".join(f"[{i}]" for i in index) or "ranks"
        counts = np.bincount(classes[r[(slice(None), *index)]], minlength=bins)
        one = chi2_test(counts, share)
        ps[name], statistics[name] = one.p_values["counts"], one.statistics["counts"]
    return Calibration(ps, statistics, len(r), "Calibration", r, draws)
