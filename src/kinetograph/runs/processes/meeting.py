"""The first connections between the processes of a job."""

import json
import os
import socket
import time
from contextlib import suppress
from typing import Any

from ...graph.errors import KinetographError
from ...version import __version__

__all__ = ["Address", "connected", "parsed"]

type Address = tuple[str, int]

MAGIC = b"kinetograph\n"
ANSWER = "kinetograph, process 0: "  # the beginning of its answers; an echo begins otherwise
MOST = 10_000  # bytes of a greeting
LATER = 2.0  # seconds
AGAIN = 0.2  # seconds between attempts to connect
LOOPBACK = ("localhost", "::1", "127.")


def parsed(text: Any) -> Address | None:
    """Host and port of an address such as `host:1234`, or None."""
    if not isinstance(text, str):
        return None
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (colon and host and port.isdigit() and 0 < int(port) < 2**16):
        return None
    return host, int(port)


def connected(
    address: Address, number: int, count: int, timeout: float
) -> dict[int, socket.socket]:
    """The connections of this process to other processes.

    Process 0 is connected to all processes, and each other process to process 0.

    Raises
    ------
    KinetographError
        If a process is missing after the timeout, or was started with other numbers.
    """
    end = time.monotonic() + timeout
    if number == 0:
        return _joined(address, count, timeout, end)
    return {0: _greeted(address, number, count, timeout, end)}


def _shown(address: Address) -> str:
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _listening(address: Address) -> socket.socket:
    host, port = address
    try:
        if host.startswith(LOOPBACK):
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            return socket.create_server((host, port), family=family)
        if socket.has_dualstack_ipv6():
            with suppress(OSError):  # the system may have IPv6, and no address of it
                return socket.create_server(
                    ("::", port), family=socket.AF_INET6, dualstack_ipv6=True
                )
        return socket.create_server(("", port))
    except OSError as error:
        number = error.errno or 0
        reason = os.strerror(number) if number > 0 else str(error)
        raise KinetographError(
            f"distributed: process 0 cannot listen at {_shown(address)}: {reason}; give an address "
            "of this host with a free port"
        ) from error


def _joined(address: Address, count: int, timeout: float, end: float) -> dict[int, socket.socket]:
    """The connections to all other processes, once all of them have come."""
    peers: dict[int, socket.socket] = {}
    problem = ""
    with _listening(address) as server:
        while len(peers) < count - 1 and not problem:
            server.settimeout(max(end - time.monotonic(), 0.001))
            try:
                connection, _ = server.accept()
            except TimeoutError:
                missing = [str(n) for n in range(1, count) if n not in peers]
                which = f"process {missing[0]}" if len(missing) == 1 else ", ".join(missing)
                which = which if len(missing) == 1 else f"processes {which}"
                problem = (
                    f"{which} of {count} did not connect to {_shown(address)} within {timeout:g} s"
                    "; start all processes with this address, and look at the output of each, or "
                    "give a larger timeout="
                )
                break
            greeting = _greeting(connection)
            if greeting is None:  # it is not a process of kinetograph
                connection.close()
                continue
            problem = _wrong(greeting, count, peers)
            if not problem:
                peers[greeting["number"]] = connection
                continue
            _say(connection, ANSWER + problem)
            connection.close()
    for connection in peers.values():
        _say(connection, ANSWER + problem)
    if problem:
        for connection in peers.values():
            connection.close()
        raise KinetographError(f"distributed: {problem}")
    return peers


def _wrong(greeting: dict[str, Any], count: int, peers: dict[int, Any]) -> str:
    """The reason why a process is refused, or an empty text."""
    number = greeting["number"]
    if greeting["count"] != count:
        return (
            f"process {number} was started with processes={greeting['count']}, and process 0 with "
            f"processes={count}; give all processes the same number"
        )
    if greeting["version"] != __version__:
        return (
            f"process {number} has kinetograph {greeting['version']}, and process 0 has "
            f"{__version__}; install one version for all"
        )
    if number in peers:
        return f"two processes have the number {number}; give each process another process="
    return ""


def _greeted(
    address: Address, number: int, count: int, timeout: float, end: float
) -> socket.socket:
    """The connection to process 0, once all processes have come."""
    at = _shown(address)
    problem = "the connection timed out"
    greeting = {"number": number, "count": count, "version": __version__}
    while (left := end - time.monotonic()) > 0:
        try:
            connection = socket.create_connection(address, timeout=left)
        except OSError as error:
            problem = error.strerror or str(error)
            time.sleep(min(AGAIN, left))
            continue
        try:
            connection.sendall(MAGIC)
            _say(connection, json.dumps(greeting))
            # Process 0 may have begun a little later; its answer names the missing processes.
            connection.settimeout(max(end - time.monotonic(), 0.0) + min(timeout / 10, LATER))
            answer = _line(connection)
        except TimeoutError:
            connection.close()
            break
        except OSError:
            answer = None
        if answer is None:  # process 0 ended, or another program listens there without an answer
            connection.close()
            problem = "the connection was closed at once"
            time.sleep(AGAIN)
            continue
        if answer == ANSWER:
            return connection
        connection.close()
        if answer.startswith(ANSWER):
            raise KinetographError(f"distributed: {answer.removeprefix(ANSWER)}")
        raise KinetographError(
            f"distributed: process {number} of {count} wanted to meet process 0 at {at}, but "
            f"another program listens there, whose answer begins with {answer.strip()[:60]!r}; "
            "give all processes another address=, with a free port of the host of process 0"
        )
    raise KinetographError(
        f"distributed: process {number} of {count} got no answer at {at} within {timeout:g} s: "
        f"{problem}; process 0 has to run at this address, and a firewall may block the port; give "
        "another address=, or a larger timeout="
    )


def _say(connection: socket.socket, text: str) -> None:
    with suppress(OSError):
        connection.sendall(text.encode()[:MOST].replace(b"\n", b" ") + b"\n")


def _line(connection: socket.socket) -> str | None:
    """The next line of a connection; None if there is none."""
    line = b""
    while not line.endswith(b"\n"):
        byte = connection.recv(1)
        if not byte or len(line) > MOST:
            return None
        line += byte
    return line[:-1].decode(errors="replace")


def _greeting(connection: socket.socket) -> dict[str, Any] | None:
    """The greeting of a process; None if another program has connected."""
    connection.settimeout(5.0)
    try:
        if _line(connection) != MAGIC[:-1].decode():
            return None
        greeting = json.loads(_line(connection) or "")
    except (OSError, ValueError):
        return None
    is_greeting = isinstance(greeting, dict) and greeting.keys() == {"number", "count", "version"}
    return greeting if is_greeting and isinstance(greeting["number"], int) else None
