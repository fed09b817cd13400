"""Random numbers: a cipher, keys, sources of bits, distributions, and streams in graphs.

cipher       four words from a key and a counter
keys         from seeds and members to keys
source       the bits of one draw: uniform and normal numbers
continuous, discrete, multivariate, samplers     distributions
operations   a draw as a node with a state
methods, streams, saved, functional     `kg.RandomStreams`, and draws with the state in the open
draws        numbers for chains
"""

from .functional import draw, new_state

__all__ = ["draw", "new_state"]
