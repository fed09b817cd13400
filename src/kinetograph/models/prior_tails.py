"""Coordinates of unknowns with bounds, in which priors have normal tails.

A density that is proportional to the power k - 1 of the distance from a bound, with k = 1 where the
density is finite, has the tail exp(k x) in the free number x. With k at the lower and l at the
upper end, p = 1 / k and q = 1 / l, and 0 for an end without such a tail, x is a function of z,

    x(z) = m + sinh(w) / 2 + w / 4 + (p (1 - exp(-2 w)) + q (exp(2 w) - 1)) / (8 (p + q)),
    z = sinh(w) / s,    dx / dz = s (1 + (p exp(-w) + q exp(w)) / (p + q)) / 2,    s^2 = p + q

At an end with a tail, x approaches -p z^2 / 2 or q z^2 / 2, so that z has the tail of a standard
normal number. At an end without a tail, the function is linear, x -> s z / 2. In the middle,
dx / dz = s is about the standard deviation of x under the prior. A sampler moves z with
x = c z + (1 - c) x(z); c = 1 is the free number. The map is one to one for all m and c.
"""

from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..distributions.support import Interval
from ..distributions.variable import Distribution, Variable
from ..graph.control.control_node import loops_in
from ..graph.lower import Environment
from ..graph.node import Data, Node, ancestors
from .levels import Level, joined_runs

__all__ = ["FAMILIES", "PriorTails", "prior_tails"]

LARGEST_POWER = 3.0  # larger powers have tails like a normal's
MOST_ELEMENTS = 1000  # of an unknown: the choice of a form takes time for each
HALLEY_STEPS = 3  # enough for float64; the error of two steps is 1e-5
Parameters = Mapping[str, Any]


class _Tails(NamedTuple):
    """The powers k and l of a family, and its m."""

    below: str | float  # a number, or the name of a parameter; inf: no such tail
    above: str | float
    centre: Callable[[Any, Parameters], Any]  # of the module, NumPy's or JAX's, and the parameters


def _log(name: str) -> Callable[[Any, Parameters], Any]:
    return lambda xp, p: xp.log(p[name])


FAMILIES = {
    "half_normal": _Tails(1.0, inf, _log("sd")),
    "half_cauchy": _Tails(1.0, 1.0, _log("scale")),
    "half_student": _Tails(1.0, "df", _log("sigma")),
    "exponential": _Tails(1.0, inf, lambda xp, p: -xp.log(p["rate"])),
    "gamma": _Tails("alpha", inf, lambda xp, p: xp.log(p["alpha"] / p["rate"])),
    "weibull": _Tails("alpha", inf, _log("scale")),
    "inverse_gamma": _Tails(inf, "alpha", lambda xp, p: xp.log(p["beta"] / p["alpha"])),
    "beta": _Tails("shape1", "shape2", lambda xp, p: xp.log(p["shape1"] / p["shape2"])),
    "uniform": _Tails(1.0, 1.0, lambda _, __: 0.0),
    "truncated(normal, lower)": _Tails(1.0, inf, _log("sd")),
    "truncated(student, lower)": _Tails(1.0, "df", _log("sigma")),
    "truncated(cauchy, lower)": _Tails(1.0, 1.0, _log("scale")),
    "truncated(normal, lower, upper)": _Tails(1.0, 1.0, lambda _, __: 0.0),
}


class _Centre(NamedTuple):
    """m of an unknown."""

    of: Callable[[Any, Parameters], Any]
    arguments: Mapping[str, Node]
    unknown: Variable
    known: np.ndarray | None  # for literals, which take no time in a program

    def value(self, environment: Environment) -> Any:
        """The vector of m of all elements."""
        if self.known is not None:
            return self.known
        value = self.of(jnp, {name: environment[node] for name, node in self.arguments.items()})
        value = jnp.where(jnp.isfinite(value), value, 0.0)
        return jnp.broadcast_to(value, self.unknown.shape).reshape(-1)


