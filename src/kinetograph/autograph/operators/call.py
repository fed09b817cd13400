"""Calls in converted code: functions of the user are converted, too."""

import bisect
import heapq
import random
from collections.abc import Callable
from functools import partial, wraps
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from ...graph.array import Array
from ...graph.errors import SymbolicTruthError
from ...graph.messages import describe
from ...graph.source import place_text
from ..calling import CALLING
from .builtins import STAGED
from .frozen_draws import refuse_frozen_draw
from .shared_objects import refuse_second_name

__all__ = ["CHANGING_FIRST", "chosen", "converted", "elements"]

_HASHABLE = (type, BuiltinFunctionType)
_CHANGING = {  # methods of lists, dictionaries and NumPy arrays that change them
    *("append", "clear", "extend", "fill", "insert", "itemset", "partition", "pop", "popitem"),
    *("put", "remove", "resize", "reverse", "setdefault", "sort", "update"),
}
# Functions of Python that change the object which is their first argument.
CHANGING_FIRST = (
    *(heapq.heapify, heapq.heappop, heapq.heappush, heapq.heappushpop, heapq.heapreplace),
    *(bisect.insort_left, bisect.insort_right, random.Random.shuffle, setattr, delattr),
)


def converted(function: Any) -> Any:
    """The function to call in place of `function`.

    Raises
    ------
    StagingError
        If the call would draw a random number of Python, or change an object with two names.
    """
    if CALLING.watch is not None:
        CALLING.watch(function)
    refuse_frozen_draw(function)
    kind = type(function)
    if any(getattr(function, "__func__", function) is f for f in CHANGING_FIRST):
        return _changing_first(function)
    if kind is FunctionType:
        from ..convert import converted_callee

        return converted_callee(function)
    if kind is MethodType:
        inner = converted(function.__func__)
        return function if inner is function.__func__ else MethodType(inner, function.__self__)
    if kind is BuiltinFunctionType and function.__name__ in _CHANGING:
        refuse_second_name(function.__self__)
    if isinstance(function, _HASHABLE):
        return STAGED.get(function, function)
    if kind is partial:
        inner = converted(function.func)
        if inner is function.func:
            return function
        return partial(inner, *function.args, **function.keywords)
    call = kind.__call__ if callable(function) else None
    if type(call) is FunctionType:
        inner = converted(call)
        return function if inner is call else MethodType(inner, function)
    return function


def _changing_first(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def checked(*arguments: Any, **keywords: Any) -> Any:
        for value in (*arguments[:1], *keywords.values()):
            refuse_second_name(value)
        return function(*arguments, **keywords)

    return checked


def elements(iterated: Any) -> Any:
    """The iterable of a comprehension, which must not be a symbolic array.

    Raises
    ------
    SymbolicTruthError
        If it is a symbolic array.
    """
    if isinstance(iterated, Array) or getattr(iterated, "symbolic", False):
        raise SymbolicTruthError(
            f"a comprehension runs over a symbolic array{place_text()}: comprehensions run in "
            "Python and make lists; compute with the whole array, use kg.scan or kg.vmap, or a "
            "`for` statement, which becomes a loop of the graph. kg.stack makes an array of a list"
        )
    return iterated


def chosen(condition: Any) -> Any:
    """The condition of a comprehension, which must not be a symbolic array.

    Raises
    ------
    SymbolicTruthError
        If it is a symbolic array.
    """
    if isinstance(condition, Array):
        raise SymbolicTruthError(
            f"the condition of a comprehension is symbolic: {describe(condition.node)}"
            f"{place_text()}. The number of selected elements is not known while the graph is "
            "built; keep all elements, and make the unselected ones neutral by kg.where, or write "
            "a `for` statement with an `if`"
        )
    return condition
