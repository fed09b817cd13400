"""Python's built-in functions for symbolic arguments in converted code.

Each function is Python's own unless an argument is an array of the graph, or an iterable of such
arrays.
"""

import functools
from collections.abc import Callable, Iterable
from typing import Any

from ...graph.array import Array
from ...graph.checks import run_time_check
from ...graph.errors import SymbolicError
from ...graph.functions import arranging, mathematics
from ...graph.messages import describe
from ...graph.operations.elementwise import elementwise
from ...graph.operations.operands import type_of
from ...graph.ranges import Range
from ...graph.ranges import range as graph_range
from ...graph.source import place_text
from ..iterables import Rows, Sequenced, is_iterable, joined, rows_of
from .branching import predicate
from .lists import List
from .logic import and_, or_
from .python_math import MATH, scalar

__all__ = ["STAGED"]

STAGED: dict[Any, Callable[..., Any]] = dict(MATH)


def _staged(original: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        STAGED[original] = function
        return function

    return register


def _rows(value: Any) -> Rows:
    """The rows of an argument next to symbolic ones.

    A list of numbers counts as an array.
    """
    rows = rows_of(value)
    if rows is None:
        try:
            rows = rows_of(arranging.stack(list(value)))
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"a {type(value).__name__} is used next to a symbolic iterable{place_text()}, but "
                f"its elements cannot be joined to an array: {error}"
            ) from None
    assert rows is not None
    return rows


def _make(name: str, rows: Rows, arguments: Iterable[Any]) -> Sequenced:
    inner = ", ".join(describe(a.node) if isinstance(a, Array) else repr(a) for a in arguments)
    return Sequenced(rows, f"{name}({inner})")


@_staged(len)
def _len(value: Any) -> Any:
    if isinstance(value, List):
        return value.count
    if isinstance(value, Range):
        return value.length
    return len(value)


@_staged(int)
def _int(*arguments: Any, **keywords: Any) -> Any:
    if arguments and isinstance(arguments[0], Array):
        if len(arguments) > 1 or keywords:
            raise NotImplementedError(
                f"int of the symbolic {describe(arguments[0].node)} with a base{place_text()}: "
                "its digits are not known while the graph is built"
            )
        number = scalar(arguments[0], "int")
        if number.dtype.kind == "f":
            finite = Array(elementwise("isfinite", number))
            name = describe(arguments[0].node)
            run_time_check(
                finite,
                ValueError,
                f"int: {name} is NaN or infinite, not a whole number{place_text()}",
            )
        return _as_python(number, int)
    return int(*arguments, **keywords)


@_staged(float)
def _float(*arguments: Any) -> Any:
    if arguments and isinstance(arguments[0], Array):
        return _as_python(scalar(arguments[0], "float"), float)
    return float(*arguments)


@_staged(bool)
def _bool(*arguments: Any) -> Any:
    if arguments and isinstance(arguments[0], Array):
        return scalar(arguments[0], "bool").astype(bool)
    return bool(*arguments)


def _as_python(array: Array, kind: type) -> Array:
    result = array.astype(kind)
    if array.node.weak:
        result.node.weak = True
    return result


@_staged(any)
def _any(values: Any) -> Any:
    if isinstance(values, Array):
        return values.any()
    return _folded(values, or_, False)


@_staged(all)
def _all(values: Any) -> Any:
    if isinstance(values, Array):
        return values.all()
    return _folded(values, and_, True)


def _folded(values: Iterable[Any], combine: Callable[..., Any], start: bool) -> Any:
    """`any` or `all` of a Python iterable.

    As in Python, elements are read only until the result is certain.
    """
    result: Any = start
    for value in values:
        result = combine(result, functools.partial(_truth, value))
        if not isinstance(result, Array) and bool(result) is not start:
            return not start
    return result if isinstance(result, Array) else bool(result)


def _truth(value: Any) -> Any:
    return Array(predicate(value, "`any` or `all`")) if isinstance(value, Array) else bool(value)


@_staged(sum)
def _sum(values: Any, start: Any = 0) -> Any:
    return values.sum(axis=0) + start if isinstance(values, Array) else sum(values, start)


@_staged(min)
def _min(*arguments: Any, **keywords: Any) -> Any:
    return _extreme(min, mathematics.minimum, arguments, keywords)


@_staged(max)
def _max(*arguments: Any, **keywords: Any) -> Any:
    return _extreme(max, mathematics.maximum, arguments, keywords)


