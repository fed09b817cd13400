"""What readers see of a store: the metadata of its arrays, their labels, and what is no draw."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...graph.errors import KinetographError
from ..sealed import Damaged, arrays_bytes, arrays_of, read_any, write_twice, write_whole
from .blocks import Column, write_chunk
from .layout import GROUPS, consolidated, files_of, has_rows, write_tree
from .place import beside

__all__ = ["View"]


class View:
    """The files of a store that are not draws.

    They are kept in the hidden folder, too, as they were made, so that lost ones can be written
    anew.
    """

    def __init__(self, path: Path, hidden: Path, columns: Sequence[Column], rows: int) -> None:
        self.path, self.columns, self.rows = path, columns, rows
        self.kept = hidden / "view"
        self._template: dict[str, Any] = {}

    def make(self, tree: Any) -> None:
        """Lay out a store of a tree, whose hidden folder is made after it."""
        files = files_of(self.path, write_tree(tree, self.path, self.columns, self.rows))
        self.kept.parent.mkdir()
        write_twice(self.kept, _packed(files))

    def template(self) -> dict[str, Any]:
        """The metadata of groups and arrays as they were made, by their files."""
        if not self._template:
            files = _unpacked(read_any(self.kept)[0])
            names = [name for name in files if name.endswith("zarr.json")]
            self._template = {name: json.loads(files[name]) for name in names}
        return self._template

    def show(self, chains: Sequence[int], draws: int) -> None:
        """Have the arrays end after these chains, by their numbers, and so many draws."""
        view = self.template()
        for group in GROUPS:
            for name, values in (("chain", np.array(chains)), ("draw", np.arange(draws))):
                rows = 1 if name == "chain" else self.rows
                self._write_labels(f"{group}/{name}", values, rows)
        changed = {}
        for name, meta in view.items():
            if name.endswith("zarr.json") and has_rows(name, meta):
                shape = [len(chains), draws, *meta["shape"][2:]]
                kind = name.split("/")[1]
                shape = {"chain": [len(chains)], "draw": [draws]}.get(kind, shape)
                changed[name] = meta | {"shape": shape}
        for name, meta in changed.items():
            write_whole(self.path / name, json.dumps(meta).encode())
        whole = {**view, **changed}
        root = whole.pop("zarr.json") | {"consolidated_metadata": consolidated(whole)}
        write_whole(self.path / "zarr.json", json.dumps(root).encode())

    def _write_labels(self, name: str, values: np.ndarray, rows: int) -> None:
        """Write the chunks of the labels of an axis that are not there yet, as whole numbers."""
        for number in range(-(-len(values) // rows)):
            path = self.path.joinpath(name, "c", str(number))
            if not path.exists():
                whole = np.arange(number * rows, (number + 1) * rows)
                write_chunk(path, values[number : number + 1] if rows == 1 else whole)

    def files(self, tree: Any) -> dict[str, bytes]:
        """The files of a tree, made beside the store."""
        part = beside(self.path)
        try:
            return files_of(part, write_tree(tree, part, self.columns, self.rows))
        finally:
            shutil.rmtree(part, ignore_errors=True)

    def replace(self, files: Mapping[str, bytes]) -> None:
        """Replace all but the draws by such files."""
        # What is kept of warm-up is made anew each time, of files of its own.
        held = {n: f for n, f in files.items() if n.endswith(".json") or n[:7] != "warmup_"}
        write_twice(self.kept, _packed(held))
        for name, data in files.items():
            if name != "zarr.json" and not self._is_drawn(name):
                path = self.path / name
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, data)
        self._template = {}

    def mend(self) -> list[str]:
        """Write anew what is not as it was written; gives what that was.

        Raises
        ------
        KinetographError
            If what was kept of it is damaged, too.
        """
        try:
            packed, wrong = read_any(self.kept)
        except Damaged as error:
            raise KinetographError(
                f"{self.path}: what says how the arrays are laid out is damaged in both of its "
                f"copies: {error}"
            ) from error
        for name, data in _unpacked(packed).items():
            path = self.path / name
            if name == "zarr.json" or self._is_drawn(name):
                continue  # as long as there are draws
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, data)
            elif path.read_bytes() != data:
                if not name.endswith("zarr.json"):
                    wrong = [*wrong, f"{name} is damaged"]
                write_whole(path, data)
        return wrong

    def forget_labels(self) -> None:
        """Remove the labels of chains and draws, which `show` writes."""
        for group in GROUPS:
            for label in ("chain", "draw"):
                shutil.rmtree(self.path / group / label / "c", ignore_errors=True)

    def _is_drawn(self, name: str) -> bool:
        array = name.removesuffix("/zarr.json")
        labels = [f"{group}/{label}" for group in GROUPS for label in ("chain", "draw")]
        return array in labels or array in [column.path for column in self.columns]


def _packed(files: Mapping[str, bytes]) -> bytes:
    arrays = {name: np.frombuffer(data, np.uint8) for name, data in files.items()}
    return arrays_bytes(arrays)


def _unpacked(data: bytes) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in arrays_of(data).items()}
