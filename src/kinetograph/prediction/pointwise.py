"""Log densities of single observations and unknowns, for each posterior draw."""

from typing import Any, Literal

from ..bits.keys import SIMULATION, make_key
from ..distributions.variable import Distribution, Variable
from ..graph.errors import ModelError
from ..graph.node import Node, ancestors
from ..graph.public import public
from ..graph.suggestions import did_you_mean
from ..models.ancestral.forward import plan
from ..models.ancestral.rows import run_rows
from ..models.centring import Centring
from ..models.factor import density_at
from ..models.marginal.pointwise import GIVEN, Pointwise
from ..models.model import Model, check_model
from ..models.observed_parts import observed_alone
from ..models.result_types import DataTree
from .current_data import with_current_data
from .observed_distributions import followed
from .predicted_groups import as_group, with_group
from .recorded_draws import recorded_of

__all__ = ["densities_for", "log_likelihood", "log_prior"]


@public
def log_likelihood(
    model: Model, results: Any, given: Literal["others", "before"] | str = "others"
) -> "DataTree":
    """Compute the log density of each observation for each draw.

    This is the input of `arviz.loo` and `arviz.waic`. For the draws x of the continuous unknowns it
    is

        log p(y_i | x)

    Discrete unknowns z that the model marginalises are marginalised here, too, whether or not they
    have been drawn:

        log p(y_i | x) = log sum_z p(z | x) p(y_i | z, x).

    Observations that depend on the same discrete unknowns, such as the times of a hidden Markov
    chain or the visits to a site, are not independent given x. For these the result is

        log p(y_i | y_others, x)   for `given="others"`,
        log p(y_i | y_before, x)   for `given="before"`.

    The first is needed for leave-one-out cross-validation (`arviz.loo`, `arviz.compare`; Bürkner,
    Gabry and Vehtari, Computational Statistics 36, 2021). The second predicts one step ahead, in
    the order of the observations; its sum is the log likelihood log p(y | x) of all observations.

    Parameters
    ----------
    model
        Made by `kg.model`; the results must be of its unknowns.
    results
        Of `kg.mcmc` or another method, with draws of all continuous unknowns.
    given
        The observations on which each density is conditioned, among the observations that share
        discrete unknowns with it: `"others"` are all of these, `"before"` only the earlier ones.

    Returns
    -------
    xarray.DataTree
        The results with the group `log_likelihood`, (chain, draw, *dims): a variable for each
        observed array, with one number for each element; for vectors and matrices, one number for
        each of them. Normal and Student's t vectors that are partly observed have one number for
        the observed part of each vector, in `<name>_seen_in_part`. If observations share discrete
        unknowns, the attribute `given` of the variable says which density it holds.

    Raises
    ------
    TypeError
        If `results` is not a results tree.
    ValueError
        If `given` is something else.
    ModelError
        If nothing is observed, if data are observed twice, or if a needed unknown is not among the
        draws.

    Notes
    -----
    Observations that share discrete unknowns take one sum over these, and its derivative, for each
    draw. With `given="before"`, T observations take T sums; so do draws with a nearly impossible
    observation.

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
    if not isinstance(given, str) or given not in GIVEN:
        raise ValueError(
            f"log_likelihood: given must be {' or '.join(map(repr, GIVEN))}, got {given!r}"
            f"{did_you_mean(given, GIVEN)}"
        )
    return densities_for("log_likelihood", model, results, given)


def densities_for(doing: str, model: Model, results: Any, given: str = "others") -> "DataTree":
    """The results of `log_likelihood`; `doing` is the caller's name in messages."""
    pairs = [(d, data) for data, d in followed(doing, model).items()]
    return _with_densities("log_likelihood", model, results, pairs, given, doing)


