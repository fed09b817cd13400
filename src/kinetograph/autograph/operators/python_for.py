"""Python `for` loops, which run while the graph is made."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from ...graph.array import Array
from ...graph.errors import StagingError
from ...graph.frame_variables import local_variables
from ...graph.source import place_text, user_frame
from .branching import if_stmt
from .unrolling import Unrolling

__all__ = ["PythonLoop"]

Access = Callable[[], tuple[Any, ...]]
Assign = Callable[[tuple[Any, ...]], None]
_GUARDED = 2000  # the largest number of staged trips over an iterator without a length

# Iterators that are usually created in the `for` statement, so that no other code reads them.
_CREATED_IN_PLACE: tuple[type, ...] = (zip, enumerate, map, filter, reversed, type(reversed([])))


class PythonLoop:
    """The trips of a loop that runs in Python.

    Attributes
    ----------
    trips
        The number of trips before the condition to continue became symbolic.
    """

    def __init__(
        self, iterated: Any, extra_test: Callable[[], Any] | None, body: Callable[[Any], None]
    ) -> None:
        self.iterated, self.extra_test, self.body = iterated, extra_test, body
        self.elements: Iterator[Any] = iter(iterated)
        self.count = Unrolling("for")
        self.trips = 0

    def run(self) -> bool:
        """Run the loop until its end.

        Returns False if `break` or `return` depends on a symbolic condition before the end.
        """
        for element in self.elements:
            self.body(element)
            self._count()
            continues = True if self.extra_test is None else self.extra_test()
            if isinstance(continues, Array):
                return False
            if not continues:
                break
        return True

    def take(self) -> None:
        """Take one trip."""
        self.body(next(self.elements))
        self._count()

    def _count(self) -> None:
        self.trips += 1
        self.count.step()

    def stage_remaining(self, get_state: Access, set_state: Assign, names: Sequence[str]) -> None:
        """Build each remaining trip in a branch.

        The branch is taken if the loop continues.

        Raises
        ------
        StagingError
            If there are more trips than an iterator without a length may have.
        """
        assert self.extra_test is not None
        self._refuse_shared()
        for number, element in enumerate(self.elements):
            continues, body = self.extra_test(), partial(self.body, element)
            if_stmt(continues, body, _stay, get_state, set_state, names, len(names), lenient=True)
            self.count.step()
            if number > _GUARDED and not hasattr(self.iterated, "__len__"):
                raise StagingError(
                    f"iteration limit exceeded{place_text()}: a symbolic condition ends this `for`,"
                    f" and its iterable has more than {_GUARDED} elements, or no end; use "
                    "kg.data(array) in place of a NumPy array, kg.range, or `while`"
                )

    def _refuse_shared(self) -> None:
        """Refuse an iterator that other code may read, too.

        Its position after the loop would depend on a symbolic value.
        """
        if self.iterated is not self.elements:
            return
        frame = user_frame()
        names = local_variables(frame).items() if frame is not None else ()
        holder = next((name for name, value in names if value is self.iterated), None)
        kind = type(self.iterated)
        if holder is None and (kind in _CREATED_IN_PLACE or kind.__module__ == "itertools"):
            return
        raise NotImplementedError(
            "break and return statements which depend on a symbolic condition are not supported "
            f"in Python for loops over {_named(holder, kind)}{place_text()}: the position of the "
            "iterator would depend on a value that is not known while the graph is built; loop "
            "over a list of its elements, over an array or kg.range"
        )


def _named(holder: str | None, kind: type) -> str:
    return f"the iterator {holder!r}" if holder is not None else f"a {kind.__name__}"


def _stay() -> None:
    """Do nothing."""
