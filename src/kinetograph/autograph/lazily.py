"""Conversion of the library's own functions at their first call.

It is deferred so that the import stays quick.
"""

import functools
from collections.abc import Callable
from typing import Any

__all__ = ["convert_lazily"]


def convert_lazily[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """Convert a function when it is called for the first time."""

    @functools.cache
    def converted() -> Any:
        from .convert import convert

        return convert(function, strict=True, fast=False)

    @functools.wraps(function)
    def entry(*args: P.args, **kwargs: P.kwargs) -> R:
        result: R = converted()(*args, **kwargs)
        return result

    return entry
