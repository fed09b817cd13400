"""A live progress table in a terminal.

The table has one row for each chain, and one row for the whole run with the time left.
"""

import time
from collections.abc import Sequence
from typing import Any

from ..chain import Lengths, RunningChain
from .display import COLUMNS, ProgressRow, finished_text, further_text, row_of_all, rows_of_chains
from .forecast import Forecast

__all__ = ["TerminalProgress"]

EVERY = 0.1  # seconds
WIDTH = 14


class TerminalProgress:
    """A live table of a run's progress.

    Each row shows transitions, divergences, step size, speed and the time left: one row for each
    chain and one for all chains together. Several fits, such as the folds of a cross-validation,
    have one row in all.
    """

    may_be_lost = True  # a closed terminal does not end the run

    def __init__(self) -> None:
        from rich.console import Console

        self.console = Console(stderr=True)
        self.live: Any = None

    def say(self, text: str) -> None:
        self.console.print(text, style="dim", highlight=False, markup=False)

    def start(self, chains: Sequence[RunningChain], lengths: Lengths, at_once: int) -> None:
        from rich.live import Live

        self.forecast = Forecast(chains, lengths, at_once)
        self.live = Live(self._table(), console=self.console, refresh_per_second=8)
        self.live.start()
        self.last = time.perf_counter()

    def _table(self) -> Any:
        from rich.table import Table

        table = Table(box=None, padding=(0, 1))
        for heading in COLUMNS:
            table.add_column(heading, justify="left" if heading in ("", "phase") else "right")
        for row in rows_of_chains(self.forecast):
            table.add_row(*self._cells(row))
        if more := further_text(self.forecast):
            table.add_row("...", more)
        table.add_row(*self._cells(row_of_all(self.forecast)), style="bold")
        return table

    def _cells(self, row: ProgressRow) -> list[Any]:
        from rich.progress_bar import ProgressBar

        bar: Any = "" if row.share is None else ProgressBar(1.0, row.share, width=WIDTH)
        diverged = f"[red]{row.divergences:,}[/]" if row.divergences else "0"
        numbers = (row.transitions, diverged, row.step_size, row.speed, row.left)
        return [row.name, bar, row.phase, *numbers]

    def update(self) -> None:
        self.forecast.update()
        if time.perf_counter() - self.last > EVERY:
            self.last = time.perf_counter()
            self.live.update(self._table())

    def finish(self) -> None:
        if self.live is not None:
            self.live.update(self._table())
            self.live.stop()
            self.live = None
            self.say(finished_text(self.forecast.chains, self.forecast.elapsed))
