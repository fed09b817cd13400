"""Convert the state of a chain to named arrays, and back.

Results and stores hold the state of a chain as such arrays:

position_q, hyper_step_size, ...   the state that the program carries from block to block, each
                                   array named by its path in the state
start_...                          the result of the search for a starting point
tuner_...                          the host's part of the warm-up; while warm-up continues, also
                                   the draws and gradients that it will examine next
"""

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from ..adaptation.host_warmup import Tuner
from ..graph.precision import x64
from ..programs.program import Program
from ..programs.state import ChainState, Start
from .chain import RunningChain

__all__ = [
    "WINDOWS",
    "StateMismatch",
    "begin_again",
    "record",
    "record_of_begin",
    "restore",
]

# The attributes of the tuner that change.
_WHOLE = (
    *("early", "late", "end", "looked", "glance", "worth", "rested", "risen", "formed", "judged"),
)
_REAL = ("misfit", "step", "target")
_ROWS = ("draws", "slopes")
WINDOWS = tuple(f"tuner_{name}" for name in _ROWS)
_OPEN = -1  # the length of an adaptive warm-up, whose end is not fixed


class StateMismatch(ValueError):
    """Arrays that do not fit a chain of this program."""


def record(chain: RunningChain) -> dict[str, np.ndarray]:
    """The state of a chain that has begun."""
    assert chain.state is not None
    tree = {**chain.state._asdict(), "start": chain.start}
    arrays = {n: np.asarray(leaf) for n, leaf in _named(jax.device_get(tree)).items()}
    tuner = chain.tuner
    length = _OPEN if tuner.length is None else tuner.length
    arrays["tuner_length"] = np.asarray(length, np.int64)
    arrays |= {f"tuner_{name}": np.asarray(getattr(tuner, name), np.int64) for name in _WHOLE}
    arrays |= {f"tuner_{name}": np.asarray(getattr(tuner, name), float) for name in _REAL}
    if chain.transition < tuner.end:
        for name in _ROWS:
            if parts := getattr(tuner, name):
                arrays[f"tuner_{name}"] = np.concatenate(parts)
    return arrays


def restore(program: Program, chain: RunningChain, arrays: Mapping[str, Any]) -> None:
    """Put a chain into a recorded state.

    Raises
    ------
    StateMismatch
        If an array is missing, or has another shape or type.
    """
    shapes = program.shapes()
    with x64():
        start = jax.eval_shape(Start.at, shapes.position)
    tree = {**shapes._asdict(), "start": start}
    # The shapes of the search's results depend on walkers, and no computation uses them.
    values = [
        _required(name, arrays) if name.startswith("start_") else _fitted(name, like, arrays)
        for name, like in _named(tree).items()
    ]
    parts = jax.tree.unflatten(jax.tree.structure(tree), values)
    chain.start = parts.pop("start")
    chain.state = ChainState(**parts)
    chain.tuner = _tuner(arrays, program)
    chain.transition = int(chain.state.transition)
    chain.gradients = int(chain.state.gradients)
    chain.divergences = int(chain.state.divergences)
    chain.step_size = float(np.mean(chain.state.hyper.get("step_size", np.nan)))


def record_of_begin(chain: RunningChain) -> dict[str, np.ndarray]:
    """The arrays that a chain begins with, apart from its sampler."""
    arrays = {f"tuned_{name}": np.asarray(leaf) for name, leaf in _named(dict(chain.tuned)).items()}
    arrays["climbing"] = np.asarray(chain.climbing)
    return arrays if chain.free is None else arrays | {"free": np.asarray(chain.free)}


def begin_again(program: Program, chain: RunningChain, arrays: Mapping[str, Any]) -> None:
    """Put a chain where it began.

    Raises
    ------
    StateMismatch
        If an array has another shape or type.
    """
    tuned_leaves = [name.removeprefix("tuned_") for name in arrays if name.startswith("tuned_")]
    hypers = (chain.sampler or program.sampler).hypers(program.space)
    tuned = {}
    for name, default in hypers.items():
        leaves = {f"{name}{suffix}": leaf for suffix, leaf in _under(default)}
        if any(leaf in tuned_leaves for leaf in leaves):
            values = [_fitted(f"tuned_{leaf}", like, arrays) for leaf, like in leaves.items()]
            tuned[name] = jax.tree.unflatten(jax.tree.structure(default), values)
    chain.tuned, chain.free = tuned, arrays.get("free")
    chain.climbing = bool(arrays["climbing"])


def _under(tree: Any) -> list[tuple[str, Any]]:
    return [(name and f"_{name}", leaf) for name, leaf in _named(tree).items()]


def _tuner(arrays: Mapping[str, Any], program: Program) -> Tuner:
    length = int(_fitted("tuner_length", np.zeros((), np.int64), arrays))
    tuner = program.tuner(None if length == _OPEN else length)
    for names, kind in ((_WHOLE, int), (_REAL, float)):
        for name in names:
            value = _fitted(f"tuner_{name}", np.zeros((), np.dtype(kind)), arrays)
            setattr(tuner, name, kind(value))
    for name in _ROWS:
        rows = arrays.get(f"tuner_{name}")
        if rows is not None and len(rows):
            array = np.asarray(rows, program.dtype)
            if array.shape[1:] != program.space.shape:
                raise StateMismatch(f"tuner_{name} has rows of shape {array.shape[1:]}")
            setattr(tuner, name, [array])
    return tuner


def _named(tree: Any) -> dict[str, Any]:
    """The leaves of a tree, named by their paths."""
    leaves: dict[str, Any] = {}
    for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]:
        name = "_".join(str(getattr(k, "name", None) or k.key) for k in path)
        while name in leaves:  # another path has the same name
            name += "_"
        leaves[name] = leaf
    return leaves


def _required(name: str, arrays: Mapping[str, Any]) -> np.ndarray:
    value = arrays.get(name)
    if value is None:
        raise StateMismatch(f"{name} is missing")
    return np.asarray(value)


def _fitted(name: str, like: Any, arrays: Mapping[str, Any]) -> np.ndarray:
    """An array with the type of `like`: files have fewer types."""
    array, dtype = _required(name, arrays), np.dtype(like.dtype)
    if array.shape != like.shape:
        raise StateMismatch(f"{name} has shape {array.shape}, and {like.shape} is expected")
    cast = array.astype(dtype)
    if not np.array_equal(cast, array, equal_nan=array.dtype.kind in "fc"):
        raise StateMismatch(f"{name} is {array.dtype}, and {dtype} is expected")
    return cast
