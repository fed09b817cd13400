"""Connections between processes: threads take the place of processes here."""

import re
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from tests.runs.on_processes import free_address

import kinetograph as kg
from kinetograph.runs.processes import channel, distributed, meeting


def met(count, timeout=5.0, started=None):
    """The connections of processes that begin at once, or their errors."""
    address = meeting.parsed(free_address())

    def begin(number):
        try:
            return meeting.connected(address, number, count, timeout)
        except kg.KinetographError as error:
            return str(error)

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(begin, range(count) if started is None else started))


@pytest.fixture
def joined():
    """Makes the channels of processes."""
    made = []

    def join(count, timeout=5.0):
        peers = met(count)
        made[:] = [channel.Channel(n, count, timeout, peers[n]) for n in range(count)]
        return made

    yield join
    for each in made:
        each._left = False
        each.leave()


def test_messages_reach_all_processes(joined):
    channels = joined(3)
    large = bytes(range(256)) * 20_000
    for each in channels:
        each.post("value", large + bytes([each.number]))
    for each in channels:
        for sender in range(3):
            assert each.wait(lambda e=each, s=sender: e.get("value", s) is not None, 5)
            assert each.get("value", sender) == large + bytes([sender])
    channels[2].note("progress", b"7")
    assert channels[0].wait(lambda: channels[0].get("progress", 2) == b"7", 5)
    assert channels[1].get("progress", 2) is None
    channels[0].forget(lambda key: key == "value")
    assert channels[0].get("value", 1) is None


def test_a_process_that_ends_says_so(joined, monkeypatch):
    channels = joined(3)
    monkeypatch.setattr(sys, "last_exc", ValueError("no such file"), raising=False)
    channels[1].post("last words", b"yes")
    channels[1].leave()
    for each in (channels[0], channels[2]):
        assert each.wait(lambda e=each: 1 in e.lost, 5)
        assert each.lost == {1: "ended with ValueError: no such file"}
        assert each.get("last words", 1) == b"yes"


def test_a_closed_connection_is_a_death(joined):
    channels = joined(3)
    channels[1]._peers[0].shutdown(socket.SHUT_RDWR)  # as the system does
    for each in (channels[0], channels[2]):
        assert each.wait(lambda e=each: 1 in e.lost, 5)
        assert each.lost == {1: "died"}
    channels[0].post("after it", b"")
    assert channels[2].wait(lambda: channels[2].get("after it", 0) is not None, 5)


def test_a_silent_process_is_gone_after_the_timeout(monkeypatch):
    monkeypatch.setattr(channel.Channel, "_live", lambda self, peer: None)
    peers = met(2)
    begun = time.monotonic()
    first = channel.Channel(0, 2, 0.5, peers[0])
    assert first.wait(lambda: 1 in first.lost, 5)
    assert first.lost == {1: "has not answered for 0.5 s"}
    assert time.monotonic() - begun < 3
    peers[1][0].close()
    first.leave()


def test_signs_of_life_keep_processes(joined):
    channels = joined(2, timeout=0.4)
    time.sleep(1.2)
    assert all(not each.lost for each in channels)


def test_an_address_without_an_answer():
    host, port = meeting.parsed(free_address())
    begun = time.monotonic()
    with pytest.raises(kg.KinetographError) as caught:
        meeting.connected((host, port), 1, 2, 0.5)
    assert re.search(
        rf"process 1 of 2 got no answer at {host}:{port} within 0.5 s: Connection refused; process "
        "0 has to run at this address, .*; give another address=, or a larger timeout=",
        str(caught.value),
    )
    assert time.monotonic() - begun < 2


def test_an_address_where_another_program_listens():
    with socket.create_server(("127.0.0.1", 0)) as server:
        with pytest.raises(kg.KinetographError, match=r"got no answer at .* within 0.4 s"):
            meeting.connected(server.getsockname()[:2], 1, 2, 0.4)
        with pytest.raises(kg.KinetographError, match=r"process 0 cannot listen at .*: .*in use; "):
            meeting.connected(server.getsockname()[:2], 0, 2, 0.4)


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n", b"\n", meeting.MAGIC, None])
def test_another_program_that_answers(answer):
    def serve(server):
        connection, _ = server.accept()
        with connection:
            received = connection.recv(1000)
            connection.sendall(received if answer is None else answer)  # None: an echo
            with suppress(ConnectionError):
                while connection.recv(1000):
                    pass

    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as threads:
        served = threads.submit(serve, server)
        host, port = server.getsockname()[:2]
        with pytest.raises(kg.KinetographError) as caught:
            meeting.connected((host, port), 1, 2, 5.0)
        served.result()
    line = (meeting.MAGIC if answer is None else answer).decode().strip()
    assert str(caught.value) == (
        f"distributed: process 1 of 2 wanted to meet process 0 at {host}:{port}, but another "
        f"program listens there, whose answer begins with {line!r}; give all processes another "
        "address=, with a free port of the host of process 0"
    )


def test_missing_processes_are_named():
    hub, spoke = met(4, timeout=0.6, started=[0, 2])
    assert hub.startswith("distributed: processes 1, 3 of 4 did not connect to 127.0.0.1:")
    assert spoke == hub
    (alone,) = met(2, timeout=0.3, started=[0])
    assert "process 1 of 2 did not connect" in alone


