#!/usr/bin/env python
"""Check the language of docstrings, comments, messages and pages against the rules.

    python scripts/language.py [--count] [PATH ...]

Prints one line for each finding (file:line: rule: text) and exits with 1 if there is one. The
rules are explained in CONTRIBUTING.md, section "Language". Code in backticks, code blocks and
mathematical lines are not checked. A finding that must stay is listed in ALLOWED with its reason.
"""

import argparse
import ast
import io
import json
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
COMMENTED = ("Makefile", ".ci/run", "pyproject.toml", "mkdocs.yml", "scripts/find-python")
CHECKED = ("src", "scripts", "examples", "benchmarks", "docs", *PAGES, *COMMENTED)
SKIPPED = (
    *("benchmarks/results", "benchmarks/data", "benchmarks/.venvs"),
    "scripts/language.py",  # has the phrases in its table
)
MOST_WORDS = 12  # in the first line of a docstring

# A pattern, and what to write instead.
PHRASES = {
    r"(?<!here )\b(?:is|are|was|were) no (?!longer|more than|less than|fewer than)": '"is not a"',
    r"\btold\b|\btells? of\b": "reports, states, shows",
    r"\banew\b": "again, from scratch",
    r"\blest\b": "so that ... not",
    r"\bnobody\b|\bnought\b": "no one, nothing: name the subject",
    r"\bbef(?:ell|alls?)\b|\bmoreover\b|\bthere(?:upon|by|of|in)\b|\bwhence\b": "plain words",
    r"\bdear\b": "expensive",
    r"\bunseen\b": "unused, new, not observed",
    r"\b(?:theirs|ours|hers)\b": "name the owner",
    r"\bof (?:which|whom)\b": "two sentences, or whose",
    r"\b(?:of|to|by|from|in|for|with|on|at|about|into|beside) what\b": "name the thing",
    r"\bothers\b|\bothers'": "the other ..., with its noun",
    r"\b[Tt]hose (?:whose|that|which|of|who)\b": "name the thing",
    r"(?:^|[.:;] )(?:Those|Nor|Whatever)\b": "name the thing",
    r"\bwhatever\b": "any",
    r"\bof one's own\b|\bone's own\b": "custom, your own",
    r"\b(?:go|goes|going|went|gone) on\b": "continue",
    r"\bso many\b|\bso much\b": "n, the given number",
    r"\bbears? on\b|\bborne on\b": "affects",
    r"\b(?:to|be|is|are) be had\b|\bis had\b": "is available",
    r"\bstands?\b(?! (?:for|alone|out)\b)|\bstood\b": "is, is written",
    r"\bbeside\b": "next to, in addition to",
    r"\bmend(?:s|ed|ing)?\b": "repair, fix",
    r"\b(?:is|are) to be\b|\b(?:is|are) to have\b": "must be",
    r"\bin vain\b|\bin silence\b|\bwithout a word\b|\bfor ever\b": "plain words",
    r"\band the like\b": "name them",
    r"\b(?:knows?|known|knew) of no\b|\bsays? nothing of\b": "plain words",
    r"\bamong the first\b|\bof old\b|\bby no means\b": "plain words",
    r"\b(?:axis|row|trip|step|draw|turn) more\b": "one more ..., an extra ...",
    r"\bis of no\b|\bit is no\b|\bof no\b": '"is not ..."',
    r"\b(?:behavior|center(?:ed|s)?|favor|gray|modeling|modeled)\b": "British spelling",
    r"(?<!-)\bcolor\b(?!-)": "British spelling",
    r"\b(?:optimi|normali|marginali|parametri|parameteri|reparametri|initiali|summari|vectori|"
    r"factori|standardi|minimi|maximi|randomi|seriali|generali|speciali|reali|organi|recogni|"
    r"regulari|discreti|linea|symboli|visuali|categori|penali|utili|locali|equali|locali)"
    r"z(?:e|es|ed|er|ers|ing|ation|ations)\b": "British spelling: -ise",
}  # fmt: skip
OPENINGS = (
    *("what", "which", "how", "those", "that", "of", "by", "who", "whose", "its", "their", "so"),
    *("because", "for", "where", "when", "as", "also", "and", "but", "from", "with", "without"),
    *("like", "about", "to", "in", "after", "before", "beside", "may", "is", "has", "does"),
)
PARAMETERS = re.compile(r"\s*[*\w]+(?:, [*\w]+)*(?: : .*)?")  # a line of names in a docstring
COMPILED = {re.compile(pattern): better for pattern, better in PHRASES.items()}

# Findings that stay: (file, text in the line) -> why.
ALLOWED: dict[tuple[str, str], str] = {
    ("benchmarks/formulas.py", "center(x)"): "a function of formulas",
    ("examples/data/README.md", "randomized"): "the title of a paper",
    ("src/kinetograph/approximations/pareto.py", "generalized"): "the title of a paper",
    ("src/kinetograph/autograph/operators/merge.py", "initialized"): "AutoGraph's own text",
    ("src/kinetograph/autograph/operators/undefined.py", "initialize"): "AutoGraph's own text",
    ("src/kinetograph/samplers/ghmc.py", "generalized"): "the title of a paper",
    ("src/kinetograph/samplers/meads.py", "generalized"): "the title of a paper",
    ("src/kinetograph/optimizers/by_scipy.py", "<optimizer"): "the name of the class",
    ("src/kinetograph/optimizers/descent.py", "<optimizer"): "the name of the class",
    ("src/kinetograph/calls/other_libraries.py", "minimize"): "names of other libraries",
    ("src/kinetograph/calls/argument_names.py", "vectorized"): "names of other libraries",
    ("src/kinetograph/calls/argument_names.py", "initializer"): "names of other libraries",
}


