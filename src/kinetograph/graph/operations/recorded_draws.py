"""Draws of results as operands: they are numbers, and make no graph."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import SymbolicError
from ..node import Node
from ..source import place_text, variable_here
from ..tables import name_of

__all__ = ["refuse_draws"]


def refuse_draws(operation: str, value: Any, operands: Sequence[Any]) -> None:
    """Refuse draws of results if no operand is an array.

    Their function would be a constant of a graph, and numbers are meant.

    Raises
    ------
    SymbolicError
        If `value` has the dims of draws, and no operand is an array.
    """
    dims = getattr(value, "dims", None)
    if not isinstance(dims, tuple) or not {"chain", "draw"} <= set(dims):
        return
    if any(isinstance(getattr(operand, "node", operand), Node) for operand in operands):
        return
    import scipy.special  # here, because the import takes long

    name, variable = name_of(value), variable_here(value) or "draws"
    library = "np" if hasattr(np, operation) else "scipy.special"
    way_out = "compute with NumPy"
    if hasattr(np, operation) or isinstance(getattr(scipy.special, operation, None), np.ufunc):
        call = f"{library}.{operation}({variable}{', ...' if len(operands) > 1 else ''})"
        way_out = f"write {call} for numbers"
    raise SymbolicError(
        f"{operation}: the draws{f' of {name}' if name else ''} are numbers, and this function "
        f"makes arrays of a graph{place_text()}; {way_out}, and kg.data({variable}) for data of a "
        "model"
    )
