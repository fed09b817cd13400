"""`kg.rename_dims`, and a warning about distributions with conflicting dims."""

from collections.abc import Iterable, Mapping

from ..distributions.variable import Distribution
from ..graph.array import Array, Computed
from ..graph.dims import check_dims
from ..graph.errors import DimsError, KinetographWarning
from ..graph.messages import describe, site_text
from ..graph.node import Node
from ..graph.operations.elementwise import elementwise
from ..graph.operations.operands import as_node
from ..graph.public import public
from ..graph.source import place_text, warn_user
from .axes import Axes, axes_of, met_by
from .dims import whole

__all__ = ["rename_dims", "warn_of_two_dims"]


@public
def rename_dims(x: Computed, **names: str | None) -> Array:
    """Rename dimensions of an array.

    Arrays along different dimensions `g` and `h` cannot be added, because their elements need not
    correspond. If they do, rename one of the dimensions.

    Parameters
    ----------
    x
        An array with named dimensions.
    **names
        New names by old names; None removes a name. Labels are taken from other arrays with the new
        name.

    Returns
    -------
    Array
        The same elements.

    Raises
    ------
    DimsError
        If the array has no dimension of an old name, or a new name is invalid or already used.

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
            named = ", ".join(repr(dim) for dim in dims if dim is not None) or "none"
            raise DimsError(
                f"rename_dims: {describe(node)} has no dimension {name!r}{place_text()}; its named "
                f"dimensions: {named}"
            )
    renamed = elementwise(
        *(("logical_or", node) if node.dtype.kind == "b" else ("positive",)), node
    )
    new_dims = tuple(dim if dim is None else names.get(dim, dim) for dim in dims)
    renamed.dims = check_dims(new_dims, node.shape, f"rename_dims: {describe(node)}")
    return Array(renamed)


def warn_of_two_dims(
    follow: Iterable[tuple[Distribution, Node]], axes: Mapping[Node, Axes]
) -> None:
    """Warn if a distribution has two names for one axis.

    The names may come from its parameters and from its values.
    """
    for distribution, node in follow:
        if distribution.family.event_ndim:
            continue
        operands = [(node.shape, axes[node])] if node in axes else []
        pairs = zip(distribution.parents, distribution.family.parameters, strict=True)
        for parent, parameter in pairs:
            batch = len(parent.shape) - parameter.event_ndim  # further axes lie within a parameter
            if parent in axes:
                operands.append((parent.shape[:batch], axes[parent][:batch]))
        two_names = met_by(distribution.shape, operands)
        if two_names is not None:
            warn_user(
                f"model: {describe(node)}{site_text(node)} ~ {distribution.expression()} combines "
                f"elements along {two_names[0]!r} with elements along {two_names[1]!r}; give both "
                f"the same name with kg.rename_dims(array, {two_names[1]}={two_names[0]!r}), or "
                "index one with the other",
                KinetographWarning,
            )
