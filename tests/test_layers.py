"""An inner layer never imports an outer one, not even when it is called."""

import ast
from collections.abc import Iterator
from pathlib import Path

import kinetograph

ROOT = Path(kinetograph.__file__).parent
# What stands on one line does not import each other.
LAYERS = [
    ["version", "collector"],
    ["graph"],
    ["streams"],
    ["autograph"],
    ["distributions"],
    ["models"],
    ["kernels"],
    ["samplers", "adaptation", "observables", "optimizers", "ode"],
    ["runs"],
    ["laws", "cli"],
]
HEIGHT = {name: i for i, names in enumerate(LAYERS) for name in names}


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """The packages of kinetograph that a module imports, anywhere in it."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = parts[: len(parts) - node.level]
            module = [*base, *(node.module.split(".") if node.module else [])]
            names = module[:1] or [alias.name for alias in node.names]
            yield from ((name, node.lineno) for name in names)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            named = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module]
            for module in named:
                top, *rest = (module or "").split(".")
                if top == ROOT.name:
                    yield (rest[0] if rest else "__init__"), node.lineno


def found() -> list[tuple[str, str, str]]:
    rows = []
    for path in sorted(ROOT.rglob("*.py")):
        own = path.relative_to(ROOT).parts[0].removesuffix(".py")
        if own in ("__init__", "__main__"):
            continue
        for name, line in imports(path):
            if name != own and own not in LAYERS[-1]:
                rows.append((own, name, f"{path.relative_to(ROOT)}:{line}"))
    return rows


def test_every_package_has_a_layer():
    packages = {p.name for p in ROOT.iterdir() if (p / "__init__.py").exists()}
    assert packages <= set(HEIGHT)


def test_no_layer_imports_an_outer_one():
    wrong = [
        f"{place}: {own} imports {name}"
        for own, name, place in found()
        if HEIGHT.get(name, len(LAYERS)) >= HEIGHT[own]
    ]
    assert not wrong, "\n".join(wrong)
