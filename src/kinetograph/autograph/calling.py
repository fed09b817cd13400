"""What holds for the converted code that a thread is running."""

import threading
from collections.abc import Callable
from typing import Any

__all__ = ["CALLING"]


class _Calling(threading.local):
    depth = 0  # 1 while a converted function runs that a user called
    strict = False  # whether it is an error if something cannot be converted
    fast = True  # whether callees that nothing symbolic can reach run as they are
    paused = 0  # depth of `with do_not_convert()`
    tracing = False  # whether the graph of a staged function is being made
    watch: Callable[[Any], None] | None = None  # is told of each function that is called


CALLING = _Calling()
