"""Loop variables of all kinds of loops: names, structure and types."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..array import Array
from ..errors import KinetographError
from ..integer_checks import demand_fits
from ..node import Inner, Node, ancestors
from ..operations.elementwise import astype, promoted
from ..operations.operands import as_variable, type_of
from ..source import place_text
from .results import collect, common_dtype
from .structure import Structure, flatten

__all__ = [
    "Variables",
    "grown",
    "grown_type",
    "match_result",
    "names_of_parameters",
    "read_variables",
]


class Variables(NamedTuple):
    """Loop variables: first values, names and structure."""

    nodes: list[Node]
    growing: list[bool]  # whether it started as a Python number, whose type may grow
    paths: list[str]
    structure: Structure
    several: bool  # whether functions receive them as separate arguments

    def arguments(self, arrays: Sequence[Array]) -> list[Any]:
        """The arguments of predicate and body."""
        filled = self.structure.fill(arrays)
        return list(filled) if self.several else [filled]

    def restored(self, arrays: Sequence[Array]) -> Any:
        """The arrays in the structure that the user passed."""
        return self.structure.fill(arrays)


def read_variables(
    loop_vars: Any, doing: str, function: Callable[..., Any], spread: bool = True
) -> Variables:
    """Read the loop variables from the user's argument.

    They are named like the parameters of `function`.

    If `spread` is true, the elements of a list or tuple are passed as separate arguments.
    """
    several = spread and type(loop_vars) in (tuple, list)
    names = names_of_parameters(function, len(loop_vars) if several else 1)
    leaves: list[Any] = []
    paths: list[str] = []
    if several:
        for value, name in zip(loop_vars, names, strict=True):
            new_leaves, new_paths, _ = flatten(value, name)
            leaves += new_leaves
            paths += new_paths
        structure = flatten(loop_vars)[2]
    else:
        leaves, paths, structure = flatten(loop_vars, names[0])
    if not leaves:
        raise ValueError(f"{doing}: 'loop_vars' must be provided{place_text()}: there is no array")
    nodes = []
    for leaf, path in zip(leaves, paths, strict=True):
        try:
            nodes.append(as_variable(leaf, doing))
        except KinetographError as error:
            raise type(error)(f"{doing}: loop variable {path!r}{place_text()}: {error}") from None
    return Variables(nodes, [node.weak for node in nodes], paths, structure, several)


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
    result: Any, variables: Variables, context: Any, doing: str, function_name: str
) -> list[Node]:
    """The nodes of a body's result, ordered like the variables."""
    structure = variables.structure
    if variables.several:
        count = len(structure.parts)
        several = type(result) in (tuple, list)
        if count == 1 and not (several and len(result) == 1):
            result, several = [result], True
        result_count = len(result) if several else 1
        if result_count != count:
            raise ValueError(
                f"{doing}: Number of inputs and outputs of {function_name} must match loop_vars: "
                f"{count}, {result_count}{place_text()}"
            )
        result = type(structure.fill([None] * len(variables.nodes)))(result)
    returned = collect(result, context, f"{doing}: what {function_name} returns")
    difference = structure.difference(returned.structure)
    if difference:
        path, before, after = difference
        name = _root(path, variables)
        raise TypeError(
            f"{doing}: {name!r} does not have the same nested structure after one iteration"
            f"{place_text()}: it enters the loop as {before} and {function_name} returns {after}"
        )
    return returned.nodes


def _root(path: str, variables: Variables) -> str:
    """The user's name for a path in the loop variables."""
    if not variables.several:
        first = variables.paths[0] if variables.paths else ""
        return first.split(".")[0].split("[")[0] + path
    place, _, tail = path.removeprefix("[").partition("]")
    return _heads(variables)[int(place)] + tail if place.isdigit() else path or "loop_vars"


def _heads(variables: Variables) -> list[str]:
    """The names of the loop variables at the top of the structure."""
    heads, paths = [], iter(variables.paths)
    for part in variables.structure.parts:
        count = _leaves(part)
        variable_paths = [next(paths) for _ in range(count)]
        heads.append(variable_paths[0].split(".")[0].split("[")[0] if variable_paths else "?")
    return heads


def _leaves(structure: Structure) -> int:
    return 1 if structure.make is None else sum(map(_leaves, structure.parts))


def grown_type(before: Node, after: Node, growing: bool) -> np.dtype | None:
    """The type that a loop variable needs, or None.

    `before` and `after` are its nodes before and after an iteration.

    A Python number takes the type of the values that it is combined with, also from one trip to the
    next. Returns None if no type fits.
    """
    dtype = common_dtype((before, after))
    if dtype is None and growing and not before.weak:
        dtype = promoted(before.dtype, type_of(after))
    return dtype if growing or dtype == before.dtype else None


def grown(
    variables: Variables,
    inners: Sequence[Inner],
    outputs: Sequence[Node],
    adapted: bool,
    doing: str,
) -> Variables | None:
    """The variables in the types they need, or None.

    None means that they already have these types.

    `adapted` is true if a Python number took the type of another value in the loop. A variable that
    is a Python number before an iteration but not after it is not one in the next iteration. If
    this may matter, the loop has to be built again. Raises TypeError if no type fits a variable.
    """
    types = []
    for inner, node, growing in zip(inners, outputs, variables.growing, strict=True):
        dtype = grown_type(inner, node, growing)
        if dtype is None:
            raise TypeError(
                f"{doing}: Loop var {inner.label()!r} enters the loop with type {inner.dtype} "
                f"but has type {node.dtype} after 1 iteration{place_text()}; start it with "
                f"that type, or convert it in the body with .astype('{inner.dtype}')"
            )
        types.append(dtype)
    same = all(t == n.dtype for t, n in zip(types, inners, strict=True))
    pairs = list(zip(inners, outputs, strict=True))
    hardened = {n for n, after in pairs if n.weak and not after.weak and n.dtype.kind != "b"}
    if same and hardened and not adapted:
        weak = [after for before, after in pairs if before.weak and after.weak]
        adapted = not hardened.isdisjoint(ancestors(weak))
    if same and not (hardened and adapted):
        return None
    nodes = [
        _started(node, dtype, inner.weak and after.weak)
        for node, dtype, (inner, after) in zip(variables.nodes, types, pairs, strict=True)
    ]
    return variables._replace(nodes=nodes)


def _started(node: Node, dtype: np.dtype, weak: bool) -> Node:
    """The first value of a loop variable in the needed type."""
    if node.dtype == dtype and node.weak == weak:
        return node
    if node.weak and node.dtype.kind == "i" and dtype.kind in "iu":
        demand_fits(node, dtype)
    converted = astype(node, dtype)
    converted.weak = weak
    return converted
