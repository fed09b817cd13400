"""Unit directions in the space of free parameters."""

from typing import Any

import numpy as np

from ...graph.errors import ShapeError
from ...graph.public import public
from ..analysis.covariances import covariance, eigenpairs, low_rank_covariance
from ..analysis.files import read_table
from ..analysis.inputs import numbers
from ..landscape import DENSE, Landscape

__all__ = [
    "covariance_directions",
    "gradient_direction",
    "hessian_directions",
    "random_directions",
    "read_directions",
    "unit",
]


@public
def random_directions(landscape: Landscape, count: int = 2, *, seed: int = 0) -> np.ndarray:
    """Random orthogonal directions, uniform on the sphere.

    Returns
    -------
    array
        Of shape (count, size), orthonormal.

    Raises
    ------
    ValueError
        If there are more directions than free parameters.

    Examples
    --------
    >>> import jax, numpy as np, kinetograph as kg
    >>> x, network = np.linspace(-1, 1, 20)[:, None], kg.neural.mlp([3], "tanh")
    >>> layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    >>> land = kg.neural.Landscape(network, layout, "mean_squared", x, x**2)
    >>> kg.neural.surfaces.random_directions(land, 2).shape
    (2, 10)
    """
    if not 1 <= count <= landscape.size:
        raise ValueError(
            f"random_directions: count must be between 1 and {landscape.size}, the number of free "
            f"parameters, got {count!r:.60}"
        )
    normals = np.random.default_rng(seed).standard_normal((landscape.size, count))
    basis, triangle = np.linalg.qr(normals)
    return np.asarray((basis * np.sign(np.diag(triangle))).T)


@public
def gradient_direction(landscape: Landscape, point: Any) -> np.ndarray:
    """The direction of the gradient of the potential, (1, size).

    Raises ValueError if the gradient is zero.

    Examples
    --------
    >>> import jax, numpy as np, kinetograph as kg
    >>> x, network = np.linspace(-1, 1, 20)[:, None], kg.neural.mlp([])
    >>> layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    >>> land = kg.neural.Landscape(network, layout, "mean_squared", x, 2 * x)
    >>> kg.neural.surfaces.gradient_direction(land, [3.0, 1.0]).round(2).tolist()
    [[0.35, 0.94]]
    """
    return unit(landscape.gradient(point), landscape.size, "gradient_direction")


@public
def hessian_directions(
    landscape: Landscape, point: Any, count: int = 2, *, which: str = "largest"
) -> np.ndarray:
    """Eigenvectors of the Hessian of the potential, (count, size).

    The method `Landscape.hessian_eigenpairs` describes the arguments. The eigenvalues descend.

    Examples
    --------
    >>> import jax, numpy as np, kinetograph as kg
    >>> x, network = np.linspace(-1, 1, 20)[:, None], kg.neural.mlp([])
    >>> layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    >>> land = kg.neural.Landscape(network, layout, "mean_squared", x, 2 * x)
    >>> kg.neural.surfaces.hessian_directions(land, [3.0, 0.0], 1).round(6).tolist()
    [[0.0, 1.0]]
    """
    return np.asarray(landscape.hessian_eigenpairs(point, count, which).vectors.T)


@public
def covariance_directions(draws: Any, count: int = 2) -> np.ndarray:
    """Leading eigenvectors of the covariance of draws, (count, size).

    Parameters
    ----------
    draws
        Draws of shape (chain, draw, size).
    count
        The number of directions.

    Raises
    ------
    ValueError
        If the draws have another shape or fewer directions.

    Examples
    --------
    >>> import numpy as np, kinetograph as kg
    >>> draws = np.outer([1.0, 2.0, 4.0], [3.0, 4.0])[None]
    >>> kg.neural.surfaces.covariance_directions(draws, 1).round(6).tolist()
    [[0.6, 0.8]]
    """
    size = np.shape(draws)[-1]
    if size <= DENSE:
        return np.asarray(eigenpairs(covariance(draws), count).vectors.T)
    return np.asarray(low_rank_covariance(draws, count).vectors.T)


@public
def read_directions(landscape: Landscape, path: Any) -> np.ndarray:
    """Read directions from a CSV file, one in each row.

    Parameters
    ----------
    landscape
        The losses; its names are columns of the file.
    path
        A CSV file with a header.

    Returns
    -------
    array
        Of shape (direction, size); each row has length 1.

    Raises
    ------
    ValueError
        If a free parameter has no column, or a row is zero.

    Examples
    --------
    >>> import tempfile, pathlib, jax, numpy as np, kinetograph as kg
    >>> x, network = np.linspace(-1, 1, 20)[:, None], kg.neural.mlp([])
    >>> layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    >>> land = kg.neural.Landscape(network, layout, "mean_squared", x, 2 * x)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "directions.csv"
    >>> kg.neural.analysis.write_table(path, {"weight0": [3.0], "bias0": [4.0]})
    >>> kg.neural.surfaces.read_directions(land, path).tolist()
    [[0.6, 0.8]]
    """
    columns = read_table(path)
    missing = [name for name in landscape.names if name not in columns]
    if missing:
        raise ValueError(
            f"read_directions: {str(path)!r} has no column {missing[0]!r}; expected a column for "
            f"each of the {landscape.size} free parameters"
        )
    rows = np.stack([columns[name] for name in landscape.names], 1)
    return unit(rows, landscape.size, "read_directions")


def unit(directions: Any, size: int, doing: str) -> np.ndarray:
    """The directions with length 1, (direction, size).

    Raises
    ------
    ShapeError
        If the directions have another shape.
    ValueError
        If a direction is zero or not finite.
    """
    d = np.atleast_2d(numbers(directions, f"{doing}: directions"))
    if d.ndim != 2 or d.shape[1] != size or not len(d):
        raise ShapeError(
            f"{doing}: expected directions of shape (direction, {size}), got {np.shape(directions)}"
        )
    lengths = np.linalg.norm(d, axis=1)
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        bad = int(np.flatnonzero(~(np.isfinite(lengths) & (lengths > 0)))[0])
        raise ValueError(f"{doing}: direction {bad} has the length {lengths[bad]}")
    return d / lengths[:, None]
