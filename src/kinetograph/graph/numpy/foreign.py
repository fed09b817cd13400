"""Functions of NumPy and SciPy that are Python inside, and met an array: what to write instead."""

import sys
from types import FrameType
from typing import NamedTuple

from ..source import LIBRARIES, is_own, place_text
from .instead import advice

__all__ = ["instead", "library_call"]

# Distributions of scipy.stats, by ours.
_SAME = (
    "bernoulli beta cauchy dirichlet f gamma laplace logistic multinomial multivariate_normal "
    "pareto poisson uniform wishart"
)
DISTRIBUTIONS = {
    **{name: name for name in _SAME.split()},
    "betabinom": "beta_binomial",
    "binom": "binomial",
    "chi2": "chi_squared",
    "expon": "exponential",
    "geom": "geometric",
    "gumbel_r": "gumbel",
    "halfcauchy": "half_cauchy",
    "halfnorm": "half_normal",
    "hypergeom": "hypergeometric",
    "invgamma": "inverse_gamma",
    "invgauss": "wald",
    "lognorm": "lognormal",
    "multivariate_t": "multivariate_student",
    "nbinom": "negative_binomial",
    "norm": "normal",
    "randint": "discrete_uniform",
    "skewnorm": "skew_normal",
    "t": "student",
    "vonmises": "von_mises",
    "weibull_min": "weibull",
}
METHODS = {
    "cdf": "kg.cdf({0}, x)",
    "logcdf": "kg.log_cdf({0}, x)",
    "logpdf": "kg.log_density({0}, x)",
    "logpmf": "kg.log_density({0}, x)",
    "logsf": "kg.log_survival({0}, x)",
    "pdf": "kg.exp(kg.log_density({0}, x))",
    "pmf": "kg.exp(kg.log_density({0}, x))",
    "ppf": "kg.quantile({0}, p)",
    "rvs": "kg.calculate({0}, draws=1000)",
    "sf": "kg.exp(kg.log_survival({0}, x))",
}


class Called(NamedTuple):
    """A function of a library that the user has called, and which has called us."""

    name: str
    distribution: str  # of scipy.stats, whose method it is
    joining: bool  # whether it is np.r_ or np.c_


def library_call() -> Called | None:
    """The function of NumPy or SciPy in which an array is, if it is in one."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_own(frame.f_code.co_filename):
        frame = frame.f_back
    outer = None
    while frame is not None and _module(frame).partition(".")[0] in LIBRARIES:
        outer, frame = frame, frame.f_back
    if outer is None:
        return None
    code, module = outer.f_code, _module(outer)
    self = outer.f_locals.get("self")
    self = getattr(self, "dist", self)  # of a distribution with its parameters
    holder, kind = getattr(self, "name", None), type(self).__name__.removesuffix("_gen")
    if module.startswith("scipy.stats"):
        holder = holder if isinstance(holder, str) else kind
        known = holder if holder in DISTRIBUTIONS else ""
        return Called(f"scipy.stats.{holder}.{code.co_name}", known, False)
    if code.co_qualname.startswith("AxisConcatenator"):
        return Called("np.r_ or np.c_", "", True)
    public = [part for part in module.split(".") if not part.startswith("_")]
    return Called(".".join([*public, _public_name(outer)]), "", False)


def _public_name(frame: FrameType) -> str:
    """The name of a function; where it is wrapped in another, that of the one inside."""
    name, seen = frame.f_code.co_name, frame.f_locals
    inside = seen.get("self") if name == "__call__" else seen.get("fun", seen.get("func"))
    return str(getattr(inside, "__name__", name)) if name in ("__call__", "wrapper") else name


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))


def instead(called: Called, array: str) -> str:
    """What to say to who has called such a function with an array."""
    method = METHODS.get(called.name.rpartition(".")[2])
    function = called.name.rpartition(".")[2]
    if called.joining:
        hint = f"write kg.concatenate([{array}, ...]), or kg.stack([...], axis=1)"
    elif called.distribution and method:
        hint = "write " + method.format(f"kg.{DISTRIBUTIONS[called.distribution]}(...)")
    elif words := advice(called.name.rpartition(".")[0], function, array):
        return f"{called.name} is not available for arrays in a graph{place_text()}{words}"
    else:
        hint = (
            "kg.lift(function) makes an operation of any JAX function, and kg.compile a function "
            "that takes numbers"
        )
    return (
        f"{called.name} computes with numbers, and the value of {array} is not known while the "
        f"graph is built{place_text()}; {hint}"
    )
