"""Writes a model again where data are replaced.

`graph.rewriting.rewriter` writes operations again. This file adds log densities, distributions of
data and of unknowns, and the parts of a model. An unknown whose distribution follows from replaced
data becomes a new unknown of the same name. A number that the user computed from old data outside
of the graph does not change.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from ..distributions.derived import family_of
from ..distributions.variable import Distribution, Variable
from ..graph.errors import ModelError, ShapeError
from ..graph.lower import Environment, Scope, evaluate
from ..graph.messages import describe, site_text
from ..graph.node import Apply, Data, Node, ancestors
from ..graph.precision import x64
from ..graph.rewriting.rewriter import Rewriter, grown
from .data_checks import check_shape, check_support
from .discovery import Component
from .factor import density_at, has_forms, parameters_of
from .missing import missing_of
from .mixtures import RESPONSIBILITIES, responsibilities_at

if TYPE_CHECKING:
    from .batch import RowBatch
    from .model import Model

__all__ = ["ADVICE", "Remaker", "with_data"]

ADVICE = (
    "make the model in a function, and call it again with the new data; or, for predictions at "
    "other data, write the expression with these and give it to kg.predict"
)
_DEPENDS = "is an unknown whose distribution depends on them"


class Remaker(Rewriter):
    """Writes nodes again for new data, also log densities and unknowns."""

    def __init__(
        self,
        doing: str,
        advice: str,
        new: Mapping[Node, Node],
        unchanged: Iterable[Node] = (),
        reason: str = "the shape of data changes",
    ) -> None:
        super().__init__(self._refuse, new, unchanged)
        self.doing, self.advice, self.reason = doing, advice, reason

    def above(self, node: Node) -> tuple[Node, ...]:
        """The nodes from which a node is written again.

        The forms that a log density reads are not among them.
        """
        if has_forms(node):
            assert isinstance(node, Apply)
            return (node.parents[0], *parameters_of(node))
        return super().above(node)

    def write(self, node: Node, operands: tuple[Node, ...]) -> Node:
        """Write one node with new operands."""
        if isinstance(node, Variable):
            self._refuse(node, "is an unknown whose bounds depend on their shape")
        if has_forms(node):
            return self._evaluated(node, operands)  # type: ignore[arg-type]
        return super().write(node, operands)

    def keep(self, unknown: Variable) -> None:
        """Keep an unknown as it is.

        Raises
        ------
        ModelError
            If its distribution, or its bounds, follow from replaced nodes.
        """
        if any(self.made.get(n, n) is not n for n in ancestors(_priors(unknown))):
            self._refuse(unknown, _DEPENDS)
        self.made[unknown] = unknown

    def unknown(self, unknown: Variable) -> Variable:
        """Write an unknown again if its distribution follows from replaced nodes.

        Raises
        ------
        ModelError
            If it cannot be written again.
        """
        rewritten = self.made.get(unknown)
        if rewritten is None:
            same = all(self(n) is n for n in _priors(unknown))
            rewritten = self.made[unknown] = unknown if same else self._unknown(unknown)
        assert isinstance(rewritten, Variable)
        return rewritten

    def _unknown(self, unknown: Variable) -> Variable:
        original = unknown.distribution
        if original is None or missing_of(unknown) is not None:
            self._refuse(unknown, _DEPENDS)
        family, old = original.family, original.parents
        new = tuple(map(self, old))
        family.check_values(new)
        event_from_parameters = family.event_shape(*(p.shape for p in old)) == original.event_shape
        event = None if event_from_parameters else original.event_shape
        shapes = (family.full_shape(parents, None, event) for parents in (old, new))
        distribution = Distribution(family, new, grown(original.shape, *shapes))
        distribution._place = original._place
        rewritten = Variable(
            distribution.support,
            distribution.shape,
            unknown.dtype,
            unknown.name,
            unknown.dims,
            distribution,
            _labels_that_fit(unknown, distribution.shape),
        )
        rewritten.called, rewritten._place = unknown.called, unknown._place
        return rewritten

    def likelihood(self, distribution: Distribution, data: Data) -> Distribution:
        """The distribution of data, written again if needed."""
        family, parents = distribution.family, tuple(map(self, distribution.parents))
        if parents == distribution.parents and data is distribution.target:
            return distribution
        family.check_values(parents)
        own_shape = family.full_shape(
            parents, None, data.shape[len(data.shape) - family.event_ndim :]
        )
        check_shape(data, Distribution(family, parents, own_shape))
        rewritten = Distribution(family, parents, data.shape)
        rewritten._place = distribution._place
        check_support(self.doing, data, rewritten)
        rewritten.target = data
        if data is not distribution.target:
            data._owned = rewritten
        return rewritten

    def _evaluated(self, node: Apply, operands: tuple[Node, ...]) -> Node:
        """A log density, or the responsibilities of a mixture."""
        family = family_of(node.attributes["family"])
        target, *parameters = operands
        event = target.shape[len(target.shape) - family.event_ndim :]
        distribution = Distribution(
            family, tuple(parameters), family.full_shape(parameters, None, event)
        )
        write = responsibilities_at if node.operation is RESPONSIBILITIES else density_at
        return write(self.doing, distribution, target)

    def _refuse(self, node: Node, why: str) -> NoReturn:
        raise ModelError(
            f"{self.doing}: {self.reason}, and {describe(node)}{site_text(node)} "
            f"{why}; {self.advice}"
        )


def _priors(unknown: Variable) -> tuple[Node, ...]:
    """The nodes that an unknown's bounds and distribution depend on."""
    distribution = unknown.distribution
    return (*unknown.parents, *(() if distribution is None else distribution.parents))


