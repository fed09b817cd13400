"""Progress of a run: a table in terminals and notebooks, plain lines elsewhere, or nothing.

It looks at the chains from outside and cannot change a draw.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .chain import Chain, Lengths
from .forecast import Forecast, clock_text

__all__ = [
    "COLUMNS",
    "PlainProgress",
    "Progress",
    "Row",
    "SilentProgress",
    "finished_text",
    "further_text",
    "row_of_all",
    "rows_of_chains",
]

PLAIN_SECONDS = 5.0  # between lines where the output is no terminal
MOST_ROWS = 16  # of a table
COLUMNS = ("chain", "", "phase", "transitions", "div.", "step", "speed", "left")  # 80 characters


class Progress(Protocol):
    """What a run tells somebody who watches."""

    def say(self, text: str) -> None:
        """A line about what is being done."""

    def start(self, chains: Sequence[Chain], lengths: Lengths, at_once: int) -> None:
        """Sampling begins, of so many chains at once."""

    def update(self) -> None:
        """Called often while chains run."""

    def finish(self) -> None:
        """Sampling has ended."""


class SilentProgress:
    """Says nothing."""

    def say(self, text: str) -> None: ...
    def start(self, chains: Sequence[Chain], lengths: Lengths, at_once: int) -> None: ...
    def update(self) -> None: ...
    def finish(self) -> None: ...


@dataclass(frozen=True)
class Row:
    """A row of a table: of a chain, or of all."""

    name: str
    share: float | None  # of what is to be done
    phase: str
    transitions: str
    divergences: int
    step_size: str
    speed: str
    left: str


def _phase(chain: Chain, lengths: Lengths) -> str:
    if chain.left(lengths) <= 0:
        return "done"
    return "warm-up" if chain.transition < chain.tuner.end else "sampling"


def _speed(speed: float | None) -> str:
    if speed is None:
        return "-"
    return f"{speed:,.0f}/s" if speed >= 10 else f"{speed:.2g}/s"


def rows_of_chains(forecast: Forecast) -> list[Row]:
    """The rows of a table, of as many chains as there is room for."""
    lengths, rows = forecast.lengths, []
    for place, chain in enumerate(forecast.chains[:MOST_ROWS]):
        made, total, share = f"{chain.transition:,}", "", None
        if not forecast.endless:
            of_all = max(forecast.of_all(chain), 1)
            about = "" if forecast.known(chain) else "~"
            total, share = f"/{about}{of_all:,}", chain.transition / of_all
        row = Row(
            str(chain.number),
            share,
            _phase(chain, lengths),
            made + total,
            chain.divergences,
            f"{chain.step_size:.3g}" if chain.transition else "-",
            _speed(forecast.speed(place)),
            clock_text(forecast.left(place)),
        )
        rows.append(row)
    return rows


def row_of_all(forecast: Forecast) -> Row:
    """The row of the run: its own transitions, and its time left."""
    phases = {_phase(chain, forecast.lengths) for chain in forecast.chains}
    phase = phases.pop() if len(phases) == 1 else "sampling" if "sampling" in phases else "warm-up"
    share = forecast.share
    return Row(
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
    """Of the chains for which a table has no room, how many they are."""
    more = len(forecast.chains) - MOST_ROWS
    return f"{more} further chains" if more > 0 else ""


def _percent(share: float) -> str:
    return f"{int(100 * share)} %"  # 100 when all is done


def finished_text(chains: Sequence[Chain], seconds: float) -> str:
    """What has come of it."""
    draws, divergences = sum(c.kept for c in chains), sum(c.divergences for c in chains)
    return (
        f"{draws:,} draws of {len(chains)} chains in {seconds:.2f} s, {divergences:,} divergences"
    )


class PlainProgress:
    """Lines for logs: one every few seconds, and one at the end."""

    may_be_lost = True  # with the stream: that ends no run

    def __init__(self, stream: Any = None) -> None:
        self.stream = stream or sys.stderr

    def say(self, text: str) -> None:
        print(text, file=self.stream, flush=True)

    def start(self, chains: Sequence[Chain], lengths: Lengths, at_once: int) -> None:
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
            of_all, left = "", "until it is stopped"
        else:
            left = f"{row.left} left"
            of_all = of_all if forecast.known(slowest) else of_all.replace(" of", " of about")
        head = "" if row.share is None else f"{row.transitions:>5}  "
        return (
            f"{head}slowest chain {slowest.transition:,}{of_all} "
            f"({_phase(slowest, forecast.lengths)}), {row.divergences} divergences, "
            f"{row.speed} in all, {left}"
        )

    def finish(self) -> None:
        self.say(finished_text(self.forecast.chains, self.forecast.elapsed))
