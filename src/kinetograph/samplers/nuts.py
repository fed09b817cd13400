"""NUTS: the no-U-turn sampler.

A path from the present point doubles, to a random side, until it turns back on itself; the new
point is one of it, chosen by its density.

Samples  pi^beta, exactly
Cost     as many gradients a leaf of the tree as the integrator has stages, leapfrog one; at most
         2**max_depth - 1 leaves a transition
Tuned    to an acceptance of 0.8
Source   M. Hoffman, A. Gelman, JMLR 15 (2014) 1593-1623; M. Betancourt, arXiv:1701.02434.
"""

from collections.abc import Mapping
from typing import Any

from ..kernels.contract import Kernel, Space
from ..kernels.directions import Directions
from .hyper import hyper
from .integrators import LEAPFROG, integrator
from .sampler import Sampler
from .tree import NutsKernel

__all__ = ["NUTS"]

ROOM, NUMBERS = 32, 2**20  # directions of the metric at most, and numbers in them


class NUTS(Sampler):
    """The no-U-turn sampler, the default of `kg.mcmc`.

    Hamiltonian Monte Carlo that chooses its own number of steps: multinomial sampling from the
    trajectory, generalised U-turn checks, a metric and a step size set by warm-up.

    Parameters
    ----------
    target_acceptance
        The mean acceptance statistic that warm-up aims the step size at; nearer to 1 means
        smaller steps, slower but surer in sharply curved posteriors. By default it begins at 0.8
        and rises, t' = 1 - 0.8 (1 - t), with each divergence in the last 70 % of warm-up, up to
        `target_limit`; a target that is given stays as it is.
    max_depth
        The tree has at most 2**max_depth - 1 leapfrog steps.
    divergence_threshold
        An energy error above this flags a divergence and ends the transition.
    step_size
        Where warm-up starts; the step size itself when there is no warm-up.
    target_limit
        What the target may rise to.
    metric
        What warm-up tunes beside the step size. "auto": a scale for each coordinate, and, where
        draws and gradients show that it pays, directions that are longer or shorter than these
        scales say, at most 32. "diagonal": the scales alone. "dense": all directions.
    inverse_temperature
        beta: the density is pi^beta, and the momenta have the variance 1 / beta.
    integrator
        As of `HMC`. One with several stages takes as many gradients a step, and does not pay in
        most posteriors.

    Raises
    ------
    TypeError, ValueError
        If a setting is out of its range.

    Examples
    --------
    >>> import kinetograph as kg
    >>> sampler = kg.samplers.NUTS(target_acceptance=0.95)

    Source: M. Hoffman, A. Gelman, The no-U-turn sampler, JMLR 15 (2014) 1593-1623; M. Betancourt,
    A conceptual introduction to Hamiltonian Monte Carlo, arXiv:1701.02434.
    """

    target_acceptance = hyper(0.8, above=0, below=1, scalar=True)
    max_depth = hyper(10, lower=1, upper=20, static=True)
    divergence_threshold = hyper(1000.0, positive=True, scalar=True)
    step_size = hyper(0.5, positive=True, scalar=True)
    inverse_temperature = hyper(1.0, positive=True, scalar=True)
    integrator = hyper(LEAPFROG, static=True)
    target_limit = hyper(0.99, above=0, below=1, scalar=True)
    metric = hyper("auto", choices=("auto", "diagonal", "dense"))
    tunes = ("step_size", "scale")

    def __init__(self, *values: Any, **settings: Any) -> None:
        super().__init__(*values, **settings)
        if "target_limit" in settings:
            self.target_limit = settings["target_limit"]
        self.integrator = integrator(self.integrator, type(self).__name__)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "target_acceptance":
            self.target_limit = value

    @property
    def dense(self) -> bool:
        """Whether all directions of the metric are wanted."""
        return bool(self.metric == "dense")

    def hypers(self, space: Space) -> dict[str, Any]:
        """As of any sampler, with room for the directions of the metric."""
        found: dict[str, Any] = super().hypers(space)
        size = space.shape[-1]
        if "scale" in self.tune and self.metric != "diagonal" and size > 1:
            most = size if self.metric == "dense" else min(size, ROOM, max(1, NUMBERS // size))
            found["directions"] = Directions.none(most, size, space.dtype)
        return found

    def check_hypers(self, values: Mapping[str, Any]) -> None:
        """Refuse values of hyper-parameters that are out of their range."""
        values = dict(values)
        directions = values.pop("directions", None)
        super().check_hypers(values)
        if directions is not None:
            directions.check(type(self).__name__)

    def kernel(self, space: Space) -> Kernel:
        """Its transition on a space.

        Raises
        ------
        TypeError
            If a setting is a function of the step's number.
        """
        for name, value in self._values.items():
            if callable(value):
                raise TypeError(
                    f"NUTS: {name} must be a number, got a function: it has no schedules"
                )
        return NutsKernel(int(self.max_depth), self.integrator, space.wanted)