def with_data(
    model: "Model", arrays: Mapping[Data, Data], reason: str
) -> tuple["Model", dict[Node, Node]]:
    """Write a model again, with some of its data replaced.

    Returns the new model, and the new node of each node that was reached.

    Raises
    ------
    ModelError, ShapeError
        If the model cannot be written again.
    """
    component = model.component
    coords, dropped = _labels(model, arrays)
    new: dict[Node, Node] = {old: _named_as(old, data) for old, data in arrays.items()}
    for old, made_data in arrays.items():
        made_data.variable = made_data.variable or model._node_names.get(old)  # for messages
    remake = Remaker("set_data", ADVICE, new, reason=reason)
    for node in model.data:
        if node.source is not None and node not in remake.made:
            source = remake(node.source)
            if source is not node.source:
                remake.made[node] = _named_as(node, _computed(node, source))
    inferred = sorted(
        (*component.unknowns, *component.discrete, *component.fixed), key=lambda v: v.serial
    )
    remake.made |= {v: v for v in component.cut}  # their distributions are not part of the model
    standing = [v.distribution for v in map(remake.unknown, inferred) if v.distribution]
    likelihoods, observed = [], []
    for distribution, node in zip(component.likelihoods, component.observed, strict=True):
        data = remake(node)
        assert isinstance(data, Data)
        likelihoods.append(remake.likelihood(distribution, data))
        observed.append(data)
    factors = [remake(node) for node in component.factors]
    targets = {remake(node): name for node, name in model._made_of[0].items()}
    more = [remake(node) for node in model._made_of[1]]
    new_nodes = remake.made
    unknowns, discrete, fixed, cut = (
        [new_nodes[v] for v in some]
        for some in (component.unknowns, component.discrete, component.fixed, component.cut)
    )
    roots = [*targets, *unknowns, *discrete, *fixed, *standing]
    roots += [*likelihoods, *observed, *factors, *more]
    nodes = sorted(ancestors(roots), key=lambda n: n.serial)
    parts = Component(unknowns, likelihoods, observed, factors, nodes, fixed, cut, discrete)  # type: ignore[arg-type]
    names = {new_nodes.get(node, node): name for node, name in model._node_names.items()}
    values = {n: v for n, v in model._given_values().items() if new_nodes.get(n, n) is n}
    for v in component.fixed:
        if new_nodes[v].shape != v.shape:
            remake.refuse(v, _DEPENDS)
        values[new_nodes[v]] = model.values[v]
    result = type(model)(targets, more, parts, coords, names, None, values)
    if model.batch is not None:
        rows = [new_nodes.get(n, n) for n in model.batch.rows]
        result = _in_batches(result, rows, model.batch)  # type: ignore[arg-type]
    result.dropped = dropped
    return result, new_nodes


def _in_batches(model: "Model", rows: list[Data], batch: "RowBatch") -> "Model":
    """The model with batches of the same size, of the new rows."""
    from .minibatch import in_batches

    shapes = ", ".join(f"{describe(node, model.known_as)} {node.shape}" for node in rows)
    lengths = {node.shape[0] for node in rows}
    if len(lengths) > 1 or batch.size > min(lengths):
        raise ShapeError(
            f"the model sees batches of {batch.size} rows, and its data have other numbers of "
            f"rows: {shapes}"
        )
    return in_batches(model, tuple(rows), *batch.settings[1:])


Labels = dict[str, np.ndarray]


def _labels(model: "Model", arrays: Mapping[Data, Data]) -> tuple[Labels, Labels]:
    """The labels that fit new data, and the labels that do not.

    The latter are kept until data have their length again.
    """
    lengths: dict[str | None, int] = {}
    for old, data in arrays.items():
        lengths |= zip(old.dims or (), data.shape, strict=False)
    brought = {dim for data in arrays.values() for dim in data.coords}
    back = {d: labels for d, labels in model.dropped.items() if lengths.get(d) == len(labels)}
    kept_labels = {
        d: labels
        for d, labels in model._made_of[2].items()
        if lengths.get(d, len(labels)) == len(labels)
    }
    dropped = {
        d: labels
        for d, labels in model.coords.items()
        if lengths.get(d, len(labels)) != len(labels)
    }
    coords = {d: labels for d, labels in (back | kept_labels).items() if d not in brought}
    return coords, {d: labels for d, labels in model.dropped.items() if d not in back} | dropped


def _labels_that_fit(node: Data | Variable, shape: tuple[int, ...]) -> Labels:
    """The labels of the dims of a node whose lengths stay."""
    pairs = zip(node.dims or (), node.shape, shape, strict=False)
    same = {dim for dim, old, new in pairs if old == new}
    return {dim: labels for dim, labels in node.coords.items() if dim in same}


def _named_as(old: Data, new: Data) -> Data:
    """New data with the names and the origin of the data replaced."""
    new.name, new.dims, new.variable = old.name, old.dims, old.variable
    new._place, new.source = old._place, new.source or old.source
    new.coords = new.coords or _labels_that_fit(old, new.shape)
    return new


def _computed(node: Data, source: Node) -> Data:
    """Data that are computed from other data, for new values of these."""
    environment: Environment = {}
    with x64():
        evaluate([source], environment, scope=Scope(eager=True))
    value = np.asarray(environment[source], node.dtype)
    value.setflags(write=False)
    new_node = Data(value)
    new_node.source = source
    return new_node
