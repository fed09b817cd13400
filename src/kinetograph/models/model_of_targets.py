"""`kg.model`: targets, and all statements related to them, as a model."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

from ..graph.array import Array, Computed
from ..graph.errors import ModelError
from ..graph.messages import describe
from ..graph.node import Node
from ..graph.public import public
from ..graph.source import place_text
from ..graph.value_texts import in_words
from .all_censored import warn_of_all_censored
from .checks import check_component, check_densities, check_stated, check_target
from .dim_renaming import warn_of_two_dims
from .discovery import discover
from .double_counting import warn_of_double_counting
from .missing_constants import check_constants
from .model import Model
from .model_functions import is_model_function, run_model_function
from .names import assign_names, unknowns_in_scope, variables_in_scope
from .repeated_solutions import warn_of_repeated_solutions
from .row_labels import warn_of_row_labels
from .statement_store import alone
from .unused_data import warn_of_left_out, warn_of_unused

__all__ = ["model"]


@public
def model(
    *targets: Computed | Callable[[], Any],
    factors: Sequence[Computed] | Computed | None = (),
    coords: Mapping[str, Any] | Any | None = None,  # Any: type checkers see **targets here, too
    **named_targets: Computed,
) -> Model:
    """Make a model from the arrays whose posterior is wanted.

    The model consists of the unknowns that the targets are computed from, the data whose
    distributions depend on those, the further unknowns of these distributions, and so on. Its log
    density is the sum of the log densities of all unknowns and observations, and of the factors.

    Parameters
    ----------
    *targets, **named_targets
        Arrays to record. A keyword is the name of its target; other targets are named by `name=`,
        by the variable that holds them, or by their place in a dictionary, a list or an object:
        `effects["age"]` is `age`, `self.mu` is `mu`, `betas[0]` is `betas_0`; an element of an
        array that has a name is `beta[0]`. Without targets, all unknowns in variables of the
        calling function are targets. A single function, `kg.model(build)`, is called and returns
        the targets: one or several arrays, a dictionary of arrays by name, or None for all unknowns
        in its variables.
    factors
        Additional terms of the log density; their elements are summed. None allows unknowns without
        any density, for a `kg.Sampler` that draws them itself.
    coords
        The labels of named dimensions.

    Notes
    -----
    Likelihoods and factors stated in a model function belong to its model alone. The
    model contains no statements about its unknowns from elsewhere, and no other model contains its
    statements. The function's variables name the arrays. Each `kg.model(build)` calls the function
    again, and returns a model with new unknowns; `model["mu"]` is its array of that name. Pass
    arguments with `functools.partial`.

    Raises
    ------
    ModelError
        If no array is unknown, a target is data, all unknowns are discrete, a flat unknown has no
        density, two arrays have the same name, one array has two names, or a name is not valid in
        results and files.
    DataError
        If missing values of a constant, such as a column of pandas, make a term NaN.
    DimsError
        If a dimension has two lengths, two sets of labels, or labels that files cannot hold, or if
        `coords` has a label twice.
    TypeError
        If a target is not an array, or a model function has `kg.function` or arguments.

    Warns
    -----
    KinetographWarning
        If nothing is observed although there are data, or if a target depends on no data; if all
        values of data are censored; if the model leaves out terms of a model function, or the only
        data of a script, because no target depends on their unknowns; if equal values are observed
        twice with the same unknowns, or unknowns of an earlier model have gained a likelihood or
        factor since; if the parameters of a distribution and its values have different dims on one
        axis.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0, 10)
    >>> y = kg.data([1.2, 0.7, 1.9])
    >>> likelihood = kg.observe(y, kg.normal(mu, 1))
    >>> kg.model(mu).names
    ('mu',)

    As a function with its own variables:

    >>> def build():
    ...     mu = kg.normal(0, 10)
    ...     sigma = kg.half_normal(1)
    ...     kg.observe([1.2, 0.7, 1.9], kg.normal(mu, sigma))
    ...     return mu, sigma
    >>> kg.model(build).names
    ('mu', 'sigma')
    """
    arrays: list[Any] = list(targets)
    if len(arrays) == 1 and not named_targets and is_model_function(arrays[0]):
        with alone():
            return run_model_function(arrays[0], partial(_of_returned, factors, coords))
    if not arrays and not named_targets:
        arrays = unknowns_in_scope()
        if not arrays:
            raise ModelError(
                f"model: no targets{place_text()}: name the arrays whose posterior you want, as in "
                "kg.model(mu, tau); no unknown array was found in the calling scope. A model is "
                "made after its arrays, without a `with` block: mu = kg.normal(0, 1), then "
                "kg.model(mu)"
            )
    names: dict[Node, str] = {}
    nodes: dict[Node, None] = {}
    for array in arrays:
        nodes[check_target(array, None)] = None
    for name, array in named_targets.items():
        node = check_target(array, name)
        if node in names:
            raise ModelError(
                f"model: one array is given two names, {names[node]!r} and {name!r}{place_text()}"
            )
        if node in nodes and describe(node) != name:
            raise ModelError(
                f"model: one array is given as {describe(node)} by position and as {name}="
                f"{place_text()}; give it once: kg.model({name}={describe(node)})"
            )
        names[node] = name
        nodes[node] = None
    terms: list[Any] = [factors] if isinstance(factors, Array) else list(cast(Any, factors or ()))
    for factor in terms:
        if not isinstance(factor, Array) or factor.dtype.kind != "f":
            raise TypeError(
                f"model: a factor must be an array of real numbers, got {in_words(factor)}"
                f"{place_text()}"
            )
    factor_nodes = [f.node for f in terms]
    roots = [*nodes, *factor_nodes]
    component = discover(roots)
    check_component(component, list(nodes))
    check_stated(component.unknowns)
    if factors is not None:
        check_densities(component, [*component.factors, *factor_nodes])
    given = {node: names.get(node, "") for node in nodes}
    given = assign_names(
        nodes, {n: name for n, name in given.items() if name}, beside=component.nodes
    )
    new_model = Model(given, factor_nodes, component, coords or {})
    warn_of_unused(new_model)
    priors = [(v.distribution, v) for v in component.unknowns if v.distribution is not None]
    observed = zip(component.likelihoods, component.observed, strict=True)
    warn_of_two_dims([*priors, *observed], new_model._axes)
    warn_of_double_counting(new_model)
    warn_of_all_censored(new_model)
    warn_of_row_labels(new_model)
    check_constants(new_model)
    warn_of_repeated_solutions(new_model)
    return new_model


def _of_returned(factors: Any, coords: Any, returned: Any) -> Model:
    """The model of the targets that a model function returned."""
    if isinstance(returned, Model):
        warn_of_left_out(returned)
        return returned
    named = returned if isinstance(returned, Mapping) else {}
    if named is returned or returned is None:
        returned = ()
    targets = returned if isinstance(returned, (list, tuple)) else [returned]
    new_model = model(*targets, factors=factors, coords=coords, **named)
    warn_of_left_out(new_model)
    nodes = {*new_model.component.nodes}
    new_model.variables = {n: name for n, name in variables_in_scope().items() if n in nodes}
    return new_model
