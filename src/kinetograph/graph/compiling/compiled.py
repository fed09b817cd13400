"""What `kg.compile` gives: one compiled function from the inputs of a graph to its outputs."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import compress, count
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..control.contexts import require_outside
from ..control.control import Control, Looping, everything, loops_in
from ..control.effects import Effects
from ..control.loops import While
from ..control.program import Program
from ..control.structure import LEAF, Structure, flatten
from ..errors import LoopError, ModelError
from ..faults import FAULT, fault_error, numbered
from ..forms.by_value import form_of_value, forms_by_value
from ..lower import Environment, Scope, evaluate
from ..messages import describe, site_text
from ..node import Apply, Bundle, Data, FormOf, Node, ancestors
from ..operations.indexing import check_bounds
from ..precision import FLOAT64, x64
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


class Function(Closed):
    """A compiled function; made by `kg.compile`. Call it with a value for each input.

    It gives NumPy arrays in the structure of the outputs; called with JAX arrays it gives JAX
    arrays, of the types that JAX's present mode has for its results. It can be called where JAX
    traces (`jax.jit`, `jax.grad`, `jax.vmap`, `jax.lax.scan`, ...), unless it has states: these go
    in and out of `pure`. There a check that fails makes its floating-point results NaN.

    Attributes
    ----------
    state
        The values of the states it uses: `f.state[s]` reads, `f.state[s] = value` sets.
    """

    _instead = "its states are set by f.state[s] = value, and its inputs are given in the call"

    def __init__(
        self,
        inputs: Sequence[Node],
        outputs: Sequence[Node],
        program: Program | None = None,
        *,
        arguments: Sequence[Structure] | None = None,  # None: each is an array
        results: Structure | None = None,  # None: a list of arrays
        state: "StateValues | None" = None,  # shared with other functions
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
        program = Program.of(outputs, given) if program is None else program
        self._program = program
        self._cells, self._reads = program.cells, program.reads
        self._finals = program.finals
        wanted = (*program.effects.values(), *outputs, *self._finals)
        needed = ancestors(wanted, stop=given.__contains__)
        # Of inputs that are computed, densities may read forms that were made of other things.
        self._forms: dict[FormOf, Node] = {}
        if any(type(node) is FormOf for node in needed):
            self._forms = {form: form_of_value(form) for form in forms_by_value(wanted, inputs)}
            stop = {*given, *self._forms}.__contains__
            needed = ancestors((*wanted, *self._forms.values()), stop)
        known = {*given, *self._reads}
        for node in needed:
            if node not in known and not isinstance(node, (Apply, Bundle, Data)):
                raise ModelError(
                    f"{doing}: the value of {describe(node)}{site_text(node)} is needed; {advice}"
                )
        # Data that are not inputs are arguments too, so that they are not built into the program,
        # and so are large arrays in an expression, on which XLA would spend time folding constants.
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
        # The types of values that need no look: where all inputs are numbers, Python's.
        self._floats = tuple(
            float if not n.shape and n.dtype == FLOAT64 else None for n in self._inputs
        )
        self._fails = self._effects is not None or bool(self._indices)
        told = len(Trips._fields) * len(self.loops) + 2 * self._fails
        self._entering = Packing((*self._inputs, *self._reads))
        self._leaving = Packing((*self._outputs, *self._finals), told)
        self.capacity = Capacity()
        self.most_trips: dict[Looping, int] = {}
        self._needed = needed
        self.state = StateValues() if state is None else state
        self.state.include(self._cells)
        self._given: tuple[Any, ...] | None = None  # the data, as JAX has them
        self._programs: dict[Any, Any] = {}
        self._embedded: dict[Any, Any] = {}  # the programs that JAX sees

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
        """One number for all that can fail: a check below 0, a fault of an index above."""
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
                f"this function has no parameter {next(iter(named))}{place_text()}; it takes "
                f"values by position, of its inputs in order: {', '.join(self._names) or 'none'}"
            )
        return self._structured(self.called(self._opened(values)))

    def called(self, values: Sequence[Any]) -> Sequence[Any]:
        """The results for a value of each input, without structures."""
        if tuple(map(type, values)) != self._floats:
            if not _HOST.issuperset(map(type, values)) and has_jax(values):
                return from_jax(self, values)
            values = tuple(map(checked, self._inputs, self._names, values))
            for i, axis, size, node in self._bounds:
                check_bounds(np.asarray(values[i]), axis, size, node, self._inputs[i])
        return self.run(values)

    def _opened(self, values: Sequence[Any]) -> Sequence[Any]:
        """A value for each input, out of the structures of the arguments."""
        arguments = self._arguments
        count = len(self._inputs if arguments is None else arguments)
        if len(values) != count:
            names = ", ".join(self._names) or "none"
            what = f"values ({names})" if arguments is None else f"arguments, for {names}"
            what = what.replace("s", "", 1) if count == 1 else what
            raise TypeError(f"this function takes {count} {what}, got {len(values)}{place_text()}")
        if arguments is None:
            return values
        found: list[Any] = []
        for i, (structure, value) in enumerate(zip(arguments, values, strict=True)):
            found += structure.leaves_of(value, f"argument {i}")
        return found

    def _structured(self, results: Sequence[Any]) -> Any:
        """Results in the structure of the outputs."""
        if self._single:
            return results[0]
        return results if self._results is None else self._results.fill(results)

    def pure(self, states: "StateValues", *values: Any) -> tuple[Any, "StateValues"]:
        """The results, and the values of the states after the call; nothing is changed.

        For JAX transformations, to which `states` is a pytree, as for loops that carry it.

        Parameters
        ----------
        states
            Values of the states: at first a copy, `f.state.copy()`. `f.state.restore(states)`
            goes on with others.
        *values
            A value for each input.

        Returns
        -------
        results, states
            JAX arrays, in the structure of a call's, and the values of the states after it.

        Raises
        ------
        ModelError
            If values of some states are missing.

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
                "pure: first come the values of the states, f.state.copy() say, got a value of "
                f"type {type(states).__name__}"
            )
        results, finals = embed(self, states.known(self._cells), self._opened(values))
        return self._structured(results), states.changed(self._cells, finals)

    def run(self, checked: Sequence[Any]) -> list[np.ndarray]:
        """The results, for arrays of the right shapes and types; numbers may be Python's."""
        if not tracing():
            return self._call(checked)
        if self._cells:
            raise refused(self)
        return outside(self._call, checked)  # type: ignore[no-any-return]

    def _call(self, checked: Sequence[Any]) -> list[np.ndarray]:
        if not self._cells:
            return self._completed(self._entering.pack(checked))
        with self.state._lock:
            found = self._completed(self._entering.pack([*checked, *self._state_values()]))
            count = len(self._outputs)
            self.state.replace(dict(zip(self._cells, found[count:], strict=True)))
        return found[:count]

    def _completed(self, packed: Sequence[Any]) -> list[np.ndarray]:
        """Results and states of a run that had room and ended by itself, with all checks held."""
        found, told = self._leaving.unpack(self._execute(packed))
        while told and self._lacked_room(told):
            # The inputs and states are still there: run again with more room.
            found, told = self._leaving.unpack(self._execute(packed))
        return found

    def _lacked_room(self, told: Sequence[float]) -> bool:
        """Whether backward passes of loops lacked room, and have more from now on."""
        loops, count = self.loops, len(self.loops)
        for loop, most in zip(loops, told, strict=False):
            if most > self.most_trips.get(loop, -1):
                self.most_trips[loop] = int(most)
        if not any(told[count:]):
            return False
        overflowed, truncated = told[count : 2 * count], told[2 * count : 3 * count]
        if any(overflowed):
            lacking = compress(zip(loops, map(int, told), strict=False), overflowed)
            self.capacity = self.capacity.grown(dict(lacking))
            return True
        if self._fails:
            high, low = map(int, told[-2:])
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
            if self._given is None:
                self._given = tuple(jnp.asarray(node.value) for node in self._data)
            try:
                return program(packed, self._given)
            except (TypeError, ValueError) as error:
                named = refused_derivative(self._needed, error)
                if named is None:
                    raise
                raise named from error

    def _run(self, capacity: Capacity, packed: Sequence[Any], data: Sequence[Any]) -> list[Any]:
        """The program: results and states, and what a run tells beside them."""
        tensors, count = self._entering.unpack_tensors(packed), len(self._inputs)
        scope = self._scope(capacity)
        results, finals, failed, reports = self._lower(
            scope, tensors[:count], tensors[count:], data
        )
        told = [
            *(trips.most for trips in reports),
            *(trips.overflowed for trips in reports),
            *(trips.truncated for trips in reports),
            *([failed >> 32, failed & 0xFFFFFFFF] if self._fails else []),  # exact as float64
        ]
        return self._leaving.pack_tensors((*results, *finals), told)

    def controls(self) -> Iterator[Control]:
        """The nodes with subgraphs, also those inside of others."""
        found = dict.fromkeys(everything(self._needed))
        return (node for node in found if isinstance(node, Control))

    def note_plans(self) -> None:
        """Have the plans of all loops noted in `capacity.plans`."""
        if self.loops and not self._programs:
            values = [jax.ShapeDtypeStruct(n.shape, n.dtype) for n in self._inputs]
            data = tuple(node.value for node in self._data)
            run = partial(self._lower, self._scope(self.capacity))
            with x64():
                jax.eval_shape(run, values, self._state_values(), data)

    @property
    def title(self) -> str:
        """How messages call it."""
        return self._own_title or repr(self)

    def __repr__(self) -> str:
        outputs = ", ".join(f"{node.shape}" for node in self._outputs)
        return f"<compiled function of ({', '.join(self._names)}), output shapes {outputs}>"


