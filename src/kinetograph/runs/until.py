"""Runs that look at their draws: `kg.until`, and callbacks."""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..graph.control.results import check_function
from ..graph.source import place_text
from ..models.typing import DataTree
from . import diagnostics
from .run import Run, results_so_far

__all__ = ["SoFar", "Until", "check_watching", "until", "watched"]

FIRST, EVERY, GROWTH = 100, 50, 1.2  # draws after which it is looked, and how often


@dataclass(frozen=True)
class Until:
    """When a run has drawn enough; made by `kg.until`."""

    ess: float
    r_hat: float

    def looks(self, before: int) -> int:
        """The number of draws at which it is looked next."""
        return max(FIRST, math.ceil(GROWTH * before / EVERY) * EVERY)

    def first(self, there: int, ended: bool) -> int:
        """The number of draws at which it is looked first, where so many are there already.

        Of a run that has ended, these; of one that was stopped, the next count at which a run that
        was never stopped is looked at.
        """
        if ended and there >= FIRST:
            return there
        count = self.looks(0)
        while count < there:
            count = self.looks(count)
        return count


def until(ess: float = 400, r_hat: float = 1.01) -> Until:
    """Draw until the effective sample sizes are as large, and R-hat as small, as is wanted.

    For `until=` of `kg.mcmc`. The draws are looked at when each chain has 100 of them, and then
    each time there are a fifth more: the counts 100, 150, 200, 250, 300, 400, 500, 600, ... are
    always the same, and so the results are a matter of the seed alone. They have as many draws as
    there were at that look; what chains had drawn beyond is in `tree["unfinished_posterior"]`.
    `kg.extra_samples` and `kg.resume` begin with the draws that are there.

    Stopping when a diagnostic is pleasant makes it look better than it is; with `ess=400` and more
    that is little (J. M. Flegal, M. Haran, G. L. Jones, Markov chain Monte Carlo: can we trust the
    third significant figure?, Statistical Science 23 (2008) 250-260, on such rules).

    Parameters
    ----------
    ess
        The least effective sample size, bulk and tail, over all chains and of every number that is
        kept.
    r_hat
        The largest rank-normalised split R-hat of any of them.

    Raises
    ------
    ValueError
        If one cannot be reached.

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
            raise TypeError(f"until: {name} must be a number, got {value!r:.80}")
        if not (math.isfinite(value) and value > least):
            reached = "" if name == "ess" else ", as chains that agree have an R-hat of 1"
            raise ValueError(
                f"until: {name} must be a finite number above {least}{reached}, got {value!r}"
            )
    return Until(float(ess), float(r_hat))


def check_watching(
    doing: str, callback: Any, wanted: Any, draws: int | None, chains: int, keep: bool
) -> None:
    """Refuse what cannot be called, and what can never be reached.

    Raises
    ------
    TypeError
        If `callback` is no function, or `until` was not made by `kg.until`.
    ValueError
        If no draws are kept, or too few.
    """
    if callback is not None and not callable(callback):
        raise TypeError(
            f"{doing}: callback must be a function of a kg.SoFar, got {callback!r:.80}"
            f"{place_text()}"
        )
    if callback is not None:
        check_function(callback, "callback", doing, ["a kg.SoFar"])
    if wanted is None:
        return
    if not isinstance(wanted, Until):
        raise TypeError(
            f"{doing}: until must be made by kg.until, got {wanted!r:.80}{place_text()}; write "
            "until=kg.until(ess=400, r_hat=1.01)"
        )
    if not keep:
        raise ValueError(f"{doing}: until= looks at draws, and keep=False keeps none")
    if draws is None:
        return
    if draws < FIRST:
        raise ValueError(
            f"{doing}: until= first looks at {FIRST} draws of a chain, got draws={draws}"
        )
    most = chains * draws * math.log10(chains * draws)
    if wanted.ess > most:
        raise ValueError(
            f"{doing}: an effective sample size of {wanted.ess:g} cannot be reached by {chains} "
            f"chains of {draws} draws; give more draws, or draws=None to go on until it is"
        )


@dataclass
class SoFar:
    """What a run has drawn so far; `callback=` of `kg.mcmc` is called with it.

    Attributes
    ----------
    draws
        How many each chain has at least.
    by_chain
        How many each chain has, 0 in warm-up.
    divergences
        Of all chains, since warm-up.
    """

    draws: int
    by_chain: tuple[int, ...]
    divergences: int
    _run: Run = field(repr=False)

    def results(self) -> "DataTree":
        """They as results, of which `kg.summary` and ArviZ's functions can be asked."""
        tree: DataTree = results_so_far(self._run, self.draws)
        return tree


def watched(
    run: Run,
    callback: Callable[[SoFar], Any] | None,
    wanted: Until | None,
    there: int = 0,
    ended: bool = False,
) -> Run:
    """The run, watched; so many draws of each chain are there already, of a run that has ended."""
    if callback is None and wanted is None:
        return run
    watching = _Watching(run, callback, wanted)
    if wanted is not None:
        watching.next = wanted.first(there, ended)
    return dataclasses.replace(run, watch=watching.look, enough=lambda: watching.enough)


class _Watching:
    def __init__(
        self, run: Run, callback: Callable[[SoFar], Any] | None, wanted: Until | None
    ) -> None:
        self.run, self.callback, self.until = run, callback, wanted
        self.told = 0
        self.next = 0
        self.enough: int | None = None  # draws that were

    def look(self) -> bool:
        """Whether the run is to end."""
        counts = tuple(chain.kept for chain in self.run.chains)
        least = min(counts)
        if self.callback is not None and least > self.told:
            self.told = least
            divergences = sum(chain.divergences for chain in self.run.chains)
            if self.callback(SoFar(least, counts, divergences, self.run)) is True:
                return True
        while self.until is not None and least >= self.next:
            if self._reached(self.next):
                self.enough = self.next
                return True
            self.next = self.until.looks(self.next)
        return False

    def _reached(self, count: int) -> bool:
        with np.errstate(all="ignore"):
            return self._good(count)

    def _good(self, count: int) -> bool:
        assert self.until is not None
        rows = [chain.sink.rows().cut(0, count) for chain in self.run.chains]
        parts = {}
        for i, each in enumerate(zip(*(r.targets for r in rows), strict=True)):
            draws = np.stack(each)
            draws = draws.reshape((*draws.shape[:2], -1))
            if draws.dtype.kind in "fiu":  # what is the same in all draws tells nothing
                parts[str(i)] = draws[..., np.ptp(draws, axis=(0, 1)) > 0]
        parts = {name: draws for name, draws in parts.items() if draws.size}
        r_hat, bulk = diagnostics.rhat_and_ess_bulk(parts)
        enough = self.until.ess
        return all(
            np.all(r_hat[name] <= self.until.r_hat)
            and np.all(bulk[name] >= enough)
            and np.all(diagnostics.ess_tail(draws) >= enough)
            for name, draws in parts.items()
        )
