"""`kg.loo`: leave-one-out cross-validation of a model."""

import warnings
from typing import Any

import numpy as np

from ..graph.public import public
from ..graph.source import warn_user
from ..models.model import Model
from ..results.advice import SamplingWarning
from ..runs.arguments import check_flag, check_whole
from .elpd import arviz, finished
from .left_out import MOST_ERROR, bridged, text_of_unlikely
from .masked_model import MaskedModel
from .observations import Observations, log_mean_exp
from .pointwise import densities_for
from .refits import refit

__all__ = ["loo", "loo_of", "unit_densities"]

# Where an observation alone informs an unknown, such as the effect of a group with one row, most
# draws lie at the observation, and the estimate of k is often below the threshold although the
# shape is near 1. Such an observation changes its own density by more than `OWN_EFFECT`, and k of
# its weights must be below `SAFE_K`, where they have a finite variance.
OWN_EFFECT = 0.4
SAFE_K = 0.5


@public
def loo(
    model: Model,
    results: Any,
    *,
    var_name: str | None = None,
    by: Any = None,
    moment_match: bool = True,
    refits: int = 50,
    draws: int | None = None,
    warmup: int | None = None,
    seed: int | np.integer | None = None,
    progress: Any = False,
) -> Any:
    """Estimate how well a model predicts each observation from the other ones.

        elpd = sum_i log p(y_i | y_-i),
        p(y_i | y_-i) = integral p(y_i | y_-i, x) p(x | y_-i) dx

    The posteriors without one observation come from the draws of the full posterior, by importance
    weights with Pareto-smoothed tails (PSIS). Where the shape k of the tail says that weights are
    unreliable, the model is fitted again without that observation. The limit of k is 0.7, and 0.5
    for an observation that raises its own log density by more than 0.4, as the only row of a group
    does. All refits are one run of one compiled program, which starts from the draws and the tuning
    of `results`. If more than `refits` would be necessary, the draws are first moved to the moments
    of the posterior without that observation.

    Parameters
    ----------
    model
        Made by `kg.model`, with its observations stated by `kg.observe`.
    results
        Of `kg.mcmc`. Draws are moved only if `results` hold draws of all continuous unknowns, as
        they do by default.
    var_name
        The observed array whose observations are left out, if the model has several. The other data
        stay. Numbers that a model observes one by one count as one array: all of them if the model
        has no array, or the numbers of one line of the program, by the name of one of these.
    by
        Groups of observations that are left out together, such as all visits of a patient: an
        array with a label for each observation. Then y_i above is a group, with its joint density.
    moment_match
        Whether to move draws if more than `refits` observations have unreliable weights. Moved
        draws may stop short of a posterior that lies far away; their elpd is then too high.
    refits
        The largest number of refits. If more observations need one, also after draws have been
        moved, none is made, and a warning says so; 0 makes none. Each group of `by` needs one.
    draws, warmup, seed, progress
        Of the refits, as for `kg.mcmc`; by default as many draws of each chain as in `results`.

    Returns
    -------
    arviz_stats.ELPDData
        `elpd`, its standard error `se`, the effective number of parameters `p`; `elpd_i` and
        `pareto_k` for each observation, or group. An observation with a refit has k = 0: draws of
        the posteriors with and without it are bridged (Meng and Wong, Statistica Sinica 6 (1996)).
        It prints as a table, and ArviZ's functions and plots take it (`arviz_plots.plot_khat`).

    Raises
    ------
    ModelError
        If the model observes nothing, or several arrays without `var_name`; if an array has one
        observation only, such as one vector with a joint density; if draws of an unknown are
        missing.
    ShapeError
        If `by` has another shape than the observations.
    ImportError
        If arviz-stats is not installed.

    Warns
    -----
    SamplingWarning
        If weights stay unreliable, a refit has divergences or has not converged, or an observation
        is so far from its prediction that few draws have its density.

    Notes
    -----
    Observations that share discrete unknowns, such as the times of a hidden Markov chain, are
    predicted given the other observations, as `kg.log_likelihood` does. An observation that is also
    a parameter of another observation, as in an autoregression, stays there; leave out the future
    by `kg.predict` instead.

    Sources: A. Vehtari, A. Gelman, J. Gabry, Practical Bayesian model evaluation using
    leave-one-out cross-validation and WAIC, Statistics and Computing 27 (2017); T. Paananen,
    J. Piironen, P.-C. Bürkner, A. Vehtari, Implicitly adaptive importance sampling, Statistics and
    Computing 31 (2021). Both are computed by arviz-stats.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0, 10, name="mu")
    >>> y = kg.observe([1.2, 0.7, 1.9, 0.3], kg.normal(mu, 1), name="y")
    >>> model = kg.model(mu)
    >>> results = kg.mcmc(model, seed=1, progress=False)
    >>> print(f"{kg.loo(model, results).elpd:.1f}")
    -5.3
    """
    chosen = {"var_name": var_name, "by": by, "moment_match": moment_match, "refits": refits}
    run = {"draws": draws, "warmup": warmup, "seed": seed, "progress": progress}
    return loo_of("loo", model, results, **chosen, **run)