def _centre_of(unknown: Variable, family: _Tails, arguments: Mapping[str, Node]) -> _Centre:
    values = {n: a.value for n, a in arguments.items() if isinstance(a, Data) and a.literal}
    known = None
    if len(values) == len(arguments):
        value = np.asarray(family.centre(np, values))
        value = np.where(np.isfinite(value), value, 0.0).astype(unknown.dtype)
        known = np.broadcast_to(value, unknown.shape).reshape(-1)
    return _Centre(family.centre, arguments, unknown, known)


class PriorTails(NamedTuple):
    """The unknowns that are moved in such coordinates."""

    level: Level
    below: np.ndarray  # p of each free number
    above: np.ndarray  # q
    centres: tuple["_Centre", ...]  # of each unknown

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes from which m is computed."""
        return tuple(n for c in self.centres if c.known is None for n in c.arguments.values())

    def _centre(self, environment: Environment) -> Any:
        centres = [centre.value(environment) for centre in self.centres]
        known = all(centre.known is not None for centre in self.centres)
        return np.concatenate(centres) if known else jnp.concatenate(centres)

    def spread(self, z: Any, c: Any, environment: Environment) -> tuple[Any, Any]:
        """x of z, and the sum of log dx / dz."""
        sinh = self._width * z
        w, down, up = _exponentials(sinh)
        bent = self._centre(environment) + self._distance(w, sinh, down, up)
        x = jnp.where(c == 1.0, z, c * z + (1.0 - c) * bent)
        return x, jnp.sum(jnp.log(c + (1.0 - c) * self._slope(down, up)))

    def gathered(self, x: Any, c: Any, environment: Environment, near: Any = None) -> Any:
        """z of x; `near` is z up to rounding, if known."""
        distance = x - (1.0 - c) * self._centre(environment)
        if near is None:
            w = self._start(distance, c)
            for _ in range(HALLEY_STEPS):
                w = self._nearer(w, distance, c)
            return jnp.where(c == 1.0, x, jnp.sinh(w) / self._width)
        z = lax.stop_gradient(near)
        sinh = self._width * z
        w, down, up = _exponentials(sinh)
        there = c * z + (1.0 - c) * self._distance(w, sinh, down, up)
        return z + (distance - there) / (c + (1.0 - c) * self._slope(down, up))

    def forms(
        self,
        x: Any,
        z: Any,
        slope: Any,
        c: Any,
        grid: Any,
        temperature: Any,
        environment: Environment,
    ) -> Any:
        """Coordinates and slopes for each c of a grid, (2 len(grid), elements).

        z and `slope` are in the coordinates of c, in which other unknowns do not depend on x. The
        log Jacobian counts `temperature` times.
        """
        stretch, bend = self._derivatives(z, c)
        gradient = (slope - temperature * bend) / stretch
        each_c = grid[:, None]
        z = self.gathered(x, each_c, environment)
        stretch, bend = self._derivatives(z, each_c)
        return jnp.concatenate([z, stretch * gradient + temperature * bend])

    def _derivatives(self, z: Any, c: Any) -> tuple[Any, Any]:
        """dx / dz and its logarithmic derivative."""
        sinh = self._width * z
        _, down, up = _exponentials(sinh)
        p, q = self._shares
        stretch = c + (1.0 - c) * self._slope(down, up)
        # d^2 x / dz^2, where dw / dz = s / cosh(w)
        bend = (1.0 - c) * self._width**2 * (q * up - p * down) / (up + down)
        return stretch, bend / stretch

    def _start(self, distance: Any, c: Any) -> Any:
        """A value of w beyond the root, as seen from 0."""
        p, q = self._shares
        size = jnp.abs(distance)
        share = jnp.where(distance < 0, p, q) * (1.0 - c)
        bent = 0.5 * jnp.log1p(8.0 * size / jnp.where(share > 0, share, 1.0))
        straight = jnp.arcsinh(size / (c / self._width + 0.5 * (1.0 - c)))
        return jnp.sign(distance) * jnp.where(share > 0, jnp.minimum(bent, straight), straight)

    @property
    def _width(self) -> np.ndarray:
        return np.sqrt(self.below + self.above)

    @property
    def _shares(self) -> tuple[np.ndarray, np.ndarray]:
        both = self.below + self.above
        return self.below / both, self.above / both

    def _distance(self, w: Any, sinh: Any, down: Any, up: Any) -> Any:
        """x - m, from w, sinh(w), exp(-w) and exp(w)."""
        p, q = self._shares
        return 0.5 * sinh + 0.25 * w + 0.125 * (p * (1.0 - down * down) + q * (up * up - 1.0))

    def _slope(self, down: Any, up: Any) -> Any:
        """dx / dz, from exp(-w) and exp(w)."""
        p, q = self._shares
        return 0.5 * self._width * (1.0 + p * down + q * up)

    def _nearer(self, w: Any, distance: Any, c: Any) -> Any:
        """A step of Halley's method for w."""
        p, q = self._shares
        up = jnp.exp(w)
        down = 1.0 / up
        sinh, cosh = 0.5 * (up - down), 0.5 * (up + down)
        straight = c / self._width * sinh
        value = straight + (1.0 - c) * self._distance(w, sinh, down, up)
        slope = (c + (1.0 - c) * self._slope(down, up)) * cosh / self._width
        bend = straight + (1.0 - c) * 0.5 * (sinh + q * up * up - p * down * down)
        step = (value - distance) / slope  # Newton's
        return w - step / (1.0 - jnp.clip(0.5 * step * bend / slope, -0.5, 0.5))


