# ruff: noqa: E501
# fmt: off
"""The signatures of draws. Written by `python -m tests.distributions.stubs`."""

from typing import Any, overload

from ..graph.array import Array, ArrayLike
from .written import WrittenDraws

METHODS: tuple[str, ...]

class Draws(WrittenDraws):
    def ar(self, rho: ArrayLike, sd: ArrayLike = 1.0, dim: int | None = None, shape: Any = None, *, constant: ArrayLike = 0.0, init_mean: ArrayLike = 0.0, init_sd: ArrayLike | None = None, name: str | None = None, like: Any = None, dtype: Any = None, sigma: ArrayLike = ...) -> Array:
        """Autoregressive processes with coefficients `rho`, along the last axis."""
    def asymmetric_laplace(self, mu: ArrayLike = 0.0, sigma: ArrayLike = 1.0, kappa: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, loc: ArrayLike = ..., scale: ArrayLike = ..., asymmetry: ArrayLike = ...) -> Array:
        """Asymmetric Laplace numbers with mode `mu`."""
    def bernoulli(self, prob: ArrayLike = 0.5, shape: Any = None, *, name: str | None = None, like: Any = None, p: ArrayLike = ..., probs: ArrayLike = ..., theta: ArrayLike = ...) -> Array:
        """Booleans that are true with probability `prob`."""
    @overload
    def beta(self, shape1: ArrayLike, shape2: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Beta numbers, with mean shape1 / (shape1 + shape2)."""
    @overload
    def beta(self, shape1: ArrayLike = ..., shape2: ArrayLike = ..., shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, a: ArrayLike = ..., alpha: ArrayLike = ..., concentration1: ArrayLike = ..., b: ArrayLike = ..., beta: ArrayLike = ..., concentration0: ArrayLike = ...) -> Array:
        """Beta numbers, with mean shape1 / (shape1 + shape2)."""
    @overload
    def beta_binomial(self, size: ArrayLike, alpha: ArrayLike, beta: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None) -> Array:
        """Numbers of successes in `size` trials whose probability is a beta number."""
    @overload
    def beta_binomial(self, size: ArrayLike = ..., alpha: ArrayLike = ..., beta: ArrayLike = ..., shape: Any = None, *, name: str | None = None, like: Any = None, N: ArrayLike = ..., n: ArrayLike = ..., total_count: ArrayLike = ..., a: ArrayLike = ..., concentration1: ArrayLike = ..., b: ArrayLike = ..., concentration0: ArrayLike = ...) -> Array:
        """Numbers of successes in `size` trials whose probability is a beta number."""
    @overload
    def binomial(self, size: ArrayLike, prob: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None) -> Array:
        """Numbers of successes in `size` trials of probability `prob`."""
    @overload
    def binomial(self, size: ArrayLike = ..., prob: ArrayLike = ..., shape: Any = None, *, name: str | None = None, like: Any = None, N: ArrayLike = ..., n: ArrayLike = ..., total_count: ArrayLike = ..., p: ArrayLike = ..., probs: ArrayLike = ..., theta: ArrayLike = ...) -> Array:
        """Numbers of successes in `size` trials of probability `prob`."""
    @overload
    def categorical(self, prob: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None) -> Array:
        """Classes 0, 1, ... with weights along the last axis."""
    @overload
    def categorical(self, prob: ArrayLike = ..., shape: Any = None, *, name: str | None = None, like: Any = None, p: ArrayLike = ..., probs: ArrayLike = ...) -> Array:
        """Classes 0, 1, ... with weights along the last axis."""
    def cauchy(self, location: ArrayLike = 0.0, scale: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, alpha: ArrayLike = ..., loc: ArrayLike = ..., mu: ArrayLike = ..., beta: ArrayLike = ..., sigma: ArrayLike = ...) -> Array:
        """Cauchy numbers with median `location`."""
    @overload
    def chi_squared(self, df: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Chi-squared numbers, with mean `df`."""
    @overload
    def chi_squared(self, df: ArrayLike = ..., shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, nu: ArrayLike = ...) -> Array:
        """Chi-squared numbers, with mean `df`."""
    @overload
    def dirichlet(self, alpha: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Vectors that add up to 1 along the last axis."""
    @overload
    def dirichlet(self, alpha: ArrayLike = ..., shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, a: ArrayLike = ..., concentration: ArrayLike = ...) -> Array:
        """Vectors that add up to 1 along the last axis."""
    @overload
    def dirichlet_multinomial(self, size: ArrayLike, alpha: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None) -> Array:
        """Counts of classes whose probabilities are a Dirichlet vector."""
    @overload
    def dirichlet_multinomial(self, size: ArrayLike = ..., alpha: ArrayLike = ..., shape: Any = None, *, name: str | None = None, like: Any = None, n: ArrayLike = ..., total_count: ArrayLike = ..., a: ArrayLike = ..., concentration: ArrayLike = ...) -> Array:
        """Counts of classes whose probabilities are a Dirichlet vector."""
    @overload
    def discrete_uniform(self, min: ArrayLike, max: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None) -> Array:
        """Whole numbers min, ..., max, all equally likely."""
    @overload
    def discrete_uniform(self, min: ArrayLike = ..., max: ArrayLike = ..., shape: Any = None, *, name: str | None = None, like: Any = None, low: ArrayLike = ..., lower: ArrayLike = ..., upper: ArrayLike = ...) -> Array:
        """Whole numbers min, ..., max, all equally likely."""
    def exponential(self, rate: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, beta: ArrayLike = ..., lam: ArrayLike = ...) -> Array:
        """Exponential numbers, with mean 1 / rate."""
    def exponentially_modified_normal(self, mean: ArrayLike = 0.0, sd: ArrayLike = 1.0, rate: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, loc: ArrayLike = ..., mu: ArrayLike = ..., scale: ArrayLike = ..., sigma: ArrayLike = ..., lam: ArrayLike = ...) -> Array:
        """The sums of normal and of exponential numbers."""
    @overload
    def f(self, df1: ArrayLike, df2: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Quotients of two chi-squared numbers, each divided by its degrees of freedom."""
    @overload
    def f(self, df1: ArrayLike = ..., df2: ArrayLike = ..., shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, dfn: ArrayLike = ..., dfd: ArrayLike = ...) -> Array:
        """Quotients of two chi-squared numbers, each divided by its degrees of freedom."""
    @overload
    def gamma(self, alpha: ArrayLike, rate: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Gamma numbers, with mean alpha / rate."""
    @overload
    def gamma(self, alpha: ArrayLike = ..., rate: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, a: ArrayLike = ..., concentration: ArrayLike = ..., beta: ArrayLike = ...) -> Array:
        """Gamma numbers, with mean alpha / rate."""
    @overload
    def geometric(self, prob: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None) -> Array:
        """Numbers of failures before the first success."""
    @overload
    def geometric(self, prob: ArrayLike = ..., shape: Any = None, *, name: str | None = None, like: Any = None, probs: ArrayLike = ...) -> Array:
        """Numbers of failures before the first success."""
    def gumbel(self, location: ArrayLike = 0.0, scale: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, loc: ArrayLike = ..., mu: ArrayLike = ..., beta: ArrayLike = ...) -> Array:
        """Gumbel numbers with mode `location`, a limit of largest values."""
    def half_cauchy(self, scale: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, beta: ArrayLike = ..., sigma: ArrayLike = ...) -> Array:
        """|z| of Cauchy numbers z with median 0; their own median is `scale`."""
    def half_normal(self, sd: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, scale: ArrayLike = ..., sigma: ArrayLike = ...) -> Array:
        """|z| of normal numbers z with mean 0 and standard deviation `sd`."""
    @overload
    def half_student(self, df: ArrayLike, sigma: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """sigma |t| of Student's t with `df` degrees of freedom."""
    @overload
    def half_student(self, df: ArrayLike = ..., sigma: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, nu: ArrayLike = ..., scale: ArrayLike = ...) -> Array:
        """sigma |t| of Student's t with `df` degrees of freedom."""
    @overload
    def hurdle_gamma(self, zero: ArrayLike, alpha: ArrayLike, rate: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """A share `zero` of 0, and gamma numbers with mean alpha / rate."""
    @overload
    def hurdle_gamma(self, zero: ArrayLike, alpha: ArrayLike = ..., rate: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, a: ArrayLike = ..., concentration: ArrayLike = ..., beta: ArrayLike = ...) -> Array:
        """A share `zero` of 0, and gamma numbers with mean alpha / rate."""
    def hurdle_lognormal(self, zero: ArrayLike, meanlog: ArrayLike = 0.0, sdlog: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, mu: ArrayLike = ..., s: ArrayLike = ..., sigma: ArrayLike = ...) -> Array:
        """A share `zero` of 0, and exponentials of normal numbers."""
    def hurdle_negative_binomial(self, zero: ArrayLike, size: ArrayLike | None = None, prob: ArrayLike | None = None, shape: Any = None, *, mean: ArrayLike | None = None, log_mean: ArrayLike | None = None, dispersion: ArrayLike | None = None, name: str | None = None, like: Any = None, alpha: ArrayLike | None = ..., concentration: ArrayLike | None = ..., n: ArrayLike | None = ..., phi: ArrayLike | None = ..., total_count: ArrayLike | None = ..., p: ArrayLike | None = ..., mu: ArrayLike | None = ...) -> Array:
        """A share `zero` of 0, and negative binomial numbers above 0."""
    def hurdle_poisson(self, zero: ArrayLike, rate: ArrayLike | None = None, shape: Any = None, *, log_rate: ArrayLike | None = None, name: str | None = None, like: Any = None, lam: ArrayLike | None = ..., mu: ArrayLike | None = ...) -> Array:
        """A share `zero` of 0, and Poisson numbers above 0."""
    def hypergeometric(self, m: ArrayLike, n: ArrayLike, k: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None) -> Array:
        """Numbers of the `m` objects, not of the `n`, among `k` drawn without replacement."""
    @overload
    def inverse_gamma(self, alpha: ArrayLike, beta: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Inverse gamma numbers, with mean beta / (alpha - 1)."""
    @overload
    def inverse_gamma(self, alpha: ArrayLike = ..., beta: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, a: ArrayLike = ..., concentration: ArrayLike = ..., rate: ArrayLike = ..., scale: ArrayLike = ...) -> Array:
        """Inverse gamma numbers, with mean beta / (alpha - 1)."""
    def laplace(self, mu: ArrayLike = 0.0, sigma: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, loc: ArrayLike = ..., b: ArrayLike = ..., scale: ArrayLike = ...) -> Array:
        """Laplace numbers, with density exp(-|x - mu| / sigma) / (2 sigma)."""
    def lkj_cholesky(self, eta: ArrayLike = 1.0, dim: int = 2, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, concentration: ArrayLike = ..., dimension: int = ..., n: int = ...) -> Array:
        """Lower Cholesky factors of the matrices of `lkj_correlation`."""
    def lkj_correlation(self, eta: ArrayLike = 1.0, dim: int = 2, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, concentration: ArrayLike = ..., dimension: int = ..., n: int = ...) -> Array:
        """Correlation matrices of `dim` rows, with density proportional to det(R)**(eta - 1)."""
    def logistic(self, location: ArrayLike = 0.0, scale: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, loc: ArrayLike = ..., mu: ArrayLike = ..., s: ArrayLike = ..., sigma: ArrayLike = ...) -> Array:
        """Logistic numbers with mean `location`."""
    def lognormal(self, meanlog: ArrayLike = 0.0, sdlog: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, mu: ArrayLike = ..., s: ArrayLike = ..., sigma: ArrayLike = ...) -> Array:
        """Exponentials of normal numbers with mean `meanlog` and standard deviation `sdlog`."""
    @overload
    def matrix_normal(self, mean: ArrayLike, row_cov: ArrayLike | None = None, col_cov: ArrayLike | None = None, shape: Any = None, *, row_chol: ArrayLike | None = None, col_chol: ArrayLike | None = None, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Normal matrices, with a covariance of rows and one of columns."""
    @overload
    def matrix_normal(self, mean: ArrayLike = ..., row_cov: ArrayLike | None = None, col_cov: ArrayLike | None = None, shape: Any = None, *, row_chol: ArrayLike | None = None, col_chol: ArrayLike | None = None, name: str | None = None, like: Any = None, dtype: Any = None, loc: ArrayLike = ..., mu: ArrayLike = ..., rowcov: ArrayLike | None = ..., colcov: ArrayLike | None = ..., rowchol: ArrayLike | None = ..., scale_tril_row: ArrayLike | None = ..., colchol: ArrayLike | None = ..., scale_tril_column: ArrayLike | None = ...) -> Array:
        """Normal matrices, with a covariance of rows and one of columns."""
    @overload
    def multinomial(self, size: ArrayLike, prob: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None) -> Array:
        """Counts of classes in `size` trials, with weights along the last axis."""
    @overload
    def multinomial(self, size: ArrayLike = ..., prob: ArrayLike = ..., shape: Any = None, *, name: str | None = None, like: Any = None, n: ArrayLike = ..., total_count: ArrayLike = ..., p: ArrayLike = ..., probs: ArrayLike = ..., theta: ArrayLike = ...) -> Array:
        """Counts of classes in `size` trials, with weights along the last axis."""
    @overload
    def multivariate_normal(self, mean: ArrayLike, cov: ArrayLike | None = None, shape: Any = None, *, chol: ArrayLike | None = None, precision: ArrayLike | None = None, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Normal vectors along the last axis, by covariance, Cholesky factor or precision."""
    @overload
    def multivariate_normal(self, mean: ArrayLike = ..., cov: ArrayLike | None = None, shape: Any = None, *, chol: ArrayLike | None = None, precision: ArrayLike | None = None, name: str | None = None, like: Any = None, dtype: Any = None, loc: ArrayLike = ..., mu: ArrayLike = ..., Sigma: ArrayLike | None = ..., covariance_matrix: ArrayLike | None = ..., L: ArrayLike | None = ..., scale_tril: ArrayLike | None = ..., precision_matrix: ArrayLike | None = ..., tau: ArrayLike | None = ...) -> Array:
        """Normal vectors along the last axis, by covariance, Cholesky factor or precision."""
    @overload
    def multivariate_student(self, df: ArrayLike, mean: ArrayLike, cov: ArrayLike | None = None, shape: Any = None, *, chol: ArrayLike | None = None, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Vectors of Student's t, along the last axis, with scale matrix `cov`."""
    @overload
    def multivariate_student(self, df: ArrayLike = ..., mean: ArrayLike = ..., cov: ArrayLike | None = None, shape: Any = None, *, chol: ArrayLike | None = None, name: str | None = None, like: Any = None, dtype: Any = None, nu: ArrayLike = ..., loc: ArrayLike = ..., mu: ArrayLike = ..., Sigma: ArrayLike | None = ..., scale: ArrayLike | None = ..., L: ArrayLike | None = ..., scale_tril: ArrayLike | None = ...) -> Array:
        """Vectors of Student's t, along the last axis, with scale matrix `cov`."""
    def negative_binomial(self, size: ArrayLike | None = None, prob: ArrayLike | None = None, shape: Any = None, *, mean: ArrayLike | None = None, log_mean: ArrayLike | None = None, dispersion: ArrayLike | None = None, name: str | None = None, like: Any = None, alpha: ArrayLike | None = ..., concentration: ArrayLike | None = ..., n: ArrayLike | None = ..., phi: ArrayLike | None = ..., total_count: ArrayLike | None = ..., p: ArrayLike | None = ..., mu: ArrayLike | None = ...) -> Array:
        """Numbers of failures before `size` successes; or by mean and dispersion."""
    def normal(self, mean: ArrayLike = 0.0, sd: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, loc: ArrayLike = ..., mu: ArrayLike = ..., scale: ArrayLike = ..., sigma: ArrayLike = ...) -> Array:
        """Normal numbers."""
    @overload
    def ordered_logistic(self, eta: ArrayLike, cutpoints: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None) -> Array:
        """Numbers of cutpoints below a logistic number around `eta`."""
    @overload
    def ordered_logistic(self, eta: ArrayLike = ..., cutpoints: ArrayLike = ..., shape: Any = None, *, name: str | None = None, like: Any = None, predictor: ArrayLike = ...) -> Array:
        """Numbers of cutpoints below a logistic number around `eta`."""
    def ordered_probit(self, eta: ArrayLike, cutpoints: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None) -> Array:
        """Numbers of cutpoints below a normal number around `eta`."""
    @overload
    def pareto(self, a: ArrayLike, b: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Numbers above `b`; the share above x is (b / x)**a."""
    @overload
    def pareto(self, a: ArrayLike = ..., b: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, alpha: ArrayLike = ..., m: ArrayLike = ..., scale: ArrayLike = ..., y_min: ArrayLike = ...) -> Array:
        """Numbers above `b`; the share above x is (b / x)**a."""
    @overload
    def poisson(self, rate: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None) -> Array:
        """Poisson numbers, with mean `rate`."""
    @overload
    def poisson(self, rate: ArrayLike = ..., shape: Any = None, *, name: str | None = None, like: Any = None, lam: ArrayLike = ..., mu: ArrayLike = ...) -> Array:
        """Poisson numbers, with mean `rate`."""
    def random_walk(self, sd: ArrayLike = 1.0, dim: int | None = None, shape: Any = None, *, drift: ArrayLike = 0.0, init_mean: ArrayLike = 0.0, init_sd: ArrayLike | None = None, name: str | None = None, like: Any = None, dtype: Any = None, scale: ArrayLike = ..., sigma: ArrayLike = ..., num_steps: int | None = ..., mu: ArrayLike = ...) -> Array:
        """Gaussian random walks, along the last axis."""
    def skew_normal(self, location: ArrayLike = 0.0, scale: ArrayLike = 1.0, alpha: ArrayLike = 0.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, loc: ArrayLike = ..., mu: ArrayLike = ..., xi: ArrayLike = ..., omega: ArrayLike = ..., sigma: ArrayLike = ..., a: ArrayLike = ...) -> Array:
        """Skew normal numbers, with slant `alpha`."""
    @overload
    def student(self, df: ArrayLike, mu: ArrayLike = 0.0, sigma: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """mu + sigma t of Student's t with `df` degrees of freedom."""
    @overload
    def student(self, df: ArrayLike = ..., mu: ArrayLike = 0.0, sigma: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, nu: ArrayLike = ..., loc: ArrayLike = ..., scale: ArrayLike = ...) -> Array:
        """mu + sigma t of Student's t with `df` degrees of freedom."""
    def uniform(self, min: ArrayLike = 0.0, max: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, alpha: ArrayLike = ..., low: ArrayLike = ..., lower: ArrayLike = ..., beta: ArrayLike = ..., high: ArrayLike = ..., upper: ArrayLike = ...) -> Array:
        """Numbers in [min, max), all equally likely."""
    def von_mises(self, mu: ArrayLike = 0.0, kappa: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, loc: ArrayLike = ..., concentration: ArrayLike = ...) -> Array:
        """Angles from -pi to pi around `mu`, with concentration `kappa`."""
    def wald(self, mu: ArrayLike, lam: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, concentration: ArrayLike = ...) -> Array:
        """Inverse Gaussian numbers, with mean `mu` and variance mu**3 / lam."""
    @overload
    def weibull(self, alpha: ArrayLike, scale: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Weibull numbers of shape `alpha`."""
    @overload
    def weibull(self, alpha: ArrayLike = ..., scale: ArrayLike = 1.0, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, c: ArrayLike = ..., concentration: ArrayLike = ..., beta: ArrayLike = ..., sigma: ArrayLike = ...) -> Array:
        """Weibull numbers of shape `alpha`."""
    @overload
    def wishart(self, df: ArrayLike, scale: ArrayLike | None = None, shape: Any = None, *, chol: ArrayLike | None = None, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """Covariance matrices with mean df scale."""
    @overload
    def wishart(self, df: ArrayLike = ..., scale: ArrayLike | None = None, shape: Any = None, *, chol: ArrayLike | None = None, name: str | None = None, like: Any = None, dtype: Any = None, concentration: ArrayLike = ..., nu: ArrayLike = ..., S: ArrayLike | None = ..., V: ArrayLike | None = ..., scale_matrix: ArrayLike | None = ..., scale_tril: ArrayLike | None = ...) -> Array:
        """Covariance matrices with mean df scale."""
    @overload
    def zero_inflated_beta(self, zero: ArrayLike, shape1: ArrayLike, shape2: ArrayLike, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None) -> Array:
        """A share `zero` of 0, and beta numbers with mean shape1 / (shape1 + shape2)."""
    @overload
    def zero_inflated_beta(self, zero: ArrayLike = ..., shape1: ArrayLike = ..., shape2: ArrayLike = ..., shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, gate: ArrayLike = ..., a: ArrayLike = ..., alpha: ArrayLike = ..., concentration1: ArrayLike = ..., b: ArrayLike = ..., beta: ArrayLike = ..., concentration0: ArrayLike = ...) -> Array:
        """A share `zero` of 0, and beta numbers with mean shape1 / (shape1 + shape2)."""
    @overload
    def zero_inflated_negative_binomial(self, zero: ArrayLike, size: ArrayLike | None = None, prob: ArrayLike | None = None, shape: Any = None, *, mean: ArrayLike | None = None, log_mean: ArrayLike | None = None, dispersion: ArrayLike | None = None, name: str | None = None, like: Any = None) -> Array:
        """Negative binomial numbers with a share `zero` replaced by 0."""
    @overload
    def zero_inflated_negative_binomial(self, zero: ArrayLike = ..., size: ArrayLike | None = None, prob: ArrayLike | None = None, shape: Any = None, *, mean: ArrayLike | None = None, log_mean: ArrayLike | None = None, dispersion: ArrayLike | None = None, name: str | None = None, like: Any = None, gate: ArrayLike = ..., alpha: ArrayLike | None = ..., concentration: ArrayLike | None = ..., n: ArrayLike | None = ..., phi: ArrayLike | None = ..., total_count: ArrayLike | None = ..., p: ArrayLike | None = ..., mu: ArrayLike | None = ...) -> Array:
        """Negative binomial numbers with a share `zero` replaced by 0."""
    @overload
    def zero_inflated_poisson(self, zero: ArrayLike, rate: ArrayLike | None = None, shape: Any = None, *, log_rate: ArrayLike | None = None, name: str | None = None, like: Any = None) -> Array:
        """Poisson numbers with a share `zero` replaced by 0."""
    @overload
    def zero_inflated_poisson(self, zero: ArrayLike = ..., rate: ArrayLike | None = None, shape: Any = None, *, log_rate: ArrayLike | None = None, name: str | None = None, like: Any = None, gate: ArrayLike = ..., lam: ArrayLike | None = ..., mu: ArrayLike | None = ...) -> Array:
        """Poisson numbers with a share `zero` replaced by 0."""
    def zero_sum_normal(self, sd: ArrayLike = 1.0, dim: int | None = None, shape: Any = None, *, name: str | None = None, like: Any = None, dtype: Any = None, scale: ArrayLike = ..., sigma: ArrayLike = ...) -> Array:
        """Normal numbers minus their mean, along the last axis."""
