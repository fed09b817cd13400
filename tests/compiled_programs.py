"""A folder of XLA's programs that sessions of the tests share.

Most of the time of the tests is that of XLA's compiler. The folder belongs to JAX's own cache: a
program is found by its text, its options and the versions of the libraries, so a changed program is
compiled again. The everyday tests on a second version of Python find all programs of the first.
"""

import os
import time
from pathlib import Path

import jax
from jax._src import compilation_cache
from jax._src.lru_cache import LRUCache

__all__ = ["FOLDER", "drop_unused", "use"]

FOLDER = Path(__file__).resolve().parent.parent / ".cache" / "programs"
UNUSED = 14 * 86400.0  # seconds after which an entry is dropped


class _Entries(LRUCache):
    """The entries of the folder, which are renamed when they are whole.

    JAX writes an entry in place, where another process may read a part of it.
    """

    def get(self, key: str) -> bytes | None:
        """An entry; its time is that of its last use."""
        value = super().get(key)
        if value is not None:
            os.utime(self._place(key))
        return value

    def put(self, key: str, value: bytes) -> None:
        """Add an entry."""
        part = self._place(key).with_suffix(f".{os.getpid()}")
        part.write_bytes(value)
        part.replace(self._place(key))

    def _place(self, key: str) -> Path:
        return Path(self.path) / f"{key}-cache"


compilation_cache.get_file_cache = lambda path: (_Entries(path, max_size=-1), path)


def use(on: bool) -> None:
    """Whether programs come from the folder, and go into it."""
    jax.config.update("jax_compilation_cache_dir", str(FOLDER) if on else None)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    compilation_cache.reset_cache()


def drop_unused() -> None:
    """Remove entries that no session has used for two weeks."""
    for path in FOLDER.glob("*"):
        if time.time() - path.stat().st_mtime > UNUSED:
            path.unlink(missing_ok=True)
