"""Command line, saved draws and reports of the peers' scripts.

A script does one job and reports it in one line of JSON that starts with MARK, so that run.py finds
it in the output of the library. `printed` reports the moment at which a user has the answer; the
draws are saved after it, outside the measured time.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))

MARK = "@benchmark "


@dataclass(frozen=True)
class Job:
    """A job of run.py for a peer."""

    model: str
    mode: str
    draws: int
    warmup: int | None
    chains: int
    seed: int
    out: Path | None
    variant: str


@dataclass
class Run:
    """One sampling call: NumPy draws (chain, draw, ...) and its costs."""

    draws: Mapping[str, np.ndarray]
    gradients: int | None = None
    divergences: int | None = None


def length(given: str) -> int | None:
    """The number of warm-up transitions."""
    return None if given == "None" else int(given)


def job(
    modes: tuple[str, ...] = ("cold", "warm", "density"), variants: tuple[str, ...] = ()
) -> Job:
    """The job on the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="eight_schools")
    parser.add_argument("--mode", choices=modes, default="cold")
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--warmup", type=length, default=500, help="None: until it is done")
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="save the draws here (.npz)")
    parser.add_argument(
        "--variant",
        choices=variants or ("default",),
        default=(variants or ("default",))[0],
        help="how the chains are run, where a library has several ways; the first is the fastest",
    )
    return Job(**vars(parser.parse_args()))


def report(**values: Any) -> None:
    """Hand values to run.py."""
    print(MARK + json.dumps(values), flush=True)


def printed() -> None:
    """Report that the summary is printed: the cold time ends here."""
    report(printed=True)


def save(job: Job, draws: Mapping[str, np.ndarray]) -> None:
    """Save the draws for run.py, which computes effective sample sizes."""
    if job.out is not None:
        np.savez(job.out, allow_pickle=False, **{k: np.asarray(v) for k, v in draws.items()})


def warm(job: Job, sample: Callable[[int], Any], read: Callable[[Any], Run]) -> None:
    """Call `sample` once to compile it, then time the second call."""
    sample(job.seed + 1_000_000)
    start = time.perf_counter()
    result = sample(job.seed)
    seconds = time.perf_counter() - start
    run = read(result)
    save(job, run.draws)
    report(seconds=seconds, gradients=run.gradients, divergences=run.divergences)
