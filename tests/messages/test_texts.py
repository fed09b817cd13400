"""Each mistake is answered by the text that was read and found good."""

import re

import pytest
from tests.messages.golden import HERE, SCRIPT, cases, outcome

FILES = sorted(HERE.glob("*.txt"))
CASES = {f"{case.file}: {case.title}": case for path in FILES for case in cases(path)}
# The checks of Python itself, whose traceback tells the line.
PYTHONS = ("has no attribute", "setting an array element")


@pytest.mark.parametrize("name", CASES)
def test_the_whole_text(name):
    assert outcome(CASES[name]) == CASES[name].text


@pytest.mark.parametrize("name", CASES)
def test_the_users_line_is_told(name):
    text = CASES[name].text
    lines = CASES[name].script.count("\n") + 1
    told = [int(line) for line in re.findall(rf"{SCRIPT}:(\d+)", text)]
    assert told or any(words in text for words in PYTHONS)
    assert all(1 <= line <= lines for line in told)


def test_every_title_is_of_one_case():
    files = {path: cases(path) for path in FILES}
    assert len(CASES) == sum(map(len, files.values()))
    assert all(re.match(r"[MT]\d+ \w", case.title) for found in files.values() for case in found)
