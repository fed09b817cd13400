"""Hooks: functions of outer files that inner files call.

An inner file does not import an outer one. It calls a hook of this registry, and the outer file
fills the hook when it is imported: `@ON_DISCARD.fill` above a function. An empty hook does nothing.

| hook | called by | filled by |
|---|---|---|
| ON_DESCRIBE | graph.control.contexts | graph.drawing |
| ON_DISCARD | graph.control.contexts | streams.streams |
| ON_ERROR | graph.public | calls.signature_errors |
| ON_IN_PLACE | graph.operators | autograph.operators.writing |
| ON_MISSING | graph.suggestions | calls.name_errors |
| ON_NARROWED | graph.operations.elementwise | graph.integer_checks |
| ON_PARTIAL | graph.operations.elementwise | graph.integer_checks |
| ON_ROLLBACK | graph.control.rollback | streams.functional, streams.streams |
| ON_SQUARE | graph.operations.elementwise | graph.forms.squares |
| ON_UNKNOWN_NAME | graph.public | calls.name_errors |
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from .array import Array
    from .control.contexts import ControlFlowContext
    from .node import Node, Operation

    type Values = tuple[Any, ...]
    type Named = Mapping[str, Any]
    type Answer = Exception | str


class Hook[**P, R]:
    """Functions of outer files, called together by an inner file."""

    def __init__(self) -> None:
        self.functions: list[Callable[P, R]] = []

    def fill(self, function: Callable[P, R]) -> Callable[P, R]:
        """Add a function; a decorator."""
        self.functions.append(function)
        return function

    def __call__(self, *values: P.args, **named: P.kwargs) -> list[R]:
        """Call the functions, and return their results."""
        return [function(*values, **named) for function in self.functions]


# A context is written as text, which the function returns.
ON_DESCRIBE: "Hook[[ControlFlowContext], str]" = Hook()
# A context is discarded, because its loop is built again.
ON_DISCARD: "Hook[[ControlFlowContext], None]" = Hook()
# A public call raises an error, given the error, the function, its name for users, whether it is a
# method, and the values of the call. The function returns the error that the call raises, or the
# message of a TypeError.
ON_ERROR: "Hook[[Exception, Callable[..., Any], str, bool, Values, Named], Answer]" = Hook()
# `x += v`, given x and x + v: the function changes arrays that share elements, and returns x.
ON_IN_PLACE: "Hook[[Array, Array], Array]" = Hook()
# An object lacks an attribute, given the names of its class and of the attribute. The function
# returns advice or an empty text.
ON_MISSING: "Hook[[str, str], str]" = Hook()
# A Python integer gets a narrower type: the function requires that it fits.
ON_NARROWED: "Hook[[Node, np.dtype], None]" = Hook()
# An integer operation such as a division: the function requires that there is a result.
ON_PARTIAL: "Hook[[Operation, Sequence[Node]], None]" = Hook()
# Building is undone: the function forgets everything with this serial number or a later one.
ON_ROLLBACK: "Hook[[int], None]" = Hook()
# A square: the function returns it if it can be computed without the value of the node.
ON_SQUARE: "Hook[[Node], Node | None]" = Hook()
# A public package lacks a name, given the package, the name and all public names. The function
# returns the error.
ON_UNKNOWN_NAME: "Hook[[str, str, Iterable[str]], AttributeError]" = Hook()
