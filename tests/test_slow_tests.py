"""The lists of slow tests name tests that exist, and are read as they are written."""

import ast
import importlib.util
from pathlib import Path

import pytest
from tests.slow_tests import LISTS, mark_listed, read, written

_spec = importlib.util.spec_from_file_location(
    "slow_tests_script", Path(__file__).parent.parent / "scripts" / "slow_tests.py"
)
script = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(script)


@pytest.mark.parametrize("path", LISTS.values(), ids=LISTS)
def test_listed_tests_exist(path):
    for file, cases in read(path.read_text()).items():
        tree = ast.parse((path.parent / file).read_text())
        names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        missing = {case.partition("[")[0].rpartition("::")[2] for case in cases} - names
        assert not missing, f"tests/{path.name}: {file} has no test {', '.join(sorted(missing))}"


def test_no_case_is_in_both_lists():
    slow, wide = (read(LISTS[name].read_text()) for name in ("slow", "wide"))
    assert not [file for file in wide if set(wide[file]) & set(slow.get(file, []))]


def test_listed_cases_get_the_mark_of_their_list():
    marks = {}

    class Item:
        def __init__(self, nodeid):
            self.nodeid = nodeid

        def add_marker(self, mark):
            marks[self.nodeid] = mark

    file, cases = next(iter(read(LISTS["wide"].read_text()).items()))
    mark_listed([Item(f"tests/{file}::{cases[0]}"), Item(f"tests/{file}::test_of_no_list")])
    assert marks == {f"tests/{file}::{cases[0]}": "wide"}


def test_lists_are_read_as_written():
    cases = {"a/test_a.py": ["test_x", "test_y[1 2]"], "test_b.py": ["test_z[a::b]"]}
    assert read(written(cases)) == cases
    for path in LISTS.values():
        assert written(read(path.read_text())) == path.read_text()


def test_expensive_cases_are_left_out():
    times = {"a::x[1]": 5.0, "a::x[2]": 1.0, "a::y": 4.0, "a::z": 0.5, "a::w": 3.0}
    assert script.chosen(times, set(), 100, 2) == set()
    assert script.chosen(times, set(), 9, 2) == {"a::x[1]"}
    assert script.chosen(times, {"a::y"}, 0, 2) == {"a::x[1]", "a::w"}
    assert script.chosen(times, {"a::x[1]"}, 0, 2) == {"a::y", "a::w"}
