"""Gaussian processes: unknown functions, `kg.gp`.

kernels   covariances between points, and their spectral densities
process   exact processes at given points
hilbert   approximate processes for many points, as sums of fixed functions
areas     effects of areas that are alike if the areas are neighbours
"""

from ..graph.public import public_package as _public_package
from .areas import icar
from .hilbert import Hilbert
from .kernels import Kernel, constant, linear, matern12, matern32, matern52, periodic, rbf, white
from .process import Process

__all__ = [
    "Hilbert",
    "Kernel",
    "Process",
    "constant",
    "icar",
    "linear",
    "matern12",
    "matern32",
    "matern52",
    "periodic",
    "rbf",
    "white",
]

_public_package(__name__)
