"""`kg.log_density` and `kg.factor`: terms that are not observations."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..distributions.derived import family_of
from ..distributions.family import FAMILIES
from ..distributions.support import REAL, Interval, Simplex, Totals, WholeNumbers
from ..distributions.variable import Distribution, Variable
from ..graph.array import Array, Computed
from ..graph.errors import ModelError, ShapeError
from ..graph.messages import describe
from ..graph.node import CURRENT, Apply, Data, Node, Operation
from ..graph.operations.operands import as_node
from ..graph.precision import float_dtype
from ..graph.public import public
from ..graph.source import place_text
from ..graph.value_texts import in_words
from .data_checks import check_support, consume, shapes_of, unused_distribution
from .discovery import unknowns_above
from .statements import add_statement

__all__ = [
    "at_node",
    "check_density",
    "density_at",
    "evaluated",
    "factor",
    "has_forms",
    "is_density",
    "log_density",
    "parameters_of",
]


def _log_density(x: Any, *rest: Any, family: str, forms: tuple[str, ...], **options: Any) -> Any:
    """The log density, which is -inf outside of the support."""
    parameters = rest[: len(rest) - len(forms)]
    more = dict(zip(forms, rest[len(parameters) :], strict=True))
    inside, guarded = _guarded(x, parameters, **options["support"])
    distribution_family = family_of(family)
    if distribution_family.event_ndim and options["support"]["kind"] in (
        "interval",
        "real",
        "whole",
    ):
        inside = jnp.all(inside, tuple(range(-distribution_family.event_ndim, 0)))
    density = distribution_family.log_density(guarded, *parameters, small=options["small"], **more)
    shape, ndim = options["shape"], x.ndim - distribution_family.event_ndim
    if ndim == len(shape) > 0 and x.shape[0] not in (1, shape[0]):  # some of the rows
        shape = (x.shape[0], *shape[1:])
    return jnp.broadcast_to(jnp.where(inside, density, -jnp.inf), shape)


def _guarded(
    x: Any, parameters: Sequence[Any], kind: str, low: Any, high: Any, edges: Any
) -> tuple[Any, Any]:
    """A mask of the elements in the support, and guarded x.

    In the guarded x, elements outside of the support are replaced by elements inside of it.
    """
    if kind == "other":
        return True, x
    if kind == "real":
        inside = ~jnp.isinf(x)  # the density at infinity is 0; NaN stays NaN
        return inside, jnp.where(inside, x, 0.0)
    if kind == "simplex":
        inside = jnp.all((x > 0) | (edges[0] & (x == 0)), -1) & (jnp.abs(jnp.sum(x, -1) - 1) < 1e-6)
        return inside, jnp.where(inside[..., None], x, 1.0 / x.shape[-1])
    if kind == "totals":
        total = parameters[high[0]] if isinstance(high, tuple) else high
        inside = jnp.all((x >= 0) & (x == jnp.floor(x)), -1) & (jnp.sum(x, -1) == total)
        all_first = jnp.asarray(total)[..., None] * (jnp.arange(x.shape[-1]) == 0)
        return inside, jnp.where(inside[..., None], x, all_first)
    low, high = (parameters[b[0]] if isinstance(b, tuple) else b for b in (low, high))
    inside = ((x > low) | (edges[0] & (x == low))) & ((x < high) | (edges[1] & (x == high)))
    if kind == "whole":
        inside = inside & (x == jnp.floor(x)) & jnp.isfinite(x)
        return inside, jnp.where(inside, x, low)
    below, above = jnp.isfinite(low), jnp.isfinite(high)
    low, high = jnp.where(below, low, 0.0), jnp.where(above, high, 0.0)
    end = jnp.where(below, low + 1.0, jnp.where(above, high - 1.0, 0.0))
    within = jnp.where(below & above, 0.5 * (low + high), end)
    return inside, jnp.where(inside, x, within)


LOG_DENSITY = {name: Operation(f"{name}_log_density", _log_density) for name in FAMILIES}
# Densities of single numbers: an element depends on one element of the value and each parameter.
NUMBER_DENSITIES = frozenset(
    LOG_DENSITY[name]
    for name, family in FAMILIES.items()
    if family.event_ndim == 0 and all(p.event_ndim == 0 for p in family.parameters)
)
DERIVED = Operation("log_density", _log_density)  # of families derived from other families
_DENSITIES = {*LOG_DENSITY.values(), DERIVED}
FACTOR = Operation("factor", lambda term: term)


@public
def log_density(distribution: Array, value: Any) -> Array:
    """The log density of a distribution at values that may be unknown.

        log p(value | parameters), element by element; -inf outside the support

    The result is an array like any other, differentiable in the value and the parameters. It is
    added to a model only by `kg.factor`, or by `factors=` of `kg.model`.

    Parameters
    ----------
    distribution
        The distribution, such as `kg.normal(mu, sd)`, as an unknown that has no other use.
    value
        An array, or numbers.

    Returns
    -------
    Array
        Of the shape to which value and parameters broadcast. A distribution of vectors or matrices
        gives one number for each vector or matrix.

    Raises
    ------
    TypeError
        If the first argument is not a distribution.
    ShapeError
        If value and parameters do not fit together.
    DataError
        If a known value lies outside the support.
    ModelError
        If the distribution has been used before.

    Notes
    -----
    The density is that of `value`. If the data y are transformed to z = g(y) by a g with unknown
    parameters, the density of y is that of z times |dg / dy|: add both logarithms. The same
    holds for an unknown x whose *transform* has a density: add the logarithm of the Jacobian.

    Examples
    --------
    >>> import kinetograph as kg
    >>> a, b = kg.normal(0, 1, name="a"), kg.normal(0, 1, name="b")
    >>> term = kg.factor(kg.log_density(kg.normal(0, 0.1), a + b))  # a + b is close to 0
    >>> kg.model(a, b).log_prob([1.0, -1.0]).round(4)
    np.float64(-1.4542)
    """
    example = "(kg.normal(mean, sd), value)"
    unused = unused_distribution("log_density", distribution, "first", example, value, reads=True)
    node = as_node(value, "log_density")
    result = density_at("log_density", unused, node)
    consume(distribution, "the distribution of a log_density", result)
    return Array(result)


def density_at(doing: str, distribution: Distribution, node: Node) -> Apply:
    """The node of the log density of a distribution at a node.

    Raises
    ------
    ShapeError
        If value and distribution do not fit together.
    DataError
        If a known value lies outside the support.
    """
    placed = at_node(doing, distribution, node)
    if isinstance(node, Data):
        check_support(doing, node, distribution)
    operation = LOG_DENSITY.get(distribution.family.key, DERIVED)
    return evaluated(operation, placed, placed.batch_shape, **_choices(placed))


def at_node(
    doing: str, distribution: Distribution, node: Node, noun: str = "distribution"
) -> Distribution:
    """The distribution that a node follows, broadcast to a common shape.

    Raises
    ------
    ShapeError
        If value and distribution do not fit together.
    """
    ndim = distribution.family.event_ndim
    event = node.shape[len(node.shape) - ndim :]
    try:
        shape = np.broadcast_shapes(node.shape, distribution.shape)
    except ValueError:
        shape = None
    if shape is None or (ndim and distribution.event_shape != event):
        raise ShapeError(
            f"{doing}: the value does not fit the {noun}{place_text()}\n"
            + shapes_of(distribution.expression(), distribution.shape, describe(node), node.shape)
        )
    placed = Distribution(distribution.family, distribution.parents, shape)
    placed.target = node
    return placed


def evaluated(
    operation: Operation, distribution: Distribution, shape: tuple[int, ...], **attributes: Any
) -> Apply:
    """An operation on a distribution's target and parameters, with their forms."""
    forms = distribution.forms()
    parents = (*distribution.arguments.values(), *forms.values())
    kinds = [n.dtype for n in parents if n.dtype.kind == "f"]
    dtype = np.result_type(*kinds) if kinds else float_dtype()
    always = {"family": distribution.family.key, "shape": shape, "forms": tuple(forms)}
    return Apply(operation, parents, shape, dtype, always | attributes)


