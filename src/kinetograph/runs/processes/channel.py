"""Messages between the processes of a job, over TCP.

Process 0 listens at an address, the other processes connect to it, and process 0 forwards each
message to all of them. A thread for each connection receives messages, and another thread sends a
sign of life often enough. A process is lost when its connection closes, when it says that it ends,
or when nothing has come from it for the timeout. JAX's own service is not used, because it aborts
all processes as soon as process 0 dies.
"""

import atexit
import os
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

__all__ = ["Channel"]

MESSAGE, NOTE, LIFE, LEAVING, LOST_PROCESS, RECEIVED = range(6)  # kinds of frames
HEAD = struct.Struct(">BIIQ")  # kind, process, and the lengths of key and body
PART = 2**20  # bytes that are sent or received at once
FAREWELL = 5.0  # seconds that an ending process waits until its last messages have arrived
PAUSE = 5.0  # the longest time between signs of life, in seconds


class Channel:
    """The connections of this process to the other processes.

    Attributes
    ----------
    number, count
        The number of this process, and of all processes.
    timeout
        Seconds without any sign of life after which a process is gone.
    gone
        Processes that are gone, and a text for each that says how they ended.
    """

    def __init__(
        self, number: int, count: int, timeout: float, peers: Mapping[int, socket.socket]
    ) -> None:
        self.number, self.count, self.timeout = number, count, timeout
        self.lost: dict[int, str] = {}
        self._arrived: dict[tuple[str, int], bytes | bytearray] = {}
        self._changed = threading.Condition()
        self._peers = dict(peers)  # all processes of process 0, process 0 of each other process
        self._sending = {peer: threading.Lock() for peer in peers}
        self._received: set[int] = set()  # peers that have received everything
        self._left, self._pid = False, os.getpid()
        for peer, connection in self._peers.items():
            connection.settimeout(timeout)
            with suppress(OSError):  # the system would delay small messages
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for work in (self._receive, self._live):
                threading.Thread(target=work, args=(peer,), daemon=True).start()
        atexit.register(self.leave)

    def post(self, key: str, body: bytes) -> None:
        """Send a message to all processes, this one included."""
        self._store(key, self.number, body)
        for peer in list(self._peers):
            self._send(peer, MESSAGE, self.number, key, body)

    def note(self, key: str, body: bytes) -> None:
        """Send a message to process 0."""
        self._send(0, NOTE, self.number, key, body)

    def get(self, key: str, process: int) -> bytes | bytearray | None:
        """The last message of a process with this key, or None."""
        with self._changed:
            return self._arrived.get((key, process))

    def take(self, key: str, process: int) -> bytes | bytearray | None:
        """Return the last message of a process and drop it."""
        with self._changed:
            return self._arrived.pop((key, process), None)

    def wait(self, until: Callable[[], bool], seconds: float | None = None) -> bool:
        """Wait until a condition holds, which is examined as messages arrive.

        Returns whether it holds; False after the given number of seconds.
        """
        end = None if seconds is None else time.monotonic() + seconds
        with self._changed:
            while not until():
                left = 1.0 if end is None else end - time.monotonic()
                if left <= 0:
                    return False
                self._changed.wait(min(left, 1.0))
        return True

    def forget(self, is_old: Callable[[str], bool]) -> None:
        """Drop the messages with old keys."""
        with self._changed:
            for place in [place for place in self._arrived if is_old(place[0])]:
                del self._arrived[place]

    def leave(self) -> None:
        """Tell the other processes that this process ends, and how."""
        if self._left or os.getpid() != self._pid:  # a forked process shares the connections
            return
        self._left = True
        error = getattr(sys, "last_exc", None)
        text = "" if error is None else f"{type(error).__name__}: {error}"
        for peer in list(self._peers):
            self._send(peer, LEAVING, self.number, "", text.encode())
        waiting = set(self._peers)
        self.wait(lambda: waiting <= self._received | self.lost.keys(), min(FAREWELL, self.timeout))
        for connection in self._peers.values():
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _store(self, key: str, process: int, body: bytes | bytearray) -> None:
        with self._changed:
            self._arrived[key, process] = body
            self._changed.notify_all()

    def _lose(self, process: int, how: str) -> None:
        """Note that a process is gone, and tell the other processes."""
        with self._changed:
            if process in self.lost:
                return
            self.lost[process] = how
            self._changed.notify_all()
        if self.number == 0:
            for peer in self._peers:
                if peer != process:
                    self._send(peer, LOST_PROCESS, process, "", how.encode())

    def _send(
        self, peer: int, kind: int, process: int, key: str = "", body: bytes | bytearray = b""
    ) -> None:
        if peer in self.lost:
            return
        connection, name, data = self._peers[peer], key.encode(), memoryview(body)
        try:
            with self._sending[peer]:
                connection.sendall(HEAD.pack(kind, process, len(name), len(data)) + name)
                for first in range(0, len(data), PART):
                    connection.sendall(data[first : first + PART])
        except OSError as error:
            self._lose(peer, self._ending(error))

    def _ending(self, error: BaseException) -> str:
        if isinstance(error, TimeoutError):
            return f"has not answered for {self.timeout:g} s"
        return "died"

    def _live(self, peer: int) -> None:
        """Send signs of life."""
        while peer not in self.lost and not self._left:
            self._send(peer, LIFE, self.number)
            time.sleep(min(self.timeout / 4, PAUSE))

    def _receive(self, peer: int) -> None:
        connection = self._peers[peer]
        try:
            while True:
                kind, process, name, size = HEAD.unpack(_bytes(connection, HEAD.size))
                key, body = _bytes(connection, name).decode(), _bytes(connection, size)
                self._take(peer, kind, process, key, body)
        except (OSError, EOFError, struct.error, UnicodeDecodeError) as error:
            self._lose(peer, self._ending(error))

    def _take(self, peer: int, kind: int, process: int, key: str, body: bytearray) -> None:
        if kind == NOTE:
            self._store(key, process, body)
        elif kind == MESSAGE:
            self._store(key, process, body)
            for other in self._peers:
                if other != peer:
                    self._send(other, MESSAGE, process, key, body)
        elif kind == LEAVING:
            text = body.decode(errors="replace")
            self._send(peer, RECEIVED, self.number)
            self._lose(process, f"ended with {text}" if text else "has ended")
        elif kind == LOST_PROCESS:
            self._lose(process, body.decode(errors="replace"))
        elif kind == RECEIVED:
            with self._changed:
                self._received.add(peer)
                self._changed.notify_all()


def _bytes(connection: socket.socket, count: int) -> bytearray:
    """The next bytes of a connection.

    Raises
    ------
    EOFError
        If the connection is closed before.
    """
    received = bytearray(count)
    view = memoryview(received)
    while view:
        size = connection.recv_into(view, min(len(view), PART))
        if size == 0:
            raise EOFError
        view = view[size:]
    return received
