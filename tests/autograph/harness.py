"""Runs a function three ways: as Python, converted but eager, staged and compiled.

The oracle is Python itself. `@case` registers an ordinary function together with arguments that
take different paths through it:

    @case(3, 0, -2)                      # three calls with one argument each
    def sign(x): ...

    @case((1, 2.0), (0, 1.0))            # two calls with two arguments each
    def power(n, x): ...

An argument list that is no tuple is a single argument. In the staged run, numbers, arrays and
lists of numbers become symbolic; strings, None, other objects and the parameters in `static` stay
Python.
"""

import builtins
import contextlib
import copy
import dataclasses
import re
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any

import numpy as np

import kinetograph as kg

RTOL = 1e-12


@dataclasses.dataclass(frozen=True)
class Case:
    """A function, its arguments, and where its ways may differ."""

    function: Callable[..., Any]
    calls: tuple[tuple[Any, ...], ...]
    static: tuple[str, ...]
    raises: Any
    staged: bool
    staged_raises: Any
    promotes: bool
    staged_log: list[Any] | None

    @property
    def name(self) -> str:
        """`file.function`, which is how reports call it."""
        return f"{self.function.__module__.rpartition('.')[2]}.{self.function.__name__}"


CASES: list[Case] = []


def case(
    *calls: Any,
    static: tuple[str, ...] = (),
    raises: Any = None,
    staged: bool = True,
    staged_raises: Any = None,
    promotes: bool = False,
    staged_log: list[Any] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function of the corpus.

    Parameters
    ----------
    calls
        The arguments of each call.
    static
        Parameters that stay Python in the staged run.
    raises
        The exception that at least one of the calls raises in Python, and that no way may raise in
        another call or exchange for another type.
    staged
        Whether there is a staged run; Python code that has no meaning in a graph has none.
    staged_raises
        A type, or a type and a pattern of its text: every staged call raises this instead.
    promotes
        Whether a staged integer may come back as a float of the same value, as loop variables do
        that begin as int and become float.
    staged_log
        What `log` has been told after tracing; not compared without it.
    """
    rows = tuple(call if isinstance(call, tuple) else (call,) for call in calls) or ((),)

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append(
            Case(function, rows, static, raises, staged, staged_raises, promotes, staged_log)
        )
        return function

    return register


# Side effects -------------------------------------------------------------------------------------

# No list: a staged branch that changes a user's containers is refused.
_told: SimpleQueue[Any] = SimpleQueue()


def log(value: Any) -> Any:
    """Remember a value in order, and give it back: what a function does beside its result."""
    _told.put(value)
    return value


def told() -> tuple[Any, ...]:
    """What has been told since the last question."""
    return tuple(_told.get() for _ in range(_told.qsize()))


def _python_range(*bounds: Any) -> Any:
    """`kg.range` where all is Python."""
    if all(isinstance(bound, int | np.integer) for bound in bounds):
        return builtins.range(*map(int, bounds))
    if len(bounds) == 3 and bounds[2] == 0:
        raise ValueError("range: step is zero")
    return [float(x) for x in np.arange(*bounds)]


@contextlib.contextmanager
def python_values() -> Iterator[None]:
    """`kg.range` and `kg.stack` give Python and NumPy values, so that nothing is symbolic."""
    replaced = {"range": _python_range, "stack": np.stack}
    before = {name: getattr(kg, name) for name in replaced}
    for name, function in replaced.items():
        setattr(kg, name, function)
    try:
        yield
    finally:
        for name, function in before.items():
            setattr(kg, name, function)


# Runs ---------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What one call did: its result or its exception, what it told, its arguments afterwards."""

    result: Any = None
    error: BaseException | None = None
    told: tuple[Any, ...] = ()
    arguments: tuple[Any, ...] = ()


def run(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Outcome:
    """One call, with copies of the arguments."""
    told()
    own = copy.deepcopy(arguments)
    result, error = None, None
    try:
        result = function(*own)
    except Exception as raised:
        error = raised
    return Outcome(result, error, told(), own)


def run_python(function: Callable[..., Any], calls: Any) -> list[Outcome]:
    """The oracle."""
    with python_values():
        return [run(function, arguments) for arguments in calls]


def run_converted(function: Callable[..., Any], calls: Any) -> list[Outcome]:
    """The converted function on Python values; the fast path, which would run f itself, is off."""
    converted = kg.autograph.convert(function, fast=False)
    with python_values():
        return [run(converted, arguments) for arguments in calls]


def run_staged(
    function: Callable[..., Any], calls: Any, static: tuple[str, ...] = ()
) -> list[Outcome]:
    """The function as one compiled graph."""
    staged = kg.function(function, static_argnames=static)
    return [run(staged, arguments) for arguments in calls]


# Comparison ---------------------------------------------------------------------------------------


def _number(value: Any) -> bool:
    return isinstance(value, bool | int | float | np.generic | np.ndarray)


def difference(expected: Any, got: Any, *, exact: bool, promotes: bool = False) -> str | None:
    """What differs between two results, or None.

    With `exact`, types are the same as well, as of two Python runs. Without, numbers are compared
    as NumPy would: a staged 3 is an array, but an integer one.
    """
    if _number(expected) and _number(got):
        return _number_difference(expected, got, exact, promotes)
    if isinstance(expected, list) and isinstance(got, np.ndarray) and not exact:
        return _number_difference(np.asarray(expected), got, exact, promotes)
    if isinstance(expected, dict) and isinstance(got, dict):
        if list(expected) != list(got):
            return f"keys {list(got)}, expected {list(expected)}"
        pairs = [(expected[key], got[key]) for key in expected]
    elif isinstance(expected, list | tuple) and type(expected) is type(got):
        if len(expected) != len(got):
            return f"{len(got)} parts, expected {len(expected)}"
        pairs = list(zip(expected, got, strict=True))
    elif dataclasses.is_dataclass(expected) and type(expected) is type(got):
        names = [field.name for field in dataclasses.fields(expected)]
        pairs = [(getattr(expected, name), getattr(got, name)) for name in names]
    else:
        same = type(expected) is type(got) and expected == got
        return None if same else f"got {got!r}, expected {expected!r}"
    for one, other in pairs:
        found = difference(one, other, exact=exact, promotes=promotes)
        if found:
            return f"{found} in {got!r}"
    return None


def _number_difference(expected: Any, got: Any, exact: bool, promotes: bool) -> str | None:
    if exact and type(expected) is not type(got):
        return f"got a {type(got).__name__}, expected a {type(expected).__name__}"
    x, y = np.asarray(expected), np.asarray(got)
    if x.shape != y.shape:
        return f"got shape {y.shape}, expected {x.shape}"
    if x.dtype.kind != y.dtype.kind and not (promotes and x.dtype.kind + y.dtype.kind == "if"):
        return f"got {y.dtype}, expected {x.dtype}"
    tolerance = RTOL if y.dtype.kind == "f" and not exact else 0.0
    if not np.allclose(x, y, rtol=tolerance, atol=tolerance, equal_nan=True):
        return f"got {got!r}, expected {expected!r}"
    return None


def compare(expected: Outcome, got: Outcome, *, exact: bool, promotes: bool = False) -> str | None:
    """What differs between two outcomes, or None; side effects count where both were Python."""
    if expected.error is not None or got.error is not None:
        if expected.error is None or not isinstance(got.error, type(expected.error)):
            return f"got error {got.error!r}, expected {expected.error!r}"
    found = difference(expected.result, got.result, exact=exact, promotes=promotes)
    if found or not exact:
        return found
    found = difference(expected.told, got.told, exact=True)
    if found:
        return f"side effects: {found}"
    found = difference(_visible(expected.arguments), _visible(got.arguments), exact=True)
    return f"arguments afterwards: {found}" if found else None


def _visible(value: Any) -> Any:
    """Objects as their attributes, which is what a call can change of them."""
    if isinstance(value, list | tuple):
        return [_visible(part) for part in value]
    if isinstance(value, dict):
        return {key: _visible(part) for key, part in value.items()}
    if _number(value) or isinstance(value, str) or value is None or callable(value):
        return value
    return {"type": type(value).__name__, **_visible(getattr(value, "__dict__", {}))}


# The three tests of a case ------------------------------------------------------------------------


def fail(what: Case, arguments: Any, expected: Outcome, found: str, got: Outcome) -> None:
    """Report the case, the call, and the traceback of an error that was not due."""
    text = f"{what.name}{arguments}: {found}"
    if got.error is not None:
        raise AssertionError(text) from got.error
    raise AssertionError(text)


def check_python(what: Case) -> None:
    """The oracle raises what the case says and nothing else, and the calls are worth making."""
    outcomes = run_python(what.function, what.calls)
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    for arguments, outcome in zip(what.calls, outcomes, strict=True):
        if outcome.error is not None and (
            what.raises is None or not isinstance(outcome.error, what.raises)
        ):
            fail(what, arguments, Outcome(), f"Python raises {outcome.error!r}", outcome)
    assert what.raises is None or errors, f"{what.name}: no call raises {what.raises}"
    if len(outcomes) > 1:
        first = outcomes[0]
        assert any(compare(first, other, exact=True) for other in outcomes[1:]), (
            f"{what.name}: all calls have the same outcome"
        )


def check_converted(what: Case) -> None:
    """Conversion alone changes nothing."""
    expected = run_python(what.function, what.calls)
    for arguments, one, other in zip(
        what.calls, expected, run_converted(what.function, what.calls), strict=True
    ):
        found = compare(one, other, exact=True)
        if found:
            fail(what, arguments, one, found, other)


def check_staged(what: Case) -> None:
    """The compiled graph computes what Python does, or refuses as the case says."""
    expected = run_python(what.function, what.calls)
    for arguments, one, other in zip(
        what.calls, expected, run_staged(what.function, what.calls, what.static), strict=True
    ):
        found = _refusal(what, other) if what.staged_raises else None
        if not what.staged_raises:
            found = compare(one, other, exact=False, promotes=what.promotes)
        if found:
            fail(what, arguments, one, found, other)
        if what.staged_log is not None and arguments is what.calls[0]:
            assert list(other.told) == what.staged_log, f"{what.name}: logged {other.told}"


def _refusal(what: Case, got: Outcome) -> str | None:
    wanted = what.staged_raises
    kind, pattern = wanted if isinstance(wanted, tuple) else (wanted, "")
    if not isinstance(got.error, kind):
        return f"got {got.error or got.result!r}, expected {kind.__name__}"
    if not re.search(pattern, str(got.error)):
        return f"got the text {str(got.error)!r}, expected {pattern!r}"
    return None
