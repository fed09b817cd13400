"""Files of the complete state of a simulation.

A state has the values of options that are numbers, texts, tables of numbers or samplers of
`kg.samplers`. Other objects, such as functions, are recorded by name, and must be given again.
"""

import json
import os
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..graph.errors import DataError, MissingFileError
from ..graph.suggestions import absent
from ..programs.sealed_files import (
    Damaged,
    arrays_bytes,
    arrays_of,
    read_sealed,
    seal,
    write_whole,
)
from ..runs.restoring import restored_samplers, sampler_attributes
from ..samplers.sampler import Sampler
from .options import OPTIONS
from .parameters import ParameterLayout
from .record_files import BegunFile
from .records import RunningAverages
from .running import Recorder
from .sampler_options import SETTINGS, with_settings
from .vectors import carried
from .walkers import Walkers

__all__ = ["check_shapes", "load_parameters", "load_state", "save_state"]

_UNCHANGED_GROUPS = ("output", "system")  # groups of options that a file does not change
_OF_DATA = ("precision", "batch_data_files", "output_dimension")


def save_state(simulation: Any, path: str) -> None:
    """Write the state of a simulation."""
    arrays: dict[str, np.ndarray] = {"parameters": simulation._vectors()}
    options, objects = {}, {}
    for name, value in _made_of(simulation).items():
        stored = _stored(value)
        if stored is None:
            objects[name] = getattr(value, "__name__", type(value).__name__)
        else:
            options[name] = json.loads(stored)
    text: dict[str, Any] = {
        "options": options,
        "objects": objects,
        "given_sampler": json.loads(_stored(simulation._given_sampler) or "null"),
        "shapes": simulation._network.layout.shapes,
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


def _made_of(simulation: Any) -> dict[str, Any]:
    """The network and the options that a state has."""
    options = simulation._options.items()
    chosen = {
        name: value for name, value in options if OPTIONS[name].group not in _UNCHANGED_GROUPS
    }
    return {"network": simulation._given_network, **chosen}


def _stored(value: Any) -> str | None:
    """The JSON of a value; None if a file cannot keep it."""
    try:
        if isinstance(value, Sampler):
            described = {"sampler": type(value).__name__, **sampler_attributes([value])}
            return json.dumps(described) if _restored(described) == value else None
        return json.dumps(value, default=lambda each: np.asarray(each, float).tolist())
    except (TypeError, ValueError):
        return None


def _restored(stored: Any) -> Any:
    """The value of an option of JSON.

    Raises
    ------
    ValueError
        If it is a sampler that its attributes do not describe completely.
    """
    if isinstance(stored, dict) and "sampler_settings" in stored:
        return restored_samplers(stored, None, 1, "load")[0]
    return tuple(stored) if isinstance(stored, list) else stored


class _State(NamedTuple):
    """The contents of a file."""

    path: str
    text: dict[str, Any]
    arrays: dict[str, np.ndarray]
    shapes: dict[str, tuple[int, ...]]  # of the network's parameters

    @classmethod
    def read(cls, path: str) -> "_State":
        """Read a file."""
        if not os.path.exists(path):
            raise MissingFileError(f"restore_model or load: {absent(path)}")
        try:
            arrays = arrays_of(read_sealed(Path(path)))
            text = json.loads(arrays.pop("text").tobytes())
            shapes = {name: tuple(shape) for name, shape in text["shapes"].items()}
        except (Damaged, KeyError) as error:
            raise DataError(
                f"load: {path} is not a file that Simulation.save wrote: {error}"
            ) from None
        return cls(path, text, arrays, shapes)


def load_state(simulation: Any, path: str, given: Mapping[str, Any]) -> None:
    """Read a complete state; some options are given at the same time."""
    state = _State.read(path)
    count = len(state.arrays["parameters"])
    if given.get("number_walkers", count) != count:
        raise DataError(
            f"restore_model: {path} has {count} walkers, got number_walkers="
            f"{given['number_walkers']}; leave number_walkers out"
        )
    _restore(simulation, state, given)


def load_parameters(
    simulation: Any, path: str, walkers: list[int] | None, with_momenta: bool
) -> None:
    """Read the parameters of some walkers, and their momenta."""
    state = _State.read(path)
    positions, count = state.arrays["parameters"], simulation.num_walkers()
    if walkers is None:
        if len(positions) != count:
            raise DataError(
                f"load: {path} has {len(positions)} walkers, and number_walkers is {count}; set "
                f"number_walkers={len(positions)}, or say which walkers to take: load(path, "
                f"walkers={[i % len(positions) for i in range(count)]})"
            )
        walkers = list(range(count))
    if len(walkers) != count or not all(0 <= i < len(positions) for i in walkers):
        raise DataError(
            f"load: walkers: expected {count} numbers below {len(positions)}, the number of "
            f"walkers of {path}, got {walkers}"
        )
    layout = simulation._network.layout
    check_shapes(path, state.shapes, layout)
    before = ParameterLayout(layout.like).fixing(state.text["options"]["fix_parameters"] or {})
    simulation.parameters = carried(positions[walkers], before, layout)
    same = np.array_equal(before.free, layout.free)
    if with_momenta and same and "momenta" in state.arrays:
        simulation._forget("sampling")
        simulation._momenta = state.arrays["momenta"][walkers]


def check_shapes(path: str, shapes: Mapping[str, tuple[int, ...]], layout: ParameterLayout) -> None:
    """Refuse a file whose network has other parameters."""
    if dict(shapes) == layout.shapes:
        return
    there, here = (
        ", ".join(f"{name} {shape}" for name, shape in each.items())
        for each in (shapes, layout.shapes)
    )
    count = sum(int(np.prod(shape, dtype=int)) for shape in shapes.values())
    raise DataError(
        f"load: {path} has {count} parameters, the network for these data has {layout.size}: "
        f"{there:.200} in the file, {here:.200} here; take data and options, such as "
        "hidden_dimension, of the same shapes"
    )


def _restore(simulation: Any, state: _State, given: Mapping[str, Any]) -> None:
    """Take over a complete state."""
    path, text, arrays, shapes = state
    present = _made_of(simulation) | dict(given)
    objects = {name: present[name] for name in text["objects"]}
    network = text["options"].pop("network", None)
    for name, value in objects.items():
        if _stored(value) is not None:
            raise DataError(
                f"load: {path} was made with {name}={text['objects'][name]}, an object that a file "
                f"cannot keep; give it again, as in Simulation(..., {name}=...), or take only the "
                "parameters, by load(path, parameters_only=True)"
            )
    if "network" not in objects and _stored(present["network"]) != json.dumps(network):
        raise DataError(
            f"load: {path} was made with network={network}, and this simulation has another "
            "network=; give the same, or take only the parameters, by load(path, "
            "parameters_only=True)"
        )
    options = {name: _restored(value) for name, value in text["options"].items()}
    options["precision"] = arrays["parameters"].dtype.name  # of all numbers of the state
    if simulation._dataset is not None or present["batch_data_files"]:
        options["batch_data_files"] = present["batch_data_files"]
    same = all(options[name] == simulation._options[name] for name in _OF_DATA)
    simulation._forget("network" if same else "data")
    simulation._options |= options | {n: v for n, v in objects.items() if n != "network"}
    if "sampler" not in objects:
        simulation._given_sampler = _restored(text["given_sampler"])
    else:
        simulation._given_sampler = deepcopy(given.get("sampler", simulation._given_sampler))
        plain = [
            option
            for option, name in SETTINGS.items()
            if isinstance(getattr(objects["sampler"], name, None), float)
        ]
        simulation._options, _ = with_settings(simulation._options, plain)
    simulation._seed, simulation._batch = text["seed"], text["batch"]
    simulation._collapsed = text["collapsed"]
    simulation._files = {name: BegunFile(*file) for name, file in text["files"].items()}
    check_shapes(path, shapes, simulation._network.layout)
    simulation._positions = arrays["parameters"]
    simulation._layout = simulation._network.layout
    simulation._momenta = arrays.get("momenta")
    for role, (generation, before, chains, *counts) in text["roles"].items():
        simulation._made[role] = (generation, before)
        walkers = simulation._walkers(role)
        numbers = [sum(k.startswith(f"{role}/{i}/") for k in arrays) for i in range(chains)]
        leaves = [
            [arrays[f"{role}/{i}/{j}"] for j in range(number)] for i, number in enumerate(numbers)
        ]
        if _forms(leaves) != _forms(walkers.state):
            made = "optimizer= or learning_rate=" if role.startswith("training") else "sampler="
            raise DataError(
                f"load: the steps of {path} were made with another {made}; give the object with "
                "which the state was made"
            )
        walkers.state = leaves
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


def _forms(chains: list[list[np.ndarray]]) -> list[list[tuple[Any, ...]]]:
    """The shapes and types of the arrays of chains."""
    return [[(leaf.shape, leaf.dtype) for leaf in leaves] for leaves in chains]
