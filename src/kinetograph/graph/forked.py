"""Processes made by fork: JAX's threads stay in the parent, and a child would wait for ever.

So a child of a process in which JAX was at work says so when it is to compute something.
"""

import os

from jax._src.xla_bridge import backends_are_initialized  # there is no public way to ask

from .errors import ForkError

__all__ = ["require_threads"]


class _Process:
    crippled = False


def _note() -> None:
    _Process.crippled = _Process.crippled or backends_are_initialized()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note)


def require_threads() -> None:
    """Refuse to compute where the threads that would do it are missing."""
    if _Process.crippled:
        raise ForkError(
            "this process was forked from one in which JAX had been used, whose threads it does "
            "not have: a computation would never end. Start processes otherwise: "
            "multiprocessing.get_context('spawn').Pool(...), or 'forkserver', or "
            "ProcessPoolExecutor(mp_context=multiprocessing.get_context('spawn')); or fork before "
            "anything is computed"
        )
