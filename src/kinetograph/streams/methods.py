"""The draws a `RandomStreams` offers, one method a distribution."""

from .counts import CountDraws
from .positives import PositiveDraws
from .reals import RealDraws
from .series import SeriesDraws
from .vectors import VectorDraws
from .wholes import WholeDraws

__all__ = ["METHODS", "Draws"]


class Draws(RealDraws, PositiveDraws, VectorDraws, WholeDraws, CountDraws, SeriesDraws):
    """All methods; see `kg.RandomStreams`."""


METHODS = tuple(name for name in dir(Draws) if not name.startswith("_"))
