"""Results as an `xarray.DataTree` in the ArviZ schema.

posterior       the targets, (chain, draw, *dims), on their constrained scale
sample_stats    what the sampler recorded, by ArviZ's names
observed_data   the observed data
constant_data   all other data
warmup_...      warmup_posterior and warmup_sample_stats, the same of warm-up, where that is kept
averages        running averages: how many draws, and in groups of their own, by the names of what
                is averaged, mean, variance and covariance
sampler_state   everything needed to go on: position, tuning, counters, keys, and the draws made
unfinished_...  unfinished_posterior and unfinished_sample_stats, of a run that was stopped: further
                draws of chains that were ahead, and all of those that are not among the posterior

Of samplers that move ensembles each walker is a chain, number ensemble * walkers + walker, and
`tree.attrs["walkers"]` is their number; their state has a row for each ensemble.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from ..graph.node import Node
from ..graph.source import place_text
from ..graph.text import in_words
from ..kernels.contract import Statistic
from ..kernels.moments import Moments
from ..models.groups import as_group, data_groups, stamp
from ..models.model import Model
from .chain import RunningChain
from .program import Program
from .records import WINDOWS, record
from .rows import Rows, joint

__all__ = [
    "as_tree",
    "blank_rows",
    "chain_numbers",
    "check_tree",
    "join_statistics",
    "split_statistics",
    "state_group",
    "walkers_of",
]


def split_statistics(statistics: Sequence[Statistic], rows: np.ndarray) -> dict[str, np.ndarray]:
    """The statistics by name, of rows that hold the numbers of all."""
    found, place = {}, 0
    for s in statistics:
        part = rows[..., place : place + s.size]
        found[s.name] = part.reshape((*rows.shape[:-1], *s.shape)).astype(s.dtype)
        place += s.size
    return found


def join_statistics(program: Program, columns: Mapping[str, np.ndarray]) -> np.ndarray:
    """The rows that `split_statistics` took apart, of a chain or of the walkers of an ensemble."""
    parts = []
    for s in program.statistics:
        values = np.asarray(columns[s.name], program.dtype)
        if program.walkers and s.shape[:1] != program.walkers:
            values = values[:, 0]  # of the ensemble: the same of all walkers
        parts.append(values.reshape((len(values), s.size)))
    return np.concatenate(parts, axis=1)


def _by_walker(values: np.ndarray, walkers: tuple[int, ...]) -> np.ndarray:
    """A chain for each walker, ensemble by ensemble, of values (ensemble, draw, walker, ...).

    What is of the ensemble and not of its walkers is that of each of them.
    """
    if not walkers:
        return values
    if values.shape[2:3] != walkers:
        return np.repeat(values, walkers[0], axis=0)
    moved = np.moveaxis(values, 2, 1)
    return moved.reshape((math.prod(moved.shape[:2]), *moved.shape[2:]))


def walkers_of(tree: Any) -> int:
    """How many chains of results are walkers of one ensemble."""
    count = int(getattr(tree, "attrs", {}).get("walkers", 1))
    return count if tree["posterior"].sizes["chain"] % count == 0 else 1


def _groups(
    program: Program,
    named: Sequence[tuple[str, Node]],
    chains: Sequence[Rows],
    numbers: np.ndarray,
    prefix: str = "",
) -> dict[str, Any]:
    """Posterior and statistics of the rows of chains."""
    import xarray as xr

    walkers = program.walkers
    each = [split_statistics(program.statistics, rows.statistics) for rows in chains]
    variables: dict[str, Any] = {}
    for s in program.statistics:
        values = _by_walker(_stacked([held[s.name] for held in each]), walkers)
        dims = ("chain", "draw", *(f"{s.name}_dim_{i}" for i in range(values.ndim - 2)))
        variables[s.name] = (dims, values, {"description": s.text} if s.text else {})
    draws = max(len(c.statistics) for c in chains)
    coords = {"chain": numbers, "draw": np.arange(draws)}
    posterior = {
        name: (node, _by_walker(_stacked([rows.targets[i] for rows in chains]), walkers))
        for i, (name, node) in enumerate(named)
    }
    group = as_group(program.model, posterior, ("chain", "draw")).assign_coords(chain=numbers)
    return {f"{prefix}posterior": group, f"{prefix}sample_stats": xr.Dataset(variables, coords)}


def chain_numbers(program: Program, chains: Sequence[int]) -> np.ndarray:
    """The numbers of chains, or of the walkers of ensembles."""
    count = math.prod(program.walkers)
    return (np.asarray(chains, int)[:, None] * count + np.arange(count)).ravel()


def _stacked(chains: Sequence[np.ndarray]) -> np.ndarray:
    """Rows of chains side by side; those that are fewer end with NaN, or 0 of whole numbers.

    What lies so already, as draws of a run that has ended do, is not copied.
    """
    there = joint(chains)
    if there is not None:
        return there
    most = max(map(len, chains))
    blank = np.nan if chains[0].dtype.kind in "fc" else 0
    found = np.full((len(chains), most, *chains[0].shape[1:]), blank, chains[0].dtype)
    for rows, values in zip(found, chains, strict=True):
        rows[: len(values)] = values
    return found


def blank_rows(program: Program, targets: Iterable[Node]) -> Rows:
    """No rows of a chain: of some targets, and of the statistics."""
    walkers = program.walkers
    held = [np.empty((0, *walkers, *node.shape), node.dtype) for node in targets]
    return Rows(held, np.empty((0, sum(s.size for s in program.statistics)), program.dtype))


def _of_warmup(program: Program, chain: RunningChain, targets: int) -> Rows:
    """The rows of a chain's warm-up, from none on."""
    blocks = [Rows(b.targets[:targets], b.statistics) for b in chain.warmup or []]
    return Rows.joined([blank_rows(program, program.targets[:targets]), *blocks])


