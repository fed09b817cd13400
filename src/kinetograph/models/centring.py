"""Coordinates between the centred and the non-centred form of an unknown.

An unknown with location m and scale s, which depend on other unknowns, has the free numbers x. A
sampler may move y instead,

    x = m + s^(1 - c) (y - c m)         y has the prior location c m and scale s^c

c = 1 is the centred form, y = x; c = 0 is the non-centred form, in which y is x in units of s from
m. Any c between them gives the same posterior of x: log |dx / dy| = (1 - c) log s belongs to the
density of y. An unknown z that is written non-centred, as m + s z, has the coordinates

    z = s^(-c) (y - c m),  log |dz / dy| = -c log s

Source   O. Papaspiliopoulos, G. Roberts, M. Skold, Statistical Science 22 (2007) 59-73; M.
         Gorinova, D. Moore, M. Hoffman, Automatic reparameterisation of probabilistic programs,
         ICML 2020.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..distributions.variable import Variable
from ..graph.control.control_node import loops_in
from ..graph.lower import Environment, Scope, evaluate
from ..graph.node import Apply, Node, ancestors
from ..graph.operations.elementwise import WHERE
from ..graph.rewriting.slopes import FINITE
from .hierarchies import LOCATION_SCALE, ScaledUnknown, is_positive, is_real, products

if TYPE_CHECKING:
    from .model import Model

__all__ = ["Centring"]

DEEPEST = 6  # levels of hierarchies whose forms are chosen


class Shift(NamedTuple):
    """The location and the scale of an unknown's free numbers."""

    location: Node | None  # None: 0
    scale: Node
    centred: bool  # the form in which the unknown is written


