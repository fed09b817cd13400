"""Files that are written completely or not at all, with checksums."""

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
    """A file whose content is not as it was written."""


def write_whole(path: Path, *parts: bytes | memoryview) -> None:
    """Write a temporary file next to the path, and rename it."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        with open(temporary, "wb", buffering=0) as file:
            for data in parts:
                _write_all(file, data)
        os.replace(temporary, path)
    except BaseException as error:
        if isinstance(error, OSError) and error.errno is not None and error.filename2 is None:
            error.filename = str(path)  # the path that the user knows
        with suppress(OSError):
            temporary.unlink()
        raise


def _write_all(file: io.FileIO, data: bytes | memoryview) -> None:
    remaining = memoryview(data)
    while len(remaining):
        remaining = remaining[file.write(remaining) :]


def _checksum(data: bytes, key: bytes) -> bytes:
    digest = hmac.new(key, data, hashlib.sha256) if key else hashlib.sha256(data)
    return digest.hexdigest().encode()


def seal(data: bytes, key: bytes = b"") -> bytes:
    """Data with a checksum; with a key the checksum is a signature."""
    return _MAGIC + _checksum(data, key) + b"\n" + data


def read_sealed(path: Path, key: bytes = b"") -> bytes:
    """The data sealed in a file with this key.

    Raises
    ------
    Damaged
        If the file is damaged or missing.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise Damaged(f"{path.name}: {error.strerror}") from error
    head, rest = content[: len(_MAGIC)], content[len(_MAGIC) :]
    checksum, line, data = rest[:64], rest[64:65], rest[65:]
    checksum_is_right = hmac.compare_digest(_checksum(data, key), checksum)
    if head != _MAGIC or line != b"\n" or not checksum_is_right:
        raise Damaged(f"{path.name} is damaged: its content does not match its checksum")
    return data


def arrays_bytes(values: Mapping[str, np.ndarray]) -> bytes:
    """Arrays by name, as bytes."""
    file = io.BytesIO()
    np.savez(file, **values)  # type: ignore[arg-type]
    return file.getvalue()


def arrays_of(data: bytes | bytearray | memoryview) -> dict[str, np.ndarray]:
    """The arrays that `arrays_bytes` wrote."""
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def twins(path: Path) -> tuple[Path, Path]:
    """The paths of the two copies of a file."""
    return path.with_name(f"{path.name}.1"), path.with_name(f"{path.name}.2")


def write_twice(path: Path, data: bytes) -> None:
    """Write both copies in turn, so that one is always intact."""
    for twin in twins(path):
        write_whole(twin, seal(data))


def read_any(path: Path, both: bool = False) -> tuple[bytes, list[str]]:
    """The content of a file with two copies, and their problems.

    The second copy is read only if the first one is damaged, or if `both` is set.

    Raises
    ------
    Damaged
        If both copies are damaged or missing.
    """
    problems: list[str] = []
    contents: list[bytes] = []
    for twin in twins(path):
        if both or not contents:
            try:
                contents.append(read_sealed(twin))
            except Damaged as error:
                problems.append(str(error))
    if not contents:
        raise Damaged("; ".join(problems))
    return contents[0], problems
