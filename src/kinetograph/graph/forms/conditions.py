"""Conditions on the values of data by which forms are chosen.

Data can be given other values later (`model.set_data`). So data remember each condition that was
asked of them while a graph was built. If other values decide one of the conditions differently, the
form has to be chosen again.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..node import Data

__all__ = ["decided_alike", "holds"]

CONDITIONS: dict[str, Callable[[np.ndarray], Any]] = {
    "at least 0": lambda value: value >= 0,
    "at most 1": lambda value: value <= 1,
    "not 0": lambda value: value != 0,
    "above 0": lambda value: value > 0,
}


def holds(node: Data, condition: str) -> bool:
    """Whether all elements of data meet a condition.

    The data remember that the condition was asked.
    """
    if not node.literal and condition not in node.conditions:
        node.conditions = (*node.conditions, condition)
    return bool(np.all(CONDITIONS[condition](node.value)))


def decided_alike(node: Data, value: np.ndarray) -> bool:
    """Whether other values decide all remembered conditions as before."""
    tests = [CONDITIONS[name] for name in node.conditions]
    return all(bool(np.all(test(node.value))) == bool(np.all(test(value))) for test in tests)
