"""Neural networks: their posteriors, loss surfaces and minima, `kg.neural`.

network      networks of any origin; multilayer perceptrons
losses       losses of one row, by name
parameters   parameters as one vector, names, fixed entries
posterior    the model of a network's parameters
"""

import sys as _sys

from ..calls.public import open_to_users as _open_to_users
from .losses import Loss
from .network import Network, mlp, network
from .parameters import Layout
from .posterior import posterior, posterior_scale

__all__ = [
    "Layout",
    "Loss",
    "Network",
    "mlp",
    "network",
    "posterior",
    "posterior_scale",
]

_open_to_users(_sys.modules[__name__])  # it is imported when first used
