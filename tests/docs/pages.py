"""Run the code blocks of a page of the documentation.

    ```python    is run; all such blocks of a page share one namespace
    ```text      directly after such a block (or after a console block) is its output, including
                 warnings and the error that ended it
    ```console   the lines `$ kinetograph ...` are run; the other lines are for the reader

A picture `images/plots/NAME.png` of a page is the file NAME.png that one of its blocks writes.

The words of an output must agree exactly, its numbers as in `close`, because draws differ between
kinds of processors. Rows of `kg.summary` must agree within their own Monte Carlo errors. Warnings
about draws must be issued if they are shown; their texts are not compared.

    python -m tests.docs.pages docs/*.md README.md     writes the outputs into the pages
"""

import contextlib
import io
import linecache
import os
import re
import shlex
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from kinetograph.cli import main

__all__ = ["ROOT", "Block", "blocks", "code_lines", "differs", "run_page", "shown_pictures"]

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?")
WARNING = "SamplingWarning: "
PLACE = re.compile(r"[\w/.-]+\.(?:py|md):\d+")


@dataclass
class Block:
    """A fenced block: language, text, place in the page, first line."""

    language: str
    text: str
    start: int
    end: int
    line: int
    output: "Block | None" = None


def blocks(page: str) -> list[Block]:
    """The blocks of a page that are run, with their output blocks."""
    runnable: list[Block] = []
    for match in FENCE.finditer(page):
        block = Block(
            match[1], match[2], match.start(2), match.end(2), page.count("\n", 0, match.start()) + 2
        )
        if block.language in ("python", "console"):
            runnable.append(block)
        elif block.language == "text" and runnable:
            between = page[runnable[-1].end : match.start()].removeprefix("```")
            if not between.strip() and runnable[-1].output is None:
                runnable[-1].output = block
    return runnable


def code_lines(page: str) -> list[str]:
    """The Python blocks as one file with the page's line numbers."""
    lines = ["\n"] * (page.count("\n") + 1)
    for block in blocks(page):
        if block.language == "python":
            text = block.text.splitlines(keepends=True)
            lines[block.line - 1 : block.line - 1 + len(text)] = text
    return lines


def run_page(
    path: Path, namespace: dict[str, Any] | None = None, pictures: dict[str, bytes] | None = None
) -> Iterator[tuple[Block, str]]:
    """Run the blocks in one namespace; yield each with its output.

    The pictures that blocks have written into the working folder are added to `pictures`.
    """
    namespace = {} if namespace is None else namespace
    namespace["__name__"] = "page"
    page = path.read_text(encoding="utf-8")
    name = f"{path.stem}.py"
    lines = code_lines(page)
    # The sources of functions that become graph are read from the file in which they are written.
    linecache.cache[name] = sum(map(len, lines)), None, lines, name
    with _workplace():
        for block in blocks(page):
            run = _run_python if block.language == "python" else _run_console
            yield block, run(block, path, namespace)
        if pictures is not None:
            pictures |= {file.name: file.read_bytes() for file in Path().glob("*.png")}


def shown_pictures(page: str) -> list[str]:
    """The names of the pictures on a page that its blocks draw."""
    return re.findall(r"\]\(images/plots/(\w+\.png)\)", page)


