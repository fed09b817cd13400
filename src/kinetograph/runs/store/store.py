"""The store of a run: its content, and its writers."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...graph.errors import KinetographError
from ...programs.sealed_files import (
    Damaged,
    arrays_bytes,
    arrays_of,
    read_any,
    read_sealed,
    seal,
    twins,
    write_twice,
    write_whole,
)
from ...results.stored_model import FORMAT, HIDDEN, read_manifest, read_model
from .blocks import BlockFiles, Column
from .locks import Locked, hold, locked
from .place import made_whole, run_again, unwritable
from .view import View
from .warmups import Warmups

__all__ = ["Store"]


class Store:
    """A run on disk.

    Attributes
    ----------
    path
        The folder.
    manifest
        The description of the run, as JSON.
    problems
        The damage that was found, and repaired.
    """

    def __init__(self, path: Path, manifest: dict[str, Any], wrong: Sequence[str] = ()) -> None:
        self.path, self.manifest, self.problems = path, manifest, list(wrong)
        self.hidden = path / HIDDEN
        self.columns = [
            Column(name, np.dtype(dtype), tuple(shape))
            for name, dtype, shape in manifest["columns"]
        ]
        self.walkers = int(manifest.get("walkers", 1))
        self.view = View(path, self.hidden, self.columns, manifest["rows"])
        self._lock_handles: list[int] = []
        self._generation: dict[int, int] = {}
        self._warmups: dict[int, Warmups] = {}

    # Creating and opening.
    @classmethod
    def create(
        cls,
        path: Path,
        manifest: dict[str, Any],
        tree: Any,
        columns: Sequence[Column],
        rows: int,
        model: bytes | None,
    ) -> "Store":
        """A new store, from a tree that has no draws yet."""
        manifest = manifest | {
            "format": FORMAT,
            "columns": [[c.path, c.dtype.str, list(c.shape)] for c in columns],
            "rows": rows,
            "chains": [],
        }
        with made_whole(path) as temporary:
            store = cls(temporary, manifest)
            store.view.make(tree)
            if model is not None:
                write_twice(store.hidden / "model", model)
            store._write_manifest()
            store.publish()
        return cls.open(path)

    @classmethod
    def open(cls, path: Path) -> "Store":
        """The store in a folder.

        Raises
        ------
        KinetographError
            If the folder is not a store of `kg.mcmc`, or a store of a newer version.
        """
        manifest, problems = read_manifest(path)
        if (verb := manifest.get("verb", "mcmc")) != "mcmc":
            raise KinetographError(
                f"{path} holds a run of kg.{verb}: {run_again(verb, path)} continues it; a run of "
                "kg.mcmc needs another folder"
            )
        return cls(path, manifest, problems)

    def _write_manifest(self) -> None:
        write_twice(self.hidden / "run", json.dumps(self.manifest).encode())

    def model(self) -> bytes | None:
        """The model as written; None if the store lacks it.

        Raises
        ------
        KinetographError
            If it is damaged.
        """
        content, problems = read_model(self.path)
        self.problems += problems
        return content

    # The chains that this process runs.
    def claim(self, numbers: Sequence[int], new: bool = False) -> None:
        """Lock chains for this process, and enter new ones in the manifest.

        With `new` all of the chains must be new.

        Raises
        ------
        Locked
            If another running process has one of the chains.
        OSError
            If the store cannot be written.
        """
        for number in numbers:
            title = f"{self.path}: chain {number}"
            try:
                self._lock_handles.append(hold(self.hidden / f"chain-{number}.lock", title))
            except OSError as error:
                raise unwritable(self.path, error) from error
        with locked(self.hidden / "lock"):
            self.manifest = json.loads(read_any(self.hidden / "run")[0])
            entered = [n for n in numbers if n not in self.manifest["chains"]]
            if new and len(entered) < len(numbers):
                raise Locked(f"{self.path}: another process has just begun one of the chains")
            if entered:
                self.manifest["chains"] += entered
                self._write_manifest()

    def record_facts(self, **facts: Any) -> None:
        """Add facts to the manifest, if they differ from it."""
        with locked(self.hidden / "lock"):
            self.manifest = json.loads(read_any(self.hidden / "run")[0])
            new = {n: v for n, v in facts.items() if v and v != self.manifest.get(n)}
            if new:
                self.manifest |= new
                self._write_manifest()

    def close(self) -> None:
        """Release the locks of the chains."""
        for handle in self._lock_handles:
            os.close(handle)
        self._lock_handles = []

    def blocks(self, number: int) -> list[BlockFiles]:
        """The blocks of a chain, or of each walker of an ensemble."""
        place = self.manifest["chains"].index(number) * self.walkers
        rows = self.manifest["rows"]
        return [
            BlockFiles(self.path, place + walker, self.columns, rows)
            for walker in range(self.walkers)
        ]

    def write_state(self, number: int, record: Mapping[str, np.ndarray], **head: Any) -> None:
        """Write the state of a chain, over its older state."""
        data = json.dumps(head).encode() + b"\n" + arrays_bytes(record)
        generation = self._generation.get(number, 0)
        write_whole(twins(self.hidden / f"chain-{number}")[generation], seal(data))
        self._generation[number] = 1 - generation

    def states(self, number: int) -> list[tuple[dict[str, Any], dict[str, np.ndarray]]]:
        """The intact states of a chain, the latest one first."""
        states = []
        for generation, twin in enumerate(twins(self.hidden / f"chain-{number}")):
            try:
                head, _, body = read_sealed(twin).partition(b"\n")
                states.append((json.loads(head), arrays_of(body), 1 - generation))
            except Damaged as error:
                if twin.exists():
                    self.problems.append(str(error))
        states.sort(key=lambda each: -each[0]["transition"])
        if states:
            self._generation[number] = states[0][2]
        return [each[:2] for each in states]

    def forget_states(self, number: int) -> None:
        """Remove the states of a chain that begins again."""
        for twin in twins(self.hidden / f"chain-{number}"):
            twin.unlink(missing_ok=True)

    def warmups(self, number: int, count: int | None = None) -> Warmups:
        """The rows of a chain's warm-up; `count` sets their number."""
        warmups = self._warmups.setdefault(number, Warmups(self.hidden, number))
        warmups.count = warmups.count if count is None else count
        return warmups

    def write_begin(self, number: int, values: Mapping[str, np.ndarray]) -> None:
        """Write the arrays that a chain begins with."""
        write_twice(self.hidden / f"begin-{number}", arrays_bytes(values))

    def begin(self, number: int) -> dict[str, np.ndarray]:
        """The arrays that a chain begins with."""
        try:
            data, problems = read_any(self.hidden / f"begin-{number}")
        except Damaged as error:
            raise KinetographError(
                f"{self.path}: both copies of the start of chain {number} are damaged: {error}"
            ) from error
        self.problems += problems
        return arrays_of(data)

    def draws_on_disk(self) -> list[int]:
        """The number of draws of each chain that are certainly on disk."""
        draws = []
        for number in self.manifest["chains"]:
            counts = [0]
            for twin in twins(self.hidden / f"chain-{number}"):
                try:
                    head, _, _ = read_sealed(twin).partition(b"\n")
                    counts.append(int(json.loads(head)["draws"]))
                except Damaged:
                    continue
            draws.append(max(counts))
        return draws

    # The view of readers.
    def publish(self, ended: bool = False) -> None:
        """Update the extents of the arrays that readers see.

        The arrays contain the first chains in the order of the store, as many as give most draws in
        all, and the draws that all of these chains have. After the end of a run they contain all
        chains, unless this leaves out more than half of the draws.
        """
        with locked(self.hidden / "lock"):
            self.manifest = json.loads(read_any(self.hidden / "run")[0])
            counts = self.draws_on_disk()
            draws_shown: list[int] = [(k + 1) * min(counts[: k + 1]) for k in range(len(counts))]
            largest = max(draws_shown, default=0)
            chains = draws_shown.index(largest) + 1 if largest else len(counts)
            requested = self.manifest.get("wanted", self.manifest["draws"])
            least = min(counts, default=0)
            enough = requested is not None and least >= requested
            if enough or (ended and 2 * least * len(counts) >= largest):
                chains = len(counts)  # even if some chains have further draws
            draws = min(counts[:chains], default=0) if self.columns else 0
            self.view.show(self._labels()[: chains * self.walkers], draws)

    def _labels(self) -> list[int]:
        """The labels of chains, or of the walkers of ensembles."""
        return [n * self.walkers + w for n in self.manifest["chains"] for w in range(self.walkers)]

    def dress(self, tree: Any) -> None:
        """Replace everything except the draws by the content of a tree."""
        files = self.view.files(tree)
        with locked(self.hidden / "lock"):
            self.view.replace(files)
        self.publish(ended=True)

    def repair(self, only_process: bool, tree: Callable[[], Any]) -> None:
        """Write again all files, apart from draws, that are damaged or missing.

        If no other process may be writing, temporary files are removed, too. `tree` makes a tree of
        results without draws; it is called if the copies of the files are damaged.
        """
        with locked(self.hidden / "lock"):
            self.problems += self.view.repair(self._labels(), tree)
        if only_process:
            self.view.forget_labels()
            for file in list(self.path.rglob(".*.part")):
                file.unlink(missing_ok=True)
        for name in ("run", "view", "model", *(f"begin-{n}" for n in self.manifest["chains"])):
            base = self.hidden / name
            if not any(twin.exists() for twin in twins(base)):
                continue
            try:
                data, problems = read_any(base, both=True)
            except Damaged as error:
                self.problems.append(str(error))
                continue
            if problems:
                self.problems += problems
                write_twice(base, data)
        self.publish()
