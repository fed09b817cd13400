"""Effects of areas that are alike if the areas are neighbours."""

import numbers
from typing import Any

import numpy as np
from scipy.linalg import helmert, solve_triangular

from ..distributions.normal import normal
from ..graph.array import Array
from ..graph.dims import check_dims, coords_of
from ..graph.errors import ShapeError
from ..graph.inputs import data
from ..graph.node import Data
from ..graph.public import public
from ..graph.source import place_text
from ..graph.tables import row_index
from ..graph.value_texts import check_name, in_words
from ..models.names import name_in_scope

__all__ = ["icar"]


@public
def icar(
    adjacency: Any,
    sd: Any = 1.0,
    *,
    scaled: bool = False,
    name: str | None = None,
    dims: Any = None,
) -> Array:
    """Effects of areas, each of them near the mean of its neighbours.

    An intrinsic conditional autoregression (ICAR, the spatial part of BYM and BYM2):

        log p(x) = -sum over pairs w_ij (x_i - x_j)**2 / (2 sd**2) + constant,    sum x = 0

    It is computed as x = B u with u ~ normal(0, sd), an unknown of n - 1 numbers, where B B' is the
    generalised inverse of the Laplacian matrix of the areas.

    Parameters
    ----------
    adjacency
        A known symmetric matrix, (n, n), such as an array, a data frame or a sparse matrix of
        SciPy: w_ij is 1 if the areas i and j are neighbours and 0 if not, or another weight. All
        areas must be connected.
    sd
        Scale, above zero; it may be an unknown.
    scaled
        Whether B is divided so that the geometric mean of the variances of the x_i is sd**2. Then
        `sd` means the same for all maps, and BYM2 needs it.
    name
        The name of the effects x in the results; u is then called `name_u`.
    dims
        The dim of the areas, as a name or as `kg.dim(name, labels)`. With a name, a data frame
        gives its labels. The name of a data frame's index is the default.

    Returns
    -------
    Array
        The effects x, (n,).

    Raises
    ------
    TypeError, ShapeError
        If `adjacency` is not a known matrix, or is not square.
    ValueError
        If `adjacency` is not symmetric, has negative weights or areas next to themselves, if the
        areas are not connected, or if rows and columns of a data frame have different labels.
    DimsError
        If `dims` is not a dim of the areas, or has labels other than a data frame.

    Examples
    --------
    The risks of five areas along a road, by BYM2:

    >>> import numpy as np, kinetograph as kg
    >>> adjacency = np.eye(5, k=1) + np.eye(5, k=-1)
    >>> neighbours = kg.gp.icar(adjacency, scaled=True, name="neighbours")
    >>> areas = kg.normal(0, 1, shape=5, name="areas")
    >>> sd, share = kg.half_normal(1, name="sd"), kg.beta(0.5, 0.5, name="share")
    >>> effect = sd * (kg.sqrt(1 - share) * areas + kg.sqrt(share) * neighbours)
    >>> cases = kg.observe([3, 5, 9, 12, 8], kg.poisson(7 * kg.exp(effect)))
    >>> kg.model(sd, share, effect).free_size
    11

    Sources: J. Besag, J. York, A. Mollie, Annals of the Institute of Statistical Mathematics 43
    (1991) 1-20. A. Riebler et al., Statistical Methods in Medical Research 25 (2016) 1145-1165
    (BYM2 and the scale).
    """
    if isinstance(dims, (tuple, list)) and len(dims) == 1:
        (dims,) = dims
    basis = _basis(_matrix(adjacency))
    if scaled:
        basis = basis / np.exp(np.log(np.square(basis).sum(1)).mean() / 2)
    rows = data(_labelled(basis, adjacency, dims), dims=None if dims is None else (dims, None))
    node = rows.node
    assert isinstance(node, Data)
    node.columns = node.rows  # of the adjacency
    node.variable = f"{name_in_scope(adjacency) or 'adjacency'}_basis"
    check_name("gp.icar", name)
    u = normal(0.0, sd, shape=len(basis) - 1, name=f"{name}_u" if name else None)
    effects: Array = rows @ u
    effects.node.name = name
    return effects


