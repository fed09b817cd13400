"""Unknowns whose spread is an unknown scale, and their form.

    centred        theta ~ normal(mu, tau)
    non-centred    theta = mu + tau * z,  z ~ normal(0, 1)

Both are the same prior of theta. Where tau is small, the centred form is narrow in theta, and
samplers with one step size diverge there; where the data of each theta are many, the non-centred
form is narrow.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..distributions.support import Interval
from ..distributions.variable import Distribution, Variable
from ..graph.messages import describe, site_text
from ..graph.node import Apply, Data, Node, ancestors
from ..graph.operations.elementwise import ELEMENTWISE
from ..graph.operations.indexing import READS, SLICE
from ..graph.operations.shaping import BROADCAST, RESHAPE, TRANSPOSE
from .discovery import unknowns_above
from .series_rows import accumulated

if TYPE_CHECKING:
    from .model import Model

__all__ = [
    "LOCATION_SCALE",
    "SERIES",
    "Hierarchy",
    "hierarchies",
    "has_log_form",
    "is_real",
    "is_scale",
    "is_standard_normal",
    "products",
]

# For each family: its parameters of location and scale, and the standard distribution.
LOCATION_SCALE = {
    "normal": ("mean", "sd", "kg.normal(0, 1{})"),
    "student": ("mu", "sigma", "kg.student({df}, 0, 1{})"),
    "cauchy": ("location", "scale", "kg.cauchy(0, 1{})"),
    "laplace": ("mu", "sigma", "kg.laplace(0, 1{})"),
    "logistic": ("location", "scale", "kg.logistic(0, 1{})"),
    "gumbel": ("location", "scale", "kg.gumbel(0, 1{})"),
    "lognormal": ("meanlog", "sdlog", "kg.normal(0, 1{})"),
}
_MOVES = {*READS, SLICE, BROADCAST, RESHAPE, TRANSPOSE}
_MULTIPLY, _ADD, _EXP = (ELEMENTWISE[name] for name in ("multiply", "add", "exp"))
FEWEST_STEPS = 4  # of a series: shorter ones are levels of a hierarchy
SERIES = (
    "the series as one unknown, kg.random_walk(sd, n) or kg.ar(rho, sd, n), which is sampled given "
    "the data"
)
MOST = 20  # hierarchies of a model that are found


@dataclass(frozen=True)
class Hierarchy:
    """An unknown with an unknown scale, in texts as users write them."""

    unknown: str  # its name in results, and its place if the user has given no name
    centred: bool
    scale: str
    scales: tuple[str, ...]  # names of the unknowns from which the scale is computed
    written: str  # the distribution, or the product with the scale
    instead: str  # the other form
    alike: tuple[str, ...] = ()  # names of further unknowns of this form, as of a loop


def hierarchies(model: "Model") -> list[Hierarchy]:
    """The unknowns of a model whose spread is an unknown scale."""
    names = model.known_as
    unknowns = model.component.unknowns
    every: list[Hierarchy] = []
    for unknown in unknowns:
        form = unknown.distribution and _centred(model, unknown, unknown.distribution, names)
        if form:
            every.append(form)
    forms = (product for product in products(model) if _is_non_centred(product))
    nodes = model.component.nodes
    every += (_of_product(model, names, product, nodes) for product in forms)
    return _joined(every)[:MOST]


def _joined(every: list[Hierarchy]) -> list[Hierarchy]:
    """The hierarchies, with one entry for alike unknowns.

    The unknowns of a loop differ only by name. Steps of one series differ by the step before them,
    too.
    """
    groups: dict[Any, list[Hierarchy]] = {}
    for each in every:
        name = each.unknown.partition(" ")[0]
        texts = each.written.removeprefix(name), each.instead.removeprefix(name)
        key = each.instead if each.instead == SERIES else texts
        groups.setdefault((each.centred, each.scale, each.scales, key), []).append(each)
    return [
        replace(first, alike=tuple(each.unknown.partition(" ")[0] for each in alike))
        for first, *alike in groups.values()
    ]


def _centred(
    model: "Model", unknown: Variable, distribution: Distribution, names: dict[int, str]
) -> Hierarchy | None:
    """The hierarchy of a centred unknown; None if its scale is known."""
    if distribution.family.key not in LOCATION_SCALE:
        return None
    location, scale, standard = LOCATION_SCALE[distribution.family.key]
    arguments = distribution.arguments
    scales = _names_above(model, arguments[scale])
    if not scales:
        return None
    df = describe(arguments["df"], names) if "df" in arguments else ""
    spread = f"{_factor(describe(arguments[scale], names))} * "
    spread += standard.format(_shape(unknown.shape), df=df)
    centre = describe(arguments[location], names)
    value = spread if centre in ("0", "0.0") else f"{centre} + {spread}"
    value = f"kg.exp({value})" if distribution.family.key == "lognormal" else value
    name = model.name(unknown)
    series = _series_before(unknown)
    return Hierarchy(
        _called(model, unknown),
        True,
        describe(arguments[scale], names),
        scales,
        f"{name} ~ {distribution.expression(names)}",
        f"{name} = {value}" if len(series) < FEWEST_STEPS else SERIES,
    )


def _series_before(unknown: Variable) -> list[Variable]:
    """An unknown, the unknown in its location, and so on."""
    series = [unknown]
    while (distribution := series[-1].distribution) is not None:
        location = distribution.arguments[LOCATION_SCALE[distribution.family.key][0]]
        above = ancestors([location], lambda node: isinstance(node, Variable))
        before = [
            node
            for node in above
            if isinstance(node, Variable)
            and node.shape == unknown.shape
            and node.distribution is not None
            and node.distribution.family is distribution.family
        ]
        if not before or len(series) == FEWEST_STEPS:
            break
        series.append(before[-1])
    return series


def is_real(unknown: Variable) -> bool:
    """Whether the free numbers are the unknown."""
    support = unknown.support
    bounds = (support.lower, support.upper) if isinstance(support, Interval) else ()
    return len(bounds) == 2 and not any(
        isinstance(bound, Node) or np.any(np.isfinite(bound)) for bound in bounds
    )


def is_standard_normal(unknown: Variable) -> bool:
    """Whether an unknown has mean 0 and standard deviation 1."""
    distribution = unknown.distribution
    if distribution is None or distribution.family.key != "normal" or not is_real(unknown):
        return False
    parameters = [distribution.arguments[name] for name in ("mean", "sd")]
    return all(
        isinstance(node, Data) and node.literal and np.all(node.value == value)
        for node, value in zip(parameters, (0.0, 1.0), strict=True)
    )


def has_log_form(unknown: Variable) -> bool:
    """Whether the free numbers are the logarithm of the unknown."""
    return isinstance(unknown.support, Interval) and unknown.support.form == "log"


class ScaledUnknown(NamedTuple):
    """The product of a standard unknown with an unknown scale."""

    node: Node
    factor: Node  # the unknown, or its elements
    unknown: Variable
    scale: Node
    location: Node | None  # the other addend of the first sum with the product


def products(model: "Model") -> Iterator[ScaledUnknown]:
    """The products of standard unknowns with unknown scales; one for each unknown."""
    terms = [term.node for term in model.density.terms]
    nodes = sorted({*model.component.nodes, *ancestors(terms)}, key=lambda node: node.serial)
    sums = [n for n in nodes if isinstance(n, Apply) and n.operation is _ADD]
    visited: set[Node] = set()
    for node in nodes:
        if not isinstance(node, Apply) or node.operation is not _MULTIPLY:
            continue
        for factor, scale in (node.parents, node.parents[::-1]):
            unknown = _moved_unknown(factor)
            if unknown in visited or not isinstance(unknown, Variable) or not _is_standard(unknown):
                continue
            if unknown not in model.component.unknowns or not is_scale(scale):
                continue
            visited.add(unknown)
            around = next((n.parents for n in sums if node in n.parents), None)
            location = None
            if around is not None:
                location = around[0] if around[1] is node else around[1]
            yield ScaledUnknown(node, factor, unknown, scale, location)
            break


def _is_non_centred(product: ScaledUnknown) -> bool:
    """Whether a product has a distribution of the unknown's family.

    The product of an amplitude and a curve, `A * kg.exp(-k * t)`, has more elements than A.
    """
    distribution = product.unknown.distribution
    assert distribution is not None
    standard = LOCATION_SCALE[distribution.family.key][:2]
    values = (distribution.arguments[name] for name in standard)
    return product.node.shape == product.factor.shape and all(
        isinstance(value, Data) and np.all(value.value == expected)
        for value, expected in zip(values, (0, 1), strict=True)
    )


def _of_product(
    model: "Model", names: dict[int, str], product: ScaledUnknown, nodes: Sequence[Node]
) -> Hierarchy:
    _, _, unknown, scale, location = product
    centre = "0" if location is None else describe(location, names)
    assert unknown.distribution is not None
    family = unknown.distribution.family.key
    arguments = unknown.distribution.arguments
    first = f"{describe(arguments['df'], names)}, " if "df" in arguments else ""
    scale_text = describe(scale, names)
    return Hierarchy(
        _called(model, unknown),
        False,
        scale_text,
        _names_above(model, scale),
        describe(product.node, {k: v for k, v in names.items() if k != id(product.node)}),
        SERIES
        if _are_steps(unknown, nodes)
        else f"kg.{family}({first}{centre}, {scale_text}{_shape(unknown.shape)})",
    )


def _are_steps(unknown: Variable, nodes: Sequence[Node]) -> bool:
    """Whether elements of an unknown are the steps of a series."""
    if not unknown.shape or unknown.shape[0] < FEWEST_STEPS:
        return False
    if any(unknown in ancestors(before) for node in nodes if (before := accumulated(node))):
        return True
    sums = (n for n in reversed(nodes) if isinstance(n, Apply) and n.operation is _ADD)
    for node in sums:
        steps = [n for n in node.parents if _has_factor(n, unknown)]
        if steps:  # the last one, such as phi * h + sd * z[t]
            return unknown in ancestors([n for n in node.parents if n is not steps[0]])
    return False


def _has_factor(node: Node, unknown: Variable) -> bool:
    """Whether a node is a product with an element of an unknown."""
    is_product = isinstance(node, Apply) and node.operation is _MULTIPLY and not node.shape
    return is_product and any(_moved_unknown(factor) is unknown for factor in node.parents)


def _called(model: "Model", unknown: Variable) -> str:
    """The name of an unknown, with its place for a generated name."""
    name = model.name(unknown)
    assert unknown.distribution is not None
    is_generated = re.fullmatch(rf"{unknown.distribution.family.name}_\d+", name)
    return f"{name}{site_text(unknown)}" if is_generated else name


def _moved_unknown(node: Node) -> Node:
    """The node whose elements a node takes or moves."""
    while isinstance(node, Apply) and node.operation in _MOVES:
        node = node.parents[0]
    return node


def _is_standard(unknown: Variable) -> bool:
    """Whether an unknown has a location, a scale and known parameters."""
    distribution = unknown.distribution
    if (
        distribution is None
        or distribution.family.key not in LOCATION_SCALE
        or distribution.family.key == "lognormal"
    ):
        return False
    return not unknowns_above(distribution.parents)


def is_scale(node: Node) -> bool:
    """Whether a node depends on a positive unknown or an exponential."""
    above = ancestors([node])
    exponential = any(isinstance(n, Apply) and n.operation is _EXP for n in above)
    positive = any(isinstance(n, Variable) and _has_lower_bound_zero(n) for n in above)
    return positive or (exponential and bool(unknowns_above([node])))


def _has_lower_bound_zero(unknown: Variable) -> bool:
    support = unknown.support
    if not isinstance(support, Interval) or isinstance(support.lower, Node):
        return False
    return bool(np.all(np.asarray(support.lower) == 0))


def _names_above(model: "Model", node: Node) -> tuple[str, ...]:
    """The names of the unknowns from which a node is computed."""
    above = ancestors([node], lambda n: isinstance(n, Variable))
    return tuple(model.name(n) for n in above if n in model.component.unknowns)


def _factor(text: str) -> str:
    return f"({text})" if " " in text and "(" not in text else text


def _shape(shape: tuple[int, ...]) -> str:
    if not shape:
        return ""
    return f", shape={shape[0] if len(shape) == 1 else shape}"
