"""A `for` over Python's own iterables: it runs while the graph is made, element by element."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from ...graph.array import Array
from ...graph.errors import StagingError
from ...graph.frames import local_variables
from ...graph.source import place_text, user_frame
from .branching import if_stmt
from .unrolling import Unrolling

__all__ = ["PythonLoop"]

Access = Callable[[], tuple[Any, ...]]
Assign = Callable[[tuple[Any, ...]], None]
_GUARDED = 2000  # elements of an iterator whose length is not known

# Iterators that are commonly written where the loop is, so that nobody else goes on with them.
_WRITTEN_THERE: tuple[type, ...] = (zip, enumerate, map, filter, reversed, type(reversed([])))


class PythonLoop:
    """The iterations of a loop that runs in Python.

    Attributes
    ----------
    trips
        How many were run before whether the loop goes on became symbolic.
    """

    def __init__(
        self, iterated: Any, extra_test: Callable[[], Any] | None, body: Callable[[Any], None]
    ) -> None:
        self.iterated, self.extra_test, self.body = iterated, extra_test, body
        self.elements: Iterator[Any] = iter(iterated)
        self.count = Unrolling("for")
        self.trips = 0

    def run(self) -> bool:
        """Run until the end, or until `break` or `return` depends on a symbolic condition."""
        for element in self.elements:
            self.body(element)
            self.trips += 1
            self.count.step()
            going_on = True if self.extra_test is None else self.extra_test()
            if isinstance(going_on, Array):
                return False
            if not going_on:
                break
        return True

    def go_on(self, get_state: Access, set_state: Assign, names: Sequence[str]) -> None:
        """The iterations that are left, each in a branch that is taken if the loop goes on."""
        assert self.extra_test is not None
        self._refuse_shared()
        for number, element in enumerate(self.elements):
            going_on, body = self.extra_test(), partial(self.body, element)
            if_stmt(going_on, body, _stay, get_state, set_state, names, len(names), lenient=True)
            self.count.step()
            if number > _GUARDED and not hasattr(self.iterated, "__len__"):
                raise StagingError(
                    f"iteration limit exceeded{place_text()}: a symbolic condition ends this `for`,"
                    f" and what it runs over has more than {_GUARDED} elements, or no end; use "
                    "kg.range, or `while`"
                )

    def _refuse_shared(self) -> None:
        """Refuse an iterator that is read elsewhere, too: where it stands depends on a value."""
        if self.iterated is not self.elements:
            return
        frame = user_frame()
        names = local_variables(frame).items() if frame is not None else ()
        holder = next((name for name, value in names if value is self.iterated), None)
        kind = type(self.iterated)
        if holder is None and (kind in _WRITTEN_THERE or kind.__module__ == "itertools"):
            return
        raise NotImplementedError(
            "break and return statements which depend on a symbolic condition are not supported "
            f"in Python for loops over {_named(holder, kind)}{place_text()}: how far it is read "
            "would depend on a value that is not known while the graph is built; let the loop run "
            "over a list of its elements, over an array or kg.range"
        )


def _named(holder: str | None, kind: type) -> str:
    return f"the iterator {holder!r}" if holder is not None else f"a {kind.__name__}"


def _stay() -> None:
    """Do nothing."""
