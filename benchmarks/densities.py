"""NUTS of kinetograph, NumPyro and BlackJAX on 12 posteriors, all defaults.

    python benchmarks/densities.py                   # 12 models; half an hour on two cores
    python benchmarks/densities.py --models garch --repeats 5

reliability.py defines the posteriors. All libraries sample the same density with the same
transforms: the one of kinetograph, as a JAX function. Each run is the second one of its process: 4
chains of 1000 draws after the default warm-up of the library, which is counted. The figures are the
smallest bulk effective sample size of all unknowns per second of sampling and per 1000 gradients.
kinetograph also checks its draws and returns them as a tree, which the compiled functions of the
peers do not: the column "call" has the time of its whole call.
"""

import argparse
import subprocess
from statistics import median
from typing import Any

import numpy as np
from records import record
from reliability import MODELS, by_peer, lost, scored
from table import OURS

PEERS = (OURS, "numpyro", "blackjax")


def measure(name: str, peer: str, seed: int, limit: float) -> dict[str, Any] | None:
    """Run one process; None if it took too long."""
    try:
        found = by_peer(peer, name, "--warm", "--seed", str(seed), limit=limit)
    except subprocess.TimeoutExpired:
        return None
    worst, seconds = scored(found["draws"]), float(found["sampling"])
    return {
        "model": name,
        "peer": peer,
        "seed": seed,
        "seconds": seconds,
        "call": float(found["seconds"]),
        "a second": worst["ess_bulk"] / seconds,
        "1000 gradients": 1000 * worst["ess_bulk"] / int(found["gradients"]),
        "us a gradient": 1e6 * seconds / int(found["gradients"]),
        "r_hat": worst["rhat"],
        "divergences": int(found["diverging"].sum()),
        "lost": int(lost(found["lp"]).sum()),
    }


def spread(values: list[float]) -> str:
    if len(values) == 1:
        return f"{values[0]:.3g}"
    return f"{median(values):.3g} ({min(values):.3g}-{max(values):.3g})"


def page(rows: list[dict[str, Any]]) -> str:
    """Medians (minimum-maximum) over the repeats, and ratios to the best peer."""
    keys = ("a second", "1000 gradients", "us a gradient", "seconds", "call", "divergences")
    head = ["model", "library", *keys, "lost chains", "R-hat above 1.01"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    ratios: dict[str, dict[str, float]] = {}
    for name in dict.fromkeys(row["model"] for row in rows):
        of: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            if row["model"] == name:
                of.setdefault(row["peer"], []).append(row)
        for peer, runs in of.items():
            cells = [spread([float(run[key]) for run in runs]) for key in keys]
            away, high = sum(run["lost"] for run in runs), sum(run["r_hat"] > 1.01 for run in runs)
            lines.append(f"| {name} | {peer} | {' | '.join(cells)} | {away} | {high} |")
        for key in keys[:2]:
            best = {peer: median(run[key] for run in runs) for peer, runs in of.items()}
            own = best.pop(OURS, 0.0)
            if best and own:
                ratios.setdefault(name, {})[key] = own / max(best.values())
    lines += ["", "| kinetograph / best peer | ESS a second | ESS a gradient |", "|---|---|---|"]
    lines += [f"| {n} | {r[keys[0]]:.2f} | {r[keys[1]]:.2f} |" for n, r in ratios.items()]
    if ratios:
        means = [np.exp(np.mean([np.log(r[key]) for r in ratios.values()])) for key in keys[:2]]
        lines.append(f"| geometric mean | {means[0]:.2f} | {means[1]:.2f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--peers", nargs="+", default=list(PEERS), choices=list(PEERS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=180.0, help="seconds of a process")
    parser.add_argument("--write", action="store_true", help="keep the tables in results/")
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    late: list[str] = []
    for name in args.models:
        peers = list(args.peers)
        for repeat in range(args.repeats):
            for peer in tuple(peers):
                row = measure(name, peer, 1 + 100 * repeat, args.limit)
                if row is None:
                    peers.remove(peer)
                    late.append(f"{name}: {peer} was stopped after {args.limit:.0f} s.")
                    print(late[-1], flush=True)
                    continue
                rows.append(row)
                shown = {k: f"{v:.3g}" for k, v in row.items() if isinstance(v, float)}
                print(name, repeat + 1, peer, shown, flush=True)
    text = "\n".join([page(rows), "", *late])
    if args.write:
        record("densities", text, rows=rows)
    else:
        print(text)


if __name__ == "__main__":
    main()
