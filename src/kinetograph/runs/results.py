"""Results as an `xarray.DataTree` in the ArviZ schema.

posterior       the targets, (chain, draw, *dims), on their constrained scale
sample_stats    what the sampler recorded, by ArviZ's names
observed_data   the observed data
constant_data   all other data
warmup_...      warmup_posterior and warmup_sample_stats, the same of warm-up, where that is kept
averages        running averages: how many draws, and in groups of their own, by the names of what
                is averaged, mean, variance and covariance
sampler_state   everything needed to go on: position, tuning, counters, keys

Of samplers that move ensembles each walker is a chain, number ensemble * walkers + walker, and
`tree.attrs["walkers"]` is their number; their state has a row for each ensemble.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from ..graph.node import Node
from ..kernels.contract import Statistic
from ..kernels.moments import Moments
from ..models.groups import as_group, data_groups, stamp
from .chains import Chain, Rows
from .program import Program

__all__ = ["as_tree", "check_tree", "split_statistics", "walkers_of"]


def split_statistics(statistics: Sequence[Statistic], rows: np.ndarray) -> dict[str, np.ndarray]:
    """The statistics by name, of rows that hold the numbers of all."""
    found, place = {}, 0
    for s in statistics:
        part = rows[..., place : place + s.size]
        found[s.name] = part.reshape((*rows.shape[:-1], *s.shape)).astype(s.dtype)
        place += s.size
    return found


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
    program: Program, named: Sequence[tuple[str, Node]], chains: Sequence[Rows], prefix: str = ""
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
    count, draws = len(chains) * math.prod(walkers), max(len(c.statistics) for c in chains)
    coords = {"chain": np.arange(count), "draw": np.arange(draws)}
    posterior = {
        name: (node, _by_walker(_stacked([rows.targets[i] for rows in chains]), walkers))
        for i, (name, node) in enumerate(named)
    }
    return {
        f"{prefix}posterior": as_group(program.model, posterior, ("chain", "draw")),
        f"{prefix}sample_stats": xr.Dataset(variables, coords),
    }


def _stacked(chains: Sequence[np.ndarray]) -> np.ndarray:
    """Rows of chains side by side; those that are fewer end with NaN, or 0 of whole numbers."""
    most = max(map(len, chains))
    blank = np.nan if chains[0].dtype.kind in "fc" else 0
    found = np.full((len(chains), most, *chains[0].shape[1:]), blank, chains[0].dtype)
    for rows, values in zip(found, chains, strict=True):
        rows[: len(values)] = values
    return found


def _of_warmup(program: Program, chain: Chain) -> Rows:
    """The rows of a chain's warm-up, from none on."""
    blocks, shape = chain.warmup or [], program.walkers
    targets = [np.empty((0, *shape, *node.shape), node.dtype) for node in program.targets]
    statistics = np.empty((0, sum(s.size for s in program.statistics)), program.dtype)
    parts = zip(*(b.targets for b in blocks), strict=True) if blocks else [() for _ in targets]
    return Rows(
        [np.concatenate([none, *part]) for none, part in zip(targets, parts, strict=True)],
        np.concatenate([statistics, *(b.statistics for b in blocks)]),
    )


def _averages(program: Program, chains: Sequence[Chain]) -> Any:
    """The running averages of each chain: their count, and a group for each moment."""
    import xarray as xr

    model, walkers = program.model, program.walkers
    held = [jax.device_get(chain.state.averages) for chain in chains if chain.state is not None]
    groups: dict[str, Any] = {"mean": {}, "variance": {}, "covariance": {}}
    coords: dict[str, Any] = {}
    counts: Any = 0
    for name, source in program.running.sources.items():
        found = Moments(*(np.stack(x) for x in zip(*(h[name][:3] for h in held), strict=True)))
        counts = np.repeat(found.count, math.prod(walkers)).astype(np.int64)
        node, ndim = source.node, len(source.own)
        dims = [f"{name}_dim_{i}" for i in range(ndim)] if node is None else model.axes(node)
        for dim, size in zip(dims, source.own, strict=True):
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
    chain = {"chain": np.arange(len(counts))}
    parts = {
        kind: xr.Dataset(
            variables,
            chain | {d: c for d, c in coords.items() if any(d in v[0] for v in variables.values())},
        )
        for kind, variables in groups.items()
        if variables
    }
    children = {kind: xr.DataTree(part) for kind, part in parts.items()}
    return xr.DataTree(xr.Dataset({"count": ("chain", counts)}, chain), children)


def _state(chains: Sequence[Chain], each: str) -> Any:
    """The states of chains or ensembles, one variable a leaf, named by its path."""
    import xarray as xr

    held = [{**chain.state._asdict(), "start": chain.start} for chain in chains if chain.state]
    flat = [jax.tree_util.tree_flatten_with_path(state)[0] for state in held]
    variables: dict[str, Any] = {}
    for leaves in zip(*flat, strict=True):
        name = "_".join(str(getattr(k, "name", None) or k.key) for k in leaves[0][0])
        stacked = np.stack([np.asarray(leaf) for _, leaf in leaves])
        dims = tuple(f"{name}_dim_{i}" for i in range(stacked.ndim - 1))
        variables[name] = ((each, *dims), stacked)
    return xr.Dataset(variables, {each: np.arange(len(chains))})


def as_tree(
    program: Program,
    targets: Sequence[tuple[str, Node]],
    chains: Sequence[Chain],
    attributes: Mapping[str, Any],
) -> Any:
    """The DataTree of a run; chains that were stopped are cut to the shortest."""
    import xarray as xr

    draws = min(len(chain.statistics[: chain.kept]) for chain in chains)
    drawn = [Rows([t[:draws] for t in c.targets], c.statistics[:draws]) for c in chains]
    groups = {
        **_groups(program, targets, drawn),
        "sampler_state": _state(chains, "ensemble" if program.walkers else "chain"),
        **data_groups(program.model),
    }
    if all(chain.warmup is not None for chain in chains):
        early = [_of_warmup(program, chain) for chain in chains]
        groups |= _groups(program, targets, early, "warmup_")
    shared = stamp()
    for dataset in groups.values():
        dataset.attrs.update(shared)
    children = {name: xr.DataTree(part) for name, part in groups.items()}
    if program.averages:
        children["averages"] = _averages(program, chains)
        children["averages"].attrs.update(shared)
    tree = xr.DataTree(children=children)
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
    except (KeyError, TypeError, AttributeError):
        part = ", which has no such group: give it whole" if hasattr(tree, "data_vars") else ""
        raise TypeError(
            f"{what}: expected results of kg.mcmc (a DataTree with a posterior), "
            f"got {type(tree).__name__}{part}"
        ) from None
