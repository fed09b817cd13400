"""The store of a run: what is in it, and who writes which chain."""

import json
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ...graph.errors import KinetographError
from ..sealed import (
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
from .blocks import Blocks, Column
from .locks import Locked, hold, locked
from .place import PART, beside, unwritable
from .view import View
from .warmups import Warmups

__all__ = ["FORMAT", "Store"]

FORMAT = 1
HIDDEN = ".kinetograph"
FORGOTTEN = 3600.0  # seconds after which nobody goes on with the making of a store


class Store:
    """A run on disk.

    Attributes
    ----------
    path
        The folder.
    manifest
        What is run: plain JSON.
    wrong
        What was found damaged, and has been mended.
    """

    def __init__(self, path: Path, manifest: dict[str, Any], wrong: Sequence[str] = ()) -> None:
        self.path, self.manifest, self.wrong = path, manifest, list(wrong)
        self.hidden = path / HIDDEN
        self.columns = [
            Column(name, np.dtype(dtype), tuple(shape))
            for name, dtype, shape in manifest["columns"]
        ]
        self.walkers = int(manifest.get("walkers", 1))
        self.view = View(path, self.hidden, self.columns, manifest["rows"])
        self._held: list[int] = []
        self._generation: dict[int, int] = {}
        self._warmups: dict[int, Warmups] = {}

    # Making and opening.
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
        """A new store, of a tree that has no draws yet."""
        manifest = manifest | {
            "format": FORMAT,
            "columns": [[c.path, c.dtype.str, list(c.shape)] for c in columns],
            "rows": rows,
            "chains": [],
        }
        part = beside(path)
        for left in path.parent.glob(f".{PART}-*.part"):  # by a process that was killed
            with suppress(OSError):
                if time.time() - left.stat().st_mtime > FORGOTTEN:
                    shutil.rmtree(left)
        try:
            made = cls(part, manifest)
            made.view.make(tree)
            if model is not None:
                write_twice(made.hidden / "model", model)
            made._write_manifest()
            made.publish()
            os.rename(part, path)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
        return cls.open(path)

    @classmethod
    def open(cls, path: Path) -> "Store":
        """The store in a folder.

        Raises
        ------
        KinetographError
            If it is none, or one of a newer version.
        """
        hidden = path / HIDDEN
        if not hidden.is_dir():
            if not path.exists():
                made = f"kg.mcmc(..., store={str(path)!r}) makes one"
                raise KinetographError(f"{path}: there is no such folder; {made}")
            kind = "folder" if path.is_dir() else "file"
            raise KinetographError(
                f"{path}: it is a {kind}, and no store of a run; give another path"
            )
        try:
            text, wrong = read_any(hidden / "run")
            manifest = json.loads(text)
        except (Damaged, ValueError) as error:
            raise KinetographError(
                f"{path}: what says what is run is damaged in both of its copies: {error}"
            ) from error
        if manifest.get("format") != FORMAT:
            raise KinetographError(
                f"{path} is of format {manifest.get('format')}, written by kinetograph "
                f"{manifest.get('versions', {}).get('kinetograph')}; this version reads format "
                f"{FORMAT}: go on with it by that version"
            )
        return cls(path, manifest, wrong)

    def _write_manifest(self) -> None:
        write_twice(self.hidden / "run", json.dumps(self.manifest).encode())

    def model(self) -> bytes | None:
        """What was written of the model.

        Raises
        ------
        KinetographError
            If it is damaged.
        """
        if not any(twin.exists() for twin in twins(self.hidden / "model")):
            return None
        try:
            found, wrong = read_any(self.hidden / "model")
        except Damaged as error:
            raise KinetographError(
                f"{self.path}: the model is damaged in both of its copies: {error}; give model="
            ) from error
        self.wrong += wrong
        return found

    # The chains that this process runs.
    def claim(self, numbers: Sequence[int], new: bool = False) -> None:
        """Take chains for this process, and enter those that are new, as all may have to be.

        Raises
        ------
        Locked
            If another process that is alive runs one of them.
        OSError
            If the store cannot be written.
        """
        for number in numbers:
            what = f"{self.path}: chain {number}"
            try:
                self._held.append(hold(self.hidden / f"chain-{number}.lock", what))
            except OSError as error:
                raise unwritable(self.path, error) from error
        with locked(self.hidden / "lock"):
            self.manifest = json.loads(read_any(self.hidden / "run")[0])
            entered = [n for n in numbers if n not in self.manifest["chains"]]
            if new and len(entered) < len(numbers):
                raise Locked(f"{self.path}: another process has begun one of the chains meanwhile")
            if entered:
                self.manifest["chains"] += entered
                self._write_manifest()

    def note(self, **said: Any) -> None:
        """Have it said in the store for good, if it is not yet."""
        with locked(self.hidden / "lock"):
            self.manifest = json.loads(read_any(self.hidden / "run")[0])
            new = {n: v for n, v in said.items() if v and v != self.manifest.get(n)}
            if new:
                self.manifest |= new
                self._write_manifest()

    def close(self) -> None:
        """Let go of the chains."""
        for handle in self._held:
            os.close(handle)
        self._held = []

    def blocks(self, number: int) -> list[Blocks]:
        """The blocks of a chain, or those of each walker of an ensemble."""
        place = self.manifest["chains"].index(number) * self.walkers
        rows = self.manifest["rows"]
        return [
            Blocks(self.path, place + walker, self.columns, rows) for walker in range(self.walkers)
        ]

    def write_state(self, number: int, record: Mapping[str, np.ndarray], **head: Any) -> None:
        """Write the state of a chain in the place of the older one of two."""
        data = json.dumps(head).encode() + b"\n" + arrays_bytes(record)
        generation = self._generation.get(number, 0)
        write_whole(twins(self.hidden / f"chain-{number}")[generation], seal(data))
        self._generation[number] = 1 - generation

    def states(self, number: int) -> list[tuple[dict[str, Any], dict[str, np.ndarray]]]:
        """The states of a chain that are whole, the latest one first."""
        found = []
        for generation, twin in enumerate(twins(self.hidden / f"chain-{number}")):
            try:
                head, _, body = read_sealed(twin).partition(b"\n")
                found.append((json.loads(head), arrays_of(body), 1 - generation))
            except Damaged as error:
                if twin.exists():
                    self.wrong.append(str(error))
        found.sort(key=lambda each: -each[0]["transition"])
        if found:
            self._generation[number] = found[0][2]
        return [each[:2] for each in found]

    def warmups(self, number: int, count: int | None = None) -> Warmups:
        """The rows of a chain's warm-up, of which there are so many."""
        held = self._warmups.setdefault(number, Warmups(self.hidden, number))
        held.count = held.count if count is None else count
        return held

    def write_begin(self, number: int, values: Mapping[str, np.ndarray]) -> None:
        """Write what a chain begins with."""
        write_twice(self.hidden / f"begin-{number}", arrays_bytes(values))

    def begin(self, number: int) -> dict[str, np.ndarray]:
        """What a chain begins with."""
        try:
            data, wrong = read_any(self.hidden / f"begin-{number}")
        except Damaged as error:
            raise KinetographError(
                f"{self.path}: what chain {number} begins with is damaged: {error}"
            ) from error
        self.wrong += wrong
        return arrays_of(data)

    def drawn(self) -> list[int]:
        """How many draws of each chain, by its place, are on disk for sure."""
        found = []
        for number in self.manifest["chains"]:
            counts = [0]
            for twin in twins(self.hidden / f"chain-{number}"):
                try:
                    head, _, _ = read_sealed(twin).partition(b"\n")
                    counts.append(int(json.loads(head)["draws"]))
                except Damaged:
                    continue
            found.append(max(counts))
        return found

    # What readers see.
    def publish(self, ended: bool = False) -> None:
        """Have the arrays end where the draws do that all chains of the leading places have.

        Of so many places that most draws are seen; where a run has ended, of all chains, unless
        that leaves out more than half of those.
        """
        with locked(self.hidden / "lock"):
            self.manifest = json.loads(read_any(self.hidden / "run")[0])
            counts = self.drawn()
            most: list[int] = [(k + 1) * min(counts[: k + 1]) for k in range(len(counts))]
            largest = max(most, default=0)
            chains = most.index(largest) + 1 if largest else len(counts)
            wanted = self.manifest.get("wanted", self.manifest["draws"])
            least = min(counts, default=0)
            enough = wanted is not None and least >= wanted
            if enough or (ended and 2 * least * len(counts) >= largest):
                chains = len(counts)  # whatever some have drawn beyond
            draws = min(counts[:chains], default=0) if self.columns else 0
            self.view.show(self._labels()[: chains * self.walkers], draws)

    def _labels(self) -> list[int]:
        """The labels of chains, or of the walkers of ensembles."""
        return [n * self.walkers + w for n in self.manifest["chains"] for w in range(self.walkers)]

    def dress(self, tree: Any) -> None:
        """Replace all but the draws by what is in a tree."""
        files = self.view.files(tree)
        with locked(self.hidden / "lock"):
            self.view.replace(files)
        self.publish(ended=True)

    def mend(self, alone: bool, tree: Callable[[], Any]) -> None:
        """Write anew what of the files beside the draws is not as it was written.

        And clear away what was left of files, if no other process may be writing some. A tree of
        results without draws is made where what was kept of the files is damaged, too.
        """
        with locked(self.hidden / "lock"):
            self.wrong += self.view.mend(self._labels(), tree)
        if alone:
            self.view.forget_labels()
            for left in list(self.path.rglob(".*.part")):
                left.unlink(missing_ok=True)
        for name in ("run", "view", "model", *(f"begin-{n}" for n in self.manifest["chains"])):
            base = self.hidden / name
            if not any(twin.exists() for twin in twins(base)):
                continue
            try:
                data, wrong = read_any(base, both=True)
            except Damaged as error:
                self.wrong.append(str(error))
                continue
            if wrong:
                self.wrong += wrong
                write_twice(base, data)
        self.publish()
