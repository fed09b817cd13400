#!/usr/bin/env python
"""Batches of chains on a GPU and on the host: see README.md.

    python benchmarks/gpu.py [--chains 256 1024] [--draws 200] [--models eight_schools logistic]

Seconds of the second call of NUTS with its warm-up, by the scripts of the peers: kinetograph on the
GPU and on the cores of the host, and NumPyro on the GPU, with its chains under `jax.vmap`, compiled
once. Each run has a process of its own. NumPyro is left out where it is not installed.
"""

import argparse
import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import scores
from processes import run, surroundings

from models import MODELS

DEFAULT = ("eight_schools", "radon_noncentred", "logistic")
WARMUP = 300  # of both libraries


def cases(devices: list[str]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The library, the device and the options of its script."""
    for device in devices:
        yield "kinetograph", device, {}
    if importlib.util.find_spec("numpyro"):
        yield "numpyro", devices[0], {"variant": "batch"}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(DEFAULT))
    parser.add_argument("--chains", nargs="+", type=int, default=[256, 1024])
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument(
        "--devices", nargs="+", default=["cuda", "cpu"], help="the first is the GPU"
    )
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for a process")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    print("| model | chains | library | device | seconds | gradients | min-ESS/s | R-hat |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        for model in options.models:
            for chains in options.chains:
                for library, device, more in cases(options.devices):
                    draws = Path(scratch) / "draws.npz"
                    task = {"model": model, "mode": "warm", "chains": chains, "out": draws}
                    task |= {"draws": options.draws, "warmup": WARMUP} | more
                    env = surroundings(Path(scratch)) | {"JAX_PLATFORMS": device}
                    env.setdefault("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
                    got = run(Path(sys.executable), library, task, env, options.limit)
                    if got.error:
                        print(f"| {model} | {chains} | {library} | {device} | {got.error[-300:]} |")
                        continue
                    found, seconds = scores.score(scores.load(draws)), got.values["seconds"]
                    print(
                        f"| {model} | {chains} | {library} | {device} | {seconds:.2f} "
                        f"| {got.values['gradients']:,} | {found['ess_bulk'] / seconds:,.0f} "
                        f"| {found['rhat']:.3f} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
