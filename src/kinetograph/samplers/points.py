"""The points of a step: a position with its potential and gradient."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Never

from ..graph.array import Array
from ..graph.functions.arranging import concatenate
from ..graph.functions.mathematics import where
from ..graph.source import place_text
from ..graph.suggestions import read_missing

__all__ = ["Point"]


class _PointPart(Array):
    """An array of a point, which cannot be changed in place."""

    __slots__ = ()
    fixed = (
        "it belongs to a point, whose potential and gradient were evaluated at its position; take "
        "a copy, as in q = at.q.copy(), and write self.evaluate(q) for the point there"
    )


def _part(value: Any) -> Any:
    return _PointPart(value.node) if isinstance(value, Array) else value


class Point(tuple[Any, ...]):
    """A position with its potential and gradient; made by `self.evaluate(q)`.

    q           the position, in coordinates in which the mass is 1
    potential   U(q), the negative log density of the target
    gradient    the gradient of the potential

    A point cannot be changed: another position is another point. For an ensemble each array has a
    leading axis of walkers, which `split`, `join`, `take` and `where` work on.
    """

    __slots__ = ()
    _fields = ("q", "potential", "gradient", "free")

    def __new__(cls, q: Any, potential: Any, gradient: Any, free: Any = None) -> "Point":
        """Make a point of its arrays; called by `evaluate`, branches and loops.

        `free` are position and gradient in the model's coordinates, if these are different.
        """
        free = None if free is None else tuple(map(_part, free))
        return super().__new__(cls, (_part(q), _part(potential), _part(gradient), free))

    @property
    def q(self) -> Any:
        """The position."""
        return self[0]

    @property
    def potential(self) -> Any:
        """The potential U at q."""
        return self[1]

    @property
    def gradient(self) -> Any:
        """The gradient of U at q."""
        return self[2]

    @property
    def free(self) -> tuple[Any, Any]:
        """Position and gradient in the model's coordinates."""
        return self[3] or (self.q, self.gradient)

    if not TYPE_CHECKING:  # otherwise type checkers would accept every attribute

        def __getattr__(self, name: str) -> Any:
            return read_missing(self, name)

    def split(self, count: int) -> tuple["Point", "Point"]:
        """The first `count` walkers, and the remaining ones."""
        return self._each(lambda x: x[:count]), self._each(lambda x: x[count:])

    def join(self, other: "Point") -> "Point":
        """These walkers, followed by the walkers of another point."""
        return self._each(lambda x, y: concatenate([x, y]), other)

    def take(self, places: Any) -> "Point":
        """The walkers at these places."""
        return self._each(lambda x: x[places])

    def where(self, condition: Any, other: "Point") -> "Point":
        """Take each walker from this point where the condition holds.

        The other walkers are taken from the other point.
        """

        def chosen(x: Any, y: Any) -> Any:
            wide = condition.reshape((*condition.shape, *(1 for _ in x.shape[1:])))
            return where(wide, x, y)

        return self._each(chosen, other)

    def _each(self, f: Callable[..., Any], *points: "Point") -> "Point":
        """Apply a function to each array of one or several points."""
        q, potential, gradient = map(f, self[:3], *(o[:3] for o in points))
        free = None if self[3] is None else tuple(map(f, self[3], *(o[3] for o in points)))
        return Point(q, potential, gradient, free)

    def __setattr__(self, name: str, value: Any) -> Never:
        raise AttributeError(
            f"a point cannot be changed, but {name} was assigned; write at = self.evaluate(q) for "
            "the point at another position"
        )

    def _replace(self, **changed: Any) -> Never:
        raise AttributeError(
            f"a point cannot be changed, but {', '.join(changed)} was replaced; write "
            "self.evaluate(q) for the point at another position"
        )

    def _no_array(self, *args: Any, **kwargs: Any) -> Never:
        raise TypeError(
            f"a point is not an array{place_text()}: its position is at.q; to choose among points "
            "write `if`, and self.evaluate(q) for the point at another position"
        )

    __array__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _no_array

    def __repr__(self) -> str:
        return f"Point(q={self.q!r}, potential={self.potential!r}, gradient={self.gradient!r})"
