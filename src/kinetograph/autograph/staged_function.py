"""The result of `kg.function`: a function with one graph for each signature."""

import functools
import inspect
import pickle
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..graph.array import Array
from ..graph.compiling.compiled import Function
from ..graph.compiling.inside_jax import from_jax, has_tracer, outside
from ..graph.compiling.packing import NUMBERS, fits
from ..graph.compiling.state_values import StateValues
from ..graph.control.program import GraphProgram
from ..graph.control.rollback import mark, rollback
from ..graph.control.state import new_program, top_level
from ..graph.control.structure import Structure, flatten
from ..graph.errors import AutographWarning, ModelError, ShapeError, SymbolicError
from ..graph.node import CURRENT, Node
from ..graph.precision import float_dtype
from ..graph.public import public
from ..graph.source import warn_user
from .arguments import JaxInput, Key, Parameters, static_hint
from .calling import CALLING

__all__ = ["BoundFunction", "StagedFunction"]

_MANY = 50  # number of graphs of one function at which a warning is given


class _Trace(NamedTuple):
    """The compiled graph of a signature, and the function's result."""

    compiled: Function
    structure: Structure
    leaves: list[Any]  # of the function's result; arrays of the graph are replaced by values
    all_arrays: bool

    def __call__(self, arrays: Sequence[Any]) -> Any:
        return self.filled(self.compiled.run(arrays))

    def filled(self, values: Sequence[Any]) -> Any:
        """The result of the Python function, with these values for its arrays."""
        if self.all_arrays:
            return self.structure.fill(values)
        results = iter(values)
        return self.structure.fill(
            next(results)
            if isinstance(leaf, Array)
            else leaf.copy()
            if isinstance(leaf, np.ndarray)
            else leaf
            for leaf in self.leaves
        )


