"""Files that are written whole or not at all, and that tell when they are damaged."""

import hashlib
import hmac
import io
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np

__all__ = [
    "Damaged",
    "arrays_bytes",
    "arrays_of",
    "read_any",
    "read_sealed",
    "seal",
    "twins",
    "write_twice",
    "write_whole",
]

_MAGIC = b"kinetograph run\n"


class Damaged(Exception):
    """A file that is not as it was written."""


def write_whole(path: Path, *parts: bytes | memoryview) -> None:
    """Write a file beside its place and rename it."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        with open(part, "wb", buffering=0) as file:
            for data in parts:
                _write_all(file, data)
        os.replace(part, path)
    except BaseException as error:
        if isinstance(error, OSError) and error.errno is not None and error.filename2 is None:
            error.filename = str(path)  # what users know of
        with suppress(OSError):
            part.unlink()
        raise


def _write_all(file: io.FileIO, data: bytes | memoryview) -> None:
    left = memoryview(data)
    while len(left):
        left = left[file.write(left) :]


def _checksum(data: bytes, key: bytes) -> bytes:
    found = hmac.new(key, data, hashlib.sha256) if key else hashlib.sha256(data)
    return found.hexdigest().encode()


def seal(data: bytes, key: bytes = b"") -> bytes:
    """Data with their checksum, which nobody can make without the key if there is one."""
    return _MAGIC + _checksum(data, key) + b"\n" + data


def read_sealed(path: Path, key: bytes = b"") -> bytes:
    """What was sealed into a file, with this key.

    Raises
    ------
    Damaged
        If it is not whole, or there is none.
    """
    try:
        found = path.read_bytes()
    except OSError as error:
        raise Damaged(f"{path.name}: {error.strerror}") from error
    head, rest = found[: len(_MAGIC)], found[len(_MAGIC) :]
    checksum, line, data = rest[:64], rest[64:65], rest[65:]
    right = hmac.compare_digest(_checksum(data, key), checksum)
    if head != _MAGIC or line != b"\n" or not right:
        raise Damaged(f"{path.name} is damaged: its checksum is another than when it was written")
    return data


def arrays_bytes(values: Mapping[str, np.ndarray]) -> bytes:
    """Arrays by name, as bytes."""
    file = io.BytesIO()
    np.savez(file, **values)  # type: ignore[arg-type]
    return file.getvalue()


def arrays_of(data: bytes) -> dict[str, np.ndarray]:
    """The arrays that are in such bytes."""
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def twins(path: Path) -> tuple[Path, Path]:
    """The places of the two copies of a file."""
    return path.with_name(f"{path.name}.1"), path.with_name(f"{path.name}.2")


def write_twice(path: Path, data: bytes) -> None:
    """Write both copies, one after the other, so that one is always whole."""
    for twin in twins(path):
        write_whole(twin, seal(data))


def read_any(path: Path, both: bool = False) -> tuple[bytes, list[str]]:
    """What is in the copies of a file, and what is wrong with one of them.

    The second one is looked at where the first one is damaged, or both are to be.

    Raises
    ------
    Damaged
        If both are damaged, or missing.
    """
    wrong: list[str] = []
    found: list[bytes] = []
    for twin in twins(path):
        if both or not found:
            try:
                found.append(read_sealed(twin))
            except Damaged as error:
                wrong.append(str(error))
    if not found:
        raise Damaged("; ".join(wrong))
    return found[0], wrong
