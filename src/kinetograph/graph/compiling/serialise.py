"""Graphs as bytes inside of pickles: what holds nodes, with all they are computed from.

Nodes are written one after the other (see `saving.document`), so that deep graphs need no deep
recursion. Functions given to `kg.lift` are pickled as Python pickles them, by their names.
"""

import pickle
import types
from typing import Any

from ..errors import KinetographError
from ..saving.document import Document, decode, encode
from ..saving.references import find_function, name_of_function

__all__ = ["graph_from_bytes", "graph_to_bytes"]


def graph_to_bytes(content: Any, doing: str) -> bytes:
    """Anything that holds nodes, with all they are computed from.

    Raises
    ------
    KinetographError
        If something in it cannot be pickled.
    """
    document = encode(content, foreign=True)
    document = document._replace(functions=[_Imported.of(f) for f in document.functions])
    try:
        return pickle.dumps(tuple(document), protocol=5)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise KinetographError(
            f"{doing}: the graph holds something that cannot be pickled: {error}; functions "
            "given to kg.lift must be importable, not lambdas"
        ) from error


class _Imported:
    """A function that is found by its name, although pickle does not know it by that.

    Those that a decorator has wrapped have the name of what is inside.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __reduce__(self) -> Any:
        return find_function, (self.name,)

    @classmethod
    def of(cls, function: Any) -> Any:
        """The function by its name, or itself where it has none."""
        if not callable(function) or isinstance(function, types.FunctionType):
            return function
        try:
            return cls(name_of_function(function))
        except KinetographError:
            return function


def graph_from_bytes(data: bytes, doing: str) -> Any:
    """What `graph_to_bytes` was given, with new nodes.

    Raises
    ------
    KinetographError
        If these are no such bytes.
    """
    try:
        return decode(Document(*pickle.loads(data)))
    except (KinetographError, TypeError) as error:
        raise KinetographError(
            f"{doing} was pickled by another version of kinetograph: {error}"
        ) from error
