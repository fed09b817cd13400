"""Reproducibility: what a seed has to fix, and what it must not."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .estimates import as_draws, independence_test
from .outcomes import LEVEL, PTest

__all__ = ["Reproducibility", "reproducibility"]


@dataclass(frozen=True)
class Reproducibility:
    """What two runs with one seed, and one with another, have in common.

    `same`: whether the first two agree to the last bit. `different`: whether all chains of the
    first and the third differ. `independence`: the correlations between these chains.
    """

    same: bool
    different: bool
    independence: PTest

    def passed(self, level: float = LEVEL) -> bool:
        """Whether all three are as they should be."""
        return self.same and self.different and self.independence.passed(level)


def reproducibility(run: Callable[[int], Any], seed: int = 1) -> Reproducibility:
    """Does the seed fix the draws, does another change them, and are all chains independent?

    Parameters
    ----------
    run
        Draws (chain, draw, ...) of a sampler for a seed; it is called with `seed` twice, and with
        `seed + 1`. The draws should be stationary: chains that descend from the same start together
        are correlated.

    Examples
    --------
    >>> from kinetograph import laws
    >>> run = lambda seed: laws.autoregression(0.5, chains=4, draws=2000, seed=seed)
    >>> laws.reproducibility(run).passed()
    True
    >>> laws.reproducibility(lambda seed: run(0)).passed()
    False
    """
    first, again, other = (as_draws(run(s), "reproducibility") for s in (seed, seed, seed + 1))
    same = first.shape == again.shape and bool((first == again).all())
    if other.shape != first.shape:
        raise ValueError(
            f"kg.laws.reproducibility: the seeds {seed} and {seed + 1} give draws of the shapes "
            f"{first.shape} and {other.shape}"
        )
    chains = np.concatenate([first, other])
    different = len(np.unique(chains.reshape(len(chains), -1), axis=0)) == len(chains)
    return Reproducibility(same, different, independence_test(chains))
