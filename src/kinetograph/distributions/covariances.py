"""Covariance matrices as parameters: their checks and their Cholesky factors."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..graph.array import Array
from ..graph.errors import ShapeError
from ..graph.functions.mathematics import sqrt, where
from ..graph.messages import describe
from ..graph.missing import first_place
from ..graph.node import FORM, Apply, Data, Node, ancestors
from ..graph.operations.elementwise import ELEMENTWISE
from ..graph.operations.indexing import SLICE
from ..graph.operations.linear_algebra import CHOLESKY, MATMUL, cholesky
from ..graph.operations.operands import as_node, literal
from ..graph.operations.shaping import DIAG, diagonal
from ..graph.source import place_text
from .matrix_trials import differs, surely_symmetric, trial_value
from .support import CorrelationMatrix, CovarianceMatrix
from .variable import Variable

__all__ = ["factor_of", "mean_of"]

_SCALED = (ELEMENTWISE["multiply"], ELEMENTWISE["divide"])
_SYMMETRIC = (CorrelationMatrix, CovarianceMatrix)


def _check_matrix(
    name: str,
    node: Node,
    title: str,
    factor: bool,
    factor_name: str | None,
    before: Mapping[str, Any],
) -> None:
    """Refuse a matrix that cannot be a covariance or a factor.

    If `factor`, the matrix must be a Cholesky factor. `factor_name` is the parameter
    that takes one. `before` has the parameters in front of the matrix.
    """
    if len(node.shape) < 2 or node.shape[-1] != node.shape[-2]:
        hint = ""
        if len(node.shape) < 2 and any(map(_may_be_covariance, before.values())):
            order = ", ".join([*before, f"{title}=..." if factor else title])
            hint = f"; the arguments look swapped: the order is {name}({order})"
        elif len(node.shape) < 2:
            hint = "; a matrix of this diagonal is " + ("np.diag" if node.shape else "np.eye(n) *")
            hint += f"({describe(node)})" if node.shape else f" {describe(node)}"
        raise ShapeError(
            f"{name}: {title} {describe(node)} must be a square matrix, got shape {node.shape}"
            f"{place_text()}{hint}"
        )
    if not isinstance(node, Data):
        if not factor and node.shape[-1] > 1 and _is_lower(node):
            way_out = f"; give it by name, {factor_name}={describe(node)}" if factor_name else ""
            if title == "precision":
                way_out = "; the precision of its factor L is L @ L.T"
            raise ValueError(
                f"{name}: {title} {describe(node)} is a Cholesky factor, not a covariance"
                f"{place_text()}{way_out}"
            )
        scaled = "" if factor else _scaled_on_one_side(node)
        if fault := scaled or _impossible(node, factor, factor_name):
            raise ValueError(f"{name}: {title} {describe(node)} {fault}")
        return
    value, fault, way_out = node.value, "", ""
    if not np.all(np.isfinite(value)):
        fault = "is not finite"
    elif not factor:
        apart = ~np.isclose(value, np.swapaxes(value, -1, -2))
        if np.any(apart):
            *_, i, j = first = first_place(apart)
            other = value[(*first[:-2], j, i)]
            fault = f"is not symmetric: {value[first]:g} at index ({i}, {j}), but {other:g} at "
            fault += f"({j}, {i})"
            if factor_name and not np.any(np.triu(value, 1)):
                way_out = f"; give a Cholesky factor by name, {factor_name}={describe(node)}"
        elif np.any((least := np.linalg.eigvalsh(value)) <= 0):
            fault = f"is not positive definite: an eigenvalue is {least.min():.3g}"
    elif np.any(np.triu(value, 1)) or np.any(np.diagonal(value, axis1=-2, axis2=-1) <= 0):
        fault = "must be lower triangular with a positive diagonal"
    if fault:
        raise ValueError(f"{name}: {title} {describe(node)} {fault}{place_text()}{way_out}")


def _may_be_covariance(value: Any) -> bool:
    """Whether another parameter looks like the matrix or its factor."""
    node = as_node(value)
    if len(node.shape) < 2 or node.shape[-1] != node.shape[-2] or node.shape[-1] < 2:
        return False
    if not isinstance(node, Data):
        return True
    matrix = node.value
    return np.allclose(matrix, np.swapaxes(matrix, -1, -2)) or not np.any(np.triu(matrix, 1))


def _is_lower(node: Node) -> bool:
    """Whether a matrix is certainly lower triangular, and not only diagonal."""
    if not isinstance(node, Apply):
        return node.triangular
    if node.operation is FORM:
        return _is_lower(node.parents[0])
    if node.operation is ELEMENTWISE["multiply"]:
        return any(x.shape == node.shape and _is_lower(x) for x in node.parents)
    if node.operation is MATMUL:
        lower = [_is_lower(x) for x in node.parents]
        return any(lower) and all(
            is_lower or _is_diagonal(x) for is_lower, x in zip(lower, node.parents, strict=True)
        )
    return node.operation is CHOLESKY


def _is_diagonal(node: Node) -> bool:
    return isinstance(node, Apply) and node.operation is DIAG and node.attributes["k"] == 0


def _scaled_on_one_side(node: Node) -> str:
    """A text about a symmetric matrix that is scaled on one side."""
    scales: dict[bool, list[Node]] = {True: [], False: []}  # of rows, of columns
    matrix, size = node, node.shape[-1]
    while isinstance(matrix, Apply) and matrix.operation in _SCALED:
        matrices = [n for n in matrix.parents if n.shape == node.shape]
        vectors = [n for n in matrix.parents if n.shape != node.shape]
        if len(matrices) != 1:
            return ""
        of_rows = len(vectors[0].shape) > 1 and vectors[0].shape[-1] == 1
        if size in vectors[0].shape[-2:]:
            scales[of_rows].append(vectors[0])
        (matrix,) = matrices
    symmetric = isinstance(matrix, Variable) and isinstance(matrix.support, _SYMMETRIC)
    if isinstance(matrix, Data):
        value = matrix.value
        symmetric = np.allclose(value, np.swapaxes(value, -1, -2))
        symmetric = symmetric and not np.allclose(value, value * np.eye(size))
    if not symmetric or bool(scales[True]) == bool(scales[False]):
        return ""
    (vectors,) = filter(None, scales.values())
    if isinstance(vectors[0], Data) and np.ptp(vectors[0].value) == 0:
        return ""
    side, vector = "rows" if scales[True] else "columns", describe(_plain(vectors[0]))
    return (
        f"is not symmetric: {vector} scales the {side} of {describe(matrix)} alone{place_text()}; "
        f"for standard deviations sd write sd[:, None] * {describe(matrix)} * sd"
    )


def _impossible(node: Node, factor: bool, factor_name: str | None) -> str:
    """A text about unknowns that do not make a covariance or factor."""
    if node.context is not None or (_is_lower(node) if factor else surely_symmetric(node)):
        return ""
    value = trial_value(node)
    if value is None:
        return ""
    wanted = np.tril(value) if factor else np.swapaxes(value, -1, -2)
    apart = differs(value, wanted)
    if not np.any(apart):
        return ""
    *batch, i, j = first_place(apart)
    one, other = value[(*batch, i, j)], value[(*batch, j, i)]
    unknowns = [describe(n) for n in ancestors([node]) if isinstance(n, Variable)][:3]
    values = f"for some values of {' and '.join(unknowns)} " if unknowns else ""
    if factor:
        way_out = "give the lower factor"
        if not np.any(differs(value, np.triu(value))):
            way_out += f", {describe(node)}.mT"
        elif not np.any(differs(value, np.swapaxes(value, -1, -2))):
            way_out = f"the factor of a covariance is kg.cholesky({describe(node)})"
        return (
            f"is not lower triangular: {values}it is {one:.3g} at index ({i}, {j}){place_text()}; "
            f"{way_out}"
        )
    way_out = "for standard deviations sd and correlations R write sd[:, None] * R * sd"
    if isinstance(node, Apply) and node.operation is MATMUL:
        scales = [n.parents[0] for n in node.parents if _is_diagonal(n)]
        matrices = [n for n in node.parents if surely_symmetric(n) and not _is_diagonal(n)]
        texts = [describe(n) for n in (*scales, *matrices)]
        if len(scales) == len(matrices) == 1 and all(map(str.isidentifier, texts)):
            way_out = "write {0}[:, None] * {1} * {0}".format(*texts)
    if factor_name and not np.any(differs(value, np.tril(value))):
        way_out = f"give a Cholesky factor by name, {factor_name}={describe(node)}"
    return (
        f"is not symmetric: {values}it is {one:.3g} at index ({i}, {j}), but {other:.3g} at "
        f"({j}, {i}){place_text()}; {way_out}"
    )


def _plain(vector: Node) -> Node:
    """s for s[:, None]."""
    return vector.parents[0] if isinstance(vector, Apply) and vector.operation is SLICE else vector


def _symmetric(cov: Array) -> Array:
    sd = sqrt(abs(Array(diagonal(cov.node, 0, -2, -1))))
    return abs(cov - cov.mT) <= 1e-5 * sd[..., :, None] * sd[..., None, :]


def factor_of(name: str, checked: bool, before: Mapping[str, Any], **given: Any) -> Node:
    """The lower Cholesky factor of the one matrix that is given.

    A matrix whose name ends in `chol` is returned as it is. `before` has the parameters in front
    of the matrix, by name: a message says if they look swapped. If `checked`, a matrix that is
    known only at run time has the factor NaN if it is not symmetric. The tolerance is 1e-5
    standard deviations, so that products in single precision pass whose order of rounding differs.

    Raises
    ------
    TypeError
        If not exactly one matrix is given.
    ShapeError
        If the matrix is not square.
    ValueError
        If the matrix is known and is not a covariance or a Cholesky factor.
    """
    matrices = {argument: matrix for argument, matrix in given.items() if matrix is not None}
    if len(matrices) != 1:
        words = " and ".join(f"{argument}=" for argument in given)
        raise TypeError(f"{name}: give one of {words}{place_text()}")
    ((argument, matrix),) = matrices.items()
    node, is_factor = as_node(matrix), argument.endswith("chol")
    factor_name = next((other for other in given if other.endswith("chol")), None)
    _check_matrix(name, node, argument, is_factor, factor_name, before)
    if is_factor:
        return node
    if isinstance(node, Data) and node.literal:
        known = literal(np.linalg.cholesky(node.value))
        variable = describe(node)
        known.variable = variable if variable.isidentifier() else None
        known.rows, known.columns = node.rows, node.columns
        return known
    factor = cholesky(node)
    return as_node(where(_symmetric(Array(node)), Array(factor), np.nan)) if checked else factor


def mean_of(name: str, mean: Any, size: int) -> Any:
    """The mean as a vector for a matrix of `size` rows.

    Raises
    ------
    ShapeError
        If the length of the mean is not `size`.
    """
    centre = as_node(mean)
    if not centre.shape:
        return mean + np.zeros(size)
    if centre.shape[-1] != size:
        hint = (
            "; each row is a separate realisation: transpose?"
            if len(centre.shape) > 1 and centre.shape[-2] == size
            else ""
        )
        raise ShapeError(
            f"{name}: mean {describe(centre)} of shape {centre.shape} does not fit a "
            f"{size} x {size} matrix{place_text()}{hint}"
        )
    return mean
