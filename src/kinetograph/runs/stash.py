"""The draws of the run that was stopped last: `kg.stashed_samples`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..graph.errors import KinetographError
from ..models.typing import DataTree

__all__ = ["safe", "stash", "stashed", "stashed_samples"]

_LAST: list[Any] = []


def stash(tree: Any) -> None:
    """Keep the results of a run that did not end as it should."""
    _LAST[:] = [tree]


@contextmanager
def safe() -> Iterator[Callable[[Any, str], None]]:
    """Hold results while something is done with them; they stay in the stash if that fails.

    Gives a function that takes results, and a text about them for the error.
    """
    before, said = _LAST[:], ""

    def keep(tree: Any, what: str) -> None:
        nonlocal said
        stash(tree)
        said = what

    try:
        yield keep
    except Exception as error:
        if said:
            error.add_note(said)
        raise
    _LAST[:] = before


def stashed() -> Any:
    """What is held, or None."""
    return _LAST[0] if _LAST else None


def stashed_samples() -> "DataTree":
    """What the last run of this process that was stopped, or that failed, had drawn.

    Ctrl-C and SIGTERM stop a run; an error in a callback, in the model or on the disk ends it, and
    so does a warning about the finished run that is an error. What `kg.mcmc` gives then, or would
    have given, is held here until the next such run.

    Returns
    -------
    xarray.DataTree
        Results as those of `kg.mcmc`: as many draws of each chain as all have, none at all if it
        was stopped before; further ones of some chains in `tree["unfinished_posterior"]`.
        `kg.extra_samples(tree, model)` goes on from there, within warm-up, too.

    Raises
    ------
    KinetographError
        If no run has been stopped.

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
