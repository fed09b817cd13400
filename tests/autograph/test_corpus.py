"""Every function of the corpus three ways: Python, converted and eager, staged and compiled."""

import importlib
import pathlib

import numpy as np
import pytest
from tests.autograph import harness
from tests.autograph.harness import CASES, Case, Outcome, compare
from tests.selection import thinned

_FOLDER = pathlib.Path(__file__).parent / "corpus"
for _file in sorted(_FOLDER.glob("*.py")):
    importlib.import_module(f"tests.autograph.corpus.{_file.stem}")

every_case = pytest.mark.parametrize("what", CASES, ids=lambda what: what.name)
staged_cases = thinned([what for what in CASES if what.staged], 16)


def test_the_corpus_is_as_large_as_promised():
    assert len({what.name for what in CASES}) == len(CASES) >= 420


@every_case
def test_python(what):
    harness.check_python(what)


@every_case
def test_converted(what):
    harness.check_converted(what)


@pytest.mark.parametrize("what", staged_cases, ids=lambda what: what.name)
def test_staged(what):
    harness.check_staged(what)


# The harness itself must be able to fail.


def double(x):
    return 2 * x


@pytest.mark.parametrize(
    ("expected", "got", "exact"),
    [
        (Outcome(3), Outcome(4), False),
        (Outcome(3), Outcome(3.0), False),
        (Outcome(True), Outcome(np.int64(1)), False),
        (Outcome(0.1), Outcome(0.1 + 1e-9), False),
        (Outcome(3), Outcome(np.int64(3)), True),
        (Outcome([1, 2]), Outcome(np.array([1])), False),
        (Outcome((1, 2)), Outcome([1, 2]), False),
        (Outcome((1, 2)), Outcome((1, 2, 3)), False),
        (Outcome({"a": 1, "b": 2}), Outcome({"b": 2, "a": 1}), False),
        (Outcome({"a": {"b": 1}}), Outcome({"a": {"b": 2}}), False),
        (Outcome(None), Outcome(0), False),
        (Outcome("a"), Outcome("b"), False),
        (Outcome(np.ones(2)), Outcome(np.ones((2, 1))), False),
        (Outcome(error=ValueError("a")), Outcome(error=TypeError("a")), False),
        (Outcome(error=ValueError("a")), Outcome(None), False),
        (Outcome(None), Outcome(error=ValueError("a")), False),
        (Outcome(1, told=("a", "b")), Outcome(1, told=("b", "a")), True),
        (Outcome(1, arguments=([1],)), Outcome(1, arguments=([2],)), True),
    ],
)
def test_outcomes_that_differ_are_told_apart(expected, got, exact):
    assert compare(expected, got, exact=exact) is not None


@pytest.mark.parametrize(
    ("expected", "got", "promotes"),
    [
        (3, np.int64(3), False),
        ([1.0, 2.0], np.array([1.0, 2.0]), False),
        ({"a": (1, None)}, {"a": (np.array(1), None)}, False),
        (3, 3.0, True),
        (float("nan"), np.array(np.nan), False),
    ],
)
def test_outcomes_that_agree_pass(expected, got, promotes):
    assert compare(Outcome(expected), Outcome(got), exact=False, promotes=promotes) is None


def test_promotion_allows_no_other_value():
    assert compare(Outcome(3), Outcome(3.5), exact=False, promotes=True) is not None


def test_a_case_whose_oracle_raises_unexpectedly_is_refused():
    wrong = Case(double, ((None,),), (), None, True, None, False, None)
    with pytest.raises(AssertionError, match="Python raises TypeError"):
        harness.check_python(wrong)


def test_a_case_that_takes_one_path_only_is_refused():
    idle = Case(double, ((1,), (1,)), (), None, True, None, False, None)
    with pytest.raises(AssertionError, match="same outcome"):
        harness.check_python(idle)


@pytest.mark.parametrize("check", [harness.check_converted, harness.check_staged])
def test_a_function_that_differs_from_python_is_found(check, monkeypatch):
    what = Case(double, ((1,), (2,)), (), None, True, None, False, None)
    wrong = [Outcome(2, arguments=(1,)), Outcome(5, arguments=(2,))]
    name = check.__name__.replace("check", "run")
    monkeypatch.setattr(harness, name, lambda *arguments: wrong)
    with pytest.raises(AssertionError, match=r"double\(2,\): got 5, expected 4"):
        check(what)
