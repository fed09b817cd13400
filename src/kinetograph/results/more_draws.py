"""The draws that bring R-hat below its limit.

If the chains have the same distribution, R-hat - 1 is 1 / (2 s) on average, where s is the
effective sample size of half a chain. With several quantities the largest R-hat is a few times
further from 1, so that ENOUGH per chain is needed. Effective sample sizes grow in proportion to the
number of draws.
"""

import math

__all__ = ["SLIGHTLY", "draws_needed"]

SLIGHTLY = 1.05  # R-hat up to which the number is estimated
ENOUGH = 250  # effective draws per chain with which R-hat is below the limit
LEAST = 10  # effective draws per chain from which the effective sample size is known
SHORTEST = 100  # draws per chain from which the number is estimated


def draws_needed(draws: int, chains: int, largest: float, least: float, limit: float) -> int | None:
    """The draws per chain that a run needs, rounded up.

    `largest` is the largest R-hat, and `least` the least effective sample size, of all chains. None
    if R-hat is far above the limit, or the run too short to tell.
    """
    if not largest <= SLIGHTLY or not least >= LEAST * chains or draws < SHORTEST:
        return None
    factor = max(ENOUGH * chains / least, 2 * (largest - 1) / (limit - 1))
    unit = 5 * 10 ** (math.floor(math.log10(factor * draws)) - 1)
    return math.ceil(factor * draws / unit) * unit
