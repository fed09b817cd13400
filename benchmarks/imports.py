#!/usr/bin/env python
"""The cost of start-up: command and import, against importing JAX.

`kinetograph --help` needs no model. Fresh processes take turns, with cached bytecode; the minima of
processor time and of elapsed time are printed.
"""

import os
import resource
import subprocess
import tempfile
import time
from pathlib import Path

from environments import own_python
from records import record

ROUNDS = 10
SCRIPTS = {
    "Python alone": "pass",
    "`import jax`": "import jax",
    "`import kinetograph`": "import kinetograph",
    "the same, and the first public name": "import kinetograph; kinetograph.mcmc",
    "`kinetograph --help`": "from kinetograph.cli import main; main(['--help'])",
}


def once(script: str, env: dict[str, str]) -> tuple[float, float]:
    """Processor seconds and elapsed seconds of one process."""
    used, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [str(own_python()), "-c", script]
    subprocess.run(command, env=env, stdout=subprocess.DEVNULL, check=True)
    seconds, now = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime, seconds


def main() -> None:
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in SCRIPTS}
    with tempfile.TemporaryDirectory() as folder:
        env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        env["PYTHONPYCACHEPREFIX"] = str(Path(folder))
        for number in range(ROUNDS + 1):
            for name, script in SCRIPTS.items():
                found = once(script, env)
                if number:  # the first process writes the bytecode
                    times[name].append(found)
    jax = min(processor for processor, _ in times["`import jax`"])
    lines = [f"Starting: the least of {ROUNDS} processes.", ""]
    lines += ["| | processor, s | clock, s | processor / import jax |", "|---|---|---|---|"]
    for name, found in times.items():
        processor, clock = (min(each) for each in zip(*found, strict=True))
        lines.append(f"| {name} | {processor:.3f} | {clock:.3f} | {processor / jax:.2f} |")
    record("imports", "\n".join(lines), seconds=times)


if __name__ == "__main__":
    main()
