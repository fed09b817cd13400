"""Reports of a model's terms and of operations that are not finite."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ..distributions.parameter import Parameter
from ..distributions.variable import Distribution, Variable
from ..graph.bad_values import Culprits
from ..graph.control.differentiable_loop import REVERSE
from ..graph.lower import Environment, Scope, evaluate
from ..graph.messages import describe
from ..graph.node import Data, Inner, Node, ancestors
from ..graph.precision import x64
from ..graph.value_texts import value_text
from .marginal.marginal import MarginalTerm
from .term import Term

if TYPE_CHECKING:
    from .model import Model

__all__ = ["DebugReport", "TermReport", "report"]


@dataclass
class TermReport:
    """One term of the log density at the point."""

    name: str
    expression: str
    site: str
    value: float
    bad: int  # number of elements that are not finite
    size: int
    inputs: list[str]


@dataclass
class DebugReport:
    """The terms of a model at a point; prints as a table."""

    log_density: float
    terms: list[TermReport]
    first_bad: str | None
    origin: Node | None = None  # where the first bad value begins, if it depends on data alone

    @property
    def bad_terms(self) -> list[TermReport]:
        """The terms that are not finite."""
        return [t for t in self.terms if not np.isfinite(t.value)]

    def __str__(self) -> str:
        names = max([len(t.name) for t in self.terms] + [4])
        texts = max([len(t.expression) for t in self.terms] + [4])
        lines = [f"log density {self.log_density:.6g}"]
        for t in self.terms:
            row = f"  {t.name:<{names}}  {t.value:>14.6g}  {t.expression:<{texts}}  {t.site}"
            if np.isfinite(t.value):
                lines.append(row.rstrip())
                continue
            count = f" ({t.bad} of {t.size} elements)" if t.size > 1 else ""
            lines.append(f"{row}   <- not finite{count}")
            lines += [f"  {'':<{names}}      {text}" for text in t.inputs]
        if self.first_bad:
            lines.append(f"first value that is not finite: {self.first_bad}")
        return "\n".join(lines)

    __repr__ = __str__


def report(model: "Model", free: np.ndarray, slopes: bool = True) -> DebugReport:
    """Evaluate the model at a free state, node by node, without compiling.

    `slopes`: whether to compute the gradient if all terms are finite.
    """
    density, data, *_ = model.bind()
    scope = Scope(eager=True)
    culprits = Culprits(scope, model.known_as)
    with x64():
        environment, log_jacobian = density.values(np.asarray(free), data, scope)
        # In the order of creation, so that the first bad value is found first.
        evaluate(sorted(density.nodes, key=lambda node: node.serial), environment, _skip, scope)
        terms, first_bad, origin = [], None, None
        for term in density.terms:
            evaluate((*term.needs(), *term.plain_needs()), environment, scope=scope)
            value = float(term.value(environment))
            elements = np.asarray(term.elements(environment))
            if isinstance(term, MarginalTerm):
                terms.append(_marginal_report(model, term, value))
            else:
                terms.append(_term_report(model, term.node, environment, value, elements))
            if first_bad is None and not np.isfinite(value):
                first_bad = _blame(culprits, term, environment)
                origin = _from_data_alone(culprits, term, environment)
                if first_bad is None:
                    first_bad = f"log density of {terms[-1].name} = {value:.6g}  {terms[-1].site}"
    total = sum(t.value for t in terms) + float(log_jacobian)
    if slopes and first_bad is None and not np.isfinite(model.gradient(free)).all():
        first_bad = _bad_slope(model, np.asarray(free), data)
    return DebugReport(total, terms, first_bad, origin)


def _blame(culprits: Culprits, term: Term, environment: Environment) -> str | None:
    """The operation that made an operand of a term bad, or None."""
    return next(
        filter(None, (culprits.of(node, environment[node]) for node in term.plain_needs())), None
    )


def _from_data_alone(culprits: Culprits, term: Term, environment: Environment) -> Node | None:
    """The origin of the first bad operand, if data alone determine it."""
    origins = (culprits.first_number(node, environment[node]) for node in term.plain_needs())
    origin = next(filter(None, origins), None)
    nodes = () if origin is None else ancestors([origin])
    return None if any(isinstance(node, (Variable, Inner)) for node in nodes) else origin


def _bad_slope(model: "Model", free: np.ndarray, data: Environment) -> str | None:
    """The operation with the first bad derivative in the backward pass."""
    density = model.density
    scope = Scope(eager=True)
    culprits = Culprits(scope, model.known_as)
    with x64():
        environment, _ = density.values(free, dict(data), scope)
        evaluate(sorted(density.nodes, key=lambda node: node.serial), environment, _skip, scope)
        for term in density.terms:
            nodes = [n for n in dict.fromkeys(term.plain_needs()) if n.dtype.kind == "f"]
            slopes = jax.grad(
                lambda values, term=term, nodes=nodes: term.value(
                    {**environment, **dict(zip(nodes, values, strict=True))}
                )
            )([jnp.asarray(environment[n]) for n in nodes])
            for node, slope in zip(nodes, slopes, strict=True):
                if not isinstance(node, Data) and not np.isfinite(slope).all():
                    return (
                        f"the derivative of {_term_text(model, term.node)} by "
                        f"{describe(node, model.known_as)} = {value_text(slope)}  "
                        f"{term.node.site or ''}".rstrip()
                    )

        def function(anchor: Any, free: Any) -> Any:
            return density.log_density(free, data, scope=scope.derived(REVERSE, anchor))

        value, pull = jax.vjp(function, jnp.zeros(()), jnp.asarray(free))
        pull(jnp.ones_like(value))
    return culprits.of_slope()


_MOST_NAMES = 6  # discrete unknowns that are all named


def _marginal_report(model: "Model", term: MarginalTerm, value: float) -> TermReport:
    """The report of a marginal term, which combines several terms."""
    several = [describe(v, model.known_as) for v in term.discrete]
    if len(several) > _MOST_NAMES:
        several[2:] = [f"... ({len(several)} discrete unknowns)"]
    names = ", ".join(several)
    bad = int(not np.isfinite(value))
    site = str(term.discrete[0].site or "")
    return TermReport(names, "marginalised, with its dependent terms", site, value, bad, 1, [])


def _term_text(model: "Model", node: Node) -> str:
    """A term as text."""
    if isinstance(node, Distribution):
        assert node.target is not None
        return f"the log density of {model.name(node.target)} ~ {node.expression(model.known_as)}"
    return f"the factor {describe(node, model.known_as)}"


def _support_text(parameter: Parameter, value: Any) -> str:
    """The required support, if a parameter lies outside it."""
    array = np.asarray(value)
    if parameter.event_ndim or not np.isfinite(array).all():
        return ""
    inside = np.all(parameter.support.contains(array))
    return "" if inside else f"   <- must be {parameter.support.describe()}"


def _skip(node: Node, environment: Environment) -> None:
    """Skip distributions, which have no value."""


def _term_report(
    model: "Model", node: Node, environment: Any, value: float, elements: np.ndarray
) -> TermReport:
    """The report of a single term."""
    if isinstance(node, Distribution):
        assert node.target is not None
        name, expression = model.name(node.target), node.expression(model.known_as)
        named = zip(node.family.parameters, node.parents, strict=True)
        inputs = [
            f"{p.name} {describe(n, model.known_as)} = {value_text(environment[n])}"
            f"{_support_text(p, environment[n])}"
            for p, n in named
        ]
        inputs.insert(0, f"value {name} = {value_text(environment[node.target])}")
    else:
        name, expression, inputs = "factor", describe(node, model.known_as), []
    bad = int((~np.isfinite(elements)).sum())
    return TermReport(name, expression, str(node.site or ""), value, bad, elements.size, inputs)
