"""Log densities of observations and unknowns, one by one, for each draw of a posterior."""

from typing import Any

from ..bits.keys import SIMULATION, make_key
from ..graph.errors import ModelError
from ..graph.node import Node
from ..models.ancestral.forward import plan
from ..models.ancestral.rows import run_rows
from ..models.factor import density_at
from ..models.model import Model
from ..runs.arguments import check_model
from .groups import as_group, with_group
from .observed import followed
from .recorded import recorded

__all__ = ["log_likelihood", "log_prior"]


def log_likelihood(model: Model, results: Any) -> Any:
    """The log density of each observation, for each draw: what `arviz.loo` and its like need.

        log p(y_i | x)

    Parameters
    ----------
    model
        Made by `kg.model`, whose unknowns the results are of.
    results
        Of `kg.mcmc` or another method, with draws of all unknowns.

    Returns
    -------
    xarray.DataTree
        The results, with the group `log_likelihood`, (chain, draw, *dims): a variable for each
        observed array, with a number for each element, of vectors and matrices for each of them.

    Raises
    ------
    TypeError
        If these are no results.
    ModelError
        If nothing is observed, or some data twice, or an unknown that is needed is not among the
        draws.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0, 10, name="mu")
    >>> y = kg.observe([1.2, 0.7, 1.9], kg.normal(mu, 1), name="y")
    >>> model = kg.model(mu)
    >>> results = kg.mcmc(model, seed=1, draws=200, progress=False)
    >>> kg.log_likelihood(model, results)["log_likelihood"]["y"].shape
    (4, 200, 3)
    """
    check_model(model, "log_likelihood")
    pairs = [(d, data) for data, d in followed("log_likelihood", model).items()]
    return _with_densities("log_likelihood", model, results, pairs)


def log_prior(model: Model, results: Any) -> Any:
    """The log density of each unknown under its own distribution, for each draw.

        log p(x_i | parents of x)

    On the scale of the unknowns, without the Jacobians of the free state: what
    `arviz.psense` and its like need.

    Parameters
    ----------
    model, results
        As for `kg.log_likelihood`.

    Returns
    -------
    xarray.DataTree
        The results, with the group `log_prior`, (chain, draw, *dims).

    Raises
    ------
    TypeError, ModelError
        As `kg.log_likelihood`.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0, 10, name="mu")
    >>> y = kg.observe([1.2, 0.7, 1.9], kg.normal(mu, 1), name="y")
    >>> model = kg.model(mu)
    >>> results = kg.mcmc(model, seed=1, draws=200, progress=False)
    >>> kg.log_prior(model, results)["log_prior"]["mu"].shape
    (4, 200)
    """
    check_model(model, "log_prior")
    unknowns = model.component.unknowns
    pairs = [(v.distribution, v) for v in unknowns if v.distribution is not None]
    return _with_densities("log_prior", model, results, pairs)


def _with_densities(group: str, model: Model, results: Any, pairs: list[Any]) -> Any:
    if not pairs:
        what = "observes nothing" if group == "log_likelihood" else "has no distributions"
        raise ModelError(f"{group}: the model {what}, so there is nothing to take the density of")
    names = {n: model.name(n) for n in (*model.component.unknowns, *model.targets)}
    known = recorded(group, results, names, model.fixed_values)
    # Kept with the model, so that a second call finds its program.
    with model.its_values():
        targets: tuple[Node, ...] = model.kept(
            group, lambda: tuple(density_at(group, follows, node) for follows, node in pairs)
        )
        program = plan(group, targets, known.values, {}, names, set(model.component.unknowns))
        rows = run_rows(program, make_key(0, SIMULATION, 0), known.count, known.of(program.given))
    drawn = {
        model.name(node): (node, known.by_chain(values))
        for (_, node), values in zip(pairs, rows, strict=True)
    }
    return with_group(results, group, as_group(group, drawn, ("chain", "draw"), model.coords))
