"""An inner layer never imports an outer one, and files import in no circle, even when called."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import kinetograph

ROOT = Path(kinetograph.__file__).parent
# What stands on one line does not import each other.
LAYERS = [
    ["version", "collector"],
    ["graph"],
    ["calls"],
    ["bits"],
    ["distributions"],
    ["streams"],
    ["autograph"],
    ["datasets"],
    ["models"],
    ["kernels"],
    ["samplers", "adaptation", "observables", "optimizers", "ode", "gp"],
    ["approximations"],
    ["programs"],
    ["results"],
    ["runs"],
    ["prediction", "tempering"],
    ["cli"],
    ["laws", "neural", "formulas"],
    ["public"],
]
LATE = ["laws", "neural", "formulas"]  # rooms that are imported when they are first used
HEIGHT = {name: i for i, names in enumerate(LAYERS) for name in names}
# Files of graph/ from the inside to the outside: none is needed, by others or at once, by one
# before it.
GRAPH = [
    ["graph.source", "graph.errors"],
    ["graph.node"],
    ["graph.messages"],
    ["graph.operations.operands", "graph.operations.elementwise"],
    ["graph.array", "graph.lower"],
    ["graph.control.contexts", "graph.control.subgraph"],
    ["graph.control.branches", "graph.control.while_loop", "graph.control.scan"],
    ["graph.derivatives"],
    ["graph.compiling.compiled"],
    ["graph.compiling.compile"],
    ["graph.debug", "graph.explain", "graph.drawing.drawing", "graph.saving.file"],
]
# Circles beyond graph/, each cut at an import that is carried out when called.
CALLED = {
    ("autograph.operators.call", "autograph.convert"): "a call converts the function it calls",
    ("autograph.operators.builtins", "autograph.operators.call"): "map converts what it calls",
    ("streams.operations", "streams.streams"): "a draw without a stream is of the default one",
    ("samplers.sampler", "samplers.staged"): "a sampler gives its kernel, made of the sampler",
    (
        "models.rewritten_model",
        "models.minibatch",
    ): "batches of new rows are checked as those of a model",
}


def module_of(path: Path) -> str:
    """`graph.control.loops`, of a package its name, of the whole nothing."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_of(path): path for path in sorted(ROOT.rglob("*.py"))}


Import = ast.Import | ast.ImportFrom
PARTS = ("body", "orelse", "handlers", "finalbody", "cases")


def statements(block: ast.AST, run_time: bool = True) -> Iterator[tuple[Import, bool]]:
    """The imports anywhere in a module, and whether they are more than for type checkers."""
    for part in PARTS:
        own = run_time
        if part == "body" and isinstance(block, ast.If):
            own = run_time and "TYPE_CHECKING" not in ast.unparse(block.test)
        for node in getattr(block, part, ()):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                yield node, own
            else:
                yield from statements(node, own)


def files_of(node: Import, path: Path) -> Iterator[str]:
    """The files of kinetograph that an import is of."""
    if isinstance(node, ast.ImportFrom):
        module = node.module.split(".") if node.module else []
        if node.level:
            parts = path.relative_to(ROOT).parts
            module = [*parts[: len(parts) - node.level], *module]
        elif module[0] == ROOT.name:
            module = module[1:]
        else:
            return
        for alias in node.names:
            name = ".".join([*module, alias.name])
            yield name if name in FILES else ".".join(module)
    else:
        for alias in node.names:
            top, _, rest = alias.name.partition(".")
            if top == ROOT.name:
                yield rest


@cache
def imports() -> list[tuple[str, str, int, bool]]:
    """A file, one that it imports, in which line, and whether it does when it runs."""
    return [
        (name, to, node.lineno, run_time)
        for name, path in FILES.items()
        for node, run_time in statements(ast.parse(path.read_text()))
        for to in files_of(node, path)
        if to != name
    ]


@cache
def graph() -> dict[str, set[str]]:
    """What each file imports when it runs."""
    edges: dict[str, set[str]] = {name: set() for name in FILES}
    for name, to, _, run_time in imports():
        if run_time:
            edges[name].add(to)
    return edges


