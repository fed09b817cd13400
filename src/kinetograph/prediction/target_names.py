"""Names of the requested quantities: a keyword, `name=` or the variable's name."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from ..calls.argument_names import WORDS_BY_PARAMETER
from ..distributions.variable import Variable
from ..graph.array import Array
from ..graph.errors import ModelError
from ..graph.messages import describe, site_text
from ..graph.node import Data, Node
from ..graph.source import place_text
from ..graph.value_texts import in_words
from ..models.model import Model
from ..models.names import assign_names

__all__ = ["named_targets", "names_of_unknowns"]


def named_targets(doing: str, targets: Sequence[Any], named: Mapping[str, Any]) -> dict[Node, str]:
    """The nodes of the targets with their names, in order.

    Raises
    ------
    TypeError
        If a target is not an array, or there is no target.
    ModelError
        If two targets have the same name, or one target has two names.
    """
    if not targets and not named:
        raise TypeError(
            f"{doing}: no targets{place_text()}; give the arrays to compute, as in kg.{doing}(mu)"
        )
    given: dict[Node, str] = {}
    for name, array in ((None, t) for t in targets):
        _check(doing, name, array)
    for name, array in named.items():
        _check(doing, name, array)
        if array.node in given:
            raise ModelError(
                f"{doing}: one array is given two names, {given[array.node]!r} and {name!r}"
            )
        if any(array is t for t in targets) and describe(array.node) != name:
            raise ModelError(
                f"{doing}: one array is given as {describe(array.node)} by position and as {name}="
                f"{place_text()}; give it once"
            )
        given[array.node] = name
    nodes = dict.fromkeys([*(t.node for t in targets), *given])
    return assign_names(nodes, given)


def _check(doing: str, name: str | None, array: Any) -> None:
    """Raise TypeError if a target is not an array, with hints."""
    if not isinstance(array, Array):
        target_text = "a target" if name is None else f"target {name!r}"
        hint = "; give the array itself, not its name" if isinstance(array, str) else ""
        if doing == "predict" and (
            isinstance(array, str)
            or (isinstance(array, (list, tuple)) and all(isinstance(a, str) for a in array))
        ):
            hint = (
                "; kg.predict(model, results) draws all observed data, and "
                "observed=[model['name']] some of them"
            )
        if name == "size" or name in WORDS_BY_PARAMETER["draws"]:
            hint = f"; give the number of draws as draws={array}"
            if doing == "predict":
                hint = "; predict makes one draw for each draw of the results"
        elif name == "var_names":
            hint = "; give the arrays themselves by position, or the data to draw by observed=[...]"
        elif doing == "calculate" and (hasattr(array, "subtree") or isinstance(array, Mapping)):
            hint = f"; give it as values=, as in kg.{doing}(array, values=...)"
        elif hasattr(array, "dims") and hasattr(array, "to_dataset"):
            hint = "; its numbers are computed already: kg.summary(variable) shows draws"
        elif isinstance(array, Model) and doing == "calculate":
            hint = (
                "; give the arrays to compute, as in kg.calculate(model['mu'], values=results); "
                "kg.predict(model, results) draws new data"
            )
        elif type(array) is bool:
            hint = "; keywords name the quantities to compute: leave it out"
        elif name is None and type(array) is int and doing != "predict":
            hint = f"; give the number of draws as draws={array}"
        elif (
            isinstance(array, (list, tuple))
            and array
            and all(isinstance(each, Array) for each in array)
        ):
            hint = f"; give the arrays one by one, as in kg.{doing}(*arrays)"
            if doing == "predict":
                hint = "; give the arrays one by one, as in kg.predict(model, results, *arrays)"
        elif not hint and (
            isinstance(array, (np.ndarray, list, tuple, Mapping)) or hasattr(array, "columns")
        ):
            hint = "; to predict at new data, write the expression: kg.normal(a + b * new, s)"
            if hasattr(array, "columns"):
                hint += "; a model of kg.formula takes frames: model.predict(results, frame)"
        raise TypeError(
            f"{doing}: {target_text} is {in_words(array)}, not a kinetograph array"
            f"{place_text()}{hint}"
        )


def names_of_unknowns(
    nodes: Iterable[Node],
    labels: Mapping[Node, str],
    node_names: Mapping[Node, str] = MappingProxyType({}),
) -> dict[Node, str]:
    """The names of unknowns and data among nodes, and known names.

    The name of an unknown is its own `name=`, else the name that a model or a variable gave it,
    else its label. So the name does not depend on the requested quantities.

    Raises
    ------
    ModelError
        If two have the same name.
    """
    named_nodes = [
        n for n in nodes if isinstance(n, Variable) or (isinstance(n, Data) and not n.literal)
    ]
    called: dict[Node, str] = {
        n: next(iter(n.called))
        for n in named_nodes
        if isinstance(n, Variable) and not n.name and len(n.called) == 1
    }
    used_names = {*node_names.values()}
    for node in named_nodes:
        name = called.get(node) or node.name
        if node not in node_names and name in used_names:
            raise ModelError(
                f"two arrays are named {name!r}: one of the model, and {describe(node)}"
                f"{site_text(node)}; the array of the model is model[{name!r}], or give the other "
                "one another name with name="
            )
    return assign_names(
        dict.fromkeys([*node_names, *named_nodes]), called | dict(node_names), labels
    )
