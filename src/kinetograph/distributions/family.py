"""What a distribution is, and how one becomes an unknown.

A `Family` is a log density with named parameters and a support. Calling a public distribution
function, `kg.normal(0, 1)`, makes a `Variable` node that follows a `Distribution` node; observing
data moves the distribution to the data.
"""

import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..graph.array import Array, check_dims
from ..graph.derivative_rules import by_log
from ..graph.elementwise import as_node, elementwise
from ..graph.errors import ModelError, ShapeError
from ..graph.linear_algebra import CHOLESKY
from ..graph.messages import describe
from ..graph.node import Apply, Data, Node, within
from ..graph.precision import float_dtype
from ..graph.representations import represent
from .support import POSITIVE, REAL, CholeskyCorrelation, Interval, Support, bound_nodes

__all__ = ["FAMILIES", "Distribution", "Family", "Parameter", "Variable", "distribute", "shape_of"]

FAMILIES: dict[str, "Family"] = {}
# Sums of terms of the size s log(s) that cancel are right to 1e-10 up to here.
SMALL = 10_000


@dataclass(frozen=True)
class Parameter:
    """A parameter's name, where it must lie, and how many axes one value of it has."""

    name: str
    support: Support = REAL
    event_ndim: int = 0
    integer: bool = False


def positive(name: str) -> Parameter:
    """A parameter above zero."""
    return Parameter(name, POSITIVE)


# What densities of a trial's outcome can use instead of its probability.
PROBABILITY_FORMS = MappingProxyType({"prob": (("logit",), ("log", "log1m"))})


def probability(name: str) -> Parameter:
    """A parameter from 0 to 1."""
    return Parameter(name, Interval(0.0, 1.0, closed=True))


@dataclass(frozen=True, eq=False)
class Family:
    """A kind of distribution.

    `terms(x, *parameters)` gives the log density as a tuple of arrays that broadcast together and
    are to be added. Terms that do not depend on x keep their own, smaller shape, so that the total
    over many observations computes them once. `support(*parameters)` gets the parameters' nodes.

    `forms` says which other forms of x and of parameters the terms can use: for each name, sets of
    kinds in the order of preference. The first set that can be had is given by keywords:
    `log_x=`, `logit_prob=`. See `graph.representations`.

    Where large counts or shapes cancel, `terms` takes care and time. `small_terms` is the plain
    sum, taken instead where none of the `sizes`, arguments by name, is known to exceed `SMALL`.
    """

    name: str
    parameters: tuple[Parameter, ...]
    terms: Callable[..., tuple[Any, ...]]
    support: Callable[..., Support] = lambda *parameters: REAL
    discrete: bool = False
    event_ndim: int = 0
    event_shape: Callable[..., tuple[int, ...]] = lambda *shapes: ()
    total: Callable[..., Any] | None = None
    check: Callable[..., None] | None = None
    forms: Mapping[str, tuple[tuple[str, ...], ...]] = MappingProxyType({})
    small_terms: Callable[..., tuple[Any, ...]] | None = None
    sizes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        FAMILIES[self.name] = self

    def log_density(self, x: Any, *parameters: Any, small: bool = False, **forms: Any) -> Any:
        """The log density of each element (each vector, each matrix) of x."""
        plain = self.small_terms if small and self.small_terms is not None else self.terms
        terms = plain(*self._by_logs(_real(x, parameters), forms), **forms)
        return sum(terms[1:], start=jnp.asarray(terms[0]))

    def log_density_total(self, x: Any, *parameters: Any, small: bool = False, **forms: Any) -> Any:
        """The sum of the log densities of all elements of x; `small` allows `small_terms`."""
        x, *rest = self._by_logs(_real(x, parameters), forms)
        if self.total is not None:
            total = self.total(x, *rest, **forms)
            if total is not None:
                return total
        plain = self.small_terms if small and self.small_terms is not None else self.terms
        terms = [jnp.asarray(t) for t in plain(x, *rest, **forms)]
        size = np.prod(jnp.broadcast_shapes(*(t.shape for t in terms)), dtype=int)
        return sum(
            jnp.sum(t) * (size / max(t.size, 1)) if t.size != size else jnp.sum(t) for t in terms
        )

    def _by_logs(self, arguments: tuple[Any, ...], forms: Mapping[str, Any]) -> tuple[Any, ...]:
        """The arguments, of which those with a known logarithm are differentiated through it."""
        names = ("x", *(parameter.name for parameter in self.parameters))
        logs = (forms.get(f"log_{name}") for name in names)
        return tuple(
            t if log is None else by_log(t, log) for t, log in zip(arguments, logs, strict=True)
        )


