"""What `kg.function` gives: a function with graphs, one for each signature it is called with."""

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
from ..graph.control.program import Program
from ..graph.control.rollback import mark, rollback
from ..graph.control.state import new_program, top_level
from ..graph.control.structure import Structure, flatten
from ..graph.errors import AutographWarning, ModelError, ShapeError, SymbolicError
from ..graph.node import CURRENT, Node
from ..graph.precision import float_dtype
from ..graph.source import warn_user
from .arguments import JaxInput, Key, Parameters, static_hint
from .calling import CALLING

__all__ = ["BoundFunction", "StagedFunction"]

_MANY = 50  # graphs of one function, after which there is a warning


class _Trace(NamedTuple):
    """The graph of one signature, compiled, and what the Python function returned."""

    compiled: Function
    structure: Structure
    leaves: list[Any]  # an array of the graph stands for the next result
    all_arrays: bool

    def __call__(self, arrays: Sequence[Any]) -> Any:
        return self.filled(self.compiled.run(arrays))

    def filled(self, found: Sequence[Any]) -> Any:
        """What the Python function returned, with these results."""
        if self.all_arrays:
            return self.structure.fill(found)
        results = iter(found)
        return self.structure.fill(
            next(results)
            if isinstance(leaf, Array)
            else leaf.copy()
            if isinstance(leaf, np.ndarray)
            else leaf
            for leaf in self.leaves
        )


