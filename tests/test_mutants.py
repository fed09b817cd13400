"""The table of faults that a user would meet: each of them can be put into the present sources."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FAULTS = tomllib.loads((ROOT / "scripts" / "mutants.toml").read_text("utf-8"))["mutant"]


@pytest.mark.parametrize("file", sorted({fault["file"] for fault in FAULTS}))
def test_the_line_of_a_fault_is_in_its_file_once(file):
    text = (ROOT / "src" / "kinetograph" / file).read_text("utf-8")
    lines = [fault["old"] for fault in FAULTS if fault["file"] == file]
    assert [line for line in lines if text.count(line) != 1] == []
