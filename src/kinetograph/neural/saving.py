"""Files of the complete state of a simulation."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..graph.errors import DataError
from ..programs.sealed_files import (
    Damaged,
    arrays_bytes,
    arrays_of,
    read_sealed,
    seal,
    write_whole,
)
from .options import OPTIONS
from .records import RunningAverages
from .running import Recorder
from .walkers import Walkers

__all__ = ["load_state", "save_state"]

_KINDS = (int, float, str, tuple, type(None))  # of values in a file
_OWN = ("output", "system")  # groups of options that a file does not change


def save_state(simulation: Any, path: str) -> None:
    """Write the state of a simulation."""
    arrays: dict[str, np.ndarray] = {"parameters": simulation._vectors()}
    options = {
        name: value
        for name, value in simulation._options.items()
        if OPTIONS[name].group not in _OWN and isinstance(value, _KINDS)
    }
    text: dict[str, Any] = {
        "options": options,
        "seed": simulation._seed,
        "batch": simulation._batch,
        "collapsed": simulation._collapsed,
        "made": simulation._made,
        "roles": {},
        "files": simulation._files,
    }
    if simulation._momenta is not None:
        arrays["momenta"] = simulation._momenta
    running = {n: part for n, part in simulation._parts.items() if isinstance(part, Walkers)}
    for role, walkers in running.items():
        if walkers.has_momenta and role == "sampling":
            arrays["momenta"] = walkers.momenta
        text["roles"][role] = [walkers.generation, walkers.before, len(walkers.chains)]
        for i, leaves in enumerate(walkers.state):
            arrays |= {f"{role}/{i}/{j}": leaf for j, leaf in enumerate(leaves)}
        recorder = simulation._recorders.get(role)
        if recorder is not None:
            for name in ("averages", "rejections"):
                averages = getattr(recorder, name)
                text["roles"][role].append(averages.count)
                arrays[f"{role}/{name}/first"] = averages.first
                arrays |= {f"{role}/{name}/sum/{k}": v for k, v in averages.sums.items()}
    arrays["text"] = np.frombuffer(json.dumps(text).encode(), np.uint8)
    write_whole(Path(path), seal(arrays_bytes(arrays)))


def load_state(
    simulation: Any, path: str, parameters_only: bool, walkers: list[int] | None, count: int
) -> None:
    """Read the state of a simulation of `count` walkers."""
    try:
        arrays = arrays_of(read_sealed(Path(path)))
        text = json.loads(arrays.pop("text").tobytes())
    except (Damaged, KeyError) as error:
        raise DataError(f"load: {path} is not a file that Simulation.save wrote: {error}") from None
    positions = arrays["parameters"]
    if walkers is None and len(positions) != count:
        raise DataError(
            f"load: {path} has {len(positions)} walkers, and number_walkers is {count}; set "
            f"number_walkers={len(positions)}, or say which walkers to take: load(path, "
            f"walkers={[i % len(positions) for i in range(count)]})"
        )
    if walkers is not None:
        if len(walkers) != count or not all(0 <= i < len(positions) for i in walkers):
            raise DataError(
                f"load: walkers: expected {count} numbers below {len(positions)}, the number of "
                f"walkers of {path}, got {walkers}"
            )
        positions = positions[walkers]
    if parameters_only or walkers is not None:
        size = simulation.num_parameters()
        if positions.shape[1] != size:
            raise DataError(
                f"load: {path} has {positions.shape[1]} parameters, this network has {size}"
            )
        simulation.parameters = positions
        if walkers is not None and not parameters_only and "momenta" in arrays:
            simulation._forget("sampling")
            simulation._momenta = arrays["momenta"][walkers]
        return
    before = {n: dict(v) if isinstance(v, dict) else v for n, v in vars(simulation).items()}
    try:
        _restore(simulation, text, arrays, path)
    except Exception:
        vars(simulation).update(before)
        raise


def _restore(simulation: Any, text: dict[str, Any], arrays: dict[str, Any], path: str) -> None:
    """Take over a complete state."""
    options = {n: tuple(v) if isinstance(v, list) else v for n, v in text["options"].items()}
    options["precision"] = arrays["parameters"].dtype.name  # of all numbers of the state
    same = options["precision"] == simulation._options["precision"]
    simulation._forget("network" if same else "data")
    simulation._options |= options
    simulation._seed, simulation._batch = text["seed"], text["batch"]
    simulation._collapsed = text["collapsed"]
    simulation._files = text["files"]
    size = simulation.num_parameters()
    if arrays["parameters"].shape[1] != size:
        raise DataError(
            f"load: {path} has {arrays['parameters'].shape[1]} parameters, the network for these "
            f"data has {size}"
        )
    simulation._positions = arrays["parameters"]
    simulation._layout = simulation._network.layout
    simulation._momenta = arrays.get("momenta")
    for role, (generation, before, chains, *counts) in text["roles"].items():
        simulation._made[role] = (generation, before)
        walkers = simulation._walkers(role)
        numbers = [sum(k.startswith(f"{role}/{i}/") for k in arrays) for i in range(chains)]
        walkers.state = [
            [arrays[f"{role}/{i}/{j}"] for j in range(number)] for i, number in enumerate(numbers)
        ]
        if counts:
            recorder = simulation._recorders[role] = Recorder(walkers.count)
            for name, number in zip(("averages", "rejections"), counts, strict=True):
                averages = RunningAverages(walkers.count)
                averages.count, averages.first = number, arrays[f"{role}/{name}/first"]
                begin = f"{role}/{name}/sum/"
                averages.sums = {
                    k.removeprefix(begin): v for k, v in arrays.items() if k.startswith(begin)
                }
                setattr(recorder, name, averages)
    simulation._made = {role: tuple(pair) for role, pair in text["made"].items()}
