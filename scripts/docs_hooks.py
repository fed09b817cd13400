"""Hooks of the documentation build: pictures, links, outputs and notebooks."""

import json
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]


def on_pre_build(config: Any) -> None:
    """Draw the picture of step-size errors."""
    drawing = runpy.run_path(str(ROOT / "examples" / "plot_step_errors.py"))
    drawing["main"](str(ROOT / "docs" / "images" / "step_errors.svg"))


def on_page_markdown(markdown: str, page: Any, **rest: Any) -> str:
    """Style outputs, and link names in the reference tables to their entries."""
    markdown = OUTPUT.sub(lambda match: styled_output(match[1]), markdown)
    markdown = NOTEBOOK.sub(r"](\1.md)", markdown)
    if not page.file.src_uri.startswith("reference/"):
        return markdown

    def linked(match: re.Match[str]) -> str:
        name, arguments = match[1], short(match[2] or "")
        if f"::: kinetograph.{name}\n" not in f"{markdown}\n":
            return match[0]
        return f"| [`{name}`](#kinetograph.{name})" + (f"`{arguments}`" if arguments else "") + " |"

    return re.sub(r"^\| `([\w.]+)(\(.*?\))?` \|", linked, markdown, flags=re.MULTILINE)


def on_files(files: Any, config: Any) -> Any:
    """Add a page for each notebook."""
    for path in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        page = File.generated(config, f"notebooks/{path.stem}.md", content=notebook_page(path))
        files.append(page)
    return files


def notebook_page(path: Path) -> str:
    """A notebook as a page, with a link to the notebook."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    first, *cells = [part for cell in notebook["cells"] for part in _cell(cell)]
    title, _, text = first.partition("\n")
    link = f"[Download the notebook]({path.name}){{ download }}"
    return "\n\n".join([title, link, text, *cells]) + "\n"


def _cell(cell: Any) -> Iterator[str]:
    """The parts of a page that show a cell."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        data = {kind: "".join(lines) for kind, lines in output.get("data", {}).items()}
        if output.get("name") == "stdout":
            yield "```text\n{}```".format("".join(output["text"]))
        elif "text/html" in data:
            html = re.sub(r"<style.*?</style>", "", data["text/html"], flags=re.DOTALL)
            yield '<div class="output">{}</div>'.format(re.sub(r"\n\s*", "", html))
        elif "image/svg+xml" in data:
            yield '<div class="output">{}</div>'.format(data["image/svg+xml"].replace("\n", ""))
        elif "image/png" in data:
            yield f'<img alt="" src="data:image/png;base64,{data["image/png"].strip()}">'
        elif "text/plain" in data:
            yield f"```text\n{data['text/plain']}\n```"


NOTEBOOK = re.compile(r"\]\(((?:[\w-]+/|\.\./)*[\w-]+)\.ipynb\)(?!\{)")
OUTPUT = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MESSAGE = re.compile(r"\w+(?:Warning|Error): ")
WIDEST = 80  # characters of a line of prose that scrolls


def styled_output(text: str) -> str:
    """The fences of an output.

    Long lines of prose break between words; other lines scroll.
    """
    parts: list[tuple[bool, list[str]]] = []
    lines = text.splitlines()
    for line in lines:
        is_prose = bool(MESSAGE.match(line)) or "  " not in line.strip()
        breaks = is_prose and (len(line) > WIDEST or len(lines) == 1)
        if not parts or parts[-1][0] != breaks:
            parts.append((breaks, []))
        parts[-1][1].append(line)
    fences = {True: "``` { .text .message }", False: "```text"}
    return "\n\n".join("\n".join([fences[breaks], *part, "```"]) for breaks, part in parts)


def short(arguments: str) -> str:
    """The parameters of a call that fit into a cell."""
    if len(arguments) <= CELL:
        return arguments
    names = arguments[1:-1].split(", ")
    while len(", ".join(names)) > CELL - 6 or names[-1] == "*":
        names.pop()
    return f"({', '.join(names)}, ...)"


CELL = 48  # characters of a call


def on_startup(command: str, dirty: bool) -> None:
    """Draw the pictures of the gallery once, except for a draft server."""
    if command == "build":
        subprocess.run([sys.executable, ROOT / "scripts" / "draw_gallery.py"], check=True)
