"""What cannot be a model, and how it is refused."""

import inspect
import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..distributions.censoring import Censored
from ..distributions.support import REAL, AnyOf, Interval
from ..distributions.variable import Variable
from ..graph.array import Array
from ..graph.control.control import everything
from ..graph.control.loops import While
from ..graph.control.state import Assigned, Read
from ..graph.derivatives import no_accumulator
from ..graph.errors import DimsError, ModelError
from ..graph.messages import describe, site_text
from ..graph.missing import Incomplete
from ..graph.node import Data, Node
from ..graph.source import place_text
from ..graph.suggestions import meant
from ..graph.text import in_words
from .density import Density
from .discovery import Component
from .labels import check_group, check_name

if TYPE_CHECKING:
    from .model import Model

__all__ = [
    "check_component",
    "check_densities",
    "check_lengths",
    "check_names",
    "check_nodes",
    "check_target",
    "no_model",
]


def no_model(doing: str, value: Any, which: str = "first") -> TypeError:
    """What to raise where a model is expected."""
    hint = "; make one with kg.model(...)"
    if isinstance(value, Array):
        name = describe(value.node)
        known = isinstance(value.node, Data)
        hint = f"; make one with kg.model({'mu, ...' if known else name})"
    elif hasattr(value, "subtree"):
        hint = "; give the model that the results are of"
    elif which != "first" and isinstance(value, (str, os.PathLike)):
        hint = "; a path is given by path="
    return TypeError(
        f"{doing}: the {which} argument is {in_words(value)}, not a model{place_text()}{hint}"
    )


def check_nodes(density: Density) -> None:
    """Refuse what a log density cannot have."""
    for node in everything((*density.nodes, *density.maps)):
        if isinstance(node, (Read, Assigned)):
            raise ModelError(
                f"model: the density depends on state {node.cell.title}{site_text(node)}; states "
                "belong to compiled functions: a density must not change from call to call"
            )
        if isinstance(node, While) and node.grad == "stack" and node.bound is None:
            raise no_accumulator(node)


def check_target(array: Any, name: str | None) -> Node:
    what = f"target {name!r}" if name else "a target"
    if not isinstance(array, Array):
        hint = "; give the array itself, not its name" if isinstance(array, str) else ""
        if isinstance(array, (list, tuple)) and all(isinstance(a, Array) for a in array):
            hint = "; targets are given one by one, as in kg.model(mu, tau) or kg.model(*targets)"
        if isinstance(array, dict) and all(isinstance(a, Array) for a in array.values()):
            hint = "; targets with names are given as in kg.model(level=mu) or kg.model(**targets)"
        if inspect.isroutine(array):
            hint = f"; a model function stands alone: kg.model({array.__name__})"
        raise TypeError(
            f"model: {what} is {in_words(array)}{place_text()}, not a kinetograph array{hint}"
        )
    node = array.node
    if isinstance(node, Incomplete):
        raise node.refused()
    if isinstance(node, Data):
        raise ModelError(
            f"model: {what}, {describe(node)}, is data{place_text()}, which cannot be sampled; "
            "give the unknowns, and what is computed of them"
        )
    if isinstance(node, Variable) and node.observed_by is not None:
        raise ModelError(
            f"model: {what} is {node.observed_by}, not an unknown{place_text()}, so there is "
            "nothing to sample"
        )
    return node


def check_component(component: Component, targets: Sequence[Node] = ()) -> None:
    """Refuse unknowns that cannot be sampled.

    Raises
    ------
    ModelError
        It names them.
    """
    for node in component.nodes:
        if node.kind == "placeholder":
            raise ModelError(
                f"model: {describe(node)}{site_text(node)} is a placeholder; "
                "use kg.data for values that are known before sampling"
            )
    if not component.unknowns:
        if component.discrete:
            names = ", ".join(f"{describe(v)}{site_text(v)}" for v in component.discrete)
            raise ModelError(
                f"model: there is nothing to sample{place_text()}: all unknowns are discrete, and "
                f"models sum these out: {names}. kg.calculate(..., draws=1000) draws them from "
                "their distributions"
            )
        names = ", ".join(map(describe, targets)) or "they"
        raise ModelError(
            f"model: none of the arrays in the model are unknown{place_text()}: "
            f"{names} {'follow' if len(targets) != 1 else 'follows'} from data and numbers alone; "
            "make unknowns by distributions, as in mu = kg.normal(0, 10), or by kg.variable"
        )
    for v in (*component.unknowns, *component.discrete):
        if v.distribution is not None and isinstance(v.distribution.family, Censored):
            raise ModelError(
                f"model: {describe(v)}{site_text(v)} is censored, which data are: beyond a bound "
                "nothing is known of them; an unknown is the number itself; leave out censoring="
            )
        if isinstance(v.support, AnyOf):
            raise ModelError(
                f"model: {describe(v)}{site_text(v)} is a mixture of parts with different supports "
                f"({v.support.describe()}), which data can follow; as an unknown it has no one map "
                "from free numbers: let a discrete unknown choose, or truncate all parts alike"
            )
        if v.observed_by is not None:
            raise ModelError(
                f"model: {describe(v)}{site_text(v)} is {v.observed_by} and is used as an unknown, "
                "too; write the distribution again"
            )