def _extreme(
    original: Callable[..., Any], pair: Callable[..., Array], arguments: Any, keywords: Any
) -> Any:
    if len(arguments) == 1 and isinstance(arguments[0], Array):
        array = arguments[0]
        if array.ndim != 1 or not array.size:
            raise ValueError(
                f"{original.__name__}({describe(array.node)}){place_text()}: the array has shape "
                f"{array.shape}, expected a vector with at least one element"
            )
        _refuse_key(original, keywords)
        return array.max() if original is max else array.min()
    values = list(arguments[0]) if len(arguments) == 1 else list(arguments)
    if not any(isinstance(value, Array) for value in values):
        return (
            original(values, **keywords)
            if len(arguments) == 1
            else original(*arguments, **keywords)
        )
    _refuse_key(original, keywords)
    result = functools.reduce(pair, values)
    result.node.weak = all(isinstance(type_of(value), type) for value in values)
    return result


def _refuse_key(original: Callable[..., Any], keywords: Any) -> None:
    if keywords.get("key") is not None:
        raise NotImplementedError(
            f"{original.__name__} of symbolic values with a key{place_text()}; compute the keys "
            "and use kg.argmax, kg.argmin or kg.sort"
        )


@_staged(sorted)
def _sorted(values: Any, **keywords: Any) -> Any:
    if not isinstance(values, Array):
        values = list(values)
        if not any(isinstance(value, Array) for value in values):
            return sorted(values, **keywords)
        values = arranging.stack(values)
    _refuse_key(sorted, keywords)
    if values.ndim != 1:
        raise ValueError(
            f"sorted({describe(values.node)}){place_text()}: the array has shape {values.shape}, "
            "expected a vector"
        )
    ordered = arranging.sort(values)
    return ordered[::-1] if keywords.get("reverse") else ordered


@_staged(round)
def _round(value: Any, ndigits: Any = None) -> Any:
    if isinstance(value, Array) and ndigits is None:
        return value.round().astype(int)
    return round(value, ndigits)


@_staged(range)
def _range(*arguments: Any) -> Any:
    symbolic = next((a for a in arguments if isinstance(a, Array)), None)
    if symbolic is not None:
        raise SymbolicError(
            f"range({describe(symbolic.node)}){place_text()}: Python's range needs numbers that "
            "are known while the graph is built; use kg.range, which makes a `for` a loop of the "
            "graph"
        )
    return range(*arguments)


@_staged(enumerate)
def _enumerate(values: Any, start: Any = 0) -> Any:
    if not is_iterable(values):
        return enumerate(values, start)
    inner = _rows(values)

    def at(i: Array) -> Any:
        return i + start, inner.at(i)

    if inner.xs is None or not isinstance(inner.length, int):
        return _make("enumerate", inner._replace(at=at, xs=None, of=None), [values])
    numbers = graph_range(inner.length)

    def of(row: Any) -> Any:
        return row[0] + start, inner.element(row[1])

    xs = (numbers, inner.xs)
    return _make("enumerate", inner._replace(at=at, xs=xs, of=of), [values])


@_staged(zip)
def _zip(*values: Any, strict: bool = False) -> Any:
    if not any(map(is_iterable, values)):
        return zip(*values, strict=strict)
    parts = [_rows(value) for value in values]
    if strict and len({p.length for p in parts if isinstance(p.length, int)}) > 1:
        lengths = ", ".join(str(p.length) for p in parts)
        raise ValueError(f"zip with strict=True{place_text()}: the lengths are {lengths}")
    return _make("zip", joined(parts), values)


@_staged(map)
def _map(function: Any, *values: Any) -> Any:
    from .call import converted

    converted_function = converted(function)
    if not any(map(is_iterable, values)):
        return map(converted_function, *values)
    parts = [_rows(value) for value in values]
    return _make("map", joined(parts, lambda row: converted_function(*row)), values)


@_staged(filter)
def _filter(function: Any, values: Any) -> Any:
    if is_iterable(values):
        raise NotImplementedError(
            f"filter over a symbolic array{place_text()}: the number of selected elements is not "
            "known; use an `if` in the loop, or kg.where"
        )
    from .call import converted

    return filter(converted(function), values)


@_staged(reversed)
def _reversed(values: Any) -> Any:
    if not isinstance(values, Array):
        return reversed(values)
    return values[::-1]


@_staged(iter)
def _iter(value: Any, *sentinel: Any) -> Any:
    if not sentinel and hasattr(value, "__graph_iter__"):
        return value.__graph_iter__()
    return iter(value, *sentinel)


@_staged(next)
def _next(iterator: Any, *default: Any) -> Any:
    if hasattr(iterator, "__graph_next__"):
        return iterator.__graph_next__(*default)
    return next(iterator, *default)
