"""The class of compiled functions, which `kg.compile` returns.

A compiled function lowers the graph between its inputs and outputs to one XLA program. Data are
arguments of the program; states go in and out. The program also reports the trips of its loops and
failures, and is compiled again with a larger capacity if a backward pass needed more trips.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import compress, count
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..control.contexts import require_outside
from ..control.control_node import Control, Looping, everything, loops_in
from ..control.effects import Effects
from ..control.loops import While
from ..control.program import GraphProgram
from ..control.structure import LEAF, Structure, flatten
from ..errors import LoopError, ModelError
from ..faults import FAULT, fault_error, numbered
from ..forms.by_value import form_of_value, forms_by_value
from ..lower import Environment, Scope, evaluate
from ..messages import describe, site_text
from ..node import Apply, Bundle, Data, FormOf, Node, ancestors
from ..operations.indexing import check_bounds
from ..precision import FLOAT64, x64
from ..public import public
from ..source import place_text
from ..suggestions import Closed
from ..trips import Capacity, Trips
from .input_values import checked, index_bounds
from .inside_jax import embed, from_jax, has_jax, outside, refused, tracing
from .lifted_errors import refused_derivative
from .packing import Packing
from .state_values import StateValues

__all__ = ["Function", "limit_reached"]

_CONSTANT = 64  # the size up to which an array in an expression is written into the program


_HOST = frozenset((np.ndarray, np.float64, np.float32, np.int64, float, int, bool))


@public
class Function(Closed):
    """A compiled function, made by `kg.compile`, with an argument for each input.

    It returns NumPy arrays in the structure of the outputs. With JAX arrays as arguments it returns
    JAX arrays, with the dtypes of JAX's present mode. It can be called in JAX transformations
    (`jax.jit`, `jax.grad`, `jax.vmap`, `jax.lax.scan`, ...), where a check that fails makes the
    floating-point results NaN. A function with states cannot be called there; use `pure`, which
    takes and returns the states.

    Attributes
    ----------
    state
        The values of the states that the function uses: `f.state[s]` reads a value,
        `f.state[s] = value` sets it.
    """

    _instead = "set states with f.state[s] = value, and pass inputs in the call"

    def __init__(
        self,
        inputs: Sequence[Node],
        outputs: Sequence[Node],
        program: GraphProgram | None = None,
        *,
        arguments: Sequence[Structure] | None = None,  # None: each is an array
        results: Structure | None = None,  # None: a list of arrays
        state: "StateValues | None" = None,  # may be shared with other functions
        doing: str = "compile",
        advice: str = "add it to the inputs",
    ) -> None:
        self._own_title = doing if doing != "compile" else None
        self._inputs = tuple(inputs)
        self._names = tuple(describe(node) for node in inputs)
        self._outputs = tuple(outputs)
        self._arguments = None if arguments is None else tuple(arguments)
        self._results, self._single = results, results == LEAF
        require_outside(inputs, f"{doing}: inputs")
        require_outside(outputs, f"{doing}: outputs")
        given = set(inputs)
        program = GraphProgram.of(outputs, given) if program is None else program
        self._program = program
        self._cells, self._reads = program.cells, program.reads
        self._finals = program.finals
        targets = (*program.effects.values(), *outputs, *self._finals)
        needed = ancestors(targets, stop=given.__contains__)
        # Densities may read forms of computed inputs, which were not computed from the input's
        # value. They are computed from the given value instead.
        self._forms: dict[FormOf, Node] = {}
        if any(type(node) is FormOf for node in needed):
            self._forms = {form: form_of_value(form) for form in forms_by_value(targets, inputs)}
            stop = {*given, *self._forms}.__contains__
            needed = ancestors((*targets, *self._forms.values()), stop)
        available = {*given, *self._reads}
        for node in needed:
            if node not in available and not isinstance(node, (Apply, Bundle, Data)):
                raise ModelError(
                    f"{doing}: the value of {describe(node)}{site_text(node)} is needed; {advice}"
                )
        # Data that are not inputs are arguments, too, so that they are not built into the program.
        # So are large arrays in an expression, because XLA spends time on folding constants.
        self._data = tuple(
            node
            for node in needed
            if isinstance(node, Data)
            and not (node.literal and node.size <= _CONSTANT)
            and node not in given
        )
        self._bounds = index_bounds(self._inputs, needed)
        self._effects = Effects.of(program.effects, needed)
        self._indices = numbered(everything(needed))
        self.loops = tuple(dict.fromkeys(loops_in(needed)))
        # The types of values that need no check: Python floats, if all inputs are float64 numbers.
        self._floats = tuple(
            float if not n.shape and n.dtype == FLOAT64 else None for n in self._inputs
        )
        self._fails = self._effects is not None or bool(self._indices)
        report_count = len(Trips._fields) * len(self.loops) + 2 * self._fails
        self._entering = Packing((*self._inputs, *self._reads))
        self._leaving = Packing((*self._outputs, *self._finals), report_count)
        self.capacity = Capacity()
        self.most_trips: dict[Looping, int] = {}
        self._needed = needed
        self.state = StateValues() if state is None else state
        self.state.include(self._cells)
        self._data_tensors: tuple[Any, ...] | None = None  # the data as JAX arrays
        self._programs: dict[Any, Any] = {}
        self._embedded: dict[Any, Any] = {}  # programs inside other JAX programs

    def _scope(self, capacity: Capacity) -> Scope:
        return Scope(capacity=capacity, effects=self._effects, indices=self._indices or None)

    def _lower(self, scope: Scope, values: Any, states: Any, data: Any) -> Any:
        environment: Environment = dict(zip(self._inputs, values, strict=True))
        environment.update(zip(self._reads, states, strict=True))
        environment.update(zip(self._data, data, strict=True))
        for form, node in self._forms.items():
            evaluate((node,), environment, scope=scope)
            environment[form] = environment[node]
        evaluate(
            (*self._program.effects.values(), *self._outputs, *self._finals),
            environment,
            scope=scope,
        )
        results = tuple(environment[node] for node in self._outputs)
        finals = tuple(environment[node] for node in self._finals)
        return results, finals, self._failed(environment, scope), scope.reports(self.loops)

    def _failed(self, environment: Environment, scope: Scope) -> Any:
        """The failure's number: negative for a check, positive for an index."""
        fault = scope.reports((FAULT,))[0].most if scope.indices else jnp.int64(0)
        if scope.effects is None:
            return fault
        check = environment[scope.effects.last]
        return jnp.where(check != 0, -check.astype(fault.dtype), fault)

    def _raise_failed(self, failed: int) -> None:
        if failed < 0 and self._effects is not None:
            self._effects.raise_failed(-failed)
        if failed > 0:
            raise fault_error(failed, self._indices)

    def __call__(self, *values: Any, **named: Any) -> Any:
        if named:
            raise TypeError(
                f"this function has no parameter {next(iter(named))}{place_text()}; pass values "
                f"by position, in the order of its inputs: {', '.join(self._names) or 'none'}"
            )
        return self._structured(self.called(self._opened(values)))

    def called(self, values: Sequence[Any]) -> Sequence[Any]:
        """The flat list of results for a flat list of input values."""
        if tuple(map(type, values)) != self._floats:
            if not _HOST.issuperset(map(type, values)) and has_jax(values):
                return from_jax(self, values)
            values = tuple(map(checked, self._inputs, self._names, values))
            for i, axis, size, node in self._bounds:
                check_bounds(np.asarray(values[i]), axis, size, node, self._inputs[i])
        return self.run(values)

    def _opened(self, values: Sequence[Any]) -> Sequence[Any]:
        """The flat list of input values in the arguments' structures."""
        arguments = self._arguments
        count = len(self._inputs if arguments is None else arguments)
        if len(values) != count:
            names = ", ".join(self._names) or "none"
            expected = f"values ({names})" if arguments is None else f"arguments, for {names}"
            expected = expected.replace("s", "", 1) if count == 1 else expected
            raise TypeError(
                f"this function takes {count} {expected}, got {len(values)}{place_text()}"
            )
        if arguments is None:
            return values
        leaves: list[Any] = []
        for i, (structure, value) in enumerate(zip(arguments, values, strict=True)):
            leaves += structure.leaves_of(value, f"argument {i}")
        return leaves

    def _structured(self, results: Sequence[Any]) -> Any:
        """Put results into the structure of the outputs."""
        if self._single:
            return results[0]
        return results if self._results is None else self._results.fill(results)

    def pure(self, states: "StateValues", *values: Any) -> tuple[Any, "StateValues"]:
        """Call the function with given states, without changing `f.state`.

        It is made for JAX transformations and loops, for which `states` is a pytree.

        Parameters
        ----------
        states
            The values of the states; for the first call use a copy, `f.state.copy()`. To continue
            with other values in later calls of the function, use `f.state.restore(states)`.
        *values
            A value for each input.

        Returns
        -------
        results, states
            JAX arrays in the structure of a call's results, and the values of the states after the
            call.

        Raises
        ------
        ModelError
            If the value of a state is missing.

        Examples
        --------
        >>> import jax, kinetograph as kg
        >>> total, x = kg.state(0.0, name="total"), kg.placeholder(name="x")
        >>> add = kg.compile([x], total.assign_add(x))
        >>> def step(states, x):
        ...     result, states = add.pure(states, x)
        ...     return states, result
        >>> states, results = jax.lax.scan(step, add.state.copy(), jax.numpy.arange(4.0))
        >>> [float(r) for r in results], float(states[total]), float(add.state[total])
        ([0.0, 1.0, 3.0, 6.0], 6.0, 0.0)
        """
        if not isinstance(states, StateValues):
            raise TypeError(
                "pure: the first argument must be values of the states, such as f.state.copy(), "
                f"got {type(states).__name__}"
            )
        results, finals = embed(self, states.required_values(self._cells), self._opened(values))
        return self._structured(results), states.changed(self._cells, finals)

    def run(self, checked: Sequence[Any]) -> list[np.ndarray]:
        """The results for checked values: arrays of the inputs' shapes and types."""
        if not tracing():
            return self._call(checked)
        if self._cells:
            raise refused(self)
        return outside(self._call, checked)  # type: ignore[no-any-return]

    def _call(self, checked: Sequence[Any]) -> list[np.ndarray]:
        if not self._cells:
            return self._completed(self._entering.pack(checked))
        with self.state._lock:
            results = self._completed(self._entering.pack([*checked, *self._state_values()]))
            count = len(self._outputs)
            self.state.replace(dict(zip(self._cells, results[count:], strict=True)))
        return results[:count]

    def _completed(self, packed: Sequence[Any]) -> list[np.ndarray]:
        """The results and states of a run without overflow or failure."""
        results, reports = self._leaving.unpack(self._execute(packed))
        while reports and self._overflowed(reports):
            # The inputs and states still exist: run again with the larger capacity.
            results, reports = self._leaving.unpack(self._execute(packed))
        return results

    def _overflowed(self, reports: Sequence[float]) -> bool:
        """Whether a run exceeded the capacity, which is then increased.

        Raises an error if the run failed.
        """
        loops, count = self.loops, len(self.loops)
        for loop, trips in zip(loops, reports, strict=False):
            if trips > self.most_trips.get(loop, -1):
                self.most_trips[loop] = int(trips)
        if not any(reports[count:]):
            return False
        overflowed, truncated = reports[count : 2 * count], reports[2 * count : 3 * count]
        if any(overflowed):
            needed = compress(zip(loops, map(int, reports), strict=False), overflowed)
            self.capacity = self.capacity.grown(dict(needed))
            return True
        if self._fails:
            high, low = map(int, reports[-2:])
            self._raise_failed((high << 32) + low)
        raise limit_reached(next(compress(loops, truncated)))

    def __reduce__(self) -> Any:
        from .serialise import graph_to_bytes

        program = self._program
        content = (self._inputs, self._outputs)
        states = (
            program.cells,
            program.reads,
            program.finals,
            program.effects,
            self._state_values(),
        )
        data = graph_to_bytes((content, states), "pickling a compiled function")
        given = self._arguments and tuple(_hollow(s) for s in self._arguments)
        return _loaded, (data, given, self._results and _hollow(self._results))

    def __copy__(self) -> "Function":
        return self.with_state(self.state.copy())

    def with_state(self, state: "StateValues") -> "Function":
        """The same function with other values of its states."""
        other = object.__new__(Function)
        other.__dict__.update(self.__dict__, state=state)
        return other

    def __deepcopy__(self, memo: Any) -> "Function":
        return self.__copy__()  # graph and programs never change

    def _state_values(self) -> tuple[np.ndarray, ...]:
        return self.state.values_of(self._cells)

    def _execute(self, packed: Sequence[Any]) -> Any:
        with x64():
            program = self._programs.get(self.capacity.key())
            if program is None:
                program = self._programs[self.capacity.key()] = jax.jit(
                    partial(self._run, self.capacity)
                )
            if self._data_tensors is None:
                self._data_tensors = tuple(jnp.asarray(node.value) for node in self._data)
            try:
                return program(packed, self._data_tensors)
            except (TypeError, ValueError) as error:
                explained = refused_derivative(self._needed, error)
                if explained is None:
                    raise
                raise explained from error

    def _run(self, capacity: Capacity, packed: Sequence[Any], data: Sequence[Any]) -> list[Any]:
        """The program: it returns results, states and reports on the run."""
        tensors, count = self._entering.unpack_tensors(packed), len(self._inputs)
        scope = self._scope(capacity)
        results, finals, failed, reports = self._lower(
            scope, tensors[:count], tensors[count:], data
        )
        extras = [
            *(trips.most for trips in reports),
            *(trips.overflowed for trips in reports),
            *(trips.truncated for trips in reports),
            *([failed >> 32, failed & 0xFFFFFFFF] if self._fails else []),  # exact as float64
        ]
        return self._leaving.pack_tensors((*results, *finals), extras)

    def controls(self) -> Iterator[Control]:
        """All nodes with subgraphs, including nested ones."""
        nodes = dict.fromkeys(everything(self._needed))
        return (node for node in nodes if isinstance(node, Control))

    def note_plans(self) -> None:
        """Note the plans of all loops in `capacity.plans`."""
        if self.loops and not self._programs:
            values = [jax.ShapeDtypeStruct(n.shape, n.dtype) for n in self._inputs]
            data = tuple(node.value for node in self._data)
            run = partial(self._lower, self._scope(self.capacity))
            with x64():
                jax.eval_shape(run, values, self._state_values(), data)

    @property
    def title(self) -> str:
        """The name in messages."""
        return self._own_title or repr(self)

    def __repr__(self) -> str:
        outputs = ", ".join(f"{node.shape}" for node in self._outputs)
        return f"<compiled function of ({', '.join(self._names)}), output shapes {outputs}>"


