"""Whatever a public function is given, it ends well, or with an error that says what is wrong."""

import pytest
from tests.fuzz.calls import carry_out, make_call, names, outcome_of
from tests.fuzz.study import study

import kinetograph as kg


def wrong(outcomes):
    """What is to be mended; errors of libraries that a function tells in its words are not."""
    return [each for each in outcomes if each[1].kind not in ("", "net")]


def test_some_hundred_calls_without_a_program(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    known = names(compiling=False)
    assert len(known) > 350
    calls = [make_call(3, number, known) for number in range(600)]
    outcomes = [(str(call), carry_out(call)) for call in calls]
    assert not wrong(outcomes)


@pytest.mark.slow
def test_some_thousand_calls():
    made = study(seed=4, first=0, count=3000, seconds=60.0, quick=False)
    assert not [f for f in made["findings"] if f["kind"] != "net"]


def test_a_call_is_made_of_a_seed_and_a_number():
    known = names()
    assert make_call(1, 7, known) == make_call(1, 7, known) != make_call(2, 7, known)


def test_what_is_found():
    def overflow():
        raise OverflowError("too large")

    assert outcome_of(overflow).kind == "kind"
    assert outcome_of(lambda: kg.normal("a", 1)).kind == ""
    deep = outcome_of(lambda: kg.Dataset.range.__func__.__wrapped__(kg.Dataset))
    assert deep.kind == "depth"
    assert deep.where.startswith("datasets/dataset.py:")
    told = outcome_of(lambda: kg.Dataset.range())
    assert told.kind == "net"
    assert told.where == deep.where
