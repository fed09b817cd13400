"""`kg.Dataset`: rows of arrays as elements, shuffled, in batches, repeated."""

import operator
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numpy as np

from ..autograph.iterables import Rows, register_iterable
from ..graph.array import Array
from ..graph.control.structure import flatten
from ..graph.errors import ShapeError
from ..graph.inputs import data
from ..graph.public import public
from ..graph.source import place_text
from ..graph.value_texts import shown
from ..streams.default import random
from ..streams.streams import RandomStreams
from .iterator import DatasetIterator
from .readers import Graph, Plain
from .steps import (
    ArrayRows,
    BatchedElements,
    Counted,
    Cut,
    Enumerate,
    Map,
    Numbers,
    Opened,
    PipelineStep,
    Reach,
    Repeat,
    Shuffle,
    Zip,
)

__all__ = ["Dataset"]


@public
class Dataset:
    """Data in memory; element i is row i of every array.

    A `for` over a dataset in converted code (`kg.function`) becomes a loop of the graph: a scan,
    or, with `break` or `return`, a loop that ends early. There `iter(dataset)` has a position that
    is part of the graph's state: a second loop over it continues where the first one ended, and
    `next` takes one element. In plain Python a dataset is an ordinary iterable of NumPy arrays.

    Methods return new datasets and compute nothing. Their order matters: `shuffle().repeat()` gives
    each element once in every pass, but `repeat(3).shuffle()` mixes the passes. Batches of
    `repeat().batch(k)` can span the end of a pass, batches of `batch(k).repeat()` do not.

    Parameters
    ----------
    arrays
        An array, or a structure of arrays (tuples, dictionaries, named tuples, dataclasses) with
        the same number of rows: NumPy arrays, anything that `kg.data` accepts, or arrays of the
        graph. A list is one array. Elements have the same structure, without the first axis.

    Raises
    ------
    ShapeError
        If an array has no rows, or the numbers of rows differ.
    ValueError
        If there is no array.
    DataError
        If values are not numeric, or missing or infinite.

    Examples
    --------
    >>> import kinetograph as kg
    >>> import numpy as np
    >>> x = np.arange(6.0).reshape(6, 1)
    >>> pairs = kg.Dataset((x, 2 * x[:, 0]))
    >>> len(pairs.batch(2))
    3

    Least squares by stochastic gradient descent:

    >>> @kg.function
    ... def fit(rate):
    ...     w = kg.data([0.0])
    ...     for rows, y in pairs.shuffle(seed=1).repeat(20).batch(2):
    ...         w = w - rate * rows.T @ (rows @ w - y)
    ...     return w
    >>> fit(0.03).round(6).tolist()
    [2.0]

    In plain Python:

    >>> [int(y) for _, y in pairs.take(3)]
    [0, 2, 4]
    """

    _step: PipelineStep

    def __init__(self, arrays: Any) -> None:
        leaves, paths, structure = flatten(arrays, "arrays", lambda v: isinstance(v, list))
        if not leaves:
            raise ValueError(f"Dataset: expected an array{place_text()}, got {shown(arrays)}")
        columns = [leaf if isinstance(leaf, Array) else data(leaf) for leaf in leaves]
        for array, path in zip(columns, paths, strict=True):
            if not array.shape:
                raise ShapeError(
                    f"Dataset: {path} is a single number (0-d array){place_text()}; give arrays "
                    "whose rows are the elements"
                )
        lengths = [array.shape[0] for array in columns]
        if len(set(lengths)) > 1:
            pairs = zip(paths, lengths, strict=True)
            row_counts = ", ".join(f"{path} has {length}" for path, length in pairs)
            raise ShapeError(
                f"Dataset: arrays need the same number of rows{place_text()}, but {row_counts}; "
                "cut the longer arrays, or use zip, which ends with the shortest dataset"
            )
        self._step = ArrayRows(columns, structure, lengths[0])

    @classmethod
    def _of(cls, step: PipelineStep) -> "Dataset":
        dataset = object.__new__(cls)
        dataset._step = step
        return dataset

    @classmethod
    def range(cls, *bounds: int) -> "Dataset":
        """The numbers of Python's `range(*bounds)`, as int64.

        Examples
        --------
        >>> import kinetograph as kg
        >>> [int(i) for i in kg.Dataset.range(1, 6, 2)]
        [1, 3, 5]
        """
        numbers = range(*(_whole("range", "bound", bound, None) for bound in bounds))
        return cls._of(Counted(numbers.start, numbers.step, len(numbers)))

    def shuffle(self, streams: RandomStreams | None = None, seed: Any = None) -> "Dataset":
        """The elements in random order; every pass has a new order.

        All n! orders are equally likely. Each loop over the dataset takes one draw of the random
        stream, so a compiled function uses new orders in every call. Its first orders equal the
        orders of the first loop in plain Python.

        Parameters
        ----------
        streams
            The random streams to draw from; `kg.random` by default.
        seed
            The metaseed of new random streams for this dataset alone.

        Raises
        ------
        ValueError
            If the dataset has no end, or `streams` and `seed` are both given.
        TypeError
            If `streams` is not a `kg.RandomStreams`.

        Examples
        --------
        >>> import kinetograph as kg
        >>> orders = kg.Dataset.range(5).shuffle(seed=3)
        >>> first, second = ([int(i) for i in orders] for _ in range(2))
        >>> sorted(first) == sorted(second) == [0, 1, 2, 3, 4], first == second
        (True, False)
        """
        if streams is not None and seed is not None:
            raise ValueError(f"shuffle: give streams or seed, not both{place_text()}")
        if streams is None:
            streams = random if seed is None else RandomStreams(seed)
        if not isinstance(streams, RandomStreams):
            raise TypeError(
                f"shuffle: streams must be kg.RandomStreams, got {type(streams).__name__}"
                f"{place_text()}"
            )
        length = self._end("shuffle", "take a number of elements first, or repeat afterwards")
        return self._of(Shuffle(self._step, length, streams._stream(None)))

    def batch(self, size: int, drop_remainder: bool = True) -> "Dataset":
        """Batches of `size` elements, stacked along a new first axis.

        Parameters
        ----------
        size
            The number of elements in a batch.
        drop_remainder
            Whether to drop the last elements if they do not fill a batch. Shapes are fixed in
            compiled programs, so the last batch cannot be smaller.

        Raises
        ------
        ValueError
            If the size is not positive or exceeds the length of the dataset, or if there is a
            remainder and `drop_remainder` is False.

        Examples
        --------
        >>> import kinetograph as kg
        >>> [b.tolist() for b in kg.Dataset.range(7).batch(3)]
        [[0, 1, 2], [3, 4, 5]]
        """
        size = _whole("batch", "size", size, 1)
        length = self._step.length
        if length is None:
            return self._of(BatchedElements(self._step, size, None))
        if size > length:
            raise ValueError(
                f"batch: the size {size} is larger than the dataset, which has {length} "
                f"elements{place_text()}; take smaller batches, or repeat first"
            )
        remainder = length % size
        if remainder and not drop_remainder:
            raise ValueError(
                f"batch: {length} elements make {length // size} batches of {size} and {remainder} "
                f"elements are left{place_text()}: with drop_remainder=False the last batch would "
                "have another shape, and shapes are fixed in compiled programs; take a size that "
                f"divides {length}, drop the remainder, or call .repeat() before .batch({size})"
            )
        return self._of(BatchedElements(self._step, size, length // size))

    def repeat(self, count: int | None = None) -> "Dataset":
        """The elements `count` times; without end if `count` is None.

        Loops over a dataset without end need `break` or `return`.

        Examples
        --------
        >>> import kinetograph as kg
        >>> [int(i) for i in kg.Dataset.range(2).repeat(3)]
        [0, 1, 0, 1, 0, 1]
        """
        if count is not None:
            count = _whole("repeat", "count", count, 0)
        length = self._step.length
        if length is None or count == 1:
            return self if count != 0 else self.take(0)
        if not length:
            if count is None:
                raise ValueError(f"repeat: the dataset has no elements{place_text()}")
            return self
        if count == 0:
            return self.take(0)
        return self._of(Repeat(self._step, count, None if count is None else count * length))

    def map(self, f: Callable[[Any], Any]) -> "Dataset":
        """Apply f to each element; f is converted as by `kg.autograph.convert`.

        Parameters
        ----------
        f
            A function of one argument. In a graph it is called once, with arrays of the graph; in
            plain Python it is called with the NumPy values of each element.

        Examples
        --------
        >>> import kinetograph as kg
        >>> [int(i) for i in kg.Dataset.range(3).map(lambda i: i * i)]
        [0, 1, 4]
        """
        if not callable(f):
            raise TypeError(f"map: f must be callable, got {type(f).__name__}{place_text()}")
        return self._of(Map(self._step, f, self._step.length))

    def take(self, n: int) -> "Dataset":
        """The first n elements, or all if there are fewer."""
        n = _whole("take", "n", n, 0)
        length = self._step.length
        return self._of(Cut(self._step, 0, n if length is None else min(n, length)))

    def skip(self, n: int) -> "Dataset":
        """All but the first n elements."""
        n = _whole("skip", "n", n, 0)
        length = self._step.length
        return self._of(Cut(self._step, n, None if length is None else max(length - n, 0)))

    def enumerate(self, start: int = 0) -> "Dataset":
        """Pairs (number, element), numbered from `start`.

        A later `repeat` starts again with `start` in every pass.
        """
        start = _whole("enumerate", "start", start, None)
        return self._of(Enumerate(self._step, start, self._step.length))

    def zip(self, *others: "Dataset") -> "Dataset":
        """Tuples of the elements of this and other datasets.

        The result is as long as the shortest dataset.

        Examples
        --------
        >>> import kinetograph as kg
        >>> squares = kg.Dataset.range(9).map(lambda i: i * i)
        >>> [(int(i), int(s)) for i, s in kg.Dataset.range(2, 4).zip(squares)]
        [(2, 0), (3, 1)]
        """
        for other in others:
            if not isinstance(other, Dataset):
                raise TypeError(
                    f"zip: expected datasets, got {type(other).__name__}{place_text()}; make one "
                    "with kg.Dataset(array)"
                )
        parts = (self._step, *(other._step for other in others))
        lengths = [part.length for part in parts if part.length is not None]
        return self._of(Zip(parts, min(lengths) if lengths else None))

    def _end(self, doing: str, advice: str) -> int:
        if self._step.length is None:
            raise ValueError(f"{doing}: the dataset has no end{place_text()}; {advice}")
        return self._step.length

    def __len__(self) -> int:
        if self._step.length is None:
            raise TypeError(f"{self!r} has no length{place_text()}: it repeats without end")
        return self._step.length

    def __bool__(self) -> bool:
        return self._step.length != 0

    def __iter__(self) -> Iterator[Any]:
        length = self._step.length
        opened = self._step.open(Plain(), Reach(length))
        numbers = count() if length is None else range(length)
        return (opened.pick(Numbers(np.int64(i))) for i in numbers)

    def __graph_iter__(self) -> DatasetIterator:
        """The iterator that `iter` returns in converted code."""
        return DatasetIterator(*_open(self), repr(self))

    def __repr__(self) -> str:
        length = self._step.length
        extent = "without end" if length is None else f"of {length} elements"
        return f"<kinetograph.Dataset {extent}>"


def _open(dataset: Dataset) -> tuple[int | None, Opened]:
    """The number of elements, and the steps opened for one loop.

    Each call takes a new random order.
    """
    length = dataset._step.length
    return length, dataset._step.open(Graph(), Reach(length))


def _rows(dataset: Dataset) -> Rows:
    length, opened = _open(dataset)
    rows, of = opened.rows, opened.of
    if rows is None or of is None:
        return Rows(length, lambda i: opened.pick(Numbers(i)))
    return Rows(length, lambda i: opened.pick(Numbers(i)), rows(), lambda row: of(row, ()))


register_iterable(Dataset, _rows)


def _whole(doing: str, name: str, value: Any, least: int | None) -> int:
    """A Python whole number, at least `least`."""
    try:
        if isinstance(value, (bool, np.bool_, Array)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(
            f"{doing}: {name} must be a Python whole number, got {value!r}{place_text()}"
        ) from None
    if least is not None and number < least:
        allowed = "positive" if least == 1 else "not negative"
        raise ValueError(f"{doing}: {name} must be {allowed}, got {number}{place_text()}")
    return number