def check_densities(component: Component, factors: Sequence[Node]) -> None:
    """Refuse unknowns of which no density tells anything.

    Raises
    ------
    ModelError
        It names them.
    """
    priors = [v for v in component.unknowns if v.distribution is not None]
    if not priors and not component.likelihoods and not factors:
        raise ModelError(
            "model: none of the arrays in the model are associated with a probability density, "
            f"so a model cannot be defined{place_text()}; give {_listed(component.unknowns)} a "
            "distribution, or observe data that depend on it by kg.observe"
        )
    _check_flat(component, factors)


def _check_flat(component: Component, factors: Sequence[Node]) -> None:
    """A flat unbounded unknown on which no term depends has no proper posterior."""
    terms = [v.distribution for v in component.unknowns if v.distribution is not None]
    reached: set[Node] = set()
    stack: list[Node] = [*terms, *component.likelihoods, *factors]
    while stack:
        node = stack.pop()
        if node not in reached:
            reached.add(node)
            stack.extend(node.parents)
    found = [v for v in component.unknowns if v.distribution is None and v not in reached]
    loose = [v for v in found if _is_improper(v)]
    if loose:
        one = len(loose) == 1
        raise ModelError(
            f"model: no density depends on {_listed(loose)}, which {'is' if one else 'are'} flat "
            f"and unbounded, so {'it has' if one else 'they have'} no posterior; give "
            f"{'it a distribution' if one else 'them distributions'} or leave "
            f"{'it' if one else 'them'} out of the targets"
        )


def _listed(unknowns: Sequence[Node]) -> str:
    """The names of some arrays, and where they were written."""
    texts = [f"{describe(v)}{site_text(v)}" for v in unknowns]
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))


def _is_improper(v: Variable) -> bool:
    support = v.support
    if support is REAL:
        return True
    if not isinstance(support, Interval):
        return False
    bounds = (support.lower, support.upper)
    return any(not isinstance(b, Node) and bool(np.any(np.isinf(b))) for b in bounds)


def check_lengths(
    model: "Model", coords: Mapping[str, np.ndarray], used: Collection[str | None]
) -> None:
    """Refuse a dimension of two lengths, and labels of none."""
    for label in coords:
        if label not in used:
            known = ", ".join(sorted(d for d in used if d)) or "none"
            raise DimsError(
                f"model: coords has labels for {label!r}, which is no dimension of this model; "
                f"its dimensions are: {known}{place_text()}{meant(label, used)}"
            )
    sizes: dict[str, tuple[int, str]] = {
        d: (len(labels), "its labels") for d, labels in coords.items()
    }
    for node in (*model.targets, *model.data, *model.fixed):
        for dim, size in zip(model.dims(node), node.shape, strict=True):
            if dim is None:
                continue
            old, where = sizes.setdefault(dim, (size, model.name(node)))
            if old != size:
                raise DimsError(
                    f"dimension {dim!r} has length {old} in {where} and {size} in "
                    f"{model.name(node)}{place_text()}"
                )


def check_names(model: "Model") -> None:
    """Refuse names that results and files cannot have, and targets without elements."""
    known = [*model.data, *model.fixed]
    for node in dict.fromkeys([*model.targets, *known, *model.component.unknowns]):
        what = f"an array{site_text(node)}"
        check_name(model.name(node), what, "give it another name by name=")
    for node in model.targets:
        if not node.size:
            raise ModelError(
                f"model: {model.name(node)}{site_text(node)} has no elements, shape "
                f"{node.shape}; leave it out of the targets"
            )
    if not model.free_size:
        raise ModelError("model: the unknowns have no elements, so there is nothing to sample")
    constant = [n for n in known if n not in model.observed]
    groups = {"draws": model.targets, "observed data": model.observed, "other data": constant}
    for group, nodes in groups.items():
        members = [(model.name(n), model._axes[n], n.shape) for n in nodes]
        check_group(group, members, ("chain", "draw") if group == "draws" else ())
