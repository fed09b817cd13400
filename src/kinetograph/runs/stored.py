"""Chains whose draws and states go to a store, and their results."""

import errno
import platform
import time
import warnings
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import jax
import jaxlib
import numpy as np

from ..graph.errors import KinetographError
from ..graph.source import place_text
from ..models.model import Model
from ..models.saving import model_to_bytes
from ..version import __version__
from .cache import processor
from .chain import Chain
from .chains import Ending
from .fingerprint import program_text
from .program import Program
from .records import record, record_of_begin
from .results import as_tree, blank_rows, join_statistics, split_statistics, state_group
from .rows import Rows, Sink
from .run import Run
from .store.blocks import Column, block_rows
from .store.layout import GROUPS
from .store.sink import Stored
from .store.store import Store
from .telling import LOG

__all__ = [
    "EVERY",
    "Keeper",
    "attach",
    "data_digests",
    "digest",
    "opened",
    "store_of",
    "versions",
]

EVERY = 10.0  # seconds between checkpoints
LOOKED_AT = 20_000  # draws of a chain, when a run is diagnosed


class Keeper:
    """Writes down where chains are, and has readers see what there is."""

    def __init__(self, store: Store, chains: Sequence[Chain], every: float) -> None:
        self.store, self.chains, self.every = store, chains, every
        now = time.monotonic()
        self._last = {chain.number: now for chain in chains}
        self._shown = now
        self._broken: set[int] = set()

    def due(self, chain: Chain) -> bool:
        """Whether the state of a chain is to be written."""
        return time.monotonic() - self._last[chain.number] >= self.every

    def keep(self, chain: Chain) -> None:
        """Write its draws as far as there are, then its state."""
        self._broken.add(chain.number)  # until it is done
        if isinstance(chain.sink, Stored):
            chain.sink.flush()
        head = {"draws": chain.kept, "transition": chain.transition}
        self.store.write_state(chain.number, record(chain), **head)
        self._broken.discard(chain.number)
        self._last[chain.number] = time.monotonic()

    def look(self) -> None:
        """Have readers see what there is, if they have waited long enough."""
        if time.monotonic() - self._shown >= self.every:
            self.store.publish()
            self._shown = time.monotonic()

    def finish(self, ending: Ending) -> None:
        """Write down all there is.

        Chains whose draws could not be written stay as they were at the checkpoint before. A disk
        that is full is the error that ends the run, if nothing else did.
        """
        try:
            for chain in self.chains:
                sound = chain.number not in self._broken
                sound &= not (isinstance(chain.sink, Stored) and chain.sink.broken)
                if chain.state is not None and sound:
                    self.keep(chain)
            self.store.publish()
        except OSError as error:
            LOG.info("%s could not be written: %s", self.store.path, error)
            ending.error = ending.error or error

    def results(self, tree: Any, enough: int | None) -> Any:
        """The results that are in the store, with the other groups and attributes of a tree.

        So many draws, if they were enough.
        """
        with suppress(OSError):
            tree["sampler_state"] = self._states(tree)
            tree.attrs["store"] = str(self.store.path)
            self.store.dress(tree)
        self.store.close()
        found = opened(self.store.path)
        return found if enough is None else found.isel(draw=slice(enough), missing_dims="ignore")

    def _states(self, tree: Any) -> Any:
        """The states of all chains of the store, those of other processes too."""
        import xarray as xr

        numbers = sorted(self.store.manifest["chains"])
        held = {number: self.store.states(number) for number in numbers}
        states = {
            number: found[0][1] | {"draws": np.asarray(found[0][0]["draws"])}
            for number, found in held.items()
            if found
        }
        each = "ensemble" if "ensemble" in tree["sampler_state"].dims else "chain"
        dataset = state_group(list(states.values()), list(states), each)
        return xr.DataTree(dataset.assign_attrs(tree["sampler_state"].attrs))

    def some(self) -> Any:
        """So many draws that they may be looked at together."""
        tree = opened(self.store.path, cache=False)
        every = -(-tree["posterior"].sizes["draw"] // LOOKED_AT)
        return (
            tree.isel(draw=slice(None, None, every), missing_dims="ignore") if every > 1 else tree
        )

    @property
    def on(self) -> str:
        """How to go on."""
        return f"kg.resume({str(self.store.path)!r}) goes on from here"


def opened(path: Path, cache: bool = True) -> Any:
    """The results in a store; arrays are read when they are looked at."""
    import xarray as xr

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = xr.open_datatree(path, engine="zarr", consolidated=True, cache=cache, chunks=None)
    for group in GROUPS:  # chains of another process may have come before
        part = tree[group].dataset
        numbers = part["chain"].values
        if np.any(np.diff(numbers) < 0):
            tree[group] = xr.DataTree(part.isel(chain=np.argsort(numbers)))
    return tree


def versions() -> dict[str, str]:
    """What the last bits of draws depend on, beside the program."""
    device = jax.devices()[0]
    return {
        "kinetograph": __version__,
        "jax": jax.__version__,
        "jaxlib": jaxlib.__version__,
        "numpy": np.__version__,
        "machine": f"{platform.machine()}, {device.platform}, {device.device_kind}",
        "processor": sha256(processor().encode()).hexdigest()[:16],
    }


def digest(text: str) -> str:
    """The checksum of a text."""
    return sha256(text.encode()).hexdigest()


def data_digests(model: Model) -> dict[str, str]:
    """A checksum of each of the model's data, by name."""
    return {
        model.name(node): sha256(np.ascontiguousarray(model.value_of(node)).tobytes()).hexdigest()
        for node in model.data
    }


def columns_of(program: Program, run: Run, dtype: Any) -> list[Column]:
    """The arrays of the store that have a row a draw."""
    if not run.keep:
        return []
    smaller = {np.dtype(float): np.dtype(dtype)} if dtype is not None else {}
    found = [
        Column(f"posterior/{name}", smaller.get(node.dtype, node.dtype), node.shape)
        for name, node in run.targets
    ]
    for s in program.statistics:
        kind = np.dtype(s.dtype)
        shape = s.shape[1:] if program.walkers and s.shape[:1] == program.walkers else s.shape
        found.append(Column(f"sample_stats/{s.name}", smaller.get(kind, kind), shape))
    return found


def store_of(path: Path, run: Run, dtype: Any, every: float) -> None:
    """Have a run go to a store: a new one, or one with other chains of the same run.

    Raises
    ------
    KinetographError
        If there is something else, or the chains are in it already.
    """
    made = not path.exists() or (path.is_dir() and not any(path.iterdir()))
    try:
        store = create(path, run, dtype) if made else _joined(path, run)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        store = _joined(path, run)  # another process has made it meanwhile
    try:
        store.claim([chain.number for chain in run.chains], new=True)
        for chain in run.chains:
            store.write_begin(chain.number, record_of_begin(chain))
            attach(store, run.program, run.keep, len(run.targets), chain)
    except BaseException:
        store.close()
        raise
    run.keeper = Keeper(store, run.chains, every)


def _joined(path: Path, run: Run) -> Store:
    store = Store.open(path)
    manifest, numbers = store.manifest, [chain.number for chain in run.chains]
    taken = sorted(set(manifest["chains"]) & set(numbers))
    if taken:
        raise KinetographError(
            f"{run.doing}: {path} has chains {', '.join(map(str, taken))} of a run already"
            f"{place_text()}; kg.resume({str(path)!r}) goes on with it, chains=range(a, b) adds "
            "others, and another run needs another store"
        )
    mine = _manifest(run, None, "")
    for name, what in (
        ("program", "model or sampler"),
        ("data", "data"),
        ("versions", "versions or processor"),
        ("draws", "number of draws"),
        ("thin", "thin"),
        ("warmup", "warm-up"),
        ("keep", "keep"),
    ):
        if manifest[name] != mine[name]:
            raise KinetographError(f"{run.doing}: {path} is of a run with another {what}")
    for name in ("sampler_settings", "sampler_tune", "chain_method"):
        here, there = (each["attributes"][name] for each in (mine, manifest))
        if here != there:
            raise KinetographError(
                f"{run.doing}: {path} is of a run with {name} {there}, and this one has {here}"
            )
    if manifest["attributes"]["seed"] != mine["attributes"]["seed"]:
        raise KinetographError(
            f"{run.doing}: {path} is of a run with seed={manifest['attributes']['seed']}; chains "
            "that are added need the same"
        )
    return store


def create(path: Path, run: Run, dtype: Any) -> Store:
    """A store for a run."""
    columns = columns_of(run.program, run, dtype)
    model, reason = _model(run.program)
    manifest = _manifest(run, dtype, reason)
    tree = as_tree(run.program, run.targets, run.chains, 0, run.attributes, going=True, stored=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    return Store.create(path, manifest, tree, columns, block_rows(columns), model)


def _manifest(run: Run, dtype: Any, no_model: str) -> dict[str, Any]:
    """What is run."""
    return {
        "versions": versions(),
        "program": digest(program_text(run.program)),
        "data": data_digests(run.program.model),
        "walkers": int(np.prod(run.program.walkers, dtype=int)),
        "draws": run.lengths.draws,
        "thin": run.lengths.thin,
        "warmup": run.lengths.warmup,
        "keep": [name for name, _ in run.targets] if run.keep else None,
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


def attach(store: Store, program: Program, run_keeps: bool, targets: int, chain: Chain) -> None:
    """Have the draws of a chain go to the store."""
    if not run_keeps:
        chain.sink = Sink()
        return
    columns, statistics = store.columns, program.statistics
    blank, walkers = blank_rows(program, program.targets[:targets]), program.walkers

    def out(rows: Rows, walker: int) -> list[np.ndarray]:
        told = split_statistics(statistics, rows.statistics)
        values = [t[:, walker] if walkers else t for t in rows.targets[:targets]]
        for s in statistics:
            own = walkers and s.shape[:1] == walkers
            values.append(told[s.name][:, walker] if own else told[s.name])
        return [v.astype(c.dtype, copy=False) for v, c in zip(values, columns, strict=True)]

    def back(each: list[list[np.ndarray]]) -> Rows:
        def joined(i: int) -> np.ndarray:
            parts = [values[i] for values in each]
            return np.stack(parts, 1) if walkers else parts[0]

        held = [joined(i).astype(b.dtype) for i, b in enumerate(blank.targets)]
        told = {s.name: joined(targets + i) for i, s in enumerate(statistics)}
        return Rows(held, join_statistics(program, told))

    chain.sink = Stored(store.blocks(chain.number), out, back)
