"""Every code block of the documentation prints the output on its page."""

import re
from pathlib import Path

import pytest
from tests.docs.mistakes import PAGE as MISTAKES
from tests.docs.pages import ROOT, blocks, code_lines, differs, run_page, shown_pictures

MOST_BYTES = 60_000  # of a picture
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def title(path: Path) -> str:
    """The path below docs; the name alone is not unique."""
    return str(path.relative_to(ROOT / "docs", walk_up=True))


# Each mistake is a separate program: test_mistakes runs them.
@pytest.mark.docs
@pytest.mark.parametrize("path", [p for p in PAGES if p != MISTAKES], ids=title)
def test_page(path: Path) -> None:
    pictures: dict[str, bytes] = {}
    for block, printed in run_page(path, pictures=pictures):
        if block.output is not None:
            difference = differs(block.output.text, printed)
            assert difference is None, f"{path.name}:{block.output.line}\n{difference}"
        elif block.language == "python":
            assert not printed, (
                f"{path.name}:{block.line} prints, but the page shows no output:\n{printed}"
            )
    for name in shown_pictures(path.read_text(encoding="utf-8")):
        assert len(pictures[name]) < MOST_BYTES, name


@pytest.mark.parametrize("path", PAGES, ids=title)
def test_links_to_files(path: Path) -> None:
    for link in re.findall(r"\]\(([^)#\s]+)", path.read_text(encoding="utf-8")):
        if "://" not in link:
            assert (path.parent / link).exists(), link


PAGE = "a\n```python\nprint(1.0, 'x')\n```\n\n```text\n1.1 x\n```\nb\n```text\nfree\n```\n"


def test_the_output_of_a_block_follows_it() -> None:
    (block,) = blocks(PAGE)
    assert block.line == 3
    assert block.output is not None
    assert block.output.text == "1.1 x\n"


def test_code_keeps_its_lines() -> None:
    assert code_lines(PAGE)[1:4] == ["\n", "print(1.0, 'x')\n", "\n"]
    assert len(code_lines(PAGE)) == PAGE.count("\n") + 1


def test_outputs_may_differ_in_numbers_only() -> None:
    assert differs("mu  4.36  0.1", "mu   4.41 0.12") is None
    assert differs("at a.py:3", "at page.md:77") is None
    assert differs("mu  4.36", "tau  4.36")
    assert differs("mu  4.36", "mu  14.4")
    assert differs("mu  4.36", "mu  -4.36")
    assert differs("mu  4.36", "mu  nan")
    assert differs("a\nb", "a")
    assert differs("SamplingWarning: 3 draws\na", "SamplingWarning: other\na") is None
    assert differs("SamplingWarning: 3 draws\na", "a")


TABLE = """
      mean    sd     q5  median    q95  mcse_mean  ess_bulk  ess_tail  r_hat
mu    4.39  3.17  -0.80    4.37   9.52      0.048      4515      2629  1.001
x[1]  4.89  4.57  -2.12    4.76  12.41      0.066      4973      2907  1.000
"""


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("4.39", "4.60", True),
        ("4.39", "5.39", False),
        ("9.52", "9.90", True),
        ("9.52", "12.52", False),
        ("3.17", "3.40", True),
        ("3.17", "3.97", False),
        ("4515", "3000", True),
        ("4515", "1000", False),
        ("1.001", "1.003", True),
        ("1.001", "1.300", False),
        ("x[1]", "x[2]", False),
    ],
)
def test_printed_posteriors_agree_within_their_errors(old: str, new: str, same: bool) -> None:
    assert (differs(TABLE, TABLE.replace(old, new)) is None) == same
