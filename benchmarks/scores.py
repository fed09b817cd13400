"""Effective sample sizes of all peers by arviz-stats."""

from pathlib import Path
from typing import Any

import numpy as np
from arviz_stats.base import array_stats

from models import REFERENCE

AXES = {"chain_axis": 0, "draw_axis": 1}


def load(path: Path) -> np.ndarray:
    """All quantities of a run (chain, draw, quantity), ordered by name."""
    with np.load(path) as saved:
        arrays = [saved[name] for name in sorted(saved.files)]
    return np.concatenate([a.reshape(*a.shape[:2], -1) for a in arrays], axis=-1).astype(float)


def score(draws: np.ndarray) -> dict[str, Any]:
    """The worst effective sample sizes and R-hat of one run."""
    return {
        "ess_bulk": float(np.min(array_stats.ess(draws, method="bulk", **AXES))),
        "ess_tail": float(np.min(array_stats.ess(draws, method="tail", prob=(0.05, 0.95), **AXES))),
        "rhat": float(np.max(array_stats.rhat(draws, **AXES))),
    }


def moments(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The means of one run and their standard errors."""
    ess = np.asarray(array_stats.ess(draws, method="mean", **AXES))
    flat = draws.reshape(-1, draws.shape[-1])
    return flat.mean(axis=0), flat.std(axis=0, ddof=1) / np.sqrt(ess)


def pooled(runs: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard errors of several independent runs together."""
    means, errors = (np.stack(part) for part in zip(*runs, strict=True))
    return means.mean(axis=0), np.sqrt((errors**2).sum(axis=0)) / len(runs)


def distances(model: str, runs: dict[str, list[tuple[np.ndarray, np.ndarray]]]) -> dict[str, float]:
    """The largest error of the means of each peer, in standard errors.

    The reference is posteriordb if it has the model, else the pooled draws of the other peers.
    """
    out = {}
    for peer, own in runs.items():
        others = [run for name, part in runs.items() if name != peer for run in part]
        if model in REFERENCE:
            parts = [REFERENCE[model][name] for name in sorted(REFERENCE[model])]
            other = tuple(np.concatenate([np.atleast_1d(p[i]) for p in parts]) for i in (0, 1))
        elif others:
            other = pooled(others)
        else:
            continue
        mean, error = pooled(own)
        out[peer] = float(np.max(np.abs(mean - other[0]) / np.hypot(error, other[1])))
    return out