def _hollow(structure: Structure) -> Any:
    """A structure that holds numbers, so that it can be pickled."""
    return structure.fill(count())


def _loaded(data: bytes, given: Sequence[Any] | None, wanted: Any) -> Function:
    """A compiled function from its pickled form."""
    from .serialise import graph_from_bytes

    (inputs, outputs), states = graph_from_bytes(data, "this compiled function")
    cells, reads, finals, effects, values = states
    function = Function(
        inputs,
        outputs,
        Program(cells, reads, finals, effects),
        arguments=given and [flatten(value)[2] for value in given],
        results=None if wanted is None else flatten(wanted)[2],
    )
    function.state.replace(dict(zip(cells, values, strict=True)))
    return function


def limit_reached(loop: Any) -> LoopError:
    """The complaint about a loop that its bound has ended too early."""
    place = f" ({loop.site})" if loop.site else ""
    bound = loop.bound if isinstance(loop, While) and loop.bound is not None else ""
    return LoopError(
        f"the while loop {loop.contexts[0].name!r}{place} reached maximum_iterations"
        f"{f' = {bound}' if bound != '' else ''} while its predicate was still true; the states "
        "are as before the call. Raise maximum_iterations, or pass on_limit='stop' and look at "
        "result.loop.truncated"
    )
