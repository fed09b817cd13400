# ruff: noqa: E501
# fmt: off
"""The signatures of draws. Written by `python -m tests.distributions.stubs`."""

from typing import Any

from ..graph.array import Array, ArrayLike
from .written import WrittenDraws

METHODS: tuple[str, ...]

class Draws(WrittenDraws):
    def ar(self, rho: ArrayLike, sd: ArrayLike = 1.0, dim: int | None = None, shape: Any = None, *, constant: ArrayLike = 0.0, init_mean: ArrayLike = 0.0, init_sd: ArrayLike | None = None, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Autoregressive processes with coefficients `rho`, along the last axis."""
    def asymmetric_laplace(self, mu: ArrayLike = 0.0, sigma: ArrayLike = 1.0, kappa: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Asymmetric Laplace numbers with mode `mu`."""
    def beta(self, shape1: ArrayLike, shape2: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Beta numbers, with mean shape1 / (shape1 + shape2)."""
    def beta_binomial(self, size: ArrayLike, alpha: ArrayLike, beta: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None) -> Array:
        """Numbers of successes in `size` trials whose probability is a beta number."""
    def cauchy(self, location: ArrayLike = 0.0, scale: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Cauchy numbers with median `location`."""
    def chi_squared(self, df: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Chi-squared numbers, with mean `df`."""
    def dirichlet(self, alpha: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Vectors that add up to 1 along the last axis."""
    def dirichlet_multinomial(self, size: ArrayLike, alpha: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None) -> Array:
        """Counts of classes whose probabilities are a Dirichlet vector."""
    def discrete_uniform(self, min: ArrayLike, max: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None) -> Array:
        """Whole numbers min, ..., max, all equally likely."""
    def exponential(self, rate: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Exponential numbers, with mean 1 / rate."""
    def exponentially_modified_normal(self, mean: ArrayLike = 0.0, sd: ArrayLike = 1.0, rate: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """The sums of normal and of exponential numbers."""
    def f(self, df1: ArrayLike, df2: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Quotients of two chi-squared numbers, each divided by its degrees of freedom."""
    def gamma(self, alpha: ArrayLike, rate: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Gamma numbers, with mean alpha / rate."""
    def geometric(self, prob: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None) -> Array:
        """Numbers of failures before the first success."""
    def gumbel(self, location: ArrayLike = 0.0, scale: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Gumbel numbers with mode `location`, a limit of largest values."""
    def half_cauchy(self, scale: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """|z| of Cauchy numbers z with median 0; their own median is `scale`."""
    def half_normal(self, sd: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """|z| of normal numbers z with mean 0 and standard deviation `sd`."""
    def half_student(self, df: ArrayLike, sigma: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """sigma |t| of Student's t with `df` degrees of freedom."""
    def hurdle_negative_binomial(self, zero: ArrayLike, size: ArrayLike | None = None, prob: ArrayLike | None = None, shape: Any = None, *, mean: ArrayLike | None = None, log_mean: ArrayLike | None = None, dispersion: ArrayLike | None = None, name: str | None = None, like: Any = None) -> Array:
        """A share `zero` of 0, and negative binomial numbers above 0."""
    def hurdle_poisson(self, zero: ArrayLike, rate: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None) -> Array:
        """A share `zero` of 0, and Poisson numbers above 0."""
    def hypergeometric(self, m: ArrayLike, n: ArrayLike, k: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None) -> Array:
        """Numbers of the `m` objects, not of the `n`, among `k` drawn without replacement."""
    def inverse_gamma(self, alpha: ArrayLike, beta: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Inverse gamma numbers, with mean beta / (alpha - 1)."""
    def laplace(self, mu: ArrayLike = 0.0, sigma: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Laplace numbers, with density exp(-|x - mu| / sigma) / (2 sigma)."""
    def lkj_cholesky(self, eta: ArrayLike = 1.0, dim: int = 2, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Lower Cholesky factors of the matrices of `lkj_correlation`."""
    def lkj_correlation(self, eta: ArrayLike = 1.0, dim: int = 2, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Correlation matrices of `dim` rows, with density proportional to det(R)**(eta - 1)."""
    def logistic(self, location: ArrayLike = 0.0, scale: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Logistic numbers with mean `location`."""
    def lognormal(self, meanlog: ArrayLike = 0.0, sdlog: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Exponentials of normal numbers with mean `meanlog` and standard deviation `sdlog`."""
    def matrix_normal(self, mean: ArrayLike, row_cov: ArrayLike | None = None, col_cov: ArrayLike | None = None, shape: Any = None, *, row_chol: ArrayLike | None = None, col_chol: ArrayLike | None = None, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Normal matrices, with a covariance of rows and one of columns."""
    def multinomial(self, size: ArrayLike, prob: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None) -> Array:
        """Counts of classes in `size` trials, with weights along the last axis."""
    def multivariate_normal(self, mean: ArrayLike, cov: ArrayLike | None = None, shape: Any = None, *, chol: ArrayLike | None = None, precision: ArrayLike | None = None, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Normal vectors along the last axis, by covariance, Cholesky factor or precision."""
    def multivariate_student(self, df: ArrayLike, mean: ArrayLike, cov: ArrayLike | None = None, shape: Any = None, *, chol: ArrayLike | None = None, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Vectors of Student's t, along the last axis, with scale matrix `cov`."""
    def negative_binomial(self, size: ArrayLike | None = None, prob: ArrayLike | None = None, shape: Any = None, *, mean: ArrayLike | None = None, log_mean: ArrayLike | None = None, dispersion: ArrayLike | None = None, name: str | None = None, like: Any = None) -> Array:
        """Numbers of failures before `size` successes; or by mean and dispersion."""
    def normal(self, mean: ArrayLike = 0.0, sd: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Normal numbers."""
    def ordered_logistic(self, eta: ArrayLike, cutpoints: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None) -> Array:
        """Numbers of cutpoints below a logistic number around `eta`."""
    def ordered_probit(self, eta: ArrayLike, cutpoints: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None) -> Array:
        """Numbers of cutpoints below a normal number around `eta`."""
    def pareto(self, a: ArrayLike, b: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Numbers above `b`; the share above x is (b / x)**a."""
    def random_walk(self, sd: ArrayLike = 1.0, dim: int | None = None, shape: Any = None, *, drift: ArrayLike = 0.0, init_mean: ArrayLike = 0.0, init_sd: ArrayLike | None = None, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Gaussian random walks, along the last axis."""
    def skew_normal(self, location: ArrayLike = 0.0, scale: ArrayLike = 1.0, alpha: ArrayLike = 0.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Skew normal numbers, with slant `alpha`."""
    def student(self, df: ArrayLike, mu: ArrayLike = 0.0, sigma: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """mu + sigma t of Student's t with `df` degrees of freedom."""
    def uniform(self, min: ArrayLike = 0.0, max: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Numbers in [min, max), all equally likely."""
    def von_mises(self, mu: ArrayLike = 0.0, kappa: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Angles from -pi to pi around `mu`, with concentration `kappa`."""
    def wald(self, mu: ArrayLike, lam: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Inverse Gaussian numbers, with mean `mu` and variance mu**3 / lam."""
    def weibull(self, alpha: ArrayLike, scale: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Weibull numbers of shape `alpha`."""
    def wishart(self, df: ArrayLike, scale: ArrayLike | None = None, shape: Any = None, *, chol: ArrayLike | None = None, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Covariance matrices with mean df scale."""
    def zero_inflated_negative_binomial(self, zero: ArrayLike, size: ArrayLike | None = None, prob: ArrayLike | None = None, shape: Any = None, *, mean: ArrayLike | None = None, log_mean: ArrayLike | None = None, dispersion: ArrayLike | None = None, name: str | None = None, like: Any = None) -> Array:
        """Negative binomial numbers with a share `zero` replaced by 0."""
    def zero_inflated_poisson(self, zero: ArrayLike, rate: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None) -> Array:
        """Poisson numbers with a share `zero` replaced by 0."""
    def zero_sum_normal(self, sd: ArrayLike = 1.0, dim: int | None = None, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Normal numbers minus their mean, along the last axis."""
