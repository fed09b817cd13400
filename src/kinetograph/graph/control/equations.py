"""Parts of a program of JAX, as functions."""

from collections.abc import Iterable, Sequence
from typing import Any

from jax.extend.core import ClosedJaxpr, Literal, jaxpr_as_fun

__all__ = ["part_of", "reached", "reads", "variables_of"]


def reached(jaxpr: Any, inputs: Iterable[Any]) -> set[Any]:
    """The values of a program that depend on some of its inputs."""
    dependents = set(inputs)
    for equation in jaxpr.eqns:
        if reads(equation, dependents):
            dependents.update(equation.outvars)
    return dependents


def reads(equation: Any, values: set[Any]) -> bool:
    """Whether an equation reads one of the values."""
    return any(v in values for v in variables_of(equation.invars))


def variables_of(atoms: Iterable[Any]) -> list[Any]:
    """The values that are not literal numbers."""
    return [v for v in atoms if not isinstance(v, Literal)]


def part_of(
    program: ClosedJaxpr, equations: Sequence[Any], inputs: Iterable[Any], outputs: Iterable[Any]
) -> Any:
    """Some equations of a program, as a function of the inputs."""
    jaxpr = program.jaxpr
    names = jaxpr.debug_info.with_unknown_names()
    part = jaxpr.replace(
        invars=list(inputs), outvars=list(outputs), eqns=list(equations), debug_info=names
    )
    return jaxpr_as_fun(ClosedJaxpr(part, program.consts))
