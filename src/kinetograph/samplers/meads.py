"""MEADS: generalised HMC of walkers, whose groups tune each other.

The walkers are divided at random into K groups. In a round each group rests once, while the other
groups make one step of GHMC; then the groups are divided again. The settings of a group come from
the positions q and the gradients g of beta U of the group before it, which has not moved yet:

    s = sd(q),  h = min(1, m / sqrt(l(s g))),  gamma = max(1 / sqrt(l((q - mean) / s)), 1 / (t h))
    p <- sqrt(1 - a) p + sqrt(a) R,  a = 1 - exp(-2 h gamma)
    a leapfrog step of length h in q / s, accepted if log |u| < H - H',  H = beta U + p^2 / 2
    accepted: u <- u exp(H' - H);  rejected: p <- -p;  and then u <- u + a / 2 modulo (-1, 1)

where l(x) estimates the largest eigenvalue of the second moments of x by tr(C^2) / tr(C), and t is
the number of the step. Settings never depend on the walkers that move, so each step is exact.

Samples  exp(-beta U), exactly
Cost     K - 1 gradients per walker and transition
Source   M. Hoffman, P. Sountsov, Tuning-free generalized Hamiltonian Monte Carlo, AISTATS 2022,
         Algorithm 3; R. Neal, Non-reversibly updating a uniform [0, 1] value for Metropolis accept/
         reject decisions, arXiv:2001.11950 (2020), for u.
"""

from typing import Any

import numpy as np

from ..graph.functions.arranging import argsort, concatenate, repeat, swapaxes
from ..graph.functions.mathematics import exp, log, maximum, minimum, sqrt, where
from ..graph.functions.reductions import mean, std
from ..graph.functions.reductions import sum as sum_of
from ..graph.public import public
from ..kernels.contract import Space, TransitionKernel
from .acceptance import divergent, probability, record_bad
from .hyper import hyper
from .points import Point
from .sampler import Sampler

__all__ = ["MEADS"]


