"""The compiled programs in memory, and how their memory is freed."""

import ctypes
import sys
import threading
import weakref
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import jax

from ..graph.public import public
from ..models.ancestral.rows import forget
from ..models.model import Model
from .pace import Pace

__all__ = ["PROGRAMS", "MOST", "CompiledProgram", "clear_cache", "find", "hold", "trim"]

MOST = 64  # programs of all models together; each takes about 10 MiB

_LOCK = threading.Lock()
_TIMES = count(1)


@dataclass
class CompiledProgram:
    """The executables of a program."""

    search: Any
    block: Any
    blank: Any  # the state of a search that has not begun, on the device
    trace_seconds: float
    compile_seconds: float
    from_cache: bool
    pace: Pace
    elsewhere: "dict[Any, CompiledProgram]" = field(default_factory=dict)  # by other devices
    used: int = field(default=0, compare=False)  # the time of the last use, in counts

    @property
    def times_text(self) -> str:
        """The times of tracing and compiling, for users."""
        return (
            f"traced in {self.trace_seconds:.2f} s, "
            f"{'loaded' if self.from_cache else 'compiled'} in {self.compile_seconds:.2f} s"
        )


# The programs of each model, removed with the model.
PROGRAMS: "weakref.WeakKeyDictionary[Model, dict[Any, CompiledProgram]]" = (
    weakref.WeakKeyDictionary()
)


def find(model: Model, key: Any) -> CompiledProgram | None:
    """A program of a model, if it is in memory."""
    with _LOCK:
        compiled = PROGRAMS.get(model, {}).get(key)
        if compiled is not None:
            compiled.used = next(_TIMES)
        return compiled


def hold(model: Model, key: Any, compiled: CompiledProgram) -> None:
    """Keep a program, and forget the least recently used beyond `MOST`."""
    with _LOCK:
        compiled.used = next(_TIMES)
        PROGRAMS.setdefault(model, {})[key] = compiled
        every = [
            (c.used, programs, k) for programs in PROGRAMS.values() for k, c in programs.items()
        ]
        every.sort(key=lambda entry: entry[0])
        for _, programs, old in every[: max(len(every) - MOST, 0)]:
            programs.pop(old, None)


def trim() -> None:
    """Return free memory to the system.

    After a compilation tens of MiB of free memory would stay with the process.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # the C library is not glibc
            ctypes.CDLL(None).malloc_trim(0)


@public
def clear_cache() -> None:
    """Forget the compiled programs in memory, and free their memory.

    A process keeps the 64 programs that runs used last, of all models together, each for as long as
    its model exists; a program takes about 10 MiB. A run in progress keeps its own program. JAX's
    caches of compiled functions are cleared, too, by `jax.clear_caches()`: functions of
    `kg.compile`, and your own functions of `jax.jit`, are compiled once more at their next call.

    The compiled programs on disk stay: the next run of a model loads its program from there, and
    its draws are the same to the last bit. To keep no programs on disk, set KINETOGRAPH_CACHE=off.
    To remove the present ones, delete the folder.

    On Linux with glibc, the freed memory is returned to the system.

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
        PROGRAMS.clear()
    forget()
    jax.clear_caches()
    trim()
