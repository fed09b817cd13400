"""Saved states of streams, with their algorithm and version."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..bits.keys import STREAM_VERSION
from ..graph.public import public

__all__ = ["ALGORITHM", "SavedStreams"]

ALGORITHM = "threefry4x32-20"


@contextmanager
def _reading(function: str, writer: str) -> Iterator[None]:
    """Name the method that writes states in errors of reading them."""
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise ValueError(
            f"{function}: expected the states that {writer} wrote, unchanged; {reason}"
        ) from error


def _state(name: str, words: Any) -> np.ndarray:
    """The words of a state: whole numbers of 32 bits."""
    array = np.array(words)
    if array.dtype.kind not in "iu" or np.any((array < 0) | (array >= 2**32)):
        raise ValueError(
            f"the state of stream {name} must be whole numbers from 0 to 2**32 - 1, got "
            f"{array.tolist()}"
        )
    return array.astype(np.uint32)


def _word(text: Any) -> int:
    """The number that `to_json` wrote as eight hexadecimal digits."""
    if not isinstance(text, str) or not re.fullmatch("[0-9a-f]{8}", text):
        raise ValueError(f"a word of a state must be eight hexadecimal digits, got {text!r}")
    return int(text, 16)


@public
class SavedStreams:
    """The states of the streams of a compiled function; made by `RandomStreams.getstate`.

    Attributes
    ----------
    streams
        For each stream its key and counter: six words, uint32.

    Raises
    ------
    ValueError
        If the words of a state are not whole numbers of 32 bits.

    Examples
    --------
    >>> import kinetograph as kg
    >>> streams = kg.RandomStreams(1)
    >>> f = kg.compile([], streams.normal())
    >>> saved = streams.getstate(f)
    >>> text = saved.to_json()
    >>> before = f()
    >>> streams.setstate(f, kg.SavedStreams.from_json(text))
    >>> bool(f() == before)
    True
    """

    def __init__(
        self,
        streams: Mapping[str, Any],
        algorithm: str = ALGORITHM,
        version: int = STREAM_VERSION,
    ) -> None:
        self.streams = {name: _state(name, words) for name, words in streams.items()}
        self.algorithm, self.version = algorithm, version

    def check(self) -> None:
        """Check that this version of kinetograph draws the same numbers.

        Raises
        ------
        ValueError
            If algorithm or version differ, or a state is not six words.
        """
        if (self.algorithm, self.version) != (ALGORITHM, STREAM_VERSION):
            raise ValueError(
                f"the state is of algorithm {self.algorithm!r}, stream version {self.version}; "
                f"this is {ALGORITHM!r}, stream version {STREAM_VERSION}"
            )
        for name, words in self.streams.items():
            if words.shape != (6,):
                raise ValueError(f"the state of stream {name} has shape {words.shape}, not (6,)")

    def to_json(self) -> str:
        """The states as a text in JSON."""
        streams = {name: [f"{int(w):08x}" for w in words] for name, words in self.streams.items()}
        return json.dumps(
            {"algorithm": self.algorithm, "version": self.version, "streams": streams}
        )

    @staticmethod
    def from_json(text: str) -> "SavedStreams":
        """Read a text that `to_json` wrote.

        Raises
        ------
        ValueError
            If it is another text.
        """
        with _reading("from_json", "to_json"):
            content = json.loads(text)
            streams = {
                name: [_word(word) for word in words] for name, words in content["streams"].items()
            }
            return SavedStreams(streams, content["algorithm"], content["version"])

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Arrays for `numpy.savez(file, **saved.to_arrays())`."""
        names = np.array(list(self.streams), dtype=np.str_)
        words = np.array(list(self.streams.values()), np.uint32).reshape(-1, 6)
        head = np.array([self.algorithm, str(self.version)], dtype=np.str_)
        return {"format": head, "streams": names, "words": words}

    @staticmethod
    def from_arrays(arrays: Mapping[str, np.ndarray]) -> "SavedStreams":
        """Read the arrays that `numpy.load` returns for such a file.

        Raises
        ------
        ValueError
            If they are other arrays.
        """
        with _reading("from_arrays", "to_arrays"):
            algorithm, version = arrays["format"].tolist()
            streams = dict(zip(arrays["streams"].tolist(), arrays["words"], strict=True))
            return SavedStreams(streams, algorithm, int(version))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, SavedStreams)
            and (self.algorithm, self.version) == (other.algorithm, other.version)
            and self.streams.keys() == other.streams.keys()
            and all(np.array_equal(w, other.streams[n]) for n, w in self.streams.items())
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<states of {len(self.streams)} streams, {self.algorithm}, version {self.version}>"
