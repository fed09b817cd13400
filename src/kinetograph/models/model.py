"""`kg.model`: targets and everything that bears on them, read as a log density."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ..graph.array import Array
from ..graph.compiled import limit_reached
from ..graph.control.control import Control, Looping, everything
from ..graph.errors import ModelError, ShapeError
from ..graph.inside_jax import has_tracer, outside
from ..graph.messages import names_in_scope
from ..graph.node import Data, Node
from ..graph.precision import x64
from ..graph.saving.document import decode, encode
from ..graph.serialise import graph_from_bytes, graph_to_bytes
from ..graph.trips import Capacity
from .batch import Batch
from .checks import check_component, check_lengths, check_names, check_nodes, check_target
from .density import Density, Term, data_environment
from .dims import collect_coords, dims_of
from .discovery import Component, discover
from .evaluation import at_states
from .labels import axis_names, check_coords
from .names import assign_names, unknowns_in_scope
from .potential import in_jax, potential
from .values import check_values, outside_support

if TYPE_CHECKING:
    from ..graph.drawing.drawing import Drawing
    from .debug import Report

__all__ = ["Model", "model"]


class Model:
    """A log density on a flat vector of free numbers; made by `kg.model`.

    Attributes
    ----------
    names
        The names of all unknowns, in the order of the free state.
    free_size
        The length of the free state.
    batch
        What samplers see of it, where `kg.minibatch` made it; else None.
    """

    def __init__(
        self,
        targets: dict[Node, str],
        factors: Sequence[Node],
        component: Component,
        coords: Mapping[str, Any],
        names: dict[Node, str] | None = None,
        batch: tuple[Any, ...] | None = None,
    ) -> None:
        self._made_of = targets, tuple(factors), check_coords(coords)
        self.targets = tuple(targets)
        self.component = component
        self.observed = tuple(dict.fromkeys(component.observed))
        used = [n for n in component.nodes if isinstance(n, Data) and not n.literal]
        named = dict.fromkeys([*targets, *component.unknowns, *used, *self.observed])
        names = assign_names(named, targets) if names is None else names
        self._node_names = names
        terms = [v.distribution for v in component.unknowns if v.distribution is not None]
        terms += component.likelihoods
        self.density = Density(
            component.unknowns, [Term(node) for node in (*terms, *component.factors, *factors)]
        )
        check_nodes(self.density)
        self.capacity = Capacity()  # of the backward passes of its loops
        self.most_trips: dict[Looping, int] = {}
        self._functions: dict[Any, Any] = {}  # compiled
        self.data = tuple(dict.fromkeys([*used, *self.observed]))
        self.target_names = tuple(names[node] for node in targets)
        self.names = tuple(names[v] for v in component.unknowns)
        self.free_size = self.density.free_size
        self._dims = dims_of([*self.targets, *self.data, *component.nodes])
        self.coords = check_coords(collect_coords(self.data, check_coords(coords)))
        check_lengths(self)
        check_names(self)
        self.batch = None if batch is None else Batch(self.density, *batch)

    @property
    def known_as(self) -> dict[int, str]:
        """The names of this model's arrays, and of others in scope, for `describe`."""
        own = {id(node): name for node, name in self._node_names.items()}
        return names_in_scope() | own

    def name(self, node: Node) -> str:
        """How a target, an unknown or a data array of this model is called."""
        return self._node_names[node]

    def dims(self, node: Node) -> tuple[str | None, ...]:
        """The dims of a target, an unknown or a data array of this model."""
        return self._dims[node]

    def axes(self, node: Node) -> tuple[str, ...]:
        """How results call the axes of a target or a data array of this model."""
        return axis_names(self.name(node), self.dims(node))

    @property
    def arguments(self) -> tuple[Data, ...]:
        """The data, and what is computed from them once: arguments of every compiled function."""
        return (*self.data, *self.density.derived)

    @property
    def argument_values(self) -> tuple[np.ndarray, ...]:
        """The values of `arguments`."""
        return tuple(node.value for node in self.arguments)

    # The log density and what comes from it. `free` may have leading axes. JAX arrays in, also
    # those that JAX is tracing, JAX arrays out.
    def log_prob(self, free: Any, *, adjusted: bool = True) -> np.ndarray:
        """The joint log density at free states.

            log p(x(u), data) + log |dx / du|    (without the second term for adjusted=False)

        A function that JAX can transform (`jax.jit`, `jax.grad`, `jax.vmap`, ...); given JAX
        arrays, it gives JAX arrays, of the floating-point type that JAX's present mode has.
        `log_density` is another name of it.

        Parameters
        ----------
        free
            Free states, shape (..., free_size), or a dictionary of values of all unknowns.

        Returns
        -------
        ndarray
            Shape (...); NaN or -inf where the density is not finite.

        Examples
        --------
        >>> import kinetograph as kg
        >>> x = kg.normal(0, 1, name="x")
        >>> y = kg.data(0.0)
        >>> likelihood = kg.observe(y, kg.normal(x, 1))
        >>> float(kg.model(x).log_prob([0.0]).round(4))
        -1.8379
        """
        return self._batched("log_prob" if adjusted else "unadjusted", free)

    log_density = log_prob

    def gradient(self, free: Any) -> np.ndarray:
        """The gradient of `log_prob` with respect to the free state, shape (..., free_size)."""
        return self._batched("gradient", free)

    def hessian(self, free: Any) -> np.ndarray:
        """The second derivatives of `log_prob`, shape (..., free_size, free_size)."""
        return self._batched("hessian", free)

    def potential(self, *, adjusted: bool = True) -> Callable[[Any], Any]:
        """The potential energy U(u) = -log p(u) as a pure function of JAX arrays.

        For samplers and optimisers written for JAX: its gradient is `jax.grad` of it.

        Parameters
        ----------
        adjusted
            Whether the log Jacobian of the transforms belongs to it, as for samplers.

        Returns
        -------
        callable
            Of free states, shape (..., free_size); gives a JAX array of shape (...).

        Examples
        --------
        >>> import jax, kinetograph as kg
        >>> x = kg.normal(0, 1, name="x")
        >>> u = kg.model(x).potential()
        >>> value, gradient = jax.jit(jax.value_and_grad(u))(jax.numpy.array([2.0]))
        >>> print(f"{value:.4f} {gradient[0]:.4f}")
        2.9189 2.0000
        """
        return potential(self, adjusted)

    def transform(self, free: Any) -> dict[str, np.ndarray]:
        """The values of all unknowns at free states."""
        values = self._batched("transform", free)
        return dict(zip(self.names, values, strict=True))

    def untransform(self, values: Mapping[str, Any]) -> np.ndarray:
        """The free state of given values of all unknowns.

        Raises
        ------
        ModelError
            If a name is unknown or missing.
        ShapeError
            If a value has another shape than its unknown.
        TypeError
            If a value is no number, or one that JAX is tracing.
        ValueError
            If a value lies outside its unknown's support.
        """
        checked = check_values(self, values, complete=True)
        with jax.ensure_compile_time_eval(), x64():
            env = data_environment(self.arguments, self.argument_values)
            free = np.asarray(self.density.free_state(checked, env))
        for v, value in checked.items():
            # Bounds that are themselves unknown, and values on the edge, show only here.
            if not np.all(np.isfinite(free[self.density.slices[v]])):
                raise outside_support(
                    self.name(v), v, value, "; the ends themselves have no free state"
                )
        return free

    def controls(self) -> Iterator[Control]:
        """The nodes with subgraphs in the log density, also those inside of others."""
        found = dict.fromkeys(everything(self.density.nodes))
        return (node for node in found if isinstance(node, Control))

    def note_plans(self) -> None:
        """Have the plans of all loops noted in `capacity.plans`."""
        if any(loop not in self.capacity.plans for loop in self.density.loops):
            free = jax.ShapeDtypeStruct((self.free_size,), float)

            def gradient(free: Any, values: Any) -> Any:
                data = data_environment(self.arguments, values)
                return self.density.value_and_gradient(free, data, self.capacity)

            with x64():
                jax.eval_shape(gradient, free, self.argument_values)

    def ensure_capacity(self, loops: Sequence[Looping], reports: Sequence[Any]) -> bool:
        """Take more room for the backward passes of loops that lacked some; whether any did.

        Raises
        ------
        LoopError
            If a loop with `on_limit="error"` reached its bound.
        """
        overflowed = {}
        for loop, report in zip(loops, reports, strict=True):
            if np.any(report.truncated):
                raise limit_reached(loop)
            most = int(np.max(report.most))
            self.most_trips[loop] = max(self.most_trips.get(loop, 0), most)
            if np.any(report.overflowed):
                overflowed[loop] = most
        if overflowed:
            self.capacity = self.capacity.grown(overflowed)
        return bool(overflowed)

    def _check_free(self, free: Any) -> Any:
        if isinstance(free, Mapping):
            return self.untransform(free)

        def expected() -> str:
            parts = ", ".join(f"{n} {k}" for n, k in zip(self.names, self.density.sizes))
            return f"a free state of this model has {self.free_size} numbers ({parts})"

        try:
            states = free if isinstance(free, jax.Array) else np.asarray(free, float)
        except (TypeError, ValueError):
            if not has_tracer(free):
                raise TypeError(
                    f"{expected()}, or values are given by name in a dictionary; got {free!r:.60}"
                ) from None
            states = jnp.asarray(free)
        if not states.shape or states.shape[-1] != self.free_size:
            raise ShapeError(f"{expected()}, got shape {states.shape}")
        return states

    def _batched(self, which: str, free: Any) -> Any:
        states = self._check_free(free)
        if isinstance(states, jax.Array):
            return in_jax(self, which, states)
        return outside(at_states, self, which, states)

    def debug(self, point: Any = None) -> "Report":
        """Evaluate the model node by node at a point and find the first value that is not finite.

        Parameters
        ----------
        point
            A free state, or a dictionary of values of all unknowns; by default the free state 0.

        Returns
        -------
        Report
            Prints as a table of the terms of the log density with their source lines.
        """
        from .debug import report

        if point is None:
            free = np.zeros(self.free_size)
        else:
            free = self._check_free(point)
        if free.ndim > 1:
            raise ShapeError(f"debug takes one point, got shape {free.shape}")
        return report(self, free)

    def plot(self, collapse: bool = True) -> "Drawing":
        """The graph of the model, as text, Mermaid, DOT or SVG; see `kg.draw_graph`.

        Parameters
        ----------
        collapse
            Fold unnamed operations between named arrays into one expression.
        """
        from .drawing import draw_model

        return draw_model(self, collapse)

    def _seen_by(self, *batch: Any) -> "Model":
        """This model, of which samplers see batches of rows: what a `Batch` is made of."""
        targets, factors, coords = self._made_of
        return Model(targets, factors, self.component, coords, self._node_names, batch)

    # Copies, and what is loaded elsewhere, have the names of this model and nodes of their own.
    def _content(self) -> Any:
        targets, factors, coords = self._made_of
        names = list(self._node_names.items())
        batch = None if self.batch is None else self.batch.settings
        parts = vars(self.component), names, list(coords.items()), batch
        return list(targets.items()), factors, *parts

    def __reduce__(self) -> Any:
        return _loaded, (graph_to_bytes(self._content(), "pickling a model"),)

    def __deepcopy__(self, memo: Any) -> "Model":
        return _made(decode(encode(self._content(), foreign=True)))

    def __repr__(self) -> str:
        unknowns = ", ".join(
            f"{self.name(v)} {v.shape}" if v.shape else self.name(v)
            for v in self.component.unknowns
        )
        observed = ", ".join(f"{self.name(n)} {n.shape}" for n in self.observed) or "nothing"
        batch = self.batch
        seen = "" if batch is None else f"; seen by {batch.size} of {batch.count} rows"
        return (
            f"<model of {len(self.names)} unknowns, {self.free_size} free numbers: {unknowns}; "
            f"observed: {observed}; targets: {', '.join(self.target_names)}{seen}>"
        )


