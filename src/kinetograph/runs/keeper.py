"""Who writes a run down: states of chains as they go, and at the end all else that results hold."""

import os
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..bits.draws import chain_key
from .advice import LOOKED_AT
from .chain import RunningChain
from .chains import Ending
from .program import Program
from .records import NotItsState, record, restore
from .rows import Rows, Sink
from .sealed import Damaged
from .store.layout import GROUPS
from .store.place import interrupted
from .store.sink import Stored
from .store.store import Store
from .telling import LOG

__all__ = ["EVERY", "Keeper", "opened"]

EVERY = 10.0  # seconds between checkpoints


class Keeper:
    """Writes down where chains are, and has readers see what there is."""

    def __init__(self, store: Store, chains: Sequence[RunningChain], every: float) -> None:
        self.store, self.chains, self.every = store, chains, every
        now = time.monotonic()
        self._last = {chain.number: now for chain in chains}
        self._shown = now
        self._broken: set[int] = set()

    def due(self, chain: RunningChain) -> bool:
        """Whether the state of a chain is to be written."""
        return time.monotonic() - self._last[chain.number] >= self.every

    def keep(self, chain: RunningChain) -> None:
        """Write its draws as far as there are, then its state."""
        self._broken.add(chain.number)  # until it is done
        if isinstance(chain.sink, Stored):
            chain.sink.flush()
        head = {"draws": chain.kept, "transition": chain.transition}
        if chain.warmup is not None:
            held = self.store.warmups(chain.number)
            if chain.warmup:
                held.add(Rows.joined(chain.warmup))
                chain.warmup.clear()
            head["warmup"] = held.count
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
            self._failed(error, ending)

    def _failed(self, error: OSError, ending: Ending) -> None:
        LOG.info("%s could not be written: %s", self.store.path, error)
        ending.error = ending.error or error

    def everyone(self, program: Program, begun: Sequence[RunningChain]) -> list[RunningChain]:
        """The chains that have begun, and those of other processes as their last states have them.

        With the rows of their warm-ups, where those are kept.
        """
        found = {chain.number: chain for chain in begun}
        for number in self.store.manifest["chains"]:
            if number in {chain.number for chain in self.chains}:
                continue
            for head, state in self.store.states(number)[:1]:
                key = chain_key(int(self.store.manifest["attributes"]["seed"]), number)
                other = RunningChain(key, number=number, sink=Sink())
                try:
                    restore(program, other, state)
                except NotItsState:  # of another model, with which the run has been forced to go on
                    continue
                other.sink.count = head["draws"]
                if "warmup" in head:
                    self.store.warmups(number, head["warmup"])
                    other.warmup = []
                found[number] = other
        chains = [found[number] for number in sorted(found)]
        for chain in chains:
            if chain.warmup is not None:
                chain.warmup = self._warmup(chain)
        return chains

    def _warmup(self, chain: RunningChain) -> list[Rows] | None:
        """All rows of a chain's warm-up, or None if some have been lost meanwhile."""
        try:
            return [*self.store.warmups(chain.number).read(), *(chain.warmup or ())]
        except Damaged as error:
            LOG.info("%s: %s", self.store.path, error)
            return None

    def results(self, tree: Any, enough: int | None, ending: Ending) -> Any:
        """The results that are in the store, with the other groups and attributes of a tree.

        So many draws, if they were enough.
        """
        tree.attrs["store"] = str(self.store.path)
        try:
            self.store.dress(tree)
            found = opened(self.store.path)
        except OSError as error:
            self._failed(error, ending)
            found = opened(self.store.path)
            for name in tree.children.keys() - set(GROUPS):
                found[name] = tree[name].copy()
            found.attrs.update(tree.attrs)
        self.store.close()
        return found if enough is None else found.isel(draw=slice(enough), missing_dims="ignore")

    def some(self) -> Any:
        """So many draws that they may be looked at together."""
        tree = opened(self.store.path, cache=False)
        every = -(-tree["posterior"].sizes["draw"] // LOOKED_AT)
        return (
            tree.isel(draw=slice(None, None, every), missing_dims="ignore") if every > 1 else tree
        )

    def explained(self, error: BaseException | None) -> BaseException | None:
        """An error that ends a run; where the store could not be written, one that says so."""
        if not isinstance(error, OSError) or error.filename is None:
            return error
        within = Path(os.fsdecode(error.filename)).is_relative_to(self.store.path)
        return interrupted(self.store.path, error) if within else error

    @property
    def on(self) -> str:
        """How to go on."""
        return f"kg.resume({str(self.store.path)!r}) goes on from here"


def opened(path: Path, cache: bool = True) -> Any:
    """The results in a store; arrays are read when they are looked at."""
    import xarray as xr
    import zarr
    from zarr.storage import LocalStore  # as of a text, what looks like an address would be one

    from ..models.tree import answering

    strict = zarr.config.set({"array.read_missing_chunks": False})  # files that are gone are told
    with strict, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole: Any = LocalStore(path, read_only=True)
        tree = xr.open_datatree(whole, engine="zarr", consolidated=True, cache=cache, chunks=None)
    tree.encoding["source"] = str(path)  # as of a text: reports look there for the model
    for group in GROUPS:  # chains of another process may have come before
        part = tree[group].dataset
        numbers = part["chain"].values
        if np.any(np.diff(numbers) < 0):
            tree[group] = xr.DataTree(part.isel(chain=np.argsort(numbers)))
    return answering(tree)
