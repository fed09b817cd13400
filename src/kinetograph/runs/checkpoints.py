"""The writer of a stored run: checkpoints, and results at the end."""

import os
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..bits.draws import chain_key
from ..programs.program import Program
from ..programs.sealed_files import Damaged
from .chain import RunningChain
from .chains import RunEnding
from .memory import examined_draws
from .progress.reporting import LOG
from .rows import Sink, TransitionRows
from .state_arrays import StateMismatch, record, restore
from .store.blocks import row_bytes
from .store.layout import GROUPS
from .store.place import interrupted
from .store.sink import StoredSink
from .store.store import Store

__all__ = ["EVERY", "Keeper", "opened"]

EVERY = 10.0  # seconds between checkpoints


class Keeper:
    """Writes checkpoints of chains, and updates the extent that readers see."""

    def __init__(self, store: Store, chains: Sequence[RunningChain], every: float) -> None:
        self.store, self.chains, self.every = store, chains, every
        now = time.monotonic()
        self._last = {chain.number: now for chain in chains}
        self._shown = now
        self._broken: set[int] = set()

    def due(self, chain: RunningChain) -> bool:
        """Whether a checkpoint of a chain is due."""
        return time.monotonic() - self._last[chain.number] >= self.every

    def keep(self, chain: RunningChain) -> None:
        """Write the chain's draws so far, then its state."""
        self._broken.add(chain.number)  # until the checkpoint is complete
        if isinstance(chain.sink, StoredSink):
            chain.sink.flush()
        head = {"draws": chain.kept, "transition": chain.transition}
        if chain.warmup is not None:
            warmups = self.store.warmups(chain.number)
            if chain.warmup:
                warmups.add(TransitionRows.joined(chain.warmup))
                chain.warmup.clear()
            head["warmup"] = warmups.count
        self.store.write_state(chain.number, record(chain), **head)
        self._broken.discard(chain.number)
        self._last[chain.number] = time.monotonic()

    def look(self) -> None:
        """Update the extent that readers see, if it is due."""
        if time.monotonic() - self._shown >= self.every:
            self.store.publish()
            self._shown = time.monotonic()

    def finish(self, ending: RunEnding) -> None:
        """Write everything at the end of a run.

        A chain whose draws could not be written stays at its checkpoint before. If the disk is full
        and nothing else ended the run, the error of the disk does.
        """
        try:
            for chain in self.chains:
                sound = chain.number not in self._broken
                sound &= not (isinstance(chain.sink, StoredSink) and chain.sink.broken)
                if chain.state is not None and sound:
                    self.keep(chain)
            self.store.publish()
        except OSError as error:
            self._failed(error, ending)

    def _failed(self, error: OSError, ending: RunEnding) -> None:
        LOG.info("%s could not be written: %s", self.store.path, error)
        ending.error = ending.error or error

    def everyone(self, program: Program, begun: Sequence[RunningChain]) -> list[RunningChain]:
        """The chains that have begun, in this and other processes.

        Chains of other processes are in the state of their last checkpoint. Chains have the rows of
        their warm-ups, if the run keeps them.
        """
        by_number = {chain.number: chain for chain in begun}
        for number in self.store.manifest["chains"]:
            if number in {chain.number for chain in self.chains}:
                continue
            for head, state in self.store.states(number)[:1]:
                key = chain_key(int(self.store.manifest["attributes"]["seed"]), number)
                other_chain = RunningChain(key, number=number, sink=Sink())
                try:
                    restore(program, other_chain, state)
                except StateMismatch:  # the state of another model, after a forced resumption
                    continue
                other_chain.sink.count = head["draws"]
                if "warmup" in head:
                    self.store.warmups(number, head["warmup"])
                    other_chain.warmup = []
                by_number[number] = other_chain
        chains = [by_number[number] for number in sorted(by_number)]
        for chain in chains:
            if chain.warmup is not None:
                chain.warmup = self._warmup(chain)
        return chains

    def _warmup(self, chain: RunningChain) -> list[TransitionRows] | None:
        """All rows of a chain's warm-up; None if some have been lost."""
        try:
            return [*self.store.warmups(chain.number).read(), *(chain.warmup or ())]
        except Damaged as error:
            LOG.info("%s: %s", self.store.path, error)
            return None

    def results(
        self, tree: Any, enough: int | None, ending: RunEnding, complete: bool = True
    ) -> Any:
        """The results in the store, with groups and attributes from a tree.

        If they are not to be made `complete`, another process has put these into the store.
        Only the first `enough` draws are returned, if `enough` is given.
        """
        tree.attrs["store"] = str(self.store.path)
        try:
            if complete:
                self.store.dress(tree)
            stored_results = opened(self.store.path)
        except OSError as error:
            self._failed(error, ending)
            if not self.store.hidden.exists():
                raise interrupted(self.store.path, error) from ending.error
            stored_results = opened(self.store.path)
            for name in tree.children.keys() - set(GROUPS):
                stored_results[name] = tree[name].copy()
            stored_results.attrs.update(tree.attrs)
        self.store.close()
        return (
            stored_results
            if enough is None
            else stored_results.isel(draw=slice(enough), missing_dims="ignore")
        )

    def some(self) -> Any:
        """Every n-th draw, so that there are few enough to be diagnosed."""
        tree = opened(self.store.path, cache=False)
        sizes = tree["posterior"].sizes
        width = row_bytes(self.store.columns)
        step = -(-sizes["draw"] // max(examined_draws(sizes["chain"], sizes["draw"], width), 1))
        return tree.isel(draw=slice(None, None, step), missing_dims="ignore") if step > 1 else tree

    def explained(self, error: BaseException | None) -> BaseException | None:
        """The error that ends a run.

        If the store could not be written, the error says so.
        """
        if not isinstance(error, OSError) or error.filename is None:
            return error
        within = Path(os.fsdecode(error.filename)).is_relative_to(self.store.path)
        return interrupted(self.store.path, error) if within else error

    @property
    def how_to_continue(self) -> str:
        """The way to continue the run, for messages."""
        return f"kg.resume({str(self.store.path)!r}) continues the run"


def opened(path: Path, cache: bool = True) -> Any:
    """The results in a store; arrays are read when they are used."""
    import xarray as xr
    import zarr
    from zarr.storage import LocalStore  # a string could be taken for a URL

    from ..models.results_tree import answering

    strict = zarr.config.set({"array.read_missing_chunks": False})  # a missing file is an error
    with strict, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        zarr_store: Any = LocalStore(path, read_only=True)
        tree = xr.open_datatree(
            zarr_store, engine="zarr", consolidated=True, cache=cache, chunks=None
        )
    tree.encoding["source"] = str(path)  # a string: reports look for the model there
    for group in tree.children.keys() & set(
        GROUPS
    ):  # chains of another process may be out of order
        part = tree[group].dataset
        numbers = part["chain"].values
        if np.any(np.diff(numbers) < 0):
            tree[group] = xr.DataTree(part.isel(chain=np.argsort(numbers)))
    return answering(tree)
