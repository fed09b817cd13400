"""Draws of the prior, as free states of a tempered model."""

from typing import NoReturn

import numpy as np

from ..bits.keys import SIMULATION, make_key
from ..distributions.increasing import Increasing
from ..distributions.variable import Variable
from ..graph.errors import ModelError, StartError
from ..graph.messages import describe, site_text
from ..graph.node import Node
from ..models.ancestral.forward import plan
from ..models.ancestral.rows import in_rows, run_rows
from ..models.missing import missing_of
from ..models.model import Model
from ..models.starting_points import blame, free_states
from ..models.tempered_model import TemperedModel
from .flat_priors import fault_of_flat

__all__ = ["PriorDraws", "check_prior", "check_reached", "refuse_infinite"]

AT_ONCE = 1024  # draws of one call


def check_prior(tempered: TemperedModel, doing: str) -> None:
    """Refuse flat priors, and models without a likelihood (ModelError)."""
    model = tempered.original
    for unknown in model.component.unknowns:
        if unknown.distribution is None and (data := missing_of(unknown)) is not None:
            raise ModelError(
                f"{doing}: the vectors of {describe(data)} are observed in part, so the values "
                f"{model.name(unknown)} have no prior from which particles could start; leave "
                "these vectors out, or mark each of them as missing as a whole"
            )
        if unknown.distribution is None:
            raise ModelError(f"{doing}: {fault_of_flat(model, unknown)}")
        family = unknown.distribution.family
        if isinstance(family, Increasing) and not family.same:
            raise ModelError(
                f"{doing}: the probability that {model.name(unknown)}{site_text(unknown)} is in "
                "order is not known, and the evidence needs it; give all of its elements the same "
                "distribution, as in prior={'thresholds': kg.normal(0, 2)}"
            )
    if not tempered.density.has_likelihood:
        raise ModelError(
            f"{doing}: the model observes nothing and has no factor, so the posterior is the "
            "prior: kg.simulate(model) draws from it"
        )


class PriorDraws:
    """Consecutive draws of the prior of a model.

    Draws with the same seed and other numbers `first` are independent.

    Attributes
    ----------
    next_batch
        The number of the next batch of draws.
    spare
        The rest of the last batch.
    """

    def __init__(self, model: Model, seed: int, doing: str, first: int = 0) -> None:
        self.model, self.seed, self.next_batch = model, seed, first
        unknowns: tuple[Variable, ...] = tuple(model.component.unknowns)
        names: dict[Node, str] = {v: model.name(v) for v in (*unknowns, *model.component.discrete)}
        self.plan = plan(doing, unknowns, model.fixed_values, {}, names)
        self.spare = np.empty((0, model.free_size))

    def __call__(self, count: int) -> np.ndarray:
        """The next draws, as free states.

        Draws at the edge of their support have no free state and are left out.
        """
        parts, missing = [self.spare[:count]], count - len(self.spare)
        self.spare = self.spare[count:]
        while missing > 0:
            new = self._draw_batch()
            parts.append(new[:missing])
            self.spare, missing = new[missing:], missing - len(new)
        return np.concatenate(parts)

    def _draw_batch(self) -> np.ndarray:
        # A draw depends on the key and its number, so each call has a key of its own.
        model, key = self.model, make_key(self.seed, SIMULATION, self.next_batch)
        self.next_batch += 1
        given = [in_rows(model.fixed_values[node], AT_ONCE) for node in self.plan.given]
        with model.its_values():
            free = free_states(model, run_rows(self.plan, key, AT_ONCE, given))
        usable: np.ndarray = free[np.isfinite(free).all(1)]
        if not len(usable):
            raise StartError("temper: no draw of the prior lies inside of the support")
        return usable


def check_reached(model: Model, free: np.ndarray, log_likelihood: np.ndarray, doing: str) -> None:
    """Refuse a likelihood that is zero at all draws of the prior.

    Raises
    ------
    StartError
        With the terms that are not finite.
    """
    if np.isfinite(log_likelihood).any():
        return
    lines = "\n".join(blame(model, free[0])[:-1])
    raise StartError(
        f"{doing}: the likelihood is zero, or not a number, at all of {len(free)} draws of the "
        f"prior; take more particles, or a prior that reaches the data. At the first draw:\n{lines}"
    )


def refuse_infinite(model: Model, infinite: np.ndarray, count: int) -> NoReturn:
    """Refuse a likelihood that is infinite at some of `count` free states.

    Raises
    ------
    ModelError
        With the terms that are infinite.
    """
    lines = "\n".join(blame(model, infinite[0])[:-1])
    raise ModelError(
        f"temper: the likelihood is infinite at {len(infinite)} of {count} draws, so the evidence "
        "does not exist; change the distribution of the data or the factor that is infinite. At "
        f"the first of these draws:\n{lines}"
    )
