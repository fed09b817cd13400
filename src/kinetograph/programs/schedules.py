"""Checks of schedules: hyper-parameters that are functions of the step.

The values of a schedule are checked before the run.
"""

from typing import Any

import jax
import numpy as np

from ..graph.lower import Environment, evaluate
from ..graph.precision import x64
from ..graph.source import written_at
from ..samplers.sampler import Sampler
from ..samplers.session import Session

__all__ = ["Schedules"]

FEW = 100  # steps that are checked, evenly spaced, and the same number geometrically spaced


class Schedules:
    """The schedules of a sampler's step."""

    def __init__(self, sampler: Sampler, session: Session) -> None:
        self.sampler = sampler
        self.nodes, self.event = session.schedules, session.inputs["event"]
        self._values = jax.jit(jax.vmap(self._at))

    def _at(self, event: Any) -> list[Any]:
        environment: Environment = {self.event: event}
        evaluate(self.nodes.values(), environment)
        return [environment[node] for node in self.nodes.values()]

    def check(self, first: int, until: int) -> None:
        """Check the values at steps first, ..., until - 1.

        All of up to 100 steps are checked, and at most 200 of more.

        Raises
        ------
        ValueError
            If a value is out of its range; the message names the step.
        """
        if not self.nodes or first >= until:
            return
        even = np.linspace(first, until - 1, FEW)
        powers = np.minimum(first + np.geomspace(1, until - first, FEW) - 1, until - 1)
        steps = np.unique(np.rint(np.concatenate([even, powers])).astype(np.uint32))
        # Padded to a fixed length, so that it is compiled once.
        with x64():
            values_at_steps = self._values(np.pad(steps, (0, 2 * FEW - steps.size), mode="edge"))
        declared, title = self.sampler.declared(), type(self.sampler).__name__
        for name, values in zip(self.nodes, values_at_steps, strict=True):
            for step, value in zip(steps, np.asarray(values), strict=False):
                try:
                    declared[name].check(value if np.ndim(value) else value.item(), title)
                except ValueError as error:
                    site = written_at(self.sampler.values()[name])
                    raise ValueError(f"{error} in step {step} of its schedule{site}") from None
