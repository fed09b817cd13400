"""Normal unknowns that together are the noises of a linear system.

    slope = kg.cumsum(s2 * z2)                  two unknowns, z1 and z2, of one series of data
    level = kg.cumsum(slope + s1 * z1)
    kg.observe(y, kg.normal(level, noise))

States are running sums, values of kg.random_walk and kg.ar, and the values of loops over time. A
noise is an unknown vector, or a loop makes an unknown number in each step.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..distributions.variable import Distribution, Variable
from ..graph.node import Apply, Node, ancestors
from ..graph.operations.shaping import stack
from ..graph.rewriting.step_columns import NotAlike
from .discovery import unknowns_above
from .hierarchies import is_real
from .intercept_law import InterceptLaw
from .linear_nodes import MOST_STATES, System, is_noise
from .linear_rows import LINEAR, NotLinearSeries, SeriesExpression
from .normal_observations import NormalData, is_known, normal_data
from .normal_vector import GaussianVector
from .series_columns import alike_numbers
from .system_law import MOST_WRITTEN, SystemLaw

if TYPE_CHECKING:
    from .model import Model
    from .term import Term

__all__ = ["linear_systems"]

FEWEST_STEPS = 2
MOST_INTERCEPTS = 4  # that are tried one after the other
LONGEST_WITH_INTERCEPTS = 250  # longer series determine an intercept by themselves
MOST_DATA = 4  # for each step, where data are about some elements of a series


def linear_systems(
    model: "Model", terms: "Sequence[Term]", vectors: Collection[Variable] = ()
) -> Iterator[GaussianVector]:
    """The systems with normal data, and series with other data.

    `vectors` are unknowns that may have coordinates without a system.
    """
    tried: set[Node] = set()
    assigned: set[Variable] = set()
    groups = alike_numbers(model.density)
    every = {number for group in groups for number in group}
    for term in terms:
        node = term.node
        if not isinstance(node, Distribution) or node.family.key != "normal":
            continue
        if not is_known(node.target):
            continue
        mean = node.arguments["mean"]
        if not mean.shape or mean.shape[-1] <= FEWEST_STEPS:
            continue
        unknowns = [v for v in ancestors([mean]) if isinstance(v, Variable)]
        f = _observed(mean, {v for v in unknowns if v in every or is_noise(v)})
        if f is None or f in tried:
            continue
        tried.add(f)
        numbers = _numbers_above(mean, groups, f.shape[0])
        for system in (System(f.shape[0], numbers), *_of_parts(f, numbers)):
            vector = _system(model, f, system, terms, vectors)
            if vector is not None:
                vector = _with_firsts(model, f, system, terms) or vector
                assigned.update(vector.unknowns)
                yield vector
                break
    for term in terms:
        series = _with_other_data(model, term, groups, vectors, terms)
        if series is not None and assigned.isdisjoint(series.unknowns):
            assigned.update(series.unknowns)
            yield series
    for group in groups:
        if assigned.isdisjoint(group) and len(group) > FEWEST_STEPS:
            series = _series_of_numbers(model, group)
            if series is not None:
                yield series


def _series_of_numbers(model: "Model", group: set[Variable]) -> GaussianVector | None:
    """A series of numbers whose data are not normal."""
    f = stack(sorted(group, key=lambda number: number.serial))
    system = System(f.shape[0], group)
    try:
        of_f = system.observed(f)
        system.finish()
    except (NotLinearSeries, NotAlike):
        return None
    noises = tuple(system.noises)
    if len(noises) != 1 or len(system.states) not in range(1, MOST_WRITTEN + 1):
        return None
    if noises[0].unknowns != f.parents:
        return None
    if not system.constants_are_known() or not set(model.density.unknowns).issuperset(group):
        return None
    return _vector(system, of_f, f)


def _with_other_data(
    model: "Model",
    term: "Term",
    groups: Sequence[set[Variable]],
    vectors: Collection[Variable],
    terms: "Sequence[Term]",
) -> GaussianVector | None:
    """The system in a parameter of data that are not normal."""
    node = term.node
    if not isinstance(node, Distribution) or not is_known(node.target):
        return None
    for f in node.arguments.values():
        while isinstance(f, (Apply, Variable)):
            if len(f.shape) == 1 and f.shape[0] > FEWEST_STEPS:
                numbers = _numbers_above(f, groups, f.shape[0])
                vector = _of_other_data(model, f, numbers, vectors, terms)
                if vector is not None:
                    return vector
            above = [p for p in f.parents if p.shape == f.shape and unknowns_above([p])]
            if len(above) != 1 or isinstance(f, Variable) or not f.operation.elementwise:
                break
            (f,) = above
    return None


def _of_other_data(
    model: "Model",
    f: Node,
    numbers: set[Variable],
    vectors: Collection[Variable],
    terms: "Sequence[Term]",
) -> GaussianVector | None:
    """The system of a series."""
    intercepts: tuple[Variable, ...] = ()
    system = System(f.shape[0], numbers)
    vector = _few_noises(model, f, system, vectors)
    if vector is None:
        unknowns = system.noise_unknowns
        if not _is_single(system, vectors) or normal_data(f, unknowns, terms) is not None:
            return None
    if firsts := system.worthwhile_firsts():
        extended = System(f.shape[0], numbers, firsts=firsts)
        if (other := _few_noises(model, f, extended, vectors)) is not None:
            vector = other
        else:
            firsts = frozenset()
    for unknown in _possible_intercepts(f, system):
        extended = System(f.shape[0], numbers, firsts=firsts, intercepts=(*intercepts, unknown))
        if (other := _few_noises(model, f, extended, vectors)) is not None:
            vector, intercepts = other, (*intercepts, unknown)
    return vector


def _possible_intercepts(f: Node, system: System) -> Sequence[Variable]:
    """Normal numbers above a series that may be intercepts."""
    taken = system.noise_unknowns.union(*system.possible_firsts)
    others = [u for u in unknowns_above([f]) if u not in taken and u.shape == ()]
    normal = [u for u in others if is_real(u) and _family(u) == "normal"]
    fit = system.steps <= LONGEST_WITH_INTERCEPTS and len(normal) <= MOST_INTERCEPTS
    return normal if fit else ()


def _family(unknown: Variable) -> str:
    return "" if unknown.distribution is None else unknown.distribution.family.key


def _few_noises(
    model: "Model", f: Node, system: System, vectors: Collection[Variable]
) -> GaussianVector | None:
    """The vector of a system whose matrices are written out."""
    try:
        of_f = system.observed(f)
        system.finish()
    except (NotLinearSeries, NotAlike):
        return None
    few = 0 < len(system.states) <= MOST_WRITTEN and 0 < len(system.noises) <= MOST_WRITTEN
    if not few or _is_single(system, vectors) or not system.depends_at_once(of_f):
        return None
    is_known = system.noise_unknowns <= {*model.density.unknowns}
    return _vector(system, of_f, f) if is_known and system.constants_are_known() else None


def _with_firsts(
    model: "Model", f: Node, system: System, terms: "Sequence[Term]"
) -> GaussianVector | None:
    """The system with unknown first values of loops among its noises."""
    firsts = system.worthwhile_firsts()
    extended = System(system.steps, system.numbers, system.places, firsts)
    return _system(model, f, extended, terms) if firsts else None


def _is_single(system: System, vectors: Collection[Variable]) -> bool:
    """Whether a system is a vector with a map of its own."""
    single = len(system.states) == len(system.noises) == 1 and system.places is None
    return single and not system.noise_unknowns.isdisjoint(vectors)


def _numbers_above(mean: Node, groups: Sequence[set[Variable]], steps: int) -> set[Variable]:
    """The numbers of groups that belong to most steps."""
    above = unknowns_above([mean]) if groups else []
    of_steps = (group for group in groups if 2 * len(group.intersection(above)) > steps)
    return set().union(*of_steps)


def _observed(mean: Node, noises: set[Node]) -> Node | None:
    """The series that data are about, without factors and addends."""
    while isinstance(mean, Apply) and mean.operation in LINEAR:
        moving = [p for p in mean.parents if not noises.isdisjoint(ancestors([p]))]
        if len(moving) != 1:
            break
        (mean,) = moving
    return mean if len(mean.shape) == 1 and mean.shape[0] > FEWEST_STEPS else None


def _of_parts(f: Node, numbers: set[Variable]) -> Iterator[System]:
    """The system whose data are about some elements of a series."""
    waiting = [f]
    while waiting:
        node = waiting.pop()
        series, places = System(0, numbers).read(node)
        if series is not None:
            if 0 < len(places) <= MOST_DATA * series.shape[0]:
                yield System(series.shape[0], numbers, places)
            return
        if isinstance(node, Apply) and node.operation in LINEAR:
            waiting += node.parents


def _system(
    model: "Model",
    f: Node,
    system: System,
    terms: "Sequence[Term]",
    vectors: Collection[Variable] = (),
) -> GaussianVector | None:
    try:
        of_f = system.observed(f)
        system.finish()
    except NotLinearSeries:
        return None
    noises, states = tuple(system.noises), len(system.states)
    unknowns = [unknown for noise in noises for unknown in noise.unknowns]
    if not 0 < states <= MOST_STATES or len(noises) > MOST_STATES or _is_single(system, vectors):
        return None
    model_unknowns = set(model.density.unknowns)
    if not model_unknowns.issuperset(unknowns) or not system.constants_are_known():
        return None
    data = normal_data(f, unknowns, terms)
    if data is None:
        return None
    return _vector(system, of_f, f, data)


def _vector(
    system: System, of_f: SeriesExpression, f: Node, data: NormalData | None = None
) -> GaussianVector:
    parameters, noises = tuple(system.constants), system.all_noises

    def law(_: tuple[int, ...], *values: Any) -> SystemLaw | InterceptLaw:
        return system.law(of_f, dict(zip(parameters, values, strict=True)))

    return GaussianVector(
        max(noises, key=lambda noise: noise.size).unknowns[0],
        False,
        parameters,
        law,
        f,
        data=data,
        markov=True,
        system=noises,
        steps=system.steps,
        data_places=system.data_places,
    )
