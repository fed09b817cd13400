"""The page for those who come from elsewhere agrees with what calls and names are answered."""

import re

import pytest
from tests.docs.words import PAGE, written

import kinetograph as kg
from kinetograph.calls.names import no_attribute
from kinetograph.graph.suggestions import plain

TEXT = PAGE.read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (`.*?) \| (.*) \|$", TEXT, re.MULTILINE)
LIBRARIES = r"(?:pm|numpyro|handlers|infer|lax|tf|tfd|tfp|T|theano)"


def test_the_tables_of_words_are_those_of_the_code() -> None:
    assert written(TEXT) == TEXT, "python -m tests.docs.words writes them anew"
    assert TEXT.count("<!-- words: ") == 3


def theirs() -> list[tuple[str, str]]:
    """The names in the left column, `pm.Deterministic` and alike, with what is right of them."""
    found = []
    for left, right in ROWS:
        found += [(name, right) for name in re.findall(rf"`{LIBRARIES}\.(?:\w+\.)*(\w+)", left)]
    return found


@pytest.mark.parametrize(("name", "ours"), theirs())
def test_a_name_of_theirs_is_answered_as_in_the_table(name: str, ours: str) -> None:
    """Unless it is a name of ours, too, which may do something else."""
    if hasattr(kg, name):
        return
    text = str(no_attribute("kinetograph", name, kg.__all__))
    said = re.findall(r"\w+", text.partition("has no attribute")[2].partition("; ")[2])
    there = {plain(word) for word in re.findall(r"\w+", ours)} - {"kg"}
    assert there & {plain(word) for word in said}, text


def test_there_are_such_names() -> None:
    assert len(theirs()) > 40
