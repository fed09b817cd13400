"""The draws a `RandomStreams` offers, one method a distribution."""

from .reals import RealDraws
from .vectors import VectorDraws
from .wholes import WholeDraws

__all__ = ["Draws"]


class Draws(RealDraws, VectorDraws, WholeDraws):
    """All methods; see `kg.RandomStreams`."""