@public
class StagedFunction:
    """A function whose control flow is part of the graph.

    `kg.function` makes it.

    Attributes
    ----------
    python_function
        The original function; also `__wrapped__`.
    state
        The values of the states that it uses: `f.state[s]` reads, `f.state[s] = value` sets. All
        signatures share them.
    traces
        The number of graphs made so far.
    """

    def __init__(
        self, function: Callable[..., Any], static: Iterable[str], strict: bool, name: str | None
    ) -> None:
        static = (static,) if isinstance(static, str) else tuple(static)
        function_name = getattr(function, "__name__", type(function).__name__)
        self._title = name or function_name
        self._options: dict[str, Any] = {"static_argnames": static, "strict": strict, "name": name}
        copied = ("__dict__",) if inspect.isfunction(function) else ()
        functools.update_wrapper(self, function, updated=copied)
        self.python_function = function
        self._parameters = Parameters(function, self._title, static)
        self._lock = threading.RLock()
        self._cache: dict[Key, _Trace] = {}
        self._of_plain: dict[Any, _Trace] = {}  # for calls with plain numbers and arrays
        self._warned = False
        self.state = StateValues()
        self.state.note = ", which has not been called yet"

    @functools.cached_property
    def _converted(self) -> Callable[..., Any]:
        from .convert import convert

        return convert(self.python_function, strict=self._options["strict"])

    @property
    def traces(self) -> int:
        """The number of graphs made so far."""
        return len(self._cache)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(args, kwargs, False)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any], owned: bool) -> Any:
        building_graph = CALLING.tracing or CURRENT.context is not None
        if building_graph and not has_tracer((args, kwargs)):
            return self._converted(*args, **kwargs)
        plain_key = (float_dtype(), *map(_plain_key, args))
        trace = self._of_plain.get(plain_key)
        if trace is not None and not kwargs and all(map(fits, args)):
            return trace(args)
        values = self._parameters.bind(args, kwargs)
        arguments = self._parameters.read(values, owned)
        if arguments is None:
            return self._converted(*args, **kwargs)
        trace = self._cache.get(arguments.key)
        if trace is None:
            trace = self._find(values, arguments.key, owned)
        if values is args and _all_plain(args, arguments.arrays):
            self._of_plain[plain_key] = trace
        if arguments.from_jax:
            return trace.filled(from_jax(trace.compiled, _plain(arguments.arrays)))
        return trace(arguments.arrays)

    def pure(self, states: StateValues, *args: Any, **kwargs: Any) -> tuple[Any, StateValues]:
        """Return the results and the states after a call, without side effects.

        It serves JAX transformations, as `pure` of a compiled function does. `states` are the
        states of the graphs made so far; `f.trace(...)` makes the graph for some arguments.

        Raises
        ------
        SymbolicError
            If an argument is an array of the graph.
        """
        return self._pure(states, args, kwargs, False)

    def _pure(
        self, states: StateValues, args: tuple[Any, ...], kwargs: dict[str, Any], owned: bool
    ) -> tuple[Any, StateValues]:
        values = self._parameters.bind(args, kwargs)
        arguments = self._parameters.read(values, owned)
        if arguments is None:
            raise SymbolicError(f"{self._title}.pure needs values, not arrays of a graph")
        trace = self._find(values, arguments.key, owned)
        results, after = trace.compiled.pure(states, *_plain(arguments.arrays))
        return trace.filled(results), after

    def trace(self, *args: Any, **kwargs: Any) -> Function:
        """The compiled function for the signature of these arguments.

        It can be passed to `kg.explain` and to other functions of compiled functions. Its inputs
        are the numbers and arrays among the arguments, in order, and its outputs are the arrays
        that the function returns.

        Raises
        ------
        SymbolicError
            If an argument is an array of the graph.
        ModelError
            While another graph is being made.
        """
        return self._trace(args, kwargs, False)

    def _trace(self, args: tuple[Any, ...], kwargs: dict[str, Any], owned: bool) -> Function:
        if CALLING.tracing or CURRENT.context is not None:
            raise ModelError(f"{self._title}.trace cannot be used in a branch, loop or function")
        values = self._parameters.bind(args, kwargs)
        arguments = self._parameters.read(values, owned)
        if arguments is None:
            raise SymbolicError(f"{self._title}.trace needs values, not arrays of a graph")
        return self._find(values, arguments.key, owned).compiled

    def _find(self, values: tuple[Any, ...], key: Key, owned: bool) -> _Trace:
        with self._lock:
            trace = self._cache.get(key)
            if trace is None:
                previous = next(reversed(self._cache), None)
                trace = self._cache[key] = outside(self._made, values, owned)
                self.state.note = " as far as it has been called"
                if len(self._cache) >= _MANY and not self._warned and previous is not None:
                    self._warned = True
                    self._warn(self._parameters.difference(previous, key))
        return trace

    def _made(self, values: tuple[Any, ...], owned: bool) -> _Trace:
        """Build and compile the graph of a signature.

        The graph is a separate program; if it fails, all changes are rolled back.
        """
        outer_program, was_tracing, context = new_program(), CALLING.tracing, CURRENT.context
        top_level().traced = True
        checkpoint = mark()
        CALLING.tracing, CURRENT.context = True, None
        inputs: list[Node] = []
        try:
            bound, inputs = self._parameters.stage(values, owned)
            leaves, _, structure = flatten(self._converted(*bound.args, **bound.kwargs))
            outputs = [leaf.node for leaf in leaves if isinstance(leaf, Array)]
            versions = top_level()
            assigned = [versions.latest[cell] for cell in versions.assigned]
            last_effects = list(versions.effects.values())
            program = GraphProgram.of((*outputs, *assigned, *last_effects), set(inputs))
            compiled = Function(
                inputs,
                outputs,
                program,
                state=self.state,
                doing=self._title,
                advice="pass it as an argument",
            )
        except BaseException as error:
            rollback(checkpoint)
            if isinstance(error, (SymbolicError, ShapeError, TypeError, RecursionError)):
                _say_more(error, static_hint(inputs, error))
            raise
        finally:
            CALLING.tracing, CURRENT.context = was_tracing, context
            new_program(outer_program)
        return _Trace(compiled, structure, leaves, len(outputs) == len(leaves))

    def _warn(self, change: str) -> None:
        warn_user(
            f"{self._title} has been traced {_MANY} times, and each trace costs a compilation: "
            f"shapes, types or static arguments keep changing. The last change is {change}. "
            "Pass numbers as numbers or arrays, and use few different shapes of arrays",
            AutographWarning,
        )

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else BoundFunction(self, instance)

    def __copy__(self) -> "StagedFunction":
        """The same function with its own states."""
        other = object.__new__(StagedFunction)
        other.__dict__.update(self.__dict__)
        with self._lock, self.state._lock:
            other._lock = threading.RLock()
            other.state, other._of_plain = self.state.copy(), {}
            other._cache = {
                key: trace._replace(compiled=trace.compiled.with_state(other.state))
                for key, trace in self._cache.items()
            }
        return other

    def __deepcopy__(self, memo: Any) -> "StagedFunction":
        return self.__copy__()  # functions and graphs are immutable

    def __reduce__(self) -> Any:
        function = self.python_function
        module, path = (getattr(self, n, None) for n in ("__module__", "__qualname__"))
        target: Any = sys.modules.get(module or "")
        for name in (path or "").split("."):
            target = getattr(target, name, None)
        if target is self:
            return path  # pickled by name, as functions are
        if inspect.isfunction(function) and target is not function:
            raise pickle.PicklingError(
                f"{self._title} cannot be pickled: functions are pickled by their name, and "
                f"{module}.{path} is not this one; define it at the top of a module"
            )
        return _made_again, (function, self._options)

    def __repr__(self) -> str:
        return f"<function {self._title}{self._parameters.signature}, traced {self.traces} times>"


