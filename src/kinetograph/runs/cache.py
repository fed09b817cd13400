"""Compiled programs kept on disk, so that a second run of the same script compiles nothing.

A program is looked up by a digest of a text that says all it depends on: a fingerprint of the model
where there is one, else its lowered (StableHLO) text; with the versions that made it and the
processor. A wrong hit is not possible short of a collision. Entries are written beside and
renamed: a reader never sees half a file. Each is signed with a key of the user (`private`), and the
signature is checked before anything is unpickled: an entry that others have made, or that is
damaged, is removed, and so is one that was on trial (`trials`) in a process that has crashed. A
folder is not used if others may write to it, or to a folder above it. What comes out of JAX's own
cache of compilations cannot be written once more, so nothing is kept here where that one is on.

The environment variable KINETOGRAPH_CACHE names the folder; `off` switches the cache off.
"""

import contextlib
import functools
import hashlib
import os
import pickle
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import jaxlib
import numpy as np
from jax.experimental import serialize_executable

from ..graph.errors import KinetographWarning
from ..graph.source import warn_user
from .background import Task
from .private import KEY, private_key, written_by_others
from .sealed import read_sealed, seal, write_whole
from .trials import SUFFIX, Loaded, drop_crashed, on_trial, program_of

__all__ = ["cache_folder", "compile_cached", "processor"]

_SETTINGS = (
    "jax_default_matmul_precision",
    "jax_numpy_dtype_promotion",
    "jax_numpy_rank_promotion",
)
_KEPT, _BYTES = 400, 2**30  # entries, and all of them together; the oldest go first
_LEFT = 3600.0  # seconds after which a file that was being written is nobody's any more


def cache_folder() -> Path | None:
    """The folder of the cache; None where it is switched off."""
    named = os.environ.get("KINETOGRAPH_CACHE")
    if named is not None:
        return None if named.strip().lower() in ("", "0", "off", "no", "false") else Path(named)
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "kinetograph" / "programs"


def processor() -> str:
    """What machine code depends on."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("flags", "Features")):
                return line
    return platform.processor() or platform.machine()


def _surroundings() -> list[str]:
    """All that a program depends on beside its text."""
    device = jax.devices()[0]
    return [
        jax.__version__,
        jaxlib.__version__,
        sys.version,
        platform.machine(),
        processor(),
        device.platform,
        str(device.device_kind),
        os.environ.get("XLA_FLAGS", ""),
        # What of JAX's settings changes how a program is lowered, and how it is compiled.
        *(str(getattr(jax.config, name)) for name in _SETTINGS),
        str(jax.config.read("jax_disable_most_optimizations")),
    ]


def _digest(text: str) -> str:
    return hashlib.sha256("\0".join([text, *_surroundings()]).encode()).hexdigest()


def _usable_folder() -> tuple[Path, bytes] | None:
    """The folder of the cache and the key of its entries; None where it cannot be used."""
    folder = cache_folder()
    if folder is None:
        return None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        open_to_others = written_by_others(folder)
        key = None if open_to_others else private_key(folder / KEY)
    except OSError:
        return None
    if key is not None:
        return folder, key
    where = open_to_others or folder / KEY
    advice = f"chmod go-w {where}" if open_to_others else f"remove {where}"
    warn_user(
        f"the compile cache {folder} is not used: {where} is open to others; make it yours alone "
        f"({advice}), or set KINETOGRAPH_CACHE to a folder of yours",
        KinetographWarning,
    )
    return None


def compile_cached(
    text: str | None, lower: Callable[[], Any], found: Callable[[], Any] = bool
) -> tuple[Any, bool]:
    """The executable of a program, and whether it came from the cache.

    `text` says all the program depends on; without it, what `lower()` gives is asked for its own.
    Where there is an entry `found` is called, before that is read.
    """
    usable = _usable_folder()
    if usable is None:
        return Task(lower().compile).result(), False
    folder, key = usable
    lowered = None
    if text is None:
        lowered = lower()
        # What is kept has the structures of arguments and results, empty parts included.
        text = "\n".join([lowered.as_text(), str(lowered.in_tree), str(lowered.out_tree)])
    path = folder / f"{_digest(text)}.xla"
    if path.exists():
        found()
    executable = _load(path, key)
    if executable is not None:
        return executable, True
    executable = Task((lower() if lowered is None else lowered).compile).result()
    _store(path, key, executable)
    return executable, False


def _load(path: Path, key: bytes) -> Any:
    if drop_crashed(path) or not path.exists():
        return None
    try:
        payload = read_sealed(path, key)
        if b"lapack" in payload:
            _link_lapack()
        with on_trial(path):
            executable = serialize_executable.deserialize_and_load(*pickle.loads(payload))
    except Exception:  # not as it was written, or a runtime that refuses it
        with contextlib.suppress(OSError):
            path.unlink()
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return Loaded(executable, path)


@functools.cache
def _link_lapack() -> None:
    """Have JAX look up LAPACK's functions, as it does when it lowers a call of one.

    A program that comes out of the cache was lowered in another process: its first factorisation
    would call what is nowhere.
    """
    jax.jit(jnp.linalg.cholesky).lower(np.eye(1, dtype=np.float32))


def _store(path: Path, key: bytes, executable: Any) -> None:
    """Keep a program; a cache that cannot be written is no reason to fail."""
    if jax.config.jax_compilation_cache_dir and jax.config.jax_enable_compilation_cache:
        return
    try:
        data = seal(pickle.dumps(serialize_executable.serialize(executable)), key)
        if len(data) <= _BYTES:
            _tidy(path.parent)
            write_whole(path, data)
            _bound(path.parent)
    except Exception:
        return


def _tidy(folder: Path) -> None:
    """Remove what processes that are gone have left."""
    for pattern in (".*.part", "tmp*"):
        for left in folder.glob(pattern):
            with contextlib.suppress(OSError):
                if time.time() - left.stat().st_mtime > _LEFT:
                    left.unlink()
    for program in {program_of(marker) for marker in folder.glob(f".*{SUFFIX}")}:
        drop_crashed(program)


def _bound(folder: Path) -> None:
    """Remove the entries that were used longest ago, if there are too many."""
    found = []
    for path in folder.glob("*.xla"):
        with contextlib.suppress(OSError):  # another process has removed it
            status = path.stat()
            found.append((status.st_mtime, status.st_size, path))
    total = 0
    for place, (_, size, path) in enumerate(sorted(found, reverse=True)):
        total += size
        if place >= _KEPT or total > _BYTES:
            path.unlink(missing_ok=True)
