"""`kg.function`: a Python function that runs as compiled graphs."""

import functools
from collections.abc import Callable, Iterable
from typing import Any, overload

from ..graph.public import public
from .staged_function import StagedFunction

__all__ = ["function"]


@overload
def function(
    f: Callable[..., Any],
    *,
    static_argnames: str | Iterable[str] = (),
    strict: bool = False,
    name: str | None = None,
) -> StagedFunction: ...
@overload
def function(
    f: None = None,
    *,
    static_argnames: str | Iterable[str] = (),
    strict: bool = False,
    name: str | None = None,
) -> Callable[[Callable[..., Any]], StagedFunction]: ...
@public
def function(
    f: Callable[..., Any] | None = None,
    *,
    static_argnames: str | Iterable[str] = (),
    strict: bool = False,
    name: str | None = None,
) -> Any:
    """Compile a Python function to graphs, with its `if`, `while` and `for`.

    It is a decorator, `@kg.function` or `@kg.function(...)`, of functions, methods (below
    `@staticmethod` and `@classmethod`), lambdas and other callables.

    At the first call with numbers or NumPy arrays, `f` is called once with placeholders for them.
    The resulting graph is compiled, run and kept for later calls. There is one graph for each
    combination of shapes, types, structures, static arguments and working precision. The results
    are NumPy arrays in the structure that `f` returned; values that are not arrays of the graph,
    such as None or a text, are returned as `f` returned them. A call with an array of the graph, or
    a call inside a branch, a loop or another function whose graph is being made, only calls the
    converted `f`, so that its operations become part of that graph.

    A call with JAX arrays gives JAX arrays, with the types of JAX's present mode; without JAX's
    64-bit mode float32 becomes the working precision and int32 becomes int64. The function can be
    called where JAX traces (`jax.jit`, `jax.grad`, `jax.vmap`, `jax.lax.scan`, ...), unless it has
    states: use `pure` then, which takes and returns them. Inside a JAX trace, a check that fails
    makes the floating-point results of the function NaN.

    All Python code in `f`, except for the converted control flow, runs only while the graph is
    made: a `print` prints once for each graph, objects keep the values that they had then, and
    arrays that `f` stores elsewhere (`self.h = h`) are arrays of that graph and cannot be used
    outside. States (`kg.state`) and effects (`kg.check`, `kg.print`) in `f` belong to the function
    and happen at each call. Each graph has its own random streams: `streams.seed(fn, bits)` seeds
    the streams of the graphs made so far.

    A copy has its own states. Functions at the top of a module are pickled by their name, as Python
    pickles functions: the values of states are not pickled.

    Parameters
    ----------
    f
        A function of numbers and arrays, and of tuples, dictionaries, named tuples, dataclasses and
        lists of them. `bool` becomes bool, `int` becomes int64 and `float` becomes the working
        precision; a regular list of numbers or of such lists is one array, as in NumPy. Other
        values are static. The object on which a method is called is static, too, and so are
        defaults that are whole numbers, booleans or tuples of them, if a call leaves them out.
    static_argnames
        Parameters whose values do not become arrays. There is a graph for each value of static
        arguments, by equality if they can be hashed, and otherwise by identity.
    strict
        Whether code that cannot be converted is an error, and not only a warning.
    name
        The name of the function in messages.

    Returns
    -------
    StagedFunction

    Raises
    ------
    TypeError
        If `f` cannot be called; at a call, if the arguments do not fit the parameters.
    ValueError
        If a name in `static_argnames` is not a parameter.
    SymbolicError, DataError
        At a call with complex numbers, texts or objects in an array.
    ModelError
        If `f` needs the value of a placeholder or unknown that is not an argument.

    Warns
    -----
    AutographWarning
        When 50 graphs have been made.

    Examples
    --------
    >>> import kinetograph as kg
    >>> @kg.function
    ... def first_above_three(x):
    ...     i = 0
    ...     while i < x:
    ...         if i > 3:
    ...             return i
    ...         i += 1
    ...     return i
    >>> int(first_above_three(2)), int(first_above_three(9))
    (2, 4)

    Rows of an array:

    >>> @kg.function
    ... def products(t):
    ...     s = 0.0
    ...     for r in t:
    ...         s = s + r[0] * r[1]
    ...     return s
    >>> float(products([[1, 2], [3, 4]]))
    14.0

    States:

    >>> calls = kg.state(0, name="calls")
    >>> @kg.function
    ... def count(x):
    ...     calls.assign_add(1)
    ...     return x * calls
    >>> int(count(10)), float(count(10.0))
    (10, 20.0)
    >>> int(count.state[calls])
    2
    """
    if f is None:
        return functools.partial(
            function, static_argnames=static_argnames, strict=strict, name=name
        )
    if isinstance(f, StagedFunction):
        f = f.python_function
    if isinstance(f, (staticmethod, classmethod)):
        raise TypeError(f"function: write @kg.function below @{type(f).__name__}, next to the def")
    if not callable(f):
        raise TypeError(f"function: f must be callable, got {type(f).__name__}")
    return StagedFunction(f, static_argnames, strict, name)
