"""`kg.predict`: data drawn from a posterior."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..bits.keys import SIMULATION, make_key
from ..distributions.variable import Distribution
from ..graph.array import Array, Computed
from ..graph.errors import ModelError
from ..graph.node import Data, Node
from ..graph.public import public
from ..graph.source import place_text
from ..graph.value_texts import shown
from ..models.ancestral.forward import plan
from ..models.ancestral.rows import run_rows
from ..models.discovery import unknowns_above
from ..models.model import Model, check_model
from ..models.result_types import DataTree
from ..models.rewritten_model import Remaker
from ..runs.arguments import check_seed
from .current_data import with_current_data
from .discrete_draws import with_discrete
from .observed_distributions import followed
from .predicted_groups import as_group, with_earlier, with_group
from .recorded_draws import Recorded, recorded_of
from .target_names import named_targets, names_of_unknowns

__all__ = ["predict", "replicated"]


@public
def predict(
    model: Model,
    results: Any,
    *new: Computed,
    observed: Sequence[Array] | None = None,
    seed: int | np.integer | None = None,
    **named: Computed,
) -> "DataTree":
    """Draw data from the posterior predictive distribution, once for each posterior draw.

        y' ~ p(y' | x),  x ~ p(x | y)

    Without further arrays, it replicates the observed data. With arrays, it draws new quantities
    that depend on the unknowns: at new rows of the covariates, or for new groups. Write such a
    quantity as in a model, with the same unknowns: `y_new=kg.normal(a + b * x_new, sd)`. Unknowns
    that do not belong to the model, such as the effect of a new group, are drawn from their
    distributions. Discrete unknowns that the model marginalises and the results do not hold are
    drawn from p(z | x, y), for each draw x of the other unknowns.

    Parameters
    ----------
    model
        Made by `kg.model`; the results must be of its unknowns.
    results
        Of `kg.mcmc` or another method, with draws of all unknowns that the data depend on, or of
        quantities computed from these, unless they were computed from data that the model no longer
        has. To use fewer draws, thin them: `results.isel(draw=slice(None, None, 10))`.
    *new, **named
        Distributions, or quantities computed from them and from unknowns, under their own names or
        under the keywords. Without any, the observed data are drawn again.
    observed
        The observed data to draw; None: all of them. Data that are not listed keep their values.
    seed
        As for `kg.simulate`.

    Returns
    -------
    xarray.DataTree
        The results with the group `posterior_predictive`, (chain, draw, *dims), or `predictions`
        for new quantities. A distribution without dims has the dims and labels of its parameters.
        Quantities of earlier calls with other names stay in the group.

    Raises
    ------
    TypeError
        If `results` is not a results tree, an array in `observed` is not observed, or a new
        quantity is not an array.
    ModelError
        If the results do not hold the draws of a needed unknown, or are of a model in which an
        unknown has another range; if a new unknown has
        the name of one of the model's unknowns, or depends on data whose shape has changed.
    ShapeError
        If the draws and the unknowns of the model have different shapes.

    Warns
    -----
    KinetographWarning
        If the results are of another model; if a quantity of an earlier call is
        left out, because an axis has other labels now.

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

    Ten new observations, and their mean:

    >>> later = kg.normal(mu, 1, shape=10)
    >>> results = kg.predict(model, results, later=later, average=later.mean(), seed=1)
    >>> results["predictions"]["average"].shape
    (4, 200)
    """
    check_model(model, "predict")
    used = check_seed(seed, "predict")
    if new or named:
        if observed is not None:
            raise TypeError("predict: give observed= or new quantities, not both")
        return _with_quantities(
            model, results, "predictions", named_targets("predict", new, named), used
        )
    draws, names = recorded_of("predict", model, results)
    target_names: dict[Node, str] = {n: model.name(n) for n in _data_to_draw(model, observed)}
    distributions = followed("predict", model)
    simulated = {node: distributions[node] for node in target_names}
    group, names = "posterior_predictive", names | target_names
    return _with_draws(model, results, group, draws, target_names, simulated, names, used)


def replicated(
    model: Model, results: Any, distributions: Mapping[str, Array], seed: Any
) -> "DataTree":
    """Replicate data, by name, that a model observes in another form.

    Their distributions are given. For example censored data are drawn without the bounds.
    """
    target_names = {array.node: name for name, array in distributions.items()}
    used = check_seed(seed, "predict")
    return _with_quantities(model, results, "posterior_predictive", target_names, used)


def _with_quantities(
    model: Model, results: Any, group: str, targets: dict[Node, str], seed: int
) -> "DataTree":
    """Results with draws of new quantities in a group."""
    draws, names = recorded_of("predict", model, results)
    target_names = _with_current_shapes(model, targets)
    _check_not_observed(model, target_names)
    names = names_of_unknowns(unknowns_above(target_names), target_names, names)
    return _with_draws(model, results, group, draws, target_names, {}, names, seed)


def _with_draws(
    model: Model,
    results: Any,
    group: str,
    posterior_draws: Recorded,
    target_names: Mapping[Node, str],
    simulated: dict[Node, Distribution],
    names: Mapping[Node, str],
    seed: int,
) -> "DataTree":
    """Results with the draws of the targets in a group."""
    inferred = set(model.component.unknowns)
    arguments = simulated, names, inferred
    program = plan("predict", list(target_names), posterior_draws.values, *arguments)
    unrecorded = [drawn.node for drawn in program.drawn]
    posterior_draws = with_discrete(model, posterior_draws, unrecorded)
    if not posterior_draws.values.keys().isdisjoint(unrecorded):
        program = plan("predict", list(target_names), posterior_draws.values, *arguments)
    key = make_key(seed, SIMULATION, 0)
    with model.its_values():
        rows = run_rows(program, key, posterior_draws.count, posterior_draws.of(program.given))
    drawn = {
        name: (node, posterior_draws.by_chain(row))
        for (node, name), row in zip(target_names.items(), rows, strict=True)
    }
    dataset = as_group("predict", drawn, ("chain", "draw"), model.coords, model.data, drawn=True)
    present = with_current_data(model, results)
    dataset = with_earlier("predict", present, group, dataset)
    return with_group(present, group, dataset, {"prediction_seed": str(seed)})


def _with_current_shapes(model: Model, target_names: dict[Node, str]) -> dict[Node, str]:
    """Rebuild the quantities for model data whose shapes have changed."""
    if not model.became:
        return target_names
    advice = "write it again with kg.data of the new values"
    remake = Remaker("predict", advice, model.became)
    for unknown in sorted(unknowns_above(target_names), key=lambda node: node.serial):
        remake.unknown(unknown)
    return {remake(node): name for node, name in target_names.items()}


def _check_not_observed(model: Model, target_names: Mapping[Node, str]) -> None:
    """Raise ModelError if a requested quantity is observed data."""
    for node, name in target_names.items():
        if node in model.observed:
            raise ModelError(
                f"predict: {name} is observed data, the same for all draws; to draw it again give "
                f"observed={name}, or give no quantities at all"
            )


def _data_to_draw(model: Model, observed: Any) -> tuple[Data, ...]:
    """The observed data to draw."""
    if observed is None:
        if not model.observed:
            raise ModelError(
                "predict: the model has no observed data; state a likelihood with "
                "kg.observe(data, distribution)"
            )
        return model.observed
    requested: list[Any] = [observed] if isinstance(observed, (Array, str)) else list(observed)
    became = model.became
    for array in requested:
        node = became.get(array.node, array.node) if isinstance(array, Array) else None
        if node not in model.observed:
            names = ", ".join(model.name(node) for node in model.observed)
            is_name = isinstance(array, str) and array in names.split(", ")
            hint = f"; write observed=[model[{array!r}]]" if is_name else ""
            raise TypeError(
                f"predict: observed= must be data that the model observes ({names}), got "
                f"{shown(array)}{place_text()}{hint}"
            )
    nodes = {became.get(array.node, array.node) for array in requested}
    return tuple(node for node in model.observed if node in nodes)
