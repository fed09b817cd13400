"""`kg.compile`: a graph becomes one compiled function from its inputs to its outputs."""

from typing import Any

from ..array import Array
from ..control.structure import LEAF, Structure, flatten
from ..errors import ModelError
from ..node import Node
from .compiled import Function

__all__ = ["compile"]


def compile(inputs: Any, outputs: Any) -> Function:
    """Compile a graph to a function of its inputs.

    States (`kg.state`) that the outputs read or assign, and those assigned since `kg.compile` was
    last called, belong to the function: each call carries out all their assignments, in the order
    in which they were written.

    Parameters
    ----------
    inputs
        Placeholders, data or unknowns (or any array: what it is computed from is then ignored),
        whose values are given at every call: a list of the arguments. Each is an array or a
        structure of arrays (tuples, lists, dictionaries, named tuples, dataclasses) and is called
        with values in that structure, whose lists may be tuples. What is not a list or tuple is
        the only argument.
    outputs
        An array, or a structure of arrays; the function returns NumPy arrays likewise.

    Raises
    ------
    TypeError
        If something in the inputs or outputs is no array, None included. When called with another
        number of arguments, or one of another structure.
    ModelError
        If an output needs the value of an unknown or placeholder that is not an input.
    SymbolicError
        If an output or input is inside of a branch or loop.
    ShapeError
        When called with a value of another shape.
    DataError
        When called with a whole number that is too large for the input's type.
    LoopError
        When a call reaches the bound of a loop with `on_limit="error"`; states stay as they were.
    CheckError
        When a `kg.check` fails in a call; states stay as they were.
    DerivativeError
        When called with a derivative in it that a lifted function does not have.
    BoundsError
        When an index that is computed falls outside of its axis in a call; states stay as they
        were.

    Examples
    --------
    >>> import kinetograph as kg, numpy as np
    >>> x = kg.placeholder((2,), name="x")
    >>> f = kg.compile([x], [np.exp(x), x.sum()])
    >>> e, s = f([0.0, 1.0])
    >>> float(s)
    1.0

    Structures:

    >>> a, b = kg.placeholder(name="a"), kg.placeholder(name="b")
    >>> line = kg.compile([{"a": a, "b": b}, x], {"values": a + b * x, "slope": b})
    >>> line({"a": 1.0, "b": 2.0}, [0.0, 1.0])
    {'values': array([1., 3.]), 'slope': array(2.)}
    """
    whole = type(inputs) in (list, tuple)
    given, arguments = _read(list(inputs) if whole else [inputs], "input")
    wanted, results = _read(outputs, "output")
    if len({id(node) for node in given}) < len(given):
        raise ModelError("compile: an input is given twice")
    nested = any(part != LEAF for part in arguments.parts)
    return Function(given, wanted, arguments=arguments.parts if nested else None, results=results)


def _read(arrays: Any, what: str) -> tuple[list[Node], Structure]:
    """The nodes of a structure of arrays."""
    leaves, paths, structure = flatten(arrays, is_leaf=lambda value: value is None)
    for leaf, path in zip(leaves, paths, strict=True):
        if not isinstance(leaf, Array):
            number, bracket, rest = path.removeprefix("[").partition("]")
            place = f" {number}{rest}" if bracket and number.isdigit() else path
            raise TypeError(
                f"compile: {what}{place} is a {type(leaf).__name__}, not a kinetograph array"
                f"{'; kg.data(...) makes one of numbers' if what == 'output' else ''}"
            )
    return [leaf.node for leaf in leaves], structure
