"""The test kit for samplers: exact laws, and tests against them.

oscillator, linear     exact stationary moments of linear schemes on the harmonic oscillator
integrators            energy errors and stability of reversible integrators, in closed form
one_dimensional        exact laws of one-dimensional targets and schemes, by quadrature
identities             exact relations between averages of a scheme, for any step size
estimates, outcomes    comparisons of draws with exact values, in Monte Carlo standard errors
law_tests              all tests of draws against a law in one call
fits                   orders in the step size; the error law of averages
maps                   reversibility, volume and energy errors of integrators
seeds                  reproducibility
joint                  Geweke's joint test; simulation-based calibration
model_chains           Geweke's joint test of a sampler on a model
"""

from ..graph.public import public_package as _public_package
from .estimates import (
    autocorrelation_time,
    autoregression,
    chi2_test,
    independence_test,
    ks_test,
    mcse,
    mean_test,
)
from .fits import PowerLaw, error_law, order_fit, step_error_study
from .identities import virial_identity
from .integrators import HMCLaw, hmc_oscillator, largest_energy_error, stability_limit
from .joint import Calibration, geweke_test, rank_test, simulation_based_calibration
from .law_tests import LawTest, law_test
from .linear import LinearLaw
from .maps import EnergyOrder, MapTest, energy_order, reversibility, volume
from .model_chains import geweke_chain
from .one_dimensional import (
    Law1D,
    Potential1D,
    canonical_law,
    cosine,
    double_well,
    harmonic,
    quartic,
    stationary_law,
)
from .oscillator import LinearStep, oscillator
from .outcomes import MeanTest, PTest, StatisticalTest
from .seeds import Reproducibility, reproducibility

__all__ = [
    "oscillator",
    "LinearLaw",
    "LinearStep",
    "hmc_oscillator",
    "largest_energy_error",
    "stability_limit",
    "HMCLaw",
    "canonical_law",
    "stationary_law",
    "Law1D",
    "Potential1D",
    "harmonic",
    "quartic",
    "double_well",
    "cosine",
    "virial_identity",
    "law_test",
    "mean_test",
    "ks_test",
    "chi2_test",
    "independence_test",
    "autocorrelation_time",
    "mcse",
    "autoregression",
    "order_fit",
    "step_error_study",
    "error_law",
    "PowerLaw",
    "reversibility",
    "volume",
    "energy_order",
    "EnergyOrder",
    "MapTest",
    "geweke_chain",
    "geweke_test",
    "simulation_based_calibration",
    "rank_test",
    "Calibration",
    "reproducibility",
    "Reproducibility",
    "LawTest",
    "MeanTest",
    "PTest",
    "StatisticalTest",
]

_public_package(__name__)
