"""A model as bytes that cannot run code, and back: for the stores of runs."""

from collections.abc import Collection

from ..graph.errors import KinetographError
from ..graph.saving.document import decode, encode
from ..graph.saving.file import from_bytes, to_bytes
from .model import Model

__all__ = ["model_from_bytes", "model_to_bytes"]


def model_to_bytes(model: Model) -> bytes:
    """The model with its graph and data.

    Raises
    ------
    KinetographError
        If its graph holds something that cannot be written, such as a lambda given to `kg.lift`.
    """
    return to_bytes(encode(model.content()))


def model_from_bytes(data: bytes, trust: Collection[str], whose: str) -> Model:
    """The model that was written, with new nodes.

    Raises
    ------
    KinetographError
        If these are no such bytes, or the model calls functions that `trust` does not name.
    """
    document = from_bytes(data, frozenset(trust), whose)
    try:
        return Model.of_content(decode(document))
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise KinetographError(f"{whose} is not the model of this version: {error}") from error
