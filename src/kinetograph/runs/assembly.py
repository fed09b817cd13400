"""Results as an `xarray.DataTree` in the ArviZ schema.

posterior       the targets, (chain, draw, *dims), on their constrained scale
unknowns        the unknowns that are not targets, in the same way, if the run keeps them
sample_stats    the records of the sampler, by ArviZ's names
observed_data   the observed data
constant_data   all other data
warmup_...      warmup_posterior, warmup_unknowns and warmup_sample_stats: the draws and records of
                warm-up, if the run keeps them
averages        running averages: the number of draws, and the groups mean, variance and
                covariance, with a variable for each averaged quantity
sampler_state   everything needed to continue the run: position, tuning, counters, keys, and the
                numbers of draws made
unfinished_...  the same groups of a run that was stopped: further draws of chains that were ahead,
                and all draws of chains that are not in posterior

With a sampler that moves ensembles each walker is a chain, with the number ensemble * walkers +
walker. `tree.attrs["walkers"]` is the number of walkers. The state has a row for each ensemble.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from ..graph.node import Node
from ..kernels.contract import Statistic
from ..kernels.moments import Moments
from ..models.recorded_distributions import recorded_distributions
from ..models.result_groups import as_group, data_groups, stamp
from ..programs.program import Program
from ..results.chosen_forms import FORMS, INFORMATION, JOINT
from .chain import RunningChain
from .kept_targets import KeptArray
from .rows import TransitionRows, joint
from .state_arrays import WINDOWS, record

__all__ = [
    "as_tree",
    "blank_rows",
    "chain_numbers",
    "join_statistics",
    "split_statistics",
    "state_group",
]


def split_statistics(statistics: Sequence[Statistic], rows: np.ndarray) -> dict[str, np.ndarray]:
    """The statistics by name, from rows that hold all numbers."""
    by_name, place = {}, 0
    for s in statistics:
        part = rows[..., place : place + s.size]
        by_name[s.name] = part.reshape((*rows.shape[:-1], *s.shape)).astype(s.dtype)
        place += s.size
    return by_name


def join_statistics(program: Program, columns: Mapping[str, np.ndarray]) -> np.ndarray:
    """The inverse of `split_statistics`.

    The columns belong to a chain, or of the walkers of an ensemble.
    """
    parts = []
    for s in program.statistics:
        values = np.asarray(columns[s.name], program.dtype)
        if program.walkers and s.shape[:1] != program.walkers:
            values = values[:, 0]  # a statistic of the ensemble, equal for all walkers
        parts.append(values.reshape((len(values), s.size)))
    return np.concatenate(parts, axis=1)


def _by_walker(values: np.ndarray, walkers: tuple[int, ...]) -> np.ndarray:
    """Values with a chain for each walker, ensemble by ensemble.

    The given values have the axes (ensemble, draw, walker, ...). A value of the whole ensemble is
    repeated for each walker.
    """
    if not walkers:
        return values
    if values.shape[2:3] != walkers:
        return np.repeat(values, walkers[0], axis=0)
    by_walker = np.moveaxis(values, 2, 1)
    return by_walker.reshape((math.prod(by_walker.shape[:2]), *by_walker.shape[2:]))


def _groups(
    program: Program,
    named: Sequence[KeptArray],
    chains: Sequence[TransitionRows],
    numbers: np.ndarray,
    prefix: str = "",
) -> dict[str, Any]:
    """Posterior, further unknowns and statistics of the rows of chains."""
    import xarray as xr

    walkers = program.walkers
    each = [split_statistics(program.statistics, rows.statistics) for rows in chains]
    variables: dict[str, Any] = {}
    for s in program.statistics:
        values = _by_walker(_stacked([by_statistic[s.name] for by_statistic in each]), walkers)
        dims = ("chain", "draw", *(f"{s.name}_dim_{i}" for i in range(values.ndim - 2)))
        variables[s.name] = (dims, values, {"description": s.text} if s.text else {})
    draws = max(len(c.statistics) for c in chains)
    coords = {"chain": numbers, "draw": np.arange(draws)}
    by_group: dict[str, dict[str, Any]] = {"posterior": {}}
    for i, (name, node, group) in enumerate(named):
        values = _by_walker(_stacked([rows.targets[i] for rows in chains]), walkers)
        by_group.setdefault(group, {})[name] = node, values
    groups = {
        f"{prefix}{group}": as_group(program.model, values, ("chain", "draw")).assign_coords(
            chain=numbers
        )
        for group, values in by_group.items()
    }
    return groups | {f"{prefix}sample_stats": xr.Dataset(variables, coords)}


def chain_numbers(program: Program, chains: Sequence[int]) -> np.ndarray:
    """The numbers of chains, or of the walkers of ensembles."""
    count = math.prod(program.walkers)
    return (np.asarray(chains, int)[:, None] * count + np.arange(count)).ravel()


def _stacked(chains: Sequence[np.ndarray]) -> np.ndarray:
    """Rows of chains, stacked.

    Shorter chains are filled up with NaN, or with 0 in whole numbers. Rows that are part of one
    array already, as after a run that has ended, are not copied.
    """
    shared = joint(chains)
    if shared is not None:
        return shared
    most = max(map(len, chains))
    blank = np.nan if chains[0].dtype.kind in "fc" else 0
    stacked = np.full((len(chains), most, *chains[0].shape[1:]), blank, chains[0].dtype)
    for rows, values in zip(stacked, chains, strict=True):
        rows[: len(values)] = values
    return stacked


def blank_rows(program: Program, targets: Iterable[Node]) -> TransitionRows:
    """Rows of a chain without any transition."""
    walkers = program.walkers
    blank_targets = [np.empty((0, *walkers, *node.shape), node.dtype) for node in targets]
    return TransitionRows(
        blank_targets, np.empty((0, sum(s.size for s in program.statistics)), program.dtype)
    )


def _of_warmup(program: Program, chain: RunningChain, targets: int) -> TransitionRows:
    """The rows of a chain's warm-up."""
    blocks = [TransitionRows(b.targets[:targets], b.statistics) for b in chain.warmup or []]
    return TransitionRows.joined([blank_rows(program, program.targets[:targets]), *blocks])


