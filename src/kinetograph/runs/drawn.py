"""The graph of a model as a small picture, which results hold for pages that are made of a file."""

import weakref
from contextlib import suppress

from ..graph.node import ancestors
from ..models.model import Model

__all__ = ["SVG", "drawn"]

SVG = "model_svg"  # the attribute
MOST_NAMES = 60  # a larger graph takes a tenth of a second, and nobody can read it
MOST_NODES = 1000
MOST_BYTES = 40_000  # netCDF has room for 64 KiB
_DRAWN: "weakref.WeakKeyDictionary[Model, tuple[int, str]]" = weakref.WeakKeyDictionary()


def drawn(model: Model) -> dict[str, str]:
    """The attribute of results, or none of a model that is too large."""
    if len(model.density.unknowns) + len(model.data) > MOST_NAMES:
        return {}
    version, text = _DRAWN.get(model, (None, ""))
    if version != model.version:
        with suppress(Exception):  # of which a run that has ended must not be lost
            roots = [*model.targets, *(term.node for term in model.density.terms)]
            if len(ancestors(roots)) <= MOST_NODES:
                text = model.plot().svg()
        _DRAWN[model] = model.version, text
    return {SVG: text} if 0 < len(text.encode()) <= MOST_BYTES else {}
