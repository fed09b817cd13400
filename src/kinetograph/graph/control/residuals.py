"""The derivative of a trip in two parts: what is known before the cotangents come, and the rest.

The first part is computed in the forward pass, with the trip itself. What it hands on, the
residuals, is kept of every trip; what follows from captures alone is computed again, once. Without
residuals the backward pass computes each trip anew from the values that the loop carried: that
keeps less.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from jax.extend.core import ClosedJaxpr, Literal, jaxpr_as_fun

from .flat import Tensor, Tensors, Type, Types, bytes_of

__all__ = ["Residuals"]

_TIMES, _FREE = 4, 64  # how much more may be kept than what the loop carries, and bytes besides


class Residuals:
    """A program in two parts.

    It has the inputs alive, carry, captures, row and cotangents, so many as `counts` tells, and so
    many `forward` outputs that the cotangents have nothing to do with. `rows` are the places of the
    rows that the second part reads, `types` those of what else is handed on.
    """

    def __init__(self, program: ClosedJaxpr, counts: Sequence[int], forward: int) -> None:
        jaxpr = program.jaxpr
        carry, captures, row = counts
        start, end = 1 + carry, 1 + carry + captures
        late = _reached(jaxpr, jaxpr.invars[end + row :])
        varying = _reached(jaxpr, [*jaxpr.invars[1:start], *jaxpr.invars[end : end + row]])
        own = [e for e in jaxpr.eqns if _reads(e, late)]
        wanted = dict.fromkeys(
            v
            for v in (*(v for e in own for v in e.invars), *jaxpr.outvars[forward:])
            if not isinstance(v, Literal) and v in varying and v not in late
        )
        rows = jaxpr.invars[end : end + row]
        self.rows = [i for i, v in enumerate(rows) if v in wanted]
        kept = [v for v in wanted if v not in set(rows)]
        self.types: Types = tuple(_type(v.aval) for v in kept)
        self.gains = any(v not in set(jaxpr.invars) for v in kept)
        known = [e for e in jaxpr.eqns if not _reads(e, late)]
        again = [e for e in known if not _reads(e, varying)]
        self.first = _part(
            program, known, jaxpr.invars[: end + row], [*jaxpr.outvars[:forward], *kept]
        )
        inputs = [jaxpr.invars[0], *kept, *jaxpr.invars[start:end]]
        inputs += [rows[i] for i in self.rows] + list(jaxpr.invars[end + row :])
        self.second = _part(program, [*again, *own], inputs, jaxpr.outvars[forward:])
        self._forward = forward

    def worth(self, carried: int, length: int, most: int) -> bool:
        """Whether to keep them, where so many bytes of what is carried would be kept of a trip."""
        size = bytes_of(self.types)
        return self.gains and size <= _TIMES * carried + _FREE and size * length <= most

    def forward(self, alive: Tensor, *parts: Tensors) -> tuple[Tensors, Tensors]:
        """The outputs of a trip, and what is kept of it."""
        found = tuple(self.first(alive, *(leaf for part in parts for leaf in part)))
        return found[: self._forward], found[self._forward :]


def _reached(jaxpr: Any, inputs: Iterable[Any]) -> set[Any]:
    """What depends on some inputs."""
    found = set(inputs)
    for equation in jaxpr.eqns:
        if _reads(equation, found):
            found.update(equation.outvars)
    return found


def _reads(equation: Any, values: set[Any]) -> bool:
    return any(not isinstance(v, Literal) and v in values for v in equation.invars)


def _part(program: ClosedJaxpr, equations: Any, inputs: Any, outputs: Any) -> Any:
    jaxpr = program.jaxpr
    names = jaxpr.debug_info.with_unknown_names()
    part = jaxpr.replace(
        invars=list(inputs), outvars=list(outputs), eqns=equations, debug_info=names
    )
    return jaxpr_as_fun(ClosedJaxpr(part, program.consts))


def _type(aval: Any) -> Type:
    return Type(aval.shape, aval.dtype)
