"""Results trees of given free states, in the ArviZ schema.

posterior                the targets, (chain, draw, *dims), on their constrained scale
unknowns                 the unknowns that are not targets, in the same way
sample_stats             statistics of each draw
unconstrained_posterior  the free states, `q`: `initial=` of a run reads them
observed_data, constant_data
"""

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import jax
import numpy as np

from ..bits.draws import normals
from ..graph.node import Node
from ..graph.precision import x64
from ..models.model import Model
from ..models.recorded_distributions import recorded_distributions
from ..models.recorded_unknowns import GROUP, MOST, unknowns_beside
from ..models.result_groups import as_group, data_groups, stamp
from ..models.starting_points import free_sizes
from ..optimizers.objective import Objective

__all__ = ["as_tree", "log_densities", "noise", "targets_at"]

_ROWS = 25  # rows of random numbers, or of log densities, that are computed at once
_TARGETS = 1000  # rows whose targets are computed at once
_DRAWS = 1  # purpose of the random numbers; starting points use 0


def log_densities(model: Model, free: np.ndarray) -> np.ndarray:
    """The log density of each free state.

    The program has a fixed number of rows, so that it is compiled once.
    """
    densities = []
    for begin in range(0, len(free), _ROWS):
        rows = free[begin : begin + _ROWS]
        padded = np.concatenate([rows, np.repeat(rows[:1], _ROWS - len(rows), 0)])
        densities.append(model.log_prob(padded)[: len(rows)])
    return np.concatenate(densities)


def targets_at(objective: Objective, free: np.ndarray) -> list[np.ndarray]:
    """The values of the targets at each free state.

    The program has a fixed number of rows, so that it is compiled once.
    """
    blocks = []
    for begin in range(0, len(free), _TARGETS):
        rows = free[begin : begin + _TARGETS]
        padded = np.concatenate([rows, np.repeat(rows[:1], _TARGETS - len(rows), 0)])
        blocks.append([value[: len(rows)] for value in objective.targets(padded)])
    return [np.concatenate(values) for values in zip(*blocks, strict=True)]


def noise(key: np.ndarray, count: int, size: int, first: int = 0) -> np.ndarray:
    """`count` rows of the key's standard normal numbers, from row `first`."""
    with x64():
        blocks = [
            _noise(key, np.arange(begin, begin + _ROWS, dtype=np.int32), size)
            for begin in range(first, first + count, _ROWS)
        ]
    return np.concatenate(blocks)[:count]


@partial(jax.jit, static_argnums=2)
def _noise(key: Any, events: Any, size: int) -> Any:
    return jax.vmap(lambda event: normals(key, event, _DRAWS, size))(events)


def _unknowns_at(model: Model, free: np.ndarray) -> dict[str, tuple[Node, np.ndarray]]:
    """The values of the unknowns that are not targets, by name."""
    unknowns = unknowns_beside(model, model.targets, MOST)
    values = model.transform(free[None]) if unknowns else {}
    return {model.name(v): (v, values[model.name(v)]) for v in unknowns}


def as_tree(
    objective: Objective,
    free: np.ndarray,
    statistics: Mapping[str, np.ndarray],
    attributes: Mapping[str, Any],
    more: Mapping[str, Any] | None = None,
    chains: int = 1,
) -> Any:
    """The results tree of draws of the free state.

    `more` are additional groups. With several chains, the draws of each one follow each other.
    """
    import xarray as xr

    from ..models.results_tree import tree_of

    model, lead = objective.model, ("chain", "draw")

    def by_chain(values: np.ndarray) -> np.ndarray:
        return values.reshape(chains, -1, *values.shape[1:])

    named = zip(model.target_names, model.targets, targets_at(objective, free), strict=True)
    named_draws = {name: (node, by_chain(values)) for name, node, values in named}
    group = as_group(model, named_draws, lead)
    by_name = _unknowns_at(model, free).items()
    unknowns = {name: (node, by_chain(values[0])) for name, (node, values) in by_name}
    labels = {"chain": np.arange(chains), "draw": np.arange(len(free) // chains)}
    of_draws = {name: (lead, by_chain(values)) for name, values in statistics.items()}
    groups = {
        "posterior": group,
        **({GROUP: as_group(model, unknowns, lead)} if unknowns else {}),
        "sample_stats": xr.Dataset(of_draws, labels),
        "unconstrained_posterior": xr.Dataset({"q": ((*lead, "q_dim_0"), by_chain(free))}, labels),
        **(more or {}),
        **data_groups(model),
    }
    for dataset in groups.values():
        dataset.attrs.update(stamp())
    tree = tree_of(groups)
    tree.attrs.update(stamp() | dict(attributes) | {"unknowns": json.dumps(free_sizes(model))})
    tree.attrs.update(recorded_distributions(model))
    return tree
