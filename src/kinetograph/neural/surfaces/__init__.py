"""Loss surfaces and outputs of networks on grids, `kg.neural.surfaces`.

grids        losses on a grid of parameters, or along directions
directions   unit directions: random, gradient, Hessian, covariance, from a file
rows         losses and projections of a trajectory's rows
paths        losses along a path between points, barriers, relaxed paths
spectra      eigenvalues and slices of the Hessian along a trajectory
inputs       outputs on a grid of inputs
tables       surfaces as CSV files
evaluation   evaluation in parts
"""

from ...graph.public import public_package as _public_package
from .directions import (
    covariance_directions,
    gradient_direction,
    hessian_directions,
    random_directions,
    read_directions,
)
from .grids import grid, grid_size, subgrid
from .inputs import input_space
from .paths import path, relaxed_path
from .rows import projections, trajectory
from .spectra import hessian_slices, spectra
from .tables import write_surface

__all__ = [
    "covariance_directions",
    "gradient_direction",
    "grid",
    "grid_size",
    "hessian_directions",
    "hessian_slices",
    "input_space",
    "path",
    "projections",
    "random_directions",
    "read_directions",
    "relaxed_path",
    "spectra",
    "subgrid",
    "trajectory",
    "write_surface",
]

_public_package(__name__)
