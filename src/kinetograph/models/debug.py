"""Node by node: which value of a model is the first that is not finite, and where it was made."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..distributions.family import Distribution
from ..graph.debug import BadValues, value_text
from ..graph.lower import Environment, Scope, evaluate
from ..graph.messages import describe
from ..graph.node import Node
from ..graph.precision import x64
from .density import data_environment

if TYPE_CHECKING:
    from .model import Model

__all__ = ["Report", "TermReport", "report"]


@dataclass
class TermReport:
    """One term of the log density at the point."""

    name: str
    expression: str
    site: str
    value: float
    bad: int  # how many of its elements are not finite
    size: int
    inputs: list[str]


@dataclass
class Report:
    """What a model's nodes are worth at a point; prints as a table."""

    log_density: float
    terms: list[TermReport]
    first_bad: str | None

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


def report(model: "Model", free: np.ndarray) -> Report:
    """Evaluate the model at a free state, one node after the other, without compiling."""
    density = model.density
    scope = Scope(eager=True)
    bad = BadValues(scope, model.known_as)
    with x64():
        environment, log_jacobian = density.values(
            np.asarray(free), data_environment(model.arguments, model.argument_values), scope
        )
        # In the order of creation, so that the first bad value found is the first one made.
        evaluate(sorted(density.nodes, key=lambda node: node.serial), environment, _skip, scope)
        terms = []
        for term in density.terms:
            evaluate((*term.needs(), *term.plain_needs()), environment, scope=scope)
            value = float(term.value(environment))
            elements = np.asarray(term.elements(environment))
            terms.append(_term_report(model, term.node, environment, value, elements))
    first_bad = bad.first or next(
        (f"log density of {t.name} = {t.value:.6g}  {t.site}" for t in terms if t.bad), None
    )
    total = sum(t.value for t in terms) + float(log_jacobian)
    return Report(total, terms, first_bad)


def _skip(node: Node, environment: Environment) -> None:
    """Distributions have no value."""


def _term_report(
    model: "Model", node: Node, environment: Any, value: float, elements: np.ndarray
) -> TermReport:
    if isinstance(node, Distribution):
        assert node.target is not None
        name, expression = model.name(node.target), node.expression(model.known_as)
        named = zip(node.family.parameters, node.parents, strict=True)
        inputs = [
            f"{p.name} {describe(n, model.known_as)} = {value_text(environment[n])}"
            for p, n in named
        ]
        inputs.insert(0, f"value {name} = {value_text(environment[node.target])}")
    else:
        name, expression, inputs = "factor", describe(node, model.known_as), []
    bad = int((~np.isfinite(elements)).sum())
    return TermReport(name, expression, str(node.site or ""), value, bad, elements.size, inputs)
