"""The coordinates in which a sampler moves the unknowns of a hierarchy.

An unknown has a map from its coordinates y to its free numbers x, given other unknowns. The map of
`shifts` is between the centred and the non-centred form; the map of `gaussian_vectors` is that of a
normal vector given data. A level has the unknowns whose maps depend on earlier levels only. The map
of `prior_tails`, of unknowns with bounds, depends on no other unknown.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..distributions.variable import Variable
from ..graph.lower import Environment, Scope, evaluate
from ..graph.node import Node
from .levels import Level, joined_runs, parts_of, placed, places_of, replaced
from .movable_unknowns import MovableUnknowns
from .normal_vector import GaussianVector
from .shifts import (
    finite,
    log_scale,
    power,
    shifted,
    unshifted,
)

if TYPE_CHECKING:
    from .model import Model

__all__ = ["Centring", "ChosenForms"]

MOST_RUNS = 8  # slices of a vector in the free state


class ChosenForms(NamedTuple):
    """The values that select the form of each unknown."""

    c: Any  # of each free number
    # h and r of each element of a vector; with h < 0 the vector is as written.
    information: Any = None  # (2, elements)
    joint: Any = None  # the information of `JointNormal`

    @classmethod
    def of(cls, hyper: Mapping[str, Any]) -> "ChosenForms":
        """The forms among the hyper-parameters of a sampler."""
        return cls(hyper["centring"], hyper.get("information"), hyper.get("joint"))

    def hypers(self, dtype: np.dtype) -> dict[str, Any]:
        """The same values as hyper-parameters."""
        values = {"centring": self.c, "information": self.information, "joint": self.joint}
        return {name: v.astype(dtype) for name, v in values.items() if v is not None}


class Centring:
    """The unknowns whose form may be chosen, and the maps."""

    def __init__(
        self, model: "Model", maps_jointly: bool = False, rows_are_shared: bool = False
    ) -> None:
        self.density, self.maps_jointly = model.density, maps_jointly
        self.movable = MovableUnknowns(model, rows_are_shared)
        self.shifts, self.vectors = self.movable.shifts, self.movable.vectors
        self.joint, self.tails = self.movable.joint, self.movable.tails

    @property
    def has_hierarchies(self) -> bool:
        """Whether the map of any unknown depends on other unknowns."""
        return bool(self.shifts or self.vectors or self.joint is not None)

    @property
    def size(self) -> int:
        """The number of elements whose form may be chosen."""
        joint = 0 if self.joint is None else self.joint.size
        tails = 0 if self.tails is None else sum(self.tails.level.sizes)
        return joint + tails + sum(self._all.sizes) + sum(v.size for v in self.vectors.values())

    @cached_property
    def _all(self) -> Level:
        return self.movable.level([v for v in self.density.unknowns if v in self.movable.maps()])

    @cached_property
    def places(self) -> np.ndarray:
        """The free numbers that have a c, by their places.

        Unknowns with shifts come first, and then unknowns with tails.
        """
        tails = [] if self.tails is None else self.tails.level.runs
        return places_of([*self._all.runs, *tails])

    @cached_property
    def parts(self) -> list[slice]:
        """The elements of each unknown among `places`."""
        tails = () if self.tails is None else self.tails.level.sizes
        return parts_of([*self._all.sizes, *tails])

    @cached_property
    def vector_places(self) -> np.ndarray:
        """The free numbers of vectors, by their places."""
        vectors = self.vectors.values()
        return places_of([self.density.slices[u] for vector in vectors for u in vector.unknowns])

    @cached_property
    def vector_parts(self) -> dict[Variable, slice]:
        """The elements of each vector among `vector_places`; a system is one vector."""
        sizes = [vector.size for vector in self.vectors.values()]
        return dict(zip(self.vectors, parts_of(sizes), strict=True))

    @property
    def named_parts(self) -> dict[Variable, slice]:
        """The same elements of each unknown."""
        unknowns = [unknown for vector in self.vectors.values() for unknown in vector.unknowns]
        return dict(zip(unknowns, parts_of([u.size for u in unknowns]), strict=True))

    def forms(
        self,
        x: Any,
        gradient: Any,
        y: Any,
        slope: Any,
        forms: ChosenForms,
        data: Environment,
        grid: Any,
        temperature: Any = 1.0,
    ) -> Any:
        """Coordinates and slopes for each c, and logarithms of scales.

        y and `slope` are in the coordinates of `forms`, and `slope` is that of a log density with
        `temperature` times the log Jacobian. The elements are those in `places`.
        The result has the shape (2 len(grid) + 1, elements).
        """
        every, rows = self._all, []
        c = jnp.asarray(grid, x.dtype)[:, None]
        if every.unknowns:
            m, log_s = self._at(x, data, None)
            stretch = jnp.exp(power(c, log_s, every.centred))
            shifted_y = unshifted(every.of(x), c, m, log_s, every.centred)
            rows += [jnp.concatenate([shifted_y, stretch * every.of(gradient), log_s[None]])]
        if self.tails is not None:
            level, environment = self.tails.level, dict(data)
            evaluate(self.tails.nodes, environment)
            free, moved, slopes = map(level.of, (x, y, slope))
            of_tails = self.tails.forms(
                free, moved, slopes, level.of(forms.c), c[:, 0], temperature, environment
            )
            rows += [jnp.pad(of_tails, ((0, 1), (0, 0)))]
        return jnp.concatenate(rows, 1)

    def evidence(self, x: Any, gradient: Any, y: Any, slope: Any, data: Environment) -> Any:
        """The evidence about the coordinates of vectors, (6, elements).

        The rows are: the element with its location; the slope of the log likelihood there; the free
        number as written, and its slope; the coordinate in use, and its slope.
        """
        environment: Environment = dict(data)
        images = self.density.images(self.density.pieces(x), environment, None)
        rows = []
        for vector in self.vectors.values():
            evaluate(vector.nodes, environment, images, None)
            law, location = vector.law(environment)
            parts = [self._part(vector, v) for v in (x, gradient, y, slope)]
            unknown_rows, slopes = map(vector.rows, parts[:2])
            value = law.value(unknown_rows)
            if vector.system and vector.data:
                h, r = vector.information(environment)
                likelihood = r - h * value
            else:
                numbers, to_unknown = jax.vjp(law.numbers, unknown_rows)
                more = (unknown_rows,) if vector.system else ()
                _, to_value = jax.vjp(lambda f: law.written(f, *more), value)  # noqa: B023
                # log p(z) = -z^2 / 2 is a part of the log density.
                (likelihood,) = to_value(slopes + to_unknown(numbers)[0])
            value, likelihood = (jnp.broadcast_to(v, vector.shape) for v in (value, likelihood))
            if vector.system:  # data of a step say nothing about an intercept alone
                of_steps = np.array([[noise.size > 1] for noise in vector.system])
                likelihood = jnp.where(of_steps, likelihood, 0.0)
            flat = [vector.flat(row) for row in (value + location, likelihood)]
            rows += [jnp.stack([*flat, *parts])]
        return jnp.concatenate(rows, 1)

    @cached_property
    def written(self) -> ChosenForms:
        """The forms of the model as written."""
        values = np.ones(self.density.free_size)
        values[places_of(self._all.runs)] = self._all.centred
        information = None
        if self.vectors:
            blank = np.zeros(len(self.vector_places))
            information = np.stack([blank - 1.0, blank])
        joint = None if self.joint is None else self.joint.written
        return ChosenForms(values, information, joint)

    @property
    def is_expensive(self) -> bool:
        """Whether derivatives of the map cost more than a log density's.

        Elements that do not depend on each other are moved one by one, which costs little.
        """
        return any(vector.joint for vector in self.vectors.values())

    def forward(
        self, y: Any, forms: ChosenForms, data: Environment, scope: Scope | None = None
    ) -> Any:
        """The free state of coordinates y, and log |dx / dy|."""
        joint = self.joint if self.maps_jointly else None
        environment: Environment = dict(data)
        x, log_jacobian = self._without_tails(y, forms.c, environment)
        pieces = self.density.pieces(x)
        images = self.density.images(pieces, environment, scope)
        for level in self.movable.levels if joint is None else self._outside:
            if level.unknowns:
                m, log_s = self._parameters(level, environment, images, scope)
                new, added = shifted(level.of(y), level.of(forms.c), m, log_s, level.centred)
                pieces.update(zip(level.unknowns, lax.split(new, level.sizes), strict=True))
                x, log_jacobian = level.placed(new, x), log_jacobian + added
            for unknown in level.vectors:
                evaluate(self.vectors[unknown].nodes, environment, images, scope)
                new, added = self._spread(unknown, y, forms.information, environment)
                x, log_jacobian = self._placed(self.vectors[unknown], new, x), log_jacobian + added
                for one in self.vectors[unknown].unknowns:
                    pieces[one] = x[self.density.slices[one]]
        if joint is not None:
            evaluate(joint.nodes, environment, images, scope)
            new, added = joint.spread(y[joint.places], forms.joint, environment)
            x, log_jacobian = placed(new, joint.places, x), log_jacobian + added
        return x, log_jacobian

    def _without_tails(self, y: Any, c: Any, environment: Environment) -> tuple[Any, Any]:
        """y with the free numbers of tails, and the log Jacobian."""
        if self.tails is None:
            return y, jnp.zeros((), y.dtype)
        evaluate(self.tails.nodes, environment)
        level, tails = self.tails.level, self.tails
        z, c = level.of(y), level.of(c)
        new, log_size = lax.cond(
            jnp.any(c != 1.0),
            lambda z: tails.spread(z, c, environment),
            lambda z: (z, jnp.zeros((), z.dtype)),
            z,
        )
        return level.placed(new, y), log_size

    @cached_property
    def _outside(self) -> list[Level]:
        """The levels without the members of the joint block."""
        assert self.joint is not None
        members = set(self.joint.unknowns)
        return [
            self.movable.level([u for u in level.all if u not in members])
            for level in self.movable.levels
        ]

    def _spread(self, unknown: Variable, y: Any, information: Any, environment: Environment) -> Any:
        """The free numbers of a vector, and the logarithm of the Jacobian."""
        vector = self.vectors[unknown]
        law, location = vector.law(environment)
        h, r = self._data_of(unknown, information, location, environment)

        def mapped(u: Any) -> Any:
            value, log_size = law.spread(vector.rows(u), h, r)
            return vector.flat(value), log_size

        chosen = information[0, self.vector_parts[unknown].start] >= 0
        u = self._part(vector, y)
        return lax.cond(chosen, mapped, lambda u: (u, jnp.zeros((), u.dtype)), u)

    def _part(self, vector: GaussianVector, state: Any) -> Any:
        """The elements of a vector in a free state."""
        slices = [self.density.slices[unknown] for unknown in vector.unknowns]
        runs = joined_runs(slices)
        if len(runs) > MOST_RUNS:
            return state[places_of(slices)]
        parts = [state[run] for run in runs]
        return parts[0] if len(parts) == 1 else jnp.concatenate(parts)

    def _placed(self, vector: GaussianVector, new: Any, state: Any) -> Any:
        """A free state with new elements of a vector."""
        slices = [self.density.slices[unknown] for unknown in vector.unknowns]
        runs = joined_runs(slices)
        if len(runs) > MOST_RUNS:
            return placed(new, places_of(slices), state)
        parts = lax.split(new, [run.stop - run.start for run in runs])
        for run, part in zip(runs, parts, strict=True):
            state = replaced(state, run, part)
        return state

    def _data_of(
        self, unknown: Variable, information: Any, location: Any, environment: Environment
    ) -> tuple[Any, Any]:
        """h, and r without the location, of a vector."""
        vector, part = self.vectors[unknown], self.vector_parts[unknown]
        if vector.data is None:
            h, r = (vector.rows(row[part]) for row in information)
            if vector.system:
                longest = int(np.argmax([noise.size for noise in vector.system]))
                h, r = h[longest], r[longest]
            h = jnp.maximum(h, 0.0)
        else:
            h, r = vector.information(environment)
        return h, r - h * location

    def inverse(
        self,
        x: Any,
        forms: ChosenForms,
        data: Environment,
        scope: Scope | None = None,
        near: Any = None,
    ) -> Any:
        """The coordinates y of a free state.

        `near` is y up to rounding, if known.
        """
        joint = self.joint if self.maps_jointly else None
        every, y = self._all, x
        environment: Environment = dict(data)
        images = self.density.images(self.density.pieces(x), environment, scope)
        if every.unknowns:
            m, log_s = self._parameters(every, environment, images, scope)
            c = every.of(forms.c)
            y = every.placed(unshifted(every.of(x), c, m, log_s, every.centred), x)
        for unknown, vector in self.vectors.items():
            if joint is not None and unknown in joint.unknowns:
                continue
            evaluate(vector.nodes, environment, images, scope)
            law, location = vector.law(environment)
            h, r = self._data_of(unknown, forms.information, location, environment)

            def mapped(value: Any) -> Any:
                rows = law.gathered(vector.rows(value), h, r)  # noqa: B023
                return vector.flat(rows)  # noqa: B023

            chosen = forms.information[0, self.vector_parts[unknown].start] >= 0
            old = self._part(vector, x)
            y = self._placed(vector, lax.cond(chosen, mapped, lambda value: value, old), y)
        if joint is not None:
            evaluate(joint.nodes, environment, images, scope)
            new = joint.gathered(x[joint.places], forms.joint, environment)
            y = placed(new, joint.places, y)
        if self.tails is not None:
            level = self.tails.level
            evaluate(self.tails.nodes, environment)
            known = None if near is None else level.of(near)
            tails, c = self.tails, level.of(forms.c)
            z = lax.cond(
                jnp.any(c != 1.0),
                lambda x: tails.gathered(x, c, environment, known),
                lambda x: x,
                level.of(x),
            )
            y = level.placed(z, y)
        return y

    def joint_information(self, x: Any, density: Any) -> Any:
        """The information about the joint block at a free state.

        `density` is the log density of free states.
        """
        joint = self.joint
        assert joint is not None
        environment: Environment = dict(density.data)
        images = self.density.images(self.density.pieces(x), environment, None)
        evaluate(joint.nodes, environment, images, None)

        def slope(block: Any) -> Any:
            return jax.grad(density.log_density)(placed(block, joint.places, x))[joint.places]

        block = x[joint.places]
        gradient, curvature = slope(block), -jax.jacfwd(slope)(block)
        return joint.information(block, gradient, curvature, environment)

    def _at(self, x: Any, data: Environment, scope: Scope | None) -> tuple[Any, Any]:
        """The locations and the logarithms of scales at a free state."""
        environment: Environment = dict(data)
        images = self.density.images(self.density.pieces(x), environment, scope)
        return self._parameters(self._all, environment, images, scope)

    def _parameters(
        self, level: Level, environment: Environment, define: Any, scope: Scope | None
    ) -> tuple[Any, Any]:
        """The location and the logarithm of the scale of each free number."""
        shifts = [self.shifts[unknown] for unknown in level.unknowns]
        shapes = [self.density.bijectors[unknown].free_shape for unknown in level.unknowns]
        evaluate([node for shift in shifts for node in shift.nodes], environment, define, scope)

        def joined(nodes: Iterable[Node | None], number: Callable[[Any], Any]) -> Any:
            vectors = []
            # Single numbers that have the same location or scale are one broadcast.
            for (node, shape), equal in groupby(zip(nodes, shapes, strict=True)):
                value = 0.0 if node is None else number(environment[node])
                each = jnp.broadcast_to(value, shape).reshape(-1)
                vectors += [jnp.tile(each, len(list(equal)))]
            return jnp.concatenate(vectors).astype(self.movable.dtype)

        locations, scales = (shift.location for shift in shifts), (shift.scale for shift in shifts)
        return joined(locations, finite), joined(scales, log_scale)
