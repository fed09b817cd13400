"""The unknowns of a model whose coordinates a sampler may choose.

Each has a map that is known before the unknown itself: the maps of one level depend on unknowns of
earlier levels only. The map of an unknown with bounds depends on no unknown.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..distributions.variable import Variable
from ..graph.control.control_node import loops_in
from ..graph.node import Node, ancestors
from .common_scales import non_centred_shifts
from .gaussian_vectors import gaussian_vectors
from .joint_members import joint_normal
from .joint_normal import JointNormal
from .levels import Level, joined_runs
from .normal_vector import GaussianVector
from .prior_tails import prior_tails
from .shifts import Shift, centred

if TYPE_CHECKING:
    from .model import Model

__all__ = ["MovableUnknowns"]

DEEPEST = 6  # levels of hierarchies whose forms are chosen


class MovableUnknowns:
    """The unknowns with a map, by its kind, and their levels."""

    def __init__(self, model: "Model", rows_are_shared: bool) -> None:
        self.density = model.density
        unknowns = set(self.density.unknowns)
        self._valued = {*unknowns, *model.fixed}  # a marginalised unknown has no value
        self.shifts: dict[Variable, Shift] = {}  # unknowns that are shifted by other unknowns
        self.vectors: dict[Variable, GaussianVector] = {}
        for unknown in self.density.unknowns:
            shift = centred(unknown)
            if shift is None or unknowns.isdisjoint(ancestors(shift.nodes)):
                continue
            if all(map(self._has_value, shift.nodes)):
                self.shifts[unknown] = shift
        for unknown, shift in non_centred_shifts(model):
            if not self._has_value(shift.scale):
                continue
            if shift.location is not None and not self._has_value(shift.location):
                shift = shift._replace(location=None)
            if not self._depends(shift, unknown):
                self.shifts[unknown] = shift
        # Maps of vectors and of a joint block are computed from all rows of the data.
        for vector in () if rows_are_shared else gaussian_vectors(model):
            self._add(vector)
        vectors = {unknown: v for v in self.vectors.values() for unknown in v.unknowns}
        self.joint = None if rows_are_shared else joint_normal(model, self.shifts, vectors)
        self.levels = self._levels()  # each depends on earlier levels only
        joint_unknowns = {unknown for level in self.levels for unknown in level.all}
        self.shifts = {
            unknown: s for unknown, s in self.shifts.items() if unknown in joint_unknowns
        }
        self.vectors = {
            unknown: v for unknown, v in self.vectors.items() if unknown in joint_unknowns
        }
        if self.joint is not None and not self._is_free(self.joint):
            self.joint = None
        others = {*self.maps(), *(() if self.joint is None else self.joint.unknowns)}
        free = [unknown for unknown in self.density.unknowns if unknown not in others]
        self.tails = prior_tails(free, self.density.slices)

    def _is_free(self, joint: JointNormal) -> bool:
        """Whether the maps of other unknowns are known before a joint block."""
        members = set(joint.unknowns)
        other_maps = (each.nodes for u, each in self.maps().items() if u not in members)
        above = ancestors([node for nodes in other_maps for node in nodes])
        return all(map(self._has_value, joint.nodes)) and members.isdisjoint(above)

    def _add(self, vector: GaussianVector) -> None:
        """Add a vector if its law is known before the vector."""
        without = vector._replace(data=None)
        for one in (vector, without, without._replace(location=None)):
            if one.data is None and ((vector.system and vector.data) or not one.joint):
                return  # the forms of shifts, or of each unknown, are as good
            if not all(map(self._has_value, one.nodes)):
                continue
            if one.system:
                self._drop_shifts(one)
            if not self._depends(one, *one.unknowns):
                for unknown in one.unknowns:
                    self.shifts.pop(unknown, None)
                    self.vectors.pop(unknown, None)
                self.vectors[vector.unknown] = one
                return

    def _drop_shifts(self, vector: GaussianVector) -> None:
        """Leave out shifts above a vector that depend on the vector."""
        above = set(ancestors(vector.nodes))
        for unknown, shift in [*self.shifts.items()]:
            if unknown in above and self._depends(shift, *vector.unknowns):
                del self.shifts[unknown]

    def maps(self) -> "dict[Variable, Shift | GaussianVector]":
        """The map of each unknown that depends on other unknowns."""
        vectors = {unknown: v for v in self.vectors.values() for unknown in v.unknowns}
        return {**self.shifts, **vectors}

    def _levels(self) -> list[Level]:
        """The first levels of the shifts; deeper shifts stay as written.

        A chain of unknowns that are written one by one would have a level for each of them.
        """
        below = {u: set(ancestors(each.nodes)) for u, each in self.maps().items()}
        left = [unknown for unknown in self.density.unknowns if unknown in below]
        levels: list[Level] = []
        while left and len(levels) < DEEPEST:
            free = [unknown for unknown in left if below[unknown].isdisjoint(left)]
            levels.append(self.level(free))
            left = [unknown for unknown in left if unknown not in set(free)]
        return levels

    def _has_value(self, node: Node) -> bool:
        """Whether the unknowns give a value of the node, without loops.

        The derivative of a loop needs a capacity.
        """
        above = ancestors([node])
        variables = {n for n in above if isinstance(n, Variable)}
        return variables <= self._valued and not list(loops_in(above))

    def _depends(self, each: "Shift | GaussianVector", *unknowns: Variable) -> bool:
        """Whether a map depends on unknowns, through other maps, too."""
        maps, visited = self.maps(), set[Node]()
        waiting = list(each.nodes)
        while waiting:
            for node in ancestors([waiting.pop()]):
                if node in unknowns:
                    return True
                if node in maps and node not in visited:
                    waiting += maps[node].nodes  # type: ignore[index]
                visited.add(node)
        return False

    def level(self, unknowns: Sequence[Variable]) -> Level:
        """The level of these unknowns, in their order."""
        vectors = tuple(unknown for unknown in unknowns if unknown in self.vectors)
        unknowns = [unknown for unknown in unknowns if unknown in self.shifts]
        slices = [self.density.slices[unknown] for unknown in unknowns]
        centred = [float(self.shifts[unknown].centred) for unknown in unknowns]
        sizes = [place.stop - place.start for place in slices]
        values = np.repeat(centred, sizes).astype(self.dtype)
        return Level(tuple(unknowns), tuple(sizes), joined_runs(slices), values, vectors)

    @property
    def dtype(self) -> np.dtype:
        """The precision of the free state."""
        return np.result_type(*(unknown.dtype for unknown in self.density.unknowns))