def _hollow(structure: Structure) -> Any:
    """Fill a structure with numbers, so that it can be pickled."""
    return structure.fill(count())


def _loaded(data: bytes, arguments: Sequence[Any] | None, results: Any) -> Function:
    """Make a compiled function from its pickled form."""
    from .serialise import graph_from_bytes

    (inputs, outputs), states = graph_from_bytes(data, "this compiled function")
    cells, reads, finals, effects, values = states
    function = Function(
        inputs,
        outputs,
        GraphProgram(cells, reads, finals, effects),
        arguments=arguments and [flatten(value)[2] for value in arguments],
        results=None if results is None else flatten(results)[2],
    )
    function.state.replace(dict(zip(cells, values, strict=True)))
    return function


def limit_reached(loop: Any) -> LoopError:
    """The error for a loop that reached its bound too early."""
    place = f" ({loop.site})" if loop.site else ""
    bound = loop.bound if isinstance(loop, While) and loop.bound is not None else ""
    return LoopError(
        f"the while loop {loop.contexts[0].name!r}{place} reached maximum_iterations"
        f"{f' = {bound}' if bound != '' else ''} while its predicate was still true; the states "
        "are as before the call. Raise maximum_iterations, or pass on_limit='stop' and check "
        "result.loop.truncated"
    )
