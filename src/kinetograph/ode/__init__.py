"""Ordinary differential equations in the graph: `kg.ode.solve`.

Written as a user would write it, in plain Python that `kg.autograph` converts; nothing here is
known to the rest of kinetograph.
"""

from .events import Event, Occurrences, Solution
from .solver import solve
from .tableaus import DOPRI5, TSIT5, Tableau

__all__ = ["DOPRI5", "TSIT5", "Event", "Occurrences", "Solution", "Tableau", "solve"]
