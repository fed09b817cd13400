"""What a user writes to speak to the converter: options of loops, types of lists."""

from typing import Any, Literal

__all__ = ["set_element_type", "set_loop_options"]


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
    """Options of the loop in which this is the first statement, if the loop becomes graph.

    They are those of `kg.while_loop`. In a loop that runs as Python they mean nothing.

    Parameters
    ----------
    shape_invariants
        Shapes of the loop variables; shapes that grow are refused.
    maximum_iterations
        Ends the loop after so many trips.
    parallel_iterations, swap_memory
        Hints of TensorFlow's, without effect.
    grad
        How reverse derivatives get the values of all trips; see `kg.while_loop`.
    on_limit
        `"stop"`: the loop ends at `maximum_iterations`; `"error"`: if it wants to go on, a compiled
        function raises LoopError.
    name
        How messages and drawings call the loop.

    Raises
    ------
    ValueError
        When the function is converted: if it is not the first statement of a loop, or an option is
        unknown.

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


def set_element_type(
    values: list[Any], dtype: Any = None, shape: Any = (), capacity: int | None = None
) -> None:
    """Let a Python list grow inside loops that become graph.

    In converted code, where it must be a statement, the list becomes a `kg.autograph.List`: a
    buffer for `capacity` elements of one shape and type, and their number. Elsewhere it does
    nothing, and the list stays one.

    Parameters
    ----------
    values
        The variable that holds the list; what is in it already stays in it.
    dtype
        The type of the elements; by default the working precision.
    shape
        Their shape.
    capacity
        The largest number of elements. Appending more ends a compiled function with an error.

    Examples
    --------
    >>> import kinetograph as kg
    >>> @kg.function
    ... def collatz(n):
    ...     seen = []
    ...     kg.autograph.set_element_type(seen, int, capacity=200)
    ...     while n != 1:
    ...         seen.append(n)
    ...         n = n // 2 if n % 2 == 0 else 3 * n + 1
    ...     return len(seen), seen[0]
    >>> count, first = collatz(7)
    >>> int(count), int(first)
    (16, 7)
    """
