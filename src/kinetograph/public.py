"""The public names of the package, imported when one is first used."""

import typing as _typing

from .collector import paused as _paused

with _paused(lasting=True):
    from . import autograph, kernels, observables, ode, optimizers, samplers, streams
    from . import distributions as _distributions
    from .approximations.pareto import ApproximationWarning
    from .autograph.function import function
    from .autograph.staged_function import StagedFunction
    from .datasets.dataset import Dataset
    from .distributions import *  # noqa: F403
    from .graph import drawing as _drawing  # noqa: F401 - contexts describe themselves by it
    from .graph import functions as _functions
    from .graph.array import Array
    from .graph.checks import check
    from .graph.compiling.compile import compile
    from .graph.control.batch import vmap
    from .graph.control.branches import case, cond, switch
    from .graph.control.contexts import CondContext, ControlFlowContext, WhileContext
    from .graph.control.scan import scan
    from .graph.control.state import State, state
    from .graph.control.while_loop import while_loop
    from .graph.debug import debug
    from .graph.derivatives import gradients, hessian, jacobian, jvp
    from .graph.dims import Dim, dim
    from .graph.errors import (
        AutographWarning,
        BoundsError,
        CheckError,
        ConversionError,
        DataError,
        DerivativeError,
        DimsError,
        ForkError,
        KinetographError,
        KinetographWarning,
        LoopError,
        ModelError,
        ShapeError,
        StagingError,
        StartError,
        SymbolicError,
        SymbolicTruthError,
    )
    from .graph.explain import explain
    from .graph.functions.arranging import *  # noqa: F403
    from .graph.functions.mathematics import *  # noqa: F403
    from .graph.functions.matrices import *  # noqa: F403
    from .graph.functions.reductions import *  # noqa: F403
    from .graph.functions.special import *  # noqa: F403
    from .graph.groups import Groups, groups
    from .graph.inputs import data, placeholder
    from .graph.lift import lift
    from .graph.precision import precision
    from .graph.printing import print
    from .graph.ranges import Range, range
    from .graph.saving.file import load_graph, save_graph
    from .kernels.moments import Moments
    from .models.conditioning import condition, do
    from .models.custom_bijectors import Bijector
    from .models.dim_renaming import rename_dims
    from .models.expectations import expectation, variance
    from .models.factor import factor, log_density
    from .models.jax_model import jax_model
    from .models.minibatch import minibatch
    from .models.mixtures import joint, mixture, responsibilities
    from .models.model import Model
    from .models.model_of_targets import model
    from .models.observe import observe
    from .models.probabilities import cdf, log_cdf, log_survival, normal_score, quantile
    from .models.restraints import tether, wall
    from .models.variables import (
        cholesky_variable,
        correlation_variable,
        covariance_variable,
        ordered_variable,
        simplex_variable,
        variable,
    )
    from .optimizers.opt import opt
    from .optimizers.result import ConvergenceWarning, Optimum
    from .optimizers.step_size_bound import step_size_bound
    from .prediction.calculate import calculate
    from .prediction.calibration import calibration
    from .prediction.compare import compare
    from .prediction.kfold import kfold
    from .prediction.loo import loo
    from .prediction.pointwise import log_likelihood, log_prior
    from .prediction.predict import predict
    from .prediction.simulate import simulate
    from .programs.memory_cache import clear_cache
    from .results.advice import Advice, SamplingWarning
    from .results.diagnosis import diagnose
    from .results.modes import Modes, modes
    from .results.summary import summary
    from .runs.mcmc import mcmc
    from .runs.processes.distributed import distributed
    from .runs.stash import stashed_samples
    from .runs.stepping import Chain, chain
    from .runs.until import SoFar, Until, until
    from .samplers.hyper import hyper
    from .samplers.sampler import Sampler
    from .streams.default import random
    from .streams.saved import SavedStreams
    from .streams.streams import RandomStreams

