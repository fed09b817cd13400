"""A small picture of the model's graph, as an attribute of results.

Reports that are made from a file show it.
"""

import weakref
from contextlib import suppress

from ..graph.node import ancestors
from ..models.model import Model

__all__ = ["SVG", "drawn"]

SVG = "model_svg"  # the name of the attribute
MOST_NAMES = 60  # a larger graph takes a tenth of a second, and is not readable
MOST_NODES = 1000
MOST_BYTES = 40_000  # netCDF has room for 64 KiB in an attribute
_DRAWN: "weakref.WeakKeyDictionary[Model, tuple[int, str]]" = weakref.WeakKeyDictionary()


def drawn(model: Model) -> dict[str, str]:
    """The attribute with the picture; empty if the model is too large."""
    if len(model.density.unknowns) + len(model.data) > MOST_NAMES:
        return {}
    version, text = _DRAWN.get(model, (None, ""))
    if version != model.version:
        with suppress(Exception):  # a failure here must not lose the draws of the run
            roots = [*model.targets, *(term.node for term in model.density.terms)]
            if len(ancestors(roots)) <= MOST_NODES:
                text = model.plot().svg()
        _DRAWN[model] = model.version, text
    return {SVG: text} if 0 < len(text.encode()) <= MOST_BYTES else {}
