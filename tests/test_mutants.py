"""The table of faults that a user would meet: each of them can be put into the present sources."""

import builtins
import keyword
import re
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


def test_the_names_of_faults_are_names_in_their_files():
    """Any test catches a fault with an unknown name."""
    unknown = [
        (fault["file"], word)
        for fault in FAULTS
        for word in re.findall(r"(?<![.\w\"'])[a-z_]\w{3,}", fault["new"])
        if word not in (ROOT / "src" / "kinetograph" / fault["file"]).read_text("utf-8")
        and not hasattr(builtins, word)
        and not keyword.iskeyword(word)
    ]
    assert unknown == []
