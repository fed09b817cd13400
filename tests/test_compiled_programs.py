"""Sessions of the tests share compiled programs."""

import os
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests import compiled_programs


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(compiled_programs, "FOLDER", tmp_path)
    compiled_programs.use(True)
    yield tmp_path
    compiled_programs.use(False)


def compiled(number):
    """A program of its own: JAX keeps no other function in memory."""
    return jax.jit(lambda x: jnp.sin(x) * number + number)


def test_a_program_is_compiled_once(folder):
    x, hits = np.arange(3.0), []

    def listen(event, **_):
        hits.extend([event] if event == "/jax/compilation_cache/cache_hits" else [])

    jax.monitoring.register_event_listener(listen)
    try:
        first = compiled(7.25)(x)
        assert not hits
        entries = sorted(folder.iterdir())
        assert entries
        assert all(entry.name.endswith("-cache") for entry in entries)  # none in part
        np.testing.assert_array_equal(compiled(7.25)(x), first)
        assert len(hits) == 1
        compiled(7.5)(x)
        assert len(hits) == 1
        assert len(list(folder.iterdir())) > len(entries)
    finally:
        jax.monitoring.unregister_event_listener(listen)


def test_entries_that_no_session_uses_are_dropped(folder):
    x = np.arange(3.0)
    compiled(3.5)(x)
    (used,) = folder.iterdir()
    compiled(4.5)(x)
    (unused,) = set(folder.iterdir()) - {used}
    old = time.time() - 15 * 86400
    for entry in (used, unused):
        os.utime(entry, (old, old))
    compiled(3.5)(x)
    compiled_programs.drop_unused()
    assert list(folder.iterdir()) == [used]


def test_nothing_is_kept_when_the_cache_is_off(folder):
    compiled_programs.use(False)
    compiled(5.5)(np.arange(3.0))
    assert not list(folder.iterdir())
