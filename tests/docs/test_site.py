"""Changes of pages and docstrings by the build of the site."""

import functools
import inspect
import re
import runpy
from typing import Any

import pytest
from tests.docs.pages import ROOT

import kinetograph as kg

split = runpy.run_path(str(ROOT / "scripts" / "docs_griffe.py"))["split"]
SEPARATOR = re.compile(
    re.search(r"separator: '(.*)'", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))[1]
)
HOOKS = runpy.run_path(str(ROOT / "scripts" / "docs_hooks.py"))

TEXT = """A title.

Parameters
----------
a, b
    Both.

    More.
c
    One.
d, **e
    Two.

Raises
------
TypeError, ValueError
    If x.
"""
APART = TEXT.replace(
    "a, b\n    Both.\n\n    More.\n", "a\n    Both.\n\n    More.\nb\n    Both.\n\n    More.\n"
)
APART = APART.replace("d, **e\n    Two.\n", "d\n    Two.\n**e\n    Two.\n")


def test_parameters_that_share_a_line_are_split() -> None:
    assert split(TEXT) == APART
    assert split("A title.\n\na, b\n    c\n") == "A title.\n\na, b\n    c\n"


def test_each_parameter_of_a_run_has_its_default() -> None:
    griffe = pytest.importorskip("griffe")
    text = split(inspect.getdoc(kg.opt))
    docstring = griffe.Docstring(text, parser="numpy")
    options = {"warn_missing_types": False, "warn_unknown_params": False}
    sections = docstring.parse("numpy", **options)
    (parameters,) = [s.value for s in sections if s.kind.value == "parameters"]
    assert [p.name for p in parameters] == [*inspect.signature(kg.opt).parameters]


@pytest.fixture(scope="module")
def package() -> Any:
    """The package as the site reads it."""
    griffe = pytest.importorskip("griffe")
    extensions = griffe.load_extensions(str(ROOT / "scripts" / "docs_griffe.py"))
    return griffe.load(
        "kinetograph", search_paths=[str(ROOT / "src")], extensions=extensions, resolve_aliases=True
    )


def test_the_site_finds_every_public_name(package: Any) -> None:
    assert [name for name in kg.public.__all__ if name not in package.all_members] == []


def test_entries_of_the_reference_are_not_modules(package: Any) -> None:
    """Each entry shows the object that users get, with its docstring."""
    entries = [
        name
        for path in sorted((ROOT / "docs" / "reference").glob("*.md"))
        for name in re.findall(r"^::: kinetograph\.([\w.]+)", path.read_text("utf-8"), re.MULTILINE)
    ]
    shown = {name: package[name] for name in entries}
    assert len(shown) > 200
    assert [name for name in entries if shown[name].is_module] == []
    undocumented = [name for name in entries if not shown[name].has_docstring]
    assert undocumented == [], undocumented
    for name in ("normal", "wishart", "observables.observable", "neural.network"):
        public = functools.reduce(getattr, name.split("."), kg)
        assert shown[name].docstring.lines[0] == inspect.getdoc(public).splitlines()[0]


def test_names_in_tables_of_the_reference_are_links() -> None:
    class Page:
        class file:
            src_uri = "reference/arrays.md"

    page = "| `data(value, dims=None)` | Data. |\n| `exp(x)` | e. |\n\n::: kinetograph.data\n"
    linked = HOOKS["on_page_markdown"](page, page=Page)
    assert linked.splitlines()[:2] == [
        "| [`data`](#kinetograph.data)`(value, dims=None)` | Data. |",
        "| `exp(x)` | e. |",
    ]
    Page.file.src_uri = "index.md"
    assert HOOKS["on_page_markdown"](page, page=Page) == page


def test_calls_in_tables_of_the_reference_are_short() -> None:
    short = HOOKS["short"]
    assert short("(x, y=None)") == "(x, y=None)"
    shown = short(f"{inspect.signature(kg.mcmc)}".partition(" ->")[0])
    assert shown.startswith("(model")
    assert shown.endswith(", ...)")
    assert len(shown) <= HOOKS["CELL"]
    assert short("(first, *, " + ", ".join(f"parameter_{i}=None" for i in range(9)) + ")") == (
        "(first, *, parameter_0=None, ...)"
    )


def test_messages_break_between_words_and_tables_scroll() -> None:
    styled, widest = HOOKS["styled_output"], HOOKS["WIDEST"]
    warning, table = "SamplingWarning: " + "draws " * widest, "      mean    sd\nmu    4.33  3.26"
    message, text = "``` { .text .message }", "```text"
    assert styled(f"{warning}\n{table}\n") == (f"{message}\n{warning}\n```\n\n{text}\n{table}\n```")
    assert styled("ShapeError: short\n  a  (2,)\n  b  (3,)\n").count("```") == 2
    assert styled("ShapeError: short\n").startswith(message)
    row = "theta[A]  " + "  1.00" * widest
    assert styled(f"{row}\n") == f"{text}\n{row}\n```"


WORDS = """burn-in, calibration plot, DataFrame, Deterministic, find_MAP, forecast, GPU, HDI,
InferenceData, linear regression, MAP, marginalize, non-centered, NUTS, observed, plate, polars,
posterior predictive, posterior predictive check, prior predictive, reproducible, SBC,
target_accept, trace, tune, unit test, variational inference, WAIC"""


@pytest.mark.parametrize("words", re.split(r",\s+", WORDS))
def test_the_search_finds_words_of_other_libraries(words: str) -> None:
    """The site's search finds the words: a section has all of them."""
    parts = [part.lower() for part in filter(None, SEPARATOR.split(words))]
    sections = [
        section
        for path in (ROOT / "docs").rglob("*.md")
        for section in re.split(r"^#+ ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        if all(any(w.startswith(p) for w in SEPARATOR.split(section.lower())) for p in parts)
    ]
    assert sections


def test_a_name_is_found_within_a_call() -> None:
    assert {"kg", "samplers", "NUTS", "max_depth"} <= {
        *SEPARATOR.split("kg.samplers.NUTS(max_depth=3)")
    }
    assert "0.95" in SEPARATOR.split("target_acceptance=0.95")
