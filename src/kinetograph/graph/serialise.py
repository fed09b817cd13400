"""Graphs as bytes inside of pickles: what holds nodes, with all they are computed from.

Nodes are written one after the other (see `saving.document`), so that deep graphs need no deep
recursion. Functions given to `kg.lift` are pickled as Python pickles them, by their names.
"""

import pickle
from typing import Any

from .errors import KinetographError
from .saving.document import Document, decode, encode

__all__ = ["graph_from_bytes", "graph_to_bytes"]


def graph_to_bytes(content: Any, doing: str) -> bytes:
    """Anything that holds nodes, with all they are computed from.

    Raises
    ------
    KinetographError
        If something in it cannot be pickled.
    """
    document = encode(content, foreign=True)
    try:
        return pickle.dumps(tuple(document), protocol=5)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise KinetographError(
            f"{doing}: the graph holds something that cannot be pickled: {error}; functions "
            "given to kg.lift must be importable, not lambdas"
        ) from error


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
