"""Progress in a notebook: an HTML table that is updated in place."""

import sys
import time
from collections.abc import Sequence
from html import escape
from typing import Any

from ...graph.markup import Html, table
from ..chain import Lengths, RunningChain
from .display import COLUMNS, ProgressRow, finished_text, further_text, row_of_all, rows_of_chains
from .forecast import Forecast

__all__ = ["NotebookProgress", "in_notebook"]

EVERY = 0.2  # seconds
_DIM = "opacity:0.7;white-space:pre-wrap"


def in_notebook() -> bool:
    """Whether IPython runs in a kernel that displays output.

    Nothing is imported for this check.
    """
    module = sys.modules.get("IPython")
    shell = getattr(module, "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


class NotebookProgress:
    """A live progress table below the cell."""

    may_be_lost = True  # a closed front end does not end the run

    def __init__(self) -> None:
        from IPython.display import HTML, display  # only used if there is IPython

        self._html, self._display = HTML, display
        self._handle: Any = None
        self._lines: list[str] = []
        self.forecast: Forecast | None = None

    def say(self, text: str) -> None:
        self._lines.append(text)
        self._show()

    def start(self, chains: Sequence[RunningChain], lengths: Lengths, at_once: int) -> None:
        self.forecast = Forecast(chains, lengths, at_once)
        self.last = time.perf_counter()
        self._show()

    def update(self) -> None:
        assert self.forecast is not None
        self.forecast.update()
        if time.perf_counter() - self.last > EVERY:
            self.last = time.perf_counter()
            self._show()

    def finish(self) -> None:
        if self.forecast is not None:
            self.say(finished_text(self.forecast.chains, self.forecast.elapsed))

    def _show(self) -> None:
        shown = self._html(self.html())
        if self._handle is None:
            self._handle = self._display(shown, display_id=True)
        else:
            self._handle.update(shown)

    def html(self) -> str:
        """The HTML that is displayed."""
        lines = [f'<div style="{_DIM}">{escape(line)}</div>' for line in self._lines]
        return "\n".join(["<div>", *lines, self._table(), "</div>"])

    def _table(self) -> str:
        if self.forecast is None:
            return ""
        rows = [_cells(row) for row in rows_of_chains(self.forecast)]
        if more := further_text(self.forecast):
            rows.append(["...", more, *[""] * (len(COLUMNS) - 2)])
        return table(COLUMNS, [*rows, _cells(row_of_all(self.forecast))], numbers=True)


def _cells(row: ProgressRow) -> list[str]:
    numbers = [row.transitions, f"{row.divergences:,}", row.step_size, row.speed, row.left]
    return [row.name, _bar(row.share), row.phase, *numbers]


def _bar(share: float | None) -> str:
    """A progress bar that fits the colours of any page."""
    if share is None:
        return ""
    outer = "width:10em;height:0.6em;border-radius:0.3em;background:rgba(128,128,128,0.3)"
    inner = f"width:{100 * share:.1f}%;height:100%;border-radius:0.3em;background:#3b82c4"
    return Html(f'<div style="{outer};margin-top:0.35em"><div style="{inner}"></div></div>')