def _averages(program: Program, chains: Sequence[RunningChain], numbers: np.ndarray) -> Any:
    """The running averages: their counts, and a group for each moment."""
    import xarray as xr

    from ..models.results_tree import tree_of

    model, walkers = program.model, program.walkers
    states = [jax.device_get(chain.state.averages) for chain in chains if chain.state is not None]
    groups: dict[str, Any] = {"mean": {}, "variance": {}, "covariance": {}}
    coords: dict[str, Any] = {}
    counts: Any = 0
    for name, source in program.running.sources.items():
        running_moments = Moments(
            *(np.stack(x) for x in zip(*(h[name][:3] for h in states), strict=True))
        )
        counts = np.repeat(running_moments.count, math.prod(walkers)).astype(np.int64)
        node, ndim = source.node, len(source.shape_of_one)
        dims = [f"{name}_dim_{i}" for i in range(ndim)] if node is None else model.axes(node)
        for dim, size in zip(dims, source.shape_of_one, strict=True):
            if node is not None:
                coords[dim] = model.coords.get(dim, np.arange(size))
        # The axes of the quantity become axes of each draw, as if there were one draw.
        lead = running_moments.count.reshape((-1, *(1 for _ in source.shape)))
        of_draw = running_moments._replace(count=lead)
        with np.errstate(all="ignore"):
            mean = np.where(lead > 0, running_moments.mean, np.nan)
            moments = {"mean": mean, "variance": of_draw.variance}
            if source.average.covariance:
                moments["covariance"] = running_moments._replace(count=lead[..., None]).covariance
        for kind, values in moments.items():
            other = [f"{dims[-1]}_other"] if kind == "covariance" else []
            if other and dims[-1] in coords:
                coords[other[0]] = coords[dims[-1]]
            by_chain = _by_walker(values[:, None], walkers)[:, 0]
            groups[kind][name] = (("chain", *dims, *other), by_chain)
    chain = {"chain": numbers}
    parts = {
        kind: xr.Dataset(
            variables,
            chain | {d: c for d, c in coords.items() if any(d in v[0] for v in variables.values())},
        )
        for kind, variables in groups.items()
        if variables
    }
    return tree_of(parts, xr.Dataset({"count": ("chain", counts)}, chain))


