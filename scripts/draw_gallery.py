"""Draw the pictures of the gallery from the results of its pages.

    python scripts/draw_gallery.py [NAME ...]

Each `images/gallery/NAME.png` of a page is drawn by the function NAME of `gallery_pictures`, from
the variables that the blocks above it have defined. Without NAME, all pictures are drawn.
"""

import re
import sys
from pathlib import Path
from typing import Any

import matplotlib

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]
matplotlib.use("Agg")

import gallery_pictures  # noqa: E402
from matplotlib import pyplot as plt  # noqa: E402
from tests.docs.pages import blocks, run_page  # noqa: E402

PICTURE = re.compile(r"\(images/gallery/(\w+)\.png\)")


def draw_page(path: Path, names: set[str]) -> None:
    """Run a page and draw its pictures."""
    page = path.read_text(encoding="utf-8")
    starts = [*[block.start for block in blocks(page)][1:], len(page)]
    variables: dict[str, Any] = {}
    for (block, _), end in zip(run_page(path, variables), starts, strict=True):
        for name in PICTURE.findall(page[block.end : end]):
            if name in names:
                figure = getattr(gallery_pictures, name)(variables)
                figure.savefig(ROOT / "docs" / "images" / "gallery" / f"{name}.png", dpi=100)
                plt.close(figure)


def main(*names: str) -> None:
    """Draw the named pictures, or all."""
    for path in sorted((ROOT / "docs").glob("gallery*.md")):
        pictures = PICTURE.findall(path.read_text(encoding="utf-8"))
        wanted = set(pictures) & set(names or pictures)
        if wanted:
            draw_page(path, wanted)


if __name__ == "__main__":
    main(*sys.argv[1:])
