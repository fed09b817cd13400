"""EQN: ensemble quasi-Newton preconditioning of Langevin dynamics, group by group.

For each group of walkers in turn, from the positions of all other walkers, which do not move,

    C = covariance of the other walkers,  B B^T = I + eta C,  B lower triangular

and then m steps of a Langevin scheme for the group, with this B

    drift       q <- q + t B p
    kick        p <- p - t B^T grad U(q)
    friction    and noise of p are unchanged
    overdamped  q <- q - h B B^T grad U(q) + sqrt(2 h / beta) B R

That is the plain scheme in y = B^-1 q. B does not depend on the positions of the group, so no term
with a derivative of B is missing.

Samples  the scheme's density in y. For a Gaussian of precision K the error depends on h and the
         eigenvalues of B^T K B; with C = K^-1 these are k + eta
Stable   for h^2 max(B^T K B) < 4 with symmetric schemes, for every C that occurs; with few walkers
         C varies much. A scheme that is too warm heats itself through C: with large eta GLA2 and
         OBABO need h^2 eta < 1, SGLD h eta < 1/2; BAOAB and LM have exact positions
Cost     m gradients per walker and step, and a Cholesky factorisation per group
Records  the kinetic energy of each walker at the end of the step; the number of groups without a
         preconditioner, because their factor was not finite; the mean eta of the groups' factors
Source   C. Matthews, J. Weare, B. Leimkuhler, Ensemble preconditioning for Markov chain Monte Carlo
         simulation, Statistics and Computing 28 (2018) 277-290.
"""

import copy
from collections import ChainMap
from collections.abc import Mapping, MutableMapping
from typing import Any

import numpy as np

from ..autograph.convert import convert
from ..graph.errors import ShapeError
from ..graph.functions.arranging import concatenate
from ..graph.functions.mathematics import where
from ..graph.functions.reductions import sum as sum_of
from ..graph.operations.operands import as_node
from ..graph.public import public
from ..graph.ranges import range
from ..kernels.contract import Space, TransitionKernel
from .baoab import BAOAB
from .ensemble_factor import EnsembleFactor, ensemble_factor
from .gla1 import GLA1
from .gla2 import GLA2
from .hyper import Hyper, hyper
from .limit_method import LM
from .points import Point
from .sampler import HERE, Sampler
from .sghmc import SGHMC
from .sgld import SGLD
from .splitting import Splitting
from .ubu import UBU

__all__ = ["EQN"]

SCHEMES = (SGLD, LM, GLA1, GLA2, BAOAB, UBU, SGHMC, Splitting)


