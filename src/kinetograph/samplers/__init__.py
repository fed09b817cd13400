"""The samplers, one in each file, with equations and references."""

from ..graph.public import public_package as _public_package
from .baoab import BAOAB
from .ccadl import CCAdL
from .differential_evolution import DifferentialEvolution
from .eqn import EQN
from .ghmc import GHMC
from .gla1 import GLA1
from .gla2 import GLA2
from .hmc import HMC
from .integrators import Integrator
from .limit_method import LM
from .mala import MALA
from .mams import MAMS
from .mclmc import MCLMC
from .meads import MEADS
from .nuts import NUTS
from .random_walk import RandomWalk
from .sghmc import SGHMC
from .sgld import SGLD
from .sgnht import SGNHT
from .slice import Slice
from .splitting import Splitting
from .stretch import Stretch
from .ubu import UBU
from .walk import Walk

__all__ = [
    "BAOAB",
    "CCAdL",
    "DifferentialEvolution",
    "EQN",
    "GHMC",
    "GLA1",
    "GLA2",
    "HMC",
    "Integrator",
    "LM",
    "MALA",
    "MAMS",
    "MCLMC",
    "MEADS",
    "NUTS",
    "RandomWalk",
    "SGHMC",
    "SGLD",
    "SGNHT",
    "Slice",
    "Splitting",
    "Stretch",
    "UBU",
    "Walk",
]

_public_package(__name__)
