"""The log density of a model at free states, with its derivatives.

States may have leading axes. If a state is a JAX array, which may be traced, the result is a JAX
array.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..distributions.variable import Variable
from ..graph.compiling.inside_jax import constant, has_tracer, outside
from ..graph.compiling.primitive import outer_dtype
from ..graph.control.control_node import Control, Looping, everything
from ..graph.errors import ShapeError
from ..graph.missing import refuse_masked
from ..graph.node import Data, Node, with_values
from ..graph.precision import FLOAT64, x64
from ..graph.public import public
from ..graph.source import place_text
from ..graph.suggestions import Closed
from ..graph.trips import Capacity
from ..graph.value_texts import shown
from .batch import RowBatch
from .bound_density import BoundDensity
from .compiled_functions import CompiledFunctions
from .density import Density
from .discovery import Component
from .evaluation import at_states, in_jax
from .values import check_values, outside_support

__all__ = ["LogDensity"]


@public
class LogDensity(Closed):
    """The methods of `Model` on free states."""

    _instead = (
        "model.set_data({name: values}) changes data, kg.do(model, {name: value}) and kg.condition "
        "fix unknowns; for any other change write a new model"
    )

    density: Density
    batch: RowBatch | None
    component: Component
    targets: tuple[Node, ...]
    names: tuple[str, ...]
    free_size: int
    data: tuple[Data, ...]
    fixed: tuple[Variable, ...]

    def __init__(self) -> None:
        self.functions = CompiledFunctions()
        self.values: dict[Node, np.ndarray] = {}  # values of data and unknowns in this model only
        self.version = 0  # how often the log density was built again
        self.became: dict[Node, Node] = {}  # replacements of nodes after data changed their shape
        self.dropped: dict[str, np.ndarray] = {}  # labels of dims whose length has changed

    def name(self, node: Node) -> str:
        """The name of an array of the model."""
        raise NotImplementedError

    @property
    def capacity(self) -> Capacity:
        """The number of trips of each loop that compiled gradients keep."""
        return self.functions.capacity

    @property
    def most_trips(self) -> dict[Looping, int]:
        """The largest number of trips of each loop so far."""
        return self.functions.most_trips

    @property
    def arguments(self) -> tuple[Node, ...]:
        """The arguments of every compiled function: data, fixed unknowns and derived arrays.

        Derived arrays are computed once from the known values.
        """
        batch = () if self.batch is None else self.batch.derived
        return tuple(dict.fromkeys((*self.data, *self.fixed, *self.density.derived, *batch)))

    @property
    def argument_values(self) -> tuple[np.ndarray, ...]:
        """The values of `arguments`."""
        return tuple(self.value_of(node) for node in self.arguments)

    def value_of(self, node: Node) -> np.ndarray:
        """The value of one of the `arguments` in this model."""
        if node in self.values:
            return self.values[node]
        assert isinstance(node, Data)
        return node.value

    def bind(self, values: Sequence[Any] | None = None) -> BoundDensity:
        """The log density with values of `arguments`, by default the present ones."""
        values = self.argument_values if values is None else values
        data = dict(zip(self.arguments, values, strict=True))
        return BoundDensity(self.density, data, self.capacity, self.batch)

    @property
    def fixed_values(self) -> dict[Node, np.ndarray]:
        """The values of the fixed unknowns."""
        return {v: self.values[v] for v in self.fixed}

    def its_values(self) -> AbstractContextManager[None]:
        """A context in which data hold this model's values, in this thread."""
        return with_values(self.values)

    def log_prob(self, free: Any, *, adjusted: bool = True) -> np.ndarray:
        """The joint log density at free states.

            log p(x(u), data) + log |dx / du|    (without the second term for adjusted=False)

        JAX can transform this function (`jax.jit`, `jax.grad`, `jax.vmap`, ...). Given JAX arrays,
        it returns JAX arrays, with the floating-point type of JAX's current mode. `log_density` is
        another name for it.

        Parameters
        ----------
        free
            Free states, shape (..., free_size), or a dictionary of values of all unknowns.
        adjusted
            Whether to add the log Jacobian of the transforms.

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
        """The gradient of `log_prob`, shape (..., free_size)."""
        return self._batched("gradient", free)

    def hessian(self, free: Any) -> np.ndarray:
        """The second derivatives of `log_prob`, shape (..., free_size, free_size)."""
        return self._batched("hessian", free)

    def potential(self, *, adjusted: bool = True) -> Callable[[Any], Any]:
        """The potential energy U(u) = -log p(u), as a JAX function.

        It is a pure function for samplers and optimisers written for JAX. Differentiate it with
        `jax.grad`.

        Parameters
        ----------
        adjusted
            Whether to include the log Jacobian of the transforms, as samplers need it.

        Returns
        -------
        callable
            A function of free states, shape (..., free_size), that returns a JAX array of shape
            (...).

        Examples
        --------
        >>> import jax, kinetograph as kg
        >>> x = kg.normal(0, 1, name="x")
        >>> u = kg.model(x).potential()
        >>> value, gradient = jax.jit(jax.value_and_grad(u))(jax.numpy.array([2.0]))
        >>> print(f"{value:.4f} {gradient[0]:.4f}")
        2.9189 2.0000
        """
        which = "log_prob" if adjusted else "unadjusted"

        def potential(free: Any) -> Any:
            states = self._check_free(free)
            if not isinstance(states, jax.Array):
                states = constant(states.astype(outer_dtype(FLOAT64)))
            return -in_jax(self, which, states)

        return potential

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
            If a value and its unknown have different shapes.
        TypeError
            If a value is not a number, or is traced by JAX.
        ValueError
            If a value lies outside its unknown's support.
        """
        checked = check_values(self, values, complete=True)
        with jax.ensure_compile_time_eval(), x64():
            free = np.asarray(self.density.free_state(checked, self.bind().data))
        for v, value in checked.items():
            # Violations of bounds that are unknowns, and values on a bound, are found only here.
            if not np.all(np.isfinite(free[self.density.slices[v]])):
                tiny = np.finfo(v.dtype).tiny
                more = f", and numbers below {tiny:.2g} are 0 in computations"
                is_tiny = np.any((value != 0) & (np.abs(value) < tiny))
                note = f"; values on a bound have no free state{more if is_tiny else ''}"
                raise outside_support(self.name(v), v, value, note)
        return free

    def controls(self) -> Iterator[Control]:
        """The nodes with subgraphs in the log density, including nested ones."""
        nodes = dict.fromkeys(everything(self.density.nodes))
        return (node for node in nodes if isinstance(node, Control))

    def note_plans(self) -> None:
        """Trace the gradient, so that `capacity.plans` has the plans of all loops."""
        if any(loop not in self.capacity.plans for loop in self.density.loops):
            free = jax.ShapeDtypeStruct((self.free_size,), float)

            def gradient(free: Any, values: Any) -> Any:
                return self.bind(values).value_and_gradient(free)

            with x64():
                jax.eval_shape(gradient, free, self.argument_values)

    def _check_free(self, free: Any) -> Any:
        """Free states as an array, checked for shape and type."""
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
                    f"{expected()}; give it as an array, or give a dictionary of values by name; "
                    f"got {shown(free)}{place_text()}"
                ) from None
            states = jnp.asarray(free)
        if not states.shape or states.shape[-1] != self.free_size:
            raise ShapeError(f"{expected()}, got shape {states.shape}{place_text()}")
        return states

    def _batched(self, which: str, free: Any) -> Any:
        """Evaluate one of the model's functions at all states."""
        states = self._check_free(free)
        if isinstance(states, jax.Array):
            return in_jax(self, which, states)
        return outside(at_states, self, which, states)
