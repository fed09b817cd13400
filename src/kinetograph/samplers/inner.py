"""Inner samplers: hyper-parameters of a sampler that are samplers themselves.

A hyper-parameter whose default is a sampler is an inner sampler. While `init` or `step` is built it
is bound to a session of its own, so that its methods take and return points. The names of its
hyper-parameters, noise and records begin with the name of the hyper-parameter: "long.step_size",
the noise "long.momentum", the record "long_accepted".

If the outer sampler moves an ensemble and the inner one does not, the inner one runs once for each
walker, each with its own noise, slots and records. An inner sampler that has its own `scale` is
treated as a block of all unknowns with its own coordinates.
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
from ..graph.suggestions import did_you_mean
from .block import BlockSession, in_coordinates_of
from .points import Point

__all__ = ["InnerBlock", "bound"]


def bound(session: Any, sampler: Any, name: str) -> Any:
    """An inner sampler, bound to the graph that the session builds."""
    inside = copy.copy(session)
    inside.hyper = {
        key.removeprefix(f"{name}."): value
        for key, value in session.hyper.items()
        if key.startswith(f"{name}.")
    }
    inside.own_scale = "scale" in inside.hyper
    if "scale" in session.hyper and not inside.own_scale:  # points are in the outer coordinates
        inside.hyper["scale"] = session.hyper["scale"]
    inside.noise = session.noise.within(name)
    inside.prefix, inside.around = f"{session.prefix}{name}_", session
    inside.record = lambda slot, value, always: session.record(f"{name}_{slot}", value, always)
    _check_walkers(session, sampler, name)
    return _bound(sampler, inside)


def _check_walkers(session: Any, sampler: Any, name: str) -> None:
    """Refuse an inner ensemble if the outer number of walkers is different."""
    lead, title = session.space.shape[:-1], type(sampler).__name__
    if sampler.walkers is None or lead == (sampler.walkers,):
        return
    outer = type(session.sampler).__name__
    if lead:
        raise ModelError(
            f"{outer}: {name} is {title} with {sampler.walkers} walkers, and {outer} has "
            f"{lead[0]}; give both the same number"
        )
    raise ModelError(
        f"{outer}: {name} is {title}, which moves an ensemble, and {outer} moves one point; "
        f"declare in {outer} walkers = kg.hyper({sampler.walkers}, lower=2, static=True)"
    )


def _bound(sampler: Any, session: Any) -> Any:
    """A copy of a sampler whose methods use a session."""
    bound_sampler = copy.copy(sampler)
    session.sampler = bound_sampler
    bound_sampler.__dict__["_within"] = session
    for name, inner in bound_sampler._inner().items():
        session.hyper[name] = bound(session, inner, name)
    for method in ("init", "step"):
        bound_sampler.__dict__.pop(method, None)
        if _is_alone(bound_sampler, session):
            bound_sampler.__dict__[method] = _for_walkers(sampler, session, method)
        elif session.own_scale:
            bound_sampler.__dict__[method] = getattr(_Whole(sampler, session), method)
    return bound_sampler


def _is_alone(sampler: Any, session: Any) -> bool:
    """Whether the sampler moves single points and the outer one an ensemble."""
    return sampler.walkers is None and len(session.space.shape) > 1


def _for_walkers(sampler: Any, session: Any, method: str) -> Callable[..., Any]:
    """A single-point sampler's `init` or `step`, applied to an ensemble."""

    def call(at: Point, **slots: Any) -> Any:
        def one(inside: Any, point: Point, slots: Any) -> Any:
            inside.hyper = dict(inside.hyper)
            return convert(getattr(_bound(sampler, inside), method))(point, **slots)

        return each_walker(session, one, at, slots)

    return call


