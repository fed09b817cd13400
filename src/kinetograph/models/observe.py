"""`kg.observe`: data follow a distribution. `models/statements.py` says how long that stands."""

from typing import Any

import numpy as np

from ..distributions.support import Pairs
from ..distributions.variable import Distribution, Variable
from ..graph.array import Array
from ..graph.frames import local_variables
from ..graph.inputs import data as make_data
from ..graph.lower import Environment, Scope, evaluate
from ..graph.messages import describe
from ..graph.node import CURRENT, Apply, Bundle, Data, Node, ancestors
from ..graph.precision import x64
from ..graph.source import place_text, user_frame
from ..graph.text import check_name
from .followed import check_shape, check_support, consume, unused_distribution
from .missing import incomplete, observe_incomplete
from .statements import add_statement

__all__ = ["observe"]


def observe(data: Any, distribution: Array, name: str | None = None) -> Array:
    """State that data follow a distribution: adds log p(data | parameters) to the log density.

    The data are what is known. Where they are transformed first, z = g(y) with unknown parameters
    in g, the density of y has a Jacobian: state it by `kg.factor(kg.log_density(d, z))` and
    `kg.factor(log |dg / dy|)`.

    Parameters
    ----------
    data
        An array made by `kg.data`, what is computed from such arrays alone, as `y[1:]`, or
        anything of which `kg.data` makes one.
    distribution
        The distribution, as an unknown that is used for nothing else: `kg.normal(mu, sd)`.
    name
        How results and messages call the data, unless the array has a name of its own.

    Returns
    -------
    Array
        The data. Of data with missing values, `kg.data(..., missing="impute")`, the array becomes
        that of all values, in which an unknown `<name>_missing` of the same distribution has the
        places of what is missing.

    Notes
    -----
    Each call of `kg.observe` adds a likelihood, whatever the data are: an array, a Series, other or
    the same `kg.data`; only code that is run again, such as a cell of a notebook or a line at a
    prompt, replaces what it stated, with a warning. (So does an edited cell that keeps other data
    in the same variable.) A likelihood stands as long as the unknowns it is about; nothing needs to
    be kept for it. Models made before keep what they had.

    `kg.model` warns if equal values are observed twice, or if unknowns of an earlier model have
    gained a likelihood since. Neither can happen in a model function: what is stated inside of
    `build` is part of `kg.model(build)` alone.

    Raises
    ------
    TypeError
        If `data` are not known, or `distribution` is not a distribution.
    ShapeError
        If the distribution's parameters do not broadcast to the data's shape.
    DataError
        If values are missing or not numeric, or lie where the density is not a finite number (the
        message gives the first position).
    ModelError
        If the distribution has been used before; if values are missing that cannot be inferred:
        censored ones, or parts of a vector that is not normal or the like; if data with missing
        values have been observed before.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0, 10, name="mu")
    >>> y = kg.observe([1.2, 0.7, 1.9], kg.normal(mu, 1))

    Missing values are unknowns:

    >>> z = kg.data([1.2, None, 1.9], name="z", missing="impute")
    >>> z = kg.observe(z, kg.normal(mu, 1))
    >>> kg.model(mu, z).names
    ('mu', 'z_missing')
    """
    check_name("observe", name)
    follows = _distribution(data, distribution)
    if (given := incomplete(data)) is not None:
        given.name = given.name or name
        given.variable = given.variable or _name_of(data)
        observe_incomplete(data, given, follows)
        consume(distribution, f"the likelihood of {describe(given)}", given)
        return data  # type: ignore[no-any-return]
    array = _as_data(data, name, isinstance(follows.support, Pairs))
    node = array.node
    assert isinstance(node, Data)
    if name is not None and node.name is None:
        node.name = name
    node.variable = node.variable or _name_of(data)
    check_shape(node, follows)
    check_support("observe", node, follows)
    likelihood = Distribution(follows.family, follows.parents, node.shape)
    likelihood.target = node
    add_statement(likelihood, node, data, describe(node))
    node._owned = likelihood
    consume(distribution, f"the likelihood of {describe(node)}", node)
    return array


def _as_data(value: Any, name: str | None, infinite: bool) -> Array:
    if not isinstance(value, Array):
        return make_data(value, name, infinite=infinite)
    if isinstance(value.node, Data) and not value.node.literal:
        return value
    known = _computed(value.node)
    if known is not None:
        made = make_data(known, name or describe(value.node), value.node.dims, infinite=infinite)
        assert isinstance(made.node, Data)
        made.node.source = value.node
        return made
    own, unknown = describe(value.node), value.node
    what = f"{own}{place_text()}"
    if isinstance(unknown, Variable):
        kind = "an unknown" if unknown.observed_by is None else "a distribution"
        raise TypeError(
            f"observe: {what} is {kind}, not data; only known values can be observed. For a "
            f"further density of it write kg.factor(kg.log_density(distribution, {own}))"
        )
    if CURRENT.context is not None:
        raise TypeError(
            f"observe: {what} is a value inside of {CURRENT.context.title}, not data; return the "
            "parameters from there and observe all data outside, or return "
            f"kg.log_density(distribution, {own}) and state their sum by kg.factor"
        )
    if any(node.kind == "placeholder" for node in ancestors([unknown])):
        raise TypeError(
            f"observe: {what} is an argument of a program, not data; only known values can be "
            "observed, such as kg.data. A function that makes a model is plain Python: it has no "
            "@kg.function"
        )
    raise TypeError(
        f"observe: {what} is not data; only known values can be observed. To add the density of "
        f"what is computed write kg.factor(kg.log_density(distribution, {own}))"
    )


def _computed(node: Node) -> np.ndarray | None:
    """The value of what is computed from data alone, such as a part of them; None of others."""
    if not all(isinstance(n, (Data, Apply, Bundle)) for n in ancestors([node])):
        return None
    found: Environment = {}
    with x64():
        evaluate([node], found, scope=Scope(eager=True))
    return np.asarray(found[node])


def _name_of(value: Any) -> str | None:
    """The variable of the caller that holds the data."""
    frame = user_frame()
    if frame is None or isinstance(value, (int, float)):
        return None
    for scope in (local_variables(frame), frame.f_globals):
        for name, held in list(scope.items()):
            if held is value and not name.startswith("_"):
                return name
    return None


def _distribution(data: Any, distribution: Any) -> Distribution:
    if isinstance(getattr(data, "node", None), Variable) and _is_data(distribution):
        raise TypeError(
            f"observe: the arguments are the wrong way round{place_text()}; "
            "write kg.observe(y, kg.normal(mean, sd))"
        )
    return unused_distribution("observe", distribution, "second", "(y, kg.normal(mean, sd))")


def _is_data(value: Any) -> bool:
    return isinstance(getattr(value, "node", value), (Data, np.ndarray, list))
