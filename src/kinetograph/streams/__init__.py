"""Random numbers in graphs: streams and draws.

operations       a draw as a node with a state
one_draw         the common part of stream methods: parameters, shapes, types
draw_arguments   checked shapes and types of draws
methods          the stream methods of distributions; `written` has those written by hand
orders, choice   permutations, choices and whole numbers
streams, saved   `kg.RandomStreams` and saved states
functional       draws with explicit states
"""

from ..graph.public import public_package as _public_package
from .functional import draw, new_state

__all__ = ["draw", "new_state"]

_public_package(__name__)
