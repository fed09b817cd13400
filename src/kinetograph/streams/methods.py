"""The draws a `RandomStreams` offers, one method a distribution."""

from ..distributions.words import with_words
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
for _name in METHODS:
    setattr(Draws, _name, with_words(getattr(Draws, _name)))
