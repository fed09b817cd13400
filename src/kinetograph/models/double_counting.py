"""Data that count more than once in a model, though each time was meant for another one.

Likelihoods and factors add up on the unknowns they are about. Whoever writes a second likelihood of
the same data, or a likelihood of the next fold of a cross-validation, with the unknowns of an
earlier model, has a posterior that is too narrow.
"""

from typing import TYPE_CHECKING

import numpy as np

from ..distributions.variable import Distribution, Variable
from ..graph.errors import KinetographWarning
from ..graph.node import Data, Node
from ..graph.source import here, place_text, site_of, warn_user
from .discovery import unknowns_above
from .held import EARLIER, building, statements_of
from .statements import placed, same_given, same_place
from .unused import in_a_list

if TYPE_CHECKING:
    from .model import Model

__all__ = ["warn_of_double_counting"]

# Of n values, k different ones, chance gives the same in the same order once in 2^(n entropy).
CHANCE = 15.0  # bits, from which on equal values are not by chance
TYPED = 4.5  # the same, of real numbers at two lines: of three different ones
LOOKED_AT = 1000  # values

_REMEDY = (
    "each kg.observe and each kg.factor adds a term. For models side by side make each of them in "
    "a function: kg.model(build)"
)

Pair = tuple[Distribution, Data]


def warn_of_double_counting(model: "Model") -> None:
    """Warn of equal values observed twice, and of unknowns that gained terms after a model."""
    pairs = _twice(model)
    if pairs:
        warn_user(f"model: {_observed_twice(model, pairs)}", KinetographWarning)
    if building() is not None:
        return
    said = {likelihood for pair in pairs for likelihood, _ in pair}
    unknowns = [*model.component.unknowns, *model.component.discrete]
    gained = {v: new for v in unknowns if (new := _gained(v))}
    if any(statement not in said for new in gained.values() for statement in new):
        warn_user(f"model: {_has_gained(model, gained)}", KinetographWarning)
    place = site_of(here())
    latest = max((s.serial for v in unknowns for s, _ in statements_of(v)[-1:]), default=-1)
    for v in unknowns:
        EARLIER[v] = latest, place


# Terms that were added after a model was made -----------------------------------------------------


def _gained(v: Variable) -> list[Node]:
    """What was stated about an unknown since a model was made of it that had a term about it."""
    if v not in EARLIER:
        return []
    statements, latest = statements_of(v), EARLIER[v][0]
    if not statements or statements[0][0].serial > latest or statements[-1][0].serial <= latest:
        return []
    return [statement for statement, _ in statements if statement.serial > latest]


def _has_gained(model: "Model", gained: dict[Variable, list[Node]]) -> str:
    names = in_a_list([model.name(v) for v in gained])
    new = list(dict.fromkeys(statement for some in gained.values() for statement in some))
    where = EARLIER[next(iter(gained))][1]
    likelihoods = all(isinstance(statement, Distribution) for statement in new)
    what = "likelihood" if likelihoods else "term"
    count = f"a {what}" if len(new) == 1 else f"{len(new)} {what}s"
    are, have = ("is", "has") if len(gained) == 1 else ("are", "have")
    more = f" and {len(new) - 1} more" if len(new) > 1 else ""
    return (
        f"{names} {are} in the model made at {where} and {have} gained {count} since, "
        f"{placed(new[0])}{more}; this model{place_text()} has the old and the new: {_REMEDY}"
    )


# Equal values -------------------------------------------------------------------------------------


def _twice(model: "Model") -> list[tuple[Pair, Pair]]:
    """Likelihoods of equal values that bear on the same unknowns, each with an earlier one."""
    component = model.component
    by_shape: dict[tuple[int, ...], list[Pair]] = {}
    for pair in zip(component.likelihoods, component.observed, strict=True):
        by_shape.setdefault(pair[1].shape, []).append(pair)
    found = []
    for alike in by_shape.values():
        firsts: dict[object, Pair] = {}
        for pair in alike if len(alike) > 1 else ():
            first = firsts.setdefault(_content(pair[1]), pair)
            if first is not pair and _is_meant(first, pair) and _share(first[0], pair[0]):
                found.append((first, pair))
    return found


def _content(data: Data) -> object:
    """What two data of equal values have in common; numbers one by one may well be equal."""
    return data if data.size < 2 else hash(np.asarray(data.value, float).tobytes())


def _is_meant(first: Pair, second: Pair) -> bool:
    """Whether the values are equal since they are the same data, and not by chance."""
    (a, of_a), (b, of_b) = first, second
    values = np.asarray(of_a.value, float)
    if of_a is of_b:
        return True
    if not np.array_equal(values, np.asarray(of_b.value, float), equal_nan=True):
        return False
    if of_a.variable is not None and of_a.variable == of_b.variable and same_given(a, b):
        return True
    few = values.reshape(-1)[:LOOKED_AT]
    counts = np.unique(few, return_counts=True)[1]
    bits = -float(np.sum(counts * np.log2(counts / few.size)))
    typed = not same_place(a, b) and bool((few != np.round(few)).any())
    return bits >= (TYPED if typed else CHANCE)


def _share(a: Distribution, b: Distribution) -> bool:
    return not {*unknowns_above([a])}.isdisjoint(unknowns_above([b]))


def _observed_twice(model: "Model", pairs: list[tuple[Pair, Pair]]) -> str:
    (a, of_a), (b, of_b) = pairs[0]
    own, other = (data.name or data.variable or model.name(data) for data in (of_a, of_b))
    what = f"{own} is observed twice" if own == other else f"{own} and {other} hold the same values"
    both = unknowns_above([b])
    names = in_a_list([model.name(v) for v in unknowns_above([a]) if v in both])
    more = f", and {len(pairs) - 1} more likewise" if len(pairs) > 1 else ""
    return (
        f"{what}, as {placed(a)} and as {placed(b)}{more}; both count for {names}"
        f"{place_text()}: {_REMEDY}"
    )