class StagedFunction:
    """A function whose control flow is part of the graph; made by `kg.function`.

    Attributes
    ----------
    python_function
        The function as it was written; also `__wrapped__`.
    state
        The values of the states it uses: `f.state[s]` reads, `f.state[s] = value` sets. There is
        one set of them for all signatures.
    traces
        The number of graphs made so far.
    """

    def __init__(
        self, function: Callable[..., Any], static: Iterable[str], strict: bool, name: str | None
    ) -> None:
        static = (static,) if isinstance(static, str) else tuple(static)
        own = getattr(function, "__name__", type(function).__name__)
        self._title = name or own
        self._options: dict[str, Any] = {"static_argnames": static, "strict": strict, "name": name}
        copied = ("__dict__",) if inspect.isfunction(function) else ()
        functools.update_wrapper(self, function, updated=copied)
        self.python_function = function
        self._parameters = Parameters(function, self._title, static)
        self._lock = threading.RLock()
        self._cache: dict[Key, _Trace] = {}
        self._of_plain: dict[Any, _Trace] = {}  # for calls with numbers and arrays as they are
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
        inside = CALLING.tracing or CURRENT.context is not None
        if inside and not has_tracer((args, kwargs)):
            return self._converted(*args, **kwargs)
        plain = (float_dtype(), *map(_plain_key, args))
        trace = self._of_plain.get(plain)
        if trace is not None and not kwargs and all(map(fits, args)):
            return trace(args)
        values = self._parameters.bind(args, kwargs)
        read = self._parameters.read(values, owned)
        if read is None:
            return self._converted(*args, **kwargs)
        trace = self._cache.get(read.key)
        if trace is None:
            trace = self._find(values, read.key, owned)
        if values is args and _as_they_are(args, read.arrays):
            self._of_plain[plain] = trace
        if read.from_jax:
            return trace.filled(from_jax(trace.compiled, _plain(read.arrays)))
        return trace(read.arrays)

    def pure(self, states: StateValues, *args: Any, **kwargs: Any) -> tuple[Any, StateValues]:
        """What the function gives, and the values of its states after it; nothing is changed.

        As `pure` of a compiled function: for JAX transformations. The states are those of the
        graphs made so far; `f.trace(...)` makes the graph for some arguments.
        """
        return self._pure(states, args, kwargs, False)

    def _pure(
        self, states: StateValues, args: tuple[Any, ...], kwargs: dict[str, Any], owned: bool
    ) -> tuple[Any, StateValues]:
        values = self._parameters.bind(args, kwargs)
        read = self._parameters.read(values, owned)
        if read is None:
            raise SymbolicError(f"{self._title}.pure needs values, not arrays of a graph")
        trace = self._find(values, read.key, owned)
        found, after = trace.compiled.pure(states, *_plain(read.arrays))
        return trace.filled(found), after

    def trace(self, *args: Any, **kwargs: Any) -> Function:
        """The compiled function of these arguments' signature, for `kg.explain` and the like.

        Its inputs are the numbers and arrays among the arguments, one after the other, and its
        outputs the arrays that the function returns.

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
        read = self._parameters.read(values, owned)
        if read is None:
            raise SymbolicError(f"{self._title}.trace needs values, not arrays of a graph")
        return self._find(values, read.key, owned).compiled

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
        """The graph of a signature: a program of its own, of which nothing stays if it fails."""
        before, active, context = new_program(), CALLING.tracing, CURRENT.context
        top_level().traced = True
        moment = mark()
        CALLING.tracing, CURRENT.context = True, None
        inputs: list[Node] = []
        try:
            bound, inputs = self._parameters.stage(values, owned)
            leaves, _, structure = flatten(self._converted(*bound.args, **bound.kwargs))
            outputs = [leaf.node for leaf in leaves if isinstance(leaf, Array)]
            versions = top_level()
            assigned = [versions.latest[cell] for cell in versions.assigned]
            ends = list(versions.effects.values())
            program = Program.of((*outputs, *assigned, *ends), set(inputs))
            compiled = Function(
                inputs,
                outputs,
                program,
                state=self.state,
                doing=self._title,
                advice="pass it as an argument",
            )
        except BaseException as error:
            rollback(moment)
            if isinstance(error, (SymbolicError, ShapeError, TypeError, RecursionError)):
                _say_more(error, static_hint(inputs, error))
            raise
        finally:
            CALLING.tracing, CURRENT.context = active, context
            new_program(before)
        return _Trace(compiled, structure, leaves, len(outputs) == len(leaves))

    def _warn(self, change: str) -> None:
        warn_user(
            f"{self._title} has been traced {_MANY} times, and each time costs a compilation: "
            f"shapes, types or static arguments keep changing. The last change is of {change}. "
            "Pass numbers as numbers or arrays, and arrays of few different shapes",
            AutographWarning,
        )

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else BoundFunction(self, instance)

    def __copy__(self) -> "StagedFunction":
        """The same function with states of its own."""
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
        return self.__copy__()  # functions and graphs never change

    def __reduce__(self) -> Any:
        function = self.python_function
        module, path = (getattr(self, n, None) for n in ("__module__", "__qualname__"))
        found: Any = sys.modules.get(module or "")
        for step in (path or "").split("."):
            found = getattr(found, step, None)
        if found is self:
            return path  # by name, as functions are
        if inspect.isfunction(function) and found is not function:
            raise pickle.PicklingError(
                f"{self._title} cannot be pickled: functions are pickled by their name, and "
                f"{module}.{path} is not this one; define it at the top of a module"
            )
        return _made_again, (function, self._options)

    def __repr__(self) -> str:
        return f"<function {self._title}{self._parameters.signature}, traced {self.traces} times>"


class BoundFunction:
    """A staged function as a method: the object it is called on is its first, static argument."""

    __slots__ = ("__func__", "__self__")

    def __init__(self, function: StagedFunction, instance: Any) -> None:
        self.__func__, self.__self__ = function, instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__._call((self.__self__, *args), kwargs, True)

    def trace(self, *args: Any, **kwargs: Any) -> Function:
        """As that of the function."""
        return self.__func__._trace((self.__self__, *args), kwargs, True)

    def pure(self, states: StateValues, *args: Any, **kwargs: Any) -> tuple[Any, StateValues]:
        """As that of the function."""
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
    """Add to the text of an error."""
    if hint and len(error.args) == 1 and isinstance(error.args[0], str):
        error.args = (type(error.args[0])(error.args[0] + hint),)


def _as_they_are(args: tuple[Any, ...], arrays: Sequence[Any]) -> bool:
    """Whether the arguments are the arrays among them, and numbers, and nothing else."""
    pairs = zip(args, arrays, strict=False)
    return len(args) == len(arrays) and all(type(a) in NUMBERS or a is b for a, b in pairs)


def _plain_key(value: Any) -> Any:
    """By which calls with numbers and arrays find their graph."""
    kind = type(value)
    return (value.shape, value.dtype) if kind is np.ndarray else kind


def _plain(arrays: Iterable[Any]) -> list[Any]:
    return [array.value if type(array) is JaxInput else array for array in arrays]


def _made_again(function: Callable[..., Any], options: dict[str, Any]) -> StagedFunction:
    return StagedFunction(function, options["static_argnames"], options["strict"], options["name"])
