"""`model.set_data`: other values of a model's data, where its programs are those there are.

Values are arguments of programs, but they had a say in some of them: which form of a term is
computed, which indices are trusted, which parameters were checked. All of that is asked again of
the new values. A term that they would give another form is made anew, with the programs it is in;
what the user's own expressions were made for by the old values, and the new ones do not allow, is
an error. Nothing changes unless all is well.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..distributions.support import Pairs
from ..distributions.variable import Distribution, Variable
from ..graph.array import Array
from ..graph.errors import DimsError, KinetographWarning, ModelError, ShapeError
from ..graph.inputs import data as make_data
from ..graph.lower import Environment, Scope, evaluate
from ..graph.messages import describe
from ..graph.node import Data, Node, ancestors, with_values
from ..graph.precision import x64
from ..graph.source import place_text, warn_user
from ..graph.suggestions import meant
from .asked_again import check_nodes_again, same_density
from .batch import Batch
from .density import Density
from .followed import check_support
from .labels import check_coords
from .marginal.marginal import MarginalTerm
from .reshaped import ADVICE, with_shapes
from .term import Term
from .values import checked_value

if TYPE_CHECKING:
    from .model import Model

__all__ = ["replace_data"]

_WRITTEN = ("log_likelihood", "log_prior")  # kept by models: log densities as operations


def replace_data(model: "Model", values: Any, named: Mapping[str, Any]) -> None:
    """Give the data of a model new values; see `Model.set_data`."""
    if not isinstance(values, Mapping):
        raise TypeError(
            "set_data: values are given by the names of data, as in set_data(y=[...]) or "
            f"set_data({{'y': [...]}}); got {values!r:.60}{place_text()}"
        )
    given, kept = _given(model, values, named), model._functions
    arrays = {n: _fitted(model, n, value) for n, value in given.items() if isinstance(n, Data)}
    others = {n: made for n, made in arrays.items() if made.shape != n.shape}
    if others:
        _replace_shapes(model, given, arrays, others)
        return
    changed: dict[Node, np.ndarray] = {node: made.value for node, made in arrays.items()}
    unknowns = {n: value for n, value in given.items() if isinstance(n, Variable)}
    with with_values(model._given_values() | changed):
        changed |= _follow(model, changed)
    with with_values(model._given_values() | changed):
        for v, value in unknowns.items():
            changed[v] = checked_value(model.name(v), v, value)
        coords = _coords(model, arrays)
        _check_statements(model, changed)
        density, derived = _remade(model, changed)
        check_nodes_again(model, density, changed)
        stale = [key for key in _WRITTEN if not all(map(same_density, kept.get(key, ())))]
        old = model.batch
        remade = density is not model.density or (old is not None and bool(old.derived))
        batch = Batch(density, *old.settings) if remade and old is not None else old
    model.values = model._given_values() | changed | derived
    model.coords = coords
    if remade:
        model.density, model.batch, model.version = density, batch, model.version + 1
        model._functions.clear()
    for key in stale:
        kept.pop(key, None)


def _replace_shapes(
    model: "Model",
    given: Mapping[Node, Any],
    arrays: Mapping[Data, Data],
    others: Mapping[Data, Data],
) -> None:
    """Write a model anew for data of other shapes, and give it the rest of its new values."""
    held: dict[Node, np.ndarray] = {n: a.value for n, a in arrays.items() if n not in others}
    changes = [
        f"{describe(n, model.known_as)} has shape {n.shape}, got {made.shape}"
        for n, made in others.items()
    ]
    text = f"set_data: {' and '.join(changes)}"
    with with_values(model._given_values() | held):
        try:
            made, nodes = with_shapes(model, others)
        except ShapeError as error:
            raise ShapeError(
                f"{text}; give data that belong together in one call, or {ADVICE}\n{error}"
            ) from None
    new = {nodes.get(n, n) for n in given}
    rest = {nodes.get(n, n): value for n, value in given.items() if n not in others}
    changed: dict[Node, np.ndarray] = {n: n.value for n in made.data if n in new and n not in rest}
    with with_values(made._given_values() | held):
        check_nodes_again(made, made.density, changed)
    replace_data(made, {Array(n): value for n, value in rest.items()}, {})
    followed = {old: nodes.get(node, node) for old, node in model.became.items()}
    made.became = {**nodes, **followed}
    made.version = model.version + 1
    vars(model).update(vars(made))
    warn_user(
        f"{text}: the model is written anew for it, and its programs are compiled once more. "
        "Numbers that were computed of the old shape outside of the graph stay as they were",
        KinetographWarning,
    )


def _given(model: "Model", values: Mapping[Any, Any], named: Mapping[str, Any]) -> dict[Node, Any]:
    """The values by node."""
    names: dict[str, Node] = {model.name(node): node for node in (*model.data, *model.fixed)}
    for source in _sources(model):
        names.setdefault(describe(source), source)
    nodes = set(names.values())
    found: dict[Node, Any] = {}
    for key, value in [*values.items(), *named.items()]:
        node = names.get(key) if isinstance(key, str) else getattr(key, "node", None)
        node = node if node is None else model.became.get(node, node)
        if node is None or node not in nodes:
            what = describe(key.node) if isinstance(key, Array) else repr(key)
            raise ModelError(
                f"set_data: {what} is no data of this model; these are {', '.join(names) or 'none'}"
                f"{place_text()}{meant(key, names)}"
            )
        if node in found:
            raise ModelError(f"set_data: {describe(node)} is given twice")
        if isinstance(node, Data) and node.settled is not None:
            raise ModelError(
                f"set_data: the model was written for the values of {describe(node)}, as "
                f"{node.settled}; make the model in a function, and call it again with new data"
            )
        found[node] = value
    return found


def _sources(model: "Model") -> list[Data]:
    """Data of which some of the model's were computed, and that are none of it."""
    made_of = [node.source for node in model.data if node.source is not None]
    above = (n for n in ancestors(made_of) if isinstance(n, Data) and not n.literal)
    return [n for n in above if n not in model.data]


