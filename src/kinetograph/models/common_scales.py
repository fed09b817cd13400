"""Unknown scales of standard unknowns, also outside of sums and products.

f = sd * (B @ z + a * other)   has the elements of B @ (sd * z) and (sd * a) * other
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from ..distributions.variable import Variable
from ..graph.node import Apply, Node
from ..graph.operations.elementwise import ELEMENTWISE, elementwise
from ..graph.operations.indexing import READS, SLICE
from ..graph.operations.linear_algebra import MATMUL
from ..graph.operations.shaping import BROADCAST, CONCATENATE, RESHAPE, STACK, TRANSPOSE
from .discovery import unknowns_above
from .hierarchies import is_scale, is_standard_normal, products
from .shifts import Shift, has_finite_slopes, in_choices, non_centred

if TYPE_CHECKING:
    from .model import Model

__all__ = ["LINEAR", "PRODUCTS", "SUMS", "common_scales", "non_centred_shifts", "users_among"]

_MULTIPLY = ELEMENTWISE["multiply"]
PRODUCTS = {_MULTIPLY, ELEMENTWISE["divide"], MATMUL}
SUMS = {ELEMENTWISE[name] for name in ("add", "subtract", "negative")}
_MOVES = {*READS, SLICE, RESHAPE, TRANSPOSE, BROADCAST, STACK, CONCATENATE}
LINEAR = {*PRODUCTS, *SUMS, *_MOVES}


def users_among(nodes: Iterable[Node]) -> dict[Node, list[Apply]]:
    """The operations on each node."""
    users: dict[Node, list[Apply]] = {}
    for node in nodes:
        if isinstance(node, Apply):
            for parent in dict.fromkeys(node.parents):
                users.setdefault(parent, []).append(node)
    return users


def non_centred_shifts(model: "Model") -> Iterator[tuple[Variable, Shift]]:
    """The standard unknowns that are multiplied with unknown scales."""
    sides, users = in_choices(model), users_among(model.density.nodes)
    by_unknown = {product.unknown: product for product in products(model)}
    for unknown in model.density.unknowns:
        product = by_unknown.get(unknown)
        if product is None and not (unknown.shape and is_standard_normal(unknown)):
            continue
        value = unknown if product is None else product.node
        last, factors = common_scales(unknown, value, users)
        scales = [scale for scale in factors if is_scale(scale)]
        shift = None if product is None else non_centred(product)
        if product is None and scales:
            shift = Shift(None, _product(scales), False)
        elif shift is not None and scales:
            scale = _product([shift.scale, *scales])
            location = shift.location and _product([shift.location, *scales])
            shift = Shift(location, scale, False)
        if shift is None:
            continue
        if not sides.isdisjoint((value, last)) and not has_finite_slopes(shift):
            continue  # a slope that the model never uses may be infinite
        yield unknown, shift


def _product(nodes: Sequence[Node]) -> Node:
    return reduce(lambda one, other: elementwise("multiply", one, other), nodes)


def common_scales(
    unknown: Variable, value: Node, users: Mapping[Node, list[Apply]]
) -> tuple[Node, tuple[Node, ...]]:
    """The last product with an unknown scale, and the scales.

    `value` is the unknown, or its product with another scale.
    """
    last, scales = value, list[Node]()
    by_element = value is unknown or unknown in value.parents
    while len(uses := users.get(value, [])) == 1 and uses[0].operation in LINEAR:
        (use,) = uses
        factors = [parent for parent in use.parents if parent is not value]
        if use.operation in PRODUCTS and (not factors or unknowns_above(factors)):
            shapes = [other.shape for other in factors]
            fits = shapes == [()] or (by_element and shapes == [unknown.shape])
            if use.operation is not _MULTIPLY or not fits:
                break
            last, scales = use, [*scales, *factors]
        by_element = by_element and use.shape == unknown.shape
        by_element = by_element and use.operation not in (*_MOVES, MATMUL)
        value = use
    return last, tuple(scales)
