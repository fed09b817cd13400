"""Reproducibility: a seed fixes the draws, and another seed changes them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph.public import public
from .estimates import as_draws, independence_test
from .outcomes import LEVEL, PTest

__all__ = ["Reproducibility", "reproducibility"]


@public
@dataclass(frozen=True)
class Reproducibility:
    """The comparison of three runs, the third with a different seed.

    `same` is whether the first two runs agree to the last bit. `different` is whether all chains of
    the first and the third run differ. `independence` tests the correlations between these chains.
    """

    same: bool
    different: bool
    independence: PTest

    def passed(self, level: float = LEVEL) -> bool:
        """Whether all three comparisons are as they should be."""
        return self.same and self.different and self.independence.passed(level)


@public
def reproducibility(run: Callable[[int], Any], seed: int = 1) -> Reproducibility:
    """Test whether a seed fixes the draws and all chains are independent.

    Another seed must change the draws.

    Parameters
    ----------
    run
        A function that returns draws of shape (chain, draw, ...) of a sampler for a seed. It is
        called twice with `seed`, and once with `seed + 1`. The draws should be stationary: chains
        that descend together from the same start are correlated.

    Examples
    --------
    >>> from kinetograph import laws
    >>> run = lambda seed: laws.autoregression(0.5, chains=4, draws=2000, seed=seed)
    >>> laws.reproducibility(run).passed()
    True
    >>> laws.reproducibility(lambda seed: run(0)).passed()
    False
    """
    first, second, third = (as_draws(run(s), "reproducibility") for s in (seed, seed, seed + 1))
    same = first.shape == second.shape and bool((first == second).all())
    if third.shape != first.shape:
        raise ValueError(
            f"kg.laws.reproducibility: the seeds {seed} and {seed + 1} give draws of the shapes "
            f"{first.shape} and {third.shape}"
        )
    chains = np.concatenate([first, third])
    different = len(np.unique(chains.reshape(len(chains), -1), axis=0)) == len(chains)
    return Reproducibility(same, different, independence_test(chains))
