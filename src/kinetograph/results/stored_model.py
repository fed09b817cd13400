"""Description and model of a run, from the store on disk.

`runs/store` writes both, in two copies each; see there.
"""

import json
from pathlib import Path
from typing import Any

from ..graph.errors import KinetographError, MissingFileError
from ..graph.source import place_text
from ..graph.suggestions import absent
from ..programs.sealed_files import Damaged, read_any, twins

__all__ = ["FORMAT", "HIDDEN", "read_manifest", "read_model"]

FORMAT = 1
HIDDEN = ".kinetograph"  # the folder in a store that has everything but the results


def read_manifest(path: Path) -> tuple[dict[str, Any], list[str]]:
    """The description of a stored run, and the damage found.

    Raises
    ------
    KinetographError
        If the folder is not a store, or a store of another format.
    """
    hidden = path / HIDDEN
    if not hidden.is_dir():
        if not path.exists():
            hint = f"kg.mcmc(..., store={str(path)!r}) makes one"
            raise MissingFileError(f"{absent(path, place_text())}; {hint}")
        kind = "folder" if path.is_dir() else "file"
        raise KinetographError(
            f"{path}: it is a {kind}, but not the store of a run; give another path"
        )
    try:
        text, problems = read_any(hidden / "run")
        manifest = json.loads(text)
    except (Damaged, ValueError) as error:
        raise KinetographError(
            f"{path}: both copies of the description of the run are damaged: {error}"
        ) from error
    if manifest.get("format") != FORMAT:
        raise KinetographError(
            f"{path} is of format {manifest.get('format')}, written by kinetograph "
            f"{manifest.get('versions', {}).get('kinetograph')}; this version reads format "
            f"{FORMAT}: continue the run with that version"
        )
    return manifest, problems


def read_model(path: Path) -> tuple[bytes | None, list[str]]:
    """The model in a store, or None, and the damage found.

    Raises
    ------
    KinetographError
        If both copies are damaged.
    """
    place = path / HIDDEN / "model"
    if not any(twin.exists() for twin in twins(place)):
        return None, []
    try:
        return read_any(place)
    except Damaged as error:
        raise KinetographError(
            f"{path}: both copies of the model are damaged: {error}; give model="
        ) from error
