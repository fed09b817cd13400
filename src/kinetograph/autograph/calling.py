"""The state of the converter in each thread."""

import threading
from collections.abc import Callable
from typing import Any

__all__ = ["CALLING"]


class _Calling(threading.local):
    depth = 0  # 1 while a converted function runs that a user called
    strict = False  # whether code that cannot be converted is an error
    fast = True  # whether calls without symbolic values run the original functions
    paused = 0  # depth of `with do_not_convert()`
    tracing = False  # whether the graph of a staged function is being made
    watch: Callable[[Any], None] | None = None  # called with each function that is called


CALLING = _Calling()
