"""Analysis of trajectories of networks' parameters, `kg.neural.analysis`.

averages          averages at cut points; re-weighting to another temperature
chains            R-hat, effective sample sizes, standard errors
covariances       covariances: at once, streaming, of low rank; eigenpairs
autocorrelation   integrated autocorrelation times
kernels           sparse kernels, bandwidths, isolated points
diffusion         diffusion maps: vanilla and for a target measure
walks             eigenpairs of the random walk of a kernel
levels            landmarks and level sets
free_energies     free energies of a coordinate and of level sets
files             tables as CSV files
tables            tables of all results, by name
sampled_density   the inverse temperature and the potential that were sampled
trajectory        one trajectory with all of its analyses
inputs            checks of arrays
"""

from ...graph.public import public_package as _public_package
from .autocorrelation import autocorrelation_times
from .averages import BoltzmannWeights, boltzmann_weights, parameter_averages, running_averages
from .chains import convergence
from .covariances import CovarianceSum, Eigenpairs, covariance, eigenpairs, low_rank_covariance
from .diffusion import DiffusionMap, diffusion_map
from .files import read_table, write_table
from .free_energies import FreeEnergy, free_energy, level_free_energy
from .levels import LevelSets, landmarks, level_sets
from .trajectory import Analysis

__all__ = [
    "Analysis",
    "BoltzmannWeights",
    "CovarianceSum",
    "DiffusionMap",
    "Eigenpairs",
    "FreeEnergy",
    "LevelSets",
    "autocorrelation_times",
    "boltzmann_weights",
    "convergence",
    "covariance",
    "diffusion_map",
    "eigenpairs",
    "free_energy",
    "landmarks",
    "level_free_energy",
    "level_sets",
    "low_rank_covariance",
    "parameter_averages",
    "read_table",
    "running_averages",
    "write_table",
]

_public_package(__name__)
