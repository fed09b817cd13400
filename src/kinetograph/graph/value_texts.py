"""Texts of arrays and other values, for printing and messages."""

import os
from typing import Any

import numpy as np

from .messages import describe, names_in_scope, result_in_words
from .node import Data, Handle, Inner, Node
from .source import place_text

__all__ = ["array_text", "brief", "check_name", "check_path", "in_words", "shown", "value_text"]

_LONGEST = 80  # greatest length of a value in a message


def array_text(node: Node) -> str:
    """The text that an array prints: kind, name, shape, dtype and values."""
    shape = f"shape {node.shape}" if node.shape else "a number"
    name = f"{node.name!r}, " if node.name else ""
    if isinstance(node, Data):
        values = np.array2string(node.value, threshold=20, precision=4)
        return f"<data {name}{shape}, {node.dtype}>\n{values}"
    if node.kind == "variable":
        return f"<{name}{_variable(node)}, {shape}>"
    if node.kind == "placeholder":
        return f"<placeholder {name}{shape}, {node.dtype}>"
    if isinstance(node, Inner):
        return f"<{node.role} {describe(node, {})}, {shape}, {node.dtype}>"
    words = result_in_words(node)
    if words:
        return f"<{name}{words}, {shape}, {node.dtype}>"
    return f"<operation {name}{_computed(node)}, {shape}, {node.dtype}>"


def _computed(node: Node) -> str:
    """The expression that computes a node, with the variables of its operands."""
    names = {key: name for key, name in names_in_scope().items() if key != id(node)}
    return describe(node, names)


def _variable(node: Node) -> str:
    distribution = getattr(node, "distribution", None)
    if distribution is None:
        return "variable"
    name, _, more = distribution.label().partition(" ")  # such as "normal truncated below"
    article = "an" if name[0] in "aeiou" else "a"
    return f"variable following {article} {name} distribution{f' {more}' if more else ''}"


def value_text(value: Any) -> str:
    """The text of a number, or a summary of an array.

    The summary has the shape, the range and the first element that is not finite.
    """
    array = np.asarray(value)
    if array.ndim == 0:
        return f"{array.item():.6g}" if array.dtype.kind == "f" else str(array.item())
    if not array.size:
        return f"shape {array.shape}"
    finite = np.isfinite(array)
    text = f"shape {array.shape}"
    if finite.any():
        text += f", from {float(array[finite].min()):.6g} to {float(array[finite].max()):.6g}"
    bad = np.argwhere(~finite)
    if len(bad):
        place = tuple(int(i) for i in bad[0])
        text += f", {array[place]} at {list(place)}"
    return text


def check_name(subject: str, name: Any, hint: str = "") -> None:
    """Refuse a `name=` that is not a text."""
    if name is not None and not isinstance(name, str):
        raise TypeError(f"{subject}: name must be a text, got {in_words(name)}{place_text()}{hint}")


def check_path(subject: str, path: Any) -> None:
    """Refuse an empty path, and values that are not a path."""
    if path == "":
        raise ValueError(f"{subject}: path is empty{place_text()}; give the name of a file")
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(
            f"{subject}: path must be a text or a pathlib.Path, got {in_words(path)}{place_text()}"
        )


def in_words(value: Any) -> str:
    """Describe a wrong value: `the array mu`, `a list`, `the number 3`."""
    if isinstance(value, Handle):
        return f"the array {describe(value.held)}" if value.held is not None else "a state"
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return f"the text {value!r:.40}"
    if isinstance(value, (int, float, np.number)):
        return f"the number {value}"
    if isinstance(value, np.ndarray):
        return f"a NumPy array of shape {value.shape}"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if hasattr(value, "subtree"):
        return "a DataTree of results"
    kind, name = type(value).__name__, getattr(value, "__name__", None)
    if callable(value) and isinstance(name, str):
        return f"the function {name}"
    if isinstance(shape := getattr(value, "shape", None), tuple):  # frames, and arrays of libraries
        kind = f"{kind} of shape {shape}"
    return f"{'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}"


def brief(value: Any) -> str:
    """A number or array as in code; words for other values."""
    return in_words(value).removeprefix("the number ").removeprefix("the array ")


def shown(value: Any) -> str:
    """Python's text of a short simple value, else words.

    The text of a model or of results is long, and contains the signs that divide a message.
    """
    parts = value if isinstance(value, (list, tuple)) else (value,)
    simple = all(part is None or isinstance(part, (str, int, float, np.generic)) for part in parts)
    text = repr(value) if simple else ""
    return text if 0 < len(text) <= _LONGEST else in_words(value)