def loo_of(
    doing: str,
    model: Model,
    results: Any,
    *,
    var_name: str | None = None,
    by: Any = None,
    moment_match: bool = True,
    refits: int = 50,
    draws: int | None = None,
    **run: Any,
) -> Any:
    """The result of `kg.loo`; `doing` begins its messages."""
    stats = arviz("loo")
    check_flag(doing, "moment_match", moment_match)
    check_whole(doing, {"refits": (refits, 0)})
    observations = Observations(doing, model, var_name, by)
    observations.check_results(doing, model, results)
    tree = _spread_out(unit_densities(doing, model, results, observations), observations.name)
    densities = tree["log_likelihood"][observations.name]
    lpd = log_mean_exp(densities.values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # arviz-stats warns of tails that are improved below
        elpd = stats.loo(tree, pointwise=True, var_name=observations.name)
    elpd.good_k, unsure = float(elpd.good_k), np.arange(0)
    bad = _to_refit(observations, elpd, lpd, refits)
    if bad.size and (moment_match or refits):
        masked = MaskedModel(doing, model, observations)
        free = masked.free(results) if moment_match and len(bad) > refits else None
        if free is not None:
            elpd = _moved(stats, elpd, tree, masked, free)
            bad = _to_refit(observations, elpd, lpd, refits)
        if bad.size and len(bad) <= refits:
            options = {"draws": draws or densities.sizes["draw"], "chains": _chains(results)} | run
            unsure = _refitted(elpd, masked, bad, densities.values, results, options)
    bad = np.setdiff1d(_unreliable(elpd, lpd), unsure)
    if len(unsure):
        warn_user(text_of_unlikely(doing, observations, unsure), SamplingWarning)
    if observations.labels is not None and observations.count > refits:
        bad = np.arange(observations.count)
    if bad.size:
        warn_user(_advice(doing, observations, elpd, bad, refits), SamplingWarning)
    return finished(elpd, lpd)


def unit_densities(doing: str, model: Model, results: Any, observations: Observations) -> Any:
    """Results with the log density of each unit, given the other units."""
    import xarray as xr

    tree = densities_for(doing, model, results)
    each = observations.densities(tree)
    if observations.labels is not None and "given" in each.attrs:
        masked = MaskedModel(doing, model, observations)
        free = masked.free(results)
        if free is None:
            raise masked.not_recorded(results)
        everything = np.ones(observations.shape, bool)
        columns = [
            masked.log_density_of(free, everything, observations.without(unit))
            for unit in range(observations.count)
        ]
        units = observations.labelled(xr, np.stack(columns, -1), each)
    else:
        units = observations.by_unit(each)
    groups = {"posterior": tree["posterior"].dataset}
    groups["log_likelihood"] = units.to_dataset(name=observations.name)
    return xr.DataTree.from_dict(groups)


def _spread_out(tree: Any, name: str) -> Any:
    """The densities, with noise of 1e-9 where all draws are equal.

    Such a unit does not depend on the unknowns, and all its weights are equal: a tail cannot be
    fitted to equal weights.
    """
    densities = tree["log_likelihood"][name]
    values = densities.values
    equal = np.ptp(values, (0, 1)) <= 1e-10 * np.maximum(1.0, np.abs(values[0, 0]))
    if equal.any():
        noise = 1e-9 * np.random.default_rng(0).normal(size=values.shape)
        tree["log_likelihood"][name] = densities.copy(data=np.where(equal, values + noise, values))
    return tree


def _to_refit(observations: Observations, elpd: Any, lpd: np.ndarray, refits: int) -> np.ndarray:
    """The numbers of the units without which the model is fitted again.

    The weights of a group that has an effect of its own hide that all draws lie at the data of the
    group: k stays small where densities are too high. So each group is refitted if there are few.
    """
    if observations.labels is not None and observations.count <= refits:
        return np.arange(observations.count)
    return _unreliable(elpd, lpd)


def _unreliable(elpd: Any, lpd: np.ndarray) -> np.ndarray:
    """The numbers of the units whose weights are unreliable.

    `lpd` holds the log of the mean density of each unit, over draws of the whole posterior.
    """
    influential = lpd.ravel() - elpd.elpd_i.values.ravel() > OWN_EFFECT
    limit = np.where(influential, np.minimum(SAFE_K, elpd.good_k), elpd.good_k)
    return np.flatnonzero(~(elpd.pareto_k.values.ravel() <= limit))


def _chains(results: Any) -> int:
    return int(results["posterior"].sizes["chain"]) // int(results.attrs.get("walkers", 1))


def _moved(stats: Any, elpd: Any, tree: Any, masked: MaskedModel, free: np.ndarray) -> Any:
    """The result after the draws have been moved where weights are unreliable."""
    import xarray as xr

    observations = masked.observations
    everything = np.ones(observations.shape, bool)
    lead = {dim: tree["posterior"].coords[dim] for dim in ("chain", "draw")}
    latest: list[Any] = [None, None]  # free states, with their log densities

    def log_prob(states: Any) -> Any:
        if latest[0] is None or not np.array_equal(latest[0], states.values):
            latest[:] = states.values, masked.log_prob(states.values, everything)
        return xr.DataArray(latest[1], lead, ("chain", "draw"))

    def log_density(states: Any, unit: int) -> Any:
        whole = log_prob(states)
        rest = masked.log_prob(states.values, observations.without(unit))
        with np.errstate(invalid="ignore"):  # impossible states have weight 0
            return whole - rest

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return stats.loo_moment_match(
            tree,
            elpd,
            log_prob_upars_fn=log_prob,
            log_lik_i_upars_fn=log_density,
            k_threshold=min(SAFE_K, elpd.good_k),
            upars=xr.DataArray(free, lead, ("chain", "draw", "free")),
            var_name=observations.name,
            pointwise=True,
        )


def _refitted(
    elpd: Any,
    masked: MaskedModel,
    bad: np.ndarray,
    densities: np.ndarray,
    results: Any,
    options: dict[str, Any],
) -> np.ndarray:
    """Replace the densities of some units by densities of exact refits.

    Returns the units whose densities stay unreliable.
    """
    observations = masked.observations
    masks = [observations.without(unit) for unit in bad]
    titles = [observations.text(unit) for unit in bad]
    everything, unsure = np.ones(observations.shape, bool), []
    for unit, stay, free in zip(
        bad, masks, refit(masked, masks, titles, results, **options), strict=True
    ):
        without = masked.log_density_of(free, everything, stay)
        place = np.unravel_index(unit, elpd.elpd_i.shape)
        density, error = bridged(without, densities[(..., *place)])
        reliable = error <= MOST_ERROR
        elpd.elpd_i.values[place] = density
        elpd.pareto_k.values[place] = 0.0 if reliable else np.inf
        unsure += [] if reliable else [unit]
    return np.array(unsure, int)


def _advice(doing: str, observations: Observations, elpd: Any, bad: np.ndarray, refits: int) -> str:
    named = ", ".join(observations.text(unit) for unit in bad[:5])
    more = f" and {len(bad) - 5} more" if len(bad) > 5 else ""
    if observations.labels is not None:
        count = observations.count
        return (
            f"{doing}: importance weights hide that a group has an effect of its own, also where "
            f"Pareto k is small, and {count} groups are more than refits={refits}, so the elpd may "
            f"be too high. kg.loo(..., refits={count}) fits the model again without each of them, "
            "and kg.kfold(model, results, by=...) needs ten refits"
        )
    remedy = (
        f"kg.loo(..., refits={len(bad)}) fits the model again without each of them, and "
        "kg.kfold(model, results) needs ten refits"
    )
    return (
        f"{doing}: the importance weights of {len(bad)} of {observations.count} observations are "
        f"unreliable (Pareto k above {elpd.good_k:.2g}, or above {SAFE_K} where the observation "
        f"raises its own density much): {named}{more}; more than refits={refits} "
        f"would have to be fitted again, so the elpd may be too high. {remedy}"
    )
