"""`kg.RandomStreams`: random draws in a graph with separate streams.

A stream belongs to one draw in one compiled function. Its key depends on the metaseed and on the
number of the draw in its `RandomStreams`, or on its name. It does not depend on the position in the
graph, on other draws, or on how often functions are compiled.

The design follows Theano's RandomStreams (Bergstra et al. 2010).
"""

import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from ..bits.keys import MEMBER, STREAM_VERSION, Seed, check_seed, fresh_seed, make_key
from ..graph.array import Array
from ..graph.compiling.state_values import StateValues
from ..graph.control.contexts import ControlFlowContext
from ..graph.hooks import ON_DISCARD, ON_ROLLBACK
from ..graph.node import Node
from ..graph.public import public
from ..graph.saving.document import storable
from ..graph.saving.fields import SetOf, either, fields, size
from ..graph.source import here, site_of, variable_name
from ..graph.suggestions import Closed
from .methods import Draws
from .operations import Draw, StreamCell, advance_stream, counter_of, initial_state
from .saved import ALGORITHM, SavedStreams

__all__ = ["RandomStreams", "Stream", "StreamState"]


class Compiled(Protocol):
    """A function with states: a result of `kg.compile` or `kg.function`."""

    @property
    def state(self) -> StateValues:
        """The values of the states."""
        ...


_COUNTING = threading.Lock()


@storable
class Stream:
    """The stream of one random operation; `array.rng`."""

    def __init__(self, owner: "RandomStreams", member: int | str) -> None:
        self.owner = owner
        self.member = member
        self.array: weakref.ref[Array] | None = None  # for messages
        self.thread = threading.get_ident()
        name = member if isinstance(member, str) else None
        key = make_key(owner.metaseed, MEMBER, member)
        self.cell = StreamCell(self, initial_state(key), name)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "array": None, "thread": 0}

    @property
    def label(self) -> str:
        """The number of the draw in its RandomStreams, or its name."""
        return repr(self.member) if isinstance(self.member, str) else f"member {self.member}"

    @property
    def identity(self) -> str:
        """The key of the stream in saved states."""
        return f"{self.owner.metaseed} {self.label}"

    @property
    def title(self) -> str:
        """The name of the stream in messages."""
        array = self.array() if self.array is not None else None
        name = (array.name or variable_name(array)) if array is not None else None
        owner_name = variable_name(self.owner)
        return (
            f"stream of {name or 'a draw'!r} (created by RandomStreams {owner_name or ''}"
            f"{' ' if owner_name else ''}at {site_of(self.cell.place)}, {self.label})"
        )

    def __repr__(self) -> str:
        return f"<{self.title}>"


class StreamState:
    """The state of a stream in a compiled function; `fn.state[array.rng]`.

    Two states are equal (`==`) if they belong to the same stream in the same function. `same_as`
    compares keys and counters.
    """

    def __init__(self, values: StateValues, stream: Stream) -> None:
        self._values, self.stream = values, stream

    @property
    def words(self) -> np.ndarray:
        """The key and the counter as six words, uint32.

        The key has four words; the counter has a low and a high word.
        """
        return self._values.raw(self.stream.cell)

    @property
    def key(self) -> tuple[int, ...]:
        """The key: four 32-bit words."""
        return tuple(int(word) for word in self.words[:4])

    @property
    def counter(self) -> int:
        """The number of the next draw.

        It is the number of draws so far, except after a batch with draws in a branch or loop: then
        it is the next multiple of 2**32.
        """
        return counter_of(self.words)

    @counter.setter
    def counter(self, value: int) -> None:
        self._values.set_raw(self.stream.cell, initial_state(self.words[:4], value))

    @property
    def value(self) -> dict[str, Any]:
        """The state as plain data, with its stream and algorithm."""
        return {
            "stream": self.stream.label,
            "algorithm": ALGORITHM,
            "version": STREAM_VERSION,
            "key": [f"{word:08x}" for word in self.key],
            "counter": self.counter,
        }

    def same_as(self, other: "StreamState") -> bool:
        """Whether both states give the same numbers from now on."""
        return bool(np.array_equal(self.words, other.words))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, StreamState)
            and other._values is self._values
            and other.stream is self.stream
        )

    def __hash__(self) -> int:
        return hash((id(self._values), id(self.stream)))

    def __repr__(self) -> str:
        key = " ".join(f"{word:08x}" for word in self.key)
        return f"<{self.stream.label}: {ALGORITHM}, key {key}, counter {self.counter}>"


