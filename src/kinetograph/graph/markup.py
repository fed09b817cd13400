"""HTML tables for notebooks, on light or dark pages."""

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["Html", "table"]

_CELL = "padding:0.15em 0.8em 0.15em 0;border:none;vertical-align:top;background:none"
_LINE = "border-bottom:1px solid rgba(128,128,128,0.5)"


class Html(str):
    """The text of a cell that is HTML, and is not escaped."""

    __slots__ = ()


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: bool = False) -> str:
    """Make a table of texts; the first column names the rows.

    The other columns are aligned to the right if they are `numbers`, else to the left.
    """

    def cell(kind: str, text: str, place: int) -> str:
        side = "right" if numbers and place else "left"
        line_style = f";{_LINE}" if kind == "th" else ""
        content = text if isinstance(text, Html) else escape(text)
        return f'<{kind} style="{_CELL};text-align:{side}{line_style}">{content}</{kind}>'

    lines = ['<table style="border-collapse:collapse;margin:0.3em 0 0.6em 0;color:inherit">']
    lines.append(f"<tr>{''.join(cell('th', text, i) for i, text in enumerate(head))}</tr>")
    lines += [
        f"<tr>{''.join(cell('td', text, i) for i, text in enumerate(row))}</tr>" for row in rows
    ]
    return "\n".join([*lines, "</table>"])
