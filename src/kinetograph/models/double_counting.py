"""Warnings about data that probably count twice in a model by mistake.

Likelihoods and factors of the same unknowns add up. If a user writes a second likelihood of the
same data, or a likelihood of the next fold of a cross-validation, with the unknowns of an earlier
model, the posterior is too narrow.
"""

from typing import TYPE_CHECKING

import numpy as np

from ..distributions.variable import Distribution, Variable
from ..graph.errors import KinetographWarning
from ..graph.node import Data, Node
from ..graph.source import here, place_text, site_of, warn_user
from .discovery import unknowns_above
from .statement_store import EARLIER, building, statements_of
from .statements import placed, same_given, same_place
from .unused_data import in_a_list

if TYPE_CHECKING:
    from .model import Model

__all__ = ["warn_of_double_counting"]

# n values with a given entropy are equal by chance, in the same order, once in 2^(n entropy) cases.
CHANCE = 15.0  # bits; equal values with at least this information are not a coincidence
TYPED = 4.5  # bits; the same limit for real numbers from two lines: three different numbers
COMPARED = 1000  # number of values that are compared

_REMEDY = (
    "each kg.observe and each kg.factor adds a term. To have several models, make each of them in "
    "its own function: kg.model(build)"
)

Pair = tuple[Distribution, Data]


def warn_of_double_counting(model: "Model") -> None:
    """Warn of values observed twice, and of terms added after a model."""
    pairs = _twice(model)
    if pairs:
        warn_user(f"model: {_observed_twice(model, pairs)}", KinetographWarning)
    if building() is not None:
        return
    reported = {likelihood for pair in pairs for likelihood, _ in pair}
    unknowns = [*model.component.unknowns, *model.component.discrete]
    added = {v: new for v in unknowns if (new := _gained(v))}
    if any(statement not in reported for new in added.values() for statement in new):
        warn_user(f"model: {_has_gained(model, added)}", KinetographWarning)
    place = site_of(here())
    latest = max((s.serial for v in unknowns for s, _ in statements_of(v)[-1:]), default=-1)
    for v in unknowns:
        EARLIER[v] = latest, place


# Terms that were added after an earlier model was made --------------------------------------------


def _gained(v: Variable) -> list[Node]:
    """The statements about an unknown that are newer than an earlier model.

    The list is empty if no earlier model had a statement about the unknown.
    """
    if v not in EARLIER:
        return []
    statements, latest = statements_of(v), EARLIER[v][0]
    if not statements or statements[0][0].serial > latest or statements[-1][0].serial <= latest:
        return []
    return [statement for statement, _ in statements if statement.serial > latest]


def _has_gained(model: "Model", added: dict[Variable, list[Node]]) -> str:
    """The text of the warning about terms added after a model."""
    names = in_a_list([model.name(v) for v in added])
    new = list(
        dict.fromkeys(statement for statements in added.values() for statement in statements)
    )
    where = EARLIER[next(iter(added))][1]
    likelihoods = all(isinstance(statement, Distribution) for statement in new)
    kind = "likelihood" if likelihoods else "term"
    count = f"a {kind}" if len(new) == 1 else f"{len(new)} {kind}s"
    are, have = ("is", "has") if len(added) == 1 else ("are", "have")
    more = f" and {len(new) - 1} more" if len(new) > 1 else ""
    return (
        f"{names} {are} in the model made at {where} and {have} gained {count} since, "
        f"{placed(new[0])}{more}; this model{place_text()} has the old and the new terms: {_REMEDY}"
    )


# Equal values -------------------------------------------------------------------------------------


def _twice(model: "Model") -> list[tuple[Pair, Pair]]:
    """Pairs of likelihoods of equal values that share unknowns."""
    component = model.component
    by_shape: dict[tuple[int, ...], list[Pair]] = {}
    for pair in zip(component.likelihoods, component.observed, strict=True):
        by_shape.setdefault(pair[1].shape, []).append(pair)
    twice = []
    for same_shape in by_shape.values():
        firsts: dict[object, Pair] = {}
        for pair in same_shape if len(same_shape) > 1 else ():
            first = firsts.setdefault(_content(pair[1]), pair)
            if first is not pair and _is_meant(first, pair) and _share(first[0], pair[0]):
                twice.append((first, pair))
    return twice


def _content(data: Data) -> object:
    """A key that data with equal values share.

    Single numbers are often equal by chance, so each has its own key.
    """
    return data if data.size < 2 else hash(np.asarray(data.value, float).tobytes())


def _is_meant(first: Pair, second: Pair) -> bool:
    """Whether equal values are the same data, and not equal by chance."""
    (a, of_a), (b, of_b) = first, second
    values = np.asarray(of_a.value, float)
    if of_a is of_b:
        return True
    if not np.array_equal(values, np.asarray(of_b.value, float), equal_nan=True):
        return False
    if of_a.variable is not None and of_a.variable == of_b.variable and same_given(a, b):
        return True
    compared = values.reshape(-1)[:COMPARED]
    counts = np.unique(compared, return_counts=True)[1]
    bits = -float(np.sum(counts * np.log2(counts / compared.size)))
    typed = not same_place(a, b) and bool((compared != np.round(compared)).any())
    return bits >= (TYPED if typed else CHANCE)


def _share(a: Distribution, b: Distribution) -> bool:
    """Whether two likelihoods depend on a common unknown."""
    return not {*unknowns_above([a])}.isdisjoint(unknowns_above([b]))


def _observed_twice(model: "Model", pairs: list[tuple[Pair, Pair]]) -> str:
    """The text of the warning about values observed twice."""
    (a, of_a), (b, of_b) = pairs[0]
    x, y = (data.name or data.variable or model.name(data) for data in (of_a, of_b))
    problem = f"{x} is observed twice" if x == y else f"{x} and {y} hold the same values"
    unknowns_of_b = unknowns_above([b])
    names = in_a_list([model.name(v) for v in unknowns_above([a]) if v in unknowns_of_b])
    more = f", and {len(pairs) - 1} more such pairs" if len(pairs) > 1 else ""
    return (
        f"{problem}, as {placed(a)} and as {placed(b)}{more}; both count for {names}"
        f"{place_text()}: {_REMEDY}"
    )
