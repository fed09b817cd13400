"""The session of an inner sampler that moves a block of unknowns.

Positions in this session are positions of the block. To evaluate one, the block is put into the
position of all unknowns; all other elements stay fixed. The coordinates are the outer sampler's.
If the inner sampler has its own scale, they are q / scale, with q in the model's coordinates,
independently of the outer sampler's scale.
"""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..graph.array import Array
from ..graph.errors import ShapeError
from .points import Point
from .scale import covariance_of, divided, gradient_of, times

__all__ = ["BlockSession", "in_coordinates_of"]


def in_coordinates_of(session: Any, point: Point) -> Point:
    """A point of another session, in the coordinates of this session."""
    q, gradient = point.free
    same_point: Point = session.point(q, point.potential, gradient)
    return same_point


def unscaled(session: Any, at: Point) -> Any:
    """A session of the same unknowns in the model's coordinates."""
    if session.block is not None:
        outer = unscaled(session.block.whole, at)
        return BlockSession(outer, session.block.names, in_coordinates_of(outer, at), False).session
    copied = copy.copy(session)
    copied.hyper = {name: value for name, value in session.hyper.items() if name != "scale"}
    return copied


class BlockSession:
    """A block of unknowns at a point, with the block's session.

    `session` is for the block and `whole` for all unknowns. `own` says whether the inner sampler
    has its own scale. Without names the block consists of all unknowns.
    """

    def __init__(
        self, outside: Any, names: Sequence[str] | None, at: Point, outermost: bool
    ) -> None:
        self.names, self.whole = names, unscaled(outside, at) if outermost else outside
        self.at = in_coordinates_of(self.whole, at) if outermost else at
        begin, parts, places = 0, {}, [np.arange(0)]
        for name in names or ():
            where, shape = outside.space.parts[name]
            size = where.stop - where.start
            parts[name] = (slice(begin, begin + size), shape)
            places.append(np.arange(where.start, where.stop))
            begin += size
        self.places = np.concatenate(places)
        size = outside.space.shape[-1]
        self.all = names is None or len(self.places) == size
        if self.all:
            begin, parts = size, outside.space.parts
        self.session = inside = copy.copy(outside)
        inside.block, inside.own_scale = self, False
        inside.space = outside.space._replace(shape=(*outside.space.shape[:-1], begin), parts=parts)
        inside.hyper = {name: self._of_block(value) for name, value in outside.hyper.items()}
        self.scale = self._checked(inside) if outermost else None
        inside.point = lambda q, potential, gradient: self.taken(
            self.whole.point(q, potential, gradient)
        )
        inside.evaluate = lambda q: self.taken(self.whole.evaluate(self.place(q)))
        inside.evaluate_full = lambda q: self.taken(self.whole.evaluate_full(self.place(q)))
        inside.evaluate_with_covariance = self._evaluate_with_covariance
        inside.potential = lambda q: self.whole.potential(self.place(q))

    def _of_block(self, value: Any) -> Any:
        """The elements of a hyper-parameter that belong to the block."""
        size = self.whole.space.shape[-1:]
        return self._some(value) if isinstance(value, Array) and value.shape == size else value

    def _some(self, x: Any) -> Any:
        """The elements of the last axis that belong to the block."""
        return x if self.all else x[..., self.places]

    @staticmethod
    def _checked(session: Any) -> Any:
        """The scale of the inner sampler.

        Raises
        ------
        ShapeError
            If its shape does not fit the size of the block.
        """
        scale, size = session.hyper["scale"], session.space.shape[-1]
        if scale.shape not in ((), (size,), (size, size)):
            raise ShapeError(
                f"{session.prefix.removesuffix('_')}: scale has shape {scale.shape}; one number, "
                f"one for each of the {size} coordinates that it moves, ({size},), or a factor of "
                f"a covariance, {(size, size)}, is expected"
            )
        return scale

    def place(self, q: Any) -> Any:
        """The position of all unknowns that has the block at a position."""
        q = self.session.join(q) if isinstance(q, Mapping) else q
        q = q if self.scale is None else times(q, self.scale)
        if self.all:
            return q
        return self.whole.join(self.whole.parts(self.at.q) | self.session.parts(q))

    def taken(self, at: Point) -> Point:
        """The block's part of a point of all unknowns."""
        q, gradient = self._some(at.q), self._some(at.gradient)
        if self.scale is not None:
            q, gradient = divided(q, self.scale), gradient_of(gradient, self.scale)
        return Point(q, at.potential, gradient, at.free)

    def _evaluate_with_covariance(self, q: Any, full: bool) -> tuple[Point, Any]:
        """The point at q, and the covariance of its gradient's block."""
        scale = self.scale
        # With a matrix as scale the diagonal depends on all elements of the covariance.
        matrix = full or (scale is not None and scale.ndim == 2)
        point, covariance = self.whole.evaluate_with_covariance(self.place(q), matrix)
        covariance = self._some(covariance)
        if matrix:
            covariance = covariance if self.all else covariance[..., self.places, :]
        if scale is not None:
            covariance = covariance_of(covariance, scale, full)
        return self.taken(point), covariance
