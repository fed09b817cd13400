"""Tests of samplers against the joint law of parameters and data.

No posterior has to be known. If theta is drawn from the prior, and data y from the model given
theta, then theta is a draw of the posterior given y, and remains one under any right transition. If
a sampler, density or gradient is wrong, the parameters no longer follow the prior.

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

from ..graph.public import public
from .estimates import chi2_test
from .outcomes import PTest

__all__ = ["Calibration", "geweke_test", "rank_test", "simulation_based_calibration"]

Generator = np.random.Generator


@public
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
    """Geweke's joint test: whether a sampler preserves the joint law.

    The joint law is that of parameters and data. Each of many independent replicas draws parameters
    from the prior, and then alternately data given the parameters, and parameters by the sampler
    given the data. If the sampler is right the parameters are draws from the prior after any number
    of such steps. A Kolmogorov-Smirnov test compares them, and their distances from the median,
    with ten times as many new draws from the prior.

    Parameters
    ----------
    prior
        `prior(rng, replicas)` returns parameters, an array whose first axis counts the replicas.
    simulate
        `simulate(rng, parameters)` returns data for each replica.
    transition
        `transition(rng, parameters, data)` returns the sampler's next parameters of each replica,
        after one or more transitions.
    replicas, steps, seed
        The number of replicas, the number of steps, and the seed of the NumPy generator.
    functions
        Further quantities to compare, by name: functions of (parameters, data) that return a number
        for each replica. The elements of the parameters are always compared.

    Examples
    --------
    A right Gibbs step for the mean of two normal observations, and one with too small a variance:

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
            f"kg.laws.geweke_test: the prior returns the shape {parameters.shape} for {replicas} "
            "replicas; the first axis must count the replicas"
        )
    for _ in range(steps):
        data = simulate(rng, parameters)
        new_parameters = np.asarray(transition(rng, parameters, data))
        if new_parameters.shape != parameters.shape:
            raise ValueError(
                f"kg.laws.geweke_test: the transition turns {parameters.shape} into "
                f"{new_parameters.shape}"
            )
        parameters = new_parameters
    fresh = np.asarray(prior(rng, 10 * replicas))
    final = _quantities(parameters, functions, lambda: simulate(rng, parameters))
    reference = _quantities(fresh, functions, lambda: simulate(rng, fresh))
    ps, distances = {}, {}
    for name, values in final.items():
        # A scale shows best as a distance from the median.
        median = np.median(reference[name])
        for label, x, y in (
            (name, values, reference[name]),
            (f"|{name} - median|", abs(values - median), abs(reference[name] - median)),
        ):
            result = stats.ks_2samp(x, y)
            ps[label], distances[label] = float(result.pvalue), float(result.statistic)
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
                f"kg.laws.geweke_test: {name} has the shape {values.shape}; expected a number for "
                f"each of {len(parameters)} replicas"
            )
        if not np.isfinite(values).all():
            bad = (~np.isfinite(values)).sum()
            raise ValueError(f"kg.laws.geweke_test: {bad} values of {name} are not finite")
    return named


@public
@dataclass(frozen=True, eq=False)
class Calibration(PTest):
    """The outcome of simulation-based calibration, with the ranks.

    `ranks` has the shape (simulation, ...), and `draws` is the number of draws in each simulation.
    """

    ranks: np.ndarray
    draws: int

    __repr__ = PTest.__repr__


@public
def simulation_based_calibration(
    prior: Callable[[Generator], Any],
    simulate: Callable[[Generator, Any], Any],
    sample: Callable[[Generator, Any], Any],
    *,
    simulations: int = 200,
    seed: int,
    bins: int | None = None,
) -> Calibration:
    """Simulation-based calibration: test the ranks of true parameters among draws.

    For each simulation parameters come from the prior, data from the model, and draws from the
    sampler. The rank of the true parameter among L independent draws is uniform on 0, ..., L.

    Parameters
    ----------
    prior
        `prior(rng)` returns parameters, a number or an array.
    simulate
        `simulate(rng, parameters)` returns data.
    sample
        `sample(rng, data)` returns L draws of the posterior; the first axis counts the draws. The
        draws must be independent, so thin them if necessary. L must always be the same.
    simulations, seed
        The number of simulations, and the seed of the NumPy generator.
    bins
        The number of classes of ranks in the chi-squared test. By default each class has about
        twenty ranks, with at most 20 classes.

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
                f"but a parameter {truth.shape}; the first axis must count the draws"
            )
        below, equal = (draws < truth).sum(0), (draws == truth).sum(0)
        ranks.append(below + rng.integers(0, equal + 1))  # a random rank among equal draws
        lengths.add(len(draws))
    if len(lengths) != 1:
        raise ValueError(
            "kg.laws.simulation_based_calibration: the number of draws must be the same for all "
            f"data, got {sorted(lengths)}"
        )
    return rank_test(np.array(ranks), lengths.pop(), bins=bins)


@public
def rank_test(ranks: Any, draws: int, *, bins: int | None = None) -> Calibration:
    """Test whether ranks are uniform on 0, ..., draws (chi-squared).

    Parameters
    ----------
    ranks
        Whole numbers from 0 to `draws`. The first axis counts simulations; each remaining element
        is tested separately.
    draws
        The number of draws among which the ranks were taken.
    bins
        The number of classes; see `simulation_based_calibration`.

    Examples
    --------
    >>> import numpy as np
    >>> from kinetograph import laws
    >>> laws.rank_test(np.random.default_rng(1).integers(0, 100, size=1000), draws=99).passed()
    True
    """
    r = np.asarray(ranks)
    if not np.issubdtype(r.dtype, np.integer) or r.min() < 0 or r.max() > draws:
        raise ValueError(f"kg.laws.rank_test: ranks must be whole numbers from 0 to {draws}")
    if bins is None:
        bins = min(20, len(r) // 20)
    bins = min(bins, draws + 1)
    if bins < 2:
        raise ValueError(f"kg.laws.rank_test: {len(r)} ranks are too few; take 40 or more")
    # Classes of consecutive ranks, with sizes as equal as possible.
    classes = np.arange(draws + 1) * bins // (draws + 1)
    share = np.bincount(classes, minlength=bins)
    ps, statistics = {}, {}
    for index in np.ndindex(r.shape[1:]):
        name = "".join(f"[{i}]" for i in index) or "ranks"
        counts = np.bincount(classes[r[(slice(None), *index)]], minlength=bins)
        result = chi2_test(counts, share)
        ps[name], statistics[name] = result.p_values["counts"], result.statistics["counts"]
    return Calibration(ps, statistics, len(r), "Calibration", r, draws)
