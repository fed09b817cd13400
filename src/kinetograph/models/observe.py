"""`kg.observe`: the statement that data follow a distribution.

`models/statements.py` describes how long a statement is valid.
"""

from typing import Any

import jax
import numpy as np

from ..distributions.family import FAMILIES
from ..distributions.support import Pairs
from ..distributions.variable import Distribution, Variable
from ..graph.array import Array
from ..graph.errors import KinetographWarning, ModelError
from ..graph.inputs import data as make_data
from ..graph.lower import Environment, Scope, evaluate
from ..graph.messages import describe
from ..graph.node import CURRENT, Apply, Bundle, Data, Node, ancestors
from ..graph.precision import float_dtype, x64
from ..graph.public import public
from ..graph.source import place_text, warn_user
from ..graph.value_texts import brief, check_name
from .data_checks import check_shape, check_support, consume, unused_distribution
from .missing import incomplete, observe_incomplete
from .names import name_in_scope
from .statements import add_statement

__all__ = ["observe"]


@public
def observe(data: Any, distribution: Array, name: str | None = None) -> Array:
    """State that data follow a distribution.

    This adds log p(data | parameters) to the log density.

    The data must be known values. If data are first transformed with unknown parameters, z = g(y),
    the density of y has a Jacobian: state it as `kg.factor(kg.log_density(d, z))` and
    `kg.factor(log |dg / dy|)`.

    Parameters
    ----------
    data
        An array made by `kg.data`, an array computed from such arrays alone, such as `y[1:]`, or
        any value that `kg.data` accepts.
    distribution
        The distribution, as an unknown that is not used elsewhere: `kg.normal(mu, sd)`.
    name
        The name of the data in results and messages, if the array has no name yet; by default the
        variable or the key that holds the data, else the name of the series.

    Returns
    -------
    Array
        The data. For data with missing values, `kg.data(..., missing="impute")`, the result is the
        array of all values, in which an unknown `<name>_missing` with the same distribution
        replaces the missing values.

    Notes
    -----
    Each call of `kg.observe` adds a likelihood, also for data that have been observed
    before. The only exception is code that runs again, such as a notebook cell or a line at a
    prompt: its statement replaces the earlier one, with a warning. (So does an edited cell that
    stores other data in the same variable.) A likelihood exists as long as its unknowns; no
    reference to it is needed. Models made before do not change.

    `kg.model` warns if equal values are observed twice, or if unknowns of an earlier model have
    gained a likelihood since. Neither can happen in a model function: statements inside `build`
    belong to `kg.model(build)` alone.

    Raises
    ------
    TypeError
        If `data` are not known, or `distribution` is not a distribution.
    ShapeError
        If the distribution's parameters do not broadcast to the data's shape.
    DataError
        If values are missing, not numeric, or outside the support of the distribution (the message
        gives the first position).
    ModelError
        If the distribution has been used before; if missing values cannot be inferred, because they
        are censored, or belong to a vector that is not normal or Student's t; if data with missing
        values have been observed before.

    Warns
    -----
    KinetographWarning
        If the distribution depends on no unknown; if a likelihood replaces an earlier one.

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
    if isinstance(data, str):
        raise TypeError(
            f"observe: the name {data!r:.40} is given in place of the data{place_text()}; write "
            f"kg.observe(data, distribution, name={data!r:.40})"
        )
    if data is None:
        raise TypeError(
            f"observe: the data are None{place_text()}; a model has its data from the start: "
            "kg.simulate(model) draws data from the prior, kg.predict(model, results) from the "
            "posterior, and model.set_data gives other data"
        )
    check_name("observe", name, _with_parameters(distribution, name))
    unused = _distribution(data, distribution)
    if (given := incomplete(data)) is not None:
        given.name = given.name or name
        given.variable = given.variable or name_in_scope(data)
        observe_incomplete(data, given, unused)
        consume(distribution, f"the likelihood of {describe(given)}", given)
        return data  # type: ignore[no-any-return]
    array = _as_data(data, name, isinstance(unused.support, Pairs))
    if not isinstance(data, Array) and not unused.family.discrete:
        array = _real(array)
    node = array.node
    assert isinstance(node, Data)
    is_own_family = FAMILIES.get(unused.family.name) is unused.family  # not a density of the user
    if node.dtype == bool and is_own_family and not unused.family.discrete:
        warn_user(
            f"observe: {describe(node)} holds True and False, and {unused.family.name} is a "
            f"distribution of real numbers{place_text()}; write "
            "kg.observe(data, kg.bernoulli(prob))",
            KinetographWarning,
        )
    if name is not None and node.name is None:
        node.name = name
    if isinstance(data, Array):
        node.variable = node.variable or name_in_scope(data)
    else:
        node.variable = name_in_scope(data) or node.variable
    check_shape(node, unused)
    check_support("observe", node, unused)
    likelihood = Distribution(unused.family, unused.parents, node.shape)
    likelihood.target = node
    if not add_statement(likelihood, node, data, describe(node)):
        if CURRENT.context is not None:
            raise ModelError(
                f"observe: the likelihood of {describe(node)} is made inside of "
                f"{CURRENT.context.title}; state it outside: a model has the same likelihoods in "
                "every run"
            )
        _warn_of_a_constant(likelihood)
    node._owned = likelihood
    consume(distribution, f"the likelihood of {describe(node)}", node)
    return array


def _with_parameters(mean: Any, sd: Any) -> str:
    """Advice on parameters in place of a distribution, or an empty text."""
    if not isinstance(sd, (int, float, np.number, Array)):
        return ""
    if isinstance(mean, Array) and not name_in_scope(mean):  # a distribution
        return ""
    return f"; write kg.observe(data, kg.normal({brief(mean)}, {brief(sd)}))"


def _as_data(value: Any, name: str | None, infinite: bool) -> Array:
    """Data as an array of known values; raises TypeError for unknown values."""
    if not isinstance(value, Array):
        return make_data(value, name, infinite=infinite)
    if isinstance(value.node, Data) and not value.node.literal:
        return value
    constant = _computed(value.node)
    if constant is not None:
        array = make_data(
            constant, name or describe(value.node), value.node.dims, infinite=infinite
        )
        assert isinstance(array.node, Data)
        array.node.source = value.node
        return array
    description, unknown = describe(value.node), value.node
    subject = f"{description}{place_text()}"
    if isinstance(unknown, Variable):
        kind = "an unknown" if unknown.observed_by is None else "a distribution"
        raise TypeError(
            f"observe: {subject} is {kind}, not data; only known values can be observed. To add a "
            f"density of it, write kg.factor(kg.log_density(distribution, {description}))"
        )
    if CURRENT.context is not None:
        raise TypeError(
            f"observe: {subject} is a value inside {CURRENT.context.title}, not data; return the "
            "parameters from there and observe all data outside, or return "
            f"kg.log_density(distribution, {description}) and add the sum with kg.factor"
        )
    if any(node.kind == "placeholder" for node in ancestors([unknown])):
        raise TypeError(
            f"observe: {subject} is an argument of a program, not data; only known values can be "
            "observed, such as kg.data. A function that makes a model must be plain Python, "
            "without @kg.function"
        )
    raise TypeError(
        f"observe: {subject} is not data; only known values can be observed. To add the density "
        f"of a computed array, write kg.factor(kg.log_density(distribution, {description}))"
    )


def _warn_of_a_constant(likelihood: Distribution) -> None:
    """Warn of a likelihood without unknowns, which no model contains.

    No model evaluates its density, so the errors of a density that the user wrote, such as an
    unknown that is not among its parameters, are raised here.
    """
    arguments = likelihood.arguments.values()
    with x64():
        tensors = [jax.ShapeDtypeStruct(node.shape, node.dtype) for node in arguments]
        jax.eval_shape(likelihood.family.log_density, *tensors)
    assert likelihood.target is not None
    warn_user(
        f"observe: the distribution of {describe(likelihood.target)}, {likelihood.expression()}, "
        f"depends on no unknown{place_text()}, so that no model contains this likelihood; use an "
        "unknown in its parameters",
        KinetographWarning,
    )


def _real(array: Array) -> Array:
    """Data in floating point.

    Replicated data of a continuous distribution have the type of the data, and are not whole.
    """
    node = array.node
    if not isinstance(node, Data) or not np.issubdtype(node.dtype, np.integer):
        return array
    values = node.value.astype(float_dtype())
    values.setflags(write=False)
    real = Data(values, node.name, node.dims, coords=node.coords)
    real.variable, real.source = node.variable, node.source
    real.rows, real.columns = node.rows, node.columns
    return Array(real)


def _computed(node: Node) -> np.ndarray | None:
    """The value of a node computed from data alone, otherwise None."""
    if not all(isinstance(n, (Data, Apply, Bundle)) for n in ancestors([node])):
        return None
    environment: Environment = {}
    with x64():
        evaluate([node], environment, scope=Scope(eager=True))
    return np.asarray(environment[node])


def _distribution(data: Any, distribution: Any) -> Distribution:
    """The distribution; raises TypeError if the arguments are swapped."""
    if isinstance(getattr(data, "node", None), Variable) and _is_data(distribution):
        raise TypeError(
            f"observe: the arguments are swapped{place_text()}; "
            "write kg.observe(y, kg.normal(mean, sd))"
        )
    return unused_distribution("observe", distribution, "second", "(y, kg.normal(mean, sd))")


def _is_data(value: Any) -> bool:
    return isinstance(getattr(value, "node", value), (Data, np.ndarray, list))
