"""`kg.function`: graphs of a Python function."""

import functools
from collections.abc import Callable, Iterable
from typing import Any, overload

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
def function(
    f: Callable[..., Any] | None = None,
    *,
    static_argnames: str | Iterable[str] = (),
    strict: bool = False,
    name: str | None = None,
) -> Any:
    """Make graphs of a Python function, its `if`, `while` and `for` included.

    A decorator, `@kg.function` or `@kg.function(...)`; also of methods (below `@staticmethod` and
    `@classmethod`), lambdas and other callables.

    Called with numbers or NumPy arrays, the function is called once with placeholders for them, to
    make a graph, which is compiled, run and kept: once for each combination of shapes, types,
    structures, static arguments and working precision. It gives NumPy arrays in the structure that
    `f` returned; what is no array of the graph, such as None or a text, comes as `f` returned it.
    Called with an array of the graph, or while a graph is made in a branch, loop or other function,
    it only calls the converted `f`, so that its operations become part of that graph.

    Called with JAX arrays it gives JAX arrays, of the types that JAX's present mode has for the
    results; without JAX's 64-bit mode float32 becomes the working precision and int32 int64. It can
    be called where JAX traces (`jax.jit`, `jax.grad`, `jax.vmap`, `jax.lax.scan`, ...), unless it
    has states: these go in and out of `pure`. There a check that fails makes its floating-point
    results NaN.

    All Python in `f` but the converted control flow runs while the graph is made: a `print` prints
    once a graph, objects are as they were then, and arrays that `f` stores elsewhere (`self.h = h`)
    are arrays of that graph and of no use outside. States (`kg.state`) and effects (`kg.check`,
    `kg.print`) that `f` comes to belong to the function and happen in every call. Every graph has
    random streams of its own: `streams.seed(fn, bits)` sets those of the graphs made so far.

    Copies have states of their own. Functions at the top of a module are pickled by their name, as
    Python's are: values of states stay behind.

    Parameters
    ----------
    f
        A function of numbers and arrays, and of tuples, dictionaries, named tuples, dataclasses and
        lists of them. `bool` becomes bool, `int` int64 and `float` the working precision; a regular
        list of numbers or of such lists is one array, as in NumPy. Anything else is static. So are
        the object a method is called on, and whole numbers, booleans and tuples of them that are
        the default of a parameter which a call leaves out.
    static_argnames
        Parameters that stay what they are. There is a graph for each value of static arguments, by
        equality if they can be hashed, else by identity.
    strict
        Whether code that cannot be converted is an error, and not only a warning.
    name
        How messages call it.

    Returns
    -------
    StagedFunction

    Raises
    ------
    TypeError
        If `f` cannot be called; when called with arguments that do not fit its parameters.
    ValueError
        If a name in `static_argnames` is no parameter.
    SymbolicError, DataError
        When called with complex numbers, texts or objects in an array.
    ModelError
        When `f` needs the value of a placeholder or unknown that is no argument.

    Warns
    -----
    AutographWarning
        When there are 50 graphs.

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
