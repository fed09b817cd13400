"""A tree of results as a zarr store: its files, and the metadata that tells readers of all."""

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .blocks import Column

__all__ = ["GROUPS", "consolidated", "files_of", "has_rows", "write_tree"]

GROUPS = ("posterior", "sample_stats")  # those with a row a draw


def files_of(root: Path, order: Sequence[str]) -> dict[str, bytes]:
    """The files of a zarr store, but for chunks of what has a row a draw.

    In an order of arrays: readers list them as they stand in the metadata.
    """
    every = {
        str(file.relative_to(root)): file for file in sorted(root.rglob("*")) if file.is_file()
    }
    drawn = {
        name.removesuffix("zarr.json")
        for name, file in every.items()
        if name.endswith("zarr.json") and has_rows(name, json.loads(file.read_bytes()))
    }
    first = [name for name in order if name in every]
    return {
        name: every[name].read_bytes()
        for name in dict.fromkeys([*first, *every])
        if name.endswith("zarr.json") or not any(name.startswith(d) for d in drawn)
    }


def has_rows(name: str, meta: Mapping[str, Any]) -> bool:
    """Whether an array is as long as there are draws, or chains."""
    dims = set(meta.get("dimension_names") or ())
    return name.split("/")[0] in GROUPS and bool({"chain", "draw"} & dims)


def consolidated(files: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of all groups and arrays, for the root: what readers look at first."""
    empty = {"kind": "inline", "must_understand": False, "metadata": {}}
    inner = {
        name.removesuffix("/zarr.json"): meta
        if meta["node_type"] == "array"
        else meta | {"consolidated_metadata": empty}
        for name, meta in files.items()
    }
    return empty | {"metadata": inner}


def write_tree(tree: Any, path: Path, columns: Sequence[Column], rows: int) -> list[str]:
    """Write a tree as a zarr store, all arrays with checksums; gives the order of its metadata."""
    import zarr
    from zarr.codecs import Crc32cCodec
    from zarr.storage import LocalStore

    checked = {"compressors": (Crc32cCodec(),)}
    drawn = {column.path for column in columns}
    tree = tree.copy()
    for column in columns:
        group, name = column.path.split("/")
        tree[group][name] = tree[group][name].astype(column.dtype)
    encoding: dict[str, dict[str, Any]] = {}
    for node in tree.subtree:
        of = encoding[node.path] = {}
        for name, variable in node.to_dataset(inherit=False).variables.items():
            here = f"{node.path.strip('/')}/{name}"
            of[name] = dict(checked)
            if here in drawn:
                of[name]["chunks"] = (1, rows, *variable.shape[2:])
            elif variable.dims == ("draw",):
                of[name]["chunks"] = (rows,)
            elif variable.dims == ("chain",):
                of[name]["chunks"] = (1,)
    # Files that are gone are told from those that hold nothing but zeros: these are there, too.
    whole = zarr.config.set({"array.write_empty_chunks": True})
    with whole, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that texts have no place in zarr's standard yet
        store = LocalStore(path)  # of a text, what looks like an address would be one
        tree.to_zarr(store, zarr_format=3, consolidated=False, encoding=encoding)
    groups = [node.path.strip("/") for node in tree.subtree]
    arrays = [f"{node.path.strip('/')}/{name}" for node in tree.subtree for name in node.variables]
    return [f"{name}/zarr.json" for name in (*groups, *arrays)]
