"""Samplers within a sampler: each with hyper-parameters, noise and records of its own.

A hyper-parameter whose default is a sampler is one within: in `init` and `step` it is bound there,
so that its own methods take and give points. What is its own has its name before it: the
hyper-parameter "long.step_size", the noise "long.momentum", the record "long_accepted".

Where the sampler around moves an ensemble and the one within does not, the latter runs once for
each walker, with noise, slots and records of each. One with a `scale` of its own is a block of all
unknowns, whose coordinates are its own.
"""

import copy
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ..autograph.convert import convert
from ..graph.array import Array
from ..graph.control.batch import vmap
from ..graph.control.state import current_versions
from ..graph.errors import ModelError
from ..graph.suggestions import meant
from .block import BlockSession, in_coordinates_of
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
    inside.own_scale = "scale" in inside.hyper
    if "scale" in session.hyper and not inside.own_scale:  # points are in its coordinates
        inside.hyper["scale"] = session.hyper["scale"]
    inside.noise = session.noise.within(name)
    inside.prefix, inside.around = f"{session.prefix}{name}_", session
    inside.record = lambda what, value, always: session.record(f"{name}_{what}", value, always)
    _check_walkers(session, sampler, name)
    return _bound(sampler, inside)


def _check_walkers(session: Any, sampler: Any, name: str) -> None:
    """Refuse an ensemble in a sampler of single points, or of another number of walkers."""
    lead, title = session.space.shape[:-1], type(sampler).__name__
    if sampler.walkers is None or lead == (sampler.walkers,):
        return
    outer = type(session.sampler).__name__
    if lead:
        raise ModelError(
            f"{outer}: {name} is {title} of {sampler.walkers} walkers, and {outer} has {lead[0]}; "
            "give both the same number"
        )
    raise ModelError(
        f"{outer}: {name} is {title}, which moves an ensemble, and {outer} moves one point; "
        f"declare in {outer} walkers = kg.hyper({sampler.walkers}, lower=2, static=True)"
    )


def _bound(sampler: Any, session: Any) -> Any:
    made = copy.copy(sampler)
    session.sampler = made
    made.__dict__["_within"] = session
    for name, inner in made._inner().items():
        session.hyper[name] = bound(session, inner, name)
    for method in ("init", "step"):
        made.__dict__.pop(method, None)
        if _is_alone(made, session):
            made.__dict__[method] = _for_walkers(sampler, session, method)
        elif session.own_scale:
            made.__dict__[method] = getattr(_Whole(sampler, session), method)
    return made


def _is_alone(sampler: Any, session: Any) -> bool:
    """Whether the sampler moves single points, and the one around it an ensemble."""
    return sampler.walkers is None and len(session.space.shape) > 1


def _for_walkers(sampler: Any, session: Any, method: str) -> Callable[..., Any]:
    """`init` or `step` of a sampler of single points, on the points of an ensemble."""

    def call(at: Point, **slots: Any) -> Any:
        def one(inside: Any, point: Point, slots: Any) -> Any:
            inside.hyper = dict(inside.hyper)
            return convert(getattr(_bound(sampler, inside), method))(point, **slots)

        return each_walker(session, one, at, slots)

    return call


def each_walker(
    session: Any, one: Callable[[Any, Point, Any], Any], at: Any, slots: Mapping[str, Any]
) -> Any:
    """What `one` gives for each walker of an ensemble, from a session of single points.

    `one` takes such a session, a point and slots, and gives a point, slots or both.
    """
    if not isinstance(at, Point):
        got = "an array" if isinstance(at, Array) else type(at).__name__
        raise TypeError(
            f"{type(session.sampler).__name__}: it begins at a point, as `at` is, or what "
            f"self.evaluate gives; got {got}"
        )
    inside = copy.copy(session)
    inside.space = session.space._replace(shape=session.space.shape[1:])
    inside.records = {}
    plain, prefix = type(session).record, session.prefix
    inside.record = lambda what, *rest: plain(inside, prefix + what, *rest)
    kinds: list[str] = []

    def row(parts: Any, slots: Any) -> Any:
        found = one(inside, _point(parts), slots)
        pair = found if isinstance(found, tuple) and not isinstance(found, Point) else (found, {})
        if not isinstance(found, tuple):  # of `init`
            pair = (None, found or {})
        kinds.append("both" if pair is found else "slots" if pair[0] is None else "point")
        end, after = pair
        versions = current_versions()
        told = {name: Array(versions.current(cell)) for name, cell in inside.records.items()}
        return () if end is None else _parts(end), dict(after), told

    moved, after, told = vmap(row)(_parts(at), dict(slots))
    session.of_walkers.extend(inside.records.values())
    for name, values in told.items():
        session.record(name.removeprefix(prefix), values, True)
    if kinds[0] == "slots":
        return after
    return _point(moved) if kinds[0] == "point" else (_point(moved), after)


def _parts(at: Point) -> tuple[Any, ...]:
    """The arrays of a point."""
    return (*at[:3], *(at[3] or ()))


def _point(parts: tuple[Any, ...]) -> Point:
    q, potential, gradient, *free = parts
    return Point(q, potential, gradient, free or None)


class Block:
    """A sampler within that moves some of the unknowns, given the others; made by `block`."""

    names: list[str] | None

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
        slots: Mapping[str, Any] = self._made("init", at, {})
        return slots

    def step(self, at: Point, **slots: Any) -> Any:
        """Its step from a point of all unknowns: gives such a point, or that and the slots."""
        return self._made("step", at, slots)

    def _made(self, method: str, at: Point, slots: Mapping[str, Any]) -> Any:
        """What a method of the sampler gives, for points of all unknowns."""
        self._check_point(at)
        outside = self.outside
        if _is_alone(self.sampler, outside):
            return each_walker(outside, partial(self._alone, method), at, slots)
        block = BlockSession(outside, self.names, at, outside.own_scale)
        run = convert(getattr(_bound(self.sampler, block.session), method))
        found = run(block.taken(block.at), **slots)
        # What is left goes to the sampler around, in its coordinates.
        around = outside.around if outside.own_scale else outside
        if isinstance(found, Point):
            return in_coordinates_of(around, found)
        if isinstance(found, tuple):
            point, slots = found
            return in_coordinates_of(around, point), slots
        return found

    def _alone(self, method: str, inside: Any, point: Point, slots: Any) -> Any:
        """What a method gives at one walker."""
        alone = copy.copy(self)
        alone.outside = inside
        return getattr(alone, method)(point, **slots)

    def _check_point(self, at: Any) -> None:
        if not isinstance(at, Point):
            got = "an array" if isinstance(at, Array) else type(at).__name__
            where = f"block({', '.join(map(repr, self.names or ()))})"
            raise TypeError(
                f"{where if self.names else type(self.sampler).__name__}: it begins at a point of "
                f"all unknowns, as `at` is, or what self.evaluate gives; got {got}"
            )


class _Whole(Block):
    """A sampler within that moves all unknowns, in the coordinates of its own scale."""

    def __init__(self, sampler: Any, outside: Any) -> None:
        self.sampler, self.outside, self.names = sampler, outside, None
