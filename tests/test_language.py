"""The language lint: its rules find their samples, and plain English passes."""

import runpy
from pathlib import Path

import pytest

SCRIPT = runpy.run_path(str(Path(__file__).parents[1] / "scripts" / "language.py"))
BAD = [
    ("docstring", "What is no Progress is told there.", 3),
    ("docstring", "The same, of those that are not there.", 1),
    ("docstring", "How results call unknowns, of those that they are of.", 2),
    ("docstring", "The number of " + "very " * 9 + "long lines.", 1),
    ("docstring", "Return the sum\nof all values.", 1),
    ("comment", "# a row is written anew, lest others read it", 3),
    ("message", "the draws went on, and nobody behaves like that", 2),
    ("prose", "The behavior is optimized.", 2),
]
GOOD = [
    ("docstring", "Return the sum of all values.\n\nThere is no sum of text."),
    ("docstring", "Whether a value is not a Progress."),
    ("docstring", "Sum.\n\n    Examples\n    --------\n    >>> told = others  # anew\n"),
    ("comment", "# `told` and `kg.optimizers.adam(0.1)` are names, as in optimizer=None"),
    ("prose", "See [the page](of-which.md). This is no longer used."),
]


def rules(kind: str, text: str) -> list[str]:
    piece = SCRIPT["Piece"](Path("x.py"), 1, kind, text)
    return [finding.rule for finding in SCRIPT["findings"](piece)]


@pytest.mark.parametrize(("kind", "text", "least"), BAD)
def test_bad_language_is_found(kind, text, least):
    assert len(rules(kind, text)) >= least


@pytest.mark.parametrize(("kind", "text"), GOOD)
def test_plain_english_passes(kind, text):
    assert rules(kind, text) == []


def test_texts_of_a_python_file(tmp_path):
    file = tmp_path / "x.py"
    file.write_text('"""Top."""\n# first\n# second\nx = f"a {1} b told"  # third\n')
    kinds = [(p.kind, p.line) for p in SCRIPT["python_pieces"](file)]
    assert sorted(set(kinds)) == [("comment", 2), ("comment", 4), ("docstring", 1), ("message", 4)]


@pytest.mark.parametrize("name", ["Makefile", ".ci/run", "scripts/mutants.toml"])
def test_comments_of_other_files_are_read(name):
    texts = [piece.text for piece in SCRIPT["pieces"](Path(name)) if piece.text]
    assert len(texts) > 1
    assert not [text for text in texts if text.startswith("old =")]
