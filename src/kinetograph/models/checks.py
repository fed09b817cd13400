"""Errors for arrays and statements that cannot form a model."""

import inspect
import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..distributions.censoring import Censored
from ..distributions.support import REAL, AnyOf, Interval
from ..distributions.variable import Variable
from ..graph.array import Array
from ..graph.control.control_node import everything
from ..graph.control.loops import While
from ..graph.control.state import Assigned, Read
from ..graph.derivatives import no_accumulator
from ..graph.errors import DimsError, ModelError
from ..graph.messages import describe, site_text
from ..graph.missing import Incomplete
from ..graph.node import Data, Node
from ..graph.source import place_text
from ..graph.suggestions import did_you_mean
from ..graph.value_texts import in_words
from .density import Density
from .discovery import Component
from .labels import check_group, check_name
from .model_functions import is_model_function, only_argument
from .statement_store import STATED_INSIDE, statements_of

if TYPE_CHECKING:
    from .model import Model

__all__ = [
    "check_component",
    "check_densities",
    "check_lengths",
    "check_names",
    "check_nodes",
    "check_stated",
    "check_target",
    "no_model",
]


def no_model(doing: str, value: Any, which: str = "first") -> TypeError:
    """The TypeError for an argument that must be a model."""
    hint = "; make one with kg.model(...)"
    if isinstance(value, Array):
        name = describe(value.node)
        is_data = isinstance(value.node, Data)
        hint = f"; make one with kg.model({'mu, ...' if is_data else name})"
    elif isinstance(value, str) and "~" in value:
        hint = f"; make one with kg.formula({value!r}, data)"
    elif is_model_function(value):
        hint = f"; make one with {only_argument(value)}"
    elif hasattr(value, "subtree"):
        hint = "; give the model that the results were made with"
    elif which != "first" and isinstance(value, int):
        hint = f"; write kg.{doing}(results, model, draws={value})"
    elif which != "first" and isinstance(value, (str, os.PathLike)):
        hint = "; give a path as path="
    return TypeError(
        f"{doing}: the {which} argument is {in_words(value)}, not a model{place_text()}{hint}"
    )


def check_nodes(density: Density) -> None:
    """Raise ModelError for nodes that a log density cannot contain."""
    for node in everything((*density.nodes, *density.maps)):
        if isinstance(node, (Read, Assigned)):
            raise ModelError(
                f"model: the density depends on state {node.cell.title}{site_text(node)}; use "
                "states in compiled functions only: a density must not change from call to call"
            )
        if isinstance(node, While) and node.grad == "stack" and node.bound is None:
            raise no_accumulator(node)


def check_stated(unknowns: Sequence[Variable]) -> None:
    """Refuse unknowns whose observations only another model knows.

    Raises
    ------
    ModelError
        If an unknown was made in a model function, and has observations or factors only there.
    """
    for unknown in unknowns:
        if unknown in STATED_INSIDE and not statements_of(unknown):
            raise ModelError(
                f"model: {describe(unknown)}{site_text(unknown)} is an unknown of another model, "
                "which was made by a function or by kg.formula, and the observations there are not "
                "part of this model: its draws would be of the prior. Use that model; "
                "kg.calculate computes further quantities from its results"
            )


def check_target(array: Any, name: str | None) -> Node:
    """The node of a target; raises an error for invalid targets."""
    target_text = f"target {name!r}" if name else "a target"
    if not isinstance(array, Array):
        hint = "; give the array itself, not its name" if isinstance(array, str) else ""
        if isinstance(array, str) and "~" in array:
            hint = f"; write kg.formula({array!r}, data)"
        if isinstance(array, (list, tuple)) and all(isinstance(a, Array) for a in array):
            hint = "; give targets one by one, as in kg.model(mu, tau) or kg.model(*targets)"
        if isinstance(array, dict) and all(isinstance(a, Array) for a in array.values()):
            hint = "; give named targets as in kg.model(level=mu) or kg.model(**targets)"
        if isinstance(array, (float, np.generic, np.ndarray)):
            hint = _known_target(array)
        if hasattr(array, "target_names"):
            hint = "; it can be sampled as it is: kg.mcmc(model)"
        if inspect.isroutine(array):
            hint = f"; a model function is the only argument: {only_argument(array)}"
        raise TypeError(
            f"model: {target_text} is {in_words(array)}{place_text()}, not a kinetograph "
            f"array{hint}"
        )
    node = array.node
    if isinstance(node, Incomplete):
        raise node.refused()
    if isinstance(node, Data):
        raise ModelError(
            f"model: {target_text}, {describe(node)}, is data{place_text()}, which cannot be "
            "sampled; give unknowns, and arrays computed from them"
        )
    if isinstance(node, Variable) and node.observed_by is not None:
        raise ModelError(
            f"model: {target_text} is {node.observed_by}, not an unknown{place_text()}, so there "
            "is nothing to sample"
        )
    return node


def _known_target(value: float | np.generic | np.ndarray) -> str:
    """Advice on known numbers as a target."""
    advice = "; known numbers cannot be sampled: give unknowns, and arrays computed from them"
    if np.ndim(value):
        return advice
    return (
        f"{advice}. The log density is not a target: results have it for each draw, as lp in "
        "sample_stats, and kg.factor adds a term to it"
    )


