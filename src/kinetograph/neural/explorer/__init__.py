"""Search for minima of networks' losses, `kg.neural.explorer`.

exploration   the loop: legs, diffusion map, corner points, refinement
legs          one leg of trajectories, and its pool of rows
candidates    rows near stationary points
minima        refinement, classification and merging of minima
symmetry      permutations and signs of hidden units
tables        tables of minima, legs and averages
picture       a plot of an exploration
"""

from ...graph.public import public_package as _public_package
from .candidates import candidates
from .exploration import Exploration, explore
from .minima import classify, merged, refine
from .symmetry import canonical

__all__ = ["Exploration", "candidates", "canonical", "classify", "explore", "merged", "refine"]

_public_package(__name__)
