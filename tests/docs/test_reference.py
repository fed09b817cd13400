"""The reference has every public name once and agrees with the code."""

import inspect
import re
from collections import Counter
from typing import Any

import pytest
from tests.docs.pages import ROOT
from tests.docs.reference import BLOCK, PAGES, first_sentence, names, row, written

import kinetograph as kg

TEXTS = {path.name: path.read_text(encoding="utf-8") for path in PAGES}


def public_names(package: Any, prefix: str = "") -> set[str]:
    """The public names of a package and the packages in it."""
    public = set()
    listed = kg.public.__all__ if package is kg else package.__all__  # with the names of builtins
    for name in listed:
        value = getattr(package, name)
        inner = public_names(value, f"{prefix}{name}.") if inspect.ismodule(value) else ()
        public |= {*inner} or {prefix + name}
    return public


PUBLIC = public_names(kg) - {"random"}


@pytest.mark.parametrize("page", TEXTS)
def test_tables_agree_with_the_code(page: str) -> None:
    assert written(TEXTS[page]) == TEXTS[page], "run python -m tests.docs.reference"


def test_every_public_name_is_on_one_page() -> None:
    counts = Counter(name for text in TEXTS.values() for name in names(text))
    assert set(counts) == PUBLIC
    assert [name for name, count in counts.items() if count > 1] == []


def test_the_index_has_every_name_once_by_purpose() -> None:
    parts = TEXTS["index.md"].partition("<!-- table of pages -->")[2].split("\n## ")[1:]
    listed = [name for part in parts for name in re.findall(r"`([\w.]+)`", part)]
    assert sorted(listed) == sorted(PUBLIC)
    purposes = [part.partition("\n")[0] for part in parts]
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("- Reference:\n")[2]
    assert purposes == re.findall(r"^      - ([^:]+):$", menu.partition("\n\n")[0], re.MULTILINE)
    rows = re.findall(r"^\| \[.*$", TEXTS["index.md"], re.MULTILINE)
    assert max(row.count("`") // 2 for row in rows) < 60  # a row that can be read at a glance


@pytest.mark.parametrize("page", [page for page in TEXTS if page not in ("index.md", "command.md")])
def test_every_name_has_a_row(page: str) -> None:
    rows = re.findall(r"^\| `([\w.]+)(?:\(|`)", TEXTS[page], re.MULTILINE)
    assert [name for name in names(TEXTS[page]) if name not in rows] == []


def test_functions_with_details_have_a_block() -> None:
    blocks = {name for text in TEXTS.values() for name in BLOCK.findall(text)}
    functions = {name for name in names(TEXTS["functions.md"])}
    detailed = {n for n in functions if "\n\n" in (inspect.getdoc(getattr(kg, n)) or "")}
    assert functions & blocks == detailed


def test_every_page_is_in_the_menu() -> None:
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    files = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.ipynb")]
    pages = [str(path.relative_to(ROOT / "docs").with_suffix(".md")) for path in files]
    assert sorted(re.findall(r": ([\w/-]+\.md)$", menu, re.MULTILINE)) == sorted(pages)


def test_every_command_shows_its_help() -> None:
    from kinetograph.cli import main

    shown = re.findall(r"^\$ kinetograph (\w+) --help", TEXTS["command.md"], re.MULTILINE)
    assert sorted(shown) == sorted(main.commands)


def test_a_row_is_a_call_and_a_sentence() -> None:
    assert row("exp") == "| `exp(x)` | e ** x. |\n"
    assert row("ShapeError").startswith("| `ShapeError` | ")
    assert row("samplers.HMC").startswith("| `samplers.HMC(step_size=")
    assert row("observables.momentum_norm") == "| `observables.momentum_norm` | \\|p\\| |\n"
    assert row("laws.quartic") == "| `laws.quartic(q)` | The potential U = q^4 / 4. |\n"


def test_a_first_sentence_ends_at_its_full_stop() -> None:
    assert first_sentence("The mean, 0.5 of it.\nMore `x`.\n\nMore.") == "The mean, 0.5 of it."
    assert first_sentence("No stop\nhere\n\nMore.") == "No stop here"
