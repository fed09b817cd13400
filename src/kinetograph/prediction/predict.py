"""`kg.predict`: data that a posterior predicts."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..bits.keys import SIMULATION, make_key
from ..distributions.variable import Distribution
from ..graph.array import Array, Computed
from ..graph.errors import ModelError
from ..graph.node import Data, Node
from ..models.ancestral.forward import plan
from ..models.ancestral.rows import run_rows
from ..models.discovery import unknowns_above
from ..models.model import Model
from ..models.reshaped import Remaker
from ..models.typing import DataTree
from ..runs.arguments import check_model, check_seed
from .current_data import with_current_data
from .groups import as_group, with_group
from .naming import named_targets, names_of_unknowns
from .observed import followed
from .recorded import recorded_of

__all__ = ["predict"]


def predict(
    model: Model,
    results: Any,
    *new: Computed,
    observed: Sequence[Array] | None = None,
    seed: int | np.integer | None = None,
    **named: Computed,
) -> "DataTree":
    """Draw data from the posterior: for each draw of the unknowns, data as it predicts them.

        y' ~ p(y' | x),  x ~ p(x | y)

    In place of the data that the model observes, or what follows from its unknowns elsewhere: at
    other rows of the covariates, for groups that were not there. Such a quantity is written as
    in a model, with the same unknowns: `y_new=kg.normal(a + b * x_new, sd)`. Unknowns that are
    none of the model's, as the effect of a new group, are drawn from their distributions.

    Parameters
    ----------
    model
        Made by `kg.model`, whose unknowns the results are of.
    results
        Of `kg.mcmc` or another method, with draws of all unknowns that the data follow from, or of
        what was computed of them, unless that was of other data than the model has. Fewer
        of them are had by `results.isel(draw=slice(None, None, 10))`.
    *new, **named
        Distributions, or what is computed from them and from unknowns, under their own names or
        those given by keyword; none: the observed data anew.
    observed
        Which of the observed data are drawn anew; None: all of them. Others stay.
    seed
        As for `kg.simulate`.

    Returns
    -------
    xarray.DataTree
        The results, with the group `posterior_predictive`, (chain, draw, *dims); of new
        quantities it is `predictions`.

    Raises
    ------
    TypeError
        If these are no results, an array is not observed, or what is new is no array.
    ModelError
        If an unknown that is needed is not among the draws: it was no target. If one that is none
        of the model's is called as one of it, or follows from data that have another shape since.
    ShapeError
        If the draws have other shapes than the unknowns of the model.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0, 10, name="mu")
    >>> y = kg.observe([1.2, 0.7, 1.9], kg.normal(mu, 1), name="y")
    >>> model = kg.model(mu)
    >>> results = kg.mcmc(model, seed=1, draws=200, progress=False)
    >>> results = kg.predict(model, results, seed=1)
    >>> results["posterior_predictive"]["y"].shape
    (4, 200, 3)

    A further observation, and the mean of ten:

    >>> later = kg.normal(mu, 1, shape=10)
    >>> results = kg.predict(model, results, later=later, average=later.mean(), seed=1)
    >>> results["predictions"]["average"].shape
    (4, 200)
    """
    check_model(model, "predict")
    used = check_seed(seed, "predict")
    known, names = recorded_of("predict", model, results)
    simulated: dict[Node, Distribution] = {}
    if new or named:
        if observed is not None:
            raise TypeError("predict: give observed= or new quantities, not both")
        group, wanted = "predictions", _of_its_data(model, named_targets("predict", new, named))
        _check_not_observed(model, wanted)
        names = names_of_unknowns(unknowns_above(wanted), wanted, names)
    else:
        group, chosen = "posterior_predictive", _chosen(model, observed)
        wanted = {node: model.name(node) for node in chosen}
        follows = followed("predict", model)
        simulated |= {node: follows[node] for node in chosen}
        names |= wanted
    inferred = set(model.component.unknowns)
    program = plan("predict", list(wanted), known.values, simulated, names, inferred)
    key = make_key(used, SIMULATION, 0)
    with model.its_values():
        rows = run_rows(program, key, known.count, known.of(program.given))
    drawn = {
        name: (node, known.by_chain(row))
        for (node, name), row in zip(wanted.items(), rows, strict=True)
    }
    found = as_group("predict", drawn, ("chain", "draw"), model.coords)
    return with_group(
        with_current_data(model, results), group, found, {"prediction_seed": str(used)}
    )


def _of_its_data(model: Model, wanted: dict[Node, str]) -> dict[Node, str]:
    """The quantities, written again where the model has had data of other shapes since."""
    if not model.became:
        return wanted
    advice = "write it again, of kg.data with the new values"
    remake = Remaker("predict", advice, model.became)
    for unknown in unknowns_above(wanted):
        if unknown not in remake.made:
            remake.keep(unknown)
    return {remake(node): name for node, name in wanted.items()}


def _check_not_observed(model: Model, wanted: Mapping[Node, str]) -> None:
    for node, name in wanted.items():
        if node in model.observed:
            raise ModelError(
                f"predict: {name} is what the model observes, the same for all draws; to draw it "
                f"anew give observed={name}, or no quantities at all"
            )


def _chosen(model: Model, observed: Any) -> tuple[Data, ...]:
    """The data that are wanted."""
    if observed is None:
        if not model.observed:
            raise ModelError(
                "predict: the model has no observed data; state what follows from its unknowns by "
                "kg.observe(data, distribution)"
            )
        return model.observed
    wanted = [observed] if isinstance(observed, Array) else list(observed)
    became = model.became
    for array in wanted:
        node = became.get(array.node, array.node) if isinstance(array, Array) else None
        if node not in model.observed:
            names = ", ".join(model.name(node) for node in model.observed)
            raise TypeError(
                f"predict: observed= takes data that the model observes ({names}), got {array!r}"
            )
    nodes = {became.get(array.node, array.node) for array in wanted}
    return tuple(node for node in model.observed if node in nodes)
