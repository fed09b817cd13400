"""Ordinary differential equations in the graph: `kg.ode.solve`.

The solver is written as a user could write it, in plain Python that `kg.autograph` converts. No
other package of kinetograph imports this one.
"""

from ..graph.public import public_package as _public_package
from .events import Event, Occurrences, Solution
from .solver import solve
from .tableaus import BOSH3, DOPRI5, TSIT5, Tableau

__all__ = ["BOSH3", "DOPRI5", "TSIT5", "Event", "Occurrences", "Solution", "Tableau", "solve"]

_public_package(__name__)
