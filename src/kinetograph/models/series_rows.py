"""Arrays whose rows are the steps of a series.

    kg.random_walk(sd, 80), kg.cumsum(sd * z), kg.scan(step, 0.0, z)
    x[1:] - x[:-1], np.diff(x), kg.observe(y[1:], kg.normal(rho * y[:-1], sd))

and the numbers of a loop in which each number is computed from the number before.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ..distributions.ar import AR
from ..distributions.markov_chain import MARKOV_CHAIN
from ..distributions.random_walk import RANDOM_WALK
from ..distributions.variable import Distribution, Variable
from ..graph.control.scan import Scan
from ..graph.node import PART, Apply, Data, Node, ancestors
from ..graph.operations.indexing import SLICE
from ..graph.operations.reductions import CUMULATIVE
from ..graph.operations.shaping import DIFF, STACK
from ..graph.rewriting.gaps import all_steps

__all__ = ["accumulated", "is_series", "series_of"]

_FAMILIES = (AR, MARKOV_CHAIN, RANDOM_WALK)
_STEPS = 3  # of a loop that are compared


def is_series(node: Node) -> bool:
    """Whether a distribution is of vectors whose elements are steps."""
    return isinstance(node, Distribution) and node.family in _FAMILIES


def series_of(
    nodes: Sequence[Node],
    observed: Mapping[Node, Node],
    followed: Callable[[Node], Iterable[Node]],
) -> dict[Node, str]:
    """The arrays whose rows are steps, each with a text.

    `observed` has the data of the likelihoods, `followed` the operands that have a node's rows.
    """
    series = dict(_of_numbers(observed))
    lags: dict[Node, set[tuple[Node, int]]] = {}
    for node in nodes:
        if text := _series_text(node):
            series[node] = text
        if isinstance(node, Apply) and node.operation is DIFF and node.attributes["axis"] == 0:
            series[node.parents[0]] = "np.diff"
        data = observed.get(node)
        lags[node] = {lag for operand in followed(node) for lag in lags.get(operand, ())}
        lags[node] |= _lag(node)
        first = lags[node] if data is None else _lag(data.source) if isinstance(data, Data) else ()
        for base, start in first:
            if any(other is base and start > lag for other, lag in lags[node]):
                series[base] = "a lag"
    return series


def accumulated(node: Node) -> tuple[Node, ...]:
    """The operands whose rows a running sum or a scan reads."""
    if not isinstance(node, Apply):
        return ()
    if node.operation in CUMULATIVE.values() and len(node.shape) == len(node.parents[0].shape):
        return node.parents if node.attributes["axis"] == 0 else ()
    scan = node.parents[0] if node.operation is PART else None
    if not isinstance(scan, Scan) or scan.reverse or node.attributes["place"] < scan.carried:
        return ()
    return scan.parents[scan.carried : scan.carried + scan.rows]


def _series_text(node: Node) -> str:
    """The function or loop that makes rows steps; else empty."""
    if isinstance(node, Distribution):
        return f"kg.{node.family.name}" if is_series(node) and len(node.shape) == 1 else ""
    if not isinstance(node, Apply):
        return ""
    if accumulated(node):
        return "kg.scan" if node.operation is PART else f"kg.{node.operation.name}"
    in_loop = node.operation is STACK and node.attributes["axis"] == 0 and _follow(node.parents)
    return "a loop" if in_loop else ""


def _follow(column: Sequence[Node]) -> bool:
    """Whether each of the last numbers is computed from the number before."""
    last = tuple(map(_inner, column[-_STEPS:]))
    return len({*last}) == _STEPS and all_steps(last, _parents) is not None


def _inner(node: Node) -> Node:
    """The only unknown operand, as h in exp(2 * h)."""
    while isinstance(node, Apply) and node.operation.elementwise:
        varying = [n for n in node.parents if not (isinstance(n, Data) and n.literal)]
        if len(varying) != 1:
            break
        (node,) = varying
    return node


def _parents(node: Node) -> Sequence[Node]:
    law = node.distribution if isinstance(node, Variable) else None
    return node.parents if law is None else law.parents


def _lag(node: Node | None) -> set[tuple[Node, int]]:
    """The sliced array and the first row, or empty."""
    if not isinstance(node, Apply) or node.operation is not SLICE or not node.shape:
        return set()
    base, part = node.parents[0], node.attributes["template"][0]
    if not isinstance(part, slice) or part.step not in (None, 1):
        return set()
    return {(base, part.indices(base.shape[0])[0])}


def _of_numbers(observed: Mapping[Node, Node]) -> Iterator[tuple[Node, str]]:
    """The data whose elements are observed in a loop over time."""
    numbers: dict[Node, dict[int, Node]] = defaultdict(dict)
    for likelihood, data in observed.items():
        place = _place(data.source) if isinstance(data, Data) else None
        if place is not None and not likelihood.shape:
            numbers[place[0]][place[1]] = likelihood
    for base, likelihoods in numbers.items():
        places = sorted(likelihoods)
        if len(places) < _STEPS:
            continue
        columns = zip(*(likelihoods[place].parents for place in places), strict=False)
        read = [_place(node) for node in ancestors([likelihoods[places[-1]]])]
        has_lag = any(p is not None and p[0] is base and p[1] < places[-1] for p in read)
        if has_lag or any(map(_follow, columns)):
            yield base, "a loop"


def _place(node: Node | None) -> tuple[Node, int] | None:
    """The array and the place of a number, as in y[3]."""
    if not isinstance(node, Apply) or node.operation is not SLICE or node.shape:
        return None
    (place, *rest) = node.attributes["template"]
    return None if rest or not isinstance(place, int) else (node.parents[0], place)
