"""The order of forward draws: each unknown from its distribution, parents first.

Values that are `given` come from elsewhere. The nodes that are `drawn` are unknowns, and data that
are simulated. Each has its own event of the cipher, derived from its name, so that its numbers do
not depend on the other nodes that are drawn.
"""

import hashlib
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...bits.source import event_source
from ...distributions.censoring import Censored
from ...distributions.increasing import Increasing
from ...distributions.variable import Distribution, Variable
from ...graph.control.control_node import Looping, everything, loops_in
from ...graph.control.state import Assigned, Read
from ...graph.errors import ModelError
from ...graph.faults import FAULT, numbered
from ...graph.lower import Environment, Scope, evaluate
from ...graph.messages import describe, site_text
from ...graph.missing import Incomplete
from ...graph.node import Data, Node, ancestors
from ..marginal.pointwise import Pointwise
from ..missing import missing_of

__all__ = ["Drawn", "Forward", "not_recorded", "plan"]


@dataclass(frozen=True)
class Drawn:
    """A node, its distribution, and the number of its event."""

    node: Node
    distribution: Distribution
    event: tuple[int, int]

    def value(self, environment: Environment, key: Any, row: Any) -> Any:
        """The numbers of one row, given the parameters' tensors."""
        family, floating = self.distribution.family, self.distribution.dtype
        assert family.draw is not None
        low, high = (np.uint32(word) for word in self.event)
        words = key[0], key[1], key[2], key[3]
        source = event_source(words, (low, high), row, self.distribution.shape, floating)
        parameters = [
            p if parameter.integer else jnp.asarray(p, floating)
            for parameter, p in zip(
                family.parameters,
                (environment[node] for node in self.distribution.parents),
                strict=True,
            )
        ]
        value = family.draw(source, *parameters)
        # Whole numbers may be observed data of a continuous distribution; its draws are not whole.
        whole = family.discrete or np.issubdtype(self.node.dtype, np.floating)
        return value.astype(self.node.dtype if whole else floating)


