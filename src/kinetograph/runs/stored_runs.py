"""Runs whose draws and states are written to a store."""

import errno
from pathlib import Path
from typing import Any

import numpy as np

from ..graph.errors import KinetographError
from ..graph.source import place_text
from ..models.recorded_unknowns import GROUP as UNKNOWNS
from ..models.saving import model_to_bytes
from ..programs.fingerprint import program_text
from ..programs.program import Program
from .assembly import as_tree, blank_rows, join_statistics, split_statistics
from .chain import RunningChain
from .checkpoints import Keeper
from .facts import data_digests, digest, versions
from .rows import Sink, TransitionRows
from .run import Run
from .state_arrays import record_of_begin
from .store.blocks import Column, block_rows
from .store.place import named, unwritable
from .store.sink import StoredSink
from .store.store import Store

__all__ = ["attach", "store_of", "without_draws"]


def columns_of(program: Program, run: Run, dtype: Any) -> list[Column]:
    """The arrays of the store that have a row for each draw."""
    if not run.keep:
        return []
    smaller = {np.dtype(float): np.dtype(dtype)} if dtype is not None else {}
    columns = [
        Column(f"{group}/{name}", smaller.get(node.dtype, node.dtype), node.shape)
        for name, node, group in run.targets
    ]
    for s in program.statistics:
        kind = np.dtype(s.dtype)
        shape = s.shape[1:] if program.walkers and s.shape[:1] == program.walkers else s.shape
        columns.append(Column(f"sample_stats/{s.name}", smaller.get(kind, kind), shape))
    return columns


def store_of(path: Path, run: Run, dtype: Any, every: float) -> None:
    """Write a run to a store.

    The store is a new one, or one that has other chains of the same run.

    Raises
    ------
    KinetographError
        If the folder holds something else, or these chains already.
    """
    part = run.part
    if part is not None and not part.is_first and not path.exists():
        raise part.turn.reported(
            f"process {part.turn.process} does not see the folder {path}, which process 0 has "
            f"made{part.turn.place}; give a store in a file system that all processes share"
        )
    is_new = not path.exists() or (path.is_dir() and not any(path.iterdir()))
    try:
        store = create(path, run, dtype) if is_new else _opened_for_chains(path, run, dtype)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise unwritable(path, error) from error
        store = _opened_for_chains(path, run, dtype)  # another process has just made it
    try:
        store.claim([chain.number for chain in run.mine], new=True)
        for chain in run.mine:
            store.write_begin(chain.number, record_of_begin(chain))
            attach(store, run.program, run.keep, len(run.targets), chain)
    except BaseException:
        store.close()
        raise
    run.keeper = Keeper(store, run.mine, every)


def _opened_for_chains(path: Path, run: Run, dtype: Any) -> Store:
    store, name = Store.open(path), named(path)
    manifest, numbers = store.manifest, [chain.number for chain in run.mine]
    existing = sorted(set(manifest["chains"]) & set(numbers))
    if existing:
        raise KinetographError(
            f"{run.doing}: {name} has chains {', '.join(map(str, existing))} of a run already"
            f"{place_text()}; kg.resume({name!r}) continues the run, chains=range(a, b) adds "
            "other chains, and another run needs another store"
        )
    mine = _manifest(run, dtype, "")
    for key, description in (
        ("unknowns", "keep_unknowns"),
        ("program", "model or sampler"),
        ("data", "data"),
        ("versions", "versions or processor"),
        ("draws", "number of draws"),
        ("thin", "thin"),
        ("warmup", "warm-up"),
        ("keep", "keep"),
        ("dtype", "dtype"),
        ("keep_warmup", "keep_warmup"),
    ):
        if manifest.get(key) != mine[key]:
            raise KinetographError(
                f"{run.doing}: {name} belongs to a run with another {description}; new chains "
                "need the same"
            )
    for setting in ("sampler_settings", "sampler_tune", "chain_method"):
        here, there = (each["attributes"][setting] for each in (mine, manifest))
        if here != there:
            raise KinetographError(
                f"{run.doing}: {name} belongs to a run with {setting} {there}, this run has {here}"
            )
    if manifest["attributes"]["seed"] != mine["attributes"]["seed"]:
        raise KinetographError(
            f"{run.doing}: {name} belongs to a run with seed={manifest['attributes']['seed']}; new "
            "chains need the same seed"
        )
    return store


def create(path: Path, run: Run, dtype: Any) -> Store:
    """A new store for a run."""
    columns = columns_of(run.program, run, dtype)
    model, reason = _model(run.program)
    manifest = _manifest(run, dtype, reason)
    tree = without_draws(run)
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = block_rows(columns, manifest["walkers"], run.lengths.draws, len(run.mine))
    return Store.create(path, manifest, tree, columns, rows, model)


def without_draws(run: Run) -> Any:
    """The tree of a run's results before there are draws."""
    chains = run.chains or [RunningChain(np.zeros(4, np.uint32), number=0)]
    return as_tree(run.program, run.targets, chains, 0, run.attributes, going=True, stored=True)


def _manifest(run: Run, dtype: Any, no_model: str) -> dict[str, Any]:
    """The description of the run."""
    return {
        "versions": versions(),
        "program": digest(program_text(run.program)),
        "data": data_digests(run.program.model),
        "walkers": int(np.prod(run.program.walkers, dtype=int)),
        "draws": run.lengths.draws,
        "thin": run.lengths.thin,
        "warmup": run.lengths.warmup,
        "keep": [a.name for a in run.targets if a.group != UNKNOWNS] if run.keep else None,
        "unknowns": [a.name for a in run.targets if a.group == UNKNOWNS],
        "keep_warmup": any(chain.warmup is not None for chain in run.chains),
        "dtype": None if dtype is None else str(np.dtype(dtype)),
        "attributes": run.attributes,
        "sampler": type(run.program.sampler).__name__,
        "no_model": no_model,
    }


def _model(program: Program) -> tuple[bytes | None, str]:
    try:
        return model_to_bytes(program.model), ""
    except KinetographError as error:
        return None, str(error)


def attach(
    store: Store, program: Program, run_keeps: bool, targets: int, chain: RunningChain
) -> None:
    """Send the draws of a chain to the store."""
    if not run_keeps:
        chain.sink = Sink()
        return
    columns, statistics = store.columns, program.statistics
    blank, walkers = blank_rows(program, program.targets[:targets]), program.walkers

    def to_columns(rows: TransitionRows, walker: int) -> list[np.ndarray]:
        statistics_by_name = split_statistics(statistics, rows.statistics)
        values = [t[:, walker] if walkers else t for t in rows.targets[:targets]]
        for s in statistics:
            by_walker = walkers and s.shape[:1] == walkers
            values.append(
                statistics_by_name[s.name][:, walker] if by_walker else statistics_by_name[s.name]
            )
        return [v.astype(c.dtype, copy=False) for v, c in zip(values, columns, strict=True)]

    def to_rows(each: list[list[np.ndarray]]) -> TransitionRows:
        def joined(i: int) -> np.ndarray:
            parts = [values[i] for values in each]
            return np.stack(parts, 1) if walkers else parts[0]

        target_rows = [joined(i).astype(b.dtype) for i, b in enumerate(blank.targets)]
        statistics_by_name = {s.name: joined(targets + i) for i, s in enumerate(statistics)}
        return TransitionRows(target_rows, join_statistics(program, statistics_by_name))

    chain.sink = StoredSink(store.blocks(chain.number), to_columns, to_rows)
