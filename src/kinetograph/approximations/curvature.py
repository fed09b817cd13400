"""The inverse Hessian from the last steps of a quasi-Newton path.

Take the differences s of points and y of gradients of the last J steps as columns of S and Y. With
the upper triangle E of S' Y, the BFGS formula turns diag(a) into

    H = diag(a) + B C B',   B = [a Y, S],   C = [[0, -E^-1], [-E^-T, E^-T (diag E + Y' a Y) E^-1]]

and a follows the diagonal of the inverse Hessian from step to step.

Sources: R. Byrd, J. Nocedal, R. Schnabel, Representations of quasi-Newton matrices, Mathematical
Programming 63 (1994) 129-156, for H; J. Gilbert, C. Lemaréchal, Some numerical experiments with
variable-storage quasi-Newton algorithms, Mathematical Programming 45 (1989) 407-435, for a.
"""

import math
from collections import deque

import numpy as np

from .low_rank import LowRankNormal

__all__ = ["Curvature"]

_SLIGHT = 1e-12  # steps with y's below this fraction of y'y are skipped


class Curvature:
    """The inverse Hessian along a path, estimated from its last steps."""

    def __init__(self, size: int, memory: int) -> None:
        self.diagonal = np.ones(size)
        self.steps: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=memory)

    def after(self, s: np.ndarray, y: np.ndarray, noise: float = 0.0) -> None:
        """Update the estimate with a step s and its gradient change y.

        Steps along which the objective is not convex are skipped, and so are steps so short that
        the objective changes by no more than the rounding error `noise`.
        """
        along = float(y @ s)
        if not along > max(_SLIGHT * float(y @ y), noise):
            return
        a = self.diagonal
        ahead, back = float(y @ (a * y)), float(s @ (s / a))
        self.diagonal = 1 / (
            ahead / (along * a) + y * y / along - ahead * (s / a) ** 2 / (along * back)
        )
        # Steps shrink towards a mode. Scaled to y's = 1 they give the same curvature, and E stays
        # well conditioned.
        self.steps.append((s / math.sqrt(along), y / math.sqrt(along)))

    def normal(self, free: np.ndarray, gradient: np.ndarray) -> LowRankNormal:
        """The normal distribution with covariance H and mean free - H gradient.

        Raises
        ------
        LinAlgError
            If rounding has made H indefinite.
        """
        a, root = self.diagonal, np.sqrt(self.diagonal)
        s, y = (np.array(part).T.reshape(a.size, -1) for part in zip(*self.steps, strict=True))
        inverse = np.linalg.inv(np.triu(s.T @ y))
        middle = np.diag(np.sum(s * y, 0)) + y.T @ (a[:, None] * y)
        inner = np.block(
            [[np.zeros_like(inverse), -inverse], [-inverse.T, inverse.T @ middle @ inverse]]
        )
        both = np.concatenate([a[:, None] * y, s], 1)
        mean = free - a * gradient - both @ (inner @ (both.T @ gradient))
        return LowRankNormal.of(mean, root, both / root[:, None], inner)
