"""Assignments of items: `x[i] = v` and `x[i] += v`.

An array of the graph then refers to a new value, under all its names. Lists, dictionaries and NumPy
arrays are changed in place, as in Python. But a NumPy array is replaced by an array of the graph if
the new item is symbolic, or if the statement is staged. Each function returns the owner of the
item, or its replacement.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...graph.array import Array
from ...graph.control.contexts import current_context
from ...graph.errors import StagingError, SymbolicError
from ...graph.functions.arranging import stack
from ...graph.functions.mathematics import where
from ...graph.messages import describe
from ...graph.operations.operands import as_node
from ...graph.source import place_text
from .aliases import original_of, refuse_aliases
from .shared_objects import refuse_second_name
from .undefined import Undefined
from .writing import write

__all__ = [
    "assign_item",
    "assign_item_in",
    "assign_item_of",
    "get_item",
    "item",
    "item_of",
    "set_attribute",
    "slice",
    "update_item",
    "update_item_in",
    "update_item_of",
]

slice = slice
_IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+=": operator.iadd,
    "-=": operator.isub,
    "*=": operator.imul,
    "/=": operator.itruediv,
    "//=": operator.ifloordiv,
    "%=": operator.imod,
    "**=": operator.ipow,
    "@=": operator.imatmul,
    "&=": operator.iand,
    "|=": operator.ior,
    "^=": operator.ixor,
    "<<=": operator.ilshift,
    ">>=": operator.irshift,
}


def get_item(owner: Any, index: Any) -> Any:
    """`owner[index]`, also for NumPy arrays and lists with a symbolic index."""
    if _is_symbolic(index):
        if isinstance(owner, np.ndarray):
            return Array(as_node(owner))[index]
        if type(owner) in (list, tuple):
            return _joined(owner)[index]
        if isinstance(owner, dict):
            raise SymbolicError(
                f"a dictionary is read by the symbolic key {_name(index)!r}{place_text()}: the "
                "value of the key is not known while the graph is built; use an array and an "
                "index, kg.switch, or `if`"
            )
    return owner[index]


def _name(index: Any) -> str:
    return describe(index.node) if isinstance(index, Array) else str(index)


def _joined(values: Sequence[Any]) -> Array:
    try:
        return stack(values)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"an item of a {type(values).__name__} is read by a symbolic index{place_text()}, but "
            f"its elements cannot be joined to an array: {error}"
        ) from None


def assign_item(value: Any, owner: Any, *path: Any) -> Any:
    """The owner after `owner[path[0]][path[1]]... = value`."""
    index, *inner_path = path
    if inner_path and isinstance(owner, Array):
        return write(owner, _with_item(value, owner, *path))
    if inner_path:
        inner = owner[index]
        after = assign_item(value, inner, *inner_path)
        return owner if after is inner else assign_item(after, owner, index)
    if isinstance(owner, Array):
        return write(owner, _with_item(value, owner, index))
    if isinstance(owner, np.ndarray) and _becomes_array(value, index):
        refuse_aliases(owner)
        return Array(as_node(owner)).at[index].set(value)
    if isinstance(owner, dict) and _is_symbolic(index) and current_context() is not None:
        raise SymbolicError(
            f"a dictionary gets the symbolic key {_name(index)!r} in a staged branch or loop"
            f"{place_text()}: its keys must be known while the graph is built; write into an "
            "array by index"
        )
    if isinstance(owner, tuple) and isinstance(value, Array):
        raise TypeError(
            f"an item of an array in a tuple is assigned{place_text()}: the array gets a new "
            "value, which a tuple cannot take; use a list, or a variable for the array"
        )
    refuse_second_name(owner)
    owner[index] = value
    return owner


def _with_item(value: Any, owner: Array, *path: Any) -> Array:
    """A copy of an array with another item."""
    refuse_aliases(original_of(owner), allowed=0)
    index, *inner_path = path
    if inner_path:
        value = _with_item(value, owner[index], *inner_path)
    mask = _mask(owner, index)
    if mask is not None and np.ndim(value) == 0:
        return where(mask, value, owner)
    return owner.at[index].set(value)


def _mask(owner: Array, index: Any) -> Array | None:
    """The index as a symbolic mask, of the owner's number of axes.

    None if the index is not a symbolic mask. The number of elements that a mask selects is not
    known.
    """
    if not isinstance(index, Array) or index.dtype.kind != "b" or not index.shape:
        return None
    if index.shape != owner.shape[: index.ndim]:
        return None
    return index.reshape((*index.shape, *[1] * (owner.ndim - index.ndim)))


def _is_symbolic(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return any(isinstance(part, Array) for part in parts)


def _becomes_array(value: Any, index: Any) -> bool:
    return isinstance(value, Array) or _is_symbolic(index) or current_context() is not None


class Item(NamedTuple):
    """`owner[path[0]]...`, read before the other operand is evaluated."""

    owner: Any
    path: tuple[Any, ...]
    value: Any
    holder: Any = None  # the object whose attribute the owner is
    name: str = ""


def item(owner: Any, *path: Any) -> Item:
    """`owner[path[0]]...`, as operand of an augmented assignment."""
    value = owner
    if _mask_alone(owner, path) is None:
        for index in path:
            value = get_item(value, index)
    return Item(owner, path, value)


def _mask_alone(owner: Any, path: tuple[Any, ...]) -> Array | None:
    """The symbolic mask, if it is the whole path."""
    return _mask(owner, path[0]) if isinstance(owner, Array) and len(path) == 1 else None


def item_of(holder: Any, name: str, *path: Any) -> Item:
    """`holder.name[path[0]]...`, as operand of an augmented assignment."""
    return item(getattr(holder, name), *path)._replace(holder=holder, name=name)


def update_item(word: str, place: Item, value: Any) -> Any:
    """The owner after `owner[path[0]]... += value`, or another operation."""
    inner, owner = place.value, place.owner
    mask = _mask_alone(owner, place.path)
    if mask is not None:
        return write(owner, where(mask, _combined(word, owner, value), owner))
    if isinstance(inner, np.ndarray) and isinstance(owner, np.ndarray) and isinstance(value, Array):
        inner = Array(as_node(inner))
    return assign_item(_combined(word, inner, value), owner, *place.path)


def _combined(word: str, value: Any, other: Any) -> Any:
    """`value += other`, or another operation, without changes to arrays.

    For an array of the graph the result is a new array.
    """
    combine = _IN_PLACE[word]
    return combine(value.copy(), other) if isinstance(value, Array) else combine(value, other)


def assign_item_of(value: Any, holder: Any, name: str, *path: Any) -> None:
    """`holder.name[path[0]]... = value`."""
    owner = getattr(holder, name)
    after = assign_item(value, owner, *path)
    if after is not owner:
        setattr(holder, name, after)


def update_item_of(word: str, place: Item, value: Any) -> None:
    """`holder.name[path[0]]... += value`."""
    after = update_item(word, place, value)
    if after is not place.owner:
        setattr(place.holder, place.name, after)


def assign_item_in(value: Any, owner: Any, *path: Any) -> None:
    """`owner[path[0]]... = value` if the owner is not a local variable."""
    _refuse_array(owner, lambda: assign_item(value, owner, *path))


def update_item_in(word: str, place: Item, value: Any) -> None:
    """`owner[path[0]]... += value` if the owner is not a local variable."""
    _refuse_array(place.owner, lambda: update_item(word, place, value))


def _refuse_array(owner: Any, change: Callable[[], Any]) -> None:
    if isinstance(owner, Array) or change() is not owner:
        raise SymbolicError(
            f"an item of an array is assigned{place_text()}, but the array is not in a variable of "
            "this function: arrays of the graph cannot be changed in place; declare the variable "
            "`global` or `nonlocal`, or work on a local variable"
        )


def set_attribute(holder: Any, name: str, value: Any) -> None:
    """`holder.name = value`; an undefined value deletes the attribute."""
    if isinstance(value, Undefined):
        if name in getattr(holder, "__dict__", ()):
            delattr(holder, name)
    elif getattr(holder, name, Undefined) is not value:
        try:
            setattr(holder, name, value)
        except AttributeError as error:
            raise StagingError(
                f"attribute {name!r} of a {type(holder).__name__} changes in a staged statement"
                f"{place_text()}, but cannot be assigned: {error}; keep the value in a variable"
            ) from None
