"""Tests that are slow by measurement: two lists beside the marks in the test files.

Each list names a test file and, below it, cases of its tests. `make test` leaves them out. Those of
`wide.txt` run in `make test-wide`, once for each change; those of `slow.txt` in `make test-slow`.
`scripts/slow_tests.py` writes a list from processor times, which `pytest --times FOLDER` measures.
"""

import json
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

__all__ = ["LISTS", "Times", "mark_listed", "read", "written"]

LISTS = {name: Path(__file__).parent / f"{name}.txt" for name in ("slow", "wide")}  # by their mark


def read(text: str) -> dict[str, list[str]]:
    """The names of cases, by their file below `tests`."""
    cases: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith(" "):
            next(reversed(cases.values())).append(line.strip())
        elif line and not line.startswith("#"):
            cases[line] = []
    return cases


def written(cases: dict[str, Iterable[str]]) -> str:
    """The text of a list that `read` reads."""
    head = "# Written by scripts/slow_tests.py: cases that make test leaves out.\n"
    return head + "".join(
        f"{file}\n" + "".join(f"    {case}\n" for case in sorted(cases[file]))
        for file in sorted(cases)
    )


def mark_listed(items: Iterable[pytest.Item]) -> None:
    """Mark the listed tests."""
    marks = {
        f"{file}::{case}": mark
        for mark, path in LISTS.items()
        for file, cases in read(path.read_text()).items()
        for case in cases
    }
    for item in items:
        if mark := marks.get(item.nodeid.partition("tests/")[2]):
            item.add_marker(mark)


class Times:
    """A plugin that writes the processor time of each test, in seconds, into a folder.

    Fixtures count for the test that makes them. Each process of the session writes a file.
    """

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        begun = _seconds()
        result = yield
        self.seconds[item.nodeid] = _seconds() - begun
        return result

    def pytest_sessionfinish(self) -> None:
        """Write the times."""
        self.folder.mkdir(parents=True, exist_ok=True)
        name = f"{os.environ.get('PYTEST_XDIST_WORKER', 'main')}-{time.time_ns()}.json"
        (self.folder / name).write_text(json.dumps(self.seconds))


def _seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
