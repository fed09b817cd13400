"""Staged and Python `while` statements."""

from collections.abc import Callable, Sequence
from typing import Any

from ...graph.array import Array
from ...graph.control.rollback import mark, rollback
from ...graph.control.structure import flatten
from ...graph.control.variables import Variables
from ...graph.control.while_loop import Options, as_bound, build, check_options
from ...graph.functions.mathematics import maximum
from ...graph.operations.operands import as_node, as_variable
from ..verbosity import report
from .branching import predicate
from .first_trip import first_trip
from .loop_state import LoopState
from .side_effects import Surroundings
from .staging import building
from .unrolling import Unrolling
from .values import caller

__all__ = ["after_trips", "read_options", "repeat", "while_stmt", "with_first"]

Access = Callable[[], tuple[Any, ...]]
Assign = Callable[[tuple[Any, ...]], None]


def while_stmt(
    test: Callable[[], Any],
    body: Callable[[], None],
    get_state: Access,
    set_state: Assign,
    names: Sequence[str],
    **options: Any,
) -> None:
    """A `while`: it runs in Python until its condition becomes symbolic.

    The rest is a loop of the graph. The condition is evaluated once to see whether it is symbolic;
    if it is symbolic at first, it is evaluated once more inside the loop. Trips that Python has run
    before stay as they are.
    """
    entry = get_state()
    checkpoint = mark()
    first = test()
    report("while", first)
    begins_as_python = not isinstance(first, Array)
    trips = 0
    if begins_as_python:
        first, trips = _run(first, test, body, Unrolling("while"))
        if not isinstance(first, Array):
            return
        report("while", first)
    remaining_options = after_trips(read_options(**options), trips)
    around = Surroundings(caller(), names)
    tested = get_state()
    state = LoopState(get_state, set_state, names)
    binds = not all(a is b for a, b in zip(entry, tested, strict=True))
    name = options.get("name")
    if begins_as_python or binds:
        _stage_judging(first, test, body, state, around, remaining_options, name)
        return
    rollback(checkpoint)
    with building("`while`", state.restore), around.arrays_frozen():
        state.find_types(lambda context: body())
    around.check("`while`")
    if state.new_keys or state.new_attributes:
        _stage_after_first(test(), test, body, state, remaining_options, name)
    else:
        _stage(test, body, state, around, remaining_options, name)


def _run(
    value: Any, test: Callable[[], Any], body: Callable[[], None], count: Unrolling
) -> tuple[Any, int]:
    """Run a loop in Python while its condition is not an array.

    Returns the last condition and the number of trips.
    """
    trips = 0
    while not isinstance(value, Array) and value:
        body()
        trips += 1
        count.step()
        value = test()
    return value, trips


def read_options(
    maximum_iterations: Any = None,
    grad: str = "auto",
    on_limit: str = "stop",
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    swap_memory: bool = False,
    **_: Any,
) -> Options:
    """The checked options of `set_loop_options`."""
    check_options(grad, on_limit, parallel_iterations)
    bound = as_bound(maximum_iterations)
    return Options(bound, grad, on_limit, parallel_iterations, swap_memory, shape_invariants)


def after_trips(options: Options, trips: int) -> Options:
    """The options of a loop that has already made some trips."""
    bound = options.bound
    if bound is None or not trips:
        return options
    if isinstance(bound, int):
        return options._replace(bound=max(bound - trips, 0))
    return options._replace(bound=as_node(maximum(Array(bound) - trips, 0)))


def _stage(
    test: Callable[[], Any],
    body: Callable[[], None],
    state: LoopState,
    around: Surroundings,
    options: Options,
    name: str | None,
) -> None:
    """Build the loop of the graph."""

    def continues(numbers: Sequence[Array]) -> Any:
        state.enter(numbers)
        return test()

    def advance(numbers: Sequence[Array], growing: Sequence[bool]) -> list[Any]:
        state.enter(numbers)
        body()
        return state.leave(numbers, growing)

    with building("`while`", state.restore) as written, around.arrays_frozen():
        numbers = state.built(
            lambda: repeat(continues, advance, state, options, name),
            lambda: around.check("`while`"),
        )
    around.check("`while`")
    written.refuse_outer("`while`")
    state.finish(numbers)
    written.close()