def state_group(states: Sequence[dict[str, Any]], numbers: Sequence[int], each: str) -> Any:
    """The states of chains or ensembles, a variable for each array."""
    import xarray as xr

    variables: dict[str, Any] = {}
    for name in dict.fromkeys(name for state in states for name in state):
        values = [state[name] for state in states if name in state]
        if name in WINDOWS:  # the chains in warm-up have windows of different lengths
            none = np.empty((0, *values[0].shape[1:]))
            values = [state.get(name, none) for state in states]
            variables[f"{name}_count"] = (each, np.array([len(rows) for rows in values]))
            values = list(_stacked(values))
        stacked = np.stack(values)
        dims = tuple(f"{name}_dim_{i}" for i in range(stacked.ndim - 1))
        variables[name] = ((each, *dims), stacked)
    return xr.Dataset(variables, {each: np.asarray(numbers, int)})


def _name_forms(program: Program, state: Any) -> None:
    """Add the places of each unknown to the chosen forms."""
    centring, slices = program.centring, program.model.density.slices
    assert centring is not None
    of_unknowns = {
        FORMS: {unknown: slices[unknown] for unknown in centring.shifts},
        INFORMATION: centring.named_parts,
    }
    for variable, places in of_unknowns.items():
        if variable in state:
            named = {
                program.model.name(unknown): (place.start, place.stop)
                for unknown, place in places.items()
                if place.stop > place.start
            }
            state[variable].attrs["places"] = json.dumps(named)
    if centring.tails is not None and FORMS in state:
        places = {u: slices[u] for u in centring.tails.level.unknowns}
        named = {program.model.name(u): (place.start, place.stop) for u, place in places.items()}
        state[FORMS].attrs["tails"] = json.dumps(named)
    if centring.joint is not None and JOINT in state:
        names = [program.model.name(unknown) for unknown in centring.joint.unknowns]
        state[JOINT].attrs["unknowns"] = json.dumps(names)


def as_tree(
    program: Program,
    targets: Sequence[KeptArray],
    chains: Sequence[RunningChain],
    draws: int,
    attributes: Mapping[str, Any],
    going: bool = False,
    stored: bool = False,
) -> Any:
    """The DataTree of a run.

    It has `draws` draws of each chain that has as many. While the run is still `going`, it has no
    states of chains, which may change in the meantime. If draws are `stored` elsewhere, it has no
    draws.
    """
    from ..models.results_tree import tree_of

    numbers = [chain.number for chain in chains]

    readable = [c.sink.rows() if c.sink.readable and not stored else None for c in chains]
    blank = blank_rows(program, [array.node for array in targets])
    rows = [blank if r is None else r for r in readable]
    draws = draws if any(r is not None for r in readable) else 0
    complete = [i for i, r in enumerate(rows) if len(r.statistics) >= draws]
    complete_numbers = [numbers[i] for i in complete]
    complete_rows = [rows[i].cut(0, draws) for i in complete]
    groups = _groups(program, targets, complete_rows, chain_numbers(program, complete_numbers))
    if not going:
        records = [record(chain) | {"draws": np.asarray(chain.kept, np.int64)} for chain in chains]
        each = "ensemble" if program.walkers else "chain"
        groups["sampler_state"] = state_group(records, numbers, each)
        if program.centring is not None:
            _name_forms(program, groups["sampler_state"])
    groups |= data_groups(program.model)
    every = chain_numbers(program, numbers)
    ahead = [r.cut(draws if i in complete else 0) for i, r in enumerate(rows)]
    if not going and any(len(r.statistics) for r in ahead):
        groups |= _groups(program, targets, ahead, every, "unfinished_")
    if not going and all(chain.warmup is not None for chain in chains):
        early = [_of_warmup(program, chain, len(targets)) for chain in chains]
        groups |= _groups(program, targets, early, every, "warmup_")
    shared = stamp()
    for dataset in groups.values():
        dataset.attrs.update(shared)
    if program.averages and not going:
        groups["averages"] = _averages(program, chains, every)
        groups["averages"].attrs.update(shared)
    tree = tree_of(groups)
    tree.attrs.update(
        shared
        | {
            "sampler": type(program.sampler).__name__,
            "jax_version": jax.__version__,
        }
        | recorded_distributions(program.model)
        | dict(attributes)
    )
    return tree
