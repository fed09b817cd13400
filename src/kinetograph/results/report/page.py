"""The HTML page of a report: its style and its sections.

The page contains everything and runs no program. Its colours follow the reader's preference for
light or dark.
"""

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["cells", "chain_key", "code", "figure_box", "framed", "note", "page", "rows", "section"]

_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1f2328; --soft: #59636e; --rule: #c8ced6;
  --bad: #c8102e; --good: #1a7f37; --box: #f5f7f9; --muted: #a3abb5; --c0: #2f6db5; --c1: #d2691e;
  --c2: #2a8f5c; --c3: #a23b8f; --c4: #8a6d00; --c5: #0f8a99; --c6: #6a4fc4; --c7: #8c4a3a }
@media (prefers-color-scheme: dark) { :root { --paper: #14171b; --ink: #e3e7ec; --soft: #9aa4af;
  --rule: #434a53; --bad: #ff6b7a; --good: #57c37a; --box: #1d2227; --muted: #6a737d;
  --c0: #6ea8ec; --c1: #f0954f; --c2: #5cc795; --c3: #df80cc; --c4: #d6b64a; --c5: #4fc7d6;
  --c6: #a893f0; --c7: #d0937f } }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 1rem clamp(0.8rem, 3vw, 2rem) 3rem; max-width: 76rem;
  background: var(--paper); color: var(--ink); line-height: 1.5;
  font-family: system-ui, "Helvetica Neue", Arial, sans-serif; overflow-wrap: break-word }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0.5rem 0 }
h2 { font-size: 1.2rem; margin: 2.2rem 0 0.6rem; padding-top: 0.5rem;
  border-top: 1px solid var(--rule) }
h3 { font-size: 1rem; margin: 1.2rem 0 0.2rem; font-weight: 600 }
p { margin: 0.4rem 0; max-width: 50rem }
nav { display: flex; flex-wrap: wrap; gap: 0.2rem 1rem; font-size: 0.9rem }
a { color: var(--c0) }
code { font-size: 0.9em; background: var(--box); padding: 0.05em 0.3em; border-radius: 3px }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums }
th, td { text-align: left; vertical-align: top; padding: 0.15rem 0.9rem 0.15rem 0 }
.numbers th, .numbers td { text-align: right; white-space: nowrap }
.numbers th:first-child, .numbers td:first-child { text-align: left }
thead th { border-bottom: 1px solid var(--rule) }
.facts th { font-weight: 400; color: var(--soft); white-space: nowrap }
.wide { overflow-x: auto }
.note { color: var(--soft); font-size: 0.9rem }
.finding { border-left: 4px solid var(--bad); background: var(--box); padding: 0.5rem 0.9rem;
  margin: 0.6rem 0 }
.well { border-left-color: var(--good) }
.bad { color: var(--bad) }
.key { display: flex; flex-wrap: wrap; gap: 0.1rem 1rem; font-size: 0.9rem; padding: 0;
  margin: 0.4rem 0; list-style: none }
.key i { display: inline-block; width: 1.3em; height: 0.25em; margin-right: 0.4em;
  vertical-align: middle }
.key i.dashed { height: 0; border-top: 2px dashed var(--ink); background: none }
.panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr));
  gap: 0.4rem 1.2rem }
figure { margin: 0; min-width: 0 }
figcaption { font-size: 0.8rem; color: var(--soft) }
svg.figure { display: block; width: 100%; height: auto; max-width: 30rem }
.drawing img { max-width: 100% }
@media print { .finding, figure { break-inside: avoid } }
"""


def page(title: str, lead: str, sections: Sequence[tuple[str, str, str]]) -> str:
    """A complete page, from the name, heading and content of each section."""
    links = "\n".join(f'<a href="#{name}">{escape(head)}</a>' for name, head, _ in sections)
    body = "\n".join(section(*each) for each in sections)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>{escape(title)}</h1>
{lead}
<nav>
{links}
</nav>
{body}
</body>
</html>
"""


def framed(html: str) -> str:
    """A page in a frame, for a notebook with another style."""
    return (
        f'<iframe title="report" srcdoc="{escape(html)}" '
        'style="width:100%;height:45em;border:1px solid rgba(128,128,128,0.5)"></iframe>'
    )


def section(name: str, heading: str, content: str) -> str:
    """A section of the page with a heading, to which links lead."""
    return f'<section id="{name}">\n<h2>{escape(heading)}</h2>\n{content}\n</section>'


def note(text: str) -> str:
    """A remark."""
    return f'<p class="note">{escape(text)}</p>'


def code(text: str) -> str:
    """Text that the reader types."""
    return f"<code>{escape(text)}</code>"


def rows(facts: Iterable[tuple[str, str]]) -> str:
    """A table of facts: names and texts."""
    lines = [
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(text)}</td></tr>'
        for name, text in facts
    ]
    return "\n".join(['<div class="wide"><table class="facts">', *lines, "</table></div>"])


def cells(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table of numbers, which scrolls if it is too wide."""
    top = "".join(f'<th scope="col">{escape(text)}</th>' for text in head)
    body = [
        "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in line) + "</tr>" for line in lines
    ]
    return "\n".join(
        [
            f'<div class="wide"><table class="numbers"><thead><tr>{top}</tr></thead><tbody>',
            *body,
            "</tbody></table></div>",
        ]
    )


def chain_key(entries: Iterable[tuple[str, str]]) -> str:
    """The key of colours: variables of the style, or "dashed", and texts."""
    items = []
    for colour, text in entries:
        attribute = (
            'class="dashed"' if colour == "dashed" else f'style="background:var(--{colour})"'
        )
        items.append(f"<li><i {attribute}></i>{escape(text)}</li>")
    return f'<ul class="key">{"".join(items)}</ul>'


def figure_box(picture: str, caption: str) -> str:
    """A picture with a caption."""
    return f"<figure>{picture}<figcaption>{escape(caption)}</figcaption></figure>"
