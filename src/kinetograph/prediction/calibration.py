"""`kg.calibration`: test whether a sampler draws from the posterior of a model."""

import warnings
from typing import Any

import numpy as np

from ..calls.signature_errors import check_options
from ..graph.errors import DataError, ModelError
from ..graph.messages import site_text
from ..graph.public import public
from ..models.model import Model, check_model
from ..models.result_groups import data_groups
from ..models.result_types import DataTree
from ..results.advice import SamplingWarning
from ..runs.arguments import check_seed, check_whole
from ..runs.mcmc import mcmc
from .observed_distributions import followed
from .predicted_groups import tree_of
from .simulate import simulate

__all__ = ["calibration"]

FEWEST = 5  # least expected number of ranks in a bin


@public
def calibration(
    model: Model,
    simulations: int = 100,
    *,
    ranks: int = 99,
    sampler: Any = None,
    draws: int = 250,
    chains: int = 4,
    seed: int | np.integer | None = None,
    **options: Any,
) -> "DataTree":
    """Rank simulated unknowns among draws of their posteriors.

        x ~ p(x),  y ~ p(y | x),  x_1 ... x_L ~ p(x | y),  rank = number of x_l < x

    If the sampler is right, each rank from 0 to L is equally likely. Posteriors that are too narrow
    give too many ranks at both ends, posteriors that are too wide give too many in the middle, and
    shifted posteriors give too many at one end.

    Parameters
    ----------
    model
        Made by `kg.model`, with observed data (whose values do not matter) and distributions of all
        unknowns. The ranks are computed for its targets.
    simulations
        The number of simulated data sets; the sampler runs once for each.
    ranks
        L, the number of draws of each posterior among which the simulated value is ranked. The
        draws are evenly spaced, so that they are nearly independent. The test is sharpest if L is
        about the effective sample size.
    sampler, draws, chains, options
        As for `kg.mcmc`.
    seed
        A whole number; None takes one from the system's entropy.

    Returns
    -------
    xarray.DataTree
        `ranks`: each target, (simulation, *dims); `p_values`: of a chi-squared test of each
        element's ranks. The attribute `runs_with_warnings` is the number of runs with a warning
        about their draws (divergences, R-hat, effective sample size); the warnings are not shown.
        Short runs may warn although their ranks are uniform.

    Raises
    ------
    ModelError
        If nothing is observed, or an unknown has no distribution.
    DataError
        If data are whole numbers in an array of `kg.data`, and their distribution is continuous.
    ValueError
        If `ranks` exceeds the number of draws of a posterior.

    Notes
    -----
    The model keeps its data. The program is compiled once. Sources: S. R. Cook, A. Gelman, D. B.
    Rubin, Validation of software for Bayesian models, JCGS 15 (2006); S. Talts et al.,
    Validating Bayesian inference algorithms with simulation-based calibration (2018), algorithm 1.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0, 1, name="mu")
    >>> y = kg.observe([0.0, 0.0], kg.normal(mu, 1), name="y")
    >>> tree = kg.calibration(kg.model(mu), 20, ranks=19, draws=100, seed=1)
    >>> tree["ranks"]["mu"].shape, tree["p_values"]["mu"].shape
    ((20,), ())
    """
    check_model(model, "calibration")
    check_options("calibration", options, calibration, mcmc)
    counts = {"simulations": (simulations, 1), "ranks": (ranks, 1)}
    check_whole("calibration", counts | {"draws": (draws, 1), "chains": (chains, 1)})
    used = check_seed(seed, "calibration")
    if not model.observed:
        raise ModelError("calibration: the model observes nothing, so there is nothing to simulate")
    for node, likelihood in followed("calibration", model).items():
        if not likelihood.family.discrete and not np.issubdtype(node.dtype, np.floating):
            raise DataError(
                f"calibration: {model.name(node)}{site_text(node)} holds whole numbers, but "
                f"simulated values of {likelihood.family.name} are not whole; give floating-point "
                "numbers to kg.data"
            )
    if ranks > draws * chains:
        raise ValueError(
            f"calibration: ranks={ranks} exceeds the {draws * chains} draws of each posterior "
            f"(draws={draws}, chains={chains})"
        )
    prior = simulate(model, simulations, seed=used)
    observed_values = {model.name(node): np.array(model.value_of(node)) for node in model.observed}
    ranks_by_name: dict[str, list[np.ndarray]] = {name: [] for name in model.target_names}
    rng = np.random.default_rng(np.random.SeedSequence(used))
    runs_with_warnings = 0
    try:
        for number in range(simulations):
            new = prior["prior_predictive"].dataset.isel(chain=0, draw=number)
            model.set_data({name: new[name].values for name in observed_values})
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                tree = mcmc(
                    model,
                    sampler,
                    draws,
                    chains=chains,
                    seed=used + number + 1,
                    progress=False,
                    **({"keep_unknowns": False} | options),
                )
            runs_with_warnings += any(issubclass(w.category, SamplingWarning) for w in caught)
            for name in ranks_by_name:
                true = prior["prior"][name].values[0, number]
                ranks_by_name[name].append(_ranks(tree["posterior"][name].values, true, ranks, rng))
    finally:
        model.set_data(observed_values)
    return _as_tree(model, ranks_by_name, tree, ranks, used, runs_with_warnings)


def _ranks(draws: np.ndarray, true: np.ndarray, count: int, rng: np.random.Generator) -> Any:
    """The number of draws below the true value, with random ties."""
    flat = draws.reshape(-1, *draws.shape[2:])
    ranked = flat[np.linspace(0, len(flat) - 1, count).round().astype(int)]
    ties = (ranked == true).sum(0)
    return (ranked < true).sum(0) + rng.integers(0, ties + 1)


def _as_tree(
    model: Model,
    ranks_by_name: dict[str, list[np.ndarray]],
    tree: Any,
    ranks: int,
    seed: Any,
    runs_with_warnings: int,
) -> Any:
    """The ranks and their p-values as a results tree."""
    import xarray as xr
    from scipy import stats

    rank_arrays, p_values = {}, {}
    for name, rows in ranks_by_name.items():
        values = np.stack(rows)
        dims = tree["posterior"][name].dims[2:]
        coords = {d: tree["posterior"][name].coords[d] for d in dims}
        rank_arrays[name] = xr.DataArray(values, dims=("simulation", *dims), coords=coords)
        bins = max(2, min(ranks + 1, len(rows) // FEWEST))
        edges = np.linspace(0, ranks + 1, bins + 1).round()
        expected = np.diff(edges) * len(rows) / (ranks + 1)
        flat = values.reshape(len(rows), -1)
        p = [stats.chisquare(np.histogram(v, edges)[0], expected).pvalue for v in flat.T]
        p_values[name] = xr.DataArray(np.reshape(p, values.shape[1:]), dims=dims, coords=coords)
    groups = {"ranks": xr.Dataset(rank_arrays), "p_values": xr.Dataset(p_values)}
    attributes = {
        "seed": str(seed),
        "draws_ranked": ranks,
        "runs_with_warnings": runs_with_warnings,
    }
    return tree_of(groups | data_groups(model), attributes)
