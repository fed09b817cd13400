"""The tables of other libraries' names in docs/coming-from.md, generated from the code.

python -m tests.docs.words         writes the tables into the page
"""

import re

from tests.docs.pages import ROOT

from kinetograph.calls import argument_names

__all__ = ["PAGE", "written"]

PAGE = ROOT / "docs" / "coming-from.md"
TABLE = re.compile(r"<!-- words: (\w+) -->\n.*?<!-- end of words -->", re.DOTALL)


def written(page: str) -> str:
    """The page with tables generated from the code."""

    def table(match: re.Match[str]) -> str:
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
