"""The compiled functions of a model, and the capacity of its loops.

The gradient through a loop of unknown length keeps a limited number of trips. If a run makes more
trips, the function is compiled with more capacity and run again.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np

from ..graph.compiling.compiled import limit_reached
from ..graph.control.control_node import Looping
from ..graph.precision import x64
from ..graph.trips import Capacity

__all__ = ["CompiledFunctions"]


class CompiledFunctions:
    """Compiled functions, and other objects that are made once for a model.

    Attributes
    ----------
    capacity
        The number of trips of each loop that compiled gradients keep.
    most_trips
        The largest number of trips of each loop so far.
    entries
        The owner and the object of each key.
    """

    def __init__(self) -> None:
        self.capacity = Capacity()
        self.most_trips: dict[Looping, int] = {}
        self.entries: dict[Any, tuple[Any, Any]] = {}

    def get[T](self, key: Any, make: Callable[[], T], owner: Any = None) -> T:
        """The object of a key; `make` is called once for each key.

        `owner` is a user's object on which the object depends, such as a schedule. Only the object
        of the latest owner is cached.
        """
        entry = self.entries.get(key)
        if entry is None or entry[0] is not owner:
            entry = self.entries[key] = owner, make()
        value: T = entry[1]
        return value

    def run(
        self,
        key: Any,
        make: Callable[[], Callable[..., Any]],
        arguments: Sequence[Any],
        loops: Sequence[Looping],
        owner: Any = None,
    ) -> Any:
        """Run a function of gradients, with as much capacity as it needs.

        `make` returns the function, which is traced with the present capacity. The last part of its
        result is the reports of the loops. The results are NumPy arrays.
        """
        while True:
            full_key = key, self.capacity.key()
            # JAX keeps the traces of equal functions, such as a method of one object, and a trace
            # depends on the capacity. So each capacity has a function of its own.
            function = self.get(full_key, lambda: jax.jit(partial(make())), owner)
            with x64():
                result = jax.tree.map(np.asarray, function(*arguments))
            if not self.ensure_capacity(loops, result[-1]):
                return result

    def ensure_capacity(self, loops: Sequence[Looping], reports: Sequence[Any]) -> bool:
        """Enlarge the capacity of loops that overflowed; whether any did.

        Raises
        ------
        LoopError
            If a loop with `on_limit="error"` reached its bound.
        """
        overflowed = {}
        for loop, report in zip(loops, reports, strict=True):
            if np.any(report.truncated):
                raise limit_reached(loop)
            most = int(np.max(report.most))
            self.most_trips[loop] = max(self.most_trips.get(loop, 0), most)
            if np.any(report.overflowed):
                overflowed[loop] = most
        if overflowed:
            self.capacity = self.capacity.grown(overflowed)
        return bool(overflowed)
