"""Random numbers in graphs: streams, and what is drawn of them.

operations   a draw as a node with a state
one_draw     what all methods that draw have in common: parameters, shapes, types
reals, vectors, wholes, methods     the methods; orders: permutations, and whole numbers
streams, saved, functional     `kg.RandomStreams`, and draws with the state in the open
"""

from .functional import draw, new_state

__all__ = ["draw", "new_state"]
