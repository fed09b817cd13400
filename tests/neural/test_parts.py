"""Computations in parts: killed and continued, damaged, of another computation."""

import numpy as np
import pytest

from kinetograph.neural import counter
from kinetograph.neural.parts import in_parts

COUNT, SIZE = 10, 3


class Killed(Exception):
    pass


def run(store, last=None, calls=None, **settings):
    """Squares of numbers; the part with the number `last` is not finished."""

    def compute(places):
        if last is not None and last in places:
            raise Killed
        if calls is not None:
            calls.append(places.tolist())
        return {"square": places.astype(float) ** 2, "pair": np.stack([places, -places], 1)}

    settings = {"the power": 2, "the numbers": np.arange(3)} | settings
    return in_parts(compute, COUNT, SIZE, settings, store=store, progress=False, doing="squares")


def check(arrays):
    np.testing.assert_array_equal(arrays["square"], np.arange(COUNT) ** 2.0)
    np.testing.assert_array_equal(arrays["pair"], np.arange(COUNT)[:, None] * [1, -1])


def test_a_killed_computation_continues(tmp_path):
    store = tmp_path / "squares"
    with pytest.raises(Killed):
        run(store, last=7)
    calls = []
    check(run(store, calls=calls))
    assert calls == [[6, 7, 8], [9]]
    calls.clear()
    check(run(store, calls=calls))
    assert calls == []


def test_half_a_part_is_not_read(tmp_path):
    store = tmp_path / "squares"
    run(store)
    file = store / "part-000001"
    file.write_bytes(file.read_bytes()[:-5])
    (store / ".part-000002.abc.part").write_bytes(b"half")
    calls = []
    check(run(store, calls=calls))
    assert calls == [[3, 4, 5]]


def test_parts_of_another_computation_are_refused(tmp_path):
    run(tmp_path / "squares")
    with pytest.raises(ValueError, match="another computation, which differs in the numbers"):
        run(tmp_path / "squares", **{"the numbers": np.arange(4)})
    (tmp_path / "letter").write_text("Dear")
    with pytest.raises(ValueError, match="has other files"):
        run(tmp_path)


def test_without_a_store():
    check(run(None))


def test_progress_in_lines(capsys):
    """The amount comes first."""
    in_parts(lambda places: {"n": places}, 10, 5, {}, store=None, progress=True, doing="count")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "count: 10 evaluations"
    assert lines[-1].startswith("count: 10 evaluations in ")


def test_progress_has_the_time_left(capsys, monkeypatch):
    """Five things take 8 seconds by the clock."""
    now = [0.0]
    monkeypatch.setattr(counter.time, "perf_counter", lambda: now[0])

    def compute(places):
        now[0] += 8.0 * len(places) / 5
        return {"n": places}

    in_parts(compute, 20, 5, {}, store=None, progress=True, doing="count")
    lines = capsys.readouterr().err.splitlines()
    assert lines[1:3] == ["count: 25 %, 24 s left", "count: 50 %, 16 s left"]
    assert lines[-1] == "count: 20 evaluations in 32.00 s"
