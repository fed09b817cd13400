"""How much a block is given to do."""

from dataclasses import dataclass

__all__ = ["Pace"]

BLOCK_SECONDS = 0.1  # how long a block should take: how often progress and Ctrl-C are seen,
LONGEST_SECONDS = 2.0  # and at most, whatever is lost with each
FIRST_GRADIENTS = 10  # nobody knows yet what they cost
FASTER = 10
WORTH = 4.0
MOST_GRADIENTS = 2**40


@dataclass
class Pace:
    """How many gradients a block gets, so that it takes about BLOCK_SECONDS.

    The first block measures: it gets few. A block ends with a transition, so it takes as long as
    one at least. All chains of a program share a pace, and a later run goes on with it.
    """

    gradients: int = FIRST_GRADIENTS

    def adjust(self, spent: int, seconds: float, beside: float = 0.0) -> None:
        """Learn from a block that spent so many gradients in so many seconds.

        `beside` are those that were lost with it, of which a block is to be worth several: the host
        took them, or chains of a batch waited for others.
        """
        worth = min(max(BLOCK_SECONDS, WORTH * beside), LONGEST_SECONDS)
        wanted = spent * worth / max(seconds, 1e-6)
        self.gradients = int(min(max(wanted, 1), FASTER * self.gradients, MOST_GRADIENTS))
