"""The page of mistakes: messages are as shown, and correct versions work."""

import re

import pytest
from tests.docs.mistakes import PAGE, SCRIPT, answer, messages_of, mistakes
from tests.docs.pages import differs

CASES = {mistake.title: mistake for mistake in mistakes(PAGE.read_text(encoding="utf-8"))}
COUNTED = re.compile(r"(?<='cond_)\d+")  # the number of a branch, counted over a process
# Messages of Python, NumPy and xarray, and about files. They have no line: the traceback has it.
WITHOUT_LINE = (
    "has no attribute",
    "missing 1 required",
    "setting an array element",
    "cannot be pickled",
)


@pytest.mark.docs
@pytest.mark.parametrize("title", CASES)
def test_the_answer(title: str) -> None:
    case = CASES[title]
    output = answer(case)
    assert output
    if "SamplingWarning" in case.text:  # about draws, which differ between processors
        assert differs(case.text, output) is None
    else:
        assert COUNTED.sub("", output) == COUNTED.sub("", case.text), (
            "python -m tests.docs.mistakes writes the messages into the page"
        )


@pytest.mark.docs
@pytest.mark.parametrize("title", [title for title in CASES if CASES[title].way_out])
def test_the_way_out(title: str) -> None:
    assert messages_of(CASES[title].way_out) == ""


@pytest.mark.parametrize("title", CASES)
def test_a_message_has_its_line(title: str) -> None:
    case = CASES[title]
    lines = case.script.count("\n")
    message_lines = [int(n) for n in re.findall(rf"{re.escape(SCRIPT)}:(\d+)", case.text)]
    assert all(1 <= n <= lines for n in message_lines)
    if not case.commands and "SamplingWarning" not in case.text:
        assert message_lines or any(words in case.text for words in WITHOUT_LINE)


def test_there_are_sixty_cases_with_different_titles() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert len(CASES) >= 60
    assert len(CASES) == len(mistakes(page)) == page.count("\n### ")


def test_a_case_is_read_completely() -> None:
    page = "## A\n### One\n```python\nx\n```\n\n```text\nE\n```\n\n```python\ny\n```\n"
    (case,) = mistakes(page)
    assert (case.title, case.script, case.text, case.way_out) == ("One", "x\n", "E\n", "y\n")
    assert page[slice(*case.place)] == "E\n"
    assert messages_of("x = 1\nx.y\n") == "AttributeError: 'int' object has no attribute 'y'\n"
    assert messages_of("import warnings\nwarnings.warn('oh')\n") == "UserWarning: oh\n"
