#!/usr/bin/env python
"""Measure kinetograph against its peers in one run: see README.md."""

import argparse
import json
import os
import sys
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

import scores
from environments import PACKAGES, environment, machine, own_python, versions
from processes import run, surroundings
from table import OURS, Record, markdown

from models import MODELS

HERE = Path(__file__).resolve().parent
# The default of each library; None: warm-up ends by itself.
WARMUP = {OURS: None, "blackjax": 1000, "numpyro": 1000, "pymc": 1000, "nutpie": 400}
MATCHED = 500
AGREE = 1e-8
# The differential equation runs with the peers that support it, with one long warm-up for all that
# take a number; densities agree up to the tolerance of the solvers; the peer that takes 30 ms per
# gradient makes short runs.
ODE = "lotka_volterra"
ODE_PEERS = (OURS, "numpyro", "pymc")
ODE_WARMUP, ODE_AGREE = 1000, 3e-4
ODE_SHORT = {"pymc": (200, 200)}  # warm-up, draws; once, in a fresh process, with compilation
SEEDS = {"cold": 0, "cached": 100, "warm": 200, "warm matched": 300}  # no two runs share a seed


def arguments() -> argparse.Namespace:
    peers = [OURS, *PACKAGES]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--peers", nargs="+", choices=peers, default=peers)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1, help="of the first repeat")
    parser.add_argument("--rows", nargs="+", choices=("cold", "warm"), default=["cold", "warm"])
    parser.add_argument("--matched", action="store_true", help="warm also with an equal warm-up")
    parser.add_argument(
        "--peer-caches", action="store_true", help="cold also with the peers' caches filled"
    )
    parser.add_argument("--update", action="store_true", help="bring the environments up to date")
    parser.add_argument(
        "--quick", action="store_true", help="one repeat of eight schools, nothing is written"
    )
    options = parser.parse_args()
    if options.quick:
        options.repeats, options.models = 1, ["eight_schools"]
    return options