@public
@storable
class RandomStreams(Closed, Draws):
    """A source of random draws with separate streams.

    Parameters
    ----------
    metaseed
        A whole number of any size, or a list of them, from which the keys of all streams are made.
        None takes one from the system's entropy; the attribute `metaseed` has it.

    Raises
    ------
    TypeError
        If the metaseed is not a whole number or a list of them.
    ValueError
        If it is negative or an empty list.

    Examples
    --------
    >>> import kinetograph as kg
    >>> streams = kg.RandomStreams(metaseed=872364)
    >>> u = streams.uniform(shape=(3,))
    >>> f = kg.compile([], u)
    >>> first, second = f(), f()
    >>> streams.seed(f, 872364)
    >>> bool((f() == first).all())
    True
    >>> f.state[u.rng].counter
    1

    References
    ----------
    Bergstra et al. (2010), Theano: a CPU and GPU math compiler in Python, SciPy.
    """

    _instead = (
        "kg.RandomStreams(metaseed) makes streams, and streams.seed(f, bits) seeds the streams of f"
    )

    def __init__(self, metaseed: Any = None) -> None:
        self.metaseed: Seed = (
            fresh_seed() if metaseed is None else check_seed(metaseed, "RandomStreams: metaseed")
        )
        self._identity = fresh_seed()  # survives pickling, and differs for equal metaseeds
        self._place: Any = here()
        self._arrays: list[Array] = []
        self._names: set[str] = set()
        self._count = 0
        _ALL.add(self)

    def __getstate__(self) -> dict[str, Any]:
        # It is pickled with a function that uses its streams; its other draws are not saved.
        content = {**self.__dict__, "_place": site_of(self._place), "_arrays": []}
        return {name: value for name, value in content.items() if name != "__weakref__"}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RandomStreams) and other._identity == self._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def results(self) -> Iterator[Array]:
        """The arrays drawn from this object, in order of creation."""
        return iter(tuple(self._arrays))

    def __contains__(self, array: object) -> bool:
        return any(drawn is array for drawn in self._arrays)

    def _stream(self, name: str | None) -> Stream:
        with _COUNTING:
            if name is None:
                member: int | str = self._count
                self._count += 1
            else:
                if not isinstance(name, str) or not name:
                    raise TypeError(f"RandomStreams: name must be a text, got {name!r}")
                if name in self._names:
                    raise ValueError(
                        f"RandomStreams: there is a draw of the name {name!r} already; two would "
                        "give the same numbers"
                    )
                self._names.add(name)
                member = name
        return Stream(self, member)

    def _next(self, name: str | None) -> tuple[Node, Stream]:
        stream = self._stream(name)
        return advance_stream(stream.cell), stream

    def _keep(self, node: Draw) -> Array:
        array = Array(node)
        node.stream.array = weakref.ref(array)
        self._arrays.append(array)
        return array

    def _forget(self, context: ControlFlowContext) -> None:
        """Undo draws of a context that is built again."""

        def inside(node: Node) -> bool:
            owner = node.context
            return owner is not None and context in owner.enclosing()

        self._take_back(inside)

    def _forget_since(self, serial: int) -> None:
        """Undo the last draws of this thread, from a serial number on."""
        thread = threading.get_ident()
        self._take_back(lambda draw: draw.serial >= serial and draw.stream.thread == thread)

    def _take_back(self, undone: Callable[[Draw], bool]) -> None:
        with _COUNTING:
            while self._arrays:
                draw = self._arrays[-1].node
                assert isinstance(draw, Draw)
                if not undone(draw):
                    return
                member = draw.stream.member
                if isinstance(member, str):
                    self._names.discard(member)
                elif member == self._count - 1:  # no other thread has drawn in between
                    self._count = member
                self._arrays.pop()

    # States of compiled functions.
    def _members(self, fn: Compiled) -> list[Stream]:
        if not isinstance(getattr(fn, "state", None), StateValues):
            expected = "a result of kg.compile or kg.function"
            raise TypeError(f"expected {expected}, got {type(fn).__name__}")
        cells = fn.state.cells
        return [c.stream for c in cells if isinstance(c, StreamCell) and c.stream.owner == self]

    def _drawn_streams(self, fn: Compiled, doing: str) -> list[Stream]:
        members = self._members(fn)
        if not members:
            name = variable_name(self) or ""
            raise ValueError(
                f"{doing}: {fn!r}{fn.state.note} draws nothing from RandomStreams {name} "
                f"(made at {site_of(self._place)}, metaseed {self.metaseed})"
            )
        return members

    def seed(self, fn: Compiled, bits: Any) -> None:
        """Reset all streams of this object in a function to new keys.

        Their counters restart at 0. A compiled function starts in the state `seed(fn, metaseed)`.

        Parameters
        ----------
        fn
            A result of `kg.compile` or `kg.function`; of the latter, the graphs made so far.
        bits
            A whole number of any size, or a list of them.

        Raises
        ------
        TypeError, ValueError
            If `bits` is not such a number, or the function draws nothing from this object.
        """
        seed = check_seed(bits, "seed")
        for stream in self._drawn_streams(fn, "seed"):
            fn.state.set_raw(stream.cell, initial_state(make_key(seed, MEMBER, stream.member)))

    def getstate(self, fn: Compiled) -> SavedStreams:
        """Copy the states of all streams of this object in a function.

        It can be pickled, and written as JSON or into npz files.
        """
        members = self._drawn_streams(fn, "getstate")
        return SavedStreams({m.identity: fn.state.raw(m.cell) for m in members})

    def setstate(self, fn: Compiled, state: SavedStreams, *, strict: bool = True) -> None:
        """Restore a saved state, in the same function or another one.

        Parameters
        ----------
        fn
            A result of `kg.compile` or `kg.function`; of the latter, the graphs made so far.
        state
            A result of `getstate`.
        strict
            Whether function and state must have the same streams; if not, the common ones are set.

        Raises
        ------
        ValueError
            If the streams, the algorithm or the version of the state differ.
        """
        if not isinstance(state, SavedStreams):
            raise TypeError(f"setstate: expected a result of getstate, got {type(state).__name__}")
        state.check()
        members = {m.identity: m for m in self._drawn_streams(fn, "setstate")}
        saved = state.streams
        if (strict and set(members) != set(saved)) or not set(members) & set(saved):
            raise ValueError(
                f"setstate: state has streams {{{', '.join(sorted(saved))}}}, function has "
                f"{{{', '.join(sorted(members))}}}"
            )
        for identity, member in members.items():
            if identity in saved:
                fn.state.set_raw(member.cell, saved[identity])

    def __repr__(self) -> str:
        return f"RandomStreams(metaseed={self.metaseed!r})"


_ALL: "weakref.WeakSet[RandomStreams]" = weakref.WeakSet()


@ON_DISCARD.fill
def _forget(context: ControlFlowContext) -> None:
    for streams in list(_ALL):
        streams._forget(context)


@ON_ROLLBACK.fill
def _forget_since(serial: int) -> None:
    for streams in list(_ALL):
        streams._forget_since(serial)


fields(StreamCell, stream=Stream)
fields(Draw, stream=Stream)
fields(Stream, owner=RandomStreams, member=either(size, str), cell=StreamCell)
fields(RandomStreams, _count=size, _names=SetOf(str))
