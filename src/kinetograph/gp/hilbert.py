"""A Gaussian process as a sum of fixed functions: n m operations for n points and m functions.

    f(x) = m(x) + sum_j sqrt(S(sqrt(lambda_j))) phi_j(x) z_j,   z ~ normal(0, 1)

with the eigenfunctions phi of the Laplacian on a box around the points, and the spectral density S
of the kernel. Sources: A. Solin, S. Särkkä, Statistics and Computing 30 (2020); G. Riutort-Mayol,
P.-C. Bürkner, M. R. Andersen, A. Solin, A. Vehtari, Statistics and Computing 33 (2023).
"""

from typing import Any

import numpy as np

from ..distributions.normal import normal
from ..graph.array import Array
from ..graph.errors import ShapeError
from ..graph.functions.mathematics import sqrt
from ..graph.node import Data
from ..graph.operations.elementwise import as_node
from ..graph.source import place_text
from .kernels import Kernel, points

__all__ = ["Hilbert"]


class Hilbert:
    """A Gaussian process at many points, approximately.

    Parameters
    ----------
    kernel
        A stationary one: `kg.gp.rbf`, `matern12`, `matern32`, `matern52` or a sum of these.
    x
        Points, (n, d) or (n,), known.
    basis
        How many functions a dimension has, a number or one for each: more for short lengths, about
        1.75 boundary half-widths / length for `rbf`.
    boundary
        How much wider than the points the box is, above 1: wider for long lengths; 1.2 to 2.
    mean
        Added to the values: a number or an array.
    name, dims
        The name of z in the results, and of its axis.

    Attributes
    ----------
    values
        The unknown values at x, (n,).

    Raises
    ------
    TypeError
        If the kernel has no spectral density.
    ValueError
        If `boundary` is not above 1 or `basis` no whole numbers.

    Examples
    --------
    >>> import numpy as np, kinetograph as kg
    >>> x = np.linspace(0, 10, 200)
    >>> f = kg.gp.Hilbert(kg.gp.matern52(2.0), x, basis=30)
    >>> likelihood = kg.observe(np.sin(x), kg.normal(f.values, 0.1))
    >>> model = kg.model(f.z)
    >>> model.free_size
    30
    """

    def __init__(
        self,
        kernel: Kernel,
        x: Any,
        *,
        basis: Any = 20,
        boundary: float = 1.5,
        mean: Any = 0.0,
        name: str | None = None,
        dims: Any = None,
    ) -> None:
        if not isinstance(kernel, Kernel) or kernel.spectrum is None:
            raise TypeError(
                f"gp.Hilbert: {kernel!r} has no spectral density; take a stationary kernel: rbf, "
                f"matern12, matern32, matern52, or a sum of them{place_text()}"
            )
        known = _known(x)
        if not boundary > 1:
            raise ValueError(f"gp.Hilbert: boundary must be above 1, got {boundary}{place_text()}")
        counts = np.broadcast_to(np.asarray(basis), known.shape[1:])
        if counts.dtype.kind not in "iu" or (counts < 1).any():
            raise ValueError(
                f"gp.Hilbert: basis must be whole numbers above 0, got {basis!r}{place_text()}"
            )
        low, high = known.min(0), known.max(0)
        self._centre = (low + high) / 2
        self._half = boundary * np.maximum((high - low) / 2, 1e-12)
        orders = np.stack([i.reshape(-1) for i in np.indices(tuple(counts.tolist()))], -1) + 1
        self._frequencies = np.pi * orders / (2 * self._half)
        self.kernel = kernel
        self._mean = mean
        self.z = normal(0.0, 1.0, shape=len(orders), name=name, dims=dims)
        self._weights = sqrt(kernel.spectrum(self._frequencies)) * self.z
        self.values = self.at(known)

    def at(self, x: Any) -> Array:
        """The values at any points inside of the box, (m,): of the same function.

        Raises
        ------
        ShapeError
            If the points have another dimension.
        ValueError
            If one lies outside of the box.
        """
        new = _known(x)
        if new.shape[1] != len(self._half):
            raise ShapeError(
                f"gp.Hilbert: points of {len(self._half)} dimensions are expected, got shape "
                f"{new.shape}{place_text()}"
            )
        inside = np.abs(new - self._centre) <= self._half
        if not inside.all():
            place = int(np.argwhere(~inside.all(1))[0, 0])
            raise ValueError(
                f"gp.Hilbert: the point {new[place]} at index {place} lies outside of the box "
                f"{self._centre - self._half} .. {self._centre + self._half}, at whose ends the "
                f"functions are 0; take a larger boundary{place_text()}"
            )
        waves = np.sin(self._frequencies * (new[:, None, :] - self._centre + self._half))
        functions = np.prod(waves / np.sqrt(self._half), -1)
        result: Array = self._mean + Array(as_node(functions)) @ self._weights
        return result


def _known(x: Any) -> np.ndarray:
    """Known points as rows."""
    shape = points(x, "gp.Hilbert").shape
    node = x.node if isinstance(x, Array) else None
    if node is not None and not isinstance(node, Data):
        raise TypeError(f"gp.Hilbert: the points must be known{place_text()}")
    return np.asarray(x if node is None else node.value, float).reshape(shape)