def _labelled(basis: np.ndarray, adjacency: Any, dims: Any) -> Any:
    """The basis, with the labels of a data frame of pandas."""
    index = row_index(adjacency)
    frame = basis if index is None else type(adjacency)(basis, index=index)
    if dims is not None:
        names = check_dims((dims,), basis.shape[:1], f"gp.icar: adjacency{place_text()}") or ()
        coords_of(frame, (*names, None), (dims, None), f"gp.icar: adjacency{place_text()}")
    return frame


def _matrix(adjacency: Any) -> np.ndarray:
    """The weights of the pairs of areas.

    The result is symmetric, with zeros on its diagonal, and connects all areas.
    """
    if isinstance(adjacency, Array):
        raise TypeError(
            f"gp.icar: adjacency must be known, got {in_words(adjacency)}{place_text()}; give the "
            "NumPy array itself"
        )
    if isinstance(adjacency, numbers.Real):
        raise TypeError(
            f"gp.icar: adjacency comes first, got {in_words(adjacency)}{place_text()}; write "
            "kg.gp.icar(adjacency, sd)"
        )
    if hasattr(adjacency, "index") and hasattr(adjacency, "columns"):
        pairs = zip(adjacency.index, adjacency.columns, strict=False)
        for i, (row, column) in enumerate(pairs):
            if row != column and adjacency.shape[0] == adjacency.shape[1]:
                raise ValueError(
                    f"gp.icar: row {i} of the data frame is {row!r}, but column {i} is {column!r}"
                    f"{place_text()}; give both the same order: adjacency.loc[labels, labels]"
                )
    dense = adjacency.toarray() if hasattr(adjacency, "toarray") else adjacency
    try:
        weights = np.asarray(dense)
    except ValueError:  # rows of different lengths
        raise ShapeError(
            f"gp.icar: adjacency must be an n x n matrix of 0 and 1, got {in_words(adjacency)} "
            f"whose parts have different lengths{place_text()}; from a list of the neighbours of "
            "each area: W[i, neighbours[i]] = 1 with W = zeros((n, n))"
        ) from None
    if weights.dtype.kind not in "biuf":
        raise TypeError(
            f"gp.icar: adjacency must be a matrix of numbers, got {in_words(adjacency)}"
            f"{place_text()}"
        )
    weights = weights.astype(float)
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1] or len(weights) < 2:
        hint = ""
        if weights.ndim == 2 and weights.shape[1] == 2:
            hint = "; from pairs (i, j) of neighbours: W[i, j] = W[j, i] = 1 with W = zeros((n, n))"
        raise ShapeError(
            "gp.icar: adjacency must be a square matrix, with a row and a column for each of at "
            f"least two areas, got shape {weights.shape}{place_text()}{hint}"
        )
    faults = {
        "is not finite": ~np.isfinite(weights),
        "is negative": weights < 0,
        "is on the diagonal; no area is its own neighbour": np.diag(np.diag(weights)) != 0,
        "is not symmetric: adjacency[j, i] differs": weights != weights.T,
    }
    for fault, places in faults.items():
        if places.any():
            i, j = (int(index) for index in np.argwhere(places)[0])
            raise ValueError(
                f"gp.icar: adjacency[{i}, {j}] = {weights[i, j]:g} {fault}{place_text()}"
            )
    reached = _reached(weights, 0)
    if not reached.all():
        other = int(np.flatnonzero(~reached)[0])
        raise ValueError(
            f"gp.icar: area {other} is not connected with area 0{place_text()}; of {len(weights)} "
            f"areas, {int(reached.sum())} are. Give each connected part its own kg.gp.icar, and "
            "areas without neighbours a kg.normal, and join them by kg.concatenate"
        )
    return weights


def _reached(weights: np.ndarray, start: int) -> np.ndarray:
    """The areas that are connected with one area, as a mask."""
    reached = np.arange(len(weights)) == start
    while True:
        more = reached | (weights[reached] > 0).any(0)
        if (more == reached).all():
            return reached
        reached = more


def _basis(weights: np.ndarray) -> np.ndarray:
    """The matrix B: B B' is the generalised inverse of the Laplacian."""
    laplacian = np.diag(weights.sum(1)) - weights
    directions = helmert(len(weights))  # orthogonal rows of length 1 and sum 0
    factor = np.linalg.cholesky(directions @ laplacian @ directions.T)
    basis: np.ndarray = solve_triangular(factor, directions, lower=True).T
    return basis
