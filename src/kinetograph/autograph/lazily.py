"""Conversion of the library's own functions, at their first call so that the import stays quick."""

import functools
from collections.abc import Callable
from typing import Any

__all__ = ["convert_lazily"]


def convert_lazily[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """A function that is converted when it is called for the first time."""

    @functools.cache
    def made() -> Any:
        from .convert import convert

        return convert(function, strict=True, fast=False)

    @functools.wraps(function)
    def entry(*args: P.args, **kwargs: P.kwargs) -> R:
        result: R = made()(*args, **kwargs)
        return result

    return entry
