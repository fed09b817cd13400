"""The place of divergences: the quantity with the most unusual values there."""

import math
from typing import Any

import numpy as np

from .summary import row_names

__all__ = ["place_of"]

ENOUGH = 10  # divergences from which a place is evidence
CLEAR = 1e-4  # p-value, for all quantities together
MOST = 2000  # elements that are examined
REFERENCE = 1000  # draws, about, with which values are compared
SHARE = 0.75  # of the divergences, which the text describes
UNUSUAL = 0.4  # of all draws, at most, are on the named side of the bound


def place_of(tree: Any, diverging: np.ndarray | None) -> str:
    """A sentence on the place of divergences; empty if unknown.

    For each element of the posterior the mean rank of its values at divergences is compared with
    1/2, the mean rank of any draws, in standard errors of independent draws,

        z = (mean rank - 1/2) sqrt(12 k),  k divergences.

    The element with the largest |z| is named if that is not by chance (Bonferroni).

    Parameters
    ----------
    tree
        Results of a run.
    diverging
        Flags of draws, (chain, draw); None if they are not known.
    """
    if diverging is None or (count := int(diverging.sum())) < ENOUGH:
        return ""
    flags, elements, best = diverging.ravel(), 0, (0.0, "", np.empty(0))
    posterior = tree["posterior"].dataset
    for name, variable in posterior.data_vars.items():
        values = variable.values
        if values.shape[:2] != diverging.shape or values.dtype.kind not in "fiu":
            continue
        rows = values.reshape((flags.size, -1))
        elements += rows.shape[1]
        if not rows.size or elements > MOST or not np.isfinite(rows).all():
            continue
        ranks = _mean_ranks(rows[flags], rows[:: max(1, len(rows) // REFERENCE)])
        scores = (ranks - 0.5) * math.sqrt(12 * count)
        i = int(np.abs(scores).argmax())
        if abs(scores[i]) > abs(best[0]):
            best = float(scores[i]), row_names(str(name), variable)[i], rows[:, i]
    score, label, column = best
    if not label or elements * math.erfc(abs(score) / math.sqrt(2)) > CLEAR:
        return ""
    below = score < 0
    bound = float(np.quantile(column[flags], SHARE if below else 1 - SHARE))
    share = float(np.mean(column <= bound))
    if (share if below else 1 - share) > UNUSUAL:
        return ""
    side, digits = "below" if below else "above", 3 if share > 0.99 else 2
    return (
        f" Three quarters of these draws have {label} {side} {bound:.3g}, the "
        f"{100 * share:.{digits}g} % quantile of all draws."
    )


def _mean_ranks(values: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """The mean ranks of columns of values in a reference.

    A value has the mean of the ranks below and above the values that equal it.
    """
    columns = zip(values.T, np.sort(reference, axis=0).T, strict=True)
    places = [
        np.searchsorted(ordered, column, side).mean()
        for column, ordered in columns
        for side in ("left", "right")
    ]
    return np.reshape(places, (-1, 2)).mean(1) / len(reference)