class Bench:
    """One run of the benchmark."""

    def __init__(self, options: argparse.Namespace, scratch: Path) -> None:
        self.options = options
        self.scratch = scratch
        self.pythons = {
            peer: own_python() if peer == OURS else environment(peer, options.update)
            for peer in options.peers
        }
        self.records: list[Record] = []
        self.moments: dict[str, dict[str, list[Any]]] = {}

    def densities(self) -> list[str]:
        """Check that all peers have the same density, up to a constant."""
        lines = []
        for model in self.options.models:
            found: dict[str, float] = {}
            for peer in self.peers(model):
                env = surroundings(self.scratch / "shared")
                out = run(self.pythons[peer], peer, {"mode": "density", "model": model}, env)
                if out.error:
                    lines.append(f"{model}: no density from {peer}: {out.error}.")
                    continue
                first, second = out.values["density"]
                found[peer] = second - first
            if not found:
                continue
            off = max(found.values()) - min(found.values())
            if off > (ODE_AGREE if model == ODE else AGREE) * max(1.0, *map(abs, found.values())):
                raise SystemExit(f"{model}: the densities differ by {off:.2g}: {found}")
            lines.append(f"{model}: the densities of {', '.join(found)} agree to {off:.1g}.")
        return lines

    def peers(self, model: str, row: str = "cold", repeat: int = 0) -> list[str]:
        """The peers that are measured with a model in this row."""
        if model != ODE:
            return self.options.peers
        once = ODE_SHORT if repeat or row == "warm" else ()
        return [p for p in self.options.peers if p in ODE_PEERS and p not in once]

    def measure(
        self, peer: str, model: str, row: str, repeat: int, warmup: int | None, cache: Path
    ) -> None:
        """Measure one process and return its record."""
        mode = "warm" if row.startswith("warm") else "cold"
        seed = self.options.seed + 1000 * repeat + SEEDS[row]
        draws = self.options.draws
        if model == ODE and warmup is not None:
            warmup, draws = ODE_SHORT.get(peer, (ODE_WARMUP, draws))
        path = self.scratch / "draws.npz"
        path.unlink(missing_ok=True)
        options = {
            "mode": mode,
            "model": model,
            "draws": draws,
            "warmup": warmup,
            "chains": self.options.chains,
            "seed": seed,
            "out": path,
        }
        load = os.getloadavg()[0]
        jax_cache = mode == "cold" and self.options.peer_caches and peer != OURS
        limit = 3600.0 if model == ODE else 900.0
        out = run(self.pythons[peer], peer, options, surroundings(cache, jax_cache), limit)
        record: Record = {
            "peer": peer,
            "model": model,
            "row": row,
            "repeat": repeat,
            "seed": seed,
            "warmup": warmup,
            "load": round(load, 2),
            "process_seconds": out.ended,
            "error": out.error,
        }
        if out.error is None:
            found = scores.load(path)
            record |= out.values | scores.score(found)
            if mode == "cold":
                record["seconds"] = out.printed
                record["ess_per_second"] = record["ess_bulk"] / record["seconds"]
            else:
                record["ess_per_second"] = record["ess_bulk"] / record["seconds"]
                if record.get("gradients"):
                    record["ess_per_gradient"] = record["ess_bulk"] / record["gradients"]
            here = self.moments.setdefault(model, {}).setdefault(peer, [])
            here.append(scores.moments(found))
        self.records.append(record)
        shown = out.error or f"{record['seconds']:.3g} s, min-ESS {record['ess_bulk']:.0f}"
        print(f"{model} {row} {repeat + 1}: {peer}: {shown}", flush=True)

    def cold(self, peer: str, model: str, repeat: int) -> None:
        """Measure a process with empty caches, then one with filled caches."""
        with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
            cache = Path(folder)
            self.measure(peer, model, "cold", repeat, MATCHED, cache)
            if peer == OURS or self.options.peer_caches:
                self.measure(peer, model, "cached", repeat, MATCHED, cache)

    def all(self) -> None:
        """Measure everything, with the peers by turns."""
        shared = self.scratch / "shared"
        for model in self.options.models:
            for repeat in range(self.options.repeats):
                if "cold" in self.options.rows:
                    for peer in self.peers(model, "cold", repeat):
                        self.cold(peer, model, repeat)
                if "warm" in self.options.rows:
                    for peer in self.peers(model, "warm"):
                        self.measure(peer, model, "warm", repeat, WARMUP[peer], shared)
                    for peer in self.peers(model, "warm") if self.options.matched else ():
                        self.measure(peer, model, "warm matched", repeat, MATCHED, shared)

    def memory(self) -> list[Record]:
        """The memory of a run, less bare JAX and the draws."""
        records: list[Record] = []
        if OURS not in self.options.peers:
            return records
        python, env = self.pythons[OURS], surroundings(self.scratch / "shared")
        bare = run(python, OURS, {"mode": "bare"}, env)
        for model in self.options.models:
            options = {"mode": "memory", "model": model, "draws": self.options.draws}
            out = run(python, OURS, options | {"chains": self.options.chains}, env)
            record: Record = {"peer": OURS, "model": model, "row": "memory", "repeat": 0}
            record["error"] = bare.error or out.error
            if record["error"] is None:
                record |= out.values | {"bare_mb": bare.values["peak_mb"]}
                record["extra_mb"] = record["peak_mb"] - record["bare_mb"] - record["draws_mb"]
            records.append(record)
        return records


def main() -> None:
    options = arguments()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, Path(folder))
        results: dict[str, Any] = {
            "date": date.today().isoformat(),
            "machine": machine(),
            "versions": {peer: versions(python) for peer, python in bench.pythons.items()},
            "settings": {
                "models": options.models,
                "peers": options.peers,
                "repeats": options.repeats,
                "draws": options.draws,
                "chains": options.chains,
                "cold_warmup": MATCHED,
                "warmup": {peer: WARMUP[peer] for peer in options.peers},
                "command": " ".join(["benchmarks/run.py", *sys.argv[1:]]),
            },
            "densities": bench.densities(),
        }
        bench.all()
        results["records"] = bench.records
        results["memory"] = bench.memory()
        results["means_off"] = {m: scores.distances(m, r) for m, r in bench.moments.items()}
    page = markdown(results)
    print("\n" + page)
    if not options.quick:
        folder_out = HERE / "results"
        folder_out.mkdir(exist_ok=True)
        (folder_out / f"{results['date']}.json").write_text(json.dumps(results, indent=1) + "\n")
        (folder_out / "latest.md").write_text(page + "\n")


if __name__ == "__main__":
    main()
