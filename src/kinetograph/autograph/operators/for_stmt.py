"""Staged and Python `for` statements."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...graph.array import Array
from ...graph.control.contexts import WhileContext
from ...graph.control.rollback import mark, rollback
from ...graph.control.scan import build as build_scan
from ...graph.control.structure import flatten
from ...graph.control.while_loop import Options
from ...graph.errors import StagingError
from ...graph.node import Node
from ...graph.operations.operands import as_node
from ...graph.ranges import range as graph_range
from ...graph.source import place_text
from ..iterables import Rows, rows_of
from ..verbosity import report
from .first_trip import first_trip
from .index_loops import stage_index_loop
from .logic import and_
from .loop_state import LoopState
from .python_for import PythonLoop
from .shared_objects import linked
from .side_effects import Surroundings
from .staging import building
from .values import caller
from .while_stmt import after_trips, read_options, repeat, with_first
from .writing import may_be, seen_as

__all__ = ["for_stmt"]

Access = Callable[[], tuple[Any, ...]]
Assign = Callable[[tuple[Any, ...]], None]


def for_stmt(
    iterated: Any,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], None],
    get_state: Access,
    set_state: Assign,
    names: Sequence[str],
    index_names: Sequence[str] = (),
    **options: Any,
) -> None:
    """A `for`: staged over arrays and other objects with `Rows`.

    Over other iterables the loop runs in Python. `extra_test` says after each trip whether the loop
    continues; it is given if the loop has `break` or `return`. If its result becomes symbolic in a
    Python loop, the remaining part of a `range` becomes a loop of the graph; for other iterables,
    each remaining element gets a branch that is taken if the loop continues. `index_names` are the
    names in a body that uses its element only as an index: a long `range` is then staged, too.

    Raises
    ------
    StagingError
        If the loop has no end.
    NotImplementedError
        If `break` or `return` is not supported for the iterable.
    """
    report("for", iterated)
    rows = rows_of(iterated)
    trips = 0
    if rows is None:
        loop = PythonLoop(iterated, extra_test, body)
        stage = partial(_stage_range, body, get_state, set_state, names)
        if index_names and stage_index_loop(loop, index_names, stage, get_state, set_state):
            return
        if loop.run():
            return
        if not isinstance(iterated, range):
            loop.stage_remaining(get_state, set_state, names)
            return
        trips = loop.trips
        rows = _range_rows(iterated[trips:])
        report("for", rows)
    if extra_test is not None and not rows.early_exit:
        raise _no_early_exit(iterated, names)
    if isinstance(rows.length, int) and rows.length <= 0:
        return
    if rows.length is None and extra_test is None:
        raise StagingError(
            f"this `for` never ends{place_text()}: its iterable, {iterated!r}, has no end; "
            "leave the loop by break or return, or take a number of elements"
        )
    access = get_state, set_state, names
    _stage(rows, extra_test, body, access, options, after_trips(read_options(**options), trips))


def _stage(
    rows: Rows,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], None],
    access: tuple[Access, Assign, Sequence[str]],
    options: Mapping[str, Any],
    loop_options: Options,
    begun: bool = False,
    followed: Sequence[int] = (),
) -> None:
    """Build the loop of the graph.

    `begun` says that its first trip was built separately. `followed` are loop variables that the
    loop runs over and writes into: each trip reads their present values.
    """
    moment = mark()
    around = Surroundings(caller(), access[2])
    check = partial(around.check, "`for`")
    state = LoopState(*access)
    if followed:
        rows = _current_rows(rows, state, followed)
    target = body.__code__.co_varnames[0].rstrip("_0123456789")  # type: ignore[attr-defined]
    all_elements = isinstance(rows.length, int) and extra_test is None and not options
    at_least_once = isinstance(rows.length, int) and "maximum_iterations" not in options
    with building("`for`", state.restore), around.arrays_frozen():
        state.find_types(lambda context: body(_some_element(rows, context)))
    check()
    if not begun and (state.new_keys or (state.new_attributes and not at_least_once)):
        remaining = _after_first(rows, body, state, loop_options)
        _stage(remaining, extra_test, body, access, options, after_trips(loop_options, 1), True)
        return
    with building("`for`", state.restore) as written, around.arrays_frozen():
        if all_elements:
            numbers = state.built(lambda: _scan(rows, body, state, target), check)
        else:
            counter = target if rows.xs is None else f"the number of {target}"
            name = options.get("name")
            numbers = state.built(
                lambda: _repeat(rows, extra_test, body, state, loop_options, name, counter), check
            )
    check()
    written_variables = _written_rows(rows, state)
    if written_variables:
        rollback(moment)
        state.restore()
        _stage(rows, extra_test, body, access, options, loop_options, begun, written_variables)
        return
    written.refuse_outer("`for`")
    if rows.done is not None:
        rows.done(rows.length if all_elements else numbers[0])
    state.finish(numbers if all_elements else numbers[1:], at_least_once)
    written.close()


def _stage_range(
    body: Callable[[Any], None],
    get_state: Access,
    set_state: Assign,
    names: Sequence[str],
    numbers: range,
) -> None:
    """Build the loop of the graph over the numbers of a `range`.

    The last trip is built first with its number, and discarded: an index that is out of range there
    raises IndexError, as in Python.
    """
    state = LoopState(get_state, set_state, names)
    around = Surroundings(caller(), names)
    with building("`for`", state.restore), around.arrays_frozen():
        state.find_types(lambda context: body(numbers[-1]), always=True)
    around.check("`for`")
    rows = _range_rows(numbers)
    _stage(rows, None, body, (get_state, set_state, names), {}, read_options())


def _written_rows(rows: Rows, state: LoopState) -> list[int]:
    """The loop variables that a loop runs over and writes into.

    Raises
    ------
    StagingError
        If it may run over an array that it writes into, but not certainly.
    """
    indices = []
    leaves = [] if rows.xs is None else flatten(rows.xs)[0]
    arrays = [leaf for leaf in leaves if isinstance(leaf, Array)]
    for index, place in state.written.items():
        array = state.numbers()[index]
        parts = [a for a in arrays if a is array or (a._of() is not None and a._of() is array)]
        if not parts and not any(linked(a, array) for a in arrays):
            continue
        if not parts:
            raise StagingError(
                f"items of an array are assigned{place} in a loop over an array that may be that "
                "array: loop over a copy, `.copy()`, or over its indices, kg.range(len(x))"
            )
        indices.append(index)
    return indices


def _current_rows(rows: Rows, state: LoopState, followed: Sequence[int]) -> Rows:
    """Rows of arrays that the loop changes, read in each trip."""

    def at(i: Array) -> Any:
        outer = state.numbers()
        pairs = [(outer[k], state.inner[k]) for k in followed]
        with seen_as(pairs):
            row = rows.at(i)
        for part in flatten(row)[0]:
            for handle, inner in pairs:
                if isinstance(part, Array) and part._of() is handle:
                    part._becomes_view_of(inner)
        return row

    return rows._replace(at=at, xs=None)


def _after_first(
    rows: Rows, body: Callable[[Any], None], state: LoopState, options: Options
) -> Rows:
    """The elements that remain after the first trip, which is built here."""
    length, done = rows.length, rows.done
    conditions: list[Any] = [length > 0] if isinstance(length, Array) else []
    if options.bound is not None:
        bound = options.bound
        conditions.append((bound if isinstance(bound, int) else Array(bound)) > 0)
    go: Any = True
    for condition in conditions:
        go = condition & go
    first_trip(go, lambda: body(rows.at(Array(as_node(np.int64(0))))), state)
    xs = rows.xs
    if xs is not None:
        leaves, _, structure = flatten(xs)
        xs = structure.fill([leaf[1:] for leaf in leaves])
    return rows._replace(
        length=None if length is None else length - 1,
        at=lambda i: rows.at(i + 1),
        xs=xs,
        done=None if done is None else lambda count: done((count + 1) * go),
    )


def _no_early_exit(iterated: Any, names: Sequence[str]) -> NotImplementedError:
    kind = type(iterated).__name__
    if any(name.startswith("do_return") for name in names):
        return NotImplementedError(
            f"a return statement cannot be placed inside this {kind} loop{place_text()}; assign "
            "to a variable and return it after the loop"
        )
    return NotImplementedError(
        f"break and return statements are not yet supported in loops over {kind}{place_text()}"
    )


def _range_rows(numbers: range) -> Rows:
    """The numbers of a `range` as rows of Python numbers."""

    def at(i: Array) -> Array:
        number: Array = numbers.start + i * numbers.step
        number.node.weak = True
        return number

    return Rows(len(numbers), at)


def _some_element(rows: Rows, context: WhileContext) -> Any:
    """An element for the body, in a trip that is discarded."""
    if rows.xs is None:
        return rows.at(Array(context.argument(as_node(np.int64(0)), "loop variable", "i")))
    leaves, paths, structure = flatten(rows.xs, "element")
    inner = [
        Array(context.argument(n, "row", path, shape=n.shape[1:]))
        for n, path in zip(map(as_node, leaves), paths, strict=True)
    ]
    return rows.element(structure.fill(inner))


def _scan(rows: Rows, body: Callable[[Any], None], state: LoopState, target: str) -> list[Array]:
    """Build a loop over all elements."""
    assert isinstance(rows.length, int)
    xs = graph_range(rows.length) if rows.xs is None else rows.xs
    leaves, paths, structure = flatten(xs, target)
    nodes: list[Node] = [as_node(leaf) for leaf in leaves]
    variables = state.loop_variables(several=False)
    idle = not variables.nodes
    if idle:
        variables = with_first(variables, [("idle", 0)])

    def advance(numbers: list[Array], row: Any) -> tuple[list[Any], None]:
        values = [] if idle else numbers
        state.enter(values)
        if rows.xs is None:
            body(rows.at(row))
        else:
            for part, array in zip(flatten(row)[0], leaves, strict=True):
                may_be(part, [array])
            body(rows.element(row))
        after = state.leave(values, variables.growing[: len(values)])
        return ([*numbers] if idle else after), None

    last, _ = build_scan(advance, variables, (nodes, paths, structure), rows.length)
    return [] if idle else last


def _repeat(
    rows: Rows,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], None],
    state: LoopState,
    options: Any,
    name: str | None,
    counter: str,
) -> list[Array]:
    """Build a loop that may end early, or has an unknown length.

    Its first variable counts the trips.
    """
    if isinstance(rows.length, int) and options.bound is None:
        options = options._replace(bound=rows.length)

    def continues(numbers: Sequence[Array]) -> Any:
        state.enter(numbers[1:])
        verdict: Any = True if rows.length is None else numbers[0] < rows.length
        if extra_test is not None:
            return and_(extra_test(), lambda: verdict)
        return verdict

    def advance(numbers: Sequence[Array], growing: Sequence[bool]) -> list[Any]:
        state.enter(numbers[1:])
        if isinstance(rows.length, int):
            numbers[0].node.interval = (0, rows.length - 1)  # type: ignore[attr-defined]
        body(rows.at(numbers[0]))
        return [numbers[0] + 1, *state.leave(numbers[1:], growing[1:])]

    first = [(counter, np.int64(0))]
    return repeat(continues, advance, state, options, name, first)
