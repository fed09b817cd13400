"""Runs that examine their draws: `kg.until`, and callbacks."""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..graph.control.results import check_function
from ..graph.public import public
from ..graph.source import place_text
from ..graph.value_texts import shown
from ..models.recorded_unknowns import GROUP as UNKNOWNS
from ..models.result_types import DataTree
from ..results import diagnostics
from .run import Run, results_so_far

__all__ = ["SoFar", "Until", "check_watching", "until", "watched"]

FIRST, EVERY, GROWTH = 100, 50, 1.2  # draws at the first examination, and how their number grows


@public
@dataclass(frozen=True)
class Until:
    """A condition that ends a run; made by `kg.until`."""

    ess: float
    r_hat: float

    def looks(self, before: int) -> int:
        """The number of draws at the next examination."""
        return max(FIRST, math.ceil(GROWTH * before / EVERY) * EVERY)

    def first(self, there: int, ended: bool) -> int:
        """The number of draws at the first examination.

        `there` draws exist already. If the run has `ended`, these are examined; if it was stopped,
        the first examination is at the next number at which an uninterrupted run would be examined.
        """
        if ended and there >= FIRST:
            return there
        count = self.looks(0)
        while count < there:
            count = self.looks(count)
        return count


@public
def until(ess: float = 400, r_hat: float = 1.01) -> Until:
    """Draw until effective sample sizes and R-hat reach the given values.

    For `until=` of `kg.mcmc`. The draws are examined when each chain has 100 draws, and then each
    time their number has grown by a fifth. The numbers 100, 150, 200, 250, 300, 400, 500, 600, ...
    are always the same, so the results depend on the seed only. The results have as many draws as
    there were at the last examination; further draws are in `tree["unfinished_posterior"]`.
    `kg.extra_samples` and `kg.resume` begin with the present draws.

    A run that stops when a diagnostic is good makes the diagnostic look better than it is. With
    `ess=400` and more this effect is small (on such rules see J. M. Flegal, M. Haran, G. L. Jones,
    Markov chain Monte Carlo: can we trust the third significant figure?, Statistical Science 23
    (2008) 250-260).

    Parameters
    ----------
    ess
        The least effective sample size, bulk and tail, over all chains and for every number that is
        kept.
    r_hat
        The largest rank-normalised split R-hat of any kept number; with ensembles of walkers, the
        R-hat of the ensembles.

    Raises
    ------
    ValueError
        If a value cannot be reached.

    Examples
    --------
    >>> import kinetograph as kg
    >>> model = kg.model(kg.normal(0, 1, name="x"))
    >>> tree = kg.mcmc(model, seed=1, draws=10_000, until=kg.until(ess=1000), progress=False)
    >>> tree["posterior"].sizes["draw"] < 2000
    True
    """
    for name, value, least in (("ess", ess, 0), ("r_hat", r_hat, 1)):
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
            raise TypeError(f"until: {name} must be a number, got {shown(value)}")
        if not (math.isfinite(value) and value > least):
            reason = "" if name == "ess" else ", because chains that agree have an R-hat of 1"
            raise ValueError(
                f"until: {name} must be a finite number above {least}{reason}, got {value!r}"
            )
    return Until(float(ess), float(r_hat))


def check_watching(
    doing: str, callback: Any, condition: Any, draws: int | None, chains: int, keep: bool
) -> None:
    """Refuse wrong callbacks, and conditions that cannot be met.

    Raises
    ------
    TypeError
        If `callback` is not a function, or `until` was not made by `kg.until`.
    ValueError
        If no draws are kept, or too few.
    """
    if callback is not None and not callable(callback):
        raise TypeError(
            f"{doing}: callback must be a function of a kg.SoFar, got {shown(callback)}"
            f"{place_text()}"
        )
    if callback is not None:
        check_function(callback, "callback", doing, ["a kg.SoFar"])
    if condition is None:
        return
    if not isinstance(condition, Until):
        raise TypeError(
            f"{doing}: until must be made by kg.until, got {shown(condition)}{place_text()}; write "
            "until=kg.until(ess=400, r_hat=1.01)"
        )
    if not keep:
        raise ValueError(f"{doing}: until= examines draws, but keep=False keeps none")
    if draws is None:
        return
    if draws < FIRST:
        raise ValueError(
            f"{doing}: until= first examines {FIRST} draws of a chain, got draws={draws}"
        )
    most = chains * draws * math.log10(chains * draws)
    if condition.ess > most:
        raise ValueError(
            f"{doing}: an effective sample size of {condition.ess:g} cannot be reached by {chains} "
            f"chains of {draws} draws; give more draws, or draws=None to continue until it is"
        )


