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
    if module.startswith("scipy.stats"):
        self = outer.f_locals.get("self")
        self = getattr(self, "dist", self)  # of a distribution with its parameters
        holder, kind = getattr(self, "name", None), type(self).__name__.removesuffix("_gen")
        holder = holder if isinstance(holder, str) else kind
        known = holder if holder in DISTRIBUTIONS else ""
        return Called(f"scipy.stats.{holder}.{code.co_name}", known, False)
    if code.co_qualname.startswith("AxisConcatenator"):
        return Called("np.r_ or np.c_", "", True)
    return Called(_public_name(outer), "", False)


def _public_name(frame: FrameType) -> str:
    """What users call a function, class or method; where one is wrapped, the one inside."""
    module, seen = _module(frame), frame.f_locals
    own = frame.f_code.co_qualname
    inside = seen.get("fun", seen.get("func")) if own.endswith("wrapper") else None
    if own.endswith(("__call__", "__init__")):
        own = type(seen.get("self")).__name__
        inside = seen.get("self") if frame.f_code.co_name == "__call__" else None
    name = str(getattr(inside, "__name__", own))
    home = _public_module(module, name)
    if home is None and name != own:
        home, name = _public_module(module, own), own
    inner = ".".join(part for part in module.split(".") if not part.startswith("_"))
    return f"{home or inner}.{name}"


def _public_module(module: str, name: str) -> str | None:
    """The module from which users have what is defined in another, inner one."""
    first, outer = name.partition(".")[0], module.rpartition(".")[0]
    while outer:
        if "._" not in outer and hasattr(sys.modules.get(outer), first):
            return outer
        outer = outer.rpartition(".")[0]
    return None


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
    elif called.name == "numpy.full":
        hint = f"write {array} * numpy.ones(shape)"
    elif called.name.startswith("pandas."):
        hint = f"tables hold numbers: compute with those, as in table.to_numpy() @ {array}"
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
