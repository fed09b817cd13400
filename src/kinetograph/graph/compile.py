"""`kg.compile`: a graph becomes one compiled function from its inputs to its outputs."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from .array import Array
from .errors import ModelError, ShapeError, SymbolicError
from .indexing import check_bounds, known_indices
from .lower import Environment, evaluate
from .messages import describe, site_text
from .node import Apply, Bundle, Data, Node, ancestors
from .precision import x64

__all__ = ["Function", "compile"]

_CONSTANT = 64  # the size up to which an array in an expression is written into the program


class Function:
    """A compiled function; made by `kg.compile`. Call it with a value for each input."""

    def __init__(self, inputs: Sequence[Node], outputs: Sequence[Node], single: bool) -> None:
        self._inputs = tuple(inputs)
        self._names = tuple(describe(node) for node in inputs)
        self._outputs = tuple(outputs)
        self._single = single
        given = set(map(id, inputs))
        needed = ancestors(outputs, stop=lambda node: id(node) in given)
        for node in needed:
            if id(node) not in given and not isinstance(node, (Apply, Bundle, Data)):
                raise ModelError(
                    f"compile: the value of {describe(node)}{site_text(node)} is needed; "
                    "add it to the inputs"
                )
        # Data that are not inputs are arguments too, so that they are not built into the program,
        # and so are large arrays in an expression, on which XLA would spend time folding constants.
        self._data = tuple(
            node
            for node in needed
            if isinstance(node, Data)
            and not (node.literal and node.size <= _CONSTANT)
            and id(node) not in given
        )
        self._bounds = _index_bounds(self._inputs, needed)
        self._jitted = jax.jit(self._run)

    def _run(self, values: tuple[Any, ...], data: tuple[Any, ...]) -> tuple[Any, ...]:
        environment: Environment = dict(zip(self._inputs, values, strict=True))
        environment.update(zip(self._data, data, strict=True))
        evaluate(self._outputs, environment)
        return tuple(environment[node] for node in self._outputs)

    def __call__(self, *values: Any) -> Any:
        if len(values) != len(self._inputs):
            raise TypeError(
                f"this function takes {len(self._inputs)} values "
                f"({', '.join(self._names) or 'none'}), got {len(values)}"
            )
        checked = tuple(map(_check, self._inputs, self._names, values))
        for i, axis, size, node in self._bounds:
            check_bounds(checked[i], axis, size, node, self._inputs[i])
        with x64():
            results = self._jitted(checked, tuple(node.value for node in self._data))
            arrays = [np.asarray(r) for r in results]
        return arrays[0] if self._single else arrays

    def __repr__(self) -> str:
        outputs = ", ".join(f"{node.shape}" for node in self._outputs)
        return f"<compiled function of ({', '.join(self._names)}), output shapes {outputs}>"


def _index_bounds(
    inputs: Sequence[Node], needed: Sequence[Node]
) -> list[tuple[int, int, int, Node]]:
    """Where data are inputs that index something: their place, the axis, its length, and what.

    Known indices were checked when the graph was built and are trusted, other values need a check.
    """
    places = {node: i for i, node in enumerate(inputs) if isinstance(node, Data)}
    bounds = []
    for node in needed if places else ():
        if isinstance(node, Apply):
            for index, axis, size in known_indices(node):
                if index in places:
                    bounds.append((places[index], axis, size, node.parents[0]))
    return bounds


def _check(node: Node, name: str, value: Any) -> np.ndarray:
    array = np.asarray(value)
    if array.shape != node.shape:
        raise ShapeError(f"input {name}: expected shape {node.shape}, got {array.shape}")
    if array.dtype != node.dtype:
        if not np.can_cast(array.dtype, node.dtype, "same_kind"):
            raise SymbolicError(f"input {name}: expected {node.dtype}, got {array.dtype}")
        array = array.astype(node.dtype)
    return array


def compile(inputs: Sequence[Array] | Array, outputs: Sequence[Array] | Array) -> Function:
    """Compile a graph to a function of its inputs.

    Parameters
    ----------
    inputs
        Placeholders, data or unknowns (or any array: what it is computed from is then ignored),
        whose values are given at every call.
    outputs
        One array, or a list of arrays; the function returns NumPy arrays likewise.

    Raises
    ------
    ModelError
        If an output needs the value of an unknown or placeholder that is not an input.
    ShapeError
        When called with a value of another shape.

    Examples
    --------
    >>> import kinetograph as kg, numpy as np
    >>> x = kg.placeholder((2,), name="x")
    >>> f = kg.compile([x], [np.exp(x), x.sum()])
    >>> e, s = f([0.0, 1.0])
    >>> float(s)
    1.0
    """
    given = [inputs] if isinstance(inputs, Array) else list(inputs)
    single = isinstance(outputs, Array)
    wanted = [outputs] if isinstance(outputs, Array) else list(outputs)
    for what, arrays in (("input", given), ("output", wanted)):
        for i, array in enumerate(arrays):
            if not isinstance(array, Array):
                raise TypeError(
                    f"compile: {what} {i} is a {type(array).__name__}, not a kinetograph array"
                )
    if len({id(a.node) for a in given}) < len(given):
        raise ModelError("compile: an input is given twice")
    return Function([a.node for a in given], [a.node for a in wanted], single)
