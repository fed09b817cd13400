"""`kg.explain`: how the loops of a function or model are differentiated, and their trips.

A report is made of what lowering noted, so it tells what is compiled, not what might be.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from .control.control import Control, Looping
from .control.loops import While
from .control.rowwise import Rowwise
from .control.scan import Scan
from .trips import Capacity

__all__ = ["Explanation", "LoopReport", "explain"]


class Explained(Protocol):
    """What can be explained: it has loops, room and the trips its runs made."""

    capacity: Capacity
    most_trips: dict[Looping, int]

    def controls(self) -> Iterator[Control]:
        """All nodes with subgraphs, also those inside of others."""
        ...

    def note_plans(self) -> None:
        """Lower once more, for the notes, what may have come ready from the cache of programs."""
        ...


@dataclass(frozen=True)
class LoopReport:
    """One loop.

    Attributes
    ----------
    name, site
        Its name, and the file and line where it was written.
    strategy
        `"stack"`, `"checkpoint"`, `"forward"` or `"none"` for a while loop, `"scan"` for a scan;
        `"not differentiated"` where no reverse derivative is taken of it.
    bound
        The known bound on its trips; None where there is none.
    rows, bytes
        The trips the backward pass has room for, and the size of that buffer.
    reason
        Why this strategy.
    most_trips
        The most trips an execution has made so far; None before the first run.
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


@dataclass(frozen=True)
class Explanation:
    """The loops of a compiled function or a model; prints as a table."""

    loops: tuple[LoopReport, ...]

    def __getitem__(self, name: str) -> LoopReport:
        for report in self.loops:
            if report.name == name:
                return report
        known = ", ".join(report.name for report in self.loops) or "none"
        raise KeyError(f"no loop is called {name!r}; the loops are: {known}")

    def __str__(self) -> str:
        return "\n".join(map(str, self.loops)) or "no loops"

    __repr__ = __str__


def explain(fn: Explained) -> Explanation:
    """How each loop of a compiled function or a model is differentiated, and what it has done.

    Parameters
    ----------
    fn
        What `kg.compile` or `kg.model` gave. Trips are known after it has been called or sampled.

    Returns
    -------
    Explanation
        A report for each loop: `explanation["name"].strategy`; prints as a table.

    Raises
    ------
    TypeError
        If `fn` is neither.

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
            f"explain: expected what kg.compile or kg.model gives, got {type(fn).__name__}"
        )
    fn.note_plans()
    reports = [_report(node, fn) for node in fn.controls() if isinstance(node, (While, Scan))]
    return Explanation(tuple(reports))


def _report(node: While | Scan, fn: Any) -> LoopReport:
    name, site = node.contexts[0].name, str(node.site or "")
    if isinstance(node, Scan):
        most = 0 if node.reverse else node.length
        filled = map(node.input_name, Rowwise(node, most=most).filled)
        why = "; ".join(["the number of rows is known", *(f"{x} goes row by row" for x in filled)])
        return LoopReport(name, site, "scan", node.length, 0, 0, why, node.length)
    most = fn.most_trips.get(node)
    plan = fn.capacity.plans.get(node)
    if node.grad == "none":
        return LoopReport(name, site, "none", node.bound, 0, 0, "asked for", most)
    if plan is None:
        return LoopReport(name, site, "not differentiated", node.bound, 0, 0, "", most)
    return LoopReport(
        name, site, plan.strategy, node.bound, plan.rows, plan.bytes, plan.reason, most
    )
