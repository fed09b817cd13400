"""Neural networks: their posteriors, loss surfaces and minima, `kg.neural`.

network      networks of any origin; multilayer perceptrons
losses       losses of one row, by name
parameters   parameters as one vector, names, fixed entries
posterior    the model of a network's parameters
"""

from ..graph.public import public_package as _public_package
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

_public_package(__name__)
