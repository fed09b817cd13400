"""An unknown whose vectors are jointly normal given other unknowns."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..distributions.variable import Variable
from ..graph.lower import Environment
from ..graph.node import Apply, Node, Operation, ancestors
from .normal_observations import NormalData
from .series_parts import summed_at

__all__ = ["GaussianVector", "SystemNoise", "Users", "used"]

Users = dict[Node, list[Apply]]  # the operations on each node


class SystemNoise(NamedTuple):
    """A noise of a system: a vector, or numbers of steps."""

    unknowns: tuple[Variable, ...]
    first: int  # the step of the first element

    @property
    def size(self) -> int:
        """The number of elements."""
        return sum(unknown.size for unknown in self.unknowns)

    def padding(self, steps: int) -> tuple[int, int]:
        """The numbers of steps before and after the elements."""
        return self.first, steps - self.first - self.size


class GaussianVector(NamedTuple):
    """An unknown whose vectors are jointly normal."""

    unknown: Variable
    columns: bool  # whether the vectors are columns of the unknown
    parameters: tuple[Node, ...]  # of the law
    law_of: Callable[..., Any]  # the law of the values of the parameters and the shape
    f: Node  # the numbers that the data are about: the vector, or the first sum with it
    location: Node | None = None  # the other addend of the sum
    data: NormalData | None = None  # the data, if all of them are normal and linear in f
    joint: bool = True  # whether the elements depend on each other
    markov: bool = False  # whether each element depends on the one before it only
    system: tuple[SystemNoise, ...] = ()  # the noises of a linear system
    steps: int = 0  # of the system
    data_places: np.ndarray | None = None  # of the elements of f of each step; -1 for none

    @property
    def unknowns(self) -> tuple[Variable, ...]:
        """All unknowns of the map."""
        return tuple(v for noise in self.system for v in noise.unknowns) or (self.unknown,)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes from which the map is computed."""
        location = () if self.location is None else (self.location,)
        return (*self.parameters, *location, *(() if self.data is None else self.data.nodes))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the unknown with the vectors along the last axis.

        The noises of a system are rows, which are 0 at steps without an element.
        """
        shape = self.unknown.shape
        if self.system:
            return (len(self.system), self.steps)
        return shape[::-1] if self.columns else shape

    @property
    def size(self) -> int:
        """The number of elements."""
        return sum(unknown.size for unknown in self.unknowns)

    def rows(self, flat: Any) -> Any:
        """The vectors along the last axis, from the elements of the unknown."""
        if self.system:
            parts = zip(lax.split(flat, [n.size for n in self.system]), self.system, strict=True)
            return jnp.stack([jnp.pad(part, noise.padding(self.steps)) for part, noise in parts])
        array = jnp.reshape(flat, self.unknown.shape)
        return array.T if self.columns else array

    def flat(self, rows: Any) -> Any:
        """The elements of the unknown in their order."""
        if self.system:
            pairs = zip(rows, self.system, strict=True)
            return jnp.concatenate([row[n.first : n.first + n.size] for row, n in pairs])
        return jnp.reshape(rows.T if self.columns else rows, -1)

    def information(self, environment: Environment) -> tuple[Any, Any]:
        """h and r of the vectors, from all normal data.

        f may have one element more, before the elements of the vector.
        """
        assert self.data is not None
        both = (row.T if self.columns else row for row in self.data.information(environment))
        if self.data_places is not None:
            h, r = (summed_at(row, self.data_places) for row in both)
        else:
            h, r = (row[..., -self.shape[-1] :] for row in both)
        return h, r

    def law(self, environment: Environment) -> tuple[Any, Any]:
        """The law, and the location outside of it."""
        law = self.law_of(self.shape, *(environment[node] for node in self.parameters))
        if self.location is None:
            return law, jnp.zeros(() if self.system else self.shape, self.unknown.dtype)
        location = jnp.broadcast_to(environment[self.location], self.unknown.shape)
        return law, location.T if self.columns else location


def used(
    operation: Operation, node: Node, unknown: Variable, users: Users
) -> tuple[Node, Node | None]:
    """The first use of a node, and the other operand.

    The use has the same shape, and the other operand does not need the unknown. If there is none,
    the node itself.
    """
    use = next((use for use in users.get(node, ()) if use.operation is operation), None)
    if use is None or use.shape != node.shape:
        return node, None
    left, right = use.parents
    other = right if left is node else left
    return (node, None) if unknown in ancestors([other]) else (use, other)
