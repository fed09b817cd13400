"""One leg of an exploration, and the pool of rows."""

import warnings
from typing import NamedTuple

import numpy as np

from ...graph.errors import KinetographWarning
from ...runs.mcmc import mcmc
from ...samplers.sampler import Sampler
from ..landscape import Landscape

__all__ = ["Leg", "pool", "random_starts", "sampled_leg"]


class Leg(NamedTuple):
    """The rows of a leg, with potential and gradient norm.

    `draws` has the shape (chain, draw, size); each walker is a chain.
    """

    draws: np.ndarray
    potential: np.ndarray
    gradient_norm: np.ndarray


def random_starts(landscape: Landscape, count: int, seed: int) -> np.ndarray:
    """Initial parameters of the network, (count, size)."""
    import jax

    width = np.shape(landscape.outputs(np.zeros(landscape.size), landscape.x[:1]))[-1]
    keys = [jax.random.fold_in(jax.random.key(seed), i) for i in range(count)]
    trees = [landscape.network.start(key, landscape.x[0], width) for key in keys]
    vectors = np.stack([np.asarray(landscape.layout.vector(tree), float) for tree in trees])
    return vectors[:, landscape.layout.free]


def sampled_leg(
    landscape: Landscape,
    sampler: Sampler,
    starts: np.ndarray,
    number: int,
    *,
    trajectories: int,
    draws: int,
    thin: int,
    warmup: int,
    seed: int,
    workers: int,
) -> Leg:
    """Sample trajectories from the starts; streams of legs are different."""
    size = landscape.size
    walkers = () if sampler.walkers is None else (int(sampler.walkers),)
    with warnings.catch_warnings():
        # Trajectories are short and begin in different basins.
        warnings.simplefilter("ignore", KinetographWarning)
        tree = mcmc(
            landscape.model,
            sampler,
            draws,
            warmup,
            range(number * trajectories, (number + 1) * trajectories),
            seed,
            thin=thin,
            initial=starts.reshape(trajectories, *walkers, size),
            threads=workers,
            keep_unknowns=False,
            progress=False,
        )
    rows = np.asarray(tree["posterior"]["parameters"].values, float)
    norms = np.linalg.norm(landscape.gradient(rows), axis=-1)
    return Leg(rows, np.asarray(landscape.potential(rows)), norms)


def pool(legs: list[Leg], most: int, prune: float) -> np.ndarray:
    """Finite rows of all legs, at equal distances.

    There are at most `most` rows. Of each leg the part `prune` with the highest potential is left
    out. The rule is for the diffusion map only; averages are taken over all rows.
    """
    parts = []
    for leg in legs:
        potential = leg.potential.reshape(-1)
        usable = np.isfinite(potential) & np.isfinite(leg.draws).all(-1).reshape(-1)
        if usable.any():
            usable &= potential <= np.quantile(potential[usable], 1 - prune)
        parts.append(leg.draws.reshape(-1, leg.draws.shape[-1])[usable])
    rows = np.concatenate(parts)
    places = np.unique(np.linspace(0, len(rows) - 1, min(most, len(rows))).round().astype(int))
    return np.asarray(rows[places])
