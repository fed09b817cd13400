"""How quantities that are asked for are called: by keyword, by `name=`, or by their variable."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from ..calls.words import OURS
from ..distributions.variable import Variable
from ..graph.array import Array
from ..graph.errors import ModelError
from ..graph.node import Data, Node
from ..graph.source import place_text
from ..graph.text import in_words
from ..models.names import assign_names

__all__ = ["named_targets", "names_of_unknowns"]


def named_targets(doing: str, targets: Sequence[Any], named: Mapping[str, Any]) -> dict[Node, str]:
    """The nodes of the targets with their names, in order.

    Raises
    ------
    TypeError
        If one is no array, or there is none.
    ModelError
        If two have one name, or one has two.
    """
    if not targets and not named:
        raise TypeError(f"{doing}: no targets: give the arrays that are wanted{place_text()}")
    given: dict[Node, str] = {}
    for name, array in ((None, t) for t in targets):
        _check(doing, name, array)
    for name, array in named.items():
        _check(doing, name, array)
        if array.node in given:
            raise ModelError(
                f"{doing}: one array is given two names, {given[array.node]!r} and {name!r}"
            )
        given[array.node] = name
    nodes = dict.fromkeys([*(t.node for t in targets), *given])
    return assign_names(nodes, given)


def _check(doing: str, name: str | None, array: Any) -> None:
    if not isinstance(array, Array):
        what = "a target" if name is None else f"target {name!r}"
        hint = "; give the array itself, not its name" if isinstance(array, str) else ""
        if name == "size" or name in OURS["draws"]:
            hint = f"; the number of draws is given by draws={array}"
            if doing == "predict":
                hint = "; there is one for each draw of the results"
        elif name == "var_names":
            hint = "; arrays are given themselves, by position; data to be drawn by observed=[...]"
        elif hasattr(array, "subtree") or isinstance(array, Mapping):
            hint = f"; it is given by values=, as in kg.{doing}(array, values=...)"
        elif isinstance(array, np.ndarray):
            hint = "; at other data, what follows is written anew: kg.normal(a + b * new, s)"
        raise TypeError(
            f"{doing}: {what} is {in_words(array)}, not a kinetograph array{place_text()}{hint}"
        )


def names_of_unknowns(
    nodes: Iterable[Node],
    labels: Mapping[Node, str],
    known: Mapping[Node, str] = MappingProxyType({}),
) -> dict[Node, str]:
    """The names of unknowns and data among nodes, beside those known.

    An unknown is called as by itself, by a model, by a variable, or else by its label: so the name
    does not depend on what is asked for.

    Raises
    ------
    ModelError
        If two have one name.
    """
    found = [n for n in nodes if isinstance(n, Variable) or (isinstance(n, Data) and not n.literal)]
    called = {
        n: next(iter(n.called))
        for n in found
        if isinstance(n, Variable) and not n.name and len(n.called) == 1
    }
    return assign_names(dict.fromkeys([*known, *found]), called | dict(known), labels)
