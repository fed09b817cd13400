"""The cases of docs/when-something-goes-wrong.md, each a file of its own, with what it is told.

Under a title `###` come a ```python block, `model.py`, or lines `$ kinetograph ...` in a ```console
block (with that file beside them), a ```text block with the whole answer, and maybe a second
```python block, the way out, which runs without a word.

    python -m tests.docs.mistakes         writes the answers anew
"""

import contextlib
import io
import linecache
import os
import re
import shlex
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from click.testing import CliRunner
from tests.docs.pages import FENCE, ROOT

import kinetograph as kg
from kinetograph.cli import main as command

__all__ = ["PAGE", "Mistake", "answer", "mistakes", "told"]

PAGE = ROOT / "docs" / "when-something-goes-wrong.md"
SCRIPT = "model.py"


@dataclass
class Mistake:
    """What is shown under a title."""

    title: str
    script: str
    commands: list[str]
    text: str
    place: tuple[int, int]  # of the text in the page
    way_out: str


def mistakes(page: str) -> list[Mistake]:
    """All cases of the page, in order."""
    heads = [*re.finditer(r"^### (.*)\n", page, re.MULTILINE)]
    ends = [*(head.start() for head in heads[1:]), len(page)]
    return [_case(page, head, end) for head, end in zip(heads, ends, strict=True)]


def _case(page: str, head: re.Match[str], end: int) -> Mistake:
    found = [block for block in FENCE.finditer(page, head.end(), end)]
    (at,) = (i for i, block in enumerate(found) if block[1] == "text")
    before = {block[1]: block[2] for block in found[:at]}
    commands = [line.removeprefix("$ ") for line in before.get("console", "").splitlines()]
    way_out = "".join(block[2] for block in found[at + 1 :])
    return Mistake(
        head[1], before.get("python", ""), commands, found[at][2], found[at].span(2), way_out
    )


@contextlib.contextmanager
def _folder():
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)


def told(script: str) -> str:
    """What a script says: its warnings, and the error it ends with."""
    linecache.cache[SCRIPT] = len(script), None, script.splitlines(keepends=True), SCRIPT
    said = []
    with _folder(), warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, category, *rest, **more: said.append(
            f"{category.__name__}: {message}"
        )
        try:
            exec(compile(script, SCRIPT, "exec"), {"kg": kg, "np": np, "__name__": "model"})
        except Exception as error:
            said.append(f"{type(error).__name__}: {error}")
    return "\n".join(said) + "\n" if said else ""


def _commanded(mistake: Mistake) -> str:
    said = io.StringIO()
    with _folder() as folder:
        if mistake.script:
            (folder / SCRIPT).write_text(mistake.script, encoding="utf-8")
        for line in mistake.commands:
            result = CliRunner().invoke(command, shlex.split(line)[1:], prog_name="kinetograph")
            said.write(result.stderr)
    return said.getvalue()


def answer(mistake: Mistake) -> str:
    """The whole answer to a mistake."""
    return _commanded(mistake) if mistake.commands else told(mistake.script)


def main() -> None:
    """Write the answers of the page anew."""
    page = PAGE.read_text(encoding="utf-8")
    for mistake in reversed(mistakes(page)):
        start, end = mistake.place
        page = page[:start] + answer(mistake) + page[end:]
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
