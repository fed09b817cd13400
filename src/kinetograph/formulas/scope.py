"""Variables of the caller that expressions in formulas use."""

import re
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
from formulaic.transforms import TRANSFORMS

from ..graph.array import Array
from ..graph.errors import DataError
from ..graph.frame_variables import local_variables
from ..graph.source import place_text, user_frame
from ..graph.tables import is_table, row_index
from ..models.index_order import first_difference, index_difference
from .frames import frame_name, with_variables
from .texts import FormulaText

__all__ = ["CallerScope", "scope_of"]

_SETTINGS = re.compile(r"\b(?:knots|levels|bins|k)\s*=\s*(\w+)")  # lists that are not rows


class CallerScope(dict[str, Any]):
    """Variables of the caller; modules are pickled by name."""

    def __reduce__(self) -> Any:
        modules = {n: v.__name__ for n, v in self.items() if isinstance(v, ModuleType)}
        return _restored, ({n: v for n, v in self.items() if n not in modules}, modules)


def _restored(values: dict[str, Any], modules: dict[str, str]) -> CallerScope:
    """The scope from its pickle."""
    return CallerScope(values | {name: import_module(module) for name, module in modules.items()})


def scope_of(texts: Sequence[FormulaText], frame: pd.DataFrame) -> tuple[pd.DataFrame, CallerScope]:
    """The frame, and the variables of the caller in formulas.

    A name of a column is not a variable: new rows must have this column, too. So a variable that
    has one value for each row becomes a column.

    Raises
    ------
    DataError
        If such a variable has the labels of the frame's rows in another order.
    """
    caller = user_frame()
    variables = {} if caller is None else {**caller.f_globals, **local_variables(caller)}
    words = {word for text in texts for word in re.findall(r"\w+", text.text)} - set(frame.columns)
    called = {word for text in texts for word in re.findall(r"(\w+)\s*\(", text.text)}
    functions = called & {*TRANSFORMS}  # other values of these names hide no functions
    scope = CallerScope(
        {
            word: variables[word]
            for word in words & {*variables}
            if word not in functions or callable(variables[word])
        }
    )
    settings = {word for text in texts for word in _SETTINGS.findall(text.text)}
    settings |= {text.response for text in texts[1:]}  # names of parameters
    shapes = {name: _shape(value) for name, value in scope.items()}
    of_rows = [n for n in sorted(scope) if shapes[n][:1] == (len(frame),) and n not in settings]
    columns = {
        name: _by_position(frame, name, scope.pop(name))
        for name in of_rows
        if len(shapes[name]) == 1
    }
    return with_variables(frame, of_rows, columns), scope


def _shape(value: Any) -> tuple[Any, ...]:
    """The shape of a list, array or frame, else ()."""
    if isinstance(value, (list, tuple)):
        return (len(value),)
    shape = getattr(value, "shape", ())
    return shape if isinstance(shape, tuple) and not isinstance(value, Array) else ()


def _by_position(frame: pd.DataFrame, name: str, value: Any) -> Any:
    """The values of a variable, one for each row of the frame."""
    index = row_index(value)
    if index is None:
        return value if isinstance(value, (list, np.ndarray)) or is_table(value) else list(value)
    how = index_difference(frame.index, index)
    if how:
        row, *labels = first_difference(frame.index, index)
        data = frame_name(frame)
        raise DataError(
            f"formula: the variable {name} and the rows of {data} have {how}{place_text()}: row "
            f"{row} is {labels[1]} in {name} and {labels[0]} in {data}; make it a column: "
            f"{data}.assign({name}={name}) goes by the labels, and "
            f"{data}.assign({name}={name}.to_numpy()) by position"
        )
    return value.set_axis(frame.index)
