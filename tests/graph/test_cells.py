"""Messages name lines of notebooks by the number of the cell."""

import sys
from types import SimpleNamespace

import pytest

import kinetograph as kg
from kinetograph.graph.source import Site

CELL = "/tmp/ipykernel_7/1234.py"


def in_notebook(monkeypatch, cells):
    """Imitate IPython, which knows the cell numbers of some files."""
    named = SimpleNamespace(format_code_name=lambda f: ("Cell", cells[f]) if f in cells else None)
    session = SimpleNamespace(get_ipython=lambda: SimpleNamespace(compile=named))
    monkeypatch.setitem(sys.modules, "IPython", session)


def test_a_line_of_a_cell(monkeypatch):
    in_notebook(monkeypatch, {CELL: "In[3]"})
    assert str(Site(CELL, 2)) == "In[3]:2"
    assert str(Site("/home/me/model.py", 2)) == "model.py:2"


def test_an_error_in_a_cell(monkeypatch):
    in_notebook(monkeypatch, {CELL: "In[3]"})
    with pytest.raises(ValueError, match=r"sd must be positive, got -1.0 \(In\[3\]:2\)$"):
        exec(compile("\nkg.normal(0, -1)", CELL, "exec"), {"kg": kg})


def test_a_staged_function_of_a_cell(monkeypatch, tmp_path):
    path = tmp_path / "cell.py"
    path.write_text("@kg.function\ndef half(x):\n    return x / undefined\nhalf(1.0)\n")
    in_notebook(monkeypatch, {str(path): "In[4]"})
    with pytest.raises(NameError, match=r"in user code:\n\n    In\[4\]:3 half  \*"):
        exec(compile(path.read_text(), str(path), "exec"), {"kg": kg, "__name__": "cell"})


def test_sessions_without_cells(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert str(Site(CELL, 2)) == "1234.py:2"