def _fitted(model: "Model", node: Data, value: Any) -> Data:
    """The value as data of this shape and type, with the labels it brings along."""
    name = describe(node, model.known_as)
    if isinstance(value, Array):
        if not isinstance(value.node, Data):
            raise TypeError(f"set_data: {name}: {describe(value.node)} has no known value")
        made = value.node
    else:
        pairs = any(
            isinstance(d.support, Pairs) and y is node
            for d, y in zip(model.component.likelihoods, model.component.observed, strict=True)
        )
        infinite = pairs or bool(node.dtype.kind == "f" and np.isinf(node.value).any())
        own = make_data(value, name, infinite=infinite).node
        assert isinstance(own, Data)
        made = own
    if len(made.shape) != len(node.shape):
        raise ShapeError(
            f"set_data: {name} has shape {node.shape}, got {made.shape}{place_text()}; data keep "
            f"the number of their axes: {ADVICE}"
        )
    if made.dims is not None and node.dims is not None and made.dims != node.dims:
        raise DimsError(f"set_data: {name} has dims {node.dims}, got {made.dims}{place_text()}")
    array = made.value.astype(node.dtype)
    if not np.can_cast(made.dtype, node.dtype, "same_kind") and np.any(array != made.value):
        raise TypeError(f"set_data: {name} is {node.dtype}, got {made.dtype}{place_text()}")
    array.setflags(write=False)
    return Data(array, name, node.dims, coords=made.coords)


def _follow(model: "Model", changed: Mapping[Node, np.ndarray]) -> dict[Node, np.ndarray]:
    """What data become that were computed of others."""
    found: dict[Node, np.ndarray] = {}
    for node in model.data:
        source = node.source
        if source is None or node in changed or not set(ancestors([source])) & set(changed):
            continue
        environment: Environment = {}
        with x64():
            evaluate([source], environment, scope=Scope(eager=True))
        found[node] = np.asarray(environment[source], node.dtype)
    return found


def _coords(model: "Model", arrays: Mapping[Data, Data]) -> dict[str, np.ndarray]:
    """The labels of dimensions, of which new values may bring others."""
    if not any(made.coords for made in arrays.values()):
        return model.coords
    nodes = [arrays[n] if n in arrays and arrays[n].coords else n for n in model.data]
    return model.coords | model._labels(nodes, check_coords(model._made_of[2]))


def _check_statements(model: "Model", changed: Mapping[Node, np.ndarray]) -> None:
    """Ask of distributions what they were asked when they were made and observed."""
    component = model.component
    for follows in (term.node for term in model.density.terms):
        if isinstance(follows, Distribution) and set(follows.parents) & set(changed):
            follows.family.check_values(follows.parents)
    for follows, node in zip(component.likelihoods, component.observed, strict=True):
        if node in changed or set(follows.parents) & set(changed):
            check_support("set_data", node, follows)


def _remade(
    model: "Model", changed: Mapping[Node, np.ndarray]
) -> tuple[Density, dict[Node, np.ndarray]]:
    """The log density, made again if the data give a term another form.

    If not, also the values of what terms and batches compute from data once.
    """
    old = model.density
    new = Density(old.unknowns, [_new_term(term, changed) for term in old.terms])
    same = all(_alike(a, b) for a, b in zip(old.terms, new.terms, strict=True))
    fits = new.batches is None if old.batches is None else old.batches.fits(new.batches)
    if not (same and fits):
        return new, {}
    pairs = zip(old.derived, new.derived, strict=True)
    return old, {a: model.value_of(a) if b is a else b.value for a, b in pairs}


def _new_term(term: Term, changed: Mapping[Node, np.ndarray]) -> Term:
    if isinstance(term, MarginalTerm):
        inner = [_new_term(t, changed) for t in term.terms]
        same = all(a is b for a, b in zip(inner, term.terms, strict=True))
        return term if same else MarginalTerm(term.discrete, inner)
    return Term(term.node) if set(ancestors(term.plain_needs())) & set(changed) else term


def _alike(old: Term, new: Term) -> bool:
    if isinstance(old, MarginalTerm) and isinstance(new, MarginalTerm):
        return old.sums_like(new) and all(map(_alike, old.terms, new.terms))
    compressed = (
        new.compressed is None if old.compressed is None else old.compressed.fits(new.compressed)
    )
    return compressed and old.small == new.small and old.forms.keys() == new.forms.keys()
