"""Runs of `kg.temper` in a folder: checkpoints first, and then the results.

    run.zarr/
      .kinetograph/
        run.1, run.2           the arguments, versions and data of the run (two copies)
        model.1, model.2       the graph of the model, if it can be written (two copies)
        state.1, state.2       the last two checkpoints, until the run ends
        lock                   locked by the process that runs it
      zarr.json                the groups and arrays; only a run that has ended has this file
      posterior, ...

The results are written within the hidden folder. Their groups are then moved, and `zarr.json` is
written last.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..graph.errors import KinetographError
from ..graph.source import place_text
from ..models.saving import model_to_bytes
from ..programs.fingerprint import program_text
from ..programs.program import Program
from ..programs.sealed_files import twins, write_twice, write_whole
from ..results.stored_model import FORMAT, HIDDEN, read_manifest
from ..runs.checkpoints import opened
from ..runs.facts import data_digests, digest, versions
from ..runs.signals import Terminated
from ..runs.store.layout import consolidated, files_of, write_tree
from ..runs.store.locks import hold
from ..runs.store.place import interrupted, made_whole, named, run_again, unwritable
from .checkpoints import RunCheckpoints
from .points import tempered_program
from .task import TemperingTask

__all__ = ["stored"]

Manifest = dict[str, Any]


def stored(
    path: Path,
    task: TemperingTask,
    arguments: Mapping[str, Any],
    any_seed: bool,
    run: Callable[[], Any],
) -> Any:
    """Begin or continue a run in a folder; returns its results.

    With `any_seed` a run that was begun keeps its seed.

    Raises
    ------
    KinetographError
        If the folder holds something else, or a run that differs or is being run.
    OSError
        If the folder cannot be written.
    """
    hidden = path / HIDDEN
    manifest = _manifest(task, arguments)
    try:
        if not path.exists() or (path.is_dir() and not any(path.iterdir())):
            _make(path, task, manifest)
    except OSError as error:
        if not hidden.exists():  # else another process has just made it
            raise unwritable(path, error) from error
    task.seed = _checked(path, manifest, any_seed)["arguments"]["seed"]
    if _ended(path):
        return opened(path)
    try:
        handle = hold(hidden / "lock", f"{path}: this run")
    except OSError as error:
        raise unwritable(path, error) from error
    try:
        if not _ended(path):
            for file in hidden.glob(".*.part"):  # of processes that were killed
                file.unlink()
            again = run_again("temper", path)
            task.checkpoints = RunCheckpoints(hidden, f"; {again} continues the run")
            with _explained(path, task, again):
                tree = run()
                if tree.attrs.get("interrupted"):
                    return tree
                _publish(tree, path)
        return opened(path)
    finally:
        os.close(handle)


def _ended(path: Path) -> bool:
    """Whether the folder has the results."""
    return (path / "zarr.json").exists()


@contextmanager
def _explained(path: Path, task: TemperingTask, again: str) -> Iterator[None]:
    """Add to interruptions and errors how to continue the run."""
    advice = task.checkpoints.advice
    try:
        yield
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(f"temper: stopped by Ctrl-C{advice}") from error
    except Terminated:
        task.display.log(f"stopped by SIGTERM{advice}")
        raise
    except OSError as error:
        name = error.filename
        if name is None or not Path(os.fsdecode(name)).is_relative_to(path):
            raise
        raise interrupted(path, error, again) from error


# The description of a run.
def _manifest(task: TemperingTask, arguments: Mapping[str, Any]) -> Manifest:
    """All on which the results depend, as JSON."""
    model, sampler = task.model, task.sampler
    programs = (
        tempered_program(task.tempered, sampler),
        Program(model, sampler, tuple(model.targets)),
    )
    return {
        "format": FORMAT,
        "verb": "temper",
        "arguments": {
            **arguments,
            "ladder": None if task.ladder is None else task.ladder.tolist(),
            "seed": task.seed,
            "sampler": "the default" if task.standard else type(sampler).__name__,
            "tune": list(sampler.tune),
            **sampler.settings(),
            "precision": str(programs[0].dtype),
            "targets": list(model.target_names),
            "unknowns": list(model.names),
        },
        "versions": versions(),
        "data": data_digests(model),
        "program": digest("\n".join(map(program_text, programs))),
    }


def _make(path: Path, task: TemperingTask, manifest: Manifest) -> None:
    """A new folder for a run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with made_whole(path) as temporary:
        hidden = temporary / HIDDEN
        hidden.mkdir(parents=True)
        with suppress(KinetographError):  # a function without a name cannot be written
            write_twice(hidden / "model", model_to_bytes(task.model))
        write_twice(hidden / "run", json.dumps(manifest).encode())


def _checked(path: Path, mine: Manifest, any_seed: bool) -> Manifest:
    """The manifest in a folder, which must be that of this run.

    Raises
    ------
    KinetographError
        With all differences.
    """
    manifest, _ = read_manifest(path)
    if (verb := manifest.get("verb", "mcmc")) != "temper":
        raise KinetographError(
            f"temper: {named(path)} holds a run of kg.{verb}{place_text()}; give store= another "
            "folder"
        )
    here, there = mine["arguments"], manifest["arguments"]
    if any_seed:
        here["seed"] = there["seed"]
    pairs = {name: (here.get(name), there.get(name)) for name in {**there, **here}}
    names = [name for name, (got, there) in pairs.items() if json.dumps(got) != json.dumps(there)]
    names = next(([head] for head in ("method", "sampler") if head in names), names)
    differences = ["{}: got {!r}, expected {!r}".format(name, *pairs[name]) for name in names]
    if not differences:
        data = mine["data"]
        changed = [name for name in data if data[name] != manifest["data"].get(name)]
        differences += [f"the data {name} have other values" for name in changed]
        if mine["program"] != manifest["program"]:
            differences.append("the model or the sampler differs")
    if differences or not _ended(path):  # results that are complete outlive versions
        differences += [
            f"{name}: got {version}, expected {manifest['versions'].get(name)}"
            for name, version in mine["versions"].items()
            if version != manifest["versions"].get(name)
        ]
    if differences:
        raise KinetographError(
            f"temper: {named(path)} holds a run that differs from this call{place_text()}: "
            f"{'; '.join(differences)}. Call it as the run was called, or give store= another "
            "folder"
        )
    return manifest


def _publish(tree: Any, path: Path) -> None:
    """Replace the checkpoints of a run by its results."""
    hidden = path / HIDDEN
    new = hidden / "results"
    shutil.rmtree(new, ignore_errors=True)
    tree.attrs["store"] = str(path)
    try:
        files = files_of(new, write_tree(tree, new, (), tree["posterior"].sizes["draw"]))
        metadata = {n: json.loads(data) for n, data in files.items() if n.endswith("zarr.json")}
        root = metadata.pop("zarr.json") | {"consolidated_metadata": consolidated(metadata)}
        for group in new.iterdir():
            if group.is_dir():
                shutil.rmtree(path / group.name, ignore_errors=True)
                os.replace(group, path / group.name)
        write_whole(path / "zarr.json", json.dumps(root).encode())
    except OSError as error:
        error.filename = error.filename or str(path)
        raise
    for twin in twins(hidden / "state"):
        twin.unlink(missing_ok=True)
    shutil.rmtree(new, ignore_errors=True)
