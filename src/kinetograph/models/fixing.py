"""`kg.condition` and `kg.do`: a model in which unknowns have values.

The graph stays as it is: an unknown with a value is an argument of the model's programs, as data
are, in the place of a part of the free state.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from ..distributions.variable import Variable
from ..graph.array import Array
from ..graph.errors import ModelError
from ..graph.messages import describe
from ..graph.node import Data, Node, ancestors
from ..graph.source import place_text
from ..graph.suggestions import meant
from .checks import check_component, check_densities, no_model
from .dims import dims_of
from .discovery import Component, unknowns_above
from .model import Model
from .values import checked_value

__all__ = ["condition", "do"]


def condition(model: Model, values: Any = MappingProxyType({}), /, **named: Any) -> Model:
    """The model in which unknowns are known to have given values, as if they were observed.

        p(rest | x = value, data)  is proportional to  p(rest, x = value, data)

    Their density stays in the log density, and tells of the unknowns that they follow from.

    Parameters
    ----------
    model
        Made by `kg.model`; it stays as it is.
    values, **named
        The values of unknowns by name, or in a dictionary by name or by array.

    Returns
    -------
    Model
        Without these unknowns. Its results hold their values in `constant_data`, and
        `model.set_data` gives them others. Of its targets those are left that can differ from draw
        to draw; all unknowns, where there is none.

    Raises
    ------
    ModelError
        If a name is none of an unknown, or no unknown is left.
    ShapeError
        If a value has another shape than its unknown.
    ValueError
        If a value lies outside of its unknown's support.
    TypeError
        If a value is no number.

    Notes
    -----
    `kg.simulate` draws forward, parents first, and what a value tells of the unknowns above it is
    not in its draws, as that of data is not; a warning says so.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0, 1, name="mu")
    >>> x = kg.normal(mu, 1, name="x")
    >>> given = kg.condition(kg.model(mu, x), x=2.0)
    >>> given.names
    ('mu',)
    >>> given.log_prob([1.0]).round(4)  # log p(mu = 1) + log p(x = 2 | mu = 1)
    np.float64(-2.8379)
    """
    return _fixed("condition", model, values, named, cut=False)


def do(model: Model, values: Any = MappingProxyType({}), /, **named: Any) -> Model:
    """The model in which unknowns are set to given values from outside: an intervention.

        p(rest | do(x = value), data)  is proportional to
            p(rest, x = value, data) / p(x = value | parents of x)

    What they followed from has no bearing on them any more, and they tell nothing of it.

    Parameters
    ----------
    model, values, **named
        As for `kg.condition`.

    Returns
    -------
    Model
        Without these unknowns and their distributions, and without unknowns that only these
        followed from; else as `kg.condition`.

    Raises
    ------
    ModelError, ShapeError, ValueError, TypeError
        As `kg.condition`.

    Notes
    -----
    Source: J. Pearl, Causality, 2nd edition (2009), 3.2.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0, 1, name="mu")
    >>> x = kg.normal(mu, 1, name="x")
    >>> y = kg.normal(x, 1, name="y")
    >>> set_to = kg.do(kg.model(mu, x, y), x=2.0)
    >>> set_to.names
    ('mu', 'y')
    >>> set_to.log_prob([1.0, 2.0]).round(4)  # log p(mu = 1) + log p(y = 2 | x = 2)
    np.float64(-2.3379)
    """
    return _fixed("do", model, values, named, cut=True)


def _fixed(doing: str, model: Any, values: Any, named: Mapping[str, Any], cut: bool) -> Model:
    if not isinstance(model, Model):
        raise no_model(doing, model)
    given = _given(doing, model, values, named)
    with model.its_values():
        own = {v: checked_value(f"{doing}: {model.name(v)}", v, x) for v, x in given.items()}
    old = model.component
    fixed = [*old.fixed, *own]
    targets, factors, coords = model._made_of
    component = _component(old, [*targets, *factors], fixed, [*old.cut, *(own if cut else ())])
    if not component.unknowns and component.discrete:
        discrete = ", ".join(model.name(v) for v in component.discrete)
        raise ModelError(
            f"{doing}: what is left, {discrete}, is discrete and would be summed out, so that "
            "there is nothing to sample; leave a continuous unknown without a value, or draw it by "
            "kg.calculate(..., values=..., draws=...)"
        )
    if not component.unknowns:
        raise ModelError(
            f"{doing}: no unknown is left of {', '.join(model.names)}; kg.calculate gives what "
            f"follows from values of all{place_text()}"
        )
    check_component(component)
    check_densities(component, [*component.factors, *factors])
    left = {n: name for n, name in targets.items() if _differs(n, set(fixed))}
    names = model._node_names
    left = left or {v: names[v] for v in component.unknowns}
    dims = {d for held in dims_of([*left, *component.nodes]).values() for d in held}
    coords = {dim: labels for dim, labels in coords.items() if dim in dims}
    batch = None if model.batch is None else model.batch.settings
    known = model._given_values() | own
    return Model(left, factors, component, coords, names, batch, known)


def _given(
    doing: str, model: Model, values: Any, named: Mapping[str, Any]
) -> dict[Variable, np.ndarray]:
    """The values by unknown."""
    if not isinstance(values, Mapping):
        raise TypeError(
            f"{doing}: values are given by the names of unknowns, as in kg.{doing}(model, x=2.0); "
            f"got {values!r:.60}{place_text()}"
        )
    unknowns = (*model.component.unknowns, *model.component.discrete)
    by_name = {model.name(v): v for v in unknowns}
    found: dict[Variable, Any] = {}
    for key, value in [*values.items(), *named.items()]:
        node = by_name.get(key) if isinstance(key, str) else getattr(key, "node", None)
        if not isinstance(node, Variable) or node not in unknowns:
            what = describe(key.node) if isinstance(key, Array) else repr(key)
            hint = meant(key, by_name)
            if key in map(model.name, model.data):
                hint = f"; it is data, which model.set_data({key}=...) changes"
            raise ModelError(
                f"{doing}: {what} is no unknown of this model; its unknowns are "
                f"{', '.join(by_name)}{place_text()}{hint}"
            )
        if node in found:
            raise ModelError(f"{doing}: {model.name(node)} is given twice{place_text()}")
        known = isinstance(value, Array) and isinstance(value.node, Data)
        found[node] = value.node.value if known else value
    if not found:
        raise TypeError(
            f"{doing}: no values are given{place_text()}: kg.{doing}(model, {model.names[0]}=...)"
        )
    return found


def _component(
    old: Component, roots: Sequence[Node], fixed: list[Variable], cut: list[Variable]
) -> Component:
    """The same statements, and the unknowns that are left of those they are about."""
    seen: set[Node] = set()
    stated = [*old.likelihoods, *old.factors]
    standing = [v.distribution for v in fixed if v not in cut and v.distribution is not None]
    found = set(unknowns_above([*roots, *stated, *fixed, *standing], seen, set(cut)))
    nodes = sorted(seen, key=lambda node: node.serial)
    unknowns, discrete = (
        [v for v in some if v in found and v not in fixed] for some in (old.unknowns, old.discrete)
    )
    statements = old.likelihoods, old.observed, old.factors
    return Component(unknowns, *statements, nodes, fixed, cut, discrete)


def _differs(target: Node, fixed: set[Variable]) -> bool:
    """Whether a target follows from unknowns that are left."""
    above = ancestors([target], lambda node: node in fixed)
    return any(isinstance(node, Variable) and node not in fixed for node in above)
