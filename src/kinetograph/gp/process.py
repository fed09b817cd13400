"""Exact Gaussian processes at given points.

n points take n**3 operations.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..distributions.multivariate_normal import multivariate_normal
from ..distributions.normal import normal
from ..graph.array import Array
from ..graph.dims import labels_of
from ..graph.errors import ShapeError
from ..graph.functions.matrices import cholesky, solve_triangular
from ..graph.node import Data
from ..graph.public import public
from ..graph.source import place_text
from ..graph.value_texts import in_words
from .kernels import Kernel, not_a_kernel, points
from .parameters import check_noise

__all__ = ["Process"]

JITTER = 1e-8
_LATER = (
    "; a process has a kernel and a mean, and takes points later: kg.gp.Process(kernel).latent(x), "
    "or .marginal(x, noise)"
)


def _has_axes(value: Any) -> bool:
    """Whether a value is several numbers, such as points."""
    return isinstance(value, (list, tuple)) or bool(getattr(value, "shape", ()))


def _labelled(mean: Any, z: Array, dims: Any) -> Array:
    """The mean with the dims of z, which pass through the sum."""
    known = not isinstance(mean, Array)
    value = np.broadcast_to(np.asarray(mean, float), z.shape) if known else np.zeros(z.shape)
    values = Array(Data(value, literal=True, dims=z.dims, coords=labels_of(dims)))
    return values if known else mean + values


@public
class Process:
    """A random function with a mean and a covariance kernel.

        f ~ GP(m, k):  f(x) ~ normal(m(x), k(x, x)) at any points x

    Parameters
    ----------
    kernel
        Made for example by `kg.gp.rbf`; its parameters may be unknowns.
    mean
        A number, or a function of points, (n, d), that gives (n,).
    jitter
        Added to the diagonal of covariance matrices, in units of the mean of the diagonal, so that
        the matrices of nearly equal points have a Cholesky factor.

    Raises
    ------
    TypeError
        If `kernel` is not a kernel, or `mean` is neither a number nor a function.

    Examples
    --------
    >>> import numpy as np, kinetograph as kg
    >>> x, y = np.linspace(0, 1, 5), np.array([0.1, 0.9, 1.2, 0.7, 0.2])
    >>> length, noise = kg.lognormal(-1, 0.5, name="length"), kg.half_normal(0.3, name="noise")
    >>> gp = kg.gp.Process(kg.gp.rbf(length))
    >>> likelihood = kg.observe(y, gp.marginal(x, noise))
    >>> model = kg.model(length, noise)
    >>> fit = kg.mcmc(model, draws=100, seed=1, progress=False)
    >>> new = gp.conditional([0.3, 1.5], x, y, noise)
    >>> kg.predict(model, fit, f=new)["predictions"]["f"].shape
    (4, 100, 2)
    """

    def __init__(
        self,
        kernel: Kernel,
        mean: float | Array | Callable[[Any], Any] = 0.0,
        *,
        jitter: float = JITTER,
    ) -> None:
        if not isinstance(kernel, Kernel):
            swapped = "; write kg.gp.Process(kernel, mean)" if isinstance(mean, Kernel) else ""
            raise not_a_kernel(kernel, "gp.Process", _LATER if _has_axes(kernel) else swapped)
        if isinstance(mean, Kernel):
            raise TypeError(
                f"gp.Process: the mean is a kernel{place_text()}; the sum of two processes has the "
                "sum of their kernels: kg.gp.Process(first + second)"
            )
        if _has_axes(mean):
            raise TypeError(
                f"gp.Process: the mean must be a number or a function of points, got "
                f"{in_words(mean)}{place_text()}{_LATER}"
            )
        self.kernel = kernel
        self._mean = mean
        self._jitter = jitter

    def __call__(self, x: Any) -> Any:
        """Raise TypeError: the values at points are `latent` or `marginal`."""
        raise TypeError(
            f"gp.Process: a process cannot be called{place_text()}; write process.latent(x) for "
            "its unknown values at points x, or process.marginal(x, noise) in kg.observe"
        )

    def mean(self, x: Any) -> Any:
        """The mean at points, (n,)."""
        rows = points(x, "gp.Process")
        if callable(self._mean):
            mean = self._mean(rows)
            if np.shape(mean) not in ((), rows.shape[:1]):
                raise ShapeError(
                    f"gp.Process: the mean function must give one number for each point, of shape "
                    f"{rows.shape[:1]}, got shape {np.shape(mean)}{place_text()}; its argument has "
                    f"the shape {rows.shape}: write x[:, 0] for the first coordinate"
                )
            return mean
        return self._mean + np.zeros(rows.shape[0])

    def covariance(self, x: Any) -> Array:
        """The covariance matrix at points, (n, n), with the jitter."""
        return self._safe(self.kernel(x))

    def latent(self, x: Any, *, name: str | None = None, dims: Any = None) -> Array:
        """The unknown values of the function at points: m + L z.

        Here z ~ normal(0, 1) and L is the Cholesky factor of the covariance, K = L L'.

        Parameters
        ----------
        x
            Points, (n, d) or (n,).
        name
            The name of z in the results.
        dims
            The dim of the points, as a name or as `kg.dim(name, labels)`: of z and of the values.
        """
        rows = points(x, "gp.Process")
        z = normal(0.0, 1.0, shape=rows.shape[0], name=name, dims=dims)
        mean = self.mean(rows)
        if dims is not None:
            mean = _labelled(mean, z, dims)
        return mean + cholesky(self.covariance(rows)) @ z

    def marginal(self, x: Any, noise: Any) -> Array:
        """The distribution of values observed with normal noise, for `kg.observe`.

        y ~ normal(m(x), K + noise**2)
        """
        rows = points(x, "gp.Process")
        check_noise("gp.Process", noise)
        return multivariate_normal(self.mean(rows), self._noisy(rows, noise))

    def conditional(
        self,
        new: Any,
        x: Any,
        seen: Any,
        noise: Any = 0.0,
        *,
        dims: Any = None,
        name: str | None = None,
    ) -> Array:
        """The distribution of the values at new points, given observed values.

            f* ~ normal(m* + K*' A (y - m), K** - K*' A K*),  A = (K + noise**2)^-1

        Parameters
        ----------
        new, x
            New and observed points, (m, d) and (n, d).
        seen
            Values at x, (n,): data, or the result of `latent`.
        noise
            The standard deviation of the noise of `seen`; 0 if `seen` are values of the function
            itself.
        dims
            The dim of the new points in the results, as a name or as `kg.dim(name, labels)`.
        name
            The name in the results.

        Returns
        -------
        Array
            An unknown, (m,): for `kg.predict(model, results, f=...)`.
        """
        rows, new_rows = points(x, "gp.Process"), points(new, "gp.Process")
        if np.shape(seen) != rows.shape[:1]:
            raise ShapeError(
                "gp.Process: conditional(new, x, seen, noise) needs one seen value for each row "
                f"of x, got x of {rows.shape[0]} rows and seen of shape {np.shape(seen)}"
                f"{place_text()}"
            )
        check_noise("gp.Process", noise)
        factor = cholesky(self._noisy(rows, noise))
        across = solve_triangular(factor, self.kernel(rows, new_rows), lower=True)
        residual = solve_triangular(factor, seen - self.mean(rows), lower=True)
        mean = self.mean(new_rows) + across.T @ residual
        prior_covariance = self.kernel(new_rows)
        covariance = self._safe(prior_covariance - across.T @ across, prior_covariance)
        return multivariate_normal(mean, covariance, dims=dims, name=name)

    def _noisy(self, rows: Array, noise: Any) -> Array:
        """The covariance of observed values: with jitter and noise."""
        return self._safe(self.kernel(rows)) + noise**2 * np.eye(rows.shape[0])

    def _safe(self, matrix: Array, scale: Array | None = None) -> Array:
        """Add the jitter to the diagonal of a matrix.

        The jitter is relative to the mean diagonal of `scale`, by default the matrix itself.
        """
        n = matrix.shape[0]
        mean_diagonal = ((matrix if scale is None else scale) * np.eye(n)).sum() / n
        return matrix + self._jitter * mean_diagonal * np.eye(n)
