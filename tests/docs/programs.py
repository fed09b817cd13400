"""Example programs of the documentation as files for type checkers.

They are from pages and notebooks, from the correct versions in the page of mistakes, and from
docstrings.
"""

import doctest
import importlib
import pkgutil
from pathlib import Path

from tests.docs.mistakes import PAGE as MISTAKES
from tests.docs.mistakes import mistakes
from tests.docs.notebooks import NOTEBOOKS, read
from tests.docs.pages import ROOT, code_lines

import kinetograph

__all__ = ["write_programs"]

HEAD = "import numpy as np\nimport kinetograph as kg\n"  # left out on the page of mistakes


def write_programs(folder: Path) -> list[Path]:
    """Write each program to a file; return the files.

    The program of a page has the line numbers of the page.
    """
    programs = _pages() | _ways_out() | _docstrings()
    files = {folder / f"{name}.py": text for name, text in programs.items()}
    for file, text in files.items():
        file.write_text(text, encoding="utf-8")
    return list(files)


def _pages() -> dict[str, str]:
    programs = {}
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = "".join(code_lines(path.read_text(encoding="utf-8")))
        if path != MISTAKES and text.strip():
            place = path.relative_to(ROOT).with_suffix("")
            programs["_".join(place.parts).replace("-", "_")] = text
    for path in NOTEBOOKS:
        cells = [cell.source for cell in read(path).cells if cell.cell_type == "code"]
        programs[f"notebook_{path.stem}".replace("-", "_")] = "\n".join(cells) + "\n"
    return programs


def _ways_out() -> dict[str, str]:
    cases = mistakes(MISTAKES.read_text(encoding="utf-8"))
    return {f"way_out_{i}": HEAD + case.way_out for i, case in enumerate(cases) if case.way_out}


def _docstrings() -> dict[str, str]:
    finder, programs = doctest.DocTestFinder(), {}
    for module in pkgutil.walk_packages(kinetograph.__path__, "kinetograph."):
        if not module.name.endswith("__main__"):
            for test in finder.find(importlib.import_module(module.name)):
                if test.examples:
                    name = test.name.partition(".")[2].replace(".", "_")
                    programs[f"docstring_{name}"] = "".join(e.source for e in test.examples)
    return programs
