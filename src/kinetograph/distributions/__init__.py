"""Distributions: one family a file."""

from .bernoulli import bernoulli
from .beta import beta
from .binomial import binomial
from .categorical import categorical
from .cauchy import cauchy
from .chi_squared import chi_squared
from .dirichlet import dirichlet
from .exponential import exponential
from .gamma import gamma
from .gumbel import gumbel
from .half_cauchy import half_cauchy
from .half_normal import half_normal
from .half_student import half_student
from .inverse_gamma import inverse_gamma
from .laplace import laplace
from .lkj import lkj_correlation
from .logistic import logistic
from .lognormal import lognormal
from .multivariate_normal import multivariate_normal
from .negative_binomial import negative_binomial
from .normal import normal
from .pareto import pareto
from .poisson import poisson
from .student import student
from .uniform import uniform
from .weibull import weibull

__all__ = [
    "bernoulli",
    "beta",
    "binomial",
    "categorical",
    "cauchy",
    "chi_squared",
    "dirichlet",
    "exponential",
    "gamma",
    "gumbel",
    "half_cauchy",
    "half_normal",
    "half_student",
    "inverse_gamma",
    "laplace",
    "lkj_correlation",
    "logistic",
    "lognormal",
    "multivariate_normal",
    "negative_binomial",
    "normal",
    "pareto",
    "poisson",
    "student",
    "uniform",
    "weibull",
]
