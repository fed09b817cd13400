"""`model.set_data`: other values of a model's data, with the same programs.

Data are arguments of compiled programs. Their values can also decide how something is computed, and
they were checked when the user's lines were written. So new values go through the same code again:

1. The checks of known operands are made again: indices and labels (`graph.known_inputs`),
   parameters and supports of distributions.
2. The terms of the log density are made again from the graph. If the new density has the same
   program, the compiled programs stay.
3. If a form in the graph itself was chosen by values, and the new values decide otherwise
   (`graph.forms.conditions`, `factor.check_density`), or if data have another shape, the part of
   the model below the data is written again (`reshaped`).

Nothing changes unless all checks pass.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..distributions.support import Pairs
from ..distributions.variable import Distribution, Variable
from ..graph.array import Array
from ..graph.control.control_node import everything
from ..graph.dims import labels_agree
from ..graph.errors import DimsError, KinetographWarning, ModelError, ShapeError
from ..graph.forms.conditions import decided_alike
from ..graph.inputs import data as make_data
from ..graph.known_inputs import check_known_operands
from ..graph.lower import Environment, Scope, evaluate
from ..graph.messages import describe
from ..graph.node import FORM, Apply, Data, Inner, Node, ancestors, sources, with_values
from ..graph.operations.linear_algebra import CHOLESKY
from ..graph.precision import x64
from ..graph.source import place_text, warn_user
from ..graph.tables import is_table
from ..graph.value_texts import shown
from .batch import RowBatch
from .data_checks import check_support
from .factor import check_density, has_forms, is_density
from .labels import check_coords
from .rewritten_model import ADVICE, with_data
from .values import checked_value

if TYPE_CHECKING:
    from .model import Model

__all__ = ["replace_data"]

_OTHER_FORM = "the new values need another form of an operation"
_WRITTEN = ("log_likelihood", "log_prior")  # keys of log densities that models cache as nodes


def replace_data(model: "Model", values: Any, named: Mapping[str, Any]) -> None:
    """Give the data of a model new values; see `Model.set_data`."""
    if not isinstance(values, Mapping) or hasattr(values, "subtree"):
        name = next(map(model.name, model.data), "y")
        hint = ""
        if hasattr(values, "columns") and hasattr(model, "predict"):
            hint = "; new rows of a formula's frame are given to model.predict(results, frame)"
        raise TypeError(
            f"set_data: values are given by the names of data, as in set_data({name}=[...]) or "
            f"set_data({{{name!r}: [...]}}); got {shown(values)}{place_text()}{hint}"
        )
    given = _given(model, values, named)
    arrays = {n: _fitted(model, n, value) for n, value in given.items() if isinstance(n, Data)}
    changed: dict[Node, np.ndarray] = {n: a.value for n, a in arrays.items() if a.shape == n.shape}
    unknowns = {n: value for n, value in given.items() if isinstance(n, Variable)}
    reshaped = {n: new_node for n, new_node in arrays.items() if new_node.shape != n.shape}
    if reshaped:
        _replace_shapes(model, given, arrays, reshaped)
        return
    with with_values(model._given_values() | changed):
        changed |= _follow(model, changed)
    affected = _affected(model, changed)
    undecided = _decided_otherwise(model, changed)
    with with_values(model._given_values() | changed):
        for v, value in unknowns.items():
            changed[v] = checked_value(model.name(v), v, value)
        coords = _coords(model, arrays)
        undecided |= _check_statements(model, changed, affected)
        if undecided:
            renewed = {n: arrays.get(n) or _with_value(n, changed[n]) for n in undecided}
            _rewrite(model, given, arrays, renewed, _OTHER_FORM)
            return
        density = model.density.renewed(changed.keys())
        same = model.density.fits(density)
        derived = zip(model.density.derived, density.derived, strict=True) if same else ()
        computed = {a: model.value_of(a) if b is a else b.value for a, b in derived}
        density = model.density if same else density
        cached, old = model.functions.entries, model.batch
        written = {
            key: all(map(partial(check_density, "set_data"), cached.get(key, (None, ()))[1]))
            for key in _WRITTEN
        }
        remade = not same or (old is not None and bool(old.derived))
        batch = RowBatch(density, *old.settings) if remade and old is not None else old
    model.values = model._given_values() | changed | computed
    model.coords = coords
    if remade:
        model.density, model.batch, model.version = density, batch, model.version + 1
        cached.clear()
    for key, unchanged in written.items():
        if not unchanged:
            cached.pop(key, None)


def _affected(model: "Model", changed: Iterable[Node]) -> list[Node]:
    """The written nodes that follow from changed data, parents first."""
    reached = set(changed)
    affected: list[Node] = []
    for node in everything(ancestors([*model.component.nodes, *model.targets], above=sources)):
        outer = (node.outer,) if isinstance(node, Inner) else sources(node)
        if not reached.isdisjoint(outer):
            reached.add(node)
            affected.append(node)
    return affected


def _decided_otherwise(model: "Model", changed: Mapping[Node, np.ndarray]) -> set[Data]:
    """The data whose new values choose another form in the graph."""
    with model.its_values():
        other = {n for n, v in changed.items() if isinstance(n, Data) and not decided_alike(n, v)}
    return {n for n in other if any(map(_has_choice, _affected(model, [n])))}


def _has_choice(node: Node) -> bool:
    """Whether a node was written with forms of its operands, if any."""
    return has_forms(node) or (isinstance(node, Apply) and node.operation in (FORM, CHOLESKY))


def _check_statements(
    model: "Model", changed: Mapping[Node, np.ndarray], affected: Iterable[Node]
) -> set[Data]:
    """Check the graph for new values, as for a new line.

    Returns the data whose values choose another form of a log density in the graph. Terms of the
    log density are not among these, as they are made again in any case.
    """
    component = model.component
    other: set[Data] = set()
    for node in affected:
        check_known_operands(node)
        if isinstance(node, Distribution):
            node.family.check_values(node.parents)
        elif is_density(node) and node.context is None and not check_density("set_data", node):  # type: ignore[arg-type]
            other |= {n for n in node.parents if isinstance(n, Data) and n in changed}
    for distribution, node in zip(component.likelihoods, component.observed, strict=True):
        if node in changed or set(distribution.parents) & set(changed):
            check_support("set_data", node, distribution)
    return other


def _with_value(node: Data, value: np.ndarray) -> Data:
    new_node = Data(value, node.name, node.dims)
    new_node.source = node.source
    return new_node


def _replace_shapes(
    model: "Model",
    given: Mapping[Node, Any],
    arrays: Mapping[Data, Data],
    reshaped: Mapping[Data, Data],
) -> None:
    """Write a model again for data of other shapes, with a warning."""
    changes = [
        f"{describe(n, model.known_as)} has shape {n.shape}, got {new_node.shape}"
        for n, new_node in reshaped.items()
    ]
    text = f"set_data: {' and '.join(changes)}"
    try:
        _rewrite(model, given, arrays, reshaped, "the shape of data changes")
    except ShapeError as error:
        raise ShapeError(
            f"{text}; give data that belong together in one call, or {ADVICE}\n{error}"
        ) from None
    warn_user(
        f"{text}: the model is written again for it, and its programs are compiled once more. "
        "Numbers that were computed from the old shape outside of the graph do not change",
        KinetographWarning,
    )


def _rewrite(
    model: "Model",
    given: Mapping[Node, Any],
    arrays: Mapping[Data, Data],
    renewed: Mapping[Data, Data],
    reason: str,
) -> None:
    """Write a model again with new data in its graph.

    The model then gets the rest of its new values.
    """
    unchanged_nodes: dict[Node, np.ndarray] = {
        n: a.value for n, a in arrays.items() if n not in renewed
    }
    with with_values(model._given_values() | unchanged_nodes):
        rewritten, nodes = with_data(model, renewed, reason)
    new = {nodes[n] for n in given if n in nodes and n in renewed}
    changed = [n for n in rewritten.data if n in new]
    with with_values(rewritten._given_values() | unchanged_nodes):
        _check_statements(rewritten, {n: n.value for n in changed}, _affected(rewritten, changed))
    remaining = {nodes.get(n, n): value for n, value in given.items() if n not in renewed}
    replace_data(rewritten, {Array(n): value for n, value in remaining.items()}, {})
    followed = {old: nodes.get(node, node) for old, node in model.became.items()}
    rewritten.became = {**nodes, **followed}
    rewritten.version = model.version + 1
    vars(model).update(vars(rewritten))


def _given(model: "Model", values: Mapping[Any, Any], named: Mapping[str, Any]) -> dict[Node, Any]:
    """The given values by node."""
    names: dict[str, Node] = {model.name(node): node for node in (*model.data, *model.fixed)}
    for source in _sources(model):
        names.setdefault(describe(source), source)
    nodes = set(names.values())
    by_node: dict[Node, Any] = {}
    for key, value in [*values.items(), *named.items()]:
        node = names.get(key) if isinstance(key, str) else getattr(key, "node", None)
        node = node if node is None else model.became.get(node, node)
        if node is None or node not in nodes:
            key_text = describe(key.node) if isinstance(key, Array) else repr(key)
            raise ModelError(
                f"set_data: {key_text} is not data of this model; its data are "
                f"{', '.join(names) or 'none'}{place_text()}{model._data_hint(key, names)}"
            )
        if node in by_node:
            raise ModelError(f"set_data: {describe(node)} is given twice")
        if isinstance(node, Data) and node.settled is not None:
            raise ModelError(
                f"set_data: the model was written for the values of {describe(node)}, as "
                f"{node.settled}; make the model in a function, and call it again with new data"
            )
        by_node[node] = value
    return by_node


def _sources(model: "Model") -> list[Data]:
    """Data outside the model from which some of its data were computed."""
    made_of = [node.source for node in model.data if node.source is not None]
    above = (n for n in ancestors(made_of) if isinstance(n, Data) and not n.literal)
    return [n for n in above if n not in model.data]


def _fitted(model: "Model", node: Data, value: Any) -> Data:
    """The value as data of the node's shape and type."""
    name = describe(node, model.known_as)
    if isinstance(value, Array):
        if not isinstance(value.node, Data):
            raise TypeError(f"set_data: {name}: {describe(value.node)} has no known value")
        data = value.node
    else:
        pairs = any(
            isinstance(d.support, Pairs) and y is node
            for d, y in zip(model.component.likelihoods, model.component.observed, strict=True)
        )
        infinite = pairs or bool(node.dtype.kind == "f" and np.isinf(node.value).any())
        table = is_table(value) and len(value.shape) == len(node.shape)
        dims = node.dims if table else None
        as_data = make_data(value, name, dims, infinite=infinite).node
        assert isinstance(as_data, Data)
        if table:
            _check_columns(name, node, as_data)
        data = as_data
    if len(data.shape) != len(node.shape):
        raise ShapeError(
            f"set_data: {name} has shape {node.shape}, got {data.shape}{place_text()}; data keep "
            f"the number of their axes: {ADVICE}"
        )
    if data.dims is not None and node.dims is not None and data.dims != node.dims:
        raise DimsError(f"set_data: {name} has dims {node.dims}, got {data.dims}{place_text()}")
    array = data.value.astype(node.dtype)
    if not np.can_cast(data.dtype, node.dtype, "same_kind") and np.any(array != data.value):
        raise TypeError(f"set_data: {name} is {node.dtype}, got {data.dtype}{place_text()}")
    array.setflags(write=False)
    return Data(array, name, node.dims, coords=data.coords)


