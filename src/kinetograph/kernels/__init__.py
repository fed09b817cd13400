"""Kernels: the contract between samplers and runs, for transitions written in JAX.

A `kg.Sampler` whose method `kernel` returns a `TransitionKernel` makes its transitions with it.
"""

from ..graph.public import public_package as _public_package
from .contract import Info, Statistic, TransitionKernel

__all__ = ["Info", "Statistic", "TransitionKernel"]

_public_package(__name__)
