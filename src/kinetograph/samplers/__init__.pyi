# ruff: noqa: E501
# fmt: off
"""The settings of samplers. Written by `python -m tests.distributions.stubs`."""

from collections.abc import Sequence
from typing import Any

from . import baoab as _baoab
from . import ccadl as _ccadl
from . import differential_evolution as _differential_evolution
from . import eqn as _eqn
from . import ghmc as _ghmc
from . import gla1 as _gla1
from . import gla2 as _gla2
from . import hmc as _hmc
from . import integrators as _integrators
from . import limit_method as _limit_method
from . import mala as _mala
from . import mams as _mams
from . import mclmc as _mclmc
from . import meads as _meads
from . import nuts as _nuts
from . import random_walk as _random_walk
from . import sghmc as _sghmc
from . import sgld as _sgld
from . import sgnht as _sgnht
from . import slice as _slice
from . import splitting as _splitting
from . import stretch as _stretch
from . import ubu as _ubu
from . import walk as _walk
from .sampler import Sampler

__all__ = ["BAOAB", "CCAdL", "DifferentialEvolution", "EQN", "GHMC", "GLA1", "GLA2", "HMC", "Integrator", "LM", "MALA", "MAMS", "MCLMC", "MEADS", "NUTS", "RandomWalk", "SGHMC", "SGLD", "SGNHT", "Slice", "Splitting", "Stretch", "UBU", "Walk"]

class BAOAB(_baoab.BAOAB):
    def __init__(self, step_size: Any = 0.1, friction: Any = 1.0, inverse_temperature: Any = 1.0, *, scale: Any = None, tune: Any = None) -> None: ...

class CCAdL(_ccadl.CCAdL):
    def __init__(self, step_size: Any = 0.01, friction: Any = 1.0, thermal_mass: Any = None, forgetting: Any = None, covariance: Any = 'diagonal', inverse_temperature: Any = 1.0, *, scale: Any = None, tune: Any = None) -> None: ...

class DifferentialEvolution(_differential_evolution.DifferentialEvolution):
    def __init__(self, walkers: Any = 40, gamma: Any = None, jumps: Any = 0.1, epsilon: Any = 0.0001, inverse_temperature: Any = 1.0, *, scale: Any = None, tune: Any = None) -> None: ...

class EQN(_eqn.EQN):
    def __init__(self, sampler: Sampler | None = None, *values: Any, **settings: Any) -> None: ...

class GHMC(_ghmc.GHMC):
    def __init__(self, step_size: Any = 0.1, friction: Any = 1.0, n_steps: Any = 1, target_acceptance: Any = 0.95, inverse_temperature: Any = 1.0, integrator: Any = 'leapfrog', *, scale: Any = None, tune: Any = None) -> None: ...

class GLA1(_gla1.GLA1):
    def __init__(self, step_size: Any = 0.1, friction: Any = 1.0, inverse_temperature: Any = 1.0, *, scale: Any = None, tune: Any = None) -> None: ...

class GLA2(_gla2.GLA2):
    def __init__(self, step_size: Any = 0.1, friction: Any = 1.0, inverse_temperature: Any = 1.0, integrator: Any = 'leapfrog', *, scale: Any = None, tune: Any = None) -> None: ...

class HMC(_hmc.HMC):
    def __init__(self, step_size: Any = 0.1, n_steps: Any = 10, target_acceptance: Any = 0.8, step_jitter: Any = 0.1, path_jitter: Any = 0.2, inverse_temperature: Any = 1.0, integrator: Any = 'leapfrog', *, scale: Any = None, tune: Any = None) -> None: ...

class Integrator(_integrators.Integrator):
    def __init__(self, coefficients: Sequence[float], name: str = '') -> None: ...

class LM(_limit_method.LM):
    def __init__(self, step_size: Any = 0.01, inverse_temperature: Any = 1.0, *, scale: Any = None, tune: Any = None) -> None: ...

class MALA(_mala.MALA):
    def __init__(self, step_size: Any = 0.5, target_acceptance: Any = 0.574, inverse_temperature: Any = 1.0, *, scale: Any = None, tune: Any = None) -> None: ...

class MAMS(_mams.MAMS):
    def __init__(self, step_size: Any = 0.5, length: Any = None, target_acceptance: Any = 0.9, path_jitter: Any = 0.5, most_steps: Any = 1000, inverse_temperature: Any = 1.0, integrator: Any = 'leapfrog', *, scale: Any = None, tune: Any = None) -> None: ...

class MCLMC(_mclmc.MCLMC):
    def __init__(self, step_size: Any = 0.5, length: Any = None, inverse_temperature: Any = 1.0, integrator: Any = 'leapfrog', *, scale: Any = None, tune: Any = None) -> None: ...

class MEADS(_meads.MEADS):
    def __init__(self, walkers: Any = 64, groups: Any = 4, step_size: Any = 0.5, inverse_temperature: Any = 1.0, *, scale: Any = None, tune: Any = None) -> None: ...

class NUTS(_nuts.NUTS):
    def __init__(self, target_acceptance: Any = 0.8, max_depth: Any = 10, divergence_threshold: Any = 1000.0, step_size: Any = 0.5, inverse_temperature: Any = 1.0, integrator: Any = 'leapfrog', target_limit: Any = 0.99, metric: Any = 'auto', max_halvings: Any = 10, halving_threshold: Any = 5.0, parametrisation: Any = 'auto', *, scale: Any = None, tune: Any = None) -> None: ...

class RandomWalk(_random_walk.RandomWalk):
    def __init__(self, step_size: Any = 1.0, target_acceptance: Any = 0.3, inverse_temperature: Any = 1.0, proposal: Any = 'normal', *, scale: Any = None, tune: Any = None) -> None: ...

class SGHMC(_sghmc.SGHMC):
    def __init__(self, step_size: Any = 0.1, friction: Any = 1.0, inverse_temperature: Any = 1.0, *, scale: Any = None, tune: Any = None) -> None: ...

class SGLD(_sgld.SGLD):
    def __init__(self, step_size: Any = 0.01, inverse_temperature: Any = 1.0, *, scale: Any = None, tune: Any = None) -> None: ...

class SGNHT(_sgnht.SGNHT):
    def __init__(self, step_size: Any = 0.1, friction: Any = 1.0, thermal_mass: Any = None, inverse_temperature: Any = 1.0, *, scale: Any = None, tune: Any = None) -> None: ...

class Slice(_slice.Slice):
    def __init__(self, width: Any = 3.0, max_steps: Any = 100, doubling: Any = False, max_doublings: Any = 5, inverse_temperature: Any = 1.0, *, scale: Any = None, tune: Any = None) -> None: ...

class Splitting(_splitting.Splitting):
    def __init__(self, word: Any = 'BAOAB', step_size: Any = 0.1, friction: Any = 1.0, inverse_temperature: Any = 1.0, *, scale: Any = None, tune: Any = None) -> None: ...

class Stretch(_stretch.Stretch):
    def __init__(self, walkers: Any = 40, stretch: Any = 2.0, inverse_temperature: Any = 1.0, *, scale: Any = None, tune: Any = None) -> None: ...

class UBU(_ubu.UBU):
    def __init__(self, step_size: Any = 0.1, friction: Any = 1.0, inverse_temperature: Any = 1.0, *, scale: Any = None, tune: Any = None) -> None: ...

class Walk(_walk.Walk):
    def __init__(self, walkers: Any = 40, step_size: Any = 1.0, target_acceptance: Any = 0.3, subset: Any = None, inverse_temperature: Any = 1.0, *, scale: Any = None, tune: Any = None) -> None: ...
