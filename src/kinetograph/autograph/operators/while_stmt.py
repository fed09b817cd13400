"""`while` statements."""

from collections.abc import Callable, Sequence
from typing import Any

from ...graph.array import Array
from ...graph.control.results import place_text
from ...graph.control.rollback import mark, rollback
from ...graph.control.structure import flatten
from ...graph.control.variables import Variables
from ...graph.control.while_loop import Options, as_bound, build, check_options
from ...graph.elementwise import WEAK, as_node
from ...graph.errors import SymbolicTruthError
from ..verbosity import report
from .branching import predicate
from .leaks import Surroundings
from .loop_state import LoopState
from .staging import building
from .unrolling import Unrolling
from .values import caller

__all__ = ["read_options", "repeat", "while_stmt", "with_first"]

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
    """A `while`: a loop of the graph if its condition is symbolic, else Python's.

    The condition is evaluated once to see which; if it is symbolic, once more inside the loop.
    """
    entry = get_state()
    moment = mark()
    first = test()
    report("while", first)
    if not isinstance(first, Array):
        _run(first, test, body, Unrolling("while"))
        return
    around = Surroundings(caller())
    tested = get_state()
    if all(a is b for a, b in zip(entry, tested, strict=True)):
        rollback(moment)
        _stage(test, body, LoopState(get_state, set_state, names), around, options)
    else:  # the condition binds variables: it belongs to the end of each iteration
        state = LoopState(get_state, set_state, names)
        _stage_judging(first, test, body, state, around, options)


def _run(first: Any, test: Callable[[], Any], body: Callable[[], None], count: Unrolling) -> None:
    value = first
    while True:
        if isinstance(value, Array):
            raise SymbolicTruthError(
                f"condition of while loop started as non-symbolic, then changed to symbolic"
                f"{place_text()}: the loop is Python's, because its condition was a Python value "
                "at first, and using a symbolic array as a Python bool is not allowed. Let the "
                "condition itself depend on an array (instead of `while True` with `break`), or "
                "start its variables as arrays, for example by kg.data(0)"
            )
        if not value:
            return
        body()
        count.step()
        value = test()


def read_options(
    maximum_iterations: Any = None,
    grad: str = "auto",
    on_limit: str = "stop",
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    swap_memory: bool = False,
    **_: Any,
) -> Options:
    """The options a user gave by `set_loop_options`, checked."""
    check_options(grad, on_limit, parallel_iterations)
    bound = as_bound(maximum_iterations)
    return Options(bound, grad, on_limit, parallel_iterations, swap_memory, shape_invariants)


def _stage(
    test: Callable[[], Any],
    body: Callable[[], None],
    state: LoopState,
    around: Surroundings,
    options: dict[str, Any],
) -> None:
    chosen = read_options(**options)
    with building("`while`", state.restore), around.held():
        state.find_types(lambda context: body())

    def going_on(numbers: Sequence[Array]) -> Any:
        state.enter(numbers, state.weak)
        return test()

    def advance(numbers: Sequence[Array], weak: Sequence[bool]) -> list[Any]:
        state.enter(numbers, weak)
        body()
        return state.leave(numbers, weak)

    with building("`while`", state.restore), around.held():
        numbers = repeat(going_on, advance, state, chosen, options.get("name"))
    around.check("`while`")
    state.finish(numbers)


def _stage_judging(
    first: Array,
    test: Callable[[], Any],
    body: Callable[[], None],
    state: LoopState,
    around: Surroundings,
    options: dict[str, Any],
) -> None:
    chosen = read_options(**options)
    go = Array(predicate(first, "while loop"))

    def iterate(context: Any) -> None:
        body()
        test()

    with building("`while`", state.restore), around.held():
        state.find_types(iterate)

    def advance(numbers: Sequence[Array], weak: Sequence[bool]) -> list[Any]:
        state.enter(numbers[1:], weak[1:])
        body()
        verdict = _verdict(test())
        return [verdict, *state.leave(numbers[1:], weak[1:])]

    with building("`while`", state.restore), around.held():
        numbers = repeat(
            lambda numbers: numbers[0], advance, state, chosen, options.get("name"), [("go", go)]
        )
    around.check("`while`")
    state.finish(numbers[1:])


def _verdict(value: Any) -> Any:
    return Array(predicate(value, "while loop")) if isinstance(value, Array) else bool(value)


def repeat(
    going_on: Callable[[Sequence[Array]], Any],
    advance: Callable[[Sequence[Array], Sequence[bool]], list[Any]],
    state: LoopState,
    options: Options,
    name: str | None,
    first: Sequence[tuple[str, Any]] = (),
) -> list[Array]:
    """A loop of the graph over the state, and over further variables in front of it."""
    own = state.loop_variables(several=True)
    idle = [] if first or own.nodes else [("idle", 0)]  # a loop has one variable at least
    variables = with_first(own, [*first, *idle])
    weak = variables.weak

    def condition(*numbers: Array) -> Any:
        verdict = going_on(() if idle else numbers)
        return Array(predicate(verdict, "while loop")) if isinstance(verdict, Array) else verdict

    def body(*numbers: Array) -> list[Any]:
        if idle:
            advance((), ())
            return [*numbers]
        return advance(numbers, weak)

    results: list[Array] = build(condition, body, variables, options, name)
    return [] if idle else results


def with_first(variables: Variables, first: Sequence[tuple[str, Any]]) -> Variables:
    """The variables, with further ones in front."""
    nodes = [as_node(value) for _, value in first] + list(variables.nodes)
    weak = [isinstance(value, WEAK) for _, value in first] + variables.weak
    paths = [path for path, _ in first] + variables.paths
    return Variables(nodes, weak, paths, flatten(nodes)[2], variables.several)