def _choices(distribution: Distribution) -> dict[str, Any]:
    """The attributes of a density that follow from the values of data."""
    return {"small": distribution.small(), "support": _known_support(distribution)}


def parameters_of(node: Apply) -> tuple[Node, ...]:
    """The parameters of the distribution that a node evaluates."""
    return node.parents[1 : len(node.parents) - len(node.attributes["forms"])]


def has_forms(node: Node) -> bool:
    """Whether a node evaluates a distribution, as `evaluated` writes it."""
    return isinstance(node, Apply) and "forms" in node.attributes


def is_density(node: Node) -> bool:
    """Whether a node is a log density, as `density_at` writes it."""
    return isinstance(node, Apply) and node.operation in _DENSITIES


def check_density(doing: str, node: Apply) -> bool:
    """Check a log density for the present values; whether it stays.

    It stays if it would be written in the same form.

    Raises
    ------
    ValueError
        If a parameter lies outside of its range.
    DataError
        If a known value lies outside the support.
    """
    family = family_of(node.attributes["family"])
    target, parameters = node.parents[0], parameters_of(node)
    family.check_values(parameters)
    event = target.shape[len(target.shape) - family.event_ndim :]
    distribution = Distribution(family, parameters, (*node.attributes["shape"], *event))
    distribution.target = target
    if isinstance(target, Data):
        check_support(doing, target, distribution)
    return all(_equal(value, node.attributes[key]) for key, value in _choices(distribution).items())


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in a)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_equal, a, b))
    return not isinstance(b, (dict, tuple)) and np.array_equal(a, b)


