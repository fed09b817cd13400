"""NUTS: the no-U-turn sampler.

A trajectory from the present point doubles its length, in a random direction, until it turns back
on itself. The new point is sampled from the points of the trajectory according to their density.

Samples  pi^beta, exactly
Cost     one gradient per stage of the integrator (leapfrog has one) and leaf of the tree; at most
         2**max_depth - 1 leaves per transition; more where steps are halved
Tuned    to an acceptance of 0.8
Source   M. Hoffman, A. Gelman, JMLR 15 (2014) 1593-1623; M. Betancourt, arXiv:1701.02434; halved
         steps: N. Bou-Rabee, B. Carpenter, T. S. Kleppe, S. Liu, arXiv:2506.18746.
"""

from collections.abc import Mapping
from typing import Any

from ..graph.public import public
from ..kernels.contract import Space, TransitionKernel
from ..kernels.directions import Directions
from .hyper import hyper
from .integrators import integrator_hyper
from .leaf_steps import LeafSteps
from .sampler import Sampler
from .tree import NutsKernel

__all__ = ["NUTS"]

ROOM, NUMBERS = 32, 2**20  # bounds on the directions of the metric, and on their elements


@public
class NUTS(Sampler):
    """The no-U-turn sampler, the default of `kg.mcmc`.

    Hamiltonian Monte Carlo that chooses its own number of steps, with multinomial sampling from the
    trajectory and generalised U-turn checks. Warm-up sets the metric and the step size. Where the
    energy error of a step is large, the step is divided into 2, 4, 8, ... shorter ones, so that a
    trajectory can enter places that are narrower than the rest of the posterior.

    Parameters
    ----------
    target_acceptance
        The mean acceptance statistic to which warm-up tunes the step size. A value nearer to 1
        gives smaller steps, which are slower but safer in sharply curved posteriors. By default it
        begins at 0.8 and rises with each divergence in the last 70 % of warm-up, t' = 1 - 0.8 (1 -
        t), up to `target_limit`; a given target does not rise.
    max_depth
        The tree has at most 2**max_depth - 1 leapfrog steps.
    divergence_threshold
        An energy error above this flags a divergence and ends the transition. So does a step that
        is too long after `max_halvings`.
    step_size
        The initial step size of warm-up; without warm-up, the step size.
    target_limit
        The upper bound for the rising target.
    metric
        The metric that warm-up tunes. "auto": a scale for each coordinate, and, if draws and
        gradients show a benefit, at most 32 directions in which the posterior is longer or shorter
        than the scales say. "diagonal": the scales alone. "dense": all directions.
    inverse_temperature
        beta: the density is pi^beta, and the momenta have the variance 1 / beta.
    integrator
        See `HMC`. An integrator with several stages takes one gradient per stage; in most
        posteriors that is not worth its cost.
    max_halvings
        A step is divided into at most 2**max_halvings steps; 0: no step is divided.
    halving_threshold
        A step is divided if energies, times beta, differ by more than this within it. The division
        must be the same from both of its ends; otherwise the trajectory ends. After six divergences
        in a row during warm-up, far from the posterior, steps are whole for 50 transitions.
    parametrisation
        The coordinates in which unknowns are sampled. "auto": warm-up chooses them by draws and
        gradients; the posterior is the same. Unknowns with an unknown location or scale have a form
        between the centred one, theta ~ normal(mu, tau), and the non-centred one, mu + tau * z, for
        each element. The forms are `hyper_centring` in `sampler_state`, a number for each element
        of the free state: 1 is centred, 0 is non-centred. Unknowns with bounds and a known
        prior have numbers, too: 1 is the free number, 0 is the coordinate in which the prior has
        normal tails. Vectors that are normal given other unknowns (random walks, autoregressive
        processes, multivariate normals, products with a Cholesky factor) are sampled in coordinates
        that are standard normal given other unknowns and normal data, whose precisions and products
        of precision and value are `hyper_information`; below 0: as written. Coefficients and
        effects of unknown scales in one predictor are sampled together, with the information
        `hyper_joint`; below 0: by their own forms. "as written": the form that the model has.

    Raises
    ------
    TypeError, ValueError
        If a setting is out of its range.

    Examples
    --------
    >>> import kinetograph as kg
    >>> sampler = kg.samplers.NUTS(target_acceptance=0.95)

    Source: M. Hoffman, A. Gelman, The no-U-turn sampler, JMLR 15 (2014) 1593-1623; M. Betancourt,
    A conceptual introduction to Hamiltonian Monte Carlo, arXiv:1701.02434; N. Bou-Rabee, B.
    Carpenter, T. S. Kleppe, S. Liu, The within-orbit adaptive leapfrog no-U-turn sampler,
    arXiv:2506.18746; O. Papaspiliopoulos, G. Roberts, M. Skold, Statistical Science 22 (2007)
    59-73.
    """

    target_acceptance = hyper(0.8, above=0, below=1, scalar=True)
    max_depth = hyper(10, lower=1, upper=20, static=True)
    divergence_threshold = hyper(1000.0, positive=True, scalar=True)
    step_size = hyper(0.5, positive=True, scalar=True)
    inverse_temperature = hyper(1.0, positive=True, scalar=True)
    integrator = integrator_hyper()
    target_limit = hyper(0.99, above=0, below=1, scalar=True)
    metric = hyper("auto", choices=("auto", "diagonal", "dense"))
    max_halvings = hyper(10, lower=0, upper=20, static=True)
    halving_threshold = hyper(5.0, positive=True, scalar=True)
    parametrisation = hyper("auto", choices=("auto", "as written"))
    tunes = ("step_size", "scale")

    def __init__(self, *values: Any, **settings: Any) -> None:
        super().__init__(*values, **settings)
        if "target_limit" in settings:
            self.target_limit = settings["target_limit"]

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "target_acceptance":
            self.target_limit = value

    @property
    def dense(self) -> bool:
        """Whether warm-up tunes all directions of the metric."""
        return bool(self.metric == "dense")

    def hypers(self, space: Space) -> dict[str, Any]:
        """The values of all hyper-parameters, and room for metric directions."""
        values: dict[str, Any] = super().hypers(space)
        size = space.shape[-1]
        if "scale" in self.tune and self.metric != "diagonal" and size > 1:
            limit = size if self.metric == "dense" else min(size, ROOM, max(1, NUMBERS // size))
            values["directions"] = Directions.none(limit, size, space.dtype)
        if space.centring is not None:
            values |= space.centring.written.hypers(space.dtype)
        return values

    def check_hypers(self, values: Mapping[str, Any]) -> None:
        """Raise ValueError if a value of a hyper-parameter is out of range."""
        values = dict(values)
        directions = values.pop("directions", None)
        for name in ("centring", "information", "joint"):
            values.pop(name, None)
        super().check_hypers(values)
        if directions is not None:
            directions.check(type(self).__name__)

    def kernel(self, space: Space) -> TransitionKernel:
        """The kernel of this sampler on a space."""
        steps = LeafSteps(self.integrator, int(self.max_halvings))
        return NutsKernel(int(self.max_depth), steps, space.wanted)
