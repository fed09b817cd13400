"""The list of slow tests names tests that exist, and is read as it is written."""

import ast
import importlib.util
from pathlib import Path

from tests.slow_tests import LIST, read, written

_spec = importlib.util.spec_from_file_location(
    "slow_tests_script", Path(__file__).parent.parent / "scripts" / "slow_tests.py"
)
script = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(script)


def test_listed_tests_exist():
    for file, cases in read(LIST.read_text()).items():
        tree = ast.parse((LIST.parent / file).read_text())
        names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        missing = {case.partition("[")[0].rpartition("::")[2] for case in cases} - names
        assert not missing, f"tests/slow.txt: {file} has no test {', '.join(sorted(missing))}"


def test_lists_are_read_as_written():
    cases = {"a/test_a.py": ["test_x", "test_y[1 2]"], "test_b.py": ["test_z[a::b]"]}
    assert read(written(cases)) == cases
    assert written(read(LIST.read_text())) == LIST.read_text()


def test_expensive_cases_are_left_out():
    times = {"a::x[1]": 5.0, "a::x[2]": 1.0, "a::y": 4.0, "a::z": 0.5, "a::w": 3.0}
    assert script.chosen(times, set(), 100, 2) == set()
    assert script.chosen(times, set(), 9, 2) == {"a::x[1]"}
    assert script.chosen(times, {"a::y"}, 0, 2) == {"a::x[1]", "a::w"}
    assert script.chosen(times, {"a::x[1]"}, 0, 2) == {"a::y", "a::w"}
