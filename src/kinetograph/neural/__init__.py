"""Neural networks: their posteriors, loss surfaces and minima, `kg.neural`.

network      networks of any origin; multilayer perceptrons
losses       losses of one row, by name
parameters   parameters as one vector, names, fixed entries
posterior    the model of a network's parameters
landscape    the loss and its derivatives at points of free parameters
simulation   training and sampling by one object with options, and its records
ensembles    the common part of ensembles: members, outputs, convergence of predictions
estimators   ensembles of members that are trained and sampled, with scikit-learn's protocol
datasets     reading, features of inputs, synthetic sets
explorer     search for minima
surfaces     loss surfaces, paths between minima, outputs on grids of inputs
comparison   differences of two records, with tolerances
calibration  coverage of intervals, calibration errors, reliability pictures
analysis     averages, covariances, diffusion maps and free energies of trajectories

The room needs packages that kinetograph itself does not need: install `kinetograph[neural]`.
"""

import typing as _typing

from ..graph.public import public_package as _public_package
from . import analysis, calibration, datasets, explorer, surfaces
from .comparison import RecordComparison, compare_records
from .landscape import Landscape
from .losses import Loss
from .network import Network, mlp, network
from .parameters import ParameterLayout
from .posterior import posterior, posterior_scale
from .prediction import Prediction
from .records import TrajectoryData
from .simulation import Simulation

if _typing.TYPE_CHECKING:
    from .estimators import EnsembleClassifier, EnsembleRegressor, ensemble

__all__ = [
    "EnsembleClassifier",
    "EnsembleRegressor",
    "ParameterLayout",
    "Landscape",
    "Loss",
    "Network",
    "Prediction",
    "RecordComparison",
    "Simulation",
    "TrajectoryData",
    "analysis",
    "calibration",
    "compare_records",
    "datasets",
    "ensemble",
    "explorer",
    "mlp",
    "network",
    "posterior",
    "posterior_scale",
    "surfaces",
]

_public_package(__name__)

if not _typing.TYPE_CHECKING:
    _unknown = __getattr__  # noqa: F821 - made by public_package

    def __getattr__(name):
        """The estimators are imported when first used, because they need scikit-learn."""
        if name not in ("EnsembleClassifier", "EnsembleRegressor", "ensemble"):
            return _unknown(name)
        try:
            from . import estimators
        except ModuleNotFoundError as error:
            if error.name != "sklearn":
                raise
            raise ImportError(
                f"kg.neural.{name} needs scikit-learn: pip install 'kinetograph[neural]'"
            ) from error
        return getattr(estimators, name)
