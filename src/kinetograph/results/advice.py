"""The record of a finding, and texts that findings share."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph.errors import KinetographWarning
from ..graph.public import public
from .summary import row_names

__all__ = ["Advice", "SamplingWarning", "percent", "quantities", "worst_names"]


class SamplingWarning(KinetographWarning):
    """A problem of a finished run: wrong draws, or too few."""


@public
@dataclass(frozen=True)
class Advice:
    """One finding: its kind, its count, and what to do.

    The count is the number of draws or quantities concerned.
    """

    kind: str  # "not_finite", "nan", "lost_chains", "unsolved", "divergences", ...
    count: int
    message: str


def worst_names(
    posterior: Any,
    bad: dict[str, np.ndarray],
    badness: dict[str, np.ndarray],
    hopeless: float = math.inf,
) -> str:
    """The names of the worst elements, as in the summary: `theta[A]`.

    Of equally bad elements, real numbers are named before discrete states. All elements whose
    badness is at least `hopeless` are equally bad.
    """
    named = []
    for name, flags in bad.items():
        rows = row_names(name, posterior[name])
        values = np.nan_to_num(np.ravel(badness[name]), nan=np.inf)
        discrete = posterior[name].dtype.kind in "biu"
        named += [
            (-min(values[i], hopeless), discrete, -values[i], rows[i])
            for i in np.flatnonzero(flags)
        ]
    named.sort(key=lambda item: item[:3])
    text = ", ".join(name for *_, name in named[:5])
    return text + (f" and {len(named) - 5} more" if len(named) > 5 else "")


def quantities(count: int) -> str:
    """The word with its number."""
    return f"{count} quantit{'y' if count == 1 else 'ies'}"


def percent(count: int, size: int) -> str:
    """A share in percent, with two digits below 100 %."""
    share = 100 * count / size
    return f"{share:.0f} %" if share >= 99 else f"{share:.2g} %"
