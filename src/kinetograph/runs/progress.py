"""Progress of a run: a row per chain in a terminal, plain lines elsewhere, or nothing.

It looks at the chains from outside and cannot change a draw.
"""

import sys
import time
from collections.abc import Sequence
from typing import Any, Protocol

from .chain import Chain, Lengths

__all__ = ["PlainProgress", "Progress", "SilentProgress", "TerminalProgress", "make_progress"]

PLAIN_SECONDS = 5.0  # between lines where the output is no terminal


class Progress(Protocol):
    """What a run tells somebody who watches."""

    def say(self, text: str) -> None:
        """A line about what is being done."""

    def start(self, chains: Sequence[Chain], lengths: Lengths) -> None:
        """Sampling begins."""

    def update(self) -> None:
        """Called often while chains run."""

    def finish(self) -> None:
        """Sampling has ended."""


class SilentProgress:
    """Says nothing."""

    def say(self, text: str) -> None: ...
    def start(self, chains: Sequence[Chain], lengths: Lengths) -> None: ...
    def update(self) -> None: ...
    def finish(self) -> None: ...


def _eta(chain: Chain, lengths: Lengths) -> str:
    if not chain.transition or not chain.seconds:
        return "--:--"
    left = chain.left(lengths) * chain.seconds / chain.transition
    return f"{int(left) // 60:02d}:{int(left) % 60:02d}"


def _speed(chain: Chain) -> str:
    return f"{chain.transition / chain.seconds:,.0f}/s" if chain.seconds else "-"


def _phase(chain: Chain, lengths: Lengths) -> str:
    if chain.left(lengths) <= 0:
        return "done"
    return "warm-up" if chain.transition < chain.tuner.end else "sampling"


class PlainProgress:
    """Lines for logs: one every few seconds, and one at the end."""

    def __init__(self, stream: Any = None) -> None:
        self.stream = stream or sys.stderr

    def say(self, text: str) -> None:
        print(text, file=self.stream, flush=True)

    def start(self, chains: Sequence[Chain], lengths: Lengths) -> None:
        self.chains, self.lengths = chains, lengths
        self.begun = self.last = time.perf_counter()

    def update(self) -> None:
        now = time.perf_counter()
        if now - self.last >= PLAIN_SECONDS:
            self.last = now
            done = sum(c.transition for c in self.chains)
            total = max(done + sum(c.left(self.lengths) for c in self.chains), 1)
            divergences = sum(c.divergences for c in self.chains)
            slowest = max(self.chains, key=lambda c: c.left(self.lengths))
            most = slowest.transition + slowest.left(self.lengths)
            self.say(
                f"{100 * done // total:3d} %  slowest chain {slowest.transition} of {most} "
                f"({_phase(slowest, self.lengths)}), "
                f"{divergences} divergences, {_speed(slowest)}, {_eta(slowest, self.lengths)} left"
            )

    def finish(self) -> None:
        draws = sum(c.kept for c in self.chains)
        divergences = sum(c.divergences for c in self.chains)
        self.say(
            f"{draws} draws of {len(self.chains)} chains in "
            f"{time.perf_counter() - self.begun:.2f} s, {divergences} divergences"
        )


class TerminalProgress:
    """A live table in a terminal: draws, divergences, step size, speed and time left by chain."""

    def __init__(self) -> None:
        from rich.console import Console

        self.console = Console(stderr=True)
        self.live: Any = None

    def say(self, text: str) -> None:
        self.console.print(text, style="dim", highlight=False)

    def start(self, chains: Sequence[Chain], lengths: Lengths) -> None:
        from rich.live import Live

        self.chains, self.lengths = chains, lengths
        self.live = Live(self._table(), console=self.console, refresh_per_second=8)
        self.live.start()
        self.last = time.perf_counter()

    def _table(self) -> Any:
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        table = Table(box=None, padding=(0, 1))
        for heading in ("chain", "", "phase", "draws", "div.", "step", "speed", "left"):
            table.add_column(heading, justify="left" if heading in ("", "phase") else "right")
        for i, chain in enumerate(self.chains):
            diverged = f"[red]{chain.divergences}[/]" if chain.divergences else "0"
            table.add_row(
                str(i),
                ProgressBar(
                    chain.transition + chain.left(self.lengths), chain.transition, width=28
                ),
                _phase(chain, self.lengths),
                f"{chain.transition}/{chain.transition + chain.left(self.lengths)}",
                diverged,
                f"{chain.step_size:.3g}" if chain.transition else "-",
                _speed(chain),
                _eta(chain, self.lengths),
            )
        return table

    def update(self) -> None:
        if time.perf_counter() - self.last > 0.1:
            self.last = time.perf_counter()
            self.live.update(self._table())

    def finish(self) -> None:
        if self.live is not None:
            self.live.update(self._table())
            self.live.stop()
            self.live = None


def make_progress(wanted: Any) -> Progress:
    """The progress for `progress=`: True, False, or an object with the protocol's methods."""
    if wanted is True:
        return TerminalProgress() if sys.stderr.isatty() else PlainProgress()
    if wanted is False or wanted is None:
        return SilentProgress()
    if all(hasattr(wanted, name) for name in ("say", "start", "update", "finish")):
        return wanted
    raise TypeError(f"mcmc: progress must be True, False or a Progress, got {wanted!r}")
