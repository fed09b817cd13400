"""Finite domains of discrete unknowns."""

from dataclasses import dataclass

import numpy as np

from ...distributions.support import WholeNumbers
from ...distributions.variable import Variable
from ...graph.errors import ModelError
from ...graph.messages import describe, site_text
from ...graph.node import Data, Node

__all__ = ["Domain", "domain_of"]


@dataclass(frozen=True)
class Domain:
    """The values of a discrete unknown, and a mask of possible ones.

    The mask says which values each element can have.
    """

    values: np.ndarray
    possible: np.ndarray  # (values, elements)

    def settings(self) -> np.ndarray:
        """The values of the elements: (values, 1 or elements).

        A value that an element cannot have is replaced by a possible one. Outside of its support a
        term may be infinite, and its slope is then NaN even if the term is not added.
        """
        if self.possible.all():
            return self.values[:, None]
        first = self.values[self.possible.argmax(0)]
        return np.where(self.possible, self.values[:, None], first)


def domain_of(variable: Variable) -> Domain:
    """The finite domain of a discrete unknown.

    Raises
    ------
    ModelError
        If the domain is not finite, or not known.
    """
    support = variable.support
    if not isinstance(support, WholeNumbers):
        raise ModelError(
            f"model: {describe(variable)}{site_text(variable)} is a discrete unknown of whole "
            "vectors, which cannot be marginalised; observe it, or use a continuous unknown"
        )
    ends = []
    for bound in (support.lower, support.upper):
        if isinstance(bound, Data):
            bound = bound.value
        if isinstance(bound, Node) or not np.all(np.isfinite(bound)):
            way_out = "observe it, bound it by truncation=, or use a continuous unknown"
            if isinstance(bound, Node):
                way_out = (
                    "give it bounds that are numbers, and exclude values by "
                    "kg.factor(kg.where(allowed, 0.0, -np.inf))"
                )
            raise ModelError(
                f"model: {describe(variable)}{site_text(variable)} is a discrete unknown with "
                "infinitely many values, or with an unknown number of values, which cannot be "
                f"marginalised; {way_out}"
            )
        ends.append(np.broadcast_to(np.asarray(bound, float), variable.shape).reshape(-1))
    low, high = ends
    values = np.arange(int(low.min()), int(high.max()) + 1)
    possible = (values[:, None] >= low) & (values[:, None] <= high)
    return Domain(values, possible)