def _loaded(data: bytes) -> Model:
    return _made(graph_from_bytes(data, "this model"))


def _made(content: Any) -> Model:
    targets, factors, component, names, coords, batch = content
    made = dict(targets), factors, Component(**component), dict(coords), dict(names), batch
    return Model(*made)


def model(
    *targets: Array,
    factors: Sequence[Array] | Array = (),
    coords: Mapping[str, Any] | None = None,
    **named_targets: Array,
) -> Model:
    """Make a model of arrays whose posterior is wanted.

    The model is found from the targets: the unknowns they are computed from, the data observed
    below those, and so on. Its log density is the sum of the log densities of all unknowns and
    observations, and of the factors.

    Parameters
    ----------
    *targets, **named_targets
        Arrays to be recorded. A keyword names its target; others are named by their own `name=`,
        or by the variable that holds them. Without targets, all unknowns held by variables of
        the calling function.
    factors
        Further terms of the log density; elements are added up.
    coords
        The labels of named dimensions.

    Raises
    ------
    ModelError
        If no array is unknown, a target is data, an unknown is discrete, a flat unknown has no
        density, two arrays share a name, or a name cannot be one in results and files.
    DimsError
        If a dimension has two lengths or two sets of labels, or labels that files cannot hold.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0, 10)
    >>> y = kg.data([1.2, 0.7, 1.9])
    >>> likelihood = kg.observe(y, kg.normal(mu, 1))
    >>> kg.model(mu).names
    ('mu',)
    """
    arrays = list(targets)
    if not arrays and not named_targets:
        arrays = unknowns_in_scope()
        if not arrays:
            raise ModelError(
                "no targets: name the arrays whose posterior you want, as in kg.model(mu, tau); "
                "no unknown array was found in the calling scope"
            )
    names: dict[Node, str] = {}
    nodes: dict[Node, None] = {}
    for array in arrays:
        nodes[check_target(array, None)] = None
    for name, array in named_targets.items():
        node = check_target(array, name)
        if node in names:
            raise ModelError(f"one array is given two names, {names[node]!r} and {name!r}")
        names[node] = name
        nodes[node] = None
    terms = [factors] if isinstance(factors, Array) else list(factors)
    for factor in terms:
        if not isinstance(factor, Array) or factor.dtype.kind != "f":
            raise TypeError(f"model: a factor must be an array of real numbers, got {factor!r}")
    factor_nodes = [f.node for f in terms]
    roots = [*nodes, *factor_nodes]
    component = discover(roots)
    check_component(component, [*component.factors, *factor_nodes])
    given = {node: names.get(node, "") for node in nodes}
    given = assign_names(nodes, {n: name for n, name in given.items() if name})
    return Model(given, factor_nodes, component, coords or {})
