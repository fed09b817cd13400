"""Distributions and unknowns as nodes of the graph.

Calling a public distribution function, `kg.normal(0, 1)`, makes a `Variable` node that follows a
`Distribution` node; observing data moves the distribution to the data.
"""

import weakref
from types import NoneType
from typing import Any

import numpy as np

from ..graph.array import Array
from ..graph.dims import check_dims_of_unknown, coords_of, labels_of, shape_by_dims
from ..graph.errors import ModelError
from ..graph.forms.representations import represent
from ..graph.messages import describe
from ..graph.node import Apply, Data, Node, within
from ..graph.operations.elementwise import elementwise
from ..graph.operations.linear_algebra import CHOLESKY
from ..graph.operations.operands import as_node, literal
from ..graph.precision import float_dtype
from ..graph.saving.fields import DictOf, ListOf, SetOf, TupleOf, fields, optional, size
from ..graph.saving.trial_lowering import TRIALS, stand_in
from ..graph.source import place_text
from ..graph.value_texts import check_name
from .censoring import censor
from .family import SMALL, Family
from .parameter import Parameter
from .support import (
    CholeskyCorrelation,
    CholeskyCovariance,
    Interval,
    Support,
    WholeNumbers,
    bound_nodes,
)
from .truncation import truncate

__all__ = ["Distribution", "Variable", "distribute"]


class Distribution(Node):
    """A family with its parameters, attached to the array that follows it."""

    __slots__ = ("_target", "batch_shape", "event_shape", "family", "support")
    kind = "distribution"

    def __init__(
        self, family: Family, parameters: tuple[Node, ...], shape: tuple[int, ...]
    ) -> None:
        super().__init__(parameters, shape, float_dtype())
        self.family = family
        self.event_shape = shape[len(shape) - family.event_ndim :]
        self.batch_shape = shape[: len(shape) - family.event_ndim]
        self.support = family.support(*self.parents)  # in a loop, their placeholders
        self._target: weakref.ref[Node] | None = None

    @property
    def arguments(self) -> dict[str, Node]:
        """The array that follows the distribution (as x) and the parameters."""
        assert self.target is not None
        names = (parameter.name for parameter in self.family.parameters)
        return {"x": self.target, **dict(zip(names, self.parents, strict=True))}

    def forms(self) -> dict[str, Node]:
        """The other forms of the arguments from which the density is computed."""
        arguments = self.arguments
        forms: dict[str, Node] = {}
        for name, choices in self.family.forms.items():
            for kinds in choices:
                nodes = [represent(arguments[name], kind) for kind in kinds]
                if None not in nodes:
                    forms.update((f"{k}_{name}", n) for k, n in zip(kinds, nodes) if n is not None)
                    break
        return forms

    def small(self) -> bool:
        """Whether no count or shape is known to exceed `SMALL`."""
        sizes = (node for name, node in self.arguments.items() if name in self.family.sizes)
        return not any(
            isinstance(node, Data) and np.max(node.value, initial=0.0) > SMALL for node in sizes
        )

    @property
    def target(self) -> Node | None:
        """The node that follows this distribution."""
        return None if self._target is None else self._target()

    @target.setter
    def target(self, node: Node) -> None:
        self._target = weakref.ref(node)

    def label(self) -> str:
        return self.family.name

    def expression(self, names: dict[int, str] | None = None) -> str:
        """The distribution as users write it: `normal(mu, 1)`."""
        return self.family.expression([describe(p, names) for p in self.parents])


class Variable(Node):
    """An unknown, with a support and, unless it is flat, a distribution."""

    __slots__ = (
        "_forms",
        "called",
        "coords",
        "distribution",
        "observed_by",
        "statements",
        "support",
    )
    kind = "variable"

    def __init__(
        self,
        support: Support,
        shape: tuple[int, ...],
        dtype: np.dtype,
        name: str | None = None,
        dims: tuple[str | None, ...] | None = None,
        distribution: Distribution | None = None,
        coords: dict[str, np.ndarray] | None = None,
    ) -> None:
        super().__init__(bound_nodes(support), shape, dtype, name, dims)
        self.coords = coords or {}  # the labels of the axes that have labels
        self.support = support
        self.distribution = distribution
        self.observed_by: str | None = None  # set when the distribution is moved to data
        self.called: set[str] = set()  # names that models give it in results
        self._forms: dict[str, weakref.ref[Node] | None] = {}
        # The likelihoods and factors that depend on this unknown, each with its data.
        self.statements: list[tuple[Node, Data | None]] = []
        if distribution is not None:
            distribution.target = self

    def form(self, kind: str) -> Node | None:
        """The node of a form that the free numbers give, or None.

        In the graph it is an operation on the unknown. A model that uses it computes it together
        with the unknown, from the free numbers.
        """
        if kind in ("log", "log1m") and self.support.form == "logit":
            logit = self.form("logit")
            assert logit is not None
            return elementwise(
                "log_expit", logit if kind == "log" else elementwise("negative", logit)
            )
        if kind != self.support.form:
            return None
        reference = self._forms.get(kind)
        node = None if reference is None else reference()
        if node is None:
            with within(None):  # it belongs to no branch or loop, as the unknown itself
                if kind == "cholesky":
                    node = Apply(CHOLESKY, (self,), self.shape, self.dtype)
                else:
                    node = elementwise(kind, self)
            self._forms[kind] = weakref.ref(node)
        return node

    @property
    def triangular(self) -> bool:  # type: ignore[override]
        """Whether this is a Cholesky factor."""
        return isinstance(self.support, (CholeskyCorrelation, CholeskyCovariance))

    def check_inside(self) -> None:
        """Raise ModelError: an unknown cannot be inside a branch or loop.

        Its distribution may be used there for a density.
        """
        assert self.context is not None
        raise ModelError(
            f"{self.label()}: an unknown cannot be made inside of {self.context.title}: a "
            "model has the same unknowns in every run; make it outside and use it inside"
        )

    @property
    def forms_in_use(self) -> dict[str, Node]:
        """The forms that are in use, by kind."""
        # A reference is None where the form was not in use when this unknown was saved.
        forms = {kind: None if r is None else r() for kind, r in self._forms.items()}
        return {kind: node for kind, node in forms.items() if node is not None}

    def label(self) -> str:
        if self.name:
            return self.name
        if self.distribution is not None:
            return self.distribution.family.name
        return "variable"


