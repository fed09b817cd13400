#!/usr/bin/env python
"""Mutation study: how many one-expression mutants do the tests catch?

    python scripts/mutants.py [--count 200] [--seed 1] [--only PATH[:LINE]] [--table FILE]
                              [--list] [--limit 60] [--write FILE]

Without `--table`, the mutants are a random sample of changed expressions, with a seed. With it,
they are read from a table in TOML (`scripts/mutants.toml`): faults that a user would meet, chosen
by their meaning.

Each mutant is tried in a copy of the tree with the everyday tests that execute its line, in three
rounds: the test file that mirrors its module, the other test files of its room, and the rest. Each
round runs tests of `--limit` seconds, the fastest first. The mutant is caught by the first failure,
or if the tests take half a minute more than four times their processor time without the mutant.
Results are kept in .cache/mutants as long as the module and the test file do not change.
"""

import argparse
import ast
import datetime
import hashlib
import json
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from forked_tests import KEPT, ROOT, Test, Tree, digest, prepare

SOURCES = Path("src/kinetograph")
ROOMS = (
    *(f"graph/{name}" for name in ("numerics", "operations", "forms", "control")),
    *("streams", "distributions", "models", "observables"),
    *("kernels", "samplers", "adaptation", "optimizers", "laws", "results/diagnostics.py", "ode"),
    *("autograph/operators", "autograph/analysis", "autograph/passes"),
)
OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
NAMES = {"argmax": "argmin", "maximum": "minimum", "max": "min", "any": "all", "isfinite": "isnan"}
NAMES |= {new: old for old, new in NAMES.items() if new != "isnan"}


class Mutant(NamedTuple):
    """A piece of a file and its replacement."""

    path: Path
    line: int
    start: int  # in bytes
    end: int
    old: str
    new: str
    lines: int  # one bit per line of the mutant; -1: executed at import
    effect: str = ""  # for a user, from the table

    def __str__(self) -> str:
        old, new = (" ".join(text.split()) for text in (self.old, self.new))
        return f"{self.path}:{self.line}: `{old}` -> `{new}`"


def changed(node: ast.AST) -> Iterator[ast.expr]:
    """Plausible mistakes in an expression."""
    match node:
        case ast.BinOp(left, operator, right) if type(operator) in OPERATORS:
            yield ast.BinOp(left, OPERATORS[type(operator)](), right)
        case ast.BoolOp(operator, values):
            yield ast.BoolOp(OPERATORS[type(operator)](), values)
        case ast.Compare(left, [operator, *others], values):
            yield ast.Compare(left, [OPERATORS[type(operator)](), *others], values)
        case ast.UnaryOp(_, operand):
            yield operand
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() as value):
            yield ast.Constant(value + 1)
        case ast.Constant(float() as value):
            yield ast.Constant(value * 2 or 1.0)
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.Call(function, [first, second, *others], keywords) if not (
            isinstance(first, ast.Starred) or isinstance(second, ast.Starred)
        ):
            yield ast.Call(function, [second, first, *others], keywords)
    match node:
        case ast.Call(ast.Attribute(value, name, context), arguments, keywords) if name in NAMES:
            yield ast.Call(ast.Attribute(value, NAMES[name], context), arguments, keywords)
        case ast.Call(ast.Name(name, context), arguments, keywords) if name in NAMES:
            yield ast.Call(ast.Name(NAMES[name], context), arguments, keywords)


def expressions(
    node: ast.AST, inside: bool = False, first: int | None = None
) -> Iterator[tuple[ast.AST, int | None]]:
    """The expressions below a node, except annotations, decorators, messages and texts.

    Each comes with the first line of its statement, or None outside a function.
    """
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "bases"):
            continue
        body = field == "body" and isinstance(node, (ast.FunctionDef, ast.Lambda))
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, (ast.Raise, ast.JoinedStr)) or not isinstance(child, ast.AST):
                continue
            begins = body or (inside and isinstance(child, ast.stmt))
            start = child.lineno if begins else first
            if isinstance(child, ast.expr):
                yield child, start
            yield from expressions(child, inside or body, start)


def mutants(path: Path) -> Iterator[Mutant]:
    """All mutants of a file that change its code."""
    data = (ROOT / path).read_bytes()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node, first in expressions(ast.parse(data)):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        old = ast.unparse(node)
        lines = -1 if first is None else sum(1 << n for n in range(first, node.end_lineno + 1))
        for other in changed(node):
            new = ast.unparse(ast.fix_missing_locations(other))
            if new != old:
                yield Mutant(path, node.lineno, start, end, old, new, lines)


