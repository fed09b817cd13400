"""The state of a chain as named arrays, and back: by them results and stores hold it.

position_q, hyper_step_size, ...   what the program carries from block to block, by its path
start_...                          what the search for a starting point found
tuner_...                          what the host knows of the warm-up; where that goes on, the
                                   draws and gradients it looks at next, too
"""

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from ..graph.precision import x64
from .chain import Chain
from .program import Program
from .state import ChainState, Start
from .warming import Tuner

__all__ = [
    "WINDOWS",
    "NotItsState",
    "begin_again",
    "record",
    "record_of_begin",
    "restore",
]

# Those of the tuner's numbers that change.
_WHOLE = ("early", "late", "end", "looked", "glance", "worth", "rested", "risen")
_REAL = ("misfit", "step", "target")
_ROWS = ("draws", "slopes")
WINDOWS = tuple(f"tuner_{name}" for name in _ROWS)
_OPEN = -1  # the length of a warm-up that ends by itself


class NotItsState(ValueError):
    """Arrays that are not the state of such a chain."""


def record(chain: Chain) -> dict[str, np.ndarray]:
    """The state of a chain that has begun."""
    assert chain.state is not None
    whole = {**chain.state._asdict(), "start": chain.start}
    found = {n: np.asarray(leaf) for n, leaf in _named(jax.device_get(whole)).items()}
    tuner = chain.tuner
    length = _OPEN if tuner.length is None else tuner.length
    found["tuner_length"] = np.asarray(length, np.int64)
    found |= {f"tuner_{name}": np.asarray(getattr(tuner, name), np.int64) for name in _WHOLE}
    found |= {f"tuner_{name}": np.asarray(getattr(tuner, name), float) for name in _REAL}
    if chain.transition < tuner.end:
        for name in _ROWS:
            if parts := getattr(tuner, name):
                found[f"tuner_{name}"] = np.concatenate(parts)
    return found


def restore(program: Program, chain: Chain, found: Mapping[str, Any]) -> None:
    """Put a chain where the record of one says.

    Raises
    ------
    NotItsState
        If something is missing, or has another shape or type.
    """
    shapes = program.shapes()
    with x64():
        start = jax.eval_shape(Start.at, shapes.position)
    whole = {**shapes._asdict(), "start": start}
    # How the search tells of a start depends on walkers, and nothing goes on from it.
    values = [
        _held(name, found) if name.startswith("start_") else _fitted(name, like, found)
        for name, like in _named(whole).items()
    ]
    held = jax.tree.unflatten(jax.tree.structure(whole), values)
    chain.start = held.pop("start")
    chain.state = ChainState(**held)
    chain.tuner = _tuner(found, program)
    chain.transition = int(chain.state.transition)
    chain.gradients = int(chain.state.gradients)
    chain.divergences = int(chain.state.divergences)
    chain.step_size = float(np.mean(chain.state.hyper.get("step_size", np.nan)))


def record_of_begin(chain: Chain) -> dict[str, np.ndarray]:
    """What a chain begins with, beside its sampler."""
    found = {f"tuned_{name}": np.asarray(leaf) for name, leaf in _named(dict(chain.tuned)).items()}
    found["climbing"] = np.asarray(chain.climbing)
    return found if chain.free is None else found | {"free": np.asarray(chain.free)}


def begin_again(program: Program, chain: Chain, found: Mapping[str, Any]) -> None:
    """Put a chain where it begins.

    Raises
    ------
    NotItsState
        If something has another shape or type.
    """
    begun = [name.removeprefix("tuned_") for name in found if name.startswith("tuned_")]
    hypers = (chain.sampler or program.sampler).hypers(program.space)
    tuned = {}
    for name, own in hypers.items():
        leaves = {f"{name}{rest}": leaf for rest, leaf in _under(own)}
        if any(leaf in begun for leaf in leaves):
            values = [_fitted(f"tuned_{leaf}", like, found) for leaf, like in leaves.items()]
            tuned[name] = jax.tree.unflatten(jax.tree.structure(own), values)
    chain.tuned, chain.free = tuned, found.get("free")
    chain.climbing = bool(found["climbing"])


def _under(tree: Any) -> list[tuple[str, Any]]:
    return [(name and f"_{name}", leaf) for name, leaf in _named(tree).items()]


def _tuner(found: Mapping[str, Any], program: Program) -> Tuner:
    length = int(_fitted("tuner_length", np.zeros((), np.int64), found))
    tuner = program.tuner(None if length == _OPEN else length)
    for names, kind in ((_WHOLE, int), (_REAL, float)):
        for name in names:
            value = _fitted(f"tuner_{name}", np.zeros((), np.dtype(kind)), found)
            setattr(tuner, name, kind(value))
    for name in _ROWS:
        rows = found.get(f"tuner_{name}")
        if rows is not None and len(rows):
            array = np.asarray(rows, program.dtype)
            if array.shape[1:] != program.space.shape:
                raise NotItsState(f"tuner_{name} has rows of shape {array.shape[1:]}")
            setattr(tuner, name, [array])
    return tuner


def _named(tree: Any) -> dict[str, Any]:
    """The leaves of a tree by their paths."""
    found: dict[str, Any] = {}
    for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]:
        name = "_".join(str(getattr(k, "name", None) or k.key) for k in path)
        while name in found:  # of another path that reads the same
            name += "_"
        found[name] = leaf
    return found


def _held(name: str, found: Mapping[str, Any]) -> np.ndarray:
    value = found.get(name)
    if value is None:
        raise NotItsState(f"there is no {name}")
    return np.asarray(value)


def _fitted(name: str, like: Any, found: Mapping[str, Any]) -> np.ndarray:
    """An array, of the type of one like it: files have fewer types."""
    array, dtype = _held(name, found), np.dtype(like.dtype)
    if array.shape != like.shape:
        raise NotItsState(f"{name} has shape {array.shape}, and {like.shape} is expected")
    cast = array.astype(dtype)
    if not np.array_equal(cast, array, equal_nan=array.dtype.kind in "fc"):
        raise NotItsState(f"{name} is {array.dtype}, and {dtype} is expected")
    return cast
