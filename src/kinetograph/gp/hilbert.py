"""Approximate Gaussian processes as sums of fixed functions.

    f(x) = m(x) + sum_j sqrt(S(sqrt(lambda_j))) phi_j(x) z_j,   z ~ normal(0, 1)

Here phi_j are the eigenfunctions of the Laplacian on a box around the points, lambda_j their
eigenvalues, and S is the spectral density of the kernel. n points and m functions take n m
operations. Sources: A. Solin, S. Särkkä, Statistics and Computing 30 (2020); G. Riutort-Mayol,
P.-C. Bürkner, M. R. Andersen, A. Solin, A. Vehtari, Statistics and Computing 33 (2023).
"""

from typing import Any

import numpy as np

from ..distributions.normal import normal
from ..graph.array import Array
from ..graph.errors import ShapeError
from ..graph.functions.mathematics import sqrt
from ..graph.node import Data
from ..graph.operations.operands import as_node
from ..graph.public import public
from ..graph.source import place_text
from ..graph.value_texts import shown
from .kernels import Kernel, not_a_kernel, points

__all__ = ["Hilbert"]


@public
class Hilbert:
    """A Gaussian process at many points, approximated by a sum of functions.

    Parameters
    ----------
    kernel
        A stationary kernel: `kg.gp.rbf`, `matern12`, `matern32`, `matern52` or a sum of these.
    x
        Points, (n, d) or (n,), with known values.
    basis
        The number of functions for each dimension: one number for all dimensions, or one for each.
        Shorter lengths need more functions; for `rbf` about 1.75 boundary half-widths / length.
    boundary
        The width of the box in units of the width of the points, above 1. Longer lengths need a
        wider box; 1.2 to 2 is usual.
    mean
        Added to the values: a number or an array.
    z
        The numbers z, one for each function; by default new unknowns. Two processes can share
        them.
    name, dims
        The name of z in the results, and of its axis.

    Attributes
    ----------
    values
        The unknown values at x, (n,).

    Raises
    ------
    TypeError
        If `kernel` is not a kernel, or has no spectral density.
    ShapeError
        If z does not have one number for each function.
    ValueError
        If `boundary` is not above 1, or `basis` is not made of whole numbers above 0.

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
        z: Array | None = None,
        name: str | None = None,
        dims: Any = None,
    ) -> None:
        if not isinstance(kernel, Kernel):
            swapped = isinstance(x, Kernel)
            way_out = "; the arguments are swapped: write kg.gp.Hilbert(kernel, x)"
            raise not_a_kernel(kernel, "gp.Hilbert", way_out if swapped else "")
        if kernel.spectrum is None:
            raise TypeError(
                f"gp.Hilbert: {kernel!r} has no spectral density; use a stationary kernel: rbf, "
                f"matern12, matern32, matern52, or a sum of these{place_text()}"
            )
        rows = _known_rows(x)
        if not boundary > 1:
            raise ValueError(f"gp.Hilbert: boundary must be above 1, got {boundary}{place_text()}")
        counts = np.broadcast_to(np.asarray(basis), rows.shape[1:])
        if counts.dtype.kind not in "iu" or (counts < 1).any():
            raise ValueError(
                f"gp.Hilbert: basis must be whole numbers above 0, got {shown(basis)}{place_text()}"
            )
        low, high = rows.min(0), rows.max(0)
        self._centre = (low + high) / 2
        self._half = boundary * np.maximum((high - low) / 2, 1e-12)
        orders = np.stack([i.reshape(-1) for i in np.indices(tuple(counts.tolist()))], -1) + 1
        self._frequencies = np.pi * orders / (2 * self._half)
        self.kernel = kernel
        self._mean = mean
        if z is not None and z.shape != (len(orders),):
            raise ShapeError(
                f"gp.Hilbert: z must have {len(orders)} numbers, got shape {z.shape}{place_text()}"
            )
        self.z = normal(0.0, 1.0, shape=len(orders), name=name, dims=dims) if z is None else z
        self._weights = sqrt(kernel.spectrum(self._frequencies)) * self.z
        self.values = self.at(rows)

    def at(self, x: Any) -> Array:
        """The values of the function at any points inside the box, (m,).

        Raises
        ------
        ShapeError
            If the points have another dimension.
        ValueError
            If a point lies outside the box.
        """
        rows = _known_rows(x)
        if rows.shape[1] != len(self._half):
            raise ShapeError(
                f"gp.Hilbert: expected points of {len(self._half)} dimensions, got shape "
                f"{rows.shape}{place_text()}"
            )
        inside = np.abs(rows - self._centre) <= self._half
        if not inside.all():
            index = int(np.argwhere(~inside.all(1))[0, 0])
            raise ValueError(
                f"gp.Hilbert: the point {rows[index]} at index {index} lies outside the box "
                f"{self._centre - self._half} .. {self._centre + self._half}; use a larger "
                f"boundary{place_text()}"
            )
        waves = np.sin(self._frequencies * (rows[:, None, :] - self._centre + self._half))
        functions = np.prod(waves / np.sqrt(self._half), -1)
        result: Array = self._mean + Array(as_node(functions)) @ self._weights
        return result


def _known_rows(x: Any) -> np.ndarray:
    """The values of points, as rows."""
    shape = points(x, "gp.Hilbert").shape
    node = x.node if isinstance(x, Array) else None
    if node is not None and not isinstance(node, Data):
        raise TypeError(f"gp.Hilbert: the points must be data, not computed{place_text()}")
    return np.asarray(x if node is None else node.value, float).reshape(shape)