def _check_columns(name: str, node: Data, new: Data) -> None:
    """Refuse a table whose columns differ from the columns of the data.

    Raises
    ------
    DimsError
        If the labels of the columns differ.
    """
    dim = None if node.dims is None or len(node.dims) != 2 else node.dims[1]
    old, columns = (None if dim is None else n.coords.get(dim) for n in (node, new))
    if old is not None and columns is not None and not labels_agree(old, columns):
        listed, given = (", ".join(map(str, labels[:6])) for labels in (old, columns))
        raise DimsError(
            f"set_data: the columns of {name} are {listed}; got {given}{place_text()}; give them "
            f"in the order of the model, as in table[{[str(label) for label in old[:6]]}]"
        )


def _follow(model: "Model", changed: Mapping[Node, np.ndarray]) -> dict[Node, np.ndarray]:
    """The new values of data that were computed from other data."""
    computed: dict[Node, np.ndarray] = {}
    for node in model.data:
        source = node.source
        if source is None or node in changed or not set(ancestors([source])) & set(changed):
            continue
        environment: Environment = {}
        with x64():
            evaluate([source], environment, scope=Scope(eager=True))
        computed[node] = np.asarray(environment[source], node.dtype)
    return computed


def _coords(model: "Model", arrays: Mapping[Data, Data]) -> dict[str, np.ndarray]:
    """The labels of dimensions, with the labels that new values bring."""
    if not any(new_node.coords for new_node in arrays.values()):
        return model.coords
    nodes = [arrays[n] if n in arrays and arrays[n].coords else n for n in model.data]
    return model.coords | model._labels(nodes, check_coords(model._made_of[2]))
