"""A model whose observations can be left out without another program.

The likelihood of these observations becomes a factor with a mask,

    sum_i log p(y_i | x)   over the observations i that stay,

and the mask is an argument of the programs, like data. So the posterior without any observations,
and the log density of these observations given the other ones,

    log p(y_out | y_stay, x) = log p(y, x) - log p(y_stay, x),

come from one compiled log density, also if observations share discrete unknowns that the model
marginalises.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from ..graph.array import Array
from ..graph.errors import ModelError
from ..graph.functions.arranging import stack
from ..graph.functions.mathematics import where
from ..graph.inputs import data as make_data
from ..graph.node import Data, Node, ancestors
from ..models.ancestral.forward import not_recorded
from ..models.discovery import Component
from ..models.factor import density_at
from ..models.model import Model
from ..models.starting_points import free_states
from .observations import Observations
from .recorded_draws import recorded_of

__all__ = ["MaskedModel"]

AT_ONCE = 2**22  # numbers of the likelihood that are computed at once


class MaskedModel:
    """A model with a mask of the observations that count."""

    def __init__(self, doing: str, model: Model, observations: Observations) -> None:
        self.doing, self.original, self.observations = doing, model, observations
        old, left_out = model.component, {distribution for _, distribution in observations.parts}
        with model.its_values():
            each = [Array(density_at(doing, d, node)) for node, d in observations.parts]
            mask = make_data(np.ones(observations.shape, bool)).node
            parts, discrete = [Array(mask)], set(old.discrete)
            if len(each) > 1 and not discrete.isdisjoint(ancestors([e.node for e in each])):
                parts = list(Array(mask))  # a factor sums out its own discrete unknowns only
            elif len(each) > 1:
                each = [stack(each)]
            masked = [where(*pair, 0.0).node for pair in zip(parts, each, strict=True)]
        assert isinstance(mask, Data)
        self.mask = mask
        pairs = zip(old.likelihoods, old.observed, strict=True)
        rest = [(d, data) for d, data in pairs if d not in left_out]
        every: dict[Node, None] = dict.fromkeys([*old.nodes, *ancestors(masked)])
        component: Component = replace(
            old,
            likelihoods=[d for d, _ in rest],
            observed=[data for _, data in rest],
            factors=[*old.factors, *masked],
            nodes=sorted(every, key=lambda node: node.serial),
        )
        names = dict(model._node_names)
        names[mask] = _free_name(f"{observations.name}_kept", names.values())
        targets: dict[Node, str] = {v: names[v] for v in component.unknowns}
        _, factors, coords = model._made_of
        self.model = Model(targets, factors, component, coords, names, None, model._given_values())

    def log_prob(self, free: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """The log density at free states, with the observations in a mask."""
        self.model.values[self.mask] = np.asarray(mask, bool)
        states = free.reshape(-1, free.shape[-1])
        step = max(1, AT_ONCE // max(1, mask.size))
        parts = [self.model.log_prob(states[i : i + step]) for i in range(0, len(states), step)]
        return np.concatenate(parts).reshape(free.shape[:-1])

    def log_density_of(self, free: np.ndarray, out: np.ndarray, stay: np.ndarray) -> np.ndarray:
        """log p(y_out | y_stay, x) at free states, for masks of observations."""
        together, rest = self.log_prob(free, out | stay), self.log_prob(free, stay)
        possible = np.isfinite(rest)
        return np.where(possible, together - np.where(possible, rest, 0.0), -np.inf)

    def free(self, results: Any) -> np.ndarray | None:
        """The free states of results, (chain, draw, free_size).

        None if the results do not hold the draws of all unknowns.
        """
        draws, _ = recorded_of(self.doing, self.original, results)
        unknowns = tuple(self.original.component.unknowns)
        if not draws.values.keys() >= set(unknowns):
            return None
        return draws.by_chain(free_states(self.original, draws.of(unknowns)))

    def not_recorded(self, results: Any) -> ModelError:
        """The error of an unknown whose draws the results lack."""
        draws, names = recorded_of(self.doing, self.original, results)
        missing = [v for v in self.original.component.unknowns if v not in draws.values]
        return not_recorded(self.doing, missing[0], names)


def _free_name(name: str, used_names: Any) -> str:
    used_names = set(used_names)
    while name in used_names:
        name += "_"
    return name
