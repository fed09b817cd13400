"""The derivative of a trip in two parts, before and after cotangents.

The first part is computed in the forward pass, together with the trip itself. The second part needs
some values of the first part, the residuals, which are stored for every trip. Values that depend on
captures only are not stored but computed again. Without residuals, the backward pass computes each
trip again from the carried values, which needs less memory.
"""

from collections.abc import Sequence
from typing import Any

from jax.extend.core import ClosedJaxpr

from .equations import part_of, reached, reads, variables_of
from .tensor_tuples import Tensor, Tensors, Type, Types, bytes_of

__all__ = ["Residuals"]

_TIMES, _FREE = 4, 64  # residuals may take _TIMES the bytes of the carry, plus _FREE bytes


class Residuals:
    """A program split into two parts.

    The inputs of the program are alive, carry, captures, row and cotangents; `counts` holds the
    numbers of carried values, captures and rows. The first `forward` outputs do not depend on the
    cotangents. `rows` are the places of the rows that the second part reads, and `types` the types
    of the residuals.
    """

    def __init__(self, program: ClosedJaxpr, counts: Sequence[int], forward: int) -> None:
        jaxpr = program.jaxpr
        carry, captures, row = counts
        start, end = 1 + carry, 1 + carry + captures
        after_cotangents = reached(jaxpr, jaxpr.invars[end + row :])
        varying = reached(jaxpr, [*jaxpr.invars[1:start], *jaxpr.invars[end : end + row]])
        late_equations = [e for e in jaxpr.eqns if reads(e, after_cotangents)]
        read_later = dict.fromkeys(
            v
            for v in variables_of(
                [*(v for e in late_equations for v in e.invars), *jaxpr.outvars[forward:]]
            )
            if v in varying and v not in after_cotangents
        )
        rows = jaxpr.invars[end : end + row]
        self.rows = [i for i, v in enumerate(rows) if v in read_later]
        residuals = [v for v in read_later if v not in set(rows)]
        self.types: Types = tuple(_type(v.aval) for v in residuals)
        self.gains = any(v not in set(jaxpr.invars) for v in residuals)
        early_equations = [e for e in jaxpr.eqns if not reads(e, after_cotangents)]
        from_captures = [e for e in early_equations if not reads(e, varying)]
        self.first = part_of(
            program,
            early_equations,
            jaxpr.invars[: end + row],
            [*jaxpr.outvars[:forward], *residuals],
        )
        inputs = [jaxpr.invars[0], *residuals, *jaxpr.invars[start:end]]
        inputs += [rows[i] for i in self.rows] + list(jaxpr.invars[end + row :])
        self.second = part_of(
            program, [*from_captures, *late_equations], inputs, jaxpr.outvars[forward:]
        )
        self._forward = forward

    def worth(self, carried: int, length: int, most: int) -> bool:
        """Whether to store residuals instead of the carried values.

        `carried` is the size in bytes of the carried values that would be stored for a trip
        instead. `length` is the number of trips, and `most` the largest total size in bytes.
        """
        size = bytes_of(self.types)
        return self.gains and size <= _TIMES * carried + _FREE and size * length <= most

    def forward(self, alive: Tensor, *parts: Tensors) -> tuple[Tensors, Tensors]:
        """Compute the outputs of a trip and its residuals."""
        outputs = tuple(self.first(alive, *(leaf for part in parts for leaf in part)))
        return outputs[: self._forward], outputs[self._forward :]


def _type(aval: Any) -> Type:
    return Type(aval.shape, aval.dtype)
