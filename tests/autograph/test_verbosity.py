"""What the converter tells of what it does."""

import pytest
from tests.autograph.sources import function

import kinetograph as kg
from kinetograph.autograph.verbosity import verbosity

SOURCE = """
def f(x, n):
    for i in range(n):
        if i > 0:
            x = x + 1
    while x < 3:
        x = x + 1
    return x if x > 0 else -x
"""


@pytest.fixture(autouse=True)
def _quiet():
    yield
    kg.autograph.set_verbosity(0)


def told(level, capsys):
    f = function(SOURCE)
    kg.autograph.set_verbosity(level)
    kg.autograph.convert(f)(kg.placeholder(name="x"), 2)
    kg.autograph.set_verbosity(0)
    file = f.__code__.co_filename
    output = capsys.readouterr()
    assert output.out == ""
    return [line.replace(file, "FILE") for line in output.err.splitlines()]


def test_nothing(capsys):
    assert told(0, capsys) == []


def test_what_is_staged(capsys):
    lines = told(1, capsys)
    assert len(lines) == 2
    assert lines[0].startswith("autograph: FILE:6: while staged (")
    assert lines[1].startswith("autograph: FILE:8: conditional expression staged (")
    assert all("kg.Array" in line for line in lines)


def test_what_is_python(capsys):
    lines = told(2, capsys)
    assert lines[0] == "autograph: FILE:3: for Python (range: range)"
    assert lines[1:3] == ["autograph: FILE:4: if Python (bool: bool)"] * 2
    assert len(lines) == 5


def test_the_code(capsys):
    lines = told(3, capsys)
    assert any("is converted to" in line for line in lines)
    assert any("ag__.while_stmt" in line for line in lines)


@pytest.mark.parametrize("level", [-1, 11, 1.0, "1", None, True])
def test_bad_levels(level):
    with pytest.raises(ValueError, match=r"set_verbosity: level is .*from 0 to 10"):
        kg.autograph.set_verbosity(level)


@pytest.mark.parametrize(("text", "level"), [("3", 3), ("much", 0), ("", 0)])
def test_environment(text, level, monkeypatch):
    from kinetograph.autograph import verbosity as own

    monkeypatch.setenv("KINETOGRAPH_AUTOGRAPH_VERBOSITY", text)
    assert own._from_environment() == level
    monkeypatch.delenv("KINETOGRAPH_AUTOGRAPH_VERBOSITY")
    assert own._from_environment() == 0


def test_level_is_kept():
    kg.autograph.set_verbosity(7)
    assert verbosity() == 7
