"""Compiled programs on disk, so that a second run compiles nothing.

A program is looked up by the digest of a text of all that it depends on: a fingerprint of the model
if there is one, else the lowered (StableHLO) text; in both cases with the versions of the libraries
and the processor. A wrong hit would need a collision of digests. An entry is written to a temporary
file that is then renamed, so that a reader never sees half a file. Each entry is signed with a key
of the user (`private`), and the signature is checked before anything is unpickled. An entry that
another user made, or that is damaged, is removed, and so is an entry that was on trial (`trials`)
in a process that crashed. A folder is not used if other users may write to it, or to a folder above
it. An executable from JAX's own compilation cache cannot be serialised again, so nothing is stored
while that cache is on.

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
from collections.abc import Callable, Sequence
from functools import partial
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
from .other_devices import default_device, load_for
from .private_key import KEY, private_key, written_by_others
from .sealed_files import read_sealed, seal, write_whole
from .trials import SUFFIX, Loaded, drop_crashed, on_trial, program_of

__all__ = ["cache_folder", "compile_cached", "for_devices", "processor"]

_SETTINGS = (
    "jax_default_matmul_precision",
    "jax_numpy_dtype_promotion",
    "jax_numpy_rank_promotion",
)
# Beyond these limits the least recently used entries are removed.
_MOST_ENTRIES, _MOST_BYTES = 400, 2**30
_ABANDONED = 3600.0  # seconds after which an unfinished file counts as abandoned


def cache_folder() -> Path | None:
    """The folder of the cache; None if it is switched off."""
    setting = os.environ.get("KINETOGRAPH_CACHE")
    if setting is not None:
        return None if setting.strip().lower() in ("", "0", "off", "no", "false") else Path(setting)
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "kinetograph" / "programs"


def processor() -> str:
    """A text of the processor's features, on which machine code depends."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("flags", "Features")):
                return line
    return platform.processor() or platform.machine()


def _surroundings() -> list[str]:
    """All that a program depends on apart from its text."""
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
        # JAX's settings that change how a program is lowered and compiled.
        *(str(getattr(jax.config, name)) for name in _SETTINGS),
        str(jax.config.read("jax_disable_most_optimizations")),
    ]


def _digest(text: str, devices: Sequence[Any]) -> str:
    places = [f"{device.id} {device.device_kind}" for device in devices]
    parts = [text, *_surroundings(), *places]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _usable_folder() -> tuple[Path, bytes] | None:
    """The folder and key of the cache; None if not usable."""
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
    unsafe_path = open_to_others or folder / KEY
    advice = f"chmod go-w {unsafe_path}" if open_to_others else f"remove {unsafe_path}"
    warn_user(
        f"the compile cache {folder} is not used, because other users can change {unsafe_path}; "
        f"restrict it to yourself ({advice}), or set KINETOGRAPH_CACHE to a folder of your own",
        KinetographWarning,
    )
    return None


def compile_cached(
    text: str | None,
    lower: Callable[[], Any],
    on_hit: Callable[[], Any] = bool,
    devices: Sequence[Any] = (),
) -> tuple[Any, bool]:
    """The executable of a program, and whether it came from the cache.

    `text` lists all that the program depends on; without it the lowered program gives the text. If
    there is an entry, `on_hit` is called before the entry is read. `devices` are the devices of the
    program, by default JAX's default device. They are part of the key.
    """
    usable = _usable_folder()
    if usable is None:
        return Task(lower().compile).result(), False
    folder, key = usable
    devices = devices or (default_device(),)
    lowered = None
    if text is None:
        lowered = lower()
        # An entry contains the structures of arguments and results, so they are part of the text.
        text = "\n".join([lowered.as_text(), str(lowered.in_tree), str(lowered.out_tree)])
    path = folder / f"{_digest(text, devices)}.xla"
    if path.exists():
        on_hit()
    executable = _load(path, key, devices)
    if executable is not None:
        return executable, True
    executable = Task((lower() if lowered is None else lowered).compile).result()
    _store(path, key, executable)
    return executable, False


def _load(path: Path, key: bytes, devices: Sequence[Any]) -> Any:
    if drop_crashed(path) or not path.exists():
        return None
    try:
        payload = read_sealed(path, key)
        if b"lapack" in payload:
            _link_lapack()
        with on_trial(path):
            serialised, *trees = pickle.loads(payload)
            places: Any = {"execution_devices": list(devices)}
            executable = serialize_executable.deserialize_and_load(serialised, *trees, **places)
    except Exception:  # damaged, or refused by the runtime
        with contextlib.suppress(OSError):
            path.unlink()
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return Loaded(executable, path)


def for_devices(executable: Any, devices: Sequence[Any]) -> list[Any] | None:
    """An executable, loaded for other devices of its kind.

    None if that is not possible: the program calls the host, or the runtime refuses it. An
    executable from a file cannot be serialised again, so the file is read.
    """
    if executable is None or not devices:  # a program may have nothing to search for
        return [None for _ in devices]
    loaded = isinstance(executable, Loaded)
    try:
        serialised = _read_again(executable) if loaded else _serialised(executable)
        each = [Task(partial(load_for, device, *serialised)) for device in devices]
        executables = [task.result() for task in each]
    except Exception:
        return None
    return [Loaded(each, executable.path) for each in executables] if loaded else executables


def _serialised(executable: Any) -> Any:
    if jax.config.jax_compilation_cache_dir and jax.config.jax_enable_compilation_cache:
        raise ValueError("it may come from JAX's cache")
    return serialize_executable.serialize(executable)


def _read_again(executable: Loaded) -> Any:
    usable = _usable_folder()
    if usable is None:
        raise ValueError("the cache is not used any more")
    return pickle.loads(read_sealed(executable.path, usable[1]))


@functools.cache
def _link_lapack() -> None:
    """Make JAX look up LAPACK's functions.

    JAX looks them up when it lowers a call of one of them. A program from the cache was
    lowered in another process: without this call, its first factorisation would call a function
    whose address is not set.
    """
    jax.jit(jnp.linalg.cholesky).lower(np.eye(1, dtype=np.float32))


def _store(path: Path, key: bytes, executable: Any) -> None:
    """Store a program; if the cache cannot be written, nothing happens."""
    try:
        data = seal(pickle.dumps(_serialised(executable)), key)
        if len(data) <= _MOST_BYTES:
            _tidy(path.parent)
            write_whole(path, data)
            _bound(path.parent)
    except Exception:
        return


def _tidy(folder: Path) -> None:
    """Remove files of processes that no longer exist."""
    for pattern in (".*.part", "tmp*"):
        for file in folder.glob(pattern):
            with contextlib.suppress(OSError):
                if time.time() - file.stat().st_mtime > _ABANDONED:
                    file.unlink()
    for program in {program_of(marker) for marker in folder.glob(f".*{SUFFIX}")}:
        drop_crashed(program)


def _bound(folder: Path) -> None:
    """Remove the least recently used entries, if there are too many."""
    entries = []
    for path in folder.glob("*.xla"):
        with contextlib.suppress(OSError):  # another process has removed it
            status = path.stat()
            entries.append((status.st_mtime, status.st_size, path))
    total = 0
    for place, (_, size, path) in enumerate(sorted(entries, reverse=True)):
        total += size
        if place >= _MOST_ENTRIES or total > _MOST_BYTES:
            path.unlink(missing_ok=True)