def listed(table: Path) -> list[Mutant]:
    """The mutants of a table, each found once in its file.

    Raises
    ------
    SystemExit
        If a text is missing from its file, or occurs more than once.
    """
    rows = tomllib.loads(table.read_text())["mutant"]
    return [_listed(row["file"], row["old"], row["new"], row["effect"]) for row in rows]


def _listed(file: str, old: str, new: str, effect: str) -> Mutant:
    data, piece = (ROOT / SOURCES / file).read_bytes(), old.encode()
    if data.count(piece) != 1:
        sys.exit(f"{file}: {old!r} occurs {data.count(piece)} times, not once")
    start = data.index(piece)
    first = data[:start].count(b"\n") + 1
    last = first + old.rstrip("\n").count("\n")
    nodes = [node for node in ast.walk(ast.parse(data)) if isinstance(node, ast.stmt)]
    around = [n for n in nodes if n.lineno <= first and last <= (n.end_lineno or 0)]
    statement = min(around, key=lambda n: (n.end_lineno or 0) - n.lineno)
    inside = any(isinstance(n, (ast.FunctionDef, ast.Lambda)) for n in around if n is not statement)
    # A statement with a body counts from its first line to the last line of the mutant.
    lines = sum(1 << n for n in range(statement.lineno, last + 1)) if inside else -1
    return Mutant(SOURCES / file, first, start, start + len(piece), old, new, lines, effect)


