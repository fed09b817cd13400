"""A guard against computing in forked processes.

A fork copies no threads. If JAX was in use in the parent, a computation in the child would wait
forever for JAX's threads. So the child raises an error when it tries to compute something.
"""

import os

from jax._src.xla_bridge import backends_are_initialized  # there is no public function

from .errors import ForkError

__all__ = ["require_threads"]


class _Process:
    lacks_threads = False


def _note() -> None:
    _Process.lacks_threads = _Process.lacks_threads or backends_are_initialized()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note)


def require_threads() -> None:
    """Raise ForkError if this process lacks JAX's threads."""
    if _Process.lacks_threads:
        raise ForkError(
            "this process was forked from one in which JAX had been used, and does not have its "
            "threads: a computation would never end. Start processes in another way: "
            "multiprocessing.get_context('spawn').Pool(...), or 'forkserver', or "
            "ProcessPoolExecutor(mp_context=multiprocessing.get_context('spawn')); or fork before "
            "anything is computed"
        )