def _averages(program: Program, chains: Sequence[RunningChain], numbers: np.ndarray) -> Any:
    """The running averages of each chain: their count, and a group for each moment."""
    import xarray as xr

    from ..models.tree import tree_of

    model, walkers = program.model, program.walkers
    held = [jax.device_get(chain.state.averages) for chain in chains if chain.state is not None]
    groups: dict[str, Any] = {"mean": {}, "variance": {}, "covariance": {}}
    coords: dict[str, Any] = {}
    counts: Any = 0
    for name, source in program.running.sources.items():
        found = Moments(*(np.stack(x) for x in zip(*(h[name][:3] for h in held), strict=True)))
        counts = np.repeat(found.count, math.prod(walkers)).astype(np.int64)
        node, ndim = source.node, len(source.shape_of_one)
        dims = [f"{name}_dim_{i}" for i in range(ndim)] if node is None else model.axes(node)
        for dim, size in zip(dims, source.shape_of_one, strict=True):
            if node is not None:
                coords[dim] = model.coords.get(dim, np.arange(size))
        # Its own axes are those of each draw: as if all were of one draw.
        lead = found.count.reshape((-1, *(1 for _ in source.shape)))
        each = found._replace(count=lead)
        with np.errstate(all="ignore"):
            mean = np.where(lead > 0, found.mean, np.nan)
            moments = {"mean": mean, "variance": each.variance}
            if source.average.covariance:
                moments["covariance"] = found._replace(count=lead[..., None]).covariance
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


def state_group(held: Sequence[dict[str, Any]], numbers: Sequence[int], each: str) -> Any:
    """The states of chains or ensembles, a variable for each array of their records."""
    import xarray as xr

    variables: dict[str, Any] = {}
    for name in dict.fromkeys(name for state in held for name in state):
        values = [state[name] for state in held if name in state]
        if name in WINDOWS:  # of those still in warm-up, with so many rows
            none = np.empty((0, *values[0].shape[1:]))
            values = [state.get(name, none) for state in held]
            variables[f"{name}_count"] = (each, np.array([len(rows) for rows in values]))
            values = list(_stacked(values))
        stacked = np.stack(values)
        dims = tuple(f"{name}_dim_{i}" for i in range(stacked.ndim - 1))
        variables[name] = ((each, *dims), stacked)
    return xr.Dataset(variables, {each: np.asarray(numbers, int)})


def as_tree(
    program: Program,
    targets: Sequence[tuple[str, Node]],
    chains: Sequence[RunningChain],
    draws: int,
    attributes: Mapping[str, Any],
    going: bool = False,
    stored: bool = False,
) -> Any:
    """The DataTree of a run: of so many draws of each chain that has as many.

    While it is still `going`, without what may change meanwhile: the states of the chains. If they
    are `stored`, without draws.
    """
    from ..models.tree import tree_of

    numbers = [chain.number for chain in chains]

    kept = [c.sink.rows() if c.sink.readable and not stored else None for c in chains]
    blank = blank_rows(program, [node for _, node in targets])
    rows = [blank if r is None else r for r in kept]
    draws = draws if any(r is not None for r in kept) else 0
    there = [i for i, r in enumerate(rows) if len(r.statistics) >= draws]
    named = [numbers[i] for i in there]
    part = [rows[i].cut(0, draws) for i in there]
    groups = _groups(program, targets, part, chain_numbers(program, named))
    if not going:
        held = [record(chain) | {"draws": np.asarray(chain.kept, np.int64)} for chain in chains]
        each = "ensemble" if program.walkers else "chain"
        groups["sampler_state"] = state_group(held, numbers, each)
    groups |= data_groups(program.model)
    every = chain_numbers(program, numbers)
    ahead = [r.cut(draws if i in there else 0) for i, r in enumerate(rows)]
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
        | dict(attributes)
    )
    return tree


def check_tree(tree: Any, what: str) -> Any:
    """The posterior of results, or an error that says what makes results."""
    try:
        return tree["posterior"].dataset
    except (KeyError, TypeError, AttributeError, IndexError):
        part = ", which has no such group: give it whole" if hasattr(tree, "data_vars") else ""
        opened = "; write xarray.open_datatree(path)" if isinstance(tree, (str, Path)) else ""
        if isinstance(tree, Model):
            opened = "; kg.mcmc(model) gives them"
        raise TypeError(
            f"{what}: expected results (a DataTree with a posterior, as kg.mcmc, kg.pathfinder, "
            f"kg.advi and kg.laplace_approximation give), got {in_words(tree)}{part}{place_text()}"
            f"{opened}"
        ) from None