def circle(edges: dict[str, set[str]]) -> list[str]:
    """The files of a circle, if there is any."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def needed(module: str) -> set[str]:
    """All files that a file imports, by others, too."""
    found, stack = set(), [module]
    while stack:
        more = graph()[stack.pop()] - found
        found |= more
        stack += more
    return found


def test_every_package_has_a_layer():
    packages = {p.name for p in ROOT.iterdir() if (p / "__init__.py").exists()}
    assert packages <= set(HEIGHT)


def test_numerics_know_nothing_of_the_graph():
    numerics = {name for name in FILES if name.startswith("graph.numerics")}
    assert {to for name, to, *_ in imports() if name in numerics} <= numerics


def test_no_layer_imports_an_outer_one():
    wrong = []
    for name, to, line, _ in imports():
        own, other = name.split(".")[0], to.split(".")[0]
        if own not in ("", "__main__", other, *LAYERS[-1]):
            if HEIGHT.get(other, len(LAYERS)) >= HEIGHT[own]:
                wrong.append(f"{FILES[name]}:{line}: {own} imports {other}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("room", LATE)
def test_nothing_imports_the_outer_rooms(room):
    """Public names import them for type checkers, or when `kg.laws` is used."""
    importing = {
        (name.split(".")[0], run_time)
        for name, to, _, run_time in imports()
        if to.split(".")[0] == room and name.split(".")[0] != room
    }
    assert importing == {("public", False)}


@pytest.mark.parametrize("room", LATE)
def test_the_package_works_without_the_outer_rooms(room):
    others = [
        name for name in FILES if name not in ("", "__main__") and name.split(".")[0] not in LATE
    ]
    code = f"""
import importlib, sys
sys.modules["kinetograph.{room}"] = None  # an import of it raises ImportError
for name in {others}:
    importlib.import_module("kinetograph." + name)
import kinetograph as kg
x = kg.normal(0, 1, name="x")
tree = kg.mcmc(kg.model(x), draws=5, warmup=5, chains=1, progress=False)
assert tree.posterior.sizes["draw"] == 5
try:
    kg.{room}
except ImportError:
    print("left out")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "left out\n", done.stderr


def test_nobody_inside_uses_the_public_names():
    """They would import all there is, which may be what is being imported."""
    for name, path in FILES.items():
        for node, run_time in statements(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and run_time and name != "public":
                depth = len(path.relative_to(ROOT).parts)
                taken = node.module == ROOT.name or (node.level == depth and not node.module)
                assert not taken, f"{path}:{node.lineno}: what of {ROOT.name}? Name the file"


def test_files_of_the_graph_import_in_no_circle():
    edges = {name: to for name, to in graph().items() if name.startswith("graph.")}
    assert len(edges) > 50
    assert not circle(edges)


def test_other_files_import_in_no_circle_but_for_what_a_call_imports():
    left = {name: {to for to in tos if (name, to) not in CALLED} for name, tos in graph().items()}
    assert not circle(left)
    for name, to in CALLED:
        assert circle({**left, name: {*left[name], to}}), f"{name} may import {to} at its top"


@pytest.mark.parametrize("height", range(len(GRAPH) - 1))
def test_inner_files_of_the_graph_need_no_outer_ones(height):
    outer = {name for names in GRAPH[height + 1 :] for name in names}
    for name in GRAPH[height]:
        assert not needed(name) & outer, name


def test_tables_of_packages_name_files_that_exist():
    """A row of a table in a package's docstring begins with names of files, then two spaces."""
    tables = 0
    for name, path in FILES.items():
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        rows = re.findall(r"^((?:\w+, )*\w+)  +\S", text.partition("\n\n")[2], re.MULTILINE)
        if path.stem == "__init__" and len(rows) > 1:
            tables += 1
            files = {file.stem for file in path.parent.iterdir()}
            assert {*", ".join(rows).split(", ")} <= files, name
    assert tables > 15


def test_names_of_classes_are_used_once():
    files: dict[str, list[str]] = {}
    for module, path in FILES.items():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                files.setdefault(node.name, []).append(module)
    assert {name: modules for name, modules in files.items() if len(modules) > 1} == {}
