"""The compiled programs that a process keeps in memory, and giving their memory back."""

import ctypes
import sys
import threading
import weakref
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import jax

from ..models.ancestral.rows import forget
from ..models.model import Model
from .pace import Pace

__all__ = ["HELD", "MOST", "Compiled", "clear_cache", "find", "hold", "trim"]

MOST = 64  # programs of all models together; each takes some 10 MiB

_LOCK = threading.Lock()
_TIMES = count(1)


@dataclass
class Compiled:
    """The executables of a program."""

    search: Any
    block: Any
    blank: Any  # a search that has not begun, on the device
    trace_seconds: float
    compile_seconds: float
    from_cache: bool
    pace: Pace
    used: int = field(default=0, compare=False)  # when it was asked for last, by a count


# The programs of each model: they go when the model goes.
HELD: "weakref.WeakKeyDictionary[Model, dict[Any, Compiled]]" = weakref.WeakKeyDictionary()


def find(model: Model, key: Any) -> Compiled | None:
    """A program of a model, if it is in memory."""
    with _LOCK:
        found = HELD.get(model, {}).get(key)
        if found is not None:
            found.used = next(_TIMES)
        return found


def hold(model: Model, key: Any, compiled: Compiled) -> None:
    """Keep a program; of more than `MOST` those that were used longest ago go."""
    with _LOCK:
        compiled.used = next(_TIMES)
        HELD.setdefault(model, {})[key] = compiled
        every = [(c.used, held, k) for held in HELD.values() for k, c in held.items()]
        every.sort(key=lambda entry: entry[0])
        for _, held, old in every[: max(len(every) - MOST, 0)]:
            held.pop(old, None)


def trim() -> None:
    """Give free memory back to the system: a compiler leaves tens of MiB of it to the process."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # a C library other than glibc
            ctypes.CDLL(None).malloc_trim(0)


def clear_cache() -> None:
    """Forget the compiled programs in memory, and give their memory back.

    A process keeps the 64 programs that runs used last, of all models together, each for as long
    as its model exists; a program takes some 10 MiB. A run that is under way keeps its own program.
    What JAX keeps of functions it has compiled is cleared too, by `jax.clear_caches()`: functions
    of `kg.compile`, and your own of `jax.jit`, are compiled once more when they are next called.

    The compiled programs on disk stay: the next run on a model loads its program from there, and
    draws the same to the last bit. To have none on disk, set KINETOGRAPH_CACHE=off. To remove those
    there are, delete the folder.

    On Linux with glibc, memory that is free then goes back to the system.

    Examples
    --------
    >>> import kinetograph as kg
    >>> model = kg.model(kg.normal(0, 1, name="x"))
    >>> first = kg.mcmc(model, seed=1, draws=100, warmup=100, progress=False)
    >>> kg.clear_cache()
    >>> again = kg.mcmc(model, seed=1, draws=100, warmup=100, progress=False)
    >>> bool((first["posterior"]["x"] == again["posterior"]["x"]).all())
    True
    """
    with _LOCK:
        HELD.clear()
    forget()
    jax.clear_caches()
    trim()
