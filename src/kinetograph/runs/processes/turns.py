"""A call that all processes make together, such as `kg.mcmc`.

Each such call is a turn with a number. Messages of a turn carry its number, so that processes of
which one has failed meet again in the next turn.
"""

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, cast

from ...bits.keys import fresh_seed
from ...graph.errors import KinetographError, KinetographWarning
from ...graph.source import place_text
from .channel import Channel
from .distributed import channel

__all__ = ["Turn", "chains_of_a_process", "in_order", "shared_call", "shared_seed", "turn"]

FAILED, STOPPED, DONE, MAKING = "failed", "stopped", "done", "making"  # keys of messages
AGAIN = "look at its output, and start all processes again"
_TURN: ContextVar["Turn | None"] = ContextVar("_TURN", default=None)
_MADE = [0]  # turns so far


class Turn:
    """A call that all processes make together."""

    def __init__(self, connections: Channel, doing: str, number: int) -> None:
        self.channel, self.doing, self.number = connections, doing, number
        self.steps = 0
        self.place = place_text()
        self._reported: BaseException | None = None  # an error about another process

    @property
    def process(self) -> int:
        """The number of this process."""
        return self.channel.number

    @property
    def other_processes(self) -> list[int]:
        """The numbers of the other processes."""
        return [n for n in range(self.channel.count) if n != self.process]

    def part(self, count: int, batch: int | None = None) -> range:
        """The places of the chains that this process runs."""
        size = batch or 1
        units, processes = -(-count // size), self.channel.count
        first, end = (-(-units * n // processes) for n in (self.process, self.process + 1))
        return range(min(first * size, count), min(end * size, count))

    def post(self, name: str, value: Any = None) -> None:
        """Send a value to all processes."""
        self.channel.post(self._key(name), json.dumps(value).encode())

    def note(self, name: str, value: Any) -> None:
        """Send a value to process 0."""
        self.channel.note(self._key(name), json.dumps(value).encode())

    def send(self, name: str, body: bytes) -> None:
        """Send bytes to all processes."""
        self.channel.post(self._key(name), body)

    def take(self, name: str, process: int) -> bytes | bytearray | None:
        """The bytes that a process has sent, once; else None."""
        return self.channel.take(self._key(name), process)

    def posted(self, name: str, process: int) -> Any:
        """The last value that a process has sent, or None."""
        body = self.channel.get(self._key(name), process)
        return None if body is None else json.loads(body)

    def everyone_posted(self, name: str) -> bool:
        """Whether each process has sent a value."""
        return all(
            self.channel.get(self._key(name), p) is not None for p in range(self.channel.count)
        )

    def fail(self, error: BaseException) -> None:
        """Tell the other processes that an error ends this call here.

        They know themselves about an error of another process.
        """
        if error is not self._reported:
            text = str(error).partition("\n")[0]
            self.post(FAILED, f"{type(error).__name__}: {text}")

    def look(self) -> None:
        """Raise an error if another process has failed or is gone.

        Raises
        ------
        KinetographError
            With the number of the process.
        """
        for process in self.other_processes:
            self._check_failed(process)
        for process in self.other_processes:
            if self.posted(DONE, process) is None:
                self._check_gone(process)

    def _check_failed(self, process: int) -> None:
        failed = self.posted(FAILED, process)
        if failed is not None:
            raise self.reported(f"process {process} of {self.channel.count} was ended by {failed}")

    def _check_gone(self, process: int) -> None:
        if process in self.channel.lost:
            raise self._error(process, self.channel.lost[process], AGAIN)

    def _error(self, process: int, how: str, remedy: str) -> KinetographError:
        return self.reported(
            f"process {process} of {self.channel.count} {how}{self.place}; {remedy}"
        )

    def reported(self, text: str) -> KinetographError:
        """An error about another process."""
        error = KinetographError(f"{self.doing}: {text}")
        self._reported = error
        return error

    def _key(self, name: str) -> str:
        return f"{self.number} {name}"

    def gather(self, title: str, value: bytes = b"", late: bool = False) -> list[memoryview]:
        """The values of all processes, once all have reached this point.

        With `late` processes may come at any time, as long as they give signs of life.

        Raises
        ------
        KinetographError
            If a process fails, is gone, has reached another call, or does not come in time.
        """
        self.steps += 1
        key = self._key(str(self.steps))
        label = f"{self.doing}, {title}".encode()
        self.channel.post(key, label + b"\n" + value)
        bodies = {}

        def complete() -> bool:
            for process in range(self.channel.count):
                body = self.channel.get(key, process)
                if body is not None:
                    bodies[process] = body
            return len(bodies) == self.channel.count or self._trouble(bodies)

        self.channel.wait(complete, None if late else self.channel.timeout)
        missing = [process for process in self.other_processes if process not in bodies]
        for process in missing:
            self._check_failed(process)
        for process in missing:
            self._check_gone(process)
        if missing:
            raise self._error(
                missing[0],
                f"has not reached this call within {self.channel.timeout:g} s",
                "all processes have to make the same calls; if it needs longer, give "
                "kg.distributed() a larger timeout=",
            )
        ends = {process: body.index(b"\n") for process, body in bodies.items()}
        for process in self.other_processes:
            there = bodies[process][: ends[process]].decode().partition(",")[0]
            if there != self.doing:
                raise self._error(
                    process,
                    f"has reached kg.{there} here",
                    "all processes must make the same calls",
                )
        self.channel.forget(lambda each: each == key)
        return [memoryview(bodies[p])[ends[p] + 1 :] for p in range(self.channel.count)]

    def _trouble(self, bodies: Any) -> bool:
        """Whether a process whose value is missing has failed or is gone."""
        return any(
            p not in bodies and (p in self.channel.lost or self.posted(FAILED, p) is not None)
            for p in self.other_processes
        )

    def in_order(self, function: Callable[[], Any]) -> Any:
        """Call a function in each process, one process after the other."""
        result = None
        for process in range(self.channel.count):
            if process == self.process:
                result = function()
            self.gather(f"after process {process}", late=True)
        return result


def chains_of_a_process(count: int) -> int:
    """The largest number of chains that one process runs."""
    here = turn()
    return count if here is None else -(-count // here.channel.count)


def turn() -> Turn | None:
    """The present turn; None if this process runs chains alone."""
    return _TURN.get()


@contextmanager
def _turn_of(connections: Channel, doing: str) -> Iterator[None]:
    _MADE[0] += 1
    here = Turn(connections, doing, _MADE[0])
    connections.forget(lambda key: int(key.partition(" ")[0]) < here.number)
    token = _TURN.set(here)
    try:
        with warnings.catch_warnings():
            if here.process != 0:
                warnings.simplefilter("ignore", KinetographWarning)
            yield
    except BaseException as error:
        here.fail(error)
        raise
    finally:
        _TURN.reset(token)


def shared_call[F: Callable[..., Any]](function: F) -> F:
    """Decorate a function that all processes call together."""

    @wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        connections = channel()
        if connections is None:
            return function(*args, **named)
        with _turn_of(connections, function.__name__):
            return function(*args, **named)

    return cast(F, call)


def in_order(function: Callable[[], Any]) -> Any:
    """Call a function, in one process after the other."""
    here = turn()
    return function() if here is None else here.in_order(function)


def shared_seed(seed: Any) -> Any:
    """The seed of all processes.

    It is the given one, or a seed of process 0 if none is given.

    Raises
    ------
    KinetographError
        If processes have other seeds.
    """
    here = turn()
    if here is None:
        return seed
    value = [None if seed is None else str(seed), str(fresh_seed())]
    values = [json.loads(bytes(v)) for v in here.gather("seed", json.dumps(value).encode())]
    for process, (there, _) in enumerate(values):
        if there != values[0][0]:
            raise here.reported(
                f"process {process} has seed={there}, and process 0 has seed={values[0][0]}"
                f"{here.place}; give all processes the same seed"
            )
    return int(values[0][1]) if seed is None else seed
