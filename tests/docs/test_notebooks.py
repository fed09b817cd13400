"""Every notebook gives the outputs that it holds."""

import copy
import re
import runpy
from pathlib import Path

import pytest
from tests.docs.notebooks import NOTEBOOKS, difference_of, executed, picture_size, read
from tests.docs.pages import ROOT

MOST_BYTES = 60_000  # of a picture
HOOKS = runpy.run_path(str(ROOT / "scripts" / "docs_hooks.py"))


def named(path: Path) -> str:
    return path.stem


@pytest.mark.docs
@pytest.mark.parametrize("path", NOTEBOOKS, ids=named)
def test_notebook(path: Path) -> None:
    shown, printed = read(path), executed(path)
    for number, (old, new) in enumerate(zip(shown.cells, printed.cells, strict=True), 1):
        difference = difference_of(old, new)
        assert difference is None, f"{path.name}, cell {number}\n{difference}"


def test_there_are_five() -> None:
    assert len(NOTEBOOKS) == 5


@pytest.mark.parametrize("path", NOTEBOOKS, ids=named)
def test_notebooks_are_complete_and_small(path: Path) -> None:
    code = [cell for cell in read(path).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == [*range(1, len(code) + 1)]
    sizes = [picture_size(output) for cell in code for output in cell.outputs]
    pictures = [size for size in sizes if size is not None]
    assert pictures
    assert max(size[2] for size in pictures) < MOST_BYTES
    texts = "".join(str(o.get("text", "")) for cell in code for o in cell.outputs)
    assert "Traceback" not in texts
    assert "/tmp" not in texts


@pytest.mark.parametrize("path", NOTEBOOKS, ids=named)
def test_links_of_notebooks(path: Path) -> None:
    for cell in read(path).cells:
        if cell.cell_type == "markdown":
            for link in re.findall(r"\]\(([^)#\s]+)", cell.source):
                assert "://" in link or (path.parent / link).exists(), link


def test_differences_are_found() -> None:
    (cell, *_) = [c for c in read(NOTEBOOKS[0]).cells if c.get("outputs")]
    assert difference_of(cell, cell) is None
    other = copy.deepcopy(cell)
    other.outputs[0]["data"] = {"text/plain": "another text"}
    assert difference_of(cell, other)
    other.outputs.pop()
    assert difference_of(cell, other)


def test_a_notebook_becomes_a_page() -> None:
    page = HOOKS["notebook_page"](NOTEBOOKS[0])
    notebook = read(NOTEBOOKS[0])
    assert page.startswith(notebook.cells[0].source.partition("\n")[0])
    assert f"]({NOTEBOOKS[0].name})" in page
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert page.count("```python\n") == len(code)
    assert page.count("data:image/png;base64") == sum(
        picture_size(o) is not None for cell in code for o in cell.outputs
    )
