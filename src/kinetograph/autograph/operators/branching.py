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
from .merge import Merge
from .object_trees import ObjectTree, object_tree, refuse_left, settled
from .side_effects import Surroundings
from .staging import building
from .undefined import Undefined
from .values import (
    Containers,
    RecordedValue,
    caller,
    frozen,
    own_copy,
    read_value,
)
from .writing import snapshot

__all__ = ["if_exp", "if_stmt", "predicate"]

Access = Callable[[], tuple[Any, ...]]
Assign = Callable[[tuple[Any, ...]], None]


def predicate(condition: Array, statement: str) -> Node:
    """The node of a condition.

    A number is true if it is not zero, as in Python.

    Raises
    ------
    ValueError
        If the condition is not a scalar.
    """
    node = as_node(condition)
    if node.size != 1:
        raise ValueError(
            f"condition of {statement} expected to be a scalar, got {describe(node)}: "
            f"{node.dtype} of shape {node.shape}{place_text()}: the truth value of an array is "
            "ambiguous unless it has one element; use .any() or .all(); to check for None, use "
            "`is not None`"
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
    """An `if`: a symbolic condition builds both branches, other conditions run one.

    Parameters
    ----------
    condition
        The value of the condition.
    body, orelse
        The two branches.
    get_state, set_state
        Functions that read and write the variables `names`.
    names
        The variables that the branches modify: first the variables that are read later, then the
        variables that inner functions share and may read, then the variables that only the branches
        read.
    needed, shared
        The numbers of variables of the first and of the second kind.
    lenient
        Whether a variable may be bound in one branch only.
    operands
        For an `if` made from an operand of an expression: the variable that holds its value, and
        the text of the expression. Such an `if` is lenient.
    left
        For each branch that never reaches its end, "return" or "jump".
    flags
        Variables and "return" or "jump": a flag that is True at the end of a branch says that the
        branch was left in this way.
    plain
        Variables that are not read after a `return`.
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
    containers = Containers(entry)
    around = Surroundings(caller(), names)
    start = tuple(map(frozen, entry))
    contexts, values, writings = [], [], []
    trees_at_end: list[list[ObjectTree | None]] = []
    changed_containers: dict[int, Any] = {}
    name = None

    def undo() -> None:
        containers.restore()
        set_state(entry)

    for number, function in ((1, body), (0, orelse)):
        context = CondContext(pred, number, name)
        name = context.name
        set_state(tuple(map(own_copy, start)))
        with building("`if`", undo) as written, around.arrays_frozen(), context:
            function()
            state = get_state()
            trees_at_end.append(list(map(object_tree, state)))
            changed_containers |= containers.changed()
            ends = [read_value(v, n) for v, n in zip(state, names, strict=True)]
            values.append([v._replace(leaves=list(map(snapshot, v.leaves))) for v in ends])
        writings.append(written)
        contexts.append(context)
        undo()
        around.check("`if`")
    left = [
        exit_kind or _left(flags, names, ends) for exit_kind, ends in zip(left, values, strict=True)
    ]
    merge = Merge(contexts, lenient or operands is not None, left, operands)
    for index, (n, *pair) in enumerate(zip(names, *values, strict=True)):
        if n in plain:
            pair = [
                _unread(value, n, entry[index]) if exit_kind == "return" else value
                for exit_kind, value in zip(left, pair, strict=True)
            ]
        if any(map(_is_left_inside, pair, contexts)):
            merge.unread(n)
        elif index < needed:
            merge.variable(n, *pair)
        elif index < needed + shared:
            merge.variable_if_possible(n, *pair)
        else:
            merge.skip()
    after = list(entry)
    changed = {number for written in writings for number in written.handles}
    for index, result in enumerate(merge.finish(pred)[: needed + shared]):
        if result is not start[index]:
            after[index] = settled(result, [trees[index] for trees in trees_at_end], changed)
    set_state(tuple(after))
    refuse_left(changed_containers, after)
    for written in writings:
        written.close()


def _is_left_inside(value: RecordedValue, context: CondContext) -> bool:
    """Whether a variable holds an array of an inner statement.

    The inner statement did not return the array. The variable is overwritten on all paths to a
    read.
    """
    contexts = [leaf.node.context for leaf in value.leaves if type(leaf) is Array]
    return any(c is not None and c is not context and context in c.enclosing() for c in contexts)


def _left(
    flags: Sequence[tuple[str, str]], names: Sequence[str], values: Sequence[RecordedValue]
) -> str:
    """The way in which a branch was left, by its flags."""
    exits = {exit_kind for flag, exit_kind in flags if values[names.index(flag)].object is True}
    return max(exits, default="")  # a `return` before another jump


def _unread(value: RecordedValue, name: str, old: Any) -> RecordedValue:
    """The value of a variable that is not read: usually undefined.

    A list or dictionary that was there before keeps its value, because other names may refer to it.
    """
    is_shared = isinstance(value.object, (list, dict)) and value.object is old
    return value if is_shared else read_value(Undefined(name), name)


def if_exp(condition: Any, body: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """`body() if condition else orelse()`."""
    if not isinstance(condition, Array):
        return body() if condition else orelse()
    report("conditional expression", condition)
    pred = predicate(condition, "conditional expression")
    around = Surroundings(caller())
    contexts, values, writings = [], [], []
    trees_at_end = []
    name = None
    for number, function in ((1, body), (0, orelse)):
        context = CondContext(pred, number, name)
        name = context.name
        with building("conditional expression") as written, around.arrays_frozen(), context:
            result = function()
            trees_at_end.append(object_tree(result))
            value = read_value(result, "")
            values.append(value._replace(leaves=list(map(snapshot, value.leaves))))
        writings.append(written)
        contexts.append(context)
        around.check("conditional expression")
    merge = Merge(contexts)
    merge.variable("", *values)
    changed = {number for written in writings for number in written.handles}
    result = settled(merge.finish(pred)[0], trees_at_end, changed)
    for written in writings:
        written.close()
    return result
