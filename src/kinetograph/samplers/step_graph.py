"""The graph of `init` or `step`, and its evaluation."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import jax.numpy as jnp

from ..autograph.building import building
from ..graph.control.state import Cell, Versions, top_level
from ..graph.lower import Environment, Scope, evaluate
from ..graph.node import Apply, Data, Node, ancestors
from ..kernels.contract import Space
from ..kernels.noise import Noise
from ..kernels.step_checks import refuse_cells, refuse_effects, refuse_elsewhere
from ..kernels.tracing_checks import watched
from ..models.bound_density import BoundDensity
from .noise import NUMBERS
from .sampler import HERE, Sampler
from .session import EVALUATING, Session

__all__ = ["StepGraph", "build"]


@contextmanager
def _staging(session: Session) -> Iterator[None]:
    before, HERE.session = HERE.session, session
    try:
        yield
    finally:
        HERE.session = before


class StepGraph:
    """The graph of a method, with inputs by name, results and states."""

    def __init__(self, session: Session, results: list[Node], versions: Versions) -> None:
        self.inputs = session.inputs
        self.results = results
        self.session = session
        cells = {session.gradients, session.values, session.trips, *session.records.values()}
        cells.update(session.of_walkers)
        refuse_cells(
            session.where, (c for c in versions.entered if c not in cells and not _of_noise(c))
        )
        self.entered = {cell: node for cell, node in versions.entered.items() if cell in cells}
        self.latest = {cell: versions.latest[cell] for cell in self.entered}
        outputs = [*results, *self.latest.values()]
        given = {*self.inputs.values(), *self.entered.values()}
        refuse_elsewhere(session.where, outputs, given, session.begun)
        refuse_effects(session.where, [*outputs, *versions.effects.values()])
        self.noise = _noise_alone(outputs, self.inputs)

    def draw(self, noise: Noise) -> list[Any]:
        """The tensors of `noise`, the random arrays that depend on nothing else."""
        values = {"key": noise.key, "event": noise.event}
        environment: Environment = {self.inputs[name]: value for name, value in values.items()}
        evaluate(self.noise, environment)
        return [environment[node] for node in self.noise]

    def run(
        self, density: BoundDensity, values: Mapping[str, Any], drawn: Sequence[Any] = ()
    ) -> tuple[list[Any], dict[Cell, Any]]:
        """The tensors of the results and of the final states.

        `drawn` are the tensors of `noise`, if they have been computed.
        """
        environment: Environment = {node: values[name] for name, node in self.inputs.items()}
        environment |= zip(self.noise, drawn, strict=False)
        for cell, node in self.entered.items():
            environment[node] = jnp.asarray(cell.initial)
        before, EVALUATING.density = EVALUATING.density, density
        try:
            scope = Scope()
            evaluate([*self.results, *self.latest.values()], environment, scope=scope)
        finally:
            EVALUATING.density = before
        results = [environment[node] for node in self.results]
        for trips in scope.trips.values():
            # A derivative that the step takes of a loop is wrong if the loop's capacity overflowed.
            results = [
                jnp.where(trips.overflowed, jnp.nan, x) if x.dtype.kind == "f" else x
                for x in results
            ]
        return results, {cell: environment[node] for cell, node in self.latest.items()}


def _of_noise(cell: Cell) -> bool:
    return hasattr(cell, "begin")


def _noise_alone(outputs: Sequence[Node], inputs: Mapping[str, Node]) -> list[Node]:
    """Random arrays that depend on key and transition alone."""
    alone: set[Node] = {inputs["key"], inputs["event"]}
    arrays: list[Node] = []
    for node in ancestors(outputs):
        if isinstance(node, Apply) and node.parents and alone.issuperset(node.parents):
            alone.add(node)
            if node.operation is NUMBERS:
                arrays.append(node)
        elif isinstance(node, Data):
            alone.add(node)
    return arrays


def build(
    sampler: Sampler, space: Space, method: str, body: Callable[[Session], list[Node]]
) -> StepGraph:
    """Build the graph of `init` or `step`.

    `body` returns the nodes of its results.
    """
    with building():
        session = Session(sampler, space, method)
        with _staging(session), watched(sampler, session.where):
            results = body(session)
        return StepGraph(session, results, top_level())
