"""docs/coming-from.md agrees with the error messages for other libraries' names."""

import re

import pytest
from tests.docs.words import PAGE, written

import kinetograph as kg
from kinetograph.calls.name_errors import no_attribute
from kinetograph.graph.suggestions import plain

TEXT = PAGE.read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (`.*?) \| (.*) \|$", TEXT, re.MULTILINE)
LIBRARIES = r"(?:pm|numpyro|handlers|infer|lax|tf|tfd|tfp|T|theano)"


def test_the_tables_of_words_agree_with_the_code() -> None:
    assert written(TEXT) == TEXT, "run python -m tests.docs.words"
    assert TEXT.count("<!-- words: ") == 5


def names_of_libraries() -> list[tuple[str, str]]:
    """Names of the left column, such as `pm.Deterministic`, with the right column."""
    pairs = []
    for left, right in ROWS:
        pairs += [(name, right) for name in re.findall(rf"`{LIBRARIES}\.(?:\w+\.)*(\w+)", left)]
    return pairs


@pytest.mark.parametrize(("name", "replacement"), names_of_libraries())
def test_the_message_for_a_name_agrees_with_the_table(name: str, replacement: str) -> None:
    """Names that kinetograph also has are skipped: they may do something else."""
    if hasattr(kg, name):
        return
    text = str(no_attribute("kinetograph", name, kg.public.__all__))
    suggested = re.findall(r"\w+", text.partition("has no attribute")[2].partition("; ")[2])
    expected = {plain(word) for word in re.findall(r"\w+", replacement)} - {"kg"}
    assert expected & {plain(word) for word in suggested}, text


def test_there_are_such_names() -> None:
    assert len(names_of_libraries()) > 40
