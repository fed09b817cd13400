"""Loop variables: how they are given, called, arranged and typed, for loops of all kinds."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..array import Array
from ..elementwise import WEAK, as_node
from ..errors import KinetographError
from ..node import Inner, Node
from .results import collect, common_dtype, place_text
from .structure import Pattern, flatten

__all__ = ["Variables", "grown_types", "match_result", "names_of_parameters", "read_variables"]


class Variables(NamedTuple):
    """Loop variables: nodes of their first values, and how they are called and arranged."""

    nodes: list[Node]
    weak: list[bool]  # Python numbers, whose type may grow
    paths: list[str]
    pattern: Pattern
    several: bool  # whether they are given to functions as arguments of their own

    def arguments(self, arrays: Sequence[Array]) -> list[Any]:
        """What predicate and body are called with."""
        filled = self.pattern.fill(arrays)
        return list(filled) if self.several else [filled]

    def restored(self, arrays: Sequence[Array]) -> Any:
        """The structure in which the user gave them."""
        return self.pattern.fill(arrays)


def read_variables(
    loop_vars: Any, doing: str, function: Callable[..., Any], spread: bool = True
) -> Variables:
    """The loop variables a user gave, named like the parameters of `function`.

    A list or tuple of them is spread over several parameters, where `spread` says so.
    """
    several = spread and type(loop_vars) in (tuple, list)
    if loop_vars is None or (several and not loop_vars):
        raise ValueError(f"{doing}: 'loop_vars' must be provided{place_text()}")
    names = names_of_parameters(function, len(loop_vars) if several else 1)
    leaves: list[Any] = []
    paths: list[str] = []
    if several:
        for value, name in zip(loop_vars, names, strict=True):
            more, where, _ = flatten(value, name)
            leaves += more
            paths += where
        pattern = flatten(loop_vars)[2]
    else:
        leaves, paths, pattern = flatten(loop_vars, names[0])
    if not leaves:
        raise ValueError(f"{doing}: 'loop_vars' must be provided{place_text()}: there is no array")
    nodes = []
    for leaf, path in zip(leaves, paths, strict=True):
        try:
            nodes.append(as_node(leaf, doing))
        except KinetographError as error:
            raise type(error)(f"{doing}: loop variable {path!r}{place_text()}: {error}") from None
    weak = [isinstance(leaf, WEAK) for leaf in leaves]
    return Variables(nodes, weak, paths, pattern, several)


def names_of_parameters(function: Callable[..., Any], count: int) -> list[str]:
    """The names of the first parameters of a function."""
    try:
        parameters = [
            p.name
            for p in inspect.signature(function).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):
        parameters = []
    return [parameters[i] if i < len(parameters) else f"loop_vars[{i}]" for i in range(count)]


def match_result(
    result: Any, variables: Variables, context: Any, doing: str, what: str
) -> tuple[list[Node], list[bool]]:
    """What a body returned, as nodes in the order of the loop variables."""
    pattern = variables.pattern
    if variables.several:
        count = len(pattern.parts)
        several = type(result) in (tuple, list)
        if count == 1 and not (several and len(result) == 1):
            result, several = [result], True
        amount = len(result) if several else 1
        if amount != count:
            raise ValueError(
                f"{doing}: Number of inputs and outputs of {what} must match loop_vars: {count}, "
                f"{amount}{place_text()}"
            )
        result = type(pattern.fill([None] * len(variables.nodes)))(result)
    found = collect(result, context, f"{doing}: what {what} returns")
    difference = pattern.difference(found.pattern)
    if difference:
        path, before, after = difference
        name = _root(path, variables)
        raise TypeError(
            f"{doing}: {name!r} does not have the same nested structure after one iteration"
            f"{place_text()}: it enters the loop as {before} and {what} returns {after}"
        )
    return found.nodes, found.weak


def _root(path: str, variables: Variables) -> str:
    """The user's name for a place in the structure of the loop variables."""
    if not variables.several:
        first = variables.paths[0] if variables.paths else ""
        return first.split(".")[0].split("[")[0] + path
    place, _, rest = path.removeprefix("[").partition("]")
    return _heads(variables)[int(place)] + rest if place.isdigit() else path or "loop_vars"


def _heads(variables: Variables) -> list[str]:
    """The names of the loop variables at the top of the structure."""
    heads, paths = [], iter(variables.paths)
    for part in variables.pattern.parts:
        count = _leaves(part)
        own = [next(paths) for _ in range(count)]
        heads.append(own[0].split(".")[0].split("[")[0] if own else "?")
    return heads


def _leaves(pattern: Pattern) -> int:
    return 1 if pattern.make is None else sum(map(_leaves, pattern.parts))


def grown_types(
    inners: Sequence[Inner],
    outputs: Sequence[Node],
    weak_outputs: Sequence[bool],
    weak: Sequence[bool],
    doing: str,
) -> list[np.dtype] | None:
    """The types the loop variables need, None where they have them; refuses what cannot be.

    Python numbers take the type of what they meet, also from one trip to the next.
    """
    grown = []
    for inner, node, weak_output, weak_input in zip(
        inners, outputs, weak_outputs, weak, strict=True
    ):
        before, after = inner.dtype, node.dtype
        dtype = common_dtype((before, after), (weak_input, weak_output))
        if dtype is None or (dtype != before and not weak_input):
            raise TypeError(
                f"{doing}: Loop var {inner.label()!r} enters the loop with type {before} "
                f"but has type {after} after 1 iteration{place_text()}; start it with "
                f"that type, or convert it in the body with .astype('{before}')"
            )
        grown.append(dtype)
    return grown if any(t != n.dtype for t, n in zip(grown, inners, strict=True)) else None
