"""A warning about equations that a Python loop solves one by one."""

from collections import Counter
from typing import TYPE_CHECKING

from ..graph.control.loops import While
from ..graph.errors import KinetographWarning
from ..graph.node import Apply
from ..graph.source import warn_user

if TYPE_CHECKING:
    from .model import Model

__all__ = ["warn_of_repeated_solutions"]

MOST = 5  # solutions at one line; more of them give a warning


def warn_of_repeated_solutions(model: "Model") -> None:
    """Warn if one line solves many equations, one by one."""
    nodes = model.component.nodes
    solvers = {n.site: n.operation.search for n in nodes if isinstance(n, Apply) and n.site}
    solvers = {site: solver for site, solver in solvers.items() if solver}
    loops = Counter((n.site, n.title) for n in nodes if isinstance(n, While) and n.site in solvers)
    for (site, _), count in loops.most_common(1):
        if count > MOST:
            warn_user(
                f"model: {solvers[site]} is called {count} times at {site}, and each solution is "
                "compiled on its own, which takes seconds. Solve all equations in one call: with "
                "arrays in y0 that have an element for each equation, or, if each has its own "
                "times, with kg.vmap",
                KinetographWarning,
            )