def _exponentials(sinh: Any) -> tuple[Any, Any, Any]:
    """w, exp(-w) and exp(w) of sinh(w), without cancellation."""
    larger = jnp.abs(sinh) + jnp.sqrt(1.0 + sinh * sinh)
    smaller, w = 1.0 / larger, jnp.log(larger)
    above = sinh >= 0
    down, up = jnp.where(above, smaller, larger), jnp.where(above, larger, smaller)
    return jnp.where(above, w, -w), down, up


def prior_tails(
    unknowns: Iterable[Variable], places: Mapping[Variable, slice]
) -> PriorTails | None:
    """The tails of unknowns whose priors have known parameters."""
    found = {unknown: tails for unknown in unknowns if (tails := _tails_of(unknown))}
    if not found:
        return None
    sizes = tuple(places[unknown].stop - places[unknown].start for unknown in found)
    runs = joined_runs([places[unknown] for unknown in found])
    level = Level(tuple(found), sizes, runs, np.ones(sum(sizes)), ())
    below, above, centres = zip(*found.values(), strict=True)
    return PriorTails(level, np.concatenate(below), np.concatenate(above), centres)


def _tails_of(unknown: Variable) -> tuple[Any, Any, _Centre] | None:
    """p, q and m."""
    distribution = unknown.distribution
    if not isinstance(distribution, Distribution) or distribution.family.key not in FAMILIES:
        return None
    if unknown.size > MOST_ELEMENTS:
        return None
    family = FAMILIES[distribution.family.key]
    arguments = {name: node for name, node in distribution.arguments.items() if name != "x"}
    nodes = ancestors(arguments.values())
    if any(isinstance(node, Variable) for node in nodes) or list(loops_in(nodes)):
        return None
    if not _has_known_bounds(unknown):
        return None
    ends = []
    for power in (family.below, family.above):
        node = arguments[power] if isinstance(power, str) else None
        if node is not None and not (isinstance(node, Data) and node.literal):
            return None  # other data would need another program
        value = np.asarray(power if node is None else node.value, float)
        ends.append(np.where(value <= LARGEST_POWER, 1.0 / value, 0.0).astype(unknown.dtype))
    if not np.all(np.add(*ends) > 0):
        return None
    below, above = (np.broadcast_to(end, unknown.shape).reshape(-1) for end in ends)
    return below, above, _centre_of(unknown, family, arguments)


def _has_known_bounds(unknown: Variable) -> bool:
    support = unknown.support
    if not isinstance(support, Interval):
        return False
    lower, upper = support.lower, support.upper
    if isinstance(lower, Node) or isinstance(upper, Node) or not np.all(np.isfinite(lower)):
        return False
    has_upper = np.isfinite(upper)
    return bool(np.all(has_upper) or not np.any(has_upper))
