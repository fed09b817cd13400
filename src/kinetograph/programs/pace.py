"""The number of gradients that a block is given."""

from dataclasses import dataclass

__all__ = ["Pace"]

BLOCK_SECONDS = 0.1  # how long a block should take: how often progress and Ctrl-C are checked,
LONGEST_SECONDS = 2.0  # and at most, however much time is lost with each block
FIRST_GRADIENTS = 10  # for the first block, as the cost of a gradient is not measured yet
FASTER = 10
WORTH = 4.0
MOST_GRADIENTS = 2**40


@dataclass
class Pace:
    """The number of gradients of a block.

    It is chosen so that a block takes about BLOCK_SECONDS. The first block gets few gradients,
    because it measures their cost. A block ends with a transition, so it takes at least as long as
    one transition. All chains of a program share a pace, and a later run with the same program
    continues with it.
    """

    gradients: int = FIRST_GRADIENTS

    def adjust(self, spent: int, seconds: float, overhead: float = 0.0) -> None:
        """Learn from a block that took `spent` gradients and `seconds` seconds.

        `overhead` is the number of seconds that were lost in addition: the host worked, or some
        chains of a batch waited for the slower ones. A block should take several times as long as
        its overhead.
        """
        worth = min(max(BLOCK_SECONDS, WORTH * overhead), LONGEST_SECONDS)
        best = spent * worth / max(seconds, 1e-6)
        self.gradients = int(min(max(best, 1), FASTER * self.gradients, MOST_GRADIENTS))
