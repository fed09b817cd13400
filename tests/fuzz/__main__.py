"""Random calls of the public API in processes that may crash or hang: a study.

    python -m tests.fuzz [--count 100000] [--seed 1] [--first 0] [--seconds 20] [--quick]
                         [--write FILE]

A call that has not ended after `--seconds` is a hang, a process that dies in a call a crash; the
next call is made by a new process. `--quick` leaves out what compiles.
"""

import argparse
import datetime
import json
import platform
import time
from pathlib import Path

from tests.fuzz.study import study


def main() -> None:
    """Make the calls, print what is found, and write it if that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    begun = time.perf_counter()
    made = study(given.seed, given.first, given.count, given.seconds, given.quick)
    made |= {
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "seconds": round(time.perf_counter() - begun),
        "command": f"python -m tests.fuzz --count {given.count} --seed {given.seed}"
        f" --first {given.first}" + " --quick" * given.quick,
    }
    print(json.dumps(made["counts"]), f"{made['seconds']} s; slowest {made['slowest']}")
    for finding in made["findings"]:
        print(f"{finding['kind']:6} {finding['count']:5}  {finding['where']}")
        print(
            f"        {finding['number']}: {finding['call'][:200]}\n        {finding['text'][:200]}"
        )
    if given.write:
        given.write.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