def _stage_after_first(
    first: Any,
    test: Callable[[], Any],
    body: Callable[[], None],
    state: LoopState,
    options: Options,
    name: str | None,
) -> None:
    """Build the first trip and then the loop of the remaining trips."""
    go = _verdict(first)
    if options.bound is not None:
        go = go & (_number(options.bound) > 0)
    first_trip(go, body, state)
    new_state = LoopState(state.get_state, state.set_state, state.names)
    around = Surroundings(caller(), state.names)
    _stage_judging(
        go & _verdict(test()), test, body, new_state, around, after_trips(options, 1), name, True
    )


def _number(bound: Any) -> Any:
    return bound if isinstance(bound, int) else Array(bound)


def _stage_judging(
    first: Array,
    test: Callable[[], Any],
    body: Callable[[], None],
    state: LoopState,
    around: Surroundings,
    options: Options,
    name: str | None,
    begun: bool = False,
) -> None:
    """Build a loop with its condition at the end of a trip.

    `first` is the condition of the first trip. `begun` says that the first trip of the original
    loop was built separately.
    """
    go = Array(predicate(first, "while loop"))

    def iterate(context: Any) -> None:
        body()
        test()

    with building("`while`", state.restore), around.arrays_frozen():
        state.find_types(iterate)
    around.check("`while`")
    if not begun and (state.new_keys or state.new_attributes):
        _stage_after_first(first, test, body, state, options, name)
        return

    def advance(numbers: Sequence[Array], growing: Sequence[bool]) -> list[Any]:
        state.enter(numbers[1:])
        body()
        verdict = _verdict(test())
        return [verdict, *state.leave(numbers[1:], growing[1:])]

    with building("`while`", state.restore) as written, around.arrays_frozen():
        go_variable = [("go", go)]
        numbers = state.built(
            lambda: repeat(lambda numbers: numbers[0], advance, state, options, name, go_variable),
            lambda: around.check("`while`"),
        )
    around.check("`while`")
    written.refuse_outer("`while`")
    state.finish(numbers[1:])
    written.close()


def _verdict(value: Any) -> Any:
    return Array(predicate(value, "while loop")) if isinstance(value, Array) else bool(value)


def repeat(
    continues: Callable[[Sequence[Array]], Any],
    advance: Callable[[Sequence[Array], Sequence[bool]], list[Any]],
    state: LoopState,
    options: Options,
    name: str | None,
    first: Sequence[tuple[str, Any]] = (),
) -> list[Array]:
    """Build a loop of the graph over the state.

    `first` are names and initial values of variables in front of the state.
    """
    state_variables = state.loop_variables(several=True)
    # A loop needs at least one variable.
    idle = [] if first or state_variables.nodes else [("idle", 0)]
    variables = with_first(state_variables, [*first, *idle])
    growing = variables.growing

    def condition(*numbers: Array) -> Any:
        verdict = continues(() if idle else numbers)
        return Array(predicate(verdict, "while loop")) if isinstance(verdict, Array) else verdict

    def body(*numbers: Array) -> list[Any]:
        if idle:
            advance((), ())
            return [*numbers]
        return advance(numbers, growing)

    results: list[Array] = build(condition, body, variables, options, name)
    return [] if idle else results


def with_first(variables: Variables, first: Sequence[tuple[str, Any]]) -> Variables:
    """Add variables in front of a loop's variables."""
    added = [as_variable(value) for _, value in first]
    nodes = [*added, *variables.nodes]
    growing = [node.weak for node in added] + variables.growing
    paths = [path for path, _ in first] + variables.paths
    return Variables(nodes, growing, paths, flatten(nodes)[2], variables.several)