class BoundFunction:
    """A staged function as a method.

    The object on which it is called is its first argument, and static.
    """

    __slots__ = ("__func__", "__self__")

    def __init__(self, function: StagedFunction, instance: Any) -> None:
        self.__func__, self.__self__ = function, instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__._call((self.__self__, *args), kwargs, True)

    def trace(self, *args: Any, **kwargs: Any) -> Function:
        """The compiled function for the signature of these arguments.

        See `StagedFunction.trace`.
        """
        return self.__func__._trace((self.__self__, *args), kwargs, True)

    def pure(self, states: StateValues, *args: Any, **kwargs: Any) -> tuple[Any, StateValues]:
        """Return the results and the states after a call, without side effects.

        See `StagedFunction.pure`.
        """
        return self.__func__._pure(states, (self.__self__, *args), kwargs, True)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__func__, name)

    @property
    def __signature__(self) -> inspect.Signature:
        signature = self.__func__._parameters.signature
        return signature.replace(parameters=list(signature.parameters.values())[1:])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, BoundFunction)
            and other.__self__ is self.__self__
            and other.__func__ is self.__func__
        )

    def __hash__(self) -> int:
        return hash((id(self.__self__), id(self.__func__)))

    def __reduce__(self) -> Any:
        return getattr, (self.__self__, self.__func__.python_function.__name__)

    def __repr__(self) -> str:
        return f"<bound {self.__func__!r} of {self.__self__!r}>"


def _say_more(error: Exception, hint: str) -> None:
    """Add a hint to the text of an error."""
    if hint and len(error.args) == 1 and isinstance(error.args[0], str):
        error.args = (type(error.args[0])(error.args[0] + hint),)


def _all_plain(args: tuple[Any, ...], arrays: Sequence[Any]) -> bool:
    """Whether all arguments are plain numbers and arrays."""
    pairs = zip(args, arrays, strict=False)
    return len(args) == len(arrays) and all(type(a) in NUMBERS or a is b for a, b in pairs)


def _plain_key(value: Any) -> Any:
    """The part of the key for one argument in `_of_plain`."""
    kind = type(value)
    return (value.shape, value.dtype) if kind is np.ndarray else kind


def _plain(arrays: Iterable[Any]) -> list[Any]:
    return [array.value if type(array) is JaxInput else array for array in arrays]


def _made_again(function: Callable[..., Any], options: dict[str, Any]) -> StagedFunction:
    return StagedFunction(function, options["static_argnames"], options["strict"], options["name"])
