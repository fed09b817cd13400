#!/usr/bin/env python
"""How many small mistakes the tests notice: mutants of single expressions, a sample with a seed.

    python scripts/mutants.py [--count 200] [--seed 1] [--limit 300] [--only PATH[:LINE]] [--list]

Each mutant is tried in a copy of the tree with the test file that mirrors its module, or the tests
of its folder where there is none; the first failure, or running into the limit (seconds), is a
catch. Prints a table of those that survived.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SOURCES = Path("src/kinetograph")
ROOMS = (
    *(f"graph/{name}.py" for name in ("special", "elementwise", "indexing", "reductions")),
    *("graph/segments.py", "graph/control", "streams", "distributions", "models", "samplers"),
    *("warmup", "runs/diagnostics.py", "ode", "autograph/operators", "autograph/analysis"),
    "autograph/passes",
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
    """A piece of a file, and what to put in its place."""

    path: Path
    line: int
    start: int  # in bytes
    end: int
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: `{self.old}` -> `{self.new}`"


def changed(node: ast.AST) -> Iterator[ast.expr]:
    """The mistakes one could make in writing an expression."""
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


def expressions(node: ast.AST) -> Iterator[ast.AST]:
    """What is computed: no annotations, decorators, messages or texts."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, (ast.Raise, ast.JoinedStr)) or not isinstance(child, ast.AST):
                continue
            if isinstance(child, ast.expr):
                yield child
            yield from expressions(child)


def mutants(path: Path) -> Iterator[Mutant]:
    """All of a file, whose code differs from what it was."""
    data = (ROOT / path).read_bytes()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in expressions(ast.parse(data)):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        old = ast.unparse(node)
        for other in changed(node):
            new = ast.unparse(ast.fix_missing_locations(other))
            if new != old:
                yield Mutant(path, node.lineno, start, end, old, new)


def tests_of(path: Path) -> Path:
    """The tests that mirror a module."""
    folder = Path("tests") / path.relative_to(SOURCES).parent
    mirror = folder / f"test_{path.name}"
    if (ROOT / mirror).exists():
        return mirror
    while not list((ROOT / folder).glob("**/test_*.py")):
        folder = folder.parent
    return folder


def passes(tree: Path, tests: Path, limit: float) -> bool:
    """Whether the tests pass in a copy, which shares no compiled programs with others."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "KINETOGRAPH_CACHE": "off"}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    try:
        made = subprocess.run(
            [*command, "-m", "not slow", str(tests)],
            cwd=tree,
            env=environment,
            timeout=limit,
            capture_output=True,
        )
    except subprocess.TimeoutExpired:
        return False
    return made.returncode == 0


def copy(tree: Path) -> None:
    """The files that git knows or would take."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one mutant")
    parser.add_argument("--only", action="append", help="a file, or file:line, of src/kinetograph")
    parser.add_argument("--list", action="store_true", help="show the mutants, and try none")
    options = parser.parse_args()

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
    chosen = random.Random(options.seed).sample(every, min(options.count, len(every)))
    print(f"{len(chosen)} of {len(every)} mutants, seed {options.seed}", flush=True)
    if options.list:
        print("\n".join(map(str, chosen)))
        return

    sound: dict[Path, bool] = {}
    survivors = []
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        copy(tree)
        for mutant in chosen:
            tests = tests_of(mutant.path)
            if tests not in sound:
                sound[tests] = passes(tree, tests, 3 * options.limit)
            if not sound[tests]:
                sys.exit(f"{tests} fails without any mutant: nothing can be said")
            target = tree / mutant.path
            data = target.read_bytes()
            target.write_bytes(
                data[: mutant.start] + f"({mutant.new})".encode() + data[mutant.end :]
            )
            begun = time.monotonic()
            survived = passes(tree, tests, options.limit)
            target.write_bytes(data)
            survivors += [mutant] if survived else []
            word = "SURVIVED" if survived else "caught"
            print(f"{word:8} {time.monotonic() - begun:5.0f} s  {mutant}", flush=True)
    caught = len(chosen) - len(survivors)
    print(f"\n{caught} of {len(chosen)} caught ({caught / max(len(chosen), 1):.1%})")
    if survivors:
        print("\n| survivor | was | is |\n|---|---|---|")
    for m in survivors:
        print(f"| {m.path}:{m.line} | `{m.old}` | `{m.new}` |")


if __name__ == "__main__":
    main()
