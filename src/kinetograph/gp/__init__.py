"""Gaussian processes: unknown functions, `kg.gp`.

kernels   covariances between points, and their spectral densities
process   exact processes at given points
hilbert   approximate processes for many points, as sums of fixed functions
"""

import sys as _sys

from ..calls.public import open_to_users as _open_to_users
from .hilbert import Hilbert
from .kernels import Kernel, constant, linear, matern12, matern32, matern52, periodic, rbf, white
from .process import Process

__all__ = [
    "Hilbert",
    "Kernel",
    "Process",
    "constant",
    "linear",
    "matern12",
    "matern32",
    "matern52",
    "periodic",
    "rbf",
    "white",
]

_open_to_users(_sys.modules[__name__])  # it is imported when first used