def _real(x: Any, parameters: tuple[Any, ...]) -> tuple[Any, ...]:
    """x and the parameters as real numbers of one type, the widest among them.

    Special functions of integers have no derivative in JAX.
    """
    tensors = [jnp.asarray(t) for t in (x, *parameters)]
    floating = [t.dtype for t in tensors if jnp.issubdtype(t.dtype, jnp.floating)]
    dtype = jnp.result_type(*floating) if floating else float
    return tuple(t if t.dtype == dtype else t.astype(dtype) for t in tensors)


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
        self.support = family.support(*self.parents)  # inside of a loop, what stands for them
        self._target: weakref.ref[Node] | None = None

    @property
    def arguments(self) -> dict[str, Node]:
        """What follows the distribution, as x, and the parameters by name."""
        assert self.target is not None
        names = (parameter.name for parameter in self.family.parameters)
        return {"x": self.target, **dict(zip(names, self.parents, strict=True))}

    def forms(self) -> dict[str, Node]:
        """The other forms of the arguments that the density is to be computed from."""
        arguments = self.arguments
        found: dict[str, Node] = {}
        for name, choices in self.family.forms.items():
            for kinds in choices:
                nodes = [represent(arguments[name], kind) for kind in kinds]
                if None not in nodes:
                    found.update((f"{k}_{name}", n) for k, n in zip(kinds, nodes) if n is not None)
                    break
        return found

    def small(self) -> bool:
        """Whether no count or shape is known to be so large that plain sums lose digits."""
        known = (node for name, node in self.arguments.items() if name in self.family.sizes)
        return not any(
            isinstance(node, Data) and np.max(node.value, initial=0.0) > SMALL for node in known
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
        """As the user wrote it: `normal(mu, 1)`."""
        return f"{self.family.name}({', '.join(describe(p, names) for p in self.parents)})"


class Variable(Node):
    """An unknown: a free quantity with a support and, unless it is flat, a distribution."""

    __slots__ = ("_forms", "distribution", "observed_by", "statements", "support")
    kind = "variable"

    def __init__(
        self,
        support: Support,
        shape: tuple[int, ...],
        dtype: np.dtype,
        name: str | None = None,
        dims: tuple[str | None, ...] | None = None,
        distribution: Distribution | None = None,
    ) -> None:
        super().__init__(bound_nodes(support), shape, dtype, name, dims)
        self.support = support
        self.distribution = distribution
        self.observed_by: str | None = None  # set when the distribution was moved to data
        self._forms: dict[str, weakref.ref[Node]] = {}
        # The likelihoods and factors that this unknown bears on, each with its data.
        self.statements: list[tuple[Node, Data | None]] = []
        if distribution is not None:
            distribution.target = self

    def form(self, kind: str) -> Node | None:
        """The node of another form of this unknown that its free numbers give at once.

        It is an operation on the unknown like any other; a model that finds it in use takes its
        tensor from where it makes the unknown's.
        """
        if kind in ("log", "log1m") and self.support.form == "logit":
            logit = self.form("logit")
            assert logit is not None
            return elementwise(
                "log_expit", logit if kind == "log" else elementwise("negative", logit)
            )
        if kind != self.support.form:
            return None
        node = self._forms[kind]() if kind in self._forms else None
        if node is None:
            with within(None):  # a branch or loop uses it as it does the unknown
                if kind == "cholesky":
                    node = Apply(CHOLESKY, (self,), self.shape, self.dtype)
                else:
                    node = elementwise(kind, self)
            self._forms[kind] = weakref.ref(node)
        return node

    @property
    def triangular(self) -> bool:  # type: ignore[override]
        """Whether this is the Cholesky factor of a correlation matrix."""
        return isinstance(self.support, CholeskyCorrelation)

    def check_inside(self) -> None:
        """Refuse to be an unknown of a branch or loop; its distribution may serve a density."""
        assert self.context is not None
        raise ModelError(
            f"{self.label()}: an unknown cannot be made inside of {self.context.title}: a "
            "model has the same unknowns in every run; make it outside and use it inside"
        )

    @property
    def forms_in_use(self) -> dict[str, Node]:
        """The forms that somebody holds, by kind."""
        found = {kind: reference() for kind, reference in self._forms.items()}
        return {kind: node for kind, node in found.items() if node is not None}

    def label(self) -> str:
        if self.name:
            return self.name
        if self.distribution is not None:
            return self.distribution.family.name
        return "variable"


def shape_of(shape: Any, what: str) -> tuple[int, ...]:
    """The user's `shape=` as a tuple."""
    sizes = (shape,) if isinstance(shape, (int, np.integer)) else shape
    if not isinstance(sizes, (tuple, list)) or not all(
        isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in sizes
    ):
        raise TypeError(f"{what}: shape must be a whole number or a tuple of them, got {shape!r}")
    if any(n < 0 for n in sizes):
        raise ShapeError(f"{what}: shape {tuple(sizes)} has a negative length")
    return tuple(int(n) for n in sizes)


def distribute(
    family: Family,
    arguments: tuple[Any, ...],
    *,
    event: tuple[int, ...] | None = None,
    shape: Any = None,
    dims: Any = None,
    name: str | None = None,
) -> Array:
    """An unknown that follows `family` with the given parameters.

    `event` is the shape of one vector or matrix, where the parameters' shapes do not tell it.
    `shape` is the shape of the whole unknown (event axes included, or left to the parameters); by
    default that of the parameters, broadcast together.
    """
    nodes = tuple(
        _parameter(family, p, a) for p, a in zip(family.parameters, arguments, strict=True)
    )
    _check_values(family, nodes)
    full = _full_shape(family, nodes, shape, event)
    if family.check is not None:
        family.check(*nodes)
    distribution = Distribution(family, nodes, full)
    dtype = np.dtype(np.int64) if family.discrete else float_dtype()
    what = f"{family.name}{f' {name!r}' if name else ''}"
    return Array(
        Variable(
            distribution.support, full, dtype, name, check_dims(dims, full, what), distribution
        )
    )


def _parameter(family: Family, parameter: Parameter, argument: Any) -> Node:
    if argument is None:
        raise TypeError(f"{family.name}: the parameter {parameter.name} is missing")
    node = as_node(argument)
    if node.dtype.kind == "f" or parameter.integer:
        return node
    if isinstance(node, Data) and node.literal:
        return as_node(node.value.astype(float_dtype()))
    return node  # integer data: cast where the density is computed


def _check_values(family: Family, nodes: tuple[Node, ...]) -> None:
    """Parameters whose values are known must lie where they belong."""
    for parameter, node in zip(family.parameters, nodes, strict=True):
        if len(node.shape) < parameter.event_ndim:
            raise ShapeError(
                f"{family.name}: {parameter.name} {describe(node)} needs at least "
                f"{parameter.event_ndim} {'axis' if parameter.event_ndim == 1 else 'axes'}, "
                f"got shape {node.shape}"
            )
        if not isinstance(node, Data):
            continue
        inside = parameter.support.contains(node.value)
        if not np.all(inside):
            place = tuple(int(i) for i in np.argwhere(~inside)[0])
            where = f" at index {place}" if place else ""
            raise ValueError(
                f"{family.name}: {parameter.name} must be {parameter.support.describe()}, "
                f"got {np.asarray(node.value)[place]}{where}"
                + (f" in {describe(node)}" if not node.literal else "")
            )


def _full_shape(
    family: Family, nodes: tuple[Node, ...], shape: Any, event: tuple[int, ...] | None
) -> tuple[int, ...]:
    shapes = [node.shape for node in nodes]
    event = family.event_shape(*shapes) if event is None else event
    batches = [s[: len(s) - p.event_ndim] for s, p in zip(shapes, family.parameters, strict=True)]
    named = ", ".join(
        f"{p.name} {describe(n)} {n.shape}" for p, n in zip(family.parameters, nodes, strict=True)
    )
    try:
        batch = np.broadcast_shapes(*batches)
    except ValueError:
        raise ShapeError(f"{family.name}: the parameters do not fit together: {named}") from None
    own = (*batch, *event)
    if shape is None:
        return own
    wanted = shape_of(shape, family.name)
    if event and wanted[len(wanted) - len(event) :] != event:
        wanted = (*wanted, *event)  # only the replicates were given
    try:
        fits = np.broadcast_shapes(wanted, own) == wanted
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(
            f"{family.name}: shape {wanted} does not fit the parameters: {named or 'none'}"
        )
    return wanted
