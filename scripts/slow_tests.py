#!/usr/bin/env python
"""Choose the tests that `make test` leaves out, from measured processor times.

    make test PYTEST_ADDOPTS="--times .cache/times"
    python scripts/slow_tests.py .cache/times --seconds 850 --list wide

Writes `tests/wide.txt` or `tests/slow.txt`. The most expensive cases are left out until the
remaining ones take at most `--seconds`. A case always stays in `make test` if

- it caught a fault in a study of mutants (`benchmarks/results/*-mutants.md`),
- or it is the quickest case of its test and takes at most `--keep` seconds,
- or it is the only test of a whole feature in `.ci/run`, listed in `WHOLE`; `.ci/run` has all those
  of `tests/wide.txt`.

Cases that are listed already were not measured: they stay in their list while their test exists.
"""

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.slow_tests import LISTS, read, written  # noqa: E402

WHOLE = {
    "adaptation/test_joint_choice.py::test_chains_leave_the_block_for_a_second_program[threads]",
    "adaptation/test_joint_choice.py::test_draws_statistics_and_state_are_those_of_the_free_state",
    "formulas/test_row_dims.py::test_rows_of_predictions[y ~ x-gaussian]",
    "models/test_conditioning.py::test_posteriors",
    "prediction/test_other_models.py::test_runs_of_other_likelihoods_are_not_continued",
    "runs/test_devices.py::test_two_devices",
    "runs/test_distributed.py::test_two_processes",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("times", type=Path, help="folder that pytest --times has written")
    parser.add_argument("--seconds", type=float, required=True, help="time of all tests together")
    parser.add_argument("--keep", type=float, default=2.0, help="time of one case that may stay")
    parser.add_argument("--list", choices=LISTS, default="wide", help="the list to write")
    options = parser.parse_args()
    times = {
        name.partition("tests/")[2]: seconds
        for file in options.times.glob("*.json")
        for name, seconds in json.loads(file.read_text()).items()
    }
    listed = {mark: _listed(path) for mark, path in LISTS.items()}
    everyday = times.keys() - set().union(*listed.values())
    times = {case: times[case] for case in sorted(everyday)}
    always = _catching() | (WHOLE if options.list == "slow" else set())
    left_out = chosen(times, always, options.seconds, options.keep)
    cases = defaultdict(list)
    for case in sorted(listed[options.list] | left_out):
        file, _, name = case.partition("::")
        cases[file].append(name)
    LISTS[options.list].write_text(written(cases))
    total, left = sum(times.values()), sum(times[case] for case in left_out)
    print(f"{len(times)} tests of {total:.0f} s; {len(left_out)} of {left:.0f} s are left out")


def chosen(times: dict[str, float], catching: set[str], seconds: float, keep: float) -> set[str]:
    """The cases to leave out."""
    quickest: dict[str, str] = {}
    for case in sorted(times, key=times.__getitem__):
        quickest.setdefault(case.partition("[")[0], case)
    kept = {case for case in quickest.values() if times[case] <= keep}
    left_out: set[str] = set()
    total = sum(times.values())
    for case in sorted(times, key=times.__getitem__, reverse=True):
        if total <= seconds:
            break
        if case not in kept and case not in catching and case.partition("[")[0] not in catching:
            left_out.add(case)
            total -= times[case]
    return left_out


def _catching() -> set[str]:
    """Tests that caught a fault in a study of mutants."""
    files = (ROOT / "benchmarks" / "results").glob("*mutants.md")
    words = {word for file in files for word in file.read_text().replace("|", " ").split()}
    return {word.strip("`,;()") for word in words if "::" in word}


def _listed(path: Path) -> set[str]:
    """The cases of a list whose file exists."""
    return {
        f"{file}::{case}"
        for file, cases in read(path.read_text()).items()
        for case in cases
        if (ROOT / "tests" / file).exists()
    }


if __name__ == "__main__":
    main()
