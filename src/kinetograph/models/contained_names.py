"""Names of objects in dictionaries, lists and other objects of the user.

`effects["age"]` is called `age`, `self.mu` is called `mu`, and `betas[0]` is called `betas_0`.
"""

import dataclasses
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, NamedTuple

from ..graph.tables import usable_name

__all__ = ["contained_names"]

DEEPEST = 3  # containers within containers
SEARCHED = 20_000  # objects that are looked at
_IPYTHON = {"In", "Out"}  # variables that hold what was typed and computed
_LEAVES = (ModuleType, type, FunctionType, BuiltinFunctionType, str, bytes, int, float, complex)
_LIBRARIES = {"kinetograph", "numpy", "pandas", "polars", "xarray", "jax", "jaxlib", "IPython"}


class _Place(NamedTuple):
    """The short and the full name of an object, and its container."""

    short: str
    full: str
    container: int


def contained_names(
    scope: Mapping[str, Any], key: Callable[[Any], Any], used: set[str]
) -> dict[Any, str]:
    """The names of objects within the containers of a scope.

    An object in several places with different names has no name. If short names clash, with each
    other or with `used` names, all objects of these containers get their full names.

    Parameters
    ----------
    scope
        The user's variables.
    key
        Identifies an object whose name is wanted; None for other objects.
    used
        Names that are in use.

    Returns
    -------
    dict
        The name of each key.
    """
    places: dict[Any, set[_Place]] = {}
    for item, place in _contents(scope):
        identity = key(item)
        if identity is not None:
            places.setdefault(identity, set()).add(place)
    counts = Counter(w for options in places.values() for w in {p.short for p in options})
    clashing = {
        p.container
        for options in places.values()
        for p in options
        if counts[p.short] > 1 or p.short in used
    }
    names = {
        identity: {p.full if p.container in clashing else p.short for p in options}
        for identity, options in places.items()
    }
    counts = Counter(word for options in names.values() for word in options)
    single = {k: min(options) for k, options in names.items() if len(options) == 1}
    return {k: word for k, word in single.items() if counts[word] == 1 and word not in used}


def _contents(scope: Mapping[str, Any]) -> Iterator[tuple[Any, _Place]]:
    """The objects in the containers of a scope, breadth first."""
    waiting = deque((value, name, 1) for name, value in scope.items() if name not in _IPYTHON)
    searched, count = set(), 0
    while waiting and count < SEARCHED:
        container, name, depth = waiting.popleft()
        if isinstance(container, _LEAVES) or id(container) in searched:
            continue
        searched.add(id(container))
        for word, item in _items(container):
            count += 1
            full = f"{name}_{word}"
            place = _Place(full if isinstance(word, int) else word, full, id(container))
            yield item, place
            if depth < DEEPEST:
                waiting.append((item, place.short, depth + 1))


def _items(container: Any) -> Iterator[tuple[str | int, Any]]:
    """The items of a container by key, place or attribute.

    Properties are not called."""
    if isinstance(container, dict):
        named = container.copy()
    elif isinstance(container, (list, tuple)) and not hasattr(container, "_fields"):
        named = dict(enumerate(container[:SEARCHED]))
    elif type(container).__module__.partition(".")[0] in _LIBRARIES:
        return
    elif isinstance(container, tuple):  # a named tuple
        named = dict(zip(container._fields, container))  # type: ignore[attr-defined]
    else:
        named = dict(getattr(container, "__dict__", {}))
        slots = dataclasses.fields(container) if dataclasses.is_dataclass(container) else ()
        named |= {f.name: getattr(container, f.name) for f in slots if hasattr(container, f.name)}
    for word, item in named.items():
        text = isinstance(word, str) and not word.startswith("_") and usable_name(word)
        if text or (isinstance(word, int) and not isinstance(word, bool)):
            yield word, item
