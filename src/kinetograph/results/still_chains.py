"""Runs in which no chain moves: its draws are all equal.

Neither R-hat nor the effective sample size of a constant is defined, so that they report nothing
for one such chain, and for chains from one starting point.
"""

from typing import Any

import numpy as np

from .check import statistics_of, unknowns_of
from .lost_chains import starting_densities
from .summary import row_names

__all__ = ["still_chains"]

FEWEST = 20  # draws of a chain
SHOWN = 3  # numbers of the place
ACCEPTED = 0.5  # the mean acceptance rate above which steps are too short, not too long


def still_chains(tree: Any) -> str:
    """The message about a run in which no chain moves; else empty."""
    posterior, stats = tree["posterior"].dataset, statistics_of(tree)
    quantities = [*unknowns_of(tree).values(), *posterior.data_vars.values()]
    densities = [stats[name] for name in ("lp", "batch_lp") if name in stats]
    if posterior.sizes["draw"] < FEWEST or not quantities:
        return ""
    if any(_moves(each.values) for each in [*densities, *quantities]):
        return ""
    whole = "the chain" if posterior.sizes["chain"] == 1 else "each chain"
    return (
        f"no chain moved: {whole} stayed {_place(tree)} for {posterior.sizes['draw']} draws "
        f"({_point(posterior)}), so that they tell nothing about the posterior. {_reason(stats)}"
    )


def _moves(values: np.ndarray) -> bool:
    """Whether draws of a chain differ; NaN differs from NaN."""
    return bool((values[:, 1:] != values[:, :1]).any())


def _place(tree: Any) -> str:
    stats = statistics_of(tree)
    start = starting_densities(tree, tree["posterior"].sizes["chain"])
    if "lp" not in stats or np.isnan(start).any():
        return "at one point"
    at_start = np.array_equal(start, stats["lp"].values[:, 0])
    return "at its starting point" if at_start else "where warm-up left it"


def _point(posterior: Any) -> str:
    """Some numbers of the first chain: `chain 0: mu = 0.3, ...`."""
    numbers = [
        f"{row} = {value:.6g}"
        for name, each in posterior.data_vars.items()
        for row, value in zip(row_names(str(name), each), np.ravel(each.values[0, 0]), strict=True)
    ]
    more = ", ..." if len(numbers) > SHOWN else ""
    first = posterior["chain"].values[0] if "chain" in posterior.coords else 0
    return f"chain {first}: {', '.join(numbers[:SHOWN])}{more}"


def _reason(stats: Any) -> str:
    """Why the chains do not move, and what to do."""
    step = f" (step_size {np.median(stats['step_size']):.2g})" if "step_size" in stats else ""
    if "acceptance_rate" in stats and stats["acceptance_rate"].values.mean() > ACCEPTED:
        return (
            f"The steps are too short to change a number{step}: take a larger step_size, or a "
            "longer warm-up (warmup=), which tunes it."
        )
    return (
        f"Each proposal was refused{step}: the steps are too long, or the log density is infinite "
        "or jumps next to that point. Take a smaller step_size, or a longer warm-up (warmup=), "
        "which tunes it; start elsewhere (initial={name: value}); or state the bounds of unknowns "
        "in their distributions."
    )
