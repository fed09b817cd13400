"""Checks that `init` and `step` take the point and the slots."""

import inspect
from collections.abc import Iterable
from typing import Any

from ..graph.errors import ModelError
from ..graph.source import written_at

__all__ = ["check_arguments"]


def check_arguments(sampler: Any, name: str, slots: Iterable[str] = ()) -> None:
    """Refuse a method that does not take the point and the slots.

    Raises
    ------
    ModelError
        The message names the arguments and the line of the method.
    """
    method = getattr(sampler, name)
    try:
        parameters = list(inspect.signature(method).parameters.values())
    except (TypeError, ValueError):  # Python does not know the method's arguments
        return
    where = f"{type(sampler).__name__}.{name}{written_at(method)}"
    if not parameters or parameters[0].kind is inspect.Parameter.KEYWORD_ONLY:
        raise ModelError(f"{where} must take the point: write def {name}(self, at, ...)")
    if parameters[0].kind is inspect.Parameter.VAR_POSITIONAL:
        return
    first, *slot_parameters = parameters
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    taken_by_name = [p.name for p in slot_parameters if p.kind in by_name]
    needed = [p.name for p in slot_parameters if p.kind in by_name and p.default is p.empty]
    given = list(slots)
    slots_text = f"init returns {', '.join(given) or 'no slots'}"
    missing = [n for n in needed if n not in given]
    if missing and name == "init":
        raise ModelError(f"{where} gets the point alone, but also takes {', '.join(missing)}")
    if missing:
        raise ModelError(
            f"{where} takes {', '.join(missing)}, which is not a slot: {slots_text}; return it "
            "from init, in the dictionary, to keep it from step to step"
        )
    any_name = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    surplus = [n for n in given if n == first.name or (n not in taken_by_name and not any_name)]
    if surplus:
        raise ModelError(
            f"{where} does not take the slot {', '.join(surplus)}: {slots_text}; write "
            f"def {name}(self, {', '.join(['at', *given])})"
        )