@dataclass(frozen=True)
class Forward:
    """A plan that computes targets from data, given values and draws."""

    targets: tuple[Node, ...]
    given: tuple[Node, ...]
    drawn: tuple[Drawn, ...]
    data: tuple[Data, ...]
    nodes: tuple[Node, ...]  # all nodes that are computed

    @cached_property
    def loops(self) -> tuple[Looping, ...]:
        """The loops among the computed nodes."""
        return tuple(dict.fromkeys(loops_in(self.nodes)))

    @cached_property
    def indices(self) -> dict[Node, int]:
        """Numbers for the nodes whose indices may fall outside of their axes."""
        return numbered(everything(self.nodes))

    @cached_property
    def size(self) -> int:
        """The number of values that a row takes."""
        return sum(node.size for node in self.nodes if not isinstance(node, Data)) + 1

    def row(
        self, key: Any, number: Any, given: Sequence[Any], data: Sequence[Any]
    ) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The targets in one row, and the reports of loops and indices."""
        scope = Scope(indices=self.indices or None)
        environment: Environment = dict(zip(self.data, data, strict=True))
        environment |= zip(self.given, given, strict=True)
        for drawn in self.drawn:
            evaluate(drawn.distribution.parents, environment, scope=scope)
            environment[drawn.node] = drawn.value(environment, key, number)
        evaluate(self.targets, environment, scope=scope)
        reports = scope.reports((*self.loops, FAULT))
        return tuple(environment[node] for node in self.targets), reports


def plan(
    doing: str,
    targets: Sequence[Node],
    given: Iterable[Node],
    simulated: Mapping[Node, Distribution],
    names: Mapping[Node, str],
    inferred: Container[Node] = (),
) -> Forward:
    """Plan the nodes that have to be drawn for the targets.

    `given` holds nodes whose values will be passed in. `simulated` holds data that are replaced by
    draws. `names` holds the names of unknowns and data. The values of `inferred` nodes come from a
    posterior, so that these nodes are not drawn.

    Raises
    ------
    ModelError
        If an unknown has no distribution that can be drawn from, or is inferred and not given; if a
        target follows from a placeholder or a state.
    """
    given_nodes = dict.fromkeys(given)
    by_node: dict[Node, Distribution] = {}
    nodes: dict[Node, None] = {}

    def stop(node: Node) -> bool:
        return node in given_nodes or node in simulated

    def sources(roots: Iterable[Node]) -> list[Node]:
        reached = ancestors(roots, stop)
        nodes.update(dict.fromkeys(reached))
        return [
            n
            for n in reached
            if n in simulated or (isinstance(n, Variable) and n not in given_nodes)
        ]

    above: dict[Node, list[Node]] = {}
    pending = sources(targets)
    while pending:
        node = pending.pop()
        if node in above:
            continue
        if node in inferred:
            raise not_recorded(doing, node, names)
        distribution = simulated.get(node)
        if distribution is None:
            distribution = getattr(node, "distribution", None)
        if distribution is None or distribution.family.draw is None:
            raise _not_drawn(doing, node, names, distribution)
        by_node[node] = distribution
        above[node] = sources(distribution.parents)
        pending += above[node]
    summed = [n for node in nodes if isinstance(node, Pointwise) for n in node.term.inner]
    nodes.update(dict.fromkeys(n for n in summed if not isinstance(n, Variable)))
    order = list(TopologicalSorter(above).static_order())
    drawn = tuple(Drawn(n, by_node[n], _event(names.get(n) or describe(n))) for n in order)
    data = tuple(n for n in nodes if isinstance(n, Data) and not n.literal and not stop(n))
    used = tuple(n for n in given_nodes if n in nodes)
    for node in everything(nodes):
        if isinstance(node, Incomplete):
            raise node.refused()
        if node.kind == "placeholder" or isinstance(node, (Read, Assigned)):
            raise _without_value(doing, node)
    return Forward(tuple(targets), used, drawn, data, tuple(nodes))


def _event(name: str) -> tuple[int, int]:
    digest = hashlib.blake2s(name.encode(), digest_size=8).digest()
    return int.from_bytes(digest[:4], "little"), int.from_bytes(digest[4:], "little")


def not_recorded(doing: str, node: Node, names: Mapping[Node, str]) -> ModelError:
    """The error of an unknown whose draws results lack."""
    name = names.get(node) or describe(node)
    data = missing_of(node)
    target = name if data is None else data.label()
    return ModelError(
        f"{doing}: {name}{site_text(node)} was inferred, but these results do not hold its draws; "
        f"make {target} a target of the model, as in kg.model(..., {target}), or give kg.mcmc "
        "keep_unknowns=True, and sample again"
    )


def _without_value(doing: str, node: Node) -> ModelError:
    if node.kind == "placeholder":
        title, hint = f"the placeholder {describe(node)}", "write it with kg.data, or a number"
    else:
        assert isinstance(node, (Read, Assigned))
        title = f"state {node.cell.title}"
        hint = "states belong to compiled functions: kg.compile"
    return ModelError(f"{doing}: a target follows from {title}{site_text(node)}; {hint}")


def _not_drawn(
    doing: str, node: Node, names: Mapping[Node, str], distribution: Distribution | None
) -> ModelError:
    name = names.get(node) or describe(node)
    if getattr(node, "distribution", None) is None and isinstance(node, Variable):
        return ModelError(
            f"{doing}: {name}{site_text(node)} is a kg.variable without a distribution, from which "
            f"nothing can be drawn; give it one, or a value by kg.calculate(..., "
            f"values={{{name!r}: ...}})"
        )
    return ModelError(
        f"{doing}: {name}{site_text(node)} cannot be drawn from its distribution"
        f"{_why_not_drawn(distribution)}"
    )


def _why_not_drawn(distribution: Distribution | None) -> str:
    """Why a distribution cannot be drawn from, and what to do."""
    if distribution is None:
        return ""
    family = distribution.family
    if isinstance(getattr(family, "base", family), Censored) or isinstance(family, Censored):
        return (
            f", {family.name}: the intervals of new values are not known; draw the values from the "
            "same distribution without censoring=, as in "
            "kg.predict(model, results, value=kg.normal(mean, sd)), or model.predict(results) of a "
            "model of kg.formula"
        )
    if isinstance(family, Increasing):
        return (
            f", {family.name}: numbers with different distributions are rarely in order if "
            "there are more than 10, or their means decrease; give all of them the same one, as in "
            "prior={'thresholds': kg.normal(0, 2)}"
        )
    return f", {family.name}: it has no function that draws; kg.distribution(..., draw=) takes one"
