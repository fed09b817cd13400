"""Interrupted runs, in which no block of steps is half made."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import deepcopy
from typing import Any

from ..graph.source import warn_user
from ..results.advice import SamplingWarning
from .record_files import BegunFile

__all__ = ["undone_by_errors", "warn_of_stop"]


@contextmanager
def undone_by_errors(
    walkers: Any, averages: Any, files: dict[str, BegunFile], written: Mapping[str, BegunFile]
) -> Iterator[None]:
    """Restore everything if a block of steps is not completed.

    `files` are the files that the simulation began, and `written` are the files that this run
    continues, by path. They lose the rows of the block. A file that the block began is replaced by
    the next run.
    """
    chains, numbers = walkers.snapshot(), deepcopy(vars(averages))
    lengths, before = dict(files), dict(written)
    try:
        yield
    except BaseException:
        walkers.restore(chains)
        vars(averages).update(numbers)
        files.clear()
        files.update(lengths)
        for path, file in before.items():
            with suppress(OSError, ValueError):  # the next run removes the rows, too
                if file.is_in(path):
                    file.cut(path)
        raise


def warn_of_stop(role: str, steps_made: int, steps: int) -> None:
    """Warn that Ctrl-C has stopped a run."""
    reached = (
        f"stopped by Ctrl-C after {steps_made} of {steps} steps. The records and files have the "
        "rows of these steps, and the next run continues."
        if steps_made < steps
        else "Ctrl-C came during the last steps, and the run is complete."
    )
    warn_user(f"{role}: {reached}", SamplingWarning)
