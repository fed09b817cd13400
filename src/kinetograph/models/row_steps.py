"""Blocks of rows, without what depends on data alone.

That part is evaluated once for each block, and its values are stored: the logarithm of a factorial
of a count, for example. What costs no more than to read a stored value is not stored.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import jax
import numpy as np

from ..graph.control.equations import part_of, reached, variables_of

__all__ = ["RowSteps"]

_CHEAP = {
    "add", "and", "broadcast_in_dim", "concatenate", "convert_element_type", "copy", "eq", "ge",
    "gt", "iota", "le", "lt", "max", "min", "mul", "ne", "neg", "not", "or", "reshape", "select_n",
    "slice", "squeeze", "stop_gradient", "sub", "transpose",
}  # fmt: skip


class RowSteps:
    """A function of free numbers, known values and a block of rows.

    `blocks` are the arrays of rows, (blocks, size, ...). Nothing is stored without `stores`, for
    rows that are larger than memory.
    """

    def __init__(
        self,
        function: Callable[[Any, Sequence[Any], Sequence[Any]], Any],
        free: Any,
        other_values: Sequence[Any],
        blocks: Sequence[Any],
        stores: bool = True,
    ) -> None:
        self._other_values, self._blocks = other_values, blocks
        rows = [jax.ShapeDtypeStruct(x.shape[1:], x.dtype) for x in blocks]
        program, form = jax.make_jaxpr(function, return_shape=True)(free, list(other_values), rows)
        self._structure = jax.tree.structure(form)
        jaxpr = program.jaxpr
        of_free = reached(jaxpr, jaxpr.invars[:1])
        of_rows = reached(jaxpr, jaxpr.invars[1 + len(other_values) :])
        costly = [e for e in jaxpr.eqns if _is_costly(e) and not of_free & {*e.outvars}]
        costly = [e for e in costly if stores and of_rows & {*e.outvars}]
        stored = {v for e in costly for v in e.outvars}
        late = [e for e in jaxpr.eqns if e not in costly]
        read = variables_of([*(v for e in late for v in e.invars), *jaxpr.outvars])
        stored_values = [v for v in dict.fromkeys(read) if v in stored]
        early = [e for e in jaxpr.eqns if e.outvars and not of_free & {*e.outvars}]
        self._first = part_of(program, early, jaxpr.invars[1:], stored_values)
        self._second = part_of(program, late, [*jaxpr.invars, *stored_values], jaxpr.outvars)

    @cached_property
    def stored(self) -> tuple[np.ndarray, ...]:
        """The stored values of all blocks, (blocks, ...)."""
        first = jax.jit(self._first)
        every = [first(*self._other_values, *block) for block in zip(*self._blocks, strict=True)]
        return tuple(np.stack(values) for values in zip(*every, strict=True))

    def __call__(
        self, free: Any, other_values: Sequence[Any], rows: Sequence[Any], stored: Sequence[Any]
    ) -> Any:
        """The value of the function, with the stored values of the block."""
        values = self._second(free, *other_values, *rows, *stored)
        return jax.tree.unflatten(self._structure, values)


def _is_costly(equation: Any) -> bool:
    return equation.primitive.name not in _CHEAP
