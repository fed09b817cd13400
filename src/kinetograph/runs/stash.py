"""The draws of the last run that was stopped or failed: `kg.stashed_samples`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..graph.errors import KinetographError
from ..graph.public import public
from ..models.result_types import DataTree

__all__ = ["safe", "stash", "stashed", "stashed_samples"]

_LAST: list[Any] = []


def stash(tree: Any) -> None:
    """Keep the results of a run that was stopped or failed."""
    _LAST[:] = [tree]


@contextmanager
def safe() -> Iterator[Callable[[Any, str], None]]:
    """Hold results while they are processed.

    If the processing fails, they stay in the stash. Yields a function that takes results, and a
    text about them that is added to an error as a note. If nothing fails, the stash has its earlier
    content again afterwards.
    """
    before, note = _LAST[:], ""

    def keep(tree: Any, text: str) -> None:
        nonlocal note
        stash(tree)
        note = text

    try:
        yield keep
    except Exception as error:
        if note:
            error.add_note(note)
        raise
    _LAST[:] = before


def stashed() -> Any:
    """The results in the stash, or None."""
    return _LAST[0] if _LAST else None


@public
def stashed_samples() -> "DataTree":
    """The draws of the last run that was stopped or failed.

    The run must have been in this process. Ctrl-C and SIGTERM stop a run. An error in a callback,
    in the model or on the disk ends it, and so does a warning about the finished run if warnings
    are errors. The results that `kg.mcmc` returns in such a case, or would have returned, stay here
    until the next run that is stopped or fails.

    Returns
    -------
    xarray.DataTree
        Results in the format of `kg.mcmc`. Each chain has as many draws as the chain with the
        fewest draws; if the run was stopped before any chain had a draw, there are none. Further
        draws of some chains are in `tree["unfinished_posterior"]`. `kg.extra_samples(tree, model)`
        continues the run, also if it was stopped within warm-up.

    Raises
    ------
    KinetographError
        If no run has been stopped or has failed.

    Examples
    --------
    >>> import kinetograph as kg
    >>> model = kg.model(kg.normal(0, 1, name="x"))
    >>> def impatient(so_far):
    ...     raise RuntimeError("no longer")
    >>> try:
    ...     tree = kg.mcmc(model, seed=1, draws=100_000, progress=False, callback=impatient)
    ... except RuntimeError:
    ...     tree = kg.stashed_samples()
    >>> tree["posterior"].sizes["chain"]
    4
    """
    if not _LAST:
        raise KinetographError(
            "stashed_samples: no run of this process has been stopped or has failed"
        )
    tree: DataTree = _LAST[0]
    return tree