class Centring:
    """The unknowns whose form may be chosen, and the maps."""

    def __init__(self, model: "Model") -> None:
        self.density = model.density
        unknowns = set(self.density.unknowns)
        self._valued = {*unknowns, *model.fixed}  # a marginalised unknown has no value
        self.shifts: dict[Variable, Shift] = {}  # unknowns that are shifted by other unknowns
        for unknown in self.density.unknowns:
            shift = _centred(unknown)
            if shift is None or unknowns.isdisjoint(ancestors(_nodes(shift))):
                continue
            if all(map(self._has_value, _nodes(shift))):
                self.shifts[unknown] = shift
        sides = _in_choices(model)
        for product in products(model):
            shift = _non_centred(product)
            if shift is None or not self._has_value(shift.scale):
                continue
            if product.node in sides and not _has_finite_slopes(shift):
                continue  # a slope that the model never uses may be infinite
            if shift.location is not None and not self._has_value(shift.location):
                shift = shift._replace(location=None)
            if not self._depends(shift, product.unknown):
                self.shifts[product.unknown] = shift
        self.levels = self._levels()  # each depends on earlier levels only
        kept = {unknown for level in self.levels for unknown in level.unknowns}
        self.shifts = {unknown: s for unknown, s in self.shifts.items() if unknown in kept}

    def _levels(self) -> "list[Level]":
        """The first levels of the shifts; deeper shifts stay as written.

        A chain of unknowns that are written one by one would have a level for each of them.
        """
        below = {u: set(ancestors(_nodes(shift))) for u, shift in self.shifts.items()}
        left = [unknown for unknown in self.density.unknowns if unknown in self.shifts]
        levels: list[Level] = []
        while left and len(levels) < DEEPEST:
            free = [unknown for unknown in left if below[unknown].isdisjoint(left)]
            levels.append(self._level(free))
            left = [unknown for unknown in left if unknown not in set(free)]
        return levels

    def _has_value(self, node: Node) -> bool:
        """Whether the unknowns give a value of the node, without loops.

        The derivative of a loop needs a capacity.
        """
        above = ancestors([node])
        variables = {n for n in above if isinstance(n, Variable)}
        return variables <= self._valued and not list(loops_in(above))

    def _depends(self, shift: Shift, unknown: Variable) -> bool:
        """Whether location or scale depend on an unknown, through other shifts, too."""
        seen: set[Node] = set()
        waiting = list(_nodes(shift))
        while waiting:
            for node in ancestors([waiting.pop()]):
                if node is unknown:
                    return True
                if node in self.shifts and node not in seen:
                    waiting += _nodes(self.shifts[node])  # type: ignore[index]
                seen.add(node)
        return False

    def _level(self, unknowns: Sequence[Variable]) -> "Level":
        slices = [self.density.slices[unknown] for unknown in unknowns]
        centred = [float(self.shifts[unknown].centred) for unknown in unknowns]
        sizes = [place.stop - place.start for place in slices]
        values = np.repeat(centred, sizes).astype(self._dtype)
        return Level(tuple(unknowns), tuple(sizes), _joined(slices), values)

    @property
    def _dtype(self) -> np.dtype:
        return np.result_type(*(unknown.dtype for unknown in self.density.unknowns))

    @property
    def size(self) -> int:
        """The number of elements whose form may be chosen."""
        return sum(self._all.sizes)

    @cached_property
    def _all(self) -> "Level":
        return self._level([v for v in self.density.unknowns if v in self.shifts])

    @cached_property
    def places(self) -> np.ndarray:
        """The free numbers whose form may be chosen, by their places."""
        return np.concatenate([np.arange(s.start, s.stop) for s in self._all.runs])

    @cached_property
    def parts(self) -> list[slice]:
        """The elements of each unknown among `places`."""
        sizes = self._all.sizes
        ends = np.cumsum(sizes).tolist()
        return [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]

    def forms(self, x: Any, gradient: Any, data: Environment, grid: np.ndarray) -> Any:
        """Coordinates and slopes for each c of a grid.

        The elements are those in `places`. The result has the shape (2, len(grid), len(places)).
        """
        every = self._all
        m, log_s = self._at(x, data, None)
        c = jnp.asarray(grid, x.dtype)[:, None]
        stretch = jnp.exp(_power(c, log_s, every.centred))
        y = _unshifted(every.of(x), c, m, log_s, every.centred)
        return jnp.stack([y, stretch * every.of(gradient)])

    @cached_property
    def written(self) -> np.ndarray:
        """The c of each free number in the model as written."""
        values = np.ones(self.density.free_size)
        values[self.places] = self._all.centred
        return values

    def forward(self, y: Any, c: Any, data: Environment, scope: Scope | None = None) -> Any:
        """The free state of coordinates y, and log |dx / dy|."""
        pieces, x = self.density.pieces(y), y
        environment: Environment = dict(data)
        images = self.density.images(pieces, environment, scope)
        log_jacobian: Any = jnp.zeros((), y.dtype)
        for level in self.levels:
            m, log_s = self._parameters(level, environment, images, scope)
            new, added = _shifted(level.of(y), level.of(c), m, log_s, level.centred)
            pieces.update(zip(level.unknowns, lax.split(new, level.sizes), strict=True))
            x, log_jacobian = level.placed(new, x), log_jacobian + added
        return x, log_jacobian

    def inverse(self, x: Any, c: Any, data: Environment, scope: Scope | None = None) -> Any:
        """The coordinates y of a free state."""
        every = self._all
        m, log_s = self._at(x, data, scope)
        return every.placed(_unshifted(every.of(x), every.of(c), m, log_s, every.centred), x)

    def _at(self, x: Any, data: Environment, scope: Scope | None) -> tuple[Any, Any]:
        """The locations and the logarithms of scales at a free state."""
        environment: Environment = dict(data)
        images = self.density.images(self.density.pieces(x), environment, scope)
        return self._parameters(self._all, environment, images, scope)

    def _parameters(
        self, level: "Level", environment: Environment, define: Any, scope: Scope | None
    ) -> tuple[Any, Any]:
        """The location and the logarithm of the scale of each free number."""
        shifts = [self.shifts[unknown] for unknown in level.unknowns]
        shapes = [self.density.bijectors[unknown].free_shape for unknown in level.unknowns]
        evaluate([node for shift in shifts for node in _nodes(shift)], environment, define, scope)

        def joined(nodes: Iterable[Node | None]) -> Any:
            vectors = []
            # Single numbers that have the same location or scale are one broadcast.
            for (node, shape), equal in groupby(zip(nodes, shapes, strict=True)):
                value = 0.0 if node is None else environment[node]
                each = jnp.broadcast_to(value, shape).reshape(-1)
                vectors += [jnp.tile(each, len(list(equal)))]
            return jnp.concatenate(vectors)

        m, s = joined(shift.location for shift in shifts), joined(shift.scale for shift in shifts)
        return _finite(m).astype(self._dtype), _log_size(s).astype(self._dtype)


