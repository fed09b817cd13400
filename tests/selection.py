"""Which of many like cases are everyday tests."""

from collections.abc import Iterable
from typing import Any

import pytest

__all__ = ["thinned"]


def thinned(cases: Iterable[Any], every: int) -> list[Any]:
    """All cases; only every n-th, the first included, is an everyday test, the others are slow.

    A tuple is the values of several parameters.
    """
    return [
        case
        if i % every == 0
        else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
        for i, case in enumerate(cases)
    ]
