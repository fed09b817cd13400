"""Optimisers for `kg.opt`: functions that return an optimiser with its settings.

`gradient_descent`, `barzilai_borwein`, `adam` and the other methods of gradient steps run as one
compiled loop. `lbfgs`, `bfgs`, `newton` and `nelder_mead` are SciPy's.
"""

from ..graph.public import public_package as _public_package
from .barzilai_borwein import barzilai_borwein
from .by_scipy import bfgs, lbfgs, nelder_mead, newton
from .ftrl import ftrl
from .steps import (
    adadelta,
    adagrad,
    adam,
    adamax,
    adamw,
    gradient_descent,
    nadam,
    rmsprop,
)

__all__ = [
    "adadelta",
    "adagrad",
    "adam",
    "adamax",
    "adamw",
    "barzilai_borwein",
    "bfgs",
    "ftrl",
    "gradient_descent",
    "lbfgs",
    "nadam",
    "nelder_mead",
    "newton",
    "rmsprop",
]

_public_package(__name__)
