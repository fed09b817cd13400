"""Advice on arrays of discrete unknowns that cannot be marginalised by element."""

from collections.abc import Sequence

from ...distributions.variable import Variable
from ...graph.messages import describe, site_text

__all__ = ["CHAIN_ADVICE", "singles_text"]

FEW = 8  # elements of an array that can be written as single unknowns

CHAIN_ADVICE = (
    "for a sequence in which each state depends on the last, write kg.markov_chain, or a loop with "
    "an unknown for each step"
)


def singles_text(arrays: Sequence[Variable]) -> str:
    """Advice to write short arrays as single unknowns, or an empty text."""
    parts = []
    for v in arrays:
        if v.distribution is None or v.size > FEW:
            return ""
        name, family = describe(v), v.distribution.family.name
        stem = name if name.isidentifier() else "unknown"
        singles = ", ".join(f"{stem}_{i} = kg.{family}(...)" for i in (1, 2))
        more = "" if v.size == 2 else ", ..."
        parts.append(f"in place of {name}{site_text(v)}, write {singles}{more}")
    return f"single unknowns can be marginalised together: {'; '.join(parts)}"