def _known_support(distribution: Distribution) -> dict[str, Any]:
    """The support, as arguments of `_guarded`.

    A bound that is a parameter is given by its place.
    """
    support = distribution.family.support(*distribution.parents)
    lower, upper = getattr(support, "lower", 0.0), getattr(support, "upper", 0.0)
    low, high = (
        (distribution.parents.index(b),) if isinstance(b, Node) else b for b in (lower, upper)
    )
    arguments: dict[str, Any] = {"kind": "other", "low": low, "high": high, "edges": (True, True)}
    if support is REAL:
        arguments["kind"] = "real"
    elif isinstance(support, Interval):
        arguments |= {"kind": "interval", "edges": support.edges}
    elif isinstance(support, WholeNumbers):
        arguments["kind"] = "whole"
    elif isinstance(support, Totals):
        arguments["kind"] = "totals"
    elif isinstance(support, Simplex):
        arguments |= {"kind": "simplex", "edges": (support.zeros, True)}
    return arguments


@public
def factor(term: Computed) -> Array:
    """Add a term to the log density of models.

        log p(unknowns, data) + sum(term)

    Stan writes `target += term`, NumPyro `numpyro.factor`. A factor stays in force as long as its
    unknowns exist. Each call adds one factor. Only code that is run again, such as a cell of a
    notebook, replaces the factors that it stated before, as with `kg.observe`. A term of one model
    alone is given to `kg.model` by `factors=`, or stated in a model function, `kg.model(build)`.

    Parameters
    ----------
    term
        Real numbers that depend on unknowns; elements are added up.

    Returns
    -------
    Array
        The term.

    Raises
    ------
    TypeError
        If `term` is not an array of real numbers.
    ModelError
        If it does not depend on an unknown, is itself an unknown with a distribution, or is made
        inside of a branch or loop.

    Examples
    --------
    >>> import kinetograph as kg
    >>> rate = kg.gamma(2, 5, name="rate")
    >>> waited = kg.factor(-10.0 * rate)  # nothing had happened after 10 minutes
    >>> kg.model(rate).log_prob([0.0]).round(4)
    np.float64(-11.7811)
    """
    if not isinstance(term, Array) or term.dtype.kind != "f":
        of = f" of {term.dtype}" if isinstance(term, Array) else ""
        way_out = ""
        if isinstance(term, Array) and term.dtype.kind == "b":
            way_out = (
                "; state a bound by truncation= of a distribution, or write kg.factor(kg.where("
                f"{describe(term.node)}, 0.0, -numpy.inf))"
            )
        raise TypeError(
            f"factor: a term must be an array of real numbers, got {in_words(term)}{of}"
            f"{place_text()}{way_out}"
        )
    words = describe(term.node)
    if CURRENT.context is not None:
        raise ModelError(
            f"factor: {words} is made inside of {CURRENT.context.title}; return it from there and "
            "state the factor outside: a model has the same terms in every run"
        )
    if isinstance(term.node, Variable) and term.node.distribution is not None:
        raise ModelError(
            f"factor: {term.node.distribution.expression()} is a distribution, not a log density"
            f"{place_text()}; for the density of an array x under a distribution write kg.factor("
            "kg.log_density(distribution, x))"
        )
    if not unknowns_above([term.node]):
        raise ModelError(
            f"factor: {words} does not depend on an unknown, so that no model would contain it"
            f"{place_text()}"
        )
    statement = Apply(FACTOR, (term.node,), term.shape, term.dtype)
    add_statement(statement, None, None, words)
    return term
