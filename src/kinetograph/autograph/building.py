"""Making a graph apart from the one around it: a program of its own, of which nothing stays."""

from collections.abc import Iterator
from contextlib import contextmanager

from ..graph.control.rollback import mark, rollback
from ..graph.control.state import new_program, top_level
from ..graph.node import CURRENT
from .calling import CALLING

__all__ = ["building"]


@contextmanager
def building() -> Iterator[None]:
    """Build nodes outside of all branches and loops, in a program of their own.

    Staged functions that are called meanwhile become part of it. If it fails, all is taken back.
    """
    before, active, context = new_program(), CALLING.tracing, CURRENT.context
    top_level().traced = True
    moment = mark()
    CALLING.tracing, CURRENT.context = True, None
    try:
        yield
    except BaseException:
        rollback(moment)
        raise
    finally:
        CALLING.tracing, CURRENT.context = active, context
        new_program(before)
