"""Reports of a run: to a progress display, and to Python's `logging`.

The logger is `kinetograph.runs` and the level INFO, so nothing is shown unless it is enabled.
"""

import logging
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from ...graph.value_texts import shown
from ..chain import Lengths, RunningChain
from .display import PlainProgress, Progress, SilentProgress, finished_text

__all__ = ["LOG", "LoggedProgress", "make_progress"]

LOG = logging.getLogger("kinetograph.runs")


def make_progress(given: Any, doing: str = "mcmc") -> Progress:
    """The progress display for `progress=`.

    `progress=` is True, False, or an object with the methods of `Progress`. Other values raise
    TypeError.
    """
    if given is True:
        from .notebook import NotebookProgress, in_notebook
        from .terminal import TerminalProgress

        if in_notebook():
            return NotebookProgress()
        if sys.stderr is None or sys.stderr.closed:  # there is no output
            return SilentProgress()
        return TerminalProgress() if sys.stderr.isatty() else PlainProgress()
    if given is False or given is None:
        return SilentProgress()
    if all(hasattr(given, name) for name in ("say", "start", "update", "finish")):
        return given
    raise TypeError(f"{doing}: progress must be True, False or a Progress, got {shown(given)}")


class LoggedProgress:
    """A progress display whose texts go to the log, too.

    If a display of kinetograph can no longer write, it is replaced by a silent one, and the run
    continues.
    """

    def __init__(self, shown: Progress, doing: str) -> None:
        self.shown, self.doing = shown, doing
        self._chains: Sequence[RunningChain] = ()
        self._warming: list[RunningChain] = []

    def log(self, text: str) -> None:
        """Write a line to the log only."""
        LOG.info("%s: %s", self.doing, text)

    def _show(self, call: Callable[[], None]) -> None:
        try:
            call()
        except (OSError, ValueError) as error:  # a closed stream raises ValueError
            if not getattr(self.shown, "may_be_lost", False):
                raise
            broken, self.shown = self.shown, SilentProgress()
            with suppress(Exception):
                broken.finish()
            self.log(f"progress can no longer be shown: {error}")

    def say(self, text: str) -> None:
        self.log(text)
        self._show(lambda: self.shown.say(text))

    def start(self, chains: Sequence[RunningChain], lengths: Lengths, at_once: int) -> None:
        self.begun, self._chains = time.perf_counter(), chains
        self._warming = [chain for chain in chains if chain.transition < chain.tuner.end]
        draws = (
            "until the run is stopped" if lengths.draws is None else f"{lengths.draws:,} draws each"
        )
        self.log(f"sampling begins: {len(chains)} chains, {at_once} at once, {draws}")
        self._show(lambda: self.shown.start(chains, lengths, at_once))

    def update(self) -> None:
        self._look()
        self._show(self.shown.update)

    def _look(self) -> None:
        warming, self._warming = self._warming, []
        for chain in warming:
            if chain.transition < chain.tuner.end:
                self._warming.append(chain)
                continue
            self.log(
                f"chain {chain.number}: warm-up ended after {chain.tuner.end} transitions, "
                f"step size {chain.step_size:.3g}"
            )

    def finish(self) -> None:
        self._look()
        self._show(self.shown.finish)
        self.log(finished_text(self._chains, time.perf_counter() - self.begun))
