"""Run a peer once in a fresh process, and time it."""

import json
import os
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MARK = "@benchmark "  # as in peers/common.py


@dataclass
class Outcome:
    """The times, the reports and the failure of one process."""

    printed: float | None = None
    ended: float = 0.0
    values: dict[str, Any] = field(default_factory=dict)
    error: str | None = None


def surroundings(cache: Path, jax_cache: bool = False) -> dict[str, str]:
    """The environment of a process whose compile caches are all below `cache`.

    kinetograph, PyTensor and Numba keep a cache by default; JAX only where the user asks for one.
    Python keeps its bytecode by default: the bytecode of all libraries exists since their
    installation or since the process that compares densities.
    """
    left_out = ("JAX_", "PYTENSOR", "NUMBA", "PYTHONDONTWRITEBYTECODE")
    env = {k: v for k, v in os.environ.items() if not k.startswith(left_out)}
    env["KINETOGRAPH_CACHE"] = str(cache / "kinetograph")
    env["PYTENSOR_FLAGS"] = f"base_compiledir={cache / 'pytensor'}"
    env["NUMBA_CACHE_DIR"] = str(cache / "numba")
    if jax_cache:
        env["JAX_COMPILATION_CACHE_DIR"] = str(cache / "jax")
        env["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    return env


def run(
    python: Path, peer: str, options: dict[str, Any], env: dict[str, str], limit: float = 900.0
) -> Outcome:
    """Run peers/<peer>_peer.py with these options."""
    command = [str(python), str(HERE / "peers" / f"{peer}_peer.py")]
    for name, value in options.items():
        command += [f"--{name}", str(value)]
    outcome = Outcome()
    last = ""
    with tempfile.TemporaryFile("w+") as errors:
        start = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, env=env, bufsize=1
        )
        timer = threading.Timer(limit, process.kill)
        timer.start()
        assert process.stdout is not None
        for line in process.stdout:
            now = time.perf_counter() - start
            if not line.startswith(MARK):
                last = line.strip() or last
                continue
            values = json.loads(line[len(MARK) :])
            if values.pop("printed", False):
                outcome.printed = now
            outcome.values |= values
        code = process.wait()
        outcome.ended = time.perf_counter() - start
        timer.cancel()
        if code != 0:
            errors.seek(0)
            lines = [line.strip() for line in errors if line.strip()]
            late = f"stopped after {limit:.0f} s; " if outcome.ended >= limit else ""
            outcome.error = f"{late}exit {code}: {(lines or [last])[-1][:300]}"
        elif outcome.printed is None and not outcome.values:
            outcome.error = "it reported nothing"
    return outcome
