"""Building a graph as a program separate from the graph around it."""

from collections.abc import Iterator
from contextlib import contextmanager

from ..graph.control.rollback import mark, rollback
from ..graph.control.state import new_program, top_level
from ..graph.node import CURRENT
from .calling import CALLING

__all__ = ["building"]


@contextmanager
def building() -> Iterator[None]:
    """A block that builds nodes outside of all branches and loops.

    The nodes form a separate program. Staged functions that are called in the block become part of
    it. If the block fails, all its changes are rolled back.
    """
    outer_program, was_tracing, context = new_program(), CALLING.tracing, CURRENT.context
    top_level().traced = True
    checkpoint = mark()
    CALLING.tracing, CURRENT.context = True, None
    try:
        yield
    except BaseException:
        rollback(checkpoint)
        raise
    finally:
        CALLING.tracing, CURRENT.context = was_tracing, context
        new_program(outer_program)
