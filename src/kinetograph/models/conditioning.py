"""`kg.condition` and `kg.do`: models in which unknowns have given values.

The graph does not change. An unknown with a value becomes an argument of the model's programs, like
data, and is no longer part of the free state.
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
from ..graph.public import public
from ..graph.source import place_text
from ..graph.suggestions import did_you_mean
from ..graph.value_texts import shown
from .checks import check_component, check_densities, no_model
from .dims import dims_of
from .discovery import Component, unknowns_above
from .model import Model
from .values import checked_value

__all__ = ["condition", "do"]


@public
def condition(model: Model, values: Any = MappingProxyType({}), /, **named: Any) -> Model:
    """Condition a model on values of unknowns, as if they were observed.

        p(rest | x = value, data)  is proportional to  p(rest, x = value, data)

    The densities of these unknowns stay in the log density, and inform the unknowns that they
    depend on.

    Parameters
    ----------
    model
        Made by `kg.model`; it is not changed.
    values, **named
        The values of unknowns by name, or in a dictionary by name or by array.

    Returns
    -------
    Model
        The model without these unknowns. Its results hold their values in `constant_data`, and
        `model.set_data` changes the values. Targets that no longer differ between draws are left
        out; if none remains, all unknowns are targets.

    Raises
    ------
    ModelError
        If a name does not belong to an unknown, or no unknown is left.
    ShapeError
        If a value and its unknown have different shapes.
    ValueError
        If a value lies outside its unknown's support.
    TypeError
        If a value is not a number.

    Notes
    -----
    `kg.simulate` draws forward, parents first. Its draws do not use the information that the values
    give about the unknowns above them; a warning says so.

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


@public
def do(model: Model, values: Any = MappingProxyType({}), /, **named: Any) -> Model:
    """Intervene in a model: set unknowns to given values.

        p(rest | do(x = value), data)  is proportional to
            p(rest, x = value, data) / p(x = value | parents of x)

    The unknowns no longer depend on their parents, and give no information about them.

    Parameters
    ----------
    model, values, **named
        As for `kg.condition`.

    Returns
    -------
    Model
        The model without these unknowns and their distributions, and without unknowns on which only
        these depended; otherwise as for `kg.condition`.

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
    """The model with fixed unknowns; `cut` removes their distributions."""
    if not isinstance(model, Model):
        raise no_model(doing, model)
    given = _given(doing, model, values, named)
    with model.its_values():
        new_values = {v: checked_value(f"{doing}: {model.name(v)}", v, x) for v, x in given.items()}
    old = model.component
    fixed = [*old.fixed, *new_values]
    targets, factors, coords = model._made_of
    component = _component(
        old, [*targets, *factors], fixed, [*old.cut, *(new_values if cut else ())]
    )
    if not component.unknowns and component.discrete:
        discrete = ", ".join(model.name(v) for v in component.discrete)
        raise ModelError(
            f"{doing}: the remaining unknowns, {discrete}, are discrete and would be marginalised, "
            "so that there is nothing to sample; leave a continuous unknown without a value, or "
            "draw the discrete ones with kg.calculate(..., values=..., draws=...)"
        )
    if not component.unknowns:
        raise ModelError(
            f"{doing}: all unknowns have values, so nothing is left to sample: "
            f"{', '.join(model.names)}; kg.calculate computes arrays from values of all "
            f"unknowns{place_text()}"
        )
    check_component(component)
    check_densities(component, [*component.factors, *factors])
    remaining = {n: name for n, name in targets.items() if _differs(n, set(fixed))}
    names = model._node_names
    remaining = remaining or {v: names[v] for v in component.unknowns}
    dims = {d for node_dims in dims_of([*remaining, *component.nodes]).values() for d in node_dims}
    coords = {dim: labels for dim, labels in coords.items() if dim in dims}
    batch = None if model.batch is None else model.batch.settings
    fixed_values = model._given_values() | new_values
    return Model(remaining, factors, component, coords, names, batch, fixed_values)


def _given(
    doing: str, model: Model, values: Any, named: Mapping[str, Any]
) -> dict[Variable, np.ndarray]:
    """The given values by unknown."""
    if not isinstance(values, Mapping):
        raise TypeError(
            f"{doing}: give values by the names of unknowns, as in kg.{doing}(model, x=2.0); "
            f"got {shown(values)}{place_text()}"
        )
    unknowns = (*model.component.unknowns, *model.component.discrete)
    by_name = {model.name(v): v for v in unknowns}
    value_by_unknown: dict[Variable, Any] = {}
    for key, value in [*values.items(), *named.items()]:
        node = by_name.get(key) if isinstance(key, str) else getattr(key, "node", None)
        if not isinstance(node, Variable) or node not in unknowns:
            key_text = describe(key.node) if isinstance(key, Array) else repr(key)
            hint = did_you_mean(key, by_name)
            if key in map(model.name, model.data):
                hint = f"; it is data; change it with model.set_data({key}=...)"
            raise ModelError(
                f"{doing}: {key_text} is not an unknown of this model; its unknowns are "
                f"{', '.join(by_name)}{place_text()}{hint}"
            )
        if node in value_by_unknown:
            raise ModelError(f"{doing}: {model.name(node)} is given twice{place_text()}")
        is_data = isinstance(value, Array) and isinstance(value.node, Data)
        value_by_unknown[node] = value.node.value if is_data else value
    if not value_by_unknown:
        raise TypeError(
            f"{doing}: no values are given{place_text()}; give some, as in "
            f"kg.{doing}(model, {model.names[0]}=...)"
        )
    return value_by_unknown


def _component(
    old: Component, roots: Sequence[Node], fixed: list[Variable], cut: list[Variable]
) -> Component:
    """The component with the same statements and the remaining unknowns."""
    visited: set[Node] = set()
    stated = [*old.likelihoods, *old.factors]
    standing = [v.distribution for v in fixed if v not in cut and v.distribution is not None]
    reached = set(unknowns_above([*roots, *stated, *fixed, *standing], visited, set(cut)))
    nodes = sorted(visited, key=lambda node: node.serial)
    unknowns, discrete = (
        [v for v in group if v in reached and v not in fixed]
        for group in (old.unknowns, old.discrete)
    )
    statements = old.likelihoods, old.observed, old.factors
    return Component(unknowns, *statements, nodes, fixed, cut, discrete)


def _differs(target: Node, fixed: set[Variable]) -> bool:
    """Whether a target depends on unknowns that are not fixed."""
    above = ancestors([target], lambda node: node in fixed)
    return any(isinstance(node, Variable) and node not in fixed for node in above)
