"""Progress of a run: a table, plain lines, or nothing.

Terminals and notebooks show a table, other outputs get plain lines. Progress reads the chains from
outside and cannot change a draw.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..chain import Lengths, RunningChain
from .forecast import Forecast, clock_text

__all__ = [
    "COLUMNS",
    "PlainProgress",
    "Progress",
    "ProgressRow",
    "SilentProgress",
    "finished_text",
    "further_text",
    "row_of_all",
    "rows_of_chains",
]

PLAIN_SECONDS = 5.0  # between lines where the output is not a terminal
MOST_ROWS = 16  # of a table
# A row has 80 characters in all.
COLUMNS = ("chain", "", "phase", "transitions", "div.", "step", "speed", "left")


class Progress(Protocol):
    """The reports that a run makes to an observer."""

    def say(self, text: str) -> None:
        """Show a line of text."""

    def start(self, chains: Sequence[RunningChain], lengths: Lengths, at_once: int) -> None:
        """Sampling begins; `at_once` chains run at the same time."""

    def update(self) -> None:
        """Called often while chains run."""

    def finish(self) -> None:
        """Sampling has ended."""


class SilentProgress:
    """Progress that shows nothing."""

    def say(self, text: str) -> None: ...
    def start(self, chains: Sequence[RunningChain], lengths: Lengths, at_once: int) -> None: ...
    def update(self) -> None: ...
    def finish(self) -> None: ...


@dataclass(frozen=True)
class ProgressRow:
    """A row of the table, for one chain or for all chains."""

    name: str
    share: float | None  # the part of the work that is done, from 0 to 1
    phase: str
    transitions: str
    divergences: int
    step_size: str
    speed: str
    left: str


def _phase(chain: RunningChain, lengths: Lengths) -> str:
    if chain.left(lengths) <= 0:
        return "done"
    return "warm-up" if chain.transition < chain.tuner.end else "sampling"


def _speed(speed: float | None) -> str:
    if speed is None:
        return "-"
    return f"{speed:,.0f}/s" if speed >= 10 else f"{speed:.2g}/s"


def _fits(forecast: Forecast) -> int:
    """The number of fits whose chains run side by side.

    A cross-validation has several; each of them has a chain with the number 0.
    """
    return sum(chain.number == 0 for chain in forecast.chains)


def rows_of_chains(forecast: Forecast) -> list[ProgressRow]:
    """The rows of the first `MOST_ROWS` chains.

    Chains of several fits have none.
    """
    if _fits(forecast) > 1:
        return []
    lengths, rows = forecast.lengths, []
    for place, chain in enumerate(forecast.chains[:MOST_ROWS]):
        transitions, total, share = f"{chain.transition:,}", "", None
        if not forecast.endless:
            all_transitions = max(forecast.of_all(chain), 1)
            tilde = "" if forecast.end_is_known(chain) else "~"
            total, share = f"/{tilde}{all_transitions:,}", chain.transition / all_transitions
        row = ProgressRow(
            str(chain.number),
            share,
            _phase(chain, lengths),
            transitions + total,
            chain.divergences,
            f"{chain.step_size:.3g}" if chain.transition else "-",
            _speed(forecast.speed(place)),
            clock_text(forecast.left(place)),
        )
        rows.append(row)
    return rows


def row_of_all(forecast: Forecast) -> ProgressRow:
    """The row of the whole run, with its time left."""
    phases = {_phase(chain, forecast.lengths) for chain in forecast.chains}
    phase = phases.pop() if len(phases) == 1 else "sampling" if "sampling" in phases else "warm-up"
    share, fits = forecast.share, _fits(forecast)
    if fits > 1:
        size = len(forecast.chains) // fits
        groups = [forecast.chains[i : i + size] for i in range(0, len(forecast.chains), size)]
        done = sum(all(c.left(forecast.lengths) <= 0 for c in group) for group in groups)
        phase = f"{done} of {fits} fits done"
    return ProgressRow(
        "all",
        share,
        phase,
        f"{sum(c.transition for c in forecast.chains):,}" if share is None else _percent(share),
        sum(chain.divergences for chain in forecast.chains),
        "",
        _speed(forecast.speed_of_all),
        clock_text(forecast.left()),
    )


def further_text(forecast: Forecast) -> str:
    """A text with the number of chains without a row."""
    hidden = 0 if _fits(forecast) > 1 else len(forecast.chains) - MOST_ROWS
    return f"{hidden} further chains" if hidden > 0 else ""


def _percent(share: float) -> str:
    return f"{int(100 * share)} %"  # rounded down, so 100 only when all is done


def finished_text(chains: Sequence[RunningChain], seconds: float) -> str:
    """A summary of the finished run in one line."""
    draws, divergences = sum(c.kept for c in chains), sum(c.divergences for c in chains)
    return (
        f"{draws:,} draws of {len(chains)} chains in {seconds:.2f} s, {divergences:,} divergences"
    )


class PlainProgress:
    """Lines for logs: one every few seconds, and one at the end."""

    may_be_lost = True  # a closed stream does not end the run

    def __init__(self, stream: Any = None) -> None:
        self.stream = stream or sys.stderr

    def say(self, text: str) -> None:
        print(text, file=self.stream, flush=True)

    def start(self, chains: Sequence[RunningChain], lengths: Lengths, at_once: int) -> None:
        self.forecast = Forecast(chains, lengths, at_once)
        self.last = time.perf_counter()

    def update(self) -> None:
        self.forecast.update()
        now = time.perf_counter()
        if now - self.last >= PLAIN_SECONDS:
            self.last = now
            self.say(self._line())

    def _line(self) -> str:
        forecast, row = self.forecast, row_of_all(self.forecast)
        slowest = max(forecast.chains, key=lambda c: c.left(forecast.lengths))
        of_all = f" of {forecast.of_all(slowest):,}"
        if forecast.endless:
            of_all, left = "", "until the run is stopped"
        else:
            left = f"{row.left} left"
            is_exact = forecast.end_is_known(slowest)
            of_all = of_all if is_exact else of_all.replace(" of", " of about")
        head = "" if row.share is None else f"{row.transitions:>5}  "
        if _fits(forecast) > 1:
            return f"{head}{row.phase}, {row.divergences} divergences, {row.speed} in all, {left}"
        return (
            f"{head}slowest chain {slowest.transition:,}{of_all} "
            f"({_phase(slowest, forecast.lengths)}), {row.divergences} divergences, "
            f"{row.speed} in all, {left}"
        )

    def finish(self) -> None:
        self.say(finished_text(self.forecast.chains, self.forecast.elapsed))
