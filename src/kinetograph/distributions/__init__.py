"""Distributions, one family in each file.

`python -m tests.distributions.stubs` writes this file, and `__init__.pyi` for type checkers.
"""

from .ar import ar
from .asymmetric_laplace import asymmetric_laplace
from .bernoulli import bernoulli
from .beta import beta
from .beta_binomial import beta_binomial
from .binomial import binomial
from .categorical import categorical
from .cauchy import cauchy
from .chi_squared import chi_squared
from .custom import distribution
from .declaration import DISTRIBUTIONS
from .dirichlet import dirichlet
from .dirichlet_multinomial import dirichlet_multinomial
from .discrete_uniform import discrete_uniform
from .exponential import exponential
from .exponentially_modified_normal import exponentially_modified_normal
from .f import f
from .gamma import gamma
from .geometric import geometric
from .gumbel import gumbel
from .half_cauchy import half_cauchy
from .half_normal import half_normal
from .half_student import half_student
from .hurdle_gamma import hurdle_gamma
from .hurdle_lognormal import hurdle_lognormal
from .hurdle_negative_binomial import hurdle_negative_binomial
from .hurdle_poisson import hurdle_poisson
from .hypergeometric import hypergeometric
from .inverse_gamma import inverse_gamma
from .laplace import laplace
from .lkj import lkj_correlation
from .lkj_cholesky import lkj_cholesky
from .logistic import logistic
from .lognormal import lognormal
from .markov_chain import markov_chain
from .matrix_normal import matrix_normal
from .multinomial import multinomial
from .multivariate_normal import multivariate_normal
from .multivariate_student import multivariate_student
from .negative_binomial import negative_binomial
from .normal import normal
from .ordered_logistic import ordered_logistic
from .ordered_probit import ordered_probit
from .pareto import pareto
from .poisson import poisson
from .random_walk import random_walk
from .skew_normal import skew_normal
from .student import student
from .uniform import uniform
from .von_mises import von_mises
from .wald import wald
from .weibull import weibull
from .wishart import wishart
from .zero_inflated_beta import zero_inflated_beta
from .zero_inflated_negative_binomial import zero_inflated_negative_binomial
from .zero_inflated_poisson import zero_inflated_poisson
from .zero_sum_normal import zero_sum_normal

__all__ = sorted([*DISTRIBUTIONS, "distribution"])
