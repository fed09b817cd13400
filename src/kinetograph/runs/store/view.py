"""What readers see of a store: the metadata of its arrays, their labels, and what is no draw."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..sealed import Damaged, arrays_bytes, arrays_of, read_any, write_twice, write_whole
from .blocks import Column, chunk_parts, write_chunk
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
        self._replacing = hidden / "replacing"  # a file that is there meanwhile
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
        for path, chunk in self._labels(name, values, rows):
            if not path.exists():
                write_chunk(path, chunk)

    def _labels(
        self, name: str, values: np.ndarray, rows: int
    ) -> Iterator[tuple[Path, np.ndarray]]:
        """The chunks of the labels of an axis, and their files."""
        for number in range(-(-len(values) // rows)):
            whole = np.arange(number * rows, (number + 1) * rows)
            chunk = values[number : number + 1] if rows == 1 else whole
            yield self.path.joinpath(name, "c", str(number)), chunk

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
        self._replacing.touch()
        write_twice(self.kept, _packed(held))
        for name, data in files.items():
            if name != "zarr.json" and not _is_shown(name, data):
                path = self.path / name
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, data)
        self._replacing.unlink()
        self._template = {}

    def mend(self, chains: Sequence[int], tree: Callable[[], Any]) -> list[str]:
        """Write anew what is not as it was written; gives what that was.

        Where what was kept of the files is damaged in both copies, they are made of a tree: results
        of the run, without draws.
        """
        try:
            packed, wrong = read_any(self.kept)
        except Damaged as error:
            wrong = [str(error)]
            packed = _packed(self.files(tree()))
            write_twice(self.kept, packed)
        for name, data in _unpacked(packed).items():
            path = self.path / name
            there = path.read_bytes() if path.exists() else None
            if name == "zarr.json" or _is_shown(name, data):
                same = there is not None and self._fits(name, there)
            elif same := there == data:
                continue
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, data)
            if not same and not self._replacing.exists():  # else a process was killed meanwhile
                wrong = [*wrong, f"{name} is {'gone' if there is None else 'damaged'}"]
        self._replacing.unlink(missing_ok=True)
        return wrong + self._wrong_labels(chains)

    def _fits(self, name: str, there: bytes) -> bool:
        """Whether metadata are as they were made, but for how many chains and draws are shown."""
        try:
            found = json.loads(there)
            expected = self.template()
            if name != "zarr.json":
                return _as_made(name, found, expected[name])
            root = dict(expected)
            whole = root.pop("zarr.json") | {"consolidated_metadata": consolidated(root)}
            inner = [each["consolidated_metadata"].pop("metadata") for each in (found, whole)]
            return (
                found == whole
                and list(inner[0]) == list(inner[1])
                and all(
                    _as_made(f"{n}/zarr.json", each, inner[1][n]) for n, each in inner[0].items()
                )
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            return False

    def _wrong_labels(self, chains: Sequence[int]) -> list[str]:
        """The labels of chains and draws that are not as `show` wrote them."""
        wrong = []
        for group in GROUPS:
            blocks = len(list(self.path.joinpath(group, "draw", "c").glob("[0-9]*")))
            draws = np.arange(blocks * self.rows)
            for name, values in (("chain", np.array(chains)), ("draw", draws)):
                rows = 1 if name == "chain" else self.rows
                for path, chunk in self._labels(f"{group}/{name}", values, rows):
                    if path.exists() and path.read_bytes() != b"".join(chunk_parts(chunk)):
                        wrong.append(f"{path.relative_to(self.path)} is damaged")
        return wrong

    def forget_labels(self) -> None:
        """Remove the labels of chains and draws, which `show` writes."""
        for group in GROUPS:
            for label in ("chain", "draw"):
                shutil.rmtree(self.path / group / label / "c", ignore_errors=True)


def _is_shown(name: str, data: bytes) -> bool:
    """Whether a file is metadata of an array with a row per draw or chain, which `show` writes."""
    return name.endswith("zarr.json") and has_rows(name, json.loads(data))


def _as_made(name: str, found: Any, made: Any) -> bool:
    """Whether the metadata of an array are as they were made, but for chains and draws."""
    if not has_rows(name, made):
        return bool(found == made)
    grows = [axis in ("chain", "draw") for axis in made["dimension_names"]]
    sizes = zip(found["shape"], made["shape"], grows, strict=True)
    fits = all(here == there or (free and here >= 0) for here, there, free in sizes)
    return bool(fits and found | {"shape": made["shape"]} == made)


def _packed(files: Mapping[str, bytes]) -> bytes:
    arrays = {name: np.frombuffer(data, np.uint8) for name, data in files.items()}
    return arrays_bytes(arrays)


def _unpacked(data: bytes) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in arrays_of(data).items()}
