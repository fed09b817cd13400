"""Dims that meet: other names for them, and a warning of distributions with two on one axis."""

from collections.abc import Iterable, Mapping

from ..distributions.variable import Distribution
from ..graph.array import Array, Computed
from ..graph.dims import check_dims
from ..graph.errors import DimsError, KinetographWarning
from ..graph.messages import describe, site_text
from ..graph.node import Node
from ..graph.operations.elementwise import elementwise
from ..graph.operations.operands import as_node
from ..graph.source import place_text, warn_user
from .axes import Axes, axes_of, met_by
from .dims import whole

__all__ = ["rename_dims", "warn_of_two_dims"]


def rename_dims(x: Computed, **names: str | None) -> Array:
    """The same array with other names for its dimensions.

    Two arrays of which one is along `g` and the other along `h` are not added, as their elements
    need not belong together. Where they do, rename one.

    Parameters
    ----------
    x
        An array with dimensions that are named.
    **names
        The new name of each of some dimensions; None takes the name away. Its labels are those that
        other arrays of the new name have.

    Returns
    -------
    Array
        The elements as they are.

    Raises
    ------
    DimsError
        If the array has no dimension of that name, or a new name is none or is there already.

    Examples
    --------
    >>> import kinetograph as kg
    >>> attack = kg.normal(0, 1, dims=kg.dim("home", ["A", "B"]))
    >>> defence = kg.normal(0, 1, dims=kg.dim("away", ["A", "B"]))
    >>> model = kg.model(own=attack - kg.rename_dims(defence, away="home"))
    >>> model.axes(model["own"].node)
    ('home',)
    """
    node = as_node(x, "rename_dims")
    dims = whole(axes_of([node])[node])
    for name in names:
        if name not in dims:
            own = ", ".join(repr(dim) for dim in dims if dim is not None) or "none"
            raise DimsError(
                f"rename_dims: {describe(node)} has no dimension {name!r}{place_text()}; those of "
                f"it that have names: {own}"
            )
    made = elementwise(*(("logical_or", node) if node.dtype.kind == "b" else ("positive",)), node)
    wanted = tuple(dim if dim is None else names.get(dim, dim) for dim in dims)
    made.dims = check_dims(wanted, node.shape, f"rename_dims: {describe(node)}")
    return Array(made)


def warn_of_two_dims(
    follow: Iterable[tuple[Distribution, Node]], axes: Mapping[Node, Axes]
) -> None:
    """Warn where a distribution's parameters and what follows it have two names for one axis."""
    for distribution, node in follow:
        if distribution.family.event_ndim:
            continue
        operands = [(node.shape, axes[node])] if node in axes else []
        pairs = zip(distribution.parents, distribution.family.parameters, strict=True)
        for parent, own in pairs:
            batch = len(parent.shape) - own.event_ndim  # the other axes are of one element
            if parent in axes:
                operands.append((parent.shape[:batch], axes[parent][:batch]))
        met = met_by(distribution.shape, operands)
        if met is not None:
            warn_user(
                f"model: {describe(node)}{site_text(node)} ~ {distribution.expression()} meets "
                f"elements along {met[0]!r} with elements along {met[1]!r}; say that these are one "
                f"by kg.rename_dims(array, {met[1]}={met[0]!r}), or index one by the other",
                KinetographWarning,
            )