class Level(NamedTuple):
    """Unknowns whose locations and scales are known together."""

    unknowns: tuple[Variable, ...]
    sizes: tuple[int, ...]  # of the free numbers of each
    runs: list[slice]  # of their free numbers in the free state
    centred: np.ndarray  # 1 for elements that are written centred, otherwise 0

    def of(self, vector: Any) -> Any:
        """The elements of a vector of the free state."""
        return jnp.concatenate([vector[run] for run in self.runs])

    def placed(self, new: Any, vector: Any) -> Any:
        """A vector of the free state with new values of the elements."""
        pieces, end, read = [], 0, 0
        for run in self.runs:
            size = run.stop - run.start
            pieces += [vector[end : run.start], new[read : read + size]]
            end, read = run.stop, read + size
        return jnp.concatenate([*pieces, vector[end:]])


def _joined(slices: Iterable[slice]) -> list[slice]:
    """The same places as slices that do not touch."""
    joined: list[slice] = []
    for one in slices:
        if joined and joined[-1].stop == one.start:
            joined[-1] = slice(joined[-1].start, one.stop)
        else:
            joined.append(one)
    return joined


def _nodes(shift: Shift) -> tuple[Node, ...]:
    return (shift.scale,) if shift.location is None else (shift.location, shift.scale)


def _in_choices(model: "Model") -> set[Node]:
    """The nodes that are computed for a side of a `where`."""
    nodes = ancestors([*model.component.nodes, *model.density.nodes])
    choices = [n for n in nodes if isinstance(n, Apply) and n.operation is WHERE]
    return set(ancestors([side for choice in choices for side in choice.parents[1:]]))


def _has_finite_slopes(shift: Shift) -> bool:
    """Whether location and scale have finite slopes wherever they are finite."""
    above = ancestors(_nodes(shift))
    return all(n.operation in FINITE for n in above if isinstance(n, Apply))


def _centred(unknown: Variable) -> Shift | None:
    """The location and scale by which an unknown is distributed."""
    follows = unknown.distribution
    if follows is None or follows.family.key not in LOCATION_SCALE:
        return None
    fits = is_positive if follows.family.key == "lognormal" else is_real
    if not fits(unknown):
        return None
    location, scale, _ = LOCATION_SCALE[follows.family.key]
    return Shift(follows.arguments[location], follows.arguments[scale], True)


def _non_centred(product: ScaledUnknown) -> Shift | None:
    """The addend and the factor of an unknown, element by element.

    If the product has only some elements of the unknown, as z[group] has, the addend and the factor
    must be single numbers.
    """
    unknown = product.unknown
    if not is_real(unknown):
        return None
    shape = unknown.shape if product.factor is unknown else ()

    def fits(node: Node) -> bool:
        return len(node.shape) <= len(shape) and all(
            k in (1, n) for k, n in zip(node.shape[::-1], shape[::-1], strict=False)
        )

    if not fits(product.scale):
        return None
    location = product.location
    if location is not None and not fits(location):
        location = None
    return Shift(location, product.scale, False)


def _finite(m: Any) -> Any:
    """The location; 0 where it is not finite."""
    return jnp.where(jnp.isfinite(m), m, 0.0)


def _log_size(s: Any) -> Any:
    """log |s|; 0 for scales of 0, inf and NaN.

    The maps are one to one for any positive scales, so 1 may take the place of these values.
    """
    size = jnp.abs(s)
    usable = (size >= jnp.finfo(size.dtype).tiny) & jnp.isfinite(size)
    return jnp.log(jnp.where(usable, size, 1.0))


def _power(c: Any, log_s: Any, centred: np.ndarray) -> Any:
    """log dx / dy; exactly 0 for the form that is written."""
    return jnp.where(c == centred, 0.0, (centred - c) * log_s)


def _shifted(y: Any, c: Any, m: Any, log_s: Any, centred: np.ndarray) -> tuple[Any, Any]:
    """x of y, and the sum of log dx / dy."""
    power = _power(c, log_s, centred)
    stretch = jnp.exp(power)
    return stretch * y + m * (centred - c * stretch), jnp.sum(power)


def _unshifted(x: Any, c: Any, m: Any, log_s: Any, centred: np.ndarray) -> Any:
    """y of x."""
    shrink = jnp.exp(-_power(c, log_s, centred))
    return shrink * x + m * (c - centred * shrink)
