"""Conversion of graphs to bytes and back, for pickles.

Nodes are written one after the other (see `saving.document`), so that deep graphs need no deep
recursion. Functions given to `kg.lift` are pickled by their names, as Python pickles functions.
"""

import pickle
import types
from typing import Any

from ..errors import KinetographError
from ..saving.document import Document, decode, encode
from ..saving.references import find_function, name_of_function

__all__ = ["graph_from_bytes", "graph_to_bytes"]


def graph_to_bytes(content: Any, doing: str) -> bytes:
    """Convert an object that holds nodes, with their ancestors, to bytes.

    Raises
    ------
    KinetographError
        If a part of it cannot be pickled.
    """
    document = encode(content, foreign=True)
    document = document._replace(functions=[_Imported.of(f) for f in document.functions])
    try:
        return pickle.dumps(tuple(document), protocol=5)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise KinetographError(
            f"{doing}: a part of the graph cannot be pickled: {error}; functions given to "
            "kg.lift must be importable, not lambdas"
        ) from error


class _Imported:
    """A function that is importable under another name than pickle would use.

    Pickle uses `__qualname__`, which a decorator may copy from the wrapped function.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __reduce__(self) -> Any:
        return find_function, (self.name,)

    @classmethod
    def of(cls, function: Any) -> Any:
        """Wrap a function by its name, or return it if not importable."""
        if not callable(function) or isinstance(function, types.FunctionType):
            return function
        try:
            return cls(name_of_function(function))
        except KinetographError:
            return function


def graph_from_bytes(data: bytes, doing: str) -> Any:
    """Restore the object given to `graph_to_bytes`, with new nodes.

    Raises
    ------
    KinetographError
        If the bytes were not made by `graph_to_bytes`.
    """
    try:
        return decode(Document(*pickle.loads(data)))
    except (KinetographError, TypeError) as error:
        raise KinetographError(
            f"{doing} was pickled by another version of kinetograph: {error}"
        ) from error
