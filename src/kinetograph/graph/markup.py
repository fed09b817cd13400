"""Tables in HTML, for notebooks: light or dark, as the page around them is."""

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["Html", "table"]

_CELL = "padding:0.15em 0.8em 0.15em 0;border:none;vertical-align:top;background:none"
_LINE = "border-bottom:1px solid rgba(128,128,128,0.5)"


class Html(str):
    """A text of a cell that is HTML already."""

    __slots__ = ()


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: bool = False) -> str:
    """A table of texts; its first column names the rows, the others are of `numbers` or words."""

    def cell(kind: str, text: str, place: int) -> str:
        side = "right" if numbers and place else "left"
        more = f";{_LINE}" if kind == "th" else ""
        inside = text if isinstance(text, Html) else escape(text)
        return f'<{kind} style="{_CELL};text-align:{side}{more}">{inside}</{kind}>'

    lines = ['<table style="border-collapse:collapse;margin:0.3em 0 0.6em 0;color:inherit">']
    lines.append(f"<tr>{''.join(cell('th', text, i) for i, text in enumerate(head))}</tr>")
    lines += [
        f"<tr>{''.join(cell('td', text, i) for i, text in enumerate(row))}</tr>" for row in rows
    ]
    return "\n".join([*lines, "</table>"])
