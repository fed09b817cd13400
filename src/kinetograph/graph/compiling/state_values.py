"""The values of a compiled function's states, `f.state`."""

import threading
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any

import jax
import numpy as np

from ..control.state import Cell, State
from ..errors import ModelError, ShapeError, SymbolicError
from ..missing import refuse_masked

__all__ = ["StateValues"]


class StateValues(MutableMapping[State, np.ndarray]):
    """A mapping from a compiled function's states to values; a JAX pytree."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # also acquired for each call of the function
        self._current: dict[Cell, np.ndarray] = {}
        self.note = ""  # why a state may be missing

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of all states, including hidden states of the library."""
        return tuple(self._current)

    def include(self, cells: Iterable[Cell]) -> None:
        """Add states; new states get their initial values."""
        with self._lock:
            new = {cell: cell.initial for cell in cells if cell not in self._current}
            self._current = {**self._current, **new}

    def values_of(self, cells: Iterable[Cell]) -> tuple[np.ndarray, ...]:
        """The values of some states."""
        return tuple(map(self._current.__getitem__, cells))

    def replace(self, values: Mapping[Cell, np.ndarray]) -> None:
        """Replace the values of some states."""
        for cell, after in values.items():
            cell.check(self._current[cell], after)
        self._current = {**self._current, **values}

    def restore(self, saved: "StateValues") -> None:
        """Replace the values by a copy's values, or by values from `pure`."""
        with self._lock:
            self.include(saved.cells)
            values = saved.values_of(saved.cells)
            new = {
                cell: np.asarray(value, cell.initial.dtype)
                for cell, value in zip(saved.cells, values, strict=True)
            }
            self._current = {**self._current, **new}

    def required_values(self, cells: Iterable[Cell]) -> tuple[Any, ...]:
        """The values of some states; raises ModelError if one is missing."""
        for cell in cells:
            if cell not in self._current:
                raise ModelError(
                    f"these states have no value of {'' if cell.hidden else 'state '}{cell.title}: "
                    "use f.state.copy(); for a kg.function call it, or f.trace, with such "
                    "arguments first"
                )
        return self.values_of(cells)

    def changed(self, cells: Iterable[Cell], values: Iterable[Any]) -> "StateValues":
        """A copy with new values of some states."""
        other = self.copy()
        other._current.update(zip(cells, values, strict=True))
        return other

    def _cell_of(self, state: Any) -> Cell:
        cell = state if isinstance(state, Cell) else getattr(state, "cell", None)
        if not isinstance(cell, Cell):
            raise KeyError(f"{state!r} is not a state; states are made by kg.state")
        if cell not in self.cells:
            kind = "" if cell.hidden else "state "
            raise KeyError(f"{kind}{cell.title} is not used in this function{self.note}")
        return cell

    def raw(self, cell: Cell) -> np.ndarray:
        """A copy of the value of a state."""
        value = self._current[self._cell_of(cell)]
        return value if isinstance(value, jax.core.Tracer) else np.array(value)

    def set_raw(self, cell: Cell, value: np.ndarray) -> None:
        """Set the value of a state."""
        with self._lock:
            self._current[self._cell_of(cell)] = value

    def copy(self) -> "StateValues":
        """An independent copy of the values."""
        other = StateValues()
        other._current, other.note = dict(self._current), self.note
        return other

    def __getitem__(self, state: Any) -> Any:
        return self._cell_of(state).view(self)

    def __setitem__(self, state: State, value: Any) -> None:
        initial = self._cell_of(state).initial
        refuse_masked(value, f"state {state.cell.title}")
        array = np.asarray(value)
        if array.shape != initial.shape:
            raise ShapeError(
                f"state {state.cell.title} has shape {initial.shape}, got {array.shape}"
            )
        if not np.can_cast(array.dtype, initial.dtype, "same_kind"):
            raise SymbolicError(
                f"state {state.cell.title} holds {initial.dtype}, got {array.dtype}"
            )
        self.set_raw(state.cell, array.astype(initial.dtype))

    def __delitem__(self, state: State) -> None:
        raise TypeError("the states of a compiled function cannot be removed")

    def __iter__(self) -> Iterator[State]:
        handles = (cell.handle() for cell in self.cells if cell.handle is not None)
        return iter([handle for handle in handles if handle is not None])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        rows = (f"{cell.title}: {value}" for cell, value in self._current.items())
        return f"<states {{{', '.join(rows)}}}>"


def _unflattened(cells: tuple[Cell, ...], values: Iterable[Any]) -> StateValues:
    states = StateValues()
    states._current = dict(zip(cells, values, strict=True))
    return states


jax.tree_util.register_pytree_node(
    StateValues, lambda states: (states.values_of(states.cells), states.cells), _unflattened
)
