"""Data of another shape: what follows from them is written again, operation by operation.

The graph knows the shapes that data had. Where new ones have others, every operation below them is
made anew with its own attributes, by the rules of its shape. What has taken a length of the old
data for a number is not made anew but refused, where the graph shows it: a slice with an end, a
reshape to a given shape, a loop over rows. What a user computed of the length outside of the graph
stays what it was, which the message says.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NoReturn

import jax
import numpy as np

from ..distributions.derived import family_of
from ..distributions.variable import Distribution, Variable
from ..graph.errors import ModelError
from ..graph.lower import Environment, Scope, evaluate, lower_node
from ..graph.messages import describe, site_text
from ..graph.node import PART, Apply, Data, Node, ancestors
from ..graph.operations.indexing import READ, READ_CHECKED, SLICE, SLOT, WRITE, WRITE_CHECKED, index
from ..graph.operations.shaping import BROADCAST, REPEAT, RESHAPE, TILE
from ..graph.precision import x64
from .discovery import Component
from .factor import DERIVED, LOG_DENSITY, density_at
from .followed import check_shape, check_support

if TYPE_CHECKING:
    from .model import Model

__all__ = ["Remaker", "with_shapes"]

ADVICE = (
    "make the model in a function, and call it again with the new data; or, for predictions at "
    "other data, write the expression with these and give it to kg.predict"
)
_DENSITIES = {*LOG_DENSITY.values(), DERIVED}
_FIXED = {PART, WRITE, WRITE_CHECKED}  # whose attributes are of the old shapes


class Remaker:
    """Nodes written again for new data; `made` maps those that change, and others to themselves."""

    def __init__(
        self,
        doing: str,
        advice: str,
        new: Mapping[Node, Node],
        kept: Iterable[Node] = (),
    ) -> None:
        self.doing, self.advice = doing, advice
        self.made: dict[Node, Node] = {**{node: node for node in kept}, **new}

    def __call__(self, node: Node) -> Node:
        """The node for the new data: itself where it does not follow from them.

        Raises
        ------
        ModelError, ShapeError
            If it cannot be written again.
        """
        for n in ancestors([node], self.made.__contains__, _above):
            if n not in self.made:
                same = all(self.made[parent] is parent for parent in _above(n))
                self.made[n] = n if same else self._again(n)
        return self.made[node]

    def keep(self, unknown: Variable) -> None:
        """Have an unknown stand for itself.

        Raises
        ------
        ModelError
            If its distribution, or its bounds, follow from what changes.
        """
        follows = unknown.distribution
        above = [*unknown.parents, *(() if follows is None else (follows,))]
        if any(self.made.get(n, n) is not n for n in ancestors(above)):
            self._refuse(unknown, "is an unknown whose distribution depends on them")
        self.made[unknown] = unknown

    def likelihood(self, follows: Distribution, data: Data) -> Distribution:
        """What the new data follow."""
        family, parents = follows.family, tuple(map(self, follows.parents))
        if parents == follows.parents and data is follows.target:
            return follows
        family.check_values(parents)
        own = family.full_shape(parents, None, data.shape[len(data.shape) - family.event_ndim :])
        check_shape(data, Distribution(family, parents, own))
        made = Distribution(family, parents, data.shape)
        made._place = follows._place
        check_support(self.doing, data, made)
        made.target = data
        if data is not follows.target:
            data._owned = made
        return made

    def _again(self, node: Node) -> Node:
        if isinstance(node, Variable):
            self._refuse(node, "is an unknown whose bounds depend on their shape")
        if type(node) is not Apply or node.operation in _FIXED or node.context is not None:
            self._refuse(node, "is computed in a way that is not written again")
        parents = tuple(self.made[parent] for parent in _above(node))
        if node.operation in _DENSITIES:
            made = self._density(node, parents)
        elif node.operation in (READ, READ_CHECKED, SLICE):
            made = self._index(node, parents)
        else:
            made = self._operation(node, parents)
        made.name, made.weak, made._place = node.name, node.weak, node._place
        if node.dims is not None and len(node.dims) == len(made.shape):
            made.dims = node.dims
        return made

    def _density(self, node: Apply, parents: tuple[Node, ...]) -> Node:
        family = family_of(node.attributes["family"])
        target, *rest = parents
        event = target.shape[len(target.shape) - family.event_ndim :]
        own = family.full_shape(rest, None, event)
        return density_at(self.doing, Distribution(family, tuple(rest), own), target)

    def _index(self, node: Apply, parents: tuple[Node, ...]) -> Node:
        template, (old, *indices) = node.attributes["template"], node.parents
        changed = [a != b for a, b in zip(old.shape, parents[0].shape, strict=True)]
        taken = sum(part is not None and part is not Ellipsis for part in template)
        given, rest, at = iter(zip(indices, parents[1:], strict=True)), [], 0
        for part in template:
            if part is SLOT:
                index_node, part = next(given)
                if changed[at] and isinstance(index_node, Data) and index_node.literal:
                    self._refuse(node, "takes given places of an axis that changes")
            elif isinstance(part, slice) and changed[at] and (part.stop or -1) >= 0:
                self._refuse(node, f"takes a slice up to {part.stop} of an axis that changes")
            elif type(part) is int and changed[at] and part == old.shape[at] - 1 > 0:
                self._refuse(node, f"takes the last place, {part}, by its number and not as -1")
            rest.append(part)
            at += len(changed) - taken if part is Ellipsis else part is not None
        return index(parents[0], tuple(rest))

    def _operation(self, node: Apply, parents: tuple[Node, ...]) -> Node:
        attributes = dict(node.attributes)
        old, new = node.parents[0].shape if node.parents else (), parents[0].shape
        if node.operation is RESHAPE:
            attributes["shape"] = self._reshaped(node, old, new)
        elif node.operation is BROADCAST:
            first = len(node.shape) - len(old)
            pairs = zip(old, new, node.shape[first:], strict=True)
            grown = tuple(n if o == whole else whole for o, n, whole in pairs)
            attributes["shape"] = (*node.shape[:first], *grown)
        elif node.operation in (TILE, REPEAT):
            times = attributes["reps"] if node.operation is TILE else (attributes["repeats"],)
            if {o for o, n in zip(old, new, strict=True) if o != n} & set(times):
                self._refuse(node, "repeats what changes as often as it was long")
        with x64():
            specs = [jax.ShapeDtypeStruct(p.shape, p.dtype) for p in parents]
            made = Apply(node.operation, parents, (), node.dtype, attributes)
            try:
                found = jax.eval_shape(
                    lambda *tensors: lower_node(
                        made, dict(zip(parents, tensors, strict=True)), Scope()
                    ),
                    *specs,
                )
            except (TypeError, ValueError):
                shapes = ", ".join(f"{describe(p)} {p.shape}" for p in parents)
                self._refuse(node, f"does not fit together: {shapes}")
        made.shape = tuple(found.shape)
        if len(made.shape) != len(node.shape):
            self._refuse(node, "has another number of axes")
        return made

    def _reshaped(self, node: Apply, old: tuple[int, ...], new: tuple[int, ...]) -> tuple[int, ...]:
        """Of a reshape that adds or drops axes of length one, or joins all, the new shape."""
        if [n for n in old if n != 1] == [n for n in node.shape if n != 1]:
            lengths = iter(n for o, n in zip(old, new, strict=True) if o != 1)
            if all(o != 1 or n == 1 for o, n in zip(old, new, strict=True)):
                return tuple(1 if n == 1 else next(lengths) for n in node.shape)
        elif len(node.shape) == 1:
            return (int(np.prod(new)),)
        self._refuse(node, f"is of the given shape {node.shape}")

    def _refuse(self, node: Node, why: str) -> NoReturn:
        raise ModelError(
            f"{self.doing}: the shape of data changes, and {describe(node)}{site_text(node)} "
            f"{why}; {self.advice}"
        )


def _above(node: Node) -> tuple[Node, ...]:
    """What a node is made anew of: of a log density its value and parameters, not their forms."""
    if isinstance(node, Apply) and node.operation in _DENSITIES:
        return node.parents[: 1 + len(family_of(node.attributes["family"]).parameters)]
    return node.parents


def with_shapes(model: "Model", arrays: Mapping[Data, Data]) -> tuple["Model", dict[Node, Node]]:
    """A model as this one with new data, of any shapes, and what nodes have become in it.

    Raises
    ------
    ModelError, ShapeError
        If it cannot be written again.
    """
    if model.batch is not None:
        raise ModelError(
            f"set_data: the model sees batches of {model.batch.count} rows; give the model that "
            "kg.minibatch was given other data, and make the batches anew"
        )
    component = model.component
    coords, dropped = _labels(model, arrays)
    new: dict[Node, Node] = {old: _named_as(old, data) for old, data in arrays.items()}
    remake = Remaker("set_data", ADVICE, new)
    for node in model.data:
        if node.source is not None and node not in remake.made:
            source = remake(node.source)
            if source is not node.source:
                remake.made[node] = _named_as(node, _computed(node, source))
    for v in (*component.unknowns, *component.discrete, *component.fixed):
        remake.keep(v)
    likelihoods, observed = [], []
    for follows, node in zip(component.likelihoods, component.observed, strict=True):
        data = remake(node)
        assert isinstance(data, Data)
        likelihoods.append(remake.likelihood(follows, data))
        observed.append(data)
    factors = [remake(node) for node in component.factors]
    targets = {remake(node): name for node, name in model._made_of[0].items()}
    more = [remake(node) for node in model._made_of[1]]
    names = {remake.made.get(node, node): name for node, name in model._node_names.items()}
    inferred = [*component.unknowns, *component.discrete, *component.fixed]
    standing = [v.distribution for v in inferred if v.distribution is not None]
    roots = [*targets, *inferred, *standing, *likelihoods, *observed, *factors, *more]
    own = Component(
        component.unknowns,
        likelihoods,
        observed,
        factors,
        sorted(ancestors(roots), key=lambda n: n.serial),
        component.fixed,
        component.cut,
        component.discrete,
    )
    values = {n: v for n, v in model._given_values().items() if remake.made.get(n, n) is n}
    made = type(model)(targets, more, own, coords, names, None, values)
    made.dropped = dropped
    return made, remake.made


Labels = dict[str, np.ndarray]


def _labels(model: "Model", arrays: Mapping[Data, Data]) -> tuple[Labels, Labels]:
    """The labels of dims that fit new data, and those that fit none, until data of their length."""
    lengths: dict[str | None, int] = {}
    for old, data in arrays.items():
        lengths |= zip(old.dims or (), data.shape, strict=False)
    brought = {dim for data in arrays.values() for dim in data.coords}
    back = {d: own for d, own in model.dropped.items() if lengths.get(d) == len(own)}
    given = {d: own for d, own in model._made_of[2].items() if lengths.get(d, len(own)) == len(own)}
    gone = {d: own for d, own in model.coords.items() if lengths.get(d, len(own)) != len(own)}
    coords = {d: own for d, own in (back | given).items() if d not in brought}
    return coords, {d: own for d, own in model.dropped.items() if d not in back} | gone


def _named_as(old: Data, new: Data) -> Data:
    """New data that are called as the old ones."""
    new.name, new.dims, new.variable = old.name, old.dims, old.variable
    new._place = old._place
    if not new.coords:
        pairs = zip(old.dims or (), old.shape, new.shape, strict=False)
        same = {dim for dim, a, b in pairs if a == b}
        new.coords = {dim: labels for dim, labels in old.coords.items() if dim in same}
    return new


def _computed(node: Data, source: Node) -> Data:
    """Data that were computed of others, once, for the new ones."""
    environment: Environment = {}
    with x64():
        evaluate([source], environment, scope=Scope(eager=True))
    value = np.asarray(environment[source], node.dtype)
    value.setflags(write=False)
    made = Data(value)
    made.source = source
    return made