@public
class MEADS(Sampler):
    """Generalised HMC of many walkers, whose groups tune each other.

        s = sd(q),  h = min(1, m / sqrt(l(s g))),  gamma = 1 / sqrt(l((q - mean) / s))
        p <- sqrt(1 - a) p + sqrt(a) R,  a = 1 - exp(-2 h gamma)
        a leapfrog step of length h in q / s, accepted by Neal's non-reversible test

    where the positions q and the gradients g belong to another group of walkers, and l estimates
    the largest eigenvalue of their second moments; gamma is larger in the first steps. The sampler
    is made for many short chains on an accelerator: all walkers make the same steps, and warm-up is
    only the way to the posterior. On a processor NUTS needs fewer gradients.

    Parameters
    ----------
    walkers
        The number of walkers, a multiple of `groups`. Each walker is a chain of the results; the
        R-hat of the results compares ensembles (nested R-hat).
    groups
        K. In a transition each walker makes K - 1 steps.
    step_size
        m, relative to the largest stable step, which is 2.
    inverse_temperature
        beta.

    Raises
    ------
    ValueError
        If the walkers cannot be divided equally among the groups, or a group has fewer than two.

    Examples
    --------
    >>> import kinetograph as kg
    >>> import numpy as np
    >>> x = kg.normal(0.0, np.array([1.0, 1000.0]), name="x")
    >>> model, sampler = kg.model(x), kg.samplers.MEADS()
    >>> tree = kg.mcmc(model, sampler, draws=50, warmup=100, seed=1, progress=False)
    >>> spread = tree["posterior"]["x"].std(["chain", "draw"])
    >>> bool(np.all(np.abs(spread / [1.0, 1000.0] - 1) < 0.1))
    True

    Source: M. Hoffman, P. Sountsov, Tuning-free generalized Hamiltonian Monte Carlo, AISTATS 2022,
    Algorithm 3.
    """

    walkers = hyper(64, lower=4, static=True)
    groups = hyper(4, lower=2, static=True)
    step_size = hyper(0.5, positive=True, scalar=True)
    inverse_temperature = hyper(1.0, positive=True, scalar=True)

    def __init__(self, *values: Any, **settings: Any) -> None:
        super().__init__(*values, **settings)
        self._check_groups()

    def _check_groups(self) -> None:
        size, remainder = divmod(self.walkers, self.groups)
        if remainder or size < 2:
            raise ValueError(
                f"{type(self).__name__}: walkers must be a multiple of groups, with two or more in "
                f"each group; got {self.walkers} walkers in {self.groups} groups"
            )

    def kernel(self, space: Space) -> TransitionKernel:
        """The kernel of this sampler on a space."""
        self._check_groups()
        return super().kernel(space)

    def check_start(self, q: np.ndarray) -> None:
        """Refuse walkers without spread, which give no scale."""
        if not np.isfinite(q).all():  # the run reports that the density is 0 there
            return
        if not (np.ptp(q, axis=0) > 0).all():
            raise ValueError(
                f"{type(self).__name__}: the {len(q)} starting points are equal in a free number, "
                "which gives no scale for its steps; give them some spread, as in "
                f"initial=point + 1e-4 * rng.standard_normal(({len(q)}, {q.shape[1]}))"
            )

    def init(self, at: Point) -> dict[str, Any]:
        """Draw momenta, and the numbers of the acceptance test."""
        u = self.noise.uniform(-1.0, 1.0, like=at.potential, name="test")
        return {"p": self.noise("momentum", like=at.q), "u": u}

    def step(self, at: Point, p: Any, u: Any) -> Any:
        """Make a round: all groups but one move, and each rests once."""
        order = argsort(self.noise.uniform(like=at.potential, name="order"))
        back = argsort(order)
        at, p, u = at.take(order), p[order], u[order]
        rate, error = 0 * at.potential, 0 * at.potential
        i = 0 * self.iteration  # an array: the graph has one move
        while i < self.groups:
            time = self.groups * self.iteration + i + 1
            at, p, u, rate, error = self._move(at, p, u, rate, error, time)
            i = i + 1
        self.record("acceptance_rate", rate[back] / (self.groups - 1))
        self.record("diverging", divergent(error[back]))
        record_bad(self, error[back])
        return at.take(back), {"p": p[back], "u": u[back]}

    def _move(self, at: Point, p: Any, u: Any, rate: Any, error: Any, time: Any) -> Any:
        """Move all groups but the first, which is the last one afterwards."""
        size, beta = self.walkers // self.groups, self.inverse_temperature
        resting, moving = at.split(size)
        h, s, a = (repeat(x, size, axis=0) for x in self._settings(at, time))
        friction = self.noise("friction", shape=p[size:].shape)
        start = sqrt(1 - a) * p[size:] + sqrt(a) * friction
        half = start - 0.5 * h * s * beta * moving.gradient
        new = self.evaluate(moving.q + h * s * half)
        end = half - 0.5 * h * s * beta * new.gradient
        kinetic = 0.5 * sum_of(end * end - start * start, axis=1)
        gain = beta * (moving.potential - new.potential) - kinetic
        old_u = u[size:]
        accepted = (log(abs(old_u)) < gain) & (abs(gain) < np.inf)
        at = new.where(accepted, moving).join(resting)
        p = concatenate([where(accepted[:, None], end, -start), p[:size]])
        moved_u = where(accepted, old_u * exp(-gain), old_u) + 0.5 * a[:, 0]
        u = concatenate([where(moved_u < 1, moved_u, moved_u - 2), u[:size]])
        rate = concatenate([rate[size:] + probability(gain), rate[:size]])
        change = where(abs(gain) < np.inf, -gain, np.inf)
        error = concatenate([maximum(error[size:], change), error[:size]])
        return at, p, u, rate, error

    def _settings(self, at: Point, time: Any) -> tuple[Any, Any, Any]:
        """h, s and a of each moving group from the group before."""
        size, shape = self.walkers // self.groups, (self.groups - 1, -1, at.q.shape[1])
        q, gradient = at.q[:-size].reshape(shape), at.gradient[:-size].reshape(shape)
        s = std(q, axis=1, keepdims=True)
        s = where(s > 0, s, 1.0)
        force = self.inverse_temperature * gradient
        h = minimum(1.0, self.step_size / sqrt(_largest_eigenvalue(s * force)))
        width = sqrt(_largest_eigenvalue((q - mean(q, axis=1, keepdims=True)) / s))
        damping = maximum(1 / width, 1 / (time * h))
        a = 1 - exp(-2 * h * damping)
        return h[:, None], s[:, 0], a[:, None]


def _largest_eigenvalue(x: Any) -> Any:
    """The estimate tr(C^2) / tr(C) of each group of rows.

    Both traces are estimated without bias. The result is at least the mean of the eigenvalues.
    """
    _, count, size = x.shape
    products = x @ swapaxes(x, 1, 2)
    squares = sum_of(x * x, axis=2)
    trace = sum_of(squares, axis=1) / count
    of_squares = sum_of(products**2, axis=(1, 2)) - sum_of(squares**2, axis=1)
    return maximum(of_squares / (count * (count - 1)) / where(trace > 0, trace, 1.0), trace / size)
