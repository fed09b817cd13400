"""The function `kg.explain`: reports on the loops of a function or model.

A report shows how a loop is differentiated and how many trips it made. It comes from the plans
noted during lowering, so it describes the compiled program.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from .control.control_node import Control, Looping
from .control.loops import While
from .control.scan import Scan
from .public import public
from .rewriting.rowwise import Rowwise
from .trips import Capacity

__all__ = ["Explanation", "LoopReport", "explain"]


class Explained(Protocol):
    """An object with loops, their capacity and the trips of its runs."""

    @property
    def capacity(self) -> Capacity:
        """The capacities of loops."""
        ...

    @property
    def most_trips(self) -> dict[Looping, int]:
        """The most trips of each loop in the runs so far."""
        ...

    def controls(self) -> Iterator[Control]:
        """All nodes with subgraphs, including nested ones."""
        ...

    def note_plans(self) -> None:
        """Note the plans of loops, by another lowering if needed.

        A program that came from the cache was not lowered in this process.
        """
        ...


@dataclass(frozen=True)
class LoopReport:
    """A report on one loop.

    Attributes
    ----------
    name, site
        The name of the loop, and the file and line where it was written.
    strategy
        `"stack"`, `"checkpoint"`, `"forward"` or `"none"` for a while loop, `"scan"` for a scan;
        `"not differentiated"` if no reverse derivative is taken.
    bound
        The known bound on the number of trips; None if no bound is known.
    rows, bytes
        The number of trips that fit the buffer of the backward pass, and the buffer's size.
    reason
        The reason for the strategy.
    most_trips
        The largest number of trips of an execution so far; None before the first run.
    """

    name: str
    site: str
    strategy: str
    bound: int | None
    rows: int
    bytes: int
    reason: str
    most_trips: int | None

    def __str__(self) -> str:
        bound = "no bound" if self.bound is None else f"at most {self.bound} trips"
        trips = "not run yet" if self.most_trips is None else f"{self.most_trips} trips so far"
        room = f", {self.rows} rows, {self.bytes} bytes" if self.rows else ""
        reason = f" ({self.reason})" if self.reason else ""
        return f"{self.name}  {self.site}  {bound}, {trips}\n    {self.strategy}{room}{reason}"


@public
@dataclass(frozen=True)
class Explanation:
    """The reports on all loops of a function or model."""

    loops: tuple[LoopReport, ...]

    def __getitem__(self, name: str) -> LoopReport:
        for report in self.loops:
            if report.name == name:
                return report
        names = ", ".join(report.name for report in self.loops) or "none"
        raise KeyError(f"no loop is called {name!r}; the loops are: {names}")

    def __str__(self) -> str:
        return "\n".join(map(str, self.loops)) or "no loops"

    __repr__ = __str__


@public
def explain(fn: Explained) -> Explanation:
    """Report how each loop is differentiated and how many trips it made.

    Parameters
    ----------
    fn
        A compiled function or a model, from `kg.compile` or `kg.model`. Trips are known after the
        function has been called or the model has been sampled.

    Returns
    -------
    Explanation
        A report for each loop: `explanation["name"].strategy`; prints as a table.

    Raises
    ------
    TypeError
        If `fn` is neither a compiled function nor a model.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.placeholder(name="x")
    >>> (y,) = kg.while_loop(lambda v: v < 100, lambda v: v * v, [x], name="squaring")
    >>> f = kg.compile([x], kg.gradients(y, x))
    >>> float(f(2.0))
    1024.0
    >>> report = kg.explain(f)["squaring"]
    >>> report.strategy, report.bytes, report.most_trips
    ('stack', 512, 3)
    """
    if not hasattr(fn, "controls"):
        raise TypeError(
            "explain: expected a function from kg.compile or a model from kg.model, got "
            f"{type(fn).__name__}"
        )
    fn.note_plans()
    reports = [_report(node, fn) for node in fn.controls() if isinstance(node, (While, Scan))]
    return Explanation(tuple(reports))


def _report(node: While | Scan, fn: Any) -> LoopReport:
    name, site = node.contexts[0].name, str(node.site or "")
    if isinstance(node, Scan):
        most_trips = 0 if node.reverse else node.length
        filled = map(node.input_name, Rowwise(node, most=most_trips).filled_places)
        reason = "; ".join(
            ["the number of rows is known", *(f"{x} is computed row by row" for x in filled)]
        )
        return LoopReport(name, site, "scan", node.length, 0, 0, reason, node.length)
    most_trips = fn.most_trips.get(node)
    plan = fn.capacity.plans.get(node)
    if node.grad == "none":
        return LoopReport(name, site, "none", node.bound, 0, 0, 'grad="none"', most_trips)
    if plan is None:
        return LoopReport(name, site, "not differentiated", node.bound, 0, 0, "", most_trips)
    return LoopReport(
        name, site, plan.strategy, node.bound, plan.rows, plan.bytes, plan.reason, most_trips
    )
