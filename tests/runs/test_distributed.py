"""`kg.distributed`: chains over processes have the draws of one process, to the last bit."""

import re
import shutil

import pytest
from tests.runs.on_processes import CASES, lines, started

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")

AT = r" \(models.py:\d+\)"
SAME = "; all processes must run the same script with the same data and versions"
DIFFERING = [
    f"KinetographError: mcmc: process 1 has seed=6, and process 0 has seed=5{AT}; give all",
    f"KinetographError: mcmc: process 1 has seed=6, and process 0 has seed=None{AT}; give all",
    f"KinetographError: mcmc: process 1 has another model or sampler than process 0{AT}{SAME}",
    f"KinetographError: mcmc: process 1 has other data of y than process 0{AT}{SAME}",
    f"KinetographError: mcmc: process 1 has draws 60, and process 0 has 50{AT}{SAME}",
    rf"KinetographError: mcmc: process 1 has sampler_settings .*0.2.*, and .*0.1.*{AT}{SAME}",
    "KinetographError: mcmc: process 1 has other starting points or tuned values than",
    rf"KinetographError: mcmc: process 1 has until Until\(ess=8.0, .*{AT}{SAME}",
    rf"ValueError: mcmc: callback= receives the draws of all chains .*{AT}; leave it out",
]


def here(folder, monkeypatch, *cases):
    """The lines that this process prints without other processes."""
    monkeypatch.setenv("NUMBER", "0")
    return [f"{name}: {CASES[name](folder)}" for name in cases]


def outputs(ends):
    for code, out, err in ends:
        assert code == 0, out + err
    return [out for _, out, _ in ends]


def texts(out, case):
    (line,) = lines(out, case)
    return line.partition(": ")[2].split(" | ")


def test_two_processes(tmp_path, monkeypatch):
    """The draws, what is refused, and the death of process 1."""
    alike = ("memory", "stored", "enough", "idle")
    cases = (*alike, "seeds", "differing", "failing", "killed")
    (code, out, err), (killed, other, other_err) = started(2, tmp_path, *cases, KILLED="1")
    assert (code, killed) == (0, -9), out + err + other_err
    assert lines(out, *alike) == lines(other, *alike) == here(tmp_path, monkeypatch, *alike)
    assert lines(out, "seeds") == lines(other, "seeds") != []
    for text, message in zip(texts(out, "differing"), DIFFERING, strict=False):
        assert re.match(message, text)
    assert texts(out, "differing")[:9] == texts(other, "differing")[:9]
    wrong = "ValueError: mcmc: thin must be a whole number of at least 1, got 0"
    assert texts(other, "differing")[9].startswith(wrong)
    there = texts(out, "differing")[9]
    assert there.startswith(f"KinetographError: mcmc: process 1 of 2 was ended by {wrong}")
    error, after = texts(out, "failing")
    assert error.startswith(
        "KinetographError: mcmc: process 1 of 2 was ended by StartError: chain 2"
    )
    assert after == texts(other, "failing")[1]
    (text,) = texts(out, "killed")
    assert re.match(
        rf"KinetographError: mcmc: process 1 of 2 died{AT}; look at its output, .*kept: True$", text
    )


@pytest.mark.slow
def test_four_processes(tmp_path, monkeypatch):
    alike = ("nuts", "memory", "stored", "enough", "averaged", "ensembles", "idle")
    each = outputs(started(4, tmp_path, *alike, "batches", "stopped", timeout=60))
    expected = here(tmp_path, monkeypatch, *alike)
    assert all(lines(out, *alike) == expected for out in each)
    assert len({*lines("".join(each), "batches")}) == 1
    (text,) = {*lines("".join(each), "stopped")}
    assert text.startswith("stopped: Ctrl-C 4 ")


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1])
def test_a_death_and_another_number_of_processes(tmp_path, number):
    """The others name the process that died, and the run continues to the same bits."""
    ends = started(3, tmp_path, "killed", KILLED=str(number), timeout=60)
    assert ends[number][0] == -9
    for code, out, err in (ends[i] for i in range(3) if i != number):
        assert code == 0, err
        assert f"process {number} of 3 died" in out
    for count in (1, 2, 4):
        shutil.copytree(tmp_path / "killed.zarr", tmp_path / f"resumed-{count}.zarr")
    digests = {
        line
        for count in (1, 2, 4)
        for out in outputs(started(count, tmp_path, "resumed", timeout=60))
        for line in lines(out, "resumed")
    }
    assert len(digests) == 1


@pytest.mark.slow
def test_a_process_that_does_not_come(tmp_path):
    first, _ = outputs(started(2, tmp_path, "alone", timeout=8))
    assert "process 1 of 2 has not reached this call within 8 s" in first