def each_walker(
    session: Any, one: Callable[[Any, Point, Any], Any], at: Any, slots: Mapping[str, Any]
) -> Any:
    """Apply a function to each walker of an ensemble.

    `one` takes a session of single points, a point and slots, and returns a point, slots or both.
    """
    if not isinstance(at, Point):
        got = "an array" if isinstance(at, Array) else type(at).__name__
        raise TypeError(
            f"{type(session.sampler).__name__}: give a point, which is `at` or a result of "
            f"self.evaluate; got {got}"
        )
    inside = copy.copy(session)
    inside.space = session.space._replace(shape=session.space.shape[1:])
    inside.records = {}
    plain, prefix = type(session).record, session.prefix
    inside.record = lambda slot, *rest: plain(inside, prefix + slot, *rest)
    kinds: list[str] = []

    def row(parts: Any, slots: Any) -> Any:
        result = one(inside, _point(parts), slots)
        pair = (
            result if isinstance(result, tuple) and not isinstance(result, Point) else (result, {})
        )
        if not isinstance(result, tuple):  # the result of `init`
            pair = (None, result or {})
        kinds.append("both" if pair is result else "slots" if pair[0] is None else "point")
        end, after = pair
        versions = current_versions()
        recorded = {name: Array(versions.current(cell)) for name, cell in inside.records.items()}
        return () if end is None else _parts(end), dict(after), recorded

    moved, after, recorded = vmap(row)(_parts(at), dict(slots))
    session.of_walkers.extend(inside.records.values())
    for name, values in recorded.items():
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


class InnerBlock:
    """An inner sampler that moves some of the unknowns; made by `block`."""

    names: list[str] | None

    def __init__(self, sampler: Any, outside: Any, names: tuple[str, ...]) -> None:
        unknowns = outside.space.parts
        if not names:
            raise ModelError(f"block: name the unknowns that move, out of {', '.join(unknowns)}")
        for name in names:
            if not isinstance(name, str):
                raise TypeError(
                    "block: give the unknowns by name, one after the other, as in "
                    f"block('a', 'b'); got {type(name).__name__}"
                )
            if name not in unknowns or names.count(name) > 1:
                raise ModelError(
                    f"block: {name!r} is not an unknown of the model, or is given twice; the model "
                    f"has {', '.join(unknowns)}"
                    f"{'' if name in unknowns else did_you_mean(name, unknowns)}"
                )
        self.sampler, self.outside = sampler, outside
        self.names = sorted(names, key=lambda name: unknowns[name][0].start)

    def init(self, at: Point) -> Mapping[str, Any]:
        """The slots of the inner sampler, at a point of all unknowns."""
        slots: Mapping[str, Any] = self._call("init", at, {})
        return slots

    def step(self, at: Point, **slots: Any) -> Any:
        """Make a step from a point of all unknowns.

        Returns a point of all unknowns, or a pair of such a point and the slots.
        """
        return self._call("step", at, slots)

    def _call(self, method: str, at: Point, slots: Mapping[str, Any]) -> Any:
        """Call a method of the sampler, for points of all unknowns."""
        self._check_point(at)
        outside = self.outside
        if _is_alone(self.sampler, outside):
            return each_walker(outside, partial(self._alone, method), at, slots)
        block = BlockSession(outside, self.names, at, outside.own_scale)
        run = convert(getattr(_bound(self.sampler, block.session), method))
        result = run(block.taken(block.at), **slots)
        # The result goes to the outer sampler, in the coordinates of that sampler.
        around = outside.around if outside.own_scale else outside
        if isinstance(result, Point):
            return in_coordinates_of(around, result)
        if isinstance(result, tuple):
            point, slots = result
            return in_coordinates_of(around, point), slots
        return result

    def _alone(self, method: str, inside: Any, point: Point, slots: Any) -> Any:
        """Call a method of the sampler at one walker."""
        block_of_walker = copy.copy(self)
        block_of_walker.outside = inside
        return getattr(block_of_walker, method)(point, **slots)

    def _check_point(self, at: Any) -> None:
        if not isinstance(at, Point):
            got = "an array" if isinstance(at, Array) else type(at).__name__
            where = f"block({', '.join(map(repr, self.names or ()))})"
            raise TypeError(
                f"{where if self.names else type(self.sampler).__name__}: give a point of all "
                f"unknowns, which is `at` or a result of self.evaluate; got {got}"
            )


class _Whole(InnerBlock):
    """An inner sampler of all unknowns, in coordinates of its own scale."""

    def __init__(self, sampler: Any, outside: Any) -> None:
        self.sampler, self.outside, self.names = sampler, outside, None