@contextlib.contextmanager
def _workplace() -> Iterator[None]:
    """Work in an empty folder that contains `examples` only."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(ROOT / "examples", Path(folder) / "examples")
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _run_python(block: Block, path: Path, namespace: dict[str, Any]) -> str:
    code = compile("\n" * (block.line - 1) + block.text, f"{path.stem}.py", "exec")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, category, *rest, **more: print(
            f"{category.__name__}: {message}"
        )
        try:
            exec(code, namespace)
        except Exception as error:
            if block.output is None:
                raise
            print(f"{type(error).__name__}: {error}")
    return printed.getvalue()


def _run_console(block: Block, path: Path, namespace: dict[str, Any]) -> str:
    printed = ""
    for line in block.text.splitlines():
        words = shlex.split(line, comments=True)
        if words[:2] == ["$", "kinetograph"]:
            result = CliRunner().invoke(main, words[2:], prog_name="kinetograph")
            if result.exception is not None and not isinstance(result.exception, SystemExit):
                raise result.exception
            if result.exit_code and block.output is None:
                raise AssertionError(f"{line}: exit code {result.exit_code}\n{result.output}")
            printed += result.stdout if result.exit_code == 0 else result.stderr
    return printed


def close(expected: float, got: float) -> bool:
    """Whether two numbers may be from runs on different machines."""
    return abs(expected - got) <= 0.5 + 0.5 * max(abs(expected), abs(got))


COLUMNS = "mean sd q5 median q95 mcse_mean ess_bulk ess_tail r_hat".split()
ERRORS = 6 * 2**0.5  # standard errors of the difference of two runs: exceeded once in 10^9


def same_posterior(shown: list[float], printed: list[float]) -> bool:
    """Whether two rows of a summary may be from two runs.

    The standard errors of sd and of quantiles are twice the values for a normal posterior,
    because tails may be heavier. Effective sample sizes may differ by a factor of 3.
    """
    a, b = (dict(zip(COLUMNS, row, strict=True)) for row in (shown, printed))
    if not (b["r_hat"] < 1.05 and all(x["ess_bulk"] > 50 for x in (a, b))):
        return shown == printed
    sd = max(a["sd"], b["sd"])
    bulk, tail = (min(a[n], b[n]) ** -0.5 for n in ("ess_bulk", "ess_tail"))
    errors = {
        "mean": max(a["mcse_mean"], b["mcse_mean"]),
        "sd": 2 * 0.71 * sd * bulk,
        "median": 2 * 1.25 * sd * bulk,
        "q5": 2 * 2.1 * sd * tail,
        "q95": 2 * 2.1 * sd * tail,
    }
    near = all(abs(a[n] - b[n]) <= ERRORS * error + 0.01 * sd for n, error in errors.items())
    sizes = all(1 / 3 < a[n] / b[n] < 3 for n in ("ess_bulk", "ess_tail", "mcse_mean"))
    return near and sizes


def differs(expected: str, got: str) -> str | None:
    """A description of the first difference between two outputs, or None."""
    wanted, printed = _lines(expected), _lines(got)
    warned = [any(line.startswith(WARNING) for line in lines) for lines in (wanted, printed)]
    if warned[0] and not warned[1]:
        return f"the page shows warnings, but none were issued:\n{got}"
    wanted, printed = (
        [x for x in lines if not x.startswith(WARNING)] for lines in (wanted, printed)
    )
    if len(wanted) != len(printed):
        return f"the page shows {len(wanted)} lines, but {len(printed)} were printed:\n{got}"
    table = False
    for a, b in zip(wanted, printed, strict=True):
        numbers = [[float(n.replace(",", "")) for n in NUMBER.findall(x)] for x in (a, b)]
        words = [NUMBER.sub("#", x).split() for x in (a, b)]
        table = a.split() == COLUMNS or (table and bool(a.strip()))
        values = [row[-len(COLUMNS) :] for row in numbers]
        if table and a.split() != COLUMNS and len(values[0]) == len(values[1]) == len(COLUMNS):
            named = numbers[0][: -len(COLUMNS)] == numbers[1][: -len(COLUMNS)]
            agree = named and same_posterior(*values)
        else:
            agree = all(map(close, *numbers))
        if words[0] != words[1] or not agree:
            return f"shown:   {a}\nprinted: {b}"
    return None


def _lines(text: str) -> list[str]:
    return [PLACE.sub("PLACE", line).rstrip() for line in text.strip("\n").splitlines()]


def _rewrite(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    pictures: dict[str, bytes] = {}
    pairs = run_page(path, pictures=pictures)
    outputs = [(block.output, text) for block, text in pairs if block.output]
    for name in shown_pictures(page):
        (ROOT / "docs" / "images" / "plots" / name).write_bytes(pictures[name])
    for output, text in reversed(outputs):
        lines = "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
        page = page[: output.start] + lines + "\n" + page[output.end :]
    path.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        _rewrite(Path(name).resolve())
