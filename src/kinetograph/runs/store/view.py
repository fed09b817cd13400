"""The readers' view of a store: metadata, labels and other groups.

It contains all files that readers need apart from the draws.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...programs.sealed_files import (
    Damaged,
    arrays_bytes,
    arrays_of,
    read_any,
    write_twice,
    write_whole,
)
from .blocks import Column, chunk_parts, write_chunk
from .layout import GROUPS, consolidated, files_of, has_rows, write_tree
from .place import temporary_path

__all__ = ["View"]


class View:
    """The files of a store that are not draws.

    Copies of these files are in the hidden folder, so that lost files can be written again.
    """

    def __init__(self, path: Path, hidden: Path, columns: Sequence[Column], rows: int) -> None:
        self.path, self.columns, self.rows = path, columns, rows
        self.copies = hidden / "view"
        self._replacing = hidden / "replacing"  # a marker file that exists during `replace`
        self._template: dict[str, Any] = {}

    def make(self, tree: Any) -> None:
        """Write a tree as a store, and then make its hidden folder."""
        files = files_of(self.path, write_tree(tree, self.path, self.columns, self.rows))
        self.copies.parent.mkdir()
        write_twice(self.copies, _packed(files))

    def template(self) -> dict[str, Any]:
        """The metadata of groups and arrays as first written, by file."""
        if not self._template:
            files = _unpacked(read_any(self.copies)[0])
            names = [name for name in files if name.endswith("zarr.json")]
            self._template = {name: json.loads(files[name]) for name in names}
        return self._template

    def _groups(self) -> list[str]:
        """The groups whose arrays have a row for each draw."""
        return [group for group in GROUPS if f"{group}/zarr.json" in self.template()]

    def show(self, chains: Sequence[int], draws: int) -> None:
        """Let the arrays end after these chains and this number of draws.

        Chains are given by their labels.
        """
        view = self.template()
        for group in self._groups():
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
        all_metadata = {**view, **changed}
        root = all_metadata.pop("zarr.json") | {"consolidated_metadata": consolidated(all_metadata)}
        write_whole(self.path / "zarr.json", json.dumps(root).encode())

    def _write_labels(self, name: str, values: np.ndarray, rows: int) -> None:
        """Write the missing chunks of the labels of an axis."""
        for path, chunk in self._labels(name, values, rows):
            if not path.exists():
                write_chunk(path, chunk)

    def _labels(
        self, name: str, values: np.ndarray, rows: int
    ) -> Iterator[tuple[Path, np.ndarray]]:
        """The chunks of the labels of an axis, and their files."""
        for number in range(-(-len(values) // rows)):
            labels = np.arange(number * rows, (number + 1) * rows)
            chunk = values[number : number + 1] if rows == 1 else labels
            yield self.path.joinpath(name, "c", str(number)), chunk

    def files(self, tree: Any) -> dict[str, bytes]:
        """The files of a tree, made in a temporary folder."""
        temporary = temporary_path(self.path)
        try:
            return files_of(temporary, write_tree(tree, temporary, self.columns, self.rows))
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def replace(self, files: Mapping[str, bytes]) -> None:
        """Replace everything except the draws by these files."""
        # Rows of warm-up have files of their own, from which they are made each time.
        kept_files = {n: f for n, f in files.items() if n.endswith(".json") or n[:7] != "warmup_"}
        self._replacing.touch()
        write_twice(self.copies, _packed(kept_files))
        for name, data in files.items():
            if name != "zarr.json" and not _is_shown(name, data):
                path = self.path / name
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, data)
        self._replacing.unlink()
        self._template = {}

    def repair(self, chains: Sequence[int], tree: Callable[[], Any]) -> list[str]:
        """Write damaged or missing files again; returns a list of them.

        If both copies in the hidden folder are damaged, the files are made from a tree of the run's
        results without draws.
        """
        try:
            packed, problems = read_any(self.copies)
        except Damaged as error:
            problems = [str(error)]
            packed = _packed(self.files(tree()))
            write_twice(self.copies, packed)
        for name, data in _unpacked(packed).items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            content = path.read_bytes() if path.exists() else None
            if name == "zarr.json" or _is_shown(name, data):
                intact = content is not None and self._fits(name, content)
            elif intact := content == data:
                continue
            else:
                write_whole(path, data)
            if not intact and not self._replacing.exists():  # else `replace` was killed
                problems = [*problems, f"{name} is {'missing' if content is None else 'damaged'}"]
        self._replacing.unlink(missing_ok=True)
        return problems + self._damaged_labels(chains)

    def _fits(self, name: str, content: bytes) -> bool:
        """Whether metadata are as first written, except for the extents shown."""
        try:
            metadata = json.loads(content)
            expected = self.template()
            if name != "zarr.json":
                return _as_made(name, metadata, expected[name])
            root = dict(expected)
            expected_root = root.pop("zarr.json") | {"consolidated_metadata": consolidated(root)}
            inner = [
                each["consolidated_metadata"].pop("metadata") for each in (metadata, expected_root)
            ]
            return (
                metadata == expected_root
                and list(inner[0]) == list(inner[1])
                and all(
                    _as_made(f"{n}/zarr.json", each, inner[1][n]) for n, each in inner[0].items()
                )
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            return False

    def _damaged_labels(self, chains: Sequence[int]) -> list[str]:
        """The labels that are not as `show` wrote them."""
        problems = []
        for group in self._groups():
            blocks = len(list(self.path.joinpath(group, "draw", "c").glob("[0-9]*")))
            draws = np.arange(blocks * self.rows)
            for name, values in (("chain", np.array(chains)), ("draw", draws)):
                rows = 1 if name == "chain" else self.rows
                for path, chunk in self._labels(f"{group}/{name}", values, rows):
                    if path.exists() and path.read_bytes() != b"".join(chunk_parts(chunk)):
                        problems.append(f"{path.relative_to(self.path)} is damaged")
        return problems

    def forget_labels(self) -> None:
        """Remove the labels of chains and draws, which `show` writes."""
        for group in GROUPS:
            for label in ("chain", "draw"):
                shutil.rmtree(self.path / group / label / "c", ignore_errors=True)


def _is_shown(name: str, data: bytes) -> bool:
    """Whether a file is metadata that `show` writes.

    That is the metadata of an array with a row for each draw or chain.
    """
    return name.endswith("zarr.json") and has_rows(name, json.loads(data))


def _as_made(name: str, metadata: Any, written: Any) -> bool:
    """Whether an array's metadata are as first written, except for its length."""
    if not has_rows(name, written):
        return bool(metadata == written)
    grows = [axis in ("chain", "draw") for axis in written["dimension_names"]]
    sizes = zip(metadata["shape"], written["shape"], grows, strict=True)
    sizes_fit = all(here == there or (free and here >= 0) for here, there, free in sizes)
    return bool(sizes_fit and metadata | {"shape": written["shape"]} == written)


def _packed(files: Mapping[str, bytes]) -> bytes:
    arrays = {name: np.frombuffer(data, np.uint8) for name, data in files.items()}
    return arrays_bytes(arrays)


def _unpacked(data: bytes) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in arrays_of(data).items()}
