"""The tables of other libraries' names in docs/coming-from.md, generated from the code.

python -m tests.docs.words         writes the tables into the page
"""

import re

from tests.docs.pages import ROOT

from kinetograph.calls import argument_names
from kinetograph.distributions.declaration import DISTRIBUTIONS

__all__ = ["PAGE", "written"]

PAGE = ROOT / "docs" / "coming-from.md"
TABLE = re.compile(r"<!-- words: (\w+) -->\n.*?<!-- end of words -->", re.DOTALL)


def same_names() -> str:
    """The other names that the calls of distributions take."""
    rows = []
    for name, declaration in sorted(DISTRIBUTIONS.items()):
        words: dict[str, list[str]] = {}
        for word, parameter in declaration.same_names.items():
            words.setdefault(parameter, []).append(f"`{word}`")
        texts = [f"`{parameter}`: {', '.join(several)}" for parameter, several in words.items()]
        if texts:
            rows.append(f"| `kg.{name}` | {'; '.join(texts)} |")
    return "\n".join(["| distribution | parameter: other names |\n|---|---|", *rows])


def written(page: str) -> str:
    """The page with tables generated from the code."""

    def table(match: re.Match[str]) -> str:
        if match[1] == "SAME":
            return f"<!-- words: SAME -->\n\n{same_names()}\n\n<!-- end of words -->"
        rows = [
            f"| `{name}` | {', '.join(f'`{word}`' for word in sorted(other_names.split()))} |"
            for name, other_names in getattr(argument_names, match[1]).items()
        ]
        head = "| here | elsewhere |\n|---|---|"
        body = "\n".join([head, *rows])
        return f"<!-- words: {match[1]} -->\n\n{body}\n\n<!-- end of words -->"

    return TABLE.sub(table, page)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
