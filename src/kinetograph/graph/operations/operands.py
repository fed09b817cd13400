"""Operands: how values become nodes, and which types they have.

An array already has a node. Any other value becomes a constant (`literal`), which is part of the
compiled program. A Python number takes the type of the array that it is used with. `as_variable`
makes a weak node of it, which adapts its type in the same way.
"""

from typing import Any

import jax
import numpy as np

from ..errors import SymbolicError
from ..missing import refuse_masked
from ..node import Data, Node
from ..number_advice import LABELS, advice_on, conversion, count_days
from ..precision import FLOAT64, float_dtype
from ..source import LIBRARIES, place_text, variable_here
from ..tables import name_of, row_index
from ..value_texts import in_words

__all__ = [
    "BAD_KINDS",
    "PYTHON_TYPES",
    "WEAK",
    "Operand",
    "as_node",
    "as_variable",
    "checked_dtype",
    "literal",
    "refuse_traced",
    "type_of",
]

Operand = Any
WEAK = (bool, int, float)  # Python numbers, which take the type of the array they are used with
PYTHON_TYPES = {"b": bool, "i": int, "f": float}  # the Python types of weak nodes
BAD_KINDS = "cOSUTVmM"


def literal(value: Any, dtype: np.dtype | None = None, operation: str = "") -> Data:
    """Make a constant of the compiled program, which is not an argument."""
    refuse_traced(value, operation)
    if type(value) not in WEAK:
        refuse_masked(value, operation)
    try:
        array = np.array(value, dtype)
    except (TypeError, ValueError) as error:  # ragged lists, objects that are not arrays
        if not _of_library(error):
            raise  # an error of the user's own object, or of kinetograph, explains itself
        uneven = "; its parts differ in length" if "inhomogeneous" in str(error) else ""
        raise SymbolicError(
            f"{f'{operation}: ' if operation else ''}{in_words(value)} is not an array of numbers"
            f"{place_text()}{uneven}{advice_on(value)}"
        ) from None
    if array.dtype.kind in BAD_KINDS:
        are_labels = array.size > 1 and all(isinstance(v, str) for v in array.flat)
        labels = f"; {LABELS}" if are_labels else ""
        dtype_text = "" if isinstance(value, (str, type(None))) else f" (dtype {array.dtype})"
        hint = "; arrays hold booleans, integers or real numbers"
        if array.dtype.kind in "mM":
            hint = f"; {count_days(value, array.dtype.kind)}"
        if any(isinstance(getattr(element, "node", None), Node) for element in array.flat):
            hint = "; its elements are arrays: compute with the whole column, as in column * x"
        if change := conversion(value, array):
            hint, labels = f"; {change}", ""
        if value is None and operation in ("equal", "not_equal"):
            hint = "; to test whether there is a value, write `is None` or `is not None`"
        raise SymbolicError(
            f"{f'{operation}: ' if operation else ''}{in_words(value)}{dtype_text} cannot be part "
            f"of a graph{place_text()}{advice_on(value) or hint}{labels}"
        )
    if dtype is None and array.dtype == FLOAT64 and float_dtype() is not FLOAT64:
        array = array.astype(float_dtype())
    constant = Data(array, literal=True)
    if type(value) is np.ndarray:
        constant.variable = variable_here(value) if array.size > 1 else None
    elif type(value) not in WEAK:
        constant.variable, constant.rows = name_of(value), row_index(value)
    return constant


def _of_library(error: Exception) -> bool:
    """Whether NumPy or another library raised an error, not the user's code."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is error.__traceback__ or trace is None:
        return True
    return str(trace.tb_frame.f_globals.get("__name__")).split(".")[0] in LIBRARIES


def refuse_traced(value: Any, operation: str) -> None:
    """Raise SymbolicError if a value is an array that JAX is tracing."""
    if isinstance(value, jax.core.Tracer):
        raise SymbolicError(
            f"{f'{operation}: ' if operation else ''}an array that JAX is tracing ({value.dtype}, "
            f"shape {value.shape}) has no value that could be part of a graph; pass it as an "
            "argument to the kg.function or compiled function"
        )


def as_node(value: Operand, operation: str = "") -> Node:
    """The node of an array, or a new constant for other values."""
    node = getattr(value, "node", value)
    if isinstance(node, Node):
        return node
    return literal(value, operation=operation)


def as_variable(value: Operand, operation: str = "") -> Node:
    """The node of a value; a Python number becomes weak."""
    node = as_node(value, operation)
    if type(value) in WEAK:
        node.weak = True
    return node


def type_of(value: Operand) -> Any:
    """The dtype of an array, or a Python number's type.

    A weak node represents a Python number.
    """
    node = getattr(value, "node", value)
    if isinstance(node, Node):
        return PYTHON_TYPES[node.dtype.kind] if node.weak else node.dtype
    return type(node) if type(node) in WEAK else as_node(node).dtype


def checked_dtype(dtype: Any, operation: str) -> np.dtype:
    """The dtype that the user's argument describes.

    Raises
    ------
    TypeError
        If the argument is not a dtype.
    """
    try:
        return np.dtype(dtype)
    except (TypeError, ValueError):
        raise TypeError(
            f"{operation}: {in_words(dtype)} is not a dtype, such as float, int or 'float32'"
            f"{place_text()}"
        ) from None
