"""The function `kg.compile`, which makes a compiled function of a graph."""

from typing import Any

from ..array import Array
from ..control.structure import LEAF, Structure, flatten
from ..errors import ModelError
from ..node import Node
from ..public import public
from .compiled import Function

__all__ = ["compile"]


@public
def compile(inputs: Any, outputs: Any) -> Function:
    """Compile a graph to a function of its inputs.

    States (`kg.state`) that the outputs read or assign, and all states assigned since the last call
    of `kg.compile`, belong to the function: each call carries out all their assignments, in the
    order in which they were written.

    Parameters
    ----------
    inputs
        The list of the function's arguments: placeholders, data or unknowns, whose values are given
        in every call. Any other array may be an input, too; its computation is then ignored. An
        argument is an array or a structure of arrays (tuples, lists, dictionaries, named tuples,
        dataclasses), and calls pass values in the same structure, with lists or tuples for lists.
        If `inputs` is not a list or tuple, it is the only argument.
    outputs
        An array, or a structure of arrays. The function returns NumPy arrays in this structure.

    Raises
    ------
    TypeError
        If something in the inputs or outputs is not an array (for example None), or if a call has
        the wrong number of arguments, or an argument of another structure.
    ModelError
        If an output needs the value of an unknown or placeholder that is not an input.
    SymbolicError
        If an output or input is inside a branch or loop.
    ShapeError
        If a call passes a value of another shape.
    DataError
        If a call passes an integer that is too large for the input's type.
    LoopError
        If a loop with `on_limit="error"` reaches its bound in a call; states keep their values.
    CheckError
        If a `kg.check` fails in a call; states keep their values.
    DerivativeError
        If a call needs a derivative that a lifted function does not have.
    BoundsError
        If a computed index is outside its axis in a call; states keep their values.

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
    is_sequence = type(inputs) in (list, tuple)
    given, arguments = _read(list(inputs) if is_sequence else [inputs], "input")
    nodes, results = _read(outputs, "output")
    if len({id(node) for node in given}) < len(given):
        raise ModelError("compile: an input is given twice")
    nested = any(part != LEAF for part in arguments.parts)
    return Function(given, nodes, arguments=arguments.parts if nested else None, results=results)


def _read(arrays: Any, role: str) -> tuple[list[Node], Structure]:
    """The nodes of a structure of arrays, and the structure."""
    leaves, paths, structure = flatten(arrays, is_leaf=lambda value: value is None)
    for leaf, path in zip(leaves, paths, strict=True):
        if not isinstance(leaf, Array):
            number, bracket, path_rest = path.removeprefix("[").partition("]")
            place = f" {number}{path_rest}" if bracket and number.isdigit() else path
            raise TypeError(
                f"compile: {role}{place} is a {type(leaf).__name__}, not a kinetograph array"
                f"{'; kg.data(...) makes an array of numbers' if role == 'output' else ''}"
            )
    return [leaf.node for leaf in leaves], structure
