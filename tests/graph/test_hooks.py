"""The registry of hooks, and the table in its docstring."""

import ast
import re
from pathlib import Path

import kinetograph as kg
from kinetograph.graph import hooks

ROOT = Path(kg.__file__).parent
HOOKS = {name: hook for name, hook in vars(hooks).items() if isinstance(hook, hooks.Hook)}
ROWS = re.findall(r"^\| (ON_\w+) \| (.*) \| (.*) \|$", hooks.__doc__, re.MULTILINE)


def uses() -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The calls of hooks and the functions that fill them, by file."""
    calls, fills = set(), set()
    for path in ROOT.rglob("*.py"):
        file = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in HOOKS:
                calls.add((ast.unparse(node.func), file))
            for decorator in getattr(node, "decorator_list", ()):
                name, _, attribute = ast.unparse(decorator).partition(".")
                if name in HOOKS and attribute == "fill":
                    fills.add((name, file))
    return calls, fills


def test_the_table_of_hooks():
    calls, fills = uses()
    assert [name for name, *_ in ROWS] == sorted(HOOKS)
    assert {(name, file) for name, files, _ in ROWS for file in files.split(", ")} == calls
    assert {(name, file) for name, _, files in ROWS for file in files.split(", ")} == fills


def test_hooks_are_filled_once_the_package_is_imported():
    assert kg.mcmc
    fills = [name for name, _, files in ROWS for _ in files.split(", ")]
    assert {name: len(hook.functions) for name, hook in HOOKS.items()} == {
        name: fills.count(name) for name in HOOKS
    }


def test_a_hook_calls_its_functions():
    hook = hooks.Hook()
    assert hook(1) == []
    assert hook.fill(abs) is abs
    hook.fill(float)
    assert hook(-2) == [2, -2.0]