@public
def log_prior(model: Model, results: Any) -> "DataTree":
    """Compute the log prior density of each unknown for each draw.

        log p(x_i | parents of x)

    The density is on the scale of the unknowns, without the Jacobians of the free state, as
    `arviz.psense` needs it. It is given for continuous unknowns only. Discrete unknowns among the
    parents are marginalised; unknowns that share a discrete parent are conditioned on the unknowns
    before them.

    Parameters
    ----------
    model, results
        As for `kg.log_likelihood`.

    Returns
    -------
    xarray.DataTree
        The results with the group `log_prior`, (chain, draw, *dims). The attribute `hierarchical`
        of a variable is 1 if its distribution has unknown parameters, or if it is a standardised
        effect, such as z in mu + tau * z. `kg.report` shows how
        sensitive the posterior is to the priors if the results also have the group
        `log_likelihood`.

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
    return _with_densities("log_prior", model, results, pairs, "before", "log_prior")


def _with_densities(
    group: str, model: Model, results: Any, pairs: list[Any], given: str, doing: str
) -> Any:
    """Results with a group of the log densities of (distribution, node) pairs."""
    parts = _partly_observed(model) if group == "log_likelihood" else ()
    if not pairs and not parts:
        reason = "observes nothing" if group == "log_likelihood" else "has no distributions"
        raise ModelError(f"{doing}: the model {reason}, so no density can be computed")
    posterior_draws, names = recorded_of(doing, model, results)
    marginalised = _marginalised(group, model, [distribution for distribution, _ in pairs], given)
    marginalised_parts = (
        {}
        if marginalised is None
        else dict(zip(marginalised.nodes, marginalised.parts, strict=True))
    )
    # The nodes are cached on the model, so that a second call reuses its program.
    with model.its_values():
        independent: tuple[Node, ...] = model.functions.get(
            group,
            lambda: tuple(
                density_at(group, d, node) for d, node in pairs if d not in marginalised_parts
            ),
        )
        independent_parts = iter(independent)
        targets = [
            marginalised_parts[d] if d in marginalised_parts else next(independent_parts)
            for d, _ in pairs
        ]
        targets += parts
        program = plan(
            group, targets, posterior_draws.values, {}, names, set(model.component.unknowns)
        )
        rows = run_rows(
            program,
            make_key(0, SIMULATION, 0),
            posterior_draws.count,
            posterior_draws.of(program.given),
        )
    named = [(model.name(node), node) for _, node in pairs]
    named += [(node.label(), node) for node in parts]
    drawn = {
        name: (node, posterior_draws.by_chain(values))
        for (name, node), values in zip(named, rows, strict=True)
    }
    dataset = as_group(group, drawn, ("chain", "draw"), model.coords, model.data)
    effects = _effects(model) if group == "log_prior" else set()
    for distribution, node in pairs:
        if (
            marginalised is not None
            and distribution in marginalised_parts
            and marginalised.shared(distribution)
        ):
            dataset[model.name(node)].attrs["given"] = given
        if group == "log_prior":
            of_unknowns = any(isinstance(n, Variable) for n in ancestors(distribution.parents))
            of_unknowns |= node in effects
            dataset[model.name(node)].attrs["hierarchical"] = int(of_unknowns)
    return with_group(with_current_data(model, results), group, dataset)


def _effects(model: Model) -> set[Variable]:
    """Unknowns whose scale or location depends on other unknowns."""
    centring = Centring(model)
    return {*centring.shifts, *(u for v in centring.vectors.values() for u in v.unknowns)}


def _partly_observed(model: Model) -> tuple[Node, ...]:
    """Densities of the observed part of each vector.

    Vectors that depend on discrete unknowns are skipped.
    """

    def densities() -> tuple[Node, ...]:
        parts = filter(None, map(observed_alone, model.component.factors))
        discrete = set(model.component.discrete)
        return tuple(node for node in parts if discrete.isdisjoint(ancestors([node])))

    return model.functions.get("seen in part", densities)


def _marginalised(
    group: str, model: Model, requested: list[Distribution], given: str
) -> Pointwise | None:
    """The densities that depend on discrete unknowns, or None.

    For unknowns (`log_prior`) they are computed without the terms of the observations.
    """
    term = model.density.marginal
    if term is None:
        return None
    inside = {each.node for each in term.terms}
    dependent = [distribution for distribution in requested if distribution in inside]
    if not dependent:
        return None
    left_out: list[Node] = []
    if group == "log_prior":
        left_out = [t.node for t in term.terms if not isinstance(t.target, Variable)]
    pointwise: Pointwise = model.functions.get(
        (group, given), lambda: Pointwise(term, dependent, left_out, given)
    )
    return pointwise
