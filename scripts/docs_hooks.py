"""Hooks of the documentation build: pictures and links."""

import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def on_pre_build(config: Any) -> None:
    """Draw the picture of step-size errors."""
    drawing = runpy.run_path(str(ROOT / "examples" / "plot_step_errors.py"))
    drawing["main"](str(ROOT / "docs" / "images" / "step_errors.svg"))


def on_page_markdown(markdown: str, page: Any, **rest: Any) -> str:
    """Link names in the reference tables to their entries."""
    if not page.file.src_uri.startswith("reference/"):
        return markdown

    def linked(match: re.Match[str]) -> str:
        name, arguments = match[1], match[2] or ""
        if f"::: kinetograph.{name}\n" not in f"{markdown}\n":
            return match[0]
        return f"| [`{name}`](#kinetograph.{name})" + (f"`{arguments}`" if arguments else "") + " |"

    return re.sub(r"^\| `([\w.]+)(\(.*?\))?` \|", linked, markdown, flags=re.MULTILINE)


def on_startup(command: str, dirty: bool) -> None:
    """Draw the pictures of the gallery once, except for a draft server."""
    if command == "build":
        subprocess.run([sys.executable, ROOT / "scripts" / "draw_gallery.py"], check=True)