def test_two_processes_with_one_number():
    errors = met(3, timeout=2, started=[0, 1, 1])
    text = "distributed: two processes have the number 1; give each process another process="
    assert errors[0] == text
    assert text in errors[1:]


def test_processes_with_other_counts_and_versions(monkeypatch):
    address = meeting.parsed(free_address())

    def other(count):
        with pytest.raises(kg.KinetographError) as caught:
            meeting.connected(address, 1, count, 5.0)
        return str(caught.value)

    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(other, 3)
        with pytest.raises(
            kg.KinetographError, match="process 1 was started with processes=3, and"
        ):
            meeting.connected(address, 0, 2, 5.0)
        assert answer.result().endswith("give all processes the same number")
    text = meeting._wrong({"number": 1, "count": 2, "version": "0.0"}, 2, {})
    assert text.startswith("process 1 has kinetograph 0.0, and process 0 has ")


def test_other_programs_may_connect():
    address = meeting.parsed(free_address())
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(meeting.connected, address, 0, 2, 5.0)
        while True:
            try:
                stray = socket.create_connection(address)
                break
            except OSError:
                time.sleep(0.01)
        stray.sendall(b"GET / HTTP/1.1\n\n")
        second = threads.submit(meeting.connected, address, 1, 2, 5.0)
        connections = [*first.result().values(), *second.result().values(), stray]
    assert len(connections) == 3
    for each in connections:
        each.close()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("node7:1234", ("node7", 1234)),
        ("[::1]:80", ("::1", 80)),
        ("node7", None),
        ("node7:", None),
        (":80", None),
        ("a:65536", None),
        (7, None),
    ],
)
def test_addresses(text, expected):
    assert meeting.parsed(text) == expected


WRONG = {
    "an address": (
        ("node7",),
        ValueError,
        "address must be a host and a port, .*'node7:1234', got",
    ),
    "a number": (("a:1", 2, 2), ValueError, "process=2 of processes=2 .*numbered from 0 to 1"),
    "a count": (("a:1", 0, 0), ValueError, "processes must be a whole number of at least 1, got 0"),
    "a flag": (("a:1", 2, True), ValueError, "process must be a whole number of at least 0"),
    "nothing": ((), kg.KinetographError, "address, processes, process must be given .*by srun or"),
    "a part": (
        ("a:1", 2),
        kg.KinetographError,
        r"distributed: process must be given \(test_processes.py:",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments(case, monkeypatch):
    given, kind, message = WRONG[case]
    monkeypatch.setattr(distributed, "_CHANNELS", [])
    with pytest.raises(kind, match=message):
        kg.distributed(*given)
    assert distributed._CHANNELS == []


def test_wrong_timeouts():
    for timeout in (0, -1, float("inf"), "60", True):
        with pytest.raises(ValueError, match="timeout must be a positive number of seconds"):
            kg.distributed("a:1", 2, 0, timeout=timeout)


def test_one_process_is_alone():
    assert kg.distributed(processes=1) == 0
    assert distributed.channel() is None


def test_a_second_call(joined, monkeypatch):
    monkeypatch.setattr(distributed, "_CHANNELS", joined(2)[1:])
    with pytest.raises(kg.KinetographError, match=r"process 1 of 2 already .*once, at the top"):
        kg.distributed()


SLURM = {
    "SLURM_JOB_ID": "77", "SLURM_STEP_NODELIST": "node[007-009]", "SLURM_NTASKS": "6",
    "SLURM_PROCID": "4", "SLURM_LOCALID": "1",
}  # fmt: skip


def test_slurm_tells_address_and_numbers(monkeypatch):
    for name, value in SLURM.items():
        monkeypatch.setenv(name, value)
    detected = distributed._detected(None, None, None, 5.0)
    assert detected == ("node007:61517", 6, 4, [1])
    assert distributed._detected("10.0.0.1:99", None, 2, 5.0) == ("10.0.0.1:99", 6, 2, [1])


def test_open_mpi_tells_address_and_numbers(monkeypatch):
    monkeypatch.setenv("OMPI_MCA_orte_hnp_uri", "1531576320.0;tcp://10.96.0.1,10.148.0.1:34911")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "3")
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "2")
    monkeypatch.setenv("OMPI_COMM_WORLD_LOCAL_RANK", "0")
    address, processes, process, _ = distributed._detected(None, None, None, 5.0)
    assert (address.rpartition(":")[0], processes, process) == ("10.96.0.1", 3, 2)


def test_an_environment_that_fails(monkeypatch):
    def fail(*_):
        raise RuntimeError("Open MPI 5 or newer requires mpi4py")

    monkeypatch.setattr(distributed.ClusterEnv, "auto_detect_unset_distributed_params", fail)
    with pytest.raises(
        kg.KinetographError, match=r"RuntimeError: Open MPI 5 .* in each process, as"
    ):
        distributed._detected(None, None, None, 5.0)


def test_threads_do_not_keep_a_process(tmp_path):
    """A process whose main thread ends, ends by itself."""
    source = (
        "import socket, sys\n"
        "from kinetograph.runs.processes.channel import Channel\n"
        "a, b = socket.socketpair()\n"
        "Channel(0, 2, 60.0, {1: a}), Channel(1, 2, 60.0, {0: b})\n"
    )
    subprocess.run([sys.executable, "-c", source], check=True, timeout=60)
    assert threading.current_thread() is threading.main_thread()
