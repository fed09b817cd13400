"""The log density of a model at free states: values, derivatives, and the unknowns there.

States may have leading axes. JAX arrays in, also those that JAX is tracing, JAX arrays out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..distributions.variable import Variable
from ..graph.compiling.compiled import limit_reached
from ..graph.compiling.inside_jax import has_tracer, outside
from ..graph.control.control import Control, Looping, everything
from ..graph.errors import ShapeError
from ..graph.missing import refuse_masked
from ..graph.node import Data, Node, with_values
from ..graph.precision import x64
from ..graph.source import place_text
from ..graph.suggestions import Closed
from ..graph.trips import Capacity
from .density import Density, data_environment
from .discovery import Component
from .evaluation import at_states
from .potential import in_jax, potential
from .values import check_values, outside_support

__all__ = ["LogDensity"]


class LogDensity(Closed):
    """What `Model` can be asked at free states, and the room that its loops take."""

    _instead = (
        "model.set_data({name: values}) gives data other values, kg.do(model, {name: value}) and "
        "kg.condition fix unknowns, and what the model is made of is written anew"
    )

    density: Density
    component: Component
    targets: tuple[Node, ...]
    names: tuple[str, ...]
    free_size: int
    data: tuple[Data, ...]
    fixed: tuple[Variable, ...]

    def __init__(self) -> None:
        self.capacity = Capacity()  # of the backward passes of its loops
        self.most_trips: dict[Looping, int] = {}
        self._functions: dict[Any, Any] = {}  # compiled
        self.values: dict[Node, np.ndarray] = {}  # of data and unknowns, where they are its own
        self.version = 0  # how often the log density was made anew
        self.became: dict[Node, Node] = {}  # what stands for nodes, since data have other shapes
        self.dropped: dict[str, np.ndarray] = {}  # labels of dims that have had other lengths since

    def name(self, node: Node) -> str:
        """How an array of the model is called."""
        raise NotImplementedError

    def kept[T](self, key: Any, make: Callable[[], T]) -> T:
        """What is made once for this model."""
        if key not in self._functions:
            self._functions[key] = make()
        found: T = self._functions[key]
        return found

    @property
    def arguments(self) -> tuple[Node, ...]:
        """What is known, and computed from that once: arguments of every compiled function."""
        return (*self.data, *self.fixed, *self.density.derived)

    @property
    def argument_values(self) -> tuple[np.ndarray, ...]:
        """The values of `arguments`."""
        return tuple(self.value_of(node) for node in self.arguments)

    def value_of(self, node: Node) -> np.ndarray:
        """The value that one of the `arguments` has in this model."""
        if node in self.values:
            return self.values[node]
        assert isinstance(node, Data)
        return node.value

    @property
    def fixed_values(self) -> dict[Node, np.ndarray]:
        """The values of the unknowns that have been given some."""
        return {v: self.values[v] for v in self.fixed}

    def its_values(self) -> AbstractContextManager[None]:
        """Have the data hold the values of this model, in this thread."""
        return with_values(self.values)

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
            count = "1 number" if self.free_size == 1 else f"{self.free_size} numbers"
            return f"a free state of this model has {count} ({parts})"

        refuse_masked(free, "a free state")
        try:
            states = free if isinstance(free, jax.Array) else np.asarray(free, float)
        except (TypeError, ValueError):
            if not has_tracer(free):
                raise TypeError(
                    f"{expected()}, or values are given by name in a dictionary; got {free!r:.60}"
                    f"{place_text()}"
                ) from None
            states = jnp.asarray(free)
        if not states.shape or states.shape[-1] != self.free_size:
            raise ShapeError(f"{expected()}, got shape {states.shape}{place_text()}")
        return states

    def _batched(self, which: str, free: Any) -> Any:
        states = self._check_free(free)
        if isinstance(states, jax.Array):
            return in_jax(self, which, states)
        return outside(at_states, self, which, states)