class Piece(NamedTuple):
    """A text to check."""

    path: Path
    line: int
    kind: str  # docstring, comment, message, prose
    text: str


class Finding(NamedTuple):
    """A sentence that breaks a rule."""

    path: Path
    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


def pieces(path: Path) -> Iterator[Piece]:
    """The checked texts of a file."""
    if path.suffix == ".py":
        yield from python_pieces(path)
    elif path.suffix == ".ipynb":
        for number, cell in enumerate(json.loads((ROOT / path).read_text())["cells"], 1):
            if cell["cell_type"] == "markdown":
                for piece in page_pieces(path, "".join(cell["source"])):
                    yield piece._replace(line=number)
    elif path.suffix != ".md":
        for number, line in enumerate((ROOT / path).read_text().splitlines(), 1):
            comment = re.search(r"(?:^|\s)#+ (.*)|^effect = (.*)", line)
            yield Piece(path, number, "comment", comment.group() if comment else "")
    else:
        yield from page_pieces(path, (ROOT / path).read_text())


def python_pieces(path: Path) -> Iterator[Piece]:
    """Docstrings, comments and messages of a Python file."""
    text = (ROOT / path).read_text()
    tree = ast.parse(text)
    docstrings = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            match node.body:
                case [ast.Expr(ast.Constant(str() as docstring) as constant), *_]:
                    docstrings.add(id(constant))
                    yield Piece(path, constant.lineno, "docstring", docstring)
    inside = {id(v) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for v in n.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [v.value if isinstance(v, ast.Constant) else "`x`" for v in node.values]
            yield Piece(path, node.lineno, "message", "".join(map(str, parts)))
        elif isinstance(node, ast.Constant) and id(node) not in docstrings | inside:
            words = node.value.split() if isinstance(node.value, str) else []
            yield Piece(path, node.lineno, "message", node.value if len(words) > 2 else "")
    begun, comment = 0, ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            begun = begun or token.start[0]
            comment += token.string.lstrip("#") + " "
        elif token.type != tokenize.NL and comment:
            yield Piece(path, begun, "comment", comment)
            begun, comment = 0, ""


def page_pieces(path: Path, text: str) -> Iterator[Piece]:
    """Paragraphs of a page in Markdown, without its code blocks."""
    fenced, begun, paragraph = False, 0, ""
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            line = ""
        elif fenced or line.startswith("    "):
            continue
        if line.strip():
            begun = begun or number
            paragraph += line + "\n"
        elif paragraph:
            yield Piece(path, begun, "prose", paragraph)
            begun, paragraph = 0, ""


def findings(piece: Piece) -> Iterator[Finding]:
    """The rules that a text breaks."""
    prose = plain(piece.text)
    for pattern, better in COMPILED.items():
        for match in pattern.finditer(prose):
            line = piece.line + prose.count("\n", 0, match.start())
            start, end = max(match.start() - 40, 0), match.end() + 40
            context = " ".join(prose[start:end].split())
            yield Finding(piece.path, line, f"{match.group().strip()!r}, write {better}", context)
    if piece.kind == "docstring":
        first, _, rest = piece.text.strip().partition("\n")
        words = len(first.split())
        if words > MOST_WORDS:
            rule = f"first line of {words} words, at most {MOST_WORDS}"
            yield Finding(piece.path, piece.line, rule, first)
        if rest.strip() and not rest.startswith("\n"):
            rule = "the first paragraph has more than one line"
            yield Finding(piece.path, piece.line, rule, first)
        opening = re.match(r"[A-Za-z]+", first)
        if opening and opening.group().lower() in OPENINGS:
            rule = f"begins with {opening.group()!r}, write a noun or an imperative"
            yield Finding(piece.path, piece.line, rule, first)


def plain(text: str) -> str:
    """The prose of a text, without code, link targets and examples."""
    text = re.sub(r"```.*?```", lambda m: "\n" * m.group().count("\n"), text, flags=re.DOTALL)
    text = re.sub(r"``?[^`]*``?", lambda m: "`" + "\n" * m.group().count("\n") + "`", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    text = re.sub(r"\w+(?:\.\w+)+(?:\([^)\s]*\))?|\b\w+=\S*|\bcolor[:=]|stop-color", "", text)
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "...", ":::")) or PARAMETERS.fullmatch(line):
            lines[number] = ""
    return "\n".join(lines)


def files(paths: list[str]) -> Iterator[Path]:
    """The checked files at or below the paths."""
    for name in paths:
        path = ROOT / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            short = file.relative_to(ROOT)
            checked = file == path or file.suffix in (".py", ".md", ".ipynb", ".toml")
            if checked and not str(short).startswith(SKIPPED):
                yield short


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", action="store_true", help="print the number of each rule only")
    parser.add_argument("paths", nargs="*", default=CHECKED)
    options = parser.parse_args()
    every = [f for path in files(options.paths) for piece in pieces(path) for f in findings(piece)]
    every = [f for f in every if not any(str(f.path) == p and t in f.text for p, t in ALLOWED)]
    if options.count:
        for rule, count in Counter(f.rule.lower() for f in every).most_common():
            print(f"{count:6} {rule}")
    else:
        print("\n".join(map(str, every)))
    print(f"{len(every)} findings", file=sys.stderr)
    sys.exit(bool(every))


if __name__ == "__main__":
    main()
