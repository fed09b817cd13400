"""What the build of the site does to pages and docstrings."""

import inspect
import runpy

import pytest
from tests.docs.pages import ROOT

import kinetograph as kg

split = runpy.run_path(str(ROOT / "scripts" / "docs_griffe.py"))["split"]
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


def test_each_parameter_of_a_run_is_read_with_its_default() -> None:
    griffe = pytest.importorskip("griffe")
    text = split(inspect.getdoc(kg.opt))
    docstring = griffe.Docstring(text, parser="numpy")
    options = {"warn_missing_types": False, "warn_unknown_params": False}
    sections = docstring.parse("numpy", **options)
    (parameters,) = [s.value for s in sections if s.kind.value == "parameters"]
    assert [p.name for p in parameters] == [*inspect.signature(kg.opt).parameters]


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