@public
class EQN(Sampler):
    """An ensemble of walkers that precondition each other's Langevin dynamics.

        C = covariance of the walkers of all other groups,  B B^T = I + eta C
        m steps of the scheme in y = B^-1 q for a group, then for the next one

    If the target has different scales, a scheme alone takes steps that fit the narrowest direction
    and crosses the widest one slowly. With eta well above the largest precision all directions are
    alike, independently of scales and correlations.

    Parameters
    ----------
    sampler
        The scheme: `SGLD`, `LM`, `GLA1`, `GLA2`, `BAOAB`, `UBU`, `SGHMC` or `Splitting`, with its
        settings. The step size is one in y, where precisions are about eta: h^2 eta = 1/4 is a
        good first choice, for overdamped schemes h eta = 1/10.
    walkers
        The number of walkers, in groups of equal size. Each is a chain of the results. For a good
        estimate of C there should be about ten times as many walkers outside of a group as free
        coordinates; with fewer walkers the sampler is slower, but not wrong.
    groups
        The number of groups that move in turn.
    eta
        The weight of C. With 0 the walkers are independent.
    steps
        m, the number of steps of the scheme for each group.
    covariance
        "full"; "blocks", only within each block; or "diagonal": the other elements of C are 0. Or
        "low-rank": C has only its largest eigenpairs, which needs no matrix of all coordinates.
    rank
        The number of eigenpairs of "low-rank".
    blocks
        For "blocks" a label of each free coordinate; coordinates with the same label are a block.
        By default each unknown is one.

    Raises
    ------
    TypeError
        If the sampler is not one of these.
    ValueError
        If the walkers cannot be divided equally among the groups.

    Examples
    --------
    >>> import kinetograph as kg
    >>> import numpy as np
    >>> x = kg.normal(0.0, np.array([1.0, 1000.0]), name="x")
    >>> sampler = kg.samplers.EQN(kg.samplers.BAOAB(step_size=0.15), walkers=20, eta=10.0)
    >>> start = np.random.default_rng(1).normal(size=(20, 2)) * [1.0, 1000.0]
    >>> chain = kg.chain(kg.model(x), sampler, seed=1, initial=start)
    >>> spread = chain.step(500).posterior["x"].std((0, 1))
    >>> bool(np.all(np.abs(spread / [1.0, 1000.0] - 1) < 0.3))
    True

    Source: C. Matthews, J. Weare, B. Leimkuhler, Statistics and Computing 28 (2018).
    """

    walkers = hyper(40, lower=4, static=True)
    groups = hyper(2, lower=2, static=True)
    eta = hyper(1.0, lower=0, scalar=True)
    steps = hyper(10, lower=1, scalar=True)
    covariance = hyper("full", choices=("full", "blocks", "diagonal", "low-rank"))
    rank = hyper(10, lower=1, static=True)
    blocks = hyper((), static=True)

    def __init__(self, sampler: Sampler | None = None, *values: Any, **settings: Any) -> None:
        scheme = BAOAB() if sampler is None else sampler
        if not isinstance(scheme, SCHEMES):
            names = ", ".join(kind.__name__ for kind in SCHEMES)
            raise TypeError(f"EQN: the sampler must be one of {names}; got {sampler!r}")
        if "scale" in settings:
            raise TypeError(f"EQN: give scale to the sampler, {type(scheme).__name__}(scale=...)")
        self.sampler = scheme
        super().__init__(*values, **settings)
        del self.__dict__["_values"]["scale"]  # the scheme has the scale
        self._check_groups()

    def kernel(self, space: Space) -> TransitionKernel:
        """The kernel of this sampler on a space."""
        self._check_groups()
        return super().kernel(space)

    def _check_groups(self) -> None:
        size, remainder = divmod(self.walkers, self.groups)
        if remainder or size * (self.groups - 1) < 2:
            raise ValueError(
                "EQN: walkers must be a multiple of groups, with two or more outside of each "
                f"group; got {self.walkers} walkers in {self.groups} groups"
            )

    # The hyper-parameters of EQN include the hyper-parameters of the scheme.
    @property
    def _values(self) -> MutableMapping[str, Any]:  # type: ignore[override]
        values = self.__dict__["_values"]
        return ChainMap(values, self.sampler._values) if "sampler" in vars(self) else values

    def declared(self) -> dict[str, Hyper]:
        """The hyper-parameters of EQN and of the scheme."""
        return super().declared() | self.sampler.declared()

    def settings(self) -> dict[str, Any]:
        """The settings as they are stored in results."""
        return {"sampler": type(self.sampler).__name__, **super().settings()}

    def __repr__(self) -> str:
        values, declared = self.__dict__["_values"], super().declared()
        shown = [f"{n}={values[n]!r}" for n in values if values[n] != declared[n].default]
        return f"EQN({', '.join([repr(self.sampler), *shown])})"

    def init(self, at: Point) -> dict[str, Any]:
        """The slots of the scheme."""
        inside = copy.copy(self._staging("init"))
        inside.sampler = self.sampler
        slots = _within(inside, self.sampler.init, at)
        for name, value in slots.items():
            shape = as_node(value, name).shape
            if shape[:1] != (self.walkers,):
                raise TypeError(
                    f"EQN: slot {name!r} of {type(self.sampler).__name__} has shape {shape}; it "
                    f"needs a leading axis of the {self.walkers} walkers"
                )
        return dict(slots)

    def step(self, at: Point, **slots: Any) -> Any:
        """Move each group once."""
        size = self.walkers // self.groups
        unpreconditioned: Any = 0
        etas: Any = 0.0
        for _ in range(self.groups):  # after the last group all walkers are in their order again
            group, other_walkers = at.split(size)
            factor, eta = self._factor(other_walkers.q)
            unpreconditioned = unpreconditioned + where((eta == 0) & (self.eta > 0), 1, 0)
            etas = etas + eta / self.groups
            inside = _InsideEnsemble(self, group, factor)
            point, group_slots = inside.start, {name: slots[name][:size] for name in slots}
            for _ in range(self.steps):
                point, group_slots = inside.step(point, group_slots)
            at = other_walkers.join(inside.left(point))
            slots = {name: concatenate([slots[name][size:], group_slots[name]]) for name in slots}
        self.record("unpreconditioned", unpreconditioned)
        self.record("eta_effective", etas)
        if "p" in slots:
            self.record("kinetic_energy", 0.5 * sum_of(slots["p"] ** 2, axis=1))
        return at, slots

    def _factor(self, q: Any) -> tuple[EnsembleFactor, Any]:
        """The factor B, and its eta: 0 for the identity."""
        labels = self._labels(q.shape[1])
        return ensemble_factor(q, self.eta, self.covariance, labels=labels, rank=self.rank)

    def _labels(self, size: int) -> np.ndarray:
        """The block of each coordinate: its unknown, or what `blocks` says."""
        if len(self.blocks):
            labels = np.asarray(self.blocks)
            if labels.shape != (size,):
                raise ShapeError(
                    f"EQN: blocks: expected {size} labels, one for each free coordinate, got an "
                    f"array of shape {labels.shape}"
                )
            return labels
        label = np.zeros(size, int)
        for i, (place, _) in enumerate(self._staging("step").space.parts.values()):
            label[place] = i
        return label


