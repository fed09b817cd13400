"""Run the notebooks of the documentation in a kernel, as their readers do.

Texts must agree as on pages (`differs`); tables and drawings are compared by their words. Pictures
are compared by their size only, because fonts differ between machines.

    python -m tests.docs.notebooks docs/notebooks/*.ipynb      writes the outputs into the notebooks
"""

import base64
import re
import struct
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from tests.docs.pages import ROOT, differs

__all__ = ["NOTEBOOKS", "difference_of", "executed", "picture_size", "read"]

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
SECONDS = 300  # for a cell
SIZE = 0.2  # relative difference of the sizes of pictures


def read(path: Path) -> Any:
    """A notebook from its file."""
    return nbformat.read(path, as_version=4)


def executed(path: Path) -> Any:
    """A notebook with the outputs of a new kernel, which runs in the notebook's folder."""
    notebook = read(path)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        notebook,
        timeout=SECONDS,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    return notebook


def _text(output: Any) -> str:
    """The words of an output: its text, or the texts of its table or drawing."""
    if output.output_type == "stream":
        return str(output.text)
    for kind in ("text/html", "image/svg+xml"):
        if kind in output.data:
            source = re.sub(r"<style.*?</style>", "", output.data[kind], flags=re.DOTALL)
            return re.sub(r"\s*<[^>]*>\s*", "\n", source)
    return "picture" if "image/png" in output.data else str(output.data.get("text/plain", ""))


def _outputs(cell: Any) -> list[Any]:
    """The outputs of a cell, without its warnings and logs."""
    return [o for o in cell.get("outputs", []) if o.get("name") != "stderr"]


def picture_size(output: Any) -> tuple[int, int, int] | None:
    """Width, height and bytes of a PNG output; None for other outputs."""
    encoded = output.get("data", {}).get("image/png")
    if encoded is None:
        return None
    picture = base64.b64decode(encoded)
    return *struct.unpack(">II", picture[16:24]), len(picture)


def difference_of(shown: Any, printed: Any) -> str | None:
    """A description of the first difference between the outputs of two cells, or None."""
    old, new = _outputs(shown), _outputs(printed)
    if len(old) != len(new):
        return f"the notebook has {len(old)} outputs, but the cell gave {len(new)}"
    for a, b in zip(old, new, strict=True):
        difference = differs(_text(a), _text(b))
        if difference is not None:
            return difference
        sizes = picture_size(a), picture_size(b)
        if None not in sizes and any(
            abs(x - y) > SIZE * x for x, y in zip(sizes[0][:2], sizes[1][:2], strict=True)
        ):
            return f"the picture was {sizes[0]}, and is now {sizes[1]}"
    return None


def _rewrite(path: Path) -> None:
    notebook = executed(path)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                print(f"{path.name}: {output.text}", file=sys.stderr)
    nbformat.validate(notebook)
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        _rewrite(Path(name).resolve())
