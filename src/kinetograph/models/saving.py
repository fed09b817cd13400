"""Models as bytes that cannot run code, for the stores of runs."""

from collections.abc import Collection

from ..graph.errors import KinetographError
from ..graph.saving.document import decode, encode
from ..graph.saving.file import from_bytes, to_bytes
from .model import Model

__all__ = ["model_from_bytes", "model_to_bytes"]


def model_to_bytes(model: Model) -> bytes:
    """A model with its graph and data, as bytes.

    Raises
    ------
    KinetographError
        If its graph contains something that cannot be written, such as a lambda given to `kg.lift`.
    """
    return to_bytes(encode(model.content()))


def model_from_bytes(data: bytes, trust: Collection[str], whose: str) -> Model:
    """The model from its bytes, with new nodes.

    Raises
    ------
    KinetographError
        If the bytes are not a model, or the model calls functions that are not in `trust`.
    """
    document = from_bytes(data, frozenset(trust), whose)
    try:
        return Model.of_content(decode(document))
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise KinetographError(f"{whose} is not a model of this version: {error}") from error
