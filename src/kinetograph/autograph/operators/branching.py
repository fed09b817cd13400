"""`if` statements and conditional expressions."""

from collections.abc import Callable, Sequence
from typing import Any

from ...graph.array import Array
from ...graph.control.contexts import CondContext
from ...graph.messages import describe
from ...graph.node import Node
from ...graph.operations.operands import as_node
from ...graph.operations.shaping import reshape
from ...graph.source import place_text
from ..verbosity import report
from .leaks import Surroundings
from .merge import Merge
from .owned import Owned, owned, refuse_left, settled
from .staging import building
from .undefined import Undefined
from .values import (
    Containers,
    Value,
    caller,
    frozen,
    own_copy,
    read_value,
)
from .writing import snapshot

__all__ = ["if_exp", "if_stmt", "predicate"]

Access = Callable[[], tuple[Any, ...]]
Assign = Callable[[tuple[Any, ...]], None]


def predicate(condition: Array, what: str) -> Node:
    """The node of a condition: Python's truth of a number, which is whether it is not zero.

    Raises
    ------
    ValueError
        If it is not a scalar.
    """
    node = as_node(condition)
    if node.size != 1:
        raise ValueError(
            f"condition of {what} expected to be a scalar, got {describe(node)}: {node.dtype} of "
            f"shape {node.shape}{place_text()}: the truth value of an array that has not one "
            "element is ambiguous; use .any() or .all(); to check for None, use `is not None`"
        )
    if node.dtype.kind != "b":
        node = as_node(condition != 0)
    return reshape(node, ()) if node.shape else node


def if_stmt(
    condition: Any,
    body: Callable[[], None],
    orelse: Callable[[], None],
    get_state: Access,
    set_state: Assign,
    names: Sequence[str],
    needed: int,
    shared: int = 0,
    lenient: bool = False,
    operands: tuple[str, str] | None = None,
    left: Sequence[str] = ("", ""),
    flags: Sequence[tuple[str, str]] = (),
    plain: Sequence[str] = (),
) -> None:
    """An `if`: both branches are built if the condition is symbolic, else one runs.

    `names` are the variables that the branches modify: first those that are read later, `needed` in
    number, then those that functions share, and may read, then those read in the branches alone.
    In `lenient` ones it is no error if one branch alone binds a variable. `operands` tells of
    branches that evaluate the operands of an expression, which are such, which variable holds its
    value, and how it is written.
    `left` says which branches never come to their end, but leave by `return` or another `jump`, and
    `flags` which variables say so of a branch at whose end they are True: what a `return` leaves in
    `plain` variables is not read any more.
    """
    if not isinstance(condition, Array):
        report("if", condition)
        if condition:
            body()
        else:
            orelse()
        return
    report("if", condition)
    pred = predicate(condition, "if statement")
    entry = get_state()
    held = Containers(entry)
    around = Surroundings(caller(), names)
    start = tuple(map(frozen, entry))
    contexts, values, writings = [], [], []
    left_there: list[list[Owned | None]] = []
    changed_there: dict[int, Any] = {}
    name = None

    def undo() -> None:
        held.restore()
        set_state(entry)

    for number, function in ((1, body), (0, orelse)):
        context = CondContext(pred, number, name)
        name = context.name
        set_state(tuple(map(own_copy, start)))
        with building("`if`", undo) as written, around.held(), context:
            function()
            state = get_state()
            left_there.append(list(map(owned, state)))
            changed_there |= held.changed()
            found = [read_value(v, n) for v, n in zip(state, names, strict=True)]
            values.append([v._replace(leaves=list(map(snapshot, v.leaves))) for v in found])
        writings.append(written)
        contexts.append(context)
        undo()
        around.check("`if`")
    left = [way or _left(flags, names, found) for way, found in zip(left, values, strict=True)]
    merge = Merge(contexts, lenient or operands is not None, left, operands)
    for place, (n, *pair) in enumerate(zip(names, *values, strict=True)):
        if n in plain:
            pair = [
                _unread(value, n, entry[place]) if way == "return" else value
                for way, value in zip(left, pair, strict=True)
            ]
        if any(map(_is_left_inside, pair, contexts)):
            merge.unread(n)
        elif place < needed:
            merge.variable(n, *pair)
        elif place < needed + shared:
            merge.variable_if_possible(n, *pair)
        else:
            merge.skip()
    after = list(entry)
    changed = {number for written in writings for number in written.handles}
    for place, result in enumerate(merge.finish(pred)[: needed + shared]):
        if result is not start[place]:
            after[place] = settled(result, [way[place] for way in left_there], changed)
    set_state(tuple(after))
    refuse_left(changed_there, after)
    for written in writings:
        written.close()


def _is_left_inside(value: Value, context: CondContext) -> bool:
    """Whether a variable holds what a statement inside has made, and not handed back.

    Nobody reads it: it is overwritten on all ways to where it is read.
    """
    made = [leaf.node.context for leaf in value.leaves if type(leaf) is Array]
    return any(c is not None and c is not context and context in c.enclosing() for c in made)


def _left(flags: Sequence[tuple[str, str]], names: Sequence[str], values: Sequence[Value]) -> str:
    """How a branch has been left whose variables have these values, by its flags."""
    ways = {way for flag, way in flags if values[names.index(flag)].held is True}
    return max(ways, default="")  # a `return` before another jump


def _unread(value: Value, name: str, before: Any) -> Value:
    """What counts as the value of a variable that nobody reads: none, unless others may hold it."""
    kept = isinstance(value.held, (list, dict)) and value.held is before
    return value if kept else read_value(Undefined(name), name)


def if_exp(condition: Any, body: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """`body() if condition else orelse()`."""
    if not isinstance(condition, Array):
        return body() if condition else orelse()
    report("conditional expression", condition)
    pred = predicate(condition, "conditional expression")
    around = Surroundings(caller())
    contexts, values, writings = [], [], []
    left_there = []
    name = None
    for number, function in ((1, body), (0, orelse)):
        context = CondContext(pred, number, name)
        name = context.name
        with building("conditional expression") as written, around.held(), context:
            held = function()
            left_there.append(owned(held))
            found = read_value(held, "")
            values.append(found._replace(leaves=list(map(snapshot, found.leaves))))
        writings.append(written)
        contexts.append(context)
        around.check("conditional expression")
    merge = Merge(contexts)
    merge.variable("", *values)
    changed = {number for written in writings for number in written.handles}
    result = settled(merge.finish(pred)[0], left_there, changed)
    for written in writings:
        written.close()
    return result