@public
@dataclass
class SoFar:
    """The draws of a run so far.

    `kg.mcmc` calls its `callback=` with it.
    Attributes
    ----------
    draws
        The number of draws of the chain with the fewest draws.
    by_chain
        The number of draws of each chain, 0 in warm-up.
    divergences
        The number of divergences of all chains after warm-up.
    """

    draws: int
    by_chain: tuple[int, ...]
    divergences: int
    _run: Run = field(repr=False)

    def results(self) -> "DataTree":
        """The draws so far as results, for `kg.summary` and ArviZ's functions."""
        tree: DataTree = results_so_far(self._run, self.draws)
        return tree


def watched(
    run: Run,
    callback: Callable[[SoFar], Any] | None,
    condition: Until | None,
    there: int = 0,
    ended: bool = False,
) -> Run:
    """The run with a callback and an ending condition.

    `there` draws of each chain exist already; `ended` says whether their run has ended.
    """
    if callback is None and condition is None:
        return run
    watching = _Watching(run, callback, condition)
    if condition is not None:
        watching.next = condition.first(there, ended)
    return dataclasses.replace(run, watch=watching.look, enough=lambda: watching.enough)


class _Watching:
    def __init__(
        self, run: Run, callback: Callable[[SoFar], Any] | None, condition: Until | None
    ) -> None:
        self.run, self.callback, self.until = run, callback, condition
        self.reported = 0
        self.next = 0
        self.enough: int | None = None  # the number of draws that met the condition

    def look(self) -> bool:
        """Whether the run must end."""
        counts = tuple(chain.kept for chain in self.run.chains)
        least = min(counts)
        if self.callback is not None and least > self.reported:
            self.reported = least
            divergences = sum(chain.divergences for chain in self.run.chains)
            if self.callback(SoFar(least, counts, divergences, self.run)) is True:
                return True
        while self.until is not None and self._has(self.next):
            if self._reached(self.next):
                self.enough = self.next
                return True
            self.next = self.until.looks(self.next)
        return False

    def _has(self, count: int) -> bool:
        """Whether this process has `count` draws of each chain."""
        part = self.run.part
        if part is not None:
            return part.share_draws(count, stored=self.run.keeper is not None)
        return min(chain.kept for chain in self.run.chains) >= count

    def _reached(self, count: int) -> bool:
        with np.errstate(all="ignore"):
            return self._good(count)

    def _good(self, count: int) -> bool:
        assert self.until is not None
        rows = [chain.sink.rows(count) for chain in self.run.chains]
        parts = {}
        walkers = math.prod(self.run.program.walkers)
        targets = sum(array.group != UNKNOWNS for array in self.run.targets)
        for i, each in enumerate(zip(*(r.targets[:targets] for r in rows), strict=True)):
            draws = np.stack(each)
            if self.run.program.walkers:  # each walker is a chain
                draws = np.moveaxis(draws, 2, 1).reshape((-1, count, *draws.shape[3:]))
            draws = draws.reshape((*draws.shape[:2], -1))
            if draws.dtype.kind in "fiu":  # a constant has no diagnostics
                parts[str(i)] = draws[..., np.ptp(draws, axis=(0, 1)) > 0]
        parts = {name: draws for name, draws in parts.items() if draws.size}
        r_hat, bulk = diagnostics.rhat_and_ess_bulk(parts)
        if walkers > 1:
            ensembles = {n: diagnostics.together(draws, walkers) for n, draws in parts.items()}
            r_hat, _ = diagnostics.rhat_and_ess_bulk(ensembles)
        enough = self.until.ess
        return all(
            np.all(r_hat[name] <= self.until.r_hat)
            and np.all(bulk[name] >= enough)
            and np.all(diagnostics.ess_tail(draws) >= enough)
            for name, draws in parts.items()
        )