class _InsideEnsemble:
    """A group of walkers in the coordinates B^-1 (q - q_0)."""

    def __init__(self, sampler: EQN, group: Point, factor: EnsembleFactor) -> None:
        self.sampler, self.origin, self.factor = sampler, group.q, factor
        self.outside = outside = sampler._staging("step")
        self.start = self.point(group, 0 * group.q)
        self.session = copy.copy(outside)
        self.session.sampler = sampler.sampler
        self.session.evaluate = lambda y: self.point(outside.evaluate(self.place(y)), y)
        self.session.potential = lambda y: outside.potential(self.place(y))
        self.session.parts = lambda y: outside.parts(self.place(y))
        # Records of the scheme would be of one group, in the middle of a step.
        self.session.record = lambda name, value, always: None

    def place(self, y: Any) -> Any:
        """The positions q of the group."""
        return self.origin + self.factor.times(y)

    def point(self, at: Point, y: Any) -> Point:
        """The point in the coordinates y."""
        return Point(y, at.potential, self.factor.transposed_times(at.gradient), at.free)

    def left(self, point: Point) -> Point:
        """The point in the coordinates q."""
        q, gradient = point.free
        outer_point: Point = self.outside.point(q, point.potential, gradient)
        return outer_point

    def step(self, point: Point, slots: Mapping[str, Any]) -> Any:
        """Make one step of the scheme."""
        result = _within(self.session, self.sampler.sampler.step, point, **slots)
        return (result, {}) if isinstance(result, Point) else result


def _within(session: Any, method: Any, *arguments: Any, **slots: Any) -> Any:
    """Call a method of the scheme, which uses the session."""
    before, HERE.session = HERE.session, session
    try:
        return convert(method)(*arguments, **slots)
    finally:
        HERE.session = before
