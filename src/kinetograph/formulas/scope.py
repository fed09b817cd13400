"""Variables of the caller that expressions in formulas use."""

import re
from collections.abc import Iterable, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from ..graph.frame_variables import local_variables
from ..graph.source import user_frame
from .texts import FormulaText

__all__ = ["CallerScope", "scope_of"]


class CallerScope(dict[str, Any]):
    """Variables of the caller; modules are pickled by name."""

    def __reduce__(self) -> Any:
        modules = {n: v.__name__ for n, v in self.items() if isinstance(v, ModuleType)}
        return _restored, ({n: v for n, v in self.items() if n not in modules}, modules)


def _restored(values: dict[str, Any], modules: dict[str, str]) -> CallerScope:
    """The scope from its pickle."""
    return CallerScope(values | {name: import_module(module) for name, module in modules.items()})


def scope_of(texts: Sequence[FormulaText], columns: Iterable[Any]) -> CallerScope:
    """The variables of the caller whose names occur in the formulas.

    A name of a column is not a variable: new rows must have this column, too.
    """
    frame = user_frame()
    variables = {} if frame is None else {**frame.f_globals, **local_variables(frame)}
    words = {word for text in texts for word in re.findall(r"\w+", text.text)} - set(columns)
    return CallerScope({word: variables[word] for word in words if word in variables})
