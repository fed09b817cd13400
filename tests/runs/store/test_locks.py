"""Locks: who holds one, systems whose locks are others, and those that have none."""

import errno
import os

import pytest

from kinetograph.graph.errors import KinetographError
from kinetograph.runs.store import locks
from kinetograph.runs.store.locks import hold, locked


def test_a_lock_is_held_until_it_is_closed(tmp_path):
    path = tmp_path / "chain-1.lock"
    held = hold(path, "chain 1")
    with pytest.raises(
        KinetographError, match=r"^chain 1 is being run by this process, which must end"
    ):
        hold(path, "chain 1")
    path.write_text("77")
    with pytest.raises(KinetographError, match=r"by another process \(process 77\), which"):
        hold(path, "chain 1")
    os.close(held)
    os.close(hold(path, "chain 1"))
    assert path.read_text() == str(os.getpid())


class Windows:
    """Its locks: of bytes from where the file stands, which nobody waits for."""

    LK_NBLCK = 2

    def __init__(self):
        self.held, self.tries = {}, 0

    def locking(self, handle, mode, count):
        assert (mode, count) == (self.LK_NBLCK, 1)
        self.tries += 1
        place = os.lseek(handle, 0, os.SEEK_CUR), os.fstat(handle).st_ino
        if self.held.setdefault(place, handle) != handle and self.tries < 3:
            raise OSError(errno.EDEADLK if self.tries == 1 else errno.EACCES, "taken")
        self.held[place] = handle


def test_where_locks_are_those_of_windows(tmp_path, monkeypatch):
    path, system = tmp_path / "lock", Windows()
    monkeypatch.setattr(locks, "fcntl", None)
    monkeypatch.setattr(locks, "msvcrt", system)
    monkeypatch.setattr(locks, "AGAIN", 0.0)
    with open(path, "w+b") as other:
        system.held[locks.BEYOND, os.fstat(other.fileno()).st_ino] = other.fileno()
        with pytest.raises(KinetographError, match=r"is being run by another process, which"):
            hold(path, "it")
        with locked(path):  # the third try finds it free
            assert system.tries == 3
    handle = hold(path, "it")
    assert path.read_text() == str(os.getpid())
    os.close(handle)


def test_where_there_are_none_nobody_is_kept_out(tmp_path, monkeypatch):
    class Without:
        LOCK_EX, LOCK_NB = 2, 4
        error = errno.ENOTSUP

        def flock(self, handle, flags):
            raise OSError(self.error, os.strerror(self.error))

    monkeypatch.setattr(locks, "fcntl", Without())
    with locked(tmp_path / "lock"):
        os.close(hold(tmp_path / "chain", "it"))
    Without.error = errno.EIO
    with pytest.raises(OSError, match="Input/output error"), locked(tmp_path / "lock"):
        pass
    monkeypatch.setattr(locks, "fcntl", None)
    monkeypatch.setattr(locks, "msvcrt", None)
    with locked(tmp_path / "lock"):
        os.close(hold(tmp_path / "chain", "it"))
