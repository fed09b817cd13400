"""`kg.compare`: models compared by how well they predict."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..calls.signature_errors import check_options
from ..graph.errors import ModelError
from ..graph.public import public
from ..graph.source import warn_user
from ..graph.value_texts import in_words
from ..models.model import Model
from ..results.advice import SamplingWarning
from ..results.convergence import convergence
from ..results.diagnosis import LOOKED_AT
from ..runs.arguments import check_one_of
from .elpd import arviz
from .loo import loo, loo_of
from .observations import Observations

__all__ = ["compare"]

METHODS = ("stacking", "BB-pseudo-BMA", "pseudo-BMA", "evidence")


@public
def compare(
    models: Mapping[str, Any],
    *,
    var_name: str | None = None,
    by: Any = None,
    method: str = "stacking",
    reference: str | None = None,
    **options: Any,
) -> Any:
    """Compare models by their expected log predictive densities.

        elpd_diff = sum_i (elpd_i of the model - elpd_i of the best model)
        dse       = sqrt(n var_i (elpd_i of the model - elpd_i of the best model))

    Stacking weights maximise sum_i log sum_m w_m p_m(y_i | y_-i): the best average of the models'
    predictions.

    Parameters
    ----------
    models
        For each name a pair (model, results), which `kg.loo` takes, or a result of `kg.loo` or
        `kg.kfold`.
    var_name, by
        As for `kg.loo`.
    method
        The weights: "stacking", "BB-pseudo-BMA" or "pseudo-BMA". With "evidence", pairs (model,
        results of `kg.temper`) are compared by their evidence Z, and the weights are the posterior
        probabilities of the models, which are equally probable before: Z_m / sum of Z.
    reference
        The name of the model with which the other models are compared; by default the best model.
    options
        Further arguments of `kg.loo`, such as `refits`; `progress` is True by default.

    Returns
    -------
    pandas.DataFrame
        A row for each model, the best one first: `rank`, `elpd_diff` and its standard error `dse`,
        `p_worse`, `elpd`, `se`, the effective number of parameters `p`, `weight`, and texts that
        warn of differences that are too small or of too few data. A difference below 4, or below
        twice its standard error, does not tell the models apart. With "evidence": `rank`,
        `log_evidence`, `se`, `log_bayes_factor` against the best model or the `reference`, its
        standard error `dse`, and `weight`. It prints with all columns, rounded; the texts follow
        below the numbers.

    Raises
    ------
    TypeError
        If a value is neither a pair nor a result.
    ModelError
        If the models observe different data, or different numbers of observations.
    ValueError
        If there are fewer than two models, `method` or `reference` is unknown, or results have no
        evidence.
    ImportError
        If arviz-stats is not installed.

    Warns
    -----
    SamplingWarning
        If the chains of a model have not converged; as `kg.loo`.

    Notes
    -----
    The models must observe the same values. A model of log y is compared with a model of y by the
    density of y: observe `kg.lognormal`, not the logarithms.

    Sources: A. Vehtari, A. Gelman, J. Gabry, Practical Bayesian model evaluation using
    leave-one-out cross-validation and WAIC, Statistics and Computing 27 (2017); Y. Yao, A. Vehtari,
    D. Simpson, A. Gelman, Using stacking to average Bayesian predictive distributions, Bayesian
    Analysis 13 (2018). Differences and weights are computed by arviz-stats.

    Examples
    --------
    >>> import kinetograph as kg
    >>> y = [1.2, 0.7, 1.9, 0.3]
    >>> def build(mean):
    ...     mu = kg.normal(mean, 0.1)
    ...     kg.observe(y, kg.normal(mu, 1), name="y")
    ...     return mu
    >>> fits = {}
    >>> for mean in (1, 5):
    ...     model = kg.model(lambda: build(mean))
    ...     fits[f"about {mean}"] = model, kg.mcmc(model, seed=1, progress=False)
    >>> list(kg.compare(fits).index)
    ['about 1', 'about 5']
    """
    if not isinstance(models, Mapping):
        raise TypeError(
            "compare: give the models by name, as in "
            'kg.compare({"linear": (model, results), ...}), '
            f"got {in_words(models)}"
        )
    check_options("compare", options, compare, loo)
    if len(models) < 2:
        raise ValueError(f"compare: at least two models are needed, got {len(models)}")
    check_one_of("compare", "method", method, METHODS)
    if reference is not None:
        check_one_of("compare", "reference", reference, tuple(models))
    if method == "evidence":
        return _by_evidence(models, reference)
    _check_data(models, var_name, by)
    stats = arviz("compare")
    options = {"progress": True} | options
    results = {
        name: loo_of(f"compare: {name!r}", *each, var_name=var_name, by=by, **options)
        if _is_pair(each)
        else each
        for name, each in models.items()
    }
    _warn_of_convergence(models)
    sizes = {name: int(each.n_data_points) for name, each in results.items()}
    (first, size), *rest = sizes.items()
    for name, count in rest:
        if count != size:
            raise ModelError(
                f"compare: {first!r} has {size} observations, and {name!r} has {count}; only "
                "models of the same observations can be compared"
            )
    table = stats.compare(results, method=method, reference=reference, round_to="none")
    return _printed(table)


def _by_evidence(models: Mapping[str, Any], reference: str | None) -> Any:
    """The table of the models by their evidence."""
    import pandas as pd

    for name, each in models.items():
        if not _is_pair(each) or "log_evidence" not in getattr(each[1], "attrs", {}):
            raise ValueError(
                f"compare: {name!r} has no evidence; give a pair (model, kg.temper(model))"
            )
    data = {name: _observed(each[0]) for name, each in models.items()}
    first = next(iter(data))
    if different := next((name for name in data if data[name] != data[first]), None):
        raise ModelError(
            f"compare: {first!r} and {different!r} observe different data; evidences of different "
            "data cannot be compared"
        )
    attributes = {name: each[1].attrs for name, each in models.items()}
    names = sorted(attributes, key=lambda name: -attributes[name]["log_evidence"])
    values = np.array([attributes[name]["log_evidence"] for name in names])
    errors = np.array([attributes[name]["log_evidence_se"] for name in names])
    place = 0 if reference is None else names.index(reference)
    weights = np.exp(values - values[0])
    table = pd.DataFrame(
        {
            "rank": np.arange(len(names)),
            "log_evidence": values,
            "se": errors,
            "log_bayes_factor": values - values[place],
            "dse": np.where(np.arange(len(names)) == place, 0.0, np.hypot(errors, errors[place])),
            "weight": weights / weights.sum(),
        },
        index=names,
    )
    return _printed(table)


def _printed(table: Any) -> Any:
    """The data frame that prints all of its columns."""
    from .comparison import Comparison

    return Comparison(table)


def _warn_of_convergence(models: Mapping[str, Any]) -> None:
    """Warn of results whose chains have not converged."""
    for name, each in models.items():
        for finding in convergence(each[1], LOOKED_AT) if _is_pair(each) else ():
            if finding.kind == "rhat":
                text = f"compare: in the results of {name!r} {finding.message}"
                warn_user(f"{text} Its elpd and weight may be wrong.", SamplingWarning)


def _observed(model: Model) -> list[tuple[Any, ...]]:
    """The observed arrays, sorted by their content."""
    arrays = (np.asarray(model.value_of(node), float) for node in model.observed)
    return sorted((array.shape, array.tobytes()) for array in arrays if array.size)


def _is_pair(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and len(value) == 2 and isinstance(value[0], Model)


def _check_data(models: Mapping[str, Any], var_name: Any, by: Any) -> None:
    """Raise if models observe different data, or a value is unusable."""
    values: dict[str, np.ndarray] = {}
    for name, each in models.items():
        if _is_pair(each):
            observations = Observations("compare", each[0], var_name, by)
            values[name] = observations.values(each[0])
        elif not hasattr(each, "elpd_i"):
            swapped = isinstance(each, tuple) and _is_pair(each[::-1])
            raise TypeError(
                f"compare: {name!r} must be a pair (model, results), or a result of kg.loo or "
                f"kg.kfold, got {'(results, model)' if swapped else in_words(each)}"
            )
    if not values:
        return
    (first, expected), *rest = values.items()
    for name, data in rest:
        if data.shape != expected.shape:
            difference = f"an array of shape {expected.shape}, and {name!r} one of {data.shape}"
        elif not np.array_equal(data, expected, equal_nan=data.dtype.kind == "f"):
            place = tuple(int(i) for i in np.argwhere(data != expected)[0])
            index = ", ".join(map(str, place))
            difference = f"{expected[place]:.6g} at index [{index}], and {name!r} {data[place]:.6g}"
        else:
            continue
        raise ModelError(
            f"compare: {first!r} observes {difference}; densities of different data cannot be "
            "compared. If one model transforms the data, observe the same values by a distribution "
            "of them, such as kg.lognormal"
        )
