"""Progress of a computation whose amount is known before it begins."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Progress", "counted"]

Progress = bool | Callable[[int, int], Any]
PLAIN_SECONDS = 5.0  # between lines where the output is not a terminal


@contextmanager
def counted(progress: Progress, doing: str, total: int, of: str) -> Iterator[Callable[[int], None]]:
    """Give a function that takes the number of further things done.

    The amount is shown before the computation begins: on standard error as a bar in a terminal and
    as lines elsewhere, or by calls of `progress(done, total)`, the first one with done = 0.

    Raises
    ------
    TypeError
        If `progress` is not True, False or a function.
    """
    if callable(progress):
        yield from _called(progress, total)
    elif progress is False:
        yield lambda count: None
    elif progress is not True:
        raise TypeError(
            f"{doing}: progress must be True, False or a function of the number done and the "
            f"number of all, got {progress!r:.60}"
        )
    elif sys.stderr is not None and sys.stderr.isatty():
        yield from _bar(doing, total, of)
    else:
        yield from _called(_Lines(doing, of), total)


def _called(call: Callable[[int, int], Any], total: int) -> Iterator[Callable[[int], None]]:
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        call(done, total)

    call(0, total)
    yield advance


def _bar(doing: str, total: int, of: str) -> Iterator[Callable[[int], None]]:
    from rich import progress as rich
    from rich.console import Console

    columns = (
        *(rich.TextColumn("{task.description}"), rich.BarColumn(), rich.MofNCompleteColumn()),
        *(rich.TextColumn(of), rich.TimeRemainingColumn()),
    )
    with rich.Progress(*columns, console=Console(stderr=True)) as shown:
        task = shown.add_task(doing, total=total)
        yield lambda count: shown.advance(task, count)


class _Lines:
    """Lines for logs: the amount, and one every few seconds."""

    def __init__(self, doing: str, of: str) -> None:
        self.doing, self.of, self.begun = doing, of, time.perf_counter()
        self.last = self.begun

    def __call__(self, done: int, total: int) -> None:
        now = time.perf_counter()
        if done == 0:
            text = f"{total:,} {self.of}"
        elif done >= total:
            text = f"{total:,} {self.of} in {now - self.begun:.2f} s"
        elif now - self.last >= PLAIN_SECONDS:
            left = (now - self.begun) * (total - done) / done
            text = f"{100 * done // total} %, {left:.0f} s left"
        else:
            return
        self.last = now
        if sys.stderr is not None:
            print(f"{self.doing}: {text}", file=sys.stderr, flush=True)
