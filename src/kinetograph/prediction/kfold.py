"""`kg.kfold`: k-fold cross-validation of a model."""

from typing import Any

import numpy as np

from ..graph.public import public
from ..graph.source import place_text, warn_user
from ..graph.value_texts import in_words
from ..models.model import Model
from ..results.advice import SamplingWarning
from ..results.check import check_tree
from ..runs.arguments import check_seed, check_whole
from .elpd import arviz, kfold_result
from .left_out import is_reliable_mean, text_of_unlikely
from .loo import unit_densities
from .masked_model import MaskedModel
from .observations import Observations, log_mean_exp
from .refits import refit

__all__ = ["kfold"]


@public
def kfold(
    model: Model,
    results: Any = None,
    k: int = 10,
    *,
    by: Any = None,
    folds: Any = None,
    var_name: str | None = None,
    sampler: Any = None,
    draws: int = 1000,
    warmup: int | None = None,
    chains: int = 4,
    seed: int | np.integer | None = None,
    progress: Any = True,
) -> Any:
    """Estimate how well a model predicts data that it has not seen.

        elpd = sum_i log p(y_i | y without the fold of i)

    The observations are divided into k folds, and the model is fitted k times, without one fold
    each time. All fits are one run of one compiled program: on threads that share the program, or
    as one batch on an accelerator.

    Parameters
    ----------
    model
        Made by `kg.model`, with its observations stated by `kg.observe`.
    results
        Of `kg.mcmc`, whose draws and tuning the fits start from. Without them warm-up takes longer,
        and the effective number of parameters is NaN.
    k
        The number of folds.
    by
        Groups of observations that stay together, an array with a label for each observation.
        Then y_i is a group, with its joint density, as in `kg.loo`. With as many folds as groups,
        one group is left out at a time.
    folds
        The fold of each observation, or of each group in the order of its label, in place of random
        folds: whole numbers from 0.
    var_name
        The observed array that is divided, if the model has several, or one of several numbers, as
        for `kg.loo`. The other data stay.
    sampler, draws, warmup, chains, seed, progress
        Of the fits, as for `kg.mcmc`; by default the sampler of `results`. The seed also gives the
        folds. The progress of all folds is one row.

    Returns
    -------
    arviz_stats.ELPDData
        `elpd`, its standard error `se`, the effective number of parameters `p`, and `elpd_i` for
        each observation, or group. `kg.compare` takes it.

    Raises
    ------
    ModelError, ShapeError, ImportError
        As `kg.loo`.
    ValueError
        If k is not between 2 and the number of observations or groups, or a fold is empty.

    Warns
    -----
    SamplingWarning
        If a fit has divergences or has not converged, or few draws decide the density of an
        observation, which is far from its prediction.

    Notes
    -----
    Source: A. Vehtari, A. Gelman, J. Gabry, Practical Bayesian model evaluation using leave-one-out
    cross-validation and WAIC, Statistics and Computing 27 (2017), section 2.3.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0, 10, name="mu")
    >>> y = kg.observe([1.2, 0.7, 1.9, 0.3], kg.normal(mu, 1), name="y")
    >>> model = kg.model(mu)
    >>> print(f"{kg.kfold(model, k=2, folds=[0, 0, 1, 1], seed=1, progress=False).elpd:.0f}")
    -5
    """
    arviz("kfold")
    check_whole("kfold", {"k": (k, 2)})
    used_seed = check_seed(seed, "kfold")
    if results is not None:
        check_tree(results, "kfold")
    observations = Observations("kfold", model, var_name, by)
    if observations.labels is None:
        observations.check_order("kfold", "folds", folds, model)
    fold_of = _folds(observations, k, folds, used_seed)
    count = int(fold_of.max()) + 1
    outs = [np.flatnonzero(fold_of == fold) for fold in range(count)]
    masked = MaskedModel("kfold", model, observations)
    masks = [observations.without(out) for out in outs]
    states = refit(
        masked,
        masks,
        [f"fold {fold}" for fold in range(count)],
        results,
        sampler=sampler,
        draws=draws,
        warmup=warmup,
        chains=chains,
        seed=used_seed,
        progress=progress,
    )
    values, unlikely = np.zeros(observations.count), []
    for out, stay, free in zip(outs, masks, states, strict=True):
        for unit in out:
            density = masked.log_density_of(free, ~observations.without(unit), stay)
            values[unit] = log_mean_exp(density)
            if not is_reliable_mean(density):
                unlikely.append(unit)
    if unlikely:
        text = text_of_unlikely("kfold", observations, np.sort(unlikely))
        warn_user(text, SamplingWarning)
    lpd = None
    if results is not None:
        tree = unit_densities("kfold", model, results, observations)
        lpd = log_mean_exp(tree["log_likelihood"][observations.name].values)
    samples = states[0].shape[0] * states[0].shape[1]
    return kfold_result(_labelled(model, observations, values), lpd, samples, count)


def _folds(observations: Observations, k: int, folds: Any, seed: int) -> np.ndarray:
    """The fold of each unit."""
    count = observations.count
    noun = "groups" if observations.labels is not None else "observations"
    if folds is not None:
        given = np.asarray(folds).ravel()
        if given.shape != (count,) or given.dtype.kind not in "iu" or (given < 0).any():
            number = given.shape == (1,) and given.dtype.kind in "iu"
            got = f"{given.size} of {given.dtype}"
            hint = f"{place_text()}; the number of folds is given by k={given[0]}" if number else ""
            if isinstance(folds, str):
                got, hint = in_words(folds), f"{place_text()}; write folds=data[{folds!r}]"
            raise ValueError(
                f"kfold: folds must be a whole number from 0 for each of the {count} {noun} of "
                f"{observations.name}, got {got}{hint}"
            )
        empty = np.setdiff1d(np.arange(given.max() + 1), given)
        if empty.size or given.max() < 1:
            problem = f"fold {empty[0]} has none" if empty.size else "there is one fold only"
            raise ValueError(
                f"kfold: each of at least two folds must have {noun} of {observations.name}: "
                f"{problem}"
            )
        return given
    if k > count:
        raise ValueError(
            f"kfold: k={k} folds are more than the {count} {noun} of {observations.name}; "
            f"k={count} leaves out one at a time"
        )
    order = np.random.default_rng(np.random.SeedSequence(seed)).permutation(count)
    numbers = np.empty(count, int)
    numbers[order] = np.arange(count) % k
    return numbers


def _labelled(model: Model, observations: Observations, values: np.ndarray) -> Any:
    """A value for each unit, with the labels of results."""
    import xarray as xr

    if observations.labels is not None:
        return xr.DataArray(values, {observations.dim: observations.labels}, (observations.dim,))
    axes = observations.axes(model)
    return xr.DataArray(values.reshape(observations.shape), axes, tuple(axes))
