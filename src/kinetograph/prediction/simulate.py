"""`kg.simulate`: draws of the unknowns from the prior, and simulated data."""

import numpy as np

from ..bits.keys import SIMULATION, make_key
from ..distributions.variable import Variable
from ..graph.errors import KinetographWarning
from ..graph.public import public
from ..graph.source import place_text, warn_user
from ..models.ancestral.forward import plan
from ..models.ancestral.rows import in_rows, run_rows
from ..models.discovery import unknowns_above
from ..models.model import Model, check_model
from ..models.result_groups import data_groups
from ..models.result_types import DataTree
from ..runs.arguments import check_seed, check_whole
from .observed_distributions import followed
from .predicted_groups import as_group, tree_of

__all__ = ["simulate"]


@public
def simulate(
    model: Model, draws: int = 1000, *, seed: int | np.integer | None = None
) -> "DataTree":
    """Draw unknowns from the prior, and data from the prior predictive distribution.

        x ~ p(x),  y ~ p(y | x)

    Observed values are not used. Each draw is computed by one pass through the graph, parents
    first, and is independent of the other draws.

    Parameters
    ----------
    model
        Made by `kg.model`.
    draws
        The number of draws.
    seed
        A whole number; the same seed gives the same numbers. None takes one from the system's
        entropy. The draws of an unknown do not depend on the other unknowns of the model, and the
        k-th draw does not depend on the number of draws.

    Returns
    -------
    xarray.DataTree
        `prior`: unknowns and targets, (chain, draw, *dims), with one chain; `prior_predictive`:
        simulated data in place of the observed data; `observed_data` and `constant_data`: the data
        of the model.

    Raises
    ------
    ModelError
        If an unknown has no distribution: a `kg.variable`, which is flat. If data are observed
        twice.
    BoundsError
        If an index computed from draws falls outside of its axis.

    Warns
    -----
    KinetographWarning
        If the model has factors: they are ignored, because a factor cannot be drawn from.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0, 10, name="mu")
    >>> y = kg.observe([1.2, 0.7, 1.9], kg.normal(mu, 1), name="y")
    >>> prior = kg.simulate(kg.model(mu), 500, seed=1)
    >>> prior["prior_predictive"]["y"].shape
    (1, 500, 3)
    """
    check_model(model, "simulate")
    if hasattr(draws, "subtree"):
        raise TypeError(
            f"simulate: draws are results{place_text()}; kg.simulate draws from the prior, and "
            "kg.predict(model, results) draws data from the posterior"
        )
    check_whole("simulate", {"draws": (draws, 1)})
    used = check_seed(seed, "simulate")
    warn_of_factors(model, "simulate")
    component = model.component
    prior = tuple(dict.fromkeys([*component.unknowns, *model.targets]))
    simulated = followed("simulate", model)
    targets = (*prior, *model.observed)
    names = {node: model.name(node) for node in targets}
    fixed = model.fixed_values
    program = plan("simulate", targets, fixed, simulated, names)
    given = [in_rows(fixed[node], int(draws)) for node in program.given]
    with model.its_values():
        values = run_rows(program, make_key(used, SIMULATION, 0), int(draws), given)
    drawn = {names[n]: (n, value[None]) for n, value in zip(targets, values, strict=True)}
    lead = ("chain", "draw")
    prior_values = {names[n]: drawn[names[n]] for n in prior}
    groups = {"prior": as_group("simulate", prior_values, lead, model.coords, model.data)}
    if model.observed:
        simulated_data = {names[n]: drawn[names[n]] for n in model.observed}
        groups["prior_predictive"] = as_group(
            "simulate", simulated_data, lead, model.coords, model.data
        )
    return tree_of(groups | data_groups(model), {"seed": str(used)})


def warn_of_factors(model: Model, doing: str) -> None:
    """Warn that factors are ignored when the model is simulated."""
    ignored_terms = "factors (kg.factor, kg.wall, kg.tether, factors=)" if model.factors else ""
    if any(v not in model.component.cut and _follows_unknowns(v) for v in model.fixed):
        ignored_terms += (
            f"{' and ' if ignored_terms else ''}unknowns that are conditioned (kg.condition)"
        )
    if not ignored_terms:
        return
    warn_user(
        f"{doing}: the model has {ignored_terms}, which cannot be simulated and are ignored: the "
        "draws come from the distributions alone",
        KinetographWarning,
    )


def _follows_unknowns(v: Variable) -> bool:
    return v.distribution is not None and bool(unknowns_above([v.distribution]))
