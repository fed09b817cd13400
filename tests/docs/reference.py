"""The tables on the pages of the reference, generated from the code.

    <!-- table of the blocks below -->     a row for each `:::` up to the next such table
    <!-- table of its rows -->             a row for each name that already has a row here
    <!-- table of pages -->                tables of pages and their sections, with their names

A row has the signature of a name and the first sentence of its docstring. The table ends at
`<!-- end of table -->`. The README's list of distributions has the names on the pages about them.

    python -m tests.docs.reference         writes the tables into the pages, and the list
"""

import ast
import inspect
import re
from itertools import pairwise
from typing import Any

from tests.docs.pages import ROOT

import kinetograph as kg
from kinetograph.distributions.declaration import DISTRIBUTIONS

__all__ = ["HEAD", "PAGES", "first_sentence", "names", "row", "written"]

PAGES = sorted((ROOT / "docs" / "reference").glob("*.md"))
TABLE = re.compile(
    r"<!-- table of (the blocks below|its rows|pages) -->\n(.*?)<!-- end of table -->", re.DOTALL
)
BLOCK = re.compile(r"^::: kinetograph\.(\S+)$", re.MULTILINE)
ROW = re.compile(r"^\| `([\w.]+)", re.MULTILINE)
HEAD = "| | |\n|---|---|\n"


def names(page: str) -> list[str]:
    """The names with a row or block on a page, without `kg.`."""
    tables = "".join(table for kind, table in TABLE.findall(page) if kind == "its rows")
    return list(dict.fromkeys([*ROW.findall(tables), *BLOCK.findall(page)]))


def named(name: str) -> Any:
    """The value of a name."""
    value: Any = kg
    for part in name.split("."):
        value = getattr(value, part)
    return value


def attribute_docstring(name: str) -> str:
    """The string below the assignment of a module's variable."""
    package, _, last = name.partition(".")
    for path in (ROOT / "src" / "kinetograph" / package).glob("*.py"):
        lines = ast.parse(path.read_text(encoding="utf-8")).body
        for statement, following in pairwise(lines):
            match statement, following:
                case ast.Assign([ast.Name(id)]), ast.Expr(ast.Constant(str(text))) if id == last:
                    return text
    raise LookupError(f"{name}: no string below its assignment")


def docstring(name: str) -> str:
    """The docstring of a name; for an observable, its description."""
    value = named(name)
    if isinstance(value, kg.observables.Observable):
        return value.text
    if inspect.isclass(value) or inspect.isroutine(value):
        return inspect.getdoc(value) or ""
    return attribute_docstring(name)


def call(name: str) -> str:
    """A name, with its signature if users call it."""
    value, text = named(name), docstring(name)
    if not callable(value) or (inspect.isclass(value) and "\nParameters\n" not in text):
        return name
    signature = inspect.signature(value)
    if [*signature.parameters] == ["args", "kwargs"]:
        return name
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return f"{name}{inspect.Signature(bare)}"


def first_sentence(text: str) -> str:
    """The first sentence of a docstring, at most its first paragraph."""
    paragraph = " ".join(text.strip().partition("\n\n")[0].split())
    return re.split(r"(?<=[.?])(?<!e\.g\.)(?<!i\.e\.) (?=[A-Z`])", paragraph)[0]


def row(name: str) -> str:
    """The row of a name."""
    cells = f"`{call(name)}`", first_sentence(docstring(name))
    return "".join(f"| {cell.replace('|', chr(92) + '|')} " for cell in cells) + "|\n"


def sections(page: str, file: str) -> dict[str, list[str]]:
    """Links to the sections of a page, each with its names; one link if there are none."""
    title = page.partition("\n")[0].removeprefix("# ")
    heads = [*re.finditer(r"^## (.*)$", page, re.MULTILINE)]
    ends = [*(head.start() for head in heads[1:]), len(page)][: len(heads)]
    remaining, links = names(page), {}
    for head, end in zip(heads, ends, strict=True):
        inside = names(page[head.start() : end])
        listed = [name for name in remaining if name in inside]
        remaining = [name for name in remaining if name not in inside]
        if listed:
            anchor = re.sub(r"[^\w ]", "", head[1]).lower().replace(" ", "-")
            links[f"[{title}: {head[1].lower()}]({file}#{anchor})"] = listed
    return links if links and not remaining else {f"[{title}]({file})": names(page)}


def index() -> str:
    """A table for each part of the site's menu, with a row for each section of its pages."""
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("- Reference:\n")[2]
    parts = []
    for line in menu.partition("\n\n")[0].splitlines():
        head, file = line.strip(" -:"), re.search(r"reference/([\w-]+\.md)", line)
        if file is None:
            parts += [f"\n## {head}\n\n{HEAD}"]
        elif file[1] != "index.md":
            page = (ROOT / "docs" / "reference" / file[1]).read_text(encoding="utf-8")
            for link, listed in sections(page, file[1]).items():
                parts += [f"| {link} | {', '.join(f'`{name}`' for name in listed)} |\n"]
    return "".join(parts).lstrip("\n")


def written(page: str) -> str:
    """The page with tables generated from the code."""

    def table(match: re.Match[str]) -> str:
        kind, old_rows = match.groups()
        below = page[match.end() :].partition("<!-- table of the blocks below -->")[0]
        listed = {"the blocks below": BLOCK.findall(below), "its rows": ROW.findall(old_rows)}
        rows = index() if kind == "pages" else HEAD + "".join(map(row, listed[kind]))
        return f"<!-- table of {kind} -->\n\n{rows}\n<!-- end of table -->"

    return TABLE.sub(table, page)


def with_distributions(readme: str) -> str:
    """The README with the list and the number of all distributions.

    New ones come last.
    """
    pages = [path for path in PAGES if path.stem.startswith("distributions")]
    documented = [name for path in pages for name in names(path.read_text(encoding="utf-8"))]
    number = len(DISTRIBUTIONS) + len(("integers", "truncated_normal"))  # methods of streams

    def listed(match: re.Match[str]) -> str:
        order = [name for name in match[2].split(", ") if name in documented]
        return match[1] + ", ".join(dict.fromkeys([*order, *documented])) + match[3]

    readme = re.sub(r"(and Cholesky factors: )(.*?)( \|)", listed, readme)
    return re.sub(r"\d+( distributions, permutations)", rf"{number}\1", readme)


def main() -> None:
    """Write the tables into all pages, and the list into the README."""
    for path in PAGES:
        path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")
    readme = ROOT / "README.md"
    readme.write_text(with_distributions(readme.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
