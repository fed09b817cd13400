"""A tree of results as a zarr store: files and metadata."""

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...models.recorded_unknowns import GROUP as UNKNOWNS
from .blocks import Column

__all__ = ["GROUPS", "consolidated", "files_of", "has_rows", "write_tree"]

GROUPS = ("posterior", UNKNOWNS, "sample_stats")  # groups of arrays with a row for each draw


def files_of(root: Path, order: Sequence[str]) -> dict[str, bytes]:
    """The files of a zarr store, without the draws.

    The chunks of arrays with a row for each draw are left out. The files are in the given order of
    arrays, in which readers list them.
    """
    all_files = {
        str(file.relative_to(root)): file for file in sorted(root.rglob("*")) if file.is_file()
    }
    arrays_of_draws = {
        name.removesuffix("zarr.json")
        for name, file in all_files.items()
        if name.endswith("zarr.json") and has_rows(name, json.loads(file.read_bytes()))
    }
    ordered = [name for name in order if name in all_files]
    return {
        name: all_files[name].read_bytes()
        for name in dict.fromkeys([*ordered, *all_files])
        if name.endswith("zarr.json") or not any(name.startswith(d) for d in arrays_of_draws)
    }


def has_rows(name: str, meta: Mapping[str, Any]) -> bool:
    """Whether an array is as long as the draws or chains."""
    dims = set(meta.get("dimension_names") or ())
    return name.split("/")[0] in GROUPS and bool({"chain", "draw"} & dims)


def consolidated(files: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of all groups and arrays, for the root.

    Readers read only this metadata.
    """
    empty = {"kind": "inline", "must_understand": False, "metadata": {}}
    inner = {
        name.removesuffix("/zarr.json"): meta
        if meta["node_type"] == "array"
        else meta | {"consolidated_metadata": empty}
        for name, meta in files.items()
    }
    return empty | {"metadata": inner}


def write_tree(tree: Any, path: Path, columns: Sequence[Column], rows: int) -> list[str]:
    """Write a tree as a zarr store with checksums.

    Returns the order of the metadata.
    """
    import zarr
    from zarr.codecs import Crc32cCodec
    from zarr.storage import LocalStore

    checked = {"compressors": (Crc32cCodec(),)}
    paths_of_draws = {column.path for column in columns}
    tree = tree.copy()
    for column in columns:
        group, name = column.path.split("/")
        tree[group][name] = tree[group][name].astype(column.dtype)
    encoding: dict[str, dict[str, Any]] = {}
    for node in tree.subtree:
        variable_encoding = encoding[node.path] = {}
        for name, variable in node.to_dataset(inherit=False).variables.items():
            array_path = f"{node.path.strip('/')}/{name}"
            variable_encoding[name] = dict(checked)
            if array_path in paths_of_draws:
                variable_encoding[name]["chunks"] = (1, rows, *variable.shape[2:])
            elif variable.dims == ("draw",):
                variable_encoding[name]["chunks"] = (rows,)
            elif name == "chain" and node.name in GROUPS:  # labels, which `View.show` writes
                variable_encoding[name]["chunks"] = (1,)
    # Chunks of zeros are written, too, so that a missing file is not taken for zeros.
    settings = zarr.config.set({"array.write_empty_chunks": True})
    with settings, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zarr warns that strings are not in its standard yet
        store = LocalStore(path)  # a string could be taken for a URL
        tree.to_zarr(store, zarr_format=3, consolidated=False, encoding=encoding)
    groups = [node.path.strip("/") for node in tree.subtree]
    arrays = [f"{node.path.strip('/')}/{name}" for node in tree.subtree for name in node.variables]
    return [f"{name}/zarr.json" for name in (*groups, *arrays)]
