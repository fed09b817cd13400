"""Directives for the converter: options of loops, and types of lists."""

from typing import Any, Literal

from ..graph.public import public

__all__ = ["set_element_type", "set_loop_options"]


@public
def set_loop_options(
    *,
    shape_invariants: Any = None,
    maximum_iterations: Any = None,
    parallel_iterations: int = 10,
    swap_memory: bool = False,
    grad: Literal["auto", "stack", "checkpoint", "forward", "none"] | str = "auto",
    on_limit: Literal["stop", "error"] | str = "stop",
    name: str | None = None,
) -> None:
    """Set the options of a loop whose first statement this is.

    The options are the options of `kg.while_loop`. They have no effect on a loop that runs as
    Python.

    Parameters
    ----------
    shape_invariants
        Shapes of the loop variables; shapes that grow are refused.
    maximum_iterations
        The largest number of trips.
    parallel_iterations, swap_memory
        Hints from TensorFlow, without effect.
    grad
        The method by which reverse derivatives get the values of all trips; see `kg.while_loop`.
    on_limit
        `"stop"`: the loop ends at `maximum_iterations`; `"error"`: if the condition of the loop is
        then still true, a compiled function raises LoopError.
    name
        The name of the loop in messages and drawings.

    Raises
    ------
    ValueError
        When the function is converted: if this is not the first statement of a loop, or an option
        is unknown.

    Examples
    --------
    >>> import kinetograph as kg
    >>> @kg.function
    ... def halvings(x):
    ...     n = 0
    ...     while x > 1:
    ...         kg.autograph.set_loop_options(maximum_iterations=100)
    ...         x = x / 2
    ...         n = n + 1
    ...     return n
    >>> int(halvings(1000.0))
    10
    """


@public
def set_element_type(
    values: list[Any], dtype: Any = None, shape: Any = (), capacity: int | None = None
) -> None:
    """Allow a Python list to grow inside loops of the graph.

    In converted code, where the call must be a statement, the list becomes a `kg.autograph.List`: a
    buffer for `capacity` elements of one shape and type, and their number. In other code the call
    has no effect, and the list stays a Python list.

    Parameters
    ----------
    values
        The variable that holds the list; elements that it already has stay in it.
    dtype
        The type of the elements; by default the working precision.
    shape
        The shape of each element.
    capacity
        The largest number of elements. A compiled function that appends more raises an error.

    Examples
    --------
    >>> import kinetograph as kg
    >>> @kg.function
    ... def collatz(n):
    ...     numbers = []
    ...     kg.autograph.set_element_type(numbers, int, capacity=200)
    ...     while n != 1:
    ...         numbers.append(n)
    ...         n = n // 2 if n % 2 == 0 else 3 * n + 1
    ...     return len(numbers), numbers[0]
    >>> count, first = collatz(7)
    >>> int(count), int(first)
    (16, 7)
    """
