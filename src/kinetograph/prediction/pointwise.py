"""Log densities of observations and unknowns, one by one, for each draw of a posterior."""

from typing import Any, Literal

from ..bits.keys import SIMULATION, make_key
from ..distributions.variable import Distribution, Variable
from ..graph.errors import ModelError
from ..graph.node import Node, ancestors
from ..graph.suggestions import meant
from ..models.ancestral.forward import plan
from ..models.ancestral.rows import run_rows
from ..models.factor import density_at
from ..models.marginal.pointwise import GIVEN, Pointwise
from ..models.model import Model
from ..models.seen import seen_alone
from ..models.typing import DataTree
from ..runs.arguments import check_model
from .current_data import with_current_data
from .groups import as_group, with_group
from .observed import followed
from .recorded import recorded_of

__all__ = ["log_likelihood", "log_prior"]


def log_likelihood(
    model: Model, results: Any, given: Literal["others", "before"] | str = "others"
) -> "DataTree":
    """The log density of each observation, for each draw: what `arviz.loo` and its like need.

        log p(y_i | x)

    of the draws x of the continuous unknowns. Discrete unknowns z that are summed out of the model
    are summed out here, too, whether or not they have been drawn:

        log p(y_i | x) = log sum_z p(z | x) p(y_i | z, x).

    Observations that depend on the same discrete unknowns, as the times of a hidden Markov chain or
    the visits to a site, are not independent given x. Of these it is

        log p(y_i | y_others, x)   for given="others",
        log p(y_i | y_before, x)   for given="before".

    The first is what leaving one out takes (`arviz.loo`, `arviz.compare`; Bürkner, Gabry and
    Vehtari, Computational Statistics 36, 2021). The second predicts one step ahead, in the order
    in which data were observed; its sum is the log likelihood log p(y | x) of them all.

    Parameters
    ----------
    model
        Made by `kg.model`, whose unknowns the results are of.
    results
        Of `kg.mcmc` or another method, with draws of all continuous unknowns.
    given
        What of the observations that share discrete unknowns with it each one is given.

    Returns
    -------
    xarray.DataTree
        The results, with the group `log_likelihood`, (chain, draw, *dims): a variable for each
        observed array, with a number for each element, of vectors and matrices for each of them.
        Of normal vectors and Student's t that are seen in part there is one for what is seen of
        each, in `<name>_seen_in_part`. Where it matters, the attribute `given` of the variable says
        which it is.

    Raises
    ------
    TypeError
        If these are no results.
    ValueError
        If `given` is something else.
    ModelError
        If nothing is observed, or some data twice, or an unknown that is needed is not among the
        draws.

    Notes
    -----
    T observations that share discrete unknowns take T sums over these for each draw.

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
            f"log_likelihood: given must be 'others' or 'before', got {given!r}"
            f"{meant(given, GIVEN)}"
        )
    pairs = [(d, data) for data, d in followed("log_likelihood", model).items()]
    return _with_densities("log_likelihood", model, results, pairs, given)


def log_prior(model: Model, results: Any) -> "DataTree":
    """The log density of each unknown under its own distribution, for each draw.

        log p(x_i | parents of x)

    On the scale of the unknowns, without the Jacobians of the free state: what
    `arviz.psense` and its like need. Of continuous unknowns; discrete ones among the parents are
    summed out, and unknowns that share some are given those before them.

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
    return _with_densities("log_prior", model, results, pairs, "before")


def _with_densities(group: str, model: Model, results: Any, pairs: list[Any], given: str) -> Any:
    parts = _seen_in_part(model) if group == "log_likelihood" else ()
    if not pairs and not parts:
        what = "observes nothing" if group == "log_likelihood" else "has no distributions"
        raise ModelError(f"{group}: the model {what}, so there is nothing to take the density of")
    known, names = recorded_of(group, model, results)
    summed = _summed(group, model, [follows for follows, _ in pairs], given)
    ones = {} if summed is None else dict(zip(summed.nodes, summed.parts, strict=True))
    # Kept with the model, so that a second call finds its program.
    with model.its_values():
        plain: tuple[Node, ...] = model.kept(
            group,
            lambda: tuple(density_at(group, d, node) for d, node in pairs if d not in ones),
        )
        written = iter(plain)
        targets = [ones[d] if d in ones else next(written) for d, _ in pairs]
        targets += parts
        program = plan(group, targets, known.values, {}, names, set(model.component.unknowns))
        rows = run_rows(program, make_key(0, SIMULATION, 0), known.count, known.of(program.given))
    named = [(model.name(node), node) for _, node in pairs]
    named += [(node.label(), node) for node in parts]
    drawn = {
        name: (node, known.by_chain(values))
        for (name, node), values in zip(named, rows, strict=True)
    }
    found = as_group(group, drawn, ("chain", "draw"), model.coords)
    for follows, node in pairs:
        if summed is not None and follows in ones and summed.shared(follows):
            found[model.name(node)].attrs["given"] = given
    return with_group(with_current_data(model, results), group, found)


def _seen_in_part(model: Model) -> tuple[Node, ...]:
    """The densities of what is seen of vectors; of those that discrete unknowns bear on, none."""

    def made() -> tuple[Node, ...]:
        found = filter(None, map(seen_alone, model.component.factors))
        discrete = set(model.component.discrete)
        return tuple(node for node in found if discrete.isdisjoint(ancestors([node])))

    return model.kept("seen in part", made)


def _summed(group: str, model: Model, wanted: list[Distribution], given: str) -> Pointwise | None:
    """The densities of those that depend on discrete unknowns, if any do.

    Those of unknowns are what the density would be if nothing had been observed.
    """
    term = model.density.marginal
    if term is None:
        return None
    inside = {table.term.node for table in term.tables}
    mine = [follows for follows in wanted if follows in inside]
    if not mine:
        return None
    aside: list[Node] = []
    if group == "log_prior":
        tables = [table.term for table in term.tables]
        aside = [t.node for t in tables if not isinstance(t.target, Variable)]
    found: Pointwise = model.kept((group, given), lambda: Pointwise(term, mine, aside, given))
    return found