def check_component(component: Component, targets: Sequence[Node] = ()) -> None:
    """Raise ModelError for unknowns that cannot be sampled.

    Raises
    ------
    ModelError
        With the names of these unknowns.
    """
    for node in component.nodes:
        if node.kind == "placeholder":
            raise ModelError(
                f"model: {describe(node)}{site_text(node)} is a placeholder; "
                "use kg.data for known values"
            )
    if not component.unknowns:
        if component.discrete:
            names = ", ".join(f"{describe(v)}{site_text(v)}" for v in component.discrete)
            raise ModelError(
                f"model: there is nothing to sample{place_text()}: all unknowns are discrete, and "
                f"models marginalise these: {names}. kg.calculate(..., draws=1000) draws them from "
                "their distributions"
            )
        names = ", ".join(map(describe, targets)) or "they"
        raise ModelError(
            f"model: none of the arrays in the model are unknown{place_text()}: "
            f"{names} {'depend' if len(targets) != 1 else 'depends'} on data and numbers alone; "
            "make unknowns with distributions, as in mu = kg.normal(0, 10), or with kg.variable"
        )
    for v in (*component.unknowns, *component.discrete):
        if v.distribution is not None and isinstance(v.distribution.family, Censored):
            raise ModelError(
                f"model: {describe(v)}{site_text(v)} is an unknown with censoring=, but only data "
                "can be censored; leave out censoring="
            )
        if isinstance(v.support, AnyOf):
            raise ModelError(
                f"model: {describe(v)}{site_text(v)} is a mixture of parts with different supports "
                f"({v.support.describe()}); data can follow it, but an unknown cannot, because no "
                "single bijector covers these supports: choose the part with a discrete unknown, "
                "or give all parts the same truncation"
            )
        if v.distribution is not None and v.distribution.family.atom is not None:
            family = v.distribution.family
            raise ModelError(
                f"model: {describe(v)}{site_text(v)} is an unknown with the distribution "
                f"{family.name}, in which {family.atom:g} has a positive probability; data can "
                "follow it, but an unknown cannot, because chains would never visit "
                f"{family.atom:g}: write the unknown as kg.where(on, size, {family.atom:g}), with "
                "on = kg.bernoulli(...) and a size without it"
            )
        if v.observed_by is not None:
            raise ModelError(
                f"model: {describe(v)}{site_text(v)} is {v.observed_by} and is also used as an "
                "unknown; write the distribution again for the unknown"
            )


def check_densities(component: Component, factors: Sequence[Node]) -> None:
    """Raise ModelError for unknowns without any density.

    Raises
    ------
    ModelError
        With the names of these unknowns.
    """
    priors = [v for v in component.unknowns if v.distribution is not None]
    if not priors and not component.likelihoods and not factors:
        raise ModelError(
            "model: none of the arrays in the model are associated with a probability density, "
            f"so a model cannot be defined{place_text()}; give {_listed(component.unknowns)} a "
            "distribution, or observe data that depend on it with kg.observe"
        )
    _check_flat(component, factors)


def _check_flat(component: Component, factors: Sequence[Node]) -> None:
    """Raise ModelError for flat, unbounded unknowns that no term depends on.

    Their posterior is improper.
    """
    terms = [v.distribution for v in component.unknowns if v.distribution is not None]
    reached: set[Node] = set()
    stack: list[Node] = [*terms, *component.likelihoods, *factors]
    while stack:
        node = stack.pop()
        if node not in reached:
            reached.add(node)
            stack.extend(node.parents)
    unreached = [v for v in component.unknowns if v.distribution is None and v not in reached]
    improper = [v for v in unreached if _is_improper(v)]
    if improper:
        single = len(improper) == 1
        raise ModelError(
            f"model: no density depends on {_listed(improper)}, which {'is' if single else 'are'} "
            f"flat and unbounded, so {'it has' if single else 'they have'} no posterior; give "
            f"{'it a distribution' if single else 'them distributions'} or leave "
            f"{'it' if single else 'them'} out of the targets"
        )


def _listed(unknowns: Sequence[Node]) -> str:
    """The names of arrays, and where they were written."""
    texts = [f"{describe(v)}{site_text(v)}" for v in unknowns]
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))


def _is_improper(v: Variable) -> bool:
    """Whether a flat density on the support of an unknown is improper."""
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
    """Raise DimsError if a dimension has two lengths or unused labels."""
    for label in coords:
        if label not in used:
            dim_names = ", ".join(sorted(d for d in used if d)) or "none"
            raise DimsError(
                f"model: coords has labels for {label!r}, which is not a dimension of this model; "
                f"its dimensions are: {dim_names}{place_text()}{did_you_mean(label, used)}"
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
    """Raise an error for invalid names, and for targets without elements.

    Names must be valid in results and in files.
    """
    given_nodes = [*model.data, *model.fixed]
    for node in dict.fromkeys([*model.targets, *given_nodes, *model.component.unknowns]):
        subject = f"an array{site_text(node)}"
        check_name(model.name(node), subject, "give it another name by name=")
    for node in model.targets:
        if not node.size:
            raise ModelError(
                f"model: {model.name(node)}{site_text(node)} has no elements, shape "
                f"{node.shape}; leave it out of the targets"
            )
    if not model.free_size:
        raise ModelError("model: the unknowns have no elements, so there is nothing to sample")
    constant = [n for n in given_nodes if n not in model.observed]
    groups = {"draws": model.targets, "observed data": model.observed, "other data": constant}
    for group, nodes in groups.items():
        members = [(model.name(n), model._axes[n], n.shape) for n in nodes]
        check_group(group, members, ("chain", "draw") if group == "draws" else ())