def distribute(
    family: Family,
    arguments: tuple[Any, ...],
    *,
    event: tuple[int, ...] | None = None,
    shape: Any = None,
    dims: Any = None,
    name: str | None = None,
    truncation: Any = None,
    censoring: Any = None,
) -> Array:
    """Make an unknown that follows `family` with the given parameters.

    `event` is the shape of one vector or matrix, if the shapes of the parameters do not determine
    it. `shape` is the shape of the whole unknown, with or without the event axes. Its default is
    the shape of `dims` of known length, or that of the parameters, broadcast together. `truncation`
    and `censoring` are explained in the files of these names.
    """
    given = nodes = tuple(
        _parameter(family, p, a) for p, a in zip(family.parameters, arguments, strict=True)
    )
    family.check_values(nodes, shape=shape)
    family.check_unknowns(nodes)
    for change, bounds in ((truncate, truncation), (censor, censoring)):
        if bounds is not None:
            family, nodes = change(family, nodes, bounds)
            family.check_values(nodes)
    check_name(family.name, name)
    title = f"{family.name}{f' {name!r}' if name else ''}"
    if shape is None:
        shape = shape_by_dims(dims, family.full_shape(nodes, None, event), title)
    full_shape = family.full_shape(nodes, shape, event)
    distribution = Distribution(family, nodes, full_shape)
    dtype = np.dtype(np.int64) if family.discrete else float_dtype()
    names = check_dims_of_unknown(dims, full_shape, title)
    labels = labels_of(dims)
    batch = () if names is None else names[: len(names) - family.event_ndim]
    for node, argument in zip(given, arguments, strict=True):
        if batch and node.shape and distribution.batch_shape[-len(node.shape) :] == node.shape:
            labels |= coords_of(argument, batch, dims, f"{title}{place_text()}")
    support = distribution.support
    return Array(Variable(support, full_shape, dtype, name, names, distribution, labels))


def _parameter(family: Family, parameter: Parameter, argument: Any) -> Node:
    if argument is None:
        raise TypeError(
            f"{family.name}: the parameter {parameter.name} is missing{place_text()}; it takes "
            f"{', '.join(p.name for p in family.parameters)}"
        )
    if isinstance(argument, str):
        raise TypeError(
            f"{family.name}: {parameter.name} is the text {argument!r:.40}{place_text()}; it takes "
            f"numbers or an array, and a name is given by name={argument!r:.40}"
        )
    node = as_node(argument, f"{family.name}: {parameter.name}")
    if node.dtype.kind == "f" or parameter.integer:
        return node
    if isinstance(node, Data) and node.literal:
        converted = literal(node.value, float_dtype())
        converted.variable, converted.rows = node.variable, node.rows
        return converted
    return node  # integer data: the density converts them


def _is_statement(value: Any) -> bool:
    """Whether a value is a likelihood with its data, or a factor."""
    return (
        type(value) is tuple
        and len(value) == 2
        and isinstance(value[0], Node)
        and isinstance(value[1], (Data, NoneType))
    )


fields(
    Distribution,
    family=Family,
    batch_shape=TupleOf(size),
    event_shape=TupleOf(size),
    support=Support,
    _target=optional(weakref.ref),
)
fields(
    Variable,
    coords=DictOf(str, np.ndarray),
    support=Support,
    distribution=optional(Distribution),
    observed_by=optional(str),
    called=SetOf(str),
    _forms=DictOf(str, optional(weakref.ref)),
    statements=ListOf(_is_statement),
)


def _try_out(node: Distribution) -> None:
    """Check that the density of a loaded distribution has the right shape.

    Raises
    ------
    ValueError
        If the shape or the support differs.
    """
    support = node.family.support(*node.parents)
    density = node.family.log_density(stand_in(node), *map(stand_in, node.parents))
    fits = np.broadcast_shapes(density.shape, node.batch_shape) == node.batch_shape
    if not fits or type(support) is not type(node.support):
        raise ValueError("a distribution of other parameters")
    _try_out_bounds(node)


def _try_out_bounds(node: Distribution | Variable) -> None:
    """Check that the bounds of a loaded node's support fit its shape.

    Raises
    ------
    ValueError
        If the shapes do not fit.
    """
    if isinstance(node.support, (Interval, WholeNumbers)):
        bounds = (node.support.lower, node.support.upper)
        shapes = [np.shape(b) for b in bounds if not isinstance(b, Node)]
        if np.broadcast_shapes(*shapes, node.shape) != node.shape:
            raise ValueError("bounds of another shape")


TRIALS[Distribution] = _try_out
TRIALS[Variable] = _try_out_bounds
