"""Samplers within a sampler: each with hyper-parameters, noise and records of its own.

A hyper-parameter whose default is a sampler is one within: in `init` and `step` it is bound there,
so that its own methods take and give points. What is its own has its name before it: the
hyper-parameter "long.step_size", the noise "long.momentum", the record "long_accepted".
"""

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..autograph.convert import convert
from ..graph.array import Array
from ..graph.errors import ModelError
from ..graph.suggestions import meant
from .points import Point

__all__ = ["Block", "bound"]


def bound(session: Any, sampler: Any, name: str) -> Any:
    """The sampler within, of use while the graph of the session's method is made."""
    inside = copy.copy(session)
    inside.hyper = {
        key.removeprefix(f"{name}."): value
        for key, value in session.hyper.items()
        if key.startswith(f"{name}.")
    }
    if "scale" in session.hyper:  # points are in its coordinates
        inside.hyper["scale"] = session.hyper["scale"]
    inside.noise = session.noise.within(name)
    inside.record = lambda what, value, always: session.record(f"{name}_{what}", value, always)
    return _bound(sampler, inside)


def _bound(sampler: Any, session: Any) -> Any:
    made = copy.copy(sampler)
    session.sampler = made
    made.__dict__["_within"] = session
    for name, inner in made._inner().items():
        session.hyper[name] = bound(session, inner, name)
    return made


class Block:
    """A sampler within that moves some of the unknowns, given the others; made by `block`."""

    def __init__(self, sampler: Any, outside: Any, names: tuple[str, ...]) -> None:
        known = outside.space.parts
        if not names:
            raise ModelError(f"block: name the unknowns that move, of {', '.join(known)}")
        for name in names:
            if not isinstance(name, str):
                raise TypeError(
                    "block: the unknowns are given by name, one after the other, as in "
                    f"block('a', 'b'); got {type(name).__name__}"
                )
            if name not in known or names.count(name) > 1:
                raise ModelError(
                    f"block: {name!r} is no unknown of the model, or named twice; it has "
                    f"{', '.join(known)}{'' if name in known else meant(name, known)}"
                )
        self.sampler, self.outside = sampler, outside
        self.names = sorted(names, key=lambda name: known[name][0].start)

    def init(self, at: Point) -> Mapping[str, Any]:
        """The slots of the sampler within, at a point of all unknowns."""
        slots: Mapping[str, Any] = convert(self._at(at).init)(self._inner_point(at))
        return slots

    def step(self, at: Point, **slots: Any) -> Any:
        """Its step from a point of all unknowns: gives such a point, or that and the slots."""
        found = convert(self._at(at).step)(self._inner_point(at), **slots)
        if isinstance(found, Point):
            return self._left(found)
        point, slots = found
        return self._left(point), slots

    def _at(self, at: Point) -> Any:
        """The sampler, bound to the block where the others stand still."""
        if not isinstance(at, Point):
            got = "an array" if isinstance(at, Array) else type(at).__name__
            raise TypeError(
                f"block({', '.join(map(repr, self.names))}): it begins at a point of all unknowns, "
                f"as `at` is, or what self.evaluate gives; got {got}"
            )
        outside, names = self.outside, self.names

        def place(q: Any) -> Any:
            return outside.join(outside.parts(at.q) | inside.parts(q))

        inside = copy.copy(outside)
        begin, parts = 0, {}
        for name in names:
            where, shape = outside.space.parts[name]
            size = where.stop - where.start
            parts[name] = (slice(begin, begin + size), shape)
            begin += size
        inside.space = outside.space._replace(shape=(*outside.space.shape[:-1], begin), parts=parts)
        inside.evaluate = lambda q: self._inner_point(outside.evaluate(place(_joined(inside, q))))
        inside.potential = lambda q: outside.potential(place(_joined(inside, q)))
        inside.hyper = dict(outside.hyper)
        return _bound(self.sampler, inside)

    def _inner_point(self, at: Point) -> Point:
        return Point(self._inner(at.q), at.potential, self._inner(at.gradient), at.free)

    def _inner(self, q: Any) -> Any:
        places = (self.outside.space.parts[name][0] for name in self.names)
        return q[..., np.concatenate([np.arange(p.start, p.stop) for p in places])]

    def _left(self, point: Point) -> Point:
        """The point of all unknowns."""
        q, gradient = point.free
        found: Point = self.outside.point(q, point.potential, gradient)
        return found


def _joined(session: Any, q: Any) -> Any:
    return session.join(q) if isinstance(q, Mapping) else q
