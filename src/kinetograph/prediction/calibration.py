"""`kg.calibration`: whether a sampler, run on a model, gives that model's posterior."""

import warnings
from typing import Any

import numpy as np

from ..graph.errors import ModelError
from ..models.groups import data_groups
from ..models.model import Model
from ..models.typing import DataTree
from ..runs.advice import SamplingWarning
from ..runs.arguments import check_model, check_seed, check_whole
from ..runs.mcmc import mcmc
from .groups import tree_of
from .simulate import simulate

__all__ = ["calibration"]

FEWEST = 5  # expected ranks a bin


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
    """Ranks of simulated unknowns among draws of their posteriors, which should be uniform.

        x ~ p(x),  y ~ p(y | x),  x_1 ... x_L ~ p(x | y),  rank = number of x_l < x

    If the draws are of the right posteriors, each rank from 0 to L is equally likely. Draws that
    are too narrow, too wide or beside it show in the ranks: high at both ends, in the middle, or at
    one end.

    Parameters
    ----------
    model
        Made by `kg.model`, with observed data (whose values do not matter) and distributions of all
        unknowns. What is checked are its targets.
    simulations
        How many data sets are simulated and sampled from.
    ranks
        L, how many draws of each posterior are ranked against: evenly spaced, so that they are
        nearly independent; with as many as there are effective draws the test is sharpest.
    sampler, draws, chains, options
        As for `kg.mcmc`.
    seed
        A whole number; None takes one from the system's entropy.

    Returns
    -------
    xarray.DataTree
        `ranks`: each target, (simulation, *dims); `p_values`: of a chi-squared test of each
        element's ranks. The attributes count the runs that gave warnings.

    Raises
    ------
    ModelError
        If nothing is observed, or an unknown has no distribution.
    ValueError
        If `ranks` are more than there are draws.

    Notes
    -----
    The model keeps its data. The program is compiled once. Sources: S. R. Cook, A. Gelman, D. B.
    Rubin, Validation of software for Bayesian models, JCGS 15 (2006); S. Talts and others,
    Validating Bayesian inference algorithms with simulation-based calibration (2018), algorithm 1.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0, 1, name="mu")
    >>> y = kg.observe([0.0, 0.0], kg.normal(mu, 1), name="y")
    >>> found = kg.calibration(kg.model(mu), 20, ranks=19, draws=100, seed=1)
    >>> found["ranks"]["mu"].shape, found["p_values"]["mu"].shape
    ((20,), ())
    """
    check_model(model, "calibration")
    counts = {"simulations": (simulations, 1), "ranks": (ranks, 1)}
    check_whole("calibration", counts | {"draws": (draws, 1), "chains": (chains, 1)})
    used = check_seed(seed, "calibration")
    if not model.observed:
        raise ModelError("calibration: the model observes nothing, so there is nothing to simulate")
    if ranks > draws * chains:
        raise ValueError(
            f"calibration: ranks={ranks} are more than the {draws * chains} draws of each "
            f"posterior (draws={draws}, chains={chains})"
        )
    prior = simulate(model, simulations, seed=used)
    seen = {model.name(node): np.array(model.value_of(node)) for node in model.observed}
    found: dict[str, list[np.ndarray]] = {name: [] for name in model.target_names}
    rng = np.random.default_rng(np.random.SeedSequence(used))
    troubled = 0
    try:
        for number in range(simulations):
            new = prior["prior_predictive"].dataset.isel(chain=0, draw=number)
            model.set_data({name: new[name].values for name in seen})
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                tree = mcmc(
                    model,
                    sampler,
                    draws,
                    chains=chains,
                    seed=used + number + 1,
                    progress=False,
                    **options,
                )
            troubled += any(issubclass(w.category, SamplingWarning) for w in caught)
            for name in found:
                true = prior["prior"][name].values[0, number]
                found[name].append(_ranks(tree["posterior"][name].values, true, ranks, rng))
    finally:
        model.set_data(seen)
    return _as_tree(model, found, tree, ranks, used, troubled)


def _ranks(draws: np.ndarray, true: np.ndarray, count: int, rng: np.random.Generator) -> Any:
    """How many of the draws lie below; among equal ones at random."""
    flat = draws.reshape(-1, *draws.shape[2:])
    some = flat[np.linspace(0, len(flat) - 1, count).round().astype(int)]
    ties = (some == true).sum(0)
    return (some < true).sum(0) + rng.integers(0, ties + 1)


def _as_tree(
    model: Model,
    found: dict[str, list[np.ndarray]],
    tree: Any,
    ranks: int,
    seed: Any,
    troubled: int,
) -> Any:
    import xarray as xr
    from scipy import stats

    own, p_values = {}, {}
    for name, rows in found.items():
        values = np.stack(rows)
        dims = tree["posterior"][name].dims[2:]
        coords = {d: tree["posterior"][name].coords[d] for d in dims}
        own[name] = xr.DataArray(values, dims=("simulation", *dims), coords=coords)
        bins = max(2, min(ranks + 1, len(rows) // FEWEST))
        edges = np.linspace(0, ranks + 1, bins + 1).round()
        expected = np.diff(edges) * len(rows) / (ranks + 1)
        flat = values.reshape(len(rows), -1)
        p = [stats.chisquare(np.histogram(v, edges)[0], expected).pvalue for v in flat.T]
        p_values[name] = xr.DataArray(np.reshape(p, values.shape[1:]), dims=dims, coords=coords)
    groups = {"ranks": xr.Dataset(own), "p_values": xr.Dataset(p_values)}
    attributes = {"seed": str(seed), "draws_ranked": ranks, "runs_with_warnings": troubled}
    return tree_of(groups | data_groups(model), attributes)
