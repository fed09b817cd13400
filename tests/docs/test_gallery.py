"""The gallery: models of at most thirty lines, each with a picture."""

import ast
import re
from pathlib import Path

import pytest
from tests.docs.pages import ROOT, blocks

PAGES = sorted((ROOT / "docs").glob("gallery*.md"))
PICTURES = ast.parse((ROOT / "scripts" / "gallery_pictures.py").read_text(encoding="utf-8"))


def sections(path: Path) -> dict[str, str]:
    """The text below each model's title."""
    _, *parts = re.split(r"^## (.*)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


MODELS = [pytest.param(text, id=title) for p in PAGES for title, text in sections(p).items()]


@pytest.mark.parametrize("text", MODELS)
def test_a_model_has_at_most_thirty_lines(text: str) -> None:
    code = [block for block in blocks(text) if block.language == "python"]
    assert len(code) == 1
    assert len([line for line in code[0].text.splitlines() if line.strip()]) <= 30


@pytest.mark.parametrize("text", MODELS)
def test_a_model_has_a_picture(text: str) -> None:
    (name,) = re.findall(r"\(images/gallery/(\w+)\.png\)", text)
    assert name in {f.name for f in PICTURES.body if isinstance(f, ast.FunctionDef)}
    picture = ROOT / "docs" / "images" / "gallery" / f"{name}.png"
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_no_picture_is_left_over() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in PAGES)
    for picture in (ROOT / "docs" / "images" / "gallery").iterdir():
        assert f"(images/gallery/{picture.name})" in text
