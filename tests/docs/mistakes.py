"""The cases of docs/when-something-goes-wrong.md: scripts and the messages that they cause.

Each case is a separate file. Its title is a heading `###`. Then follow a ```python block, the file
`model.py`, or lines `$ kinetograph ...` in a ```console block (run in a folder with that file), a
```text block with the whole output, and optionally a second ```python block, a correct version,
which runs without a message.

    python -m tests.docs.mistakes         writes the messages into the page
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

__all__ = ["PAGE", "Mistake", "answer", "messages_of", "mistakes"]

PAGE = ROOT / "docs" / "when-something-goes-wrong.md"
SCRIPT = "model.py"


@dataclass
class Mistake:
    """A case of the page."""

    title: str
    script: str
    commands: list[str]
    text: str
    place: tuple[int, int]  # start and end of the text in the page
    way_out: str  # the correct version


def mistakes(page: str) -> list[Mistake]:
    """All cases of the page, in order."""
    heads = [*re.finditer(r"^### (.*)\n", page, re.MULTILINE)]
    ends = [*(head.start() for head in heads[1:]), len(page)]
    return [_case(page, head, end) for head, end in zip(heads, ends, strict=True)]


def _case(page: str, head: re.Match[str], end: int) -> Mistake:
    fenced = [block for block in FENCE.finditer(page, head.end(), end)]
    (text_index,) = (i for i, block in enumerate(fenced) if block[1] == "text")
    before = {block[1]: block[2] for block in fenced[:text_index]}
    commands = [line.removeprefix("$ ") for line in before.get("console", "").splitlines()]
    way_out = "".join(block[2] for block in fenced[text_index + 1 :])
    text = fenced[text_index]
    return Mistake(head[1], before.get("python", ""), commands, text[2], text.span(2), way_out)


@contextlib.contextmanager
def _folder():
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)


def messages_of(script: str) -> str:
    """The warnings of a script, and the error that ends it."""
    linecache.cache[SCRIPT] = len(script), None, script.splitlines(keepends=True), SCRIPT
    messages = []
    with _folder(), warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, category, *rest, **more: messages.append(
            f"{category.__name__}: {message}"
        )
        try:
            exec(compile(script, SCRIPT, "exec"), {"kg": kg, "np": np, "__name__": "model"})
        except Exception as error:
            messages.append(f"{type(error).__name__}: {error}")
    return "\n".join(messages) + "\n" if messages else ""


def _messages_of_commands(mistake: Mistake) -> str:
    messages = io.StringIO()
    with _folder() as folder:
        if mistake.script:
            (folder / SCRIPT).write_text(mistake.script, encoding="utf-8")
        for line in mistake.commands:
            result = CliRunner().invoke(command, shlex.split(line)[1:], prog_name="kinetograph")
            messages.write(result.stderr)
    return messages.getvalue()


def answer(mistake: Mistake) -> str:
    """The whole output of a case."""
    return _messages_of_commands(mistake) if mistake.commands else messages_of(mistake.script)


def main() -> None:
    """Write the messages into the page."""
    page = PAGE.read_text(encoding="utf-8")
    for mistake in reversed(mistakes(page)):
        start, end = mistake.place
        page = page[:start] + answer(mistake) + page[end:]
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
