"""The ways in which the chains of a run are computed."""

from typing import Any

import jax

from .arguments import check_one_of

__all__ = ["CHAIN_METHODS", "chain_method_of"]

CHAIN_METHODS = ("threads", "batch")
_WORDS = {  # of other libraries
    "parallel": '"threads"',
    "sequential": '"threads", threads=1',
    "vectorized": '"batch"',
    "vmap": '"batch"',
}


def chain_method_of(given: Any, threads: Any, doing: str = "mcmc") -> str:
    """The way in which chains run, by default what suits the device."""
    if given is None:
        return "threads" if jax.default_backend() == "cpu" else "batch"
    check_one_of(doing, "chain_method", given, CHAIN_METHODS, words=_WORDS)
    if given == "batch" and threads is not None:
        raise ValueError(
            f"{doing}: a batch of chains is one program on one thread, so threads={threads} has no "
            'effect; leave it out, or give chain_method="threads"'
        )
    return str(given)
