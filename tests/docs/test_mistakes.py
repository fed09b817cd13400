"""The page of mistakes: each is answered as shown, by line and way out, and the way out works."""

import re

import pytest
from tests.docs.mistakes import PAGE, SCRIPT, answer, mistakes, told
from tests.docs.pages import differs

CASES = {mistake.title: mistake for mistake in mistakes(PAGE.read_text(encoding="utf-8"))}
# Of Python, NumPy and xarray themselves, and of files, which have no line: the traceback tells it.
COUNTED = re.compile(r"(?<='cond_)\d+")  # of all the branches of a process
OTHERS = (
    "has no attribute",
    "missing 1 required",
    "setting an array element",
    "cannot be pickled",
    "is not in the results",
)


@pytest.mark.docs
@pytest.mark.parametrize("title", CASES)
def test_the_answer(title: str) -> None:
    case = CASES[title]
    said = answer(case)
    assert said
    if "SamplingWarning" in case.text:  # of draws, which differ between processors
        assert differs(case.text, said) is None
    else:
        assert COUNTED.sub("", said) == COUNTED.sub("", case.text), (
            "python -m tests.docs.mistakes writes the answers anew"
        )


@pytest.mark.docs
@pytest.mark.parametrize("title", [title for title in CASES if CASES[title].way_out])
def test_the_way_out(title: str) -> None:
    assert told(CASES[title].way_out) == ""


@pytest.mark.parametrize("title", CASES)
def test_the_line_is_told(title: str) -> None:
    case = CASES[title]
    lines = case.script.count("\n")
    told_lines = [int(n) for n in re.findall(rf"{re.escape(SCRIPT)}:(\d+)", case.text)]
    assert all(1 <= n <= lines for n in told_lines)
    if not case.commands and "SamplingWarning" not in case.text:
        assert told_lines or any(words in case.text for words in OTHERS)


def test_there_are_sixty_and_each_title_is_of_one() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert len(CASES) >= 60
    assert len(CASES) == len(mistakes(page)) == page.count("\n### ")


def test_a_case_is_read_whole() -> None:
    page = "## A\n### One\n```python\nx\n```\n\n```text\nE\n```\n\n```python\ny\n```\n"
    (case,) = mistakes(page)
    assert (case.title, case.script, case.text, case.way_out) == ("One", "x\n", "E\n", "y\n")
    assert page[slice(*case.place)] == "E\n"
    assert told("x = 1\nx.y\n") == "AttributeError: 'int' object has no attribute 'y'\n"
    assert told("import warnings\nwarnings.warn('oh')\n") == "UserWarning: oh\n"