def drawn(every: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """A sample by a hash of each mutant, stable under small changes."""
    seen: Counter[tuple[object, ...]] = Counter()
    ranks = {}
    for mutant in every:
        what = mutant.path, mutant.old, mutant.new
        ranks[mutant] = hashlib.sha256(repr((seed, seen[what], *map(str, what))).encode()).digest()
        seen[what] += 1
    return sorted(every, key=ranks.__getitem__)[:count]


def rounds(tree: Tree, path: Path) -> list[list[Path]]:
    """Test files for a module: its mirror, its room, all other files."""
    folder = Path("tests") / path.relative_to(SOURCES).parent
    mirror = folder / f"test_{path.name}"
    others = [file for file in tree.files(Path("tests")) if file != mirror]
    room = [file for file in others if file.is_relative_to(Path(*folder.parts[:2]))]
    first = [mirror] if (tree.folder / mirror).exists() else []
    return [first, room, [file for file in others if file not in room]]


def tests_of(mutant: Mutant, files: list[Path], tree: Tree, limit: float) -> dict[str, Test]:
    """The fastest tests that execute a mutant, within a time limit."""
    tests = {n: t for file in files for n, t in tree.sound(file, mutant.path).items()}
    name = str(mutant.path)
    found = {n: t for n, t in tests.items() if t.lines.get(name, 0) & mutant.lines}
    # Lines that run at import are not executed by any test.
    found = found or {n: t for n, t in tests.items() if name in t.lines}
    if not found and mutant.lines == -1:
        folder = "/".join(("tests", *mutant.path.relative_to(SOURCES).parts[:1]))
        found = {n: t for n, t in tests.items() if n.startswith(folder)}
    chosen: dict[str, Test] = {}
    for test in sorted(found, key=lambda n: found[n].seconds):
        limit -= found[test].seconds
        if limit > 0:
            chosen[test] = found[test]
    return chosen


class Record:
    """The catching test, or the survived test files, of each mutant.

    An entry is valid as long as the module and the test file do not change.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.place = KEPT / "record.json"
        self.known: dict[str, dict[str, str]] = {}  # tests, and digests
        self._read()

    def catch(self, mutant: Mutant) -> str | None:
        held = self.known.get(str(mutant), {})
        return next((t for t, d in held.items() if "::" in t and d == self._state(mutant, t)), None)

    def untried(self, mutant: Mutant, files: list[Path]) -> list[Path]:
        held = self.known.get(str(mutant), {})
        return [file for file in files if held.get(str(file)) != self._state(mutant, str(file))]

    def note(self, mutant: Mutant, files: list[Path], catch: str | None) -> None:
        self._read()
        held = self.known.setdefault(str(mutant), {})
        for test in [catch] if catch else map(str, files):
            held[test] = self._state(mutant, test)
        self.place.parent.mkdir(parents=True, exist_ok=True)
        self.place.write_text(json.dumps(self.known, indent=1))

    def _read(self) -> None:
        self.known = json.loads(self.place.read_text()) if self.place.exists() else {}

    def _state(self, mutant: Mutant, test: str) -> str:
        files = [self.tree.folder / mutant.path, self.tree.folder / test.split("::")[0]]
        return " ".join(digest(file)[:16] for file in files if file.is_file())


def tried(mutant: Mutant, tests: dict[str, Test], tree: Tree) -> str | None:
    """The test that catches a mutant, or None."""
    target = tree.folder / mutant.path
    data = target.read_bytes()
    new = mutant.new if mutant.effect else f"({mutant.new})"
    target.write_bytes(data[: mutant.start] + new.encode() + data[mutant.end :])
    try:
        return tree.failing(tests)
    finally:
        target.write_bytes(data)


def chosen(options: argparse.Namespace) -> list[Mutant]:
    """The sample."""
    if options.table:
        wanted = [SOURCES / place for place in options.only or [""]]
        rows = listed(options.table)
        return [m for m in rows if any(m.path.is_relative_to(w) for w in wanted)]
    rooms = dict.fromkeys(p.split(":")[0] for p in options.only) if options.only else ROOMS
    found = [SOURCES / room for room in rooms]
    files = [
        f for p in found for f in (sorted((ROOT / p).rglob("*.py")) if p.suffix == "" else [p])
    ]
    every = [mutant for file in files for mutant in mutants((ROOT / file).relative_to(ROOT))]
    if options.only:
        wanted = {place for place in options.only if ":" in place}
        at = [f"{m.path.relative_to(SOURCES)}:{m.line}" for m in every]
        every = [m for m, place in zip(every, at, strict=True) if not wanted or place in wanted]
    sample = drawn(every, options.count, options.seed)
    print(f"{len(sample)} of {len(every)} mutants, seed {options.seed}", flush=True)
    return sample


def table(sample: list[Mutant], record: Record) -> str:
    """The results of the study in Markdown."""
    catches = {mutant: record.catch(mutant) for mutant in sample}
    survivors = [mutant for mutant in sample if catches[mutant] is None]
    caught = len(sample) - len(survivors)
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True
    )
    lines = [
        "# Mutants\n",
        f"{datetime.date.today()}, commit {commit.stdout.strip()}: "
        f"`python scripts/{' '.join([Path(sys.argv[0]).name, *sys.argv[1:]])}`\n",
        f"{caught} of {len(sample)} caught ({caught / max(len(sample), 1):.1%}).\n",
    ]
    if survivors:
        lines += ["| survivor | was | is | effect |\n|---|---|---|---|"]
        for m in survivors:
            lines += [f"| {_place(m)} | {_code(m.old)} | {_code(m.new)} | {m.effect} |"]
        lines += [""]
    lines += ["| caught | was | is | by |\n|---|---|---|---|"]
    for m in sorted(sample):
        if catches[m]:
            by = catches[m].removeprefix("tests/")
            lines += [f"| {_place(m)} | {_code(m.old)} | {_code(m.new)} | {_code(by)} |"]
    return "\n".join(lines) + "\n"


def _place(mutant: Mutant) -> str:
    return f"{mutant.path.relative_to(SOURCES)}:{mutant.line}"


def _code(text: str) -> str:
    line = " ".join(text.split())
    return f"`{line}`".replace("|", "\\|")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of tests in each round")
    parser.add_argument("--only", action="append", help="a file, or file:line, of src/kinetograph")
    parser.add_argument("--table", type=Path, help="a table of mutants, in TOML")
    parser.add_argument("--list", action="store_true", help="show the mutants, and try none")
    parser.add_argument("--write", type=Path, help="a file for the result, in Markdown")
    options = parser.parse_args()
    sample = chosen(options)
    if options.list:
        print("\n".join(map(str, sample)))
        return

    prepare()
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(Path(folder))
        record = Record(tree)
        left = sorted(mutant for mutant in sample if not record.catch(mutant))
        groups = {mutant.path: rounds(tree, mutant.path) for mutant in left}
        for number in range(3):
            for mutant in left:
                batch = record.untried(mutant, groups[mutant.path][number])
                tests = tests_of(mutant, batch, tree, options.limit)
                begun = time.monotonic()
                catch = tried(mutant, tests, tree)
                record.note(mutant, batch, catch)
                seconds = time.monotonic() - begun
                word = f"caught by {catch}" if catch else f"survived {len(tests)} tests"
                if tests:
                    print(f"{number + 1} {seconds:5.0f} s  {mutant}: {word}", flush=True)
            left = [mutant for mutant in left if not record.catch(mutant)]
        made = table(sample, record)
    print(made)
    if options.write:
        options.write.write_text(made)


if __name__ == "__main__":
    main()