if _typing.TYPE_CHECKING:
    from . import formulas, gp, laws, neural
    from .approximations.advi import advi
    from .approximations.laplace import laplace_approximation
    from .approximations.pathfinder import pathfinder
    from .formulas.model import formula
    from .graph.drawing.drawing import Drawing, draw_graph
    from .results.report.report import Report, report
    from .runs.extra_samples import extra_samples
    from .runs.resume import resume
    from .tempering.temper import temper

__all__ = [
    "summary",
    "mcmc",
    "until",
    "Until",
    "SoFar",
    "extra_samples",
    "resume",
    "stashed_samples",
    "distributed",
    "clear_cache",
    "simulate",
    "calculate",
    "predict",
    "log_likelihood",
    "loo",
    "compare",
    "kfold",
    "log_prior",
    "opt",
    "optimizers",
    "Optimum",
    "laplace_approximation",
    "pathfinder",
    "advi",
    "temper",
    "step_size_bound",
    "ConvergenceWarning",
    "ApproximationWarning",
    "diagnose",
    "modes",
    "Modes",
    "report",
    "Report",
    "SamplingWarning",
    "Advice",
    "Array",
    "AutographWarning",
    "Bijector",
    "BoundsError",
    "Chain",
    "CheckError",
    "ConversionError",
    "DataError",
    "DerivativeError",
    "Dataset",
    "Drawing",
    "DimsError",
    "ForkError",
    "KinetographError",
    "KinetographWarning",
    "Model",
    "ModelError",
    "Moments",
    "ShapeError",
    "StagingError",
    "StartError",
    "SymbolicError",
    "SymbolicTruthError",
    "CondContext",
    "ControlFlowContext",
    "LoopError",
    "RandomStreams",
    "StagedFunction",
    "autograph",
    "function",
    "Range",
    "Sampler",
    "SavedStreams",
    "State",
    "WhileContext",
    "case",
    "chain",
    "check",
    "cholesky_variable",
    "correlation_variable",
    "covariance_variable",
    "compile",
    "cond",
    "condition",
    "data",
    "dim",
    "Dim",
    "debug",
    "do",
    "draw_graph",
    "expectation",
    "explain",
    "factor",
    "formula",
    "formulas",
    "gradients",
    "groups",
    "Groups",
    "hessian",
    "hyper",
    "jacobian",
    "kernels",
    "jvp",
    "laws",
    "neural",
    "lift",
    "load_graph",
    "cdf",
    "log_cdf",
    "log_density",
    "log_survival",
    "normal_score",
    "quantile",
    "calibration",
    "joint",
    "mixture",
    "responsibilities",
    "jax_model",
    "minibatch",
    "model",
    "observables",
    "observe",
    "gp",
    "ode",
    "ordered_variable",
    "placeholder",
    "precision",
    "print",
    "range",
    "random",
    "rename_dims",
    "samplers",
    "save_graph",
    "scan",
    "simplex_variable",
    "state",
    "streams",
    "switch",
    "tether",
    "variable",
    "variance",
    "vmap",
    "wall",
    "while_loop",
]
__all__ += _distributions.__all__
__all__ += _functions.__all__


if not _typing.TYPE_CHECKING:  # to type checkers, there is no other name than those above
    # Imported when first used: few runs ask for these, and importing takes time.
    _LATER = {
        "Drawing": "graph.drawing.drawing",
        "advi": "approximations.advi",
        "draw_graph": "graph.drawing.drawing",
        "extra_samples": "runs.extra_samples",
        "formula": "formulas.model",
        "formulas": "formulas",
        "Report": "results.report.report",
        "report": "results.report.report",
        "resume": "runs.resume",
        "gp": "gp",
        "laplace_approximation": "approximations.laplace",
        "laws": "laws",
        "neural": "neural",
        "pathfinder": "approximations.pathfinder",
        "temper": "tempering.temper",
    }

    def __getattr__(name):
        if name not in _LATER:
            raise AttributeError(name)
        from importlib import import_module

        module = import_module(f".{_LATER[name]}", __package__)
        return module if _LATER[name] == name else getattr(module, name)
