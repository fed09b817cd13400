"""Gaussian processes: functions as unknowns, `kg.gp`.

kernels   covariances between points, and their spectral densities
process   a process at given points, exactly
hilbert   a process as a sum of fixed functions, for many points
"""

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
