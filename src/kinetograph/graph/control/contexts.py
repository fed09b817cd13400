"""Contexts: build-time records of branches and loops, with their nodes and captures.

The current context is the innermost one. A new node registers itself there (`add_op`). Each parent
that was made outside is captured (`add_value`) once by every context between the two places; inside
a context, an `Inner` node represents the captured value. The graph itself is functional: captures
become inputs of the branch or loop. `describe` writes the classic dataflow form of TensorFlow's
control flow (Switch, Merge, Enter, NextIteration, Exit). This form is only a view of the graph, not
the way in which it runs.

Reference: Yu et al. (2018), Dynamic control flow in large-scale machine learning, EuroSys.
"""

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any

from ..errors import SymbolicError
from ..hooks import ON_DESCRIBE, ON_DISCARD
from ..messages import describe
from ..node import CURRENT, Inner, Node
from ..public import public
from ..source import Site, here, place_text, site_of
from .state import Cell, Versions, top_level

if TYPE_CHECKING:
    from .control_node import Control

__all__ = [
    "BatchContext",
    "CondContext",
    "ControlFlowContext",
    "ScanContext",
    "WhileContext",
    "current_context",
]


@public
class ControlFlowContext:
    """The build-time record of a branch, a loop or a batch.

    Attributes
    ----------
    name
        The argument `name`; by default `cond_1`, `while_2`, ...
    outer_context
        The context in which this one was opened; None at the top level.
    nested_contexts
        The contexts that were opened in this one.
    values
        The nodes made inside.
    external_values
        A mapping from captured outer nodes to the nodes that represent them inside.
    site
        The user's file and line.
    """

    kind = "context"
    _count = 0

    def __init__(self, name: str | None = None, **fields: Any) -> None:
        outer = CURRENT.context
        type(self)._count += 1
        self._set("name", name or f"{self.kind}_{type(self)._count}")
        self._set("outer_context", outer)
        self._set("_place", here())
        self._set("_values", [])
        self._set("_external", {})
        self._set("_nested", [])
        self._set("_versions", Versions(self))
        self._set("_arguments", [])
        self._set("_entered", [])
        for field, value in fields.items():
            self._set(field, value)
        if outer is not None:
            outer._nested.append(self)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        state = {**self.__dict__, "_place": self.site, "_entered": []}
        state.pop("_owner_reference", None)  # nodes claim their contexts again
        return state

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        for name, value in state.items():
            self._set(name, value)

    def __setattr__(self, name: str, value: Any = None) -> None:
        raise AttributeError(
            f"{name!r} of {self.kind} context {self.name!r} cannot be changed: contexts record how "
            "the graph was built"
        )

    __delattr__ = __setattr__

    # Attributes set in __init__.
    name: str
    outer_context: "ControlFlowContext | None"
    _values: list[Node]
    _external: dict[Node, Inner]
    _nested: "list[ControlFlowContext]"
    _versions: Versions
    _arguments: list[Inner]
    _entered: "list[ControlFlowContext | None]"
    _owner_reference: "weakref.ref[Control] | None" = None  # not saved in files

    @property
    def site(self) -> Site | None:
        """The user's line that opened this context."""
        return site_of(self._place)  # type: ignore[attr-defined]

    @property
    def values(self) -> tuple[Node, ...]:
        """The nodes made inside, in order."""
        return tuple(self._values)

    @property
    def external_values(self) -> Mapping[Node, Node]:
        """Captured outer nodes, and the nodes that represent them inside."""
        return MappingProxyType(self._external)

    @property
    def nested_contexts(self) -> "tuple[ControlFlowContext, ...]":
        """The contexts opened inside."""
        return tuple(self._nested)

    @property
    def _owner(self) -> "Control | None":
        """The finished node; None before and after its lifetime."""
        return None if self._owner_reference is None else self._owner_reference()

    # Building.
    def enter(self) -> None:
        """Make this the current context."""
        self._entered.append(CURRENT.context)
        CURRENT.context = self

    def exit(self) -> None:
        """Restore the context that was current when this one was entered."""
        CURRENT.context = self._entered.pop()

    def discard(self) -> None:
        """Remove this context before its loop is built again."""
        if self.outer_context is not None:
            self.outer_context._nested.remove(self)
        ON_DISCARD(self)

    def __enter__(self) -> "ControlFlowContext":
        self.enter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.exit()

    def add_op(self, node: Node, parents: tuple[Node, ...]) -> tuple[Node, ...]:
        """Register a new node; return its parents as they are represented inside."""
        self._values.append(node)
        for parent in parents:
            if parent.context is not self:
                return tuple(self.add_value(p, parents) for p in parents)
        return parents

    def add_value(self, node: Node, operands: Sequence[Node] = ()) -> Node:
        """The representation of `node` inside: the node itself or its capture.

        An error message names one of `operands`, the nodes that are used together with `node`.
        """
        if node.context is self:
            return node
        outer = self.outer_context
        if node.context is not outer:
            if outer is None:
                assert node.context is not None
                raise node.context.escaped(node, operands)
            node = outer.add_value(node, operands)
        inner = self._external.get(node)
        if inner is None:
            inner = self.argument(node, "captured")
            self._external[node] = inner
        return inner

    def argument(self, outer: Node, role: str, name: str | None = None, **changed: Any) -> Inner:
        """Make the inner node for a value that enters the context."""
        before, CURRENT.context = CURRENT.context, self
        try:
            inner = Inner(outer, role, name, **changed)
        finally:
            CURRENT.context = before
        self._arguments.append(inner)
        return inner

    def escaped(self, node: Node, operands: Sequence[Node] = ()) -> SymbolicError:
        """The error for a node of this context that is used outside.

        `operands` are the nodes that are used together with it.
        """
        name = describe(node)
        origin = f" (made at {node.site})" if node.site else ""
        first, second = _loop_around(self), _loop_around(CURRENT.context)
        if first is not None and second is not None and first is not second:
            partners = [describe(n) for n in operands if n is not node]
            use = f"an operation on {partners[0]!r}" if partners else "another value"
            return SymbolicError(
                f"Cannot use {name!r}{origin} as input to {use}{place_text()} because they are in "
                f"different while loops: {name!r} is in {first.title}, the other in "
                f"{second.title}; make it a loop variable, so that the first loop returns it"
            )
        noun = "is in a while loop: it " if isinstance(self, WhileContext) else ""
        return SymbolicError(
            f"{name!r}{origin} {noun}is defined inside {self.title} and cannot be used here; "
            "return it from there and use the result"
        )

    def read_outside(self, cell: Cell) -> Node:
        """The version of a state when this context was entered."""
        outer = self.outer_context
        versions = top_level() if outer is None else outer._versions
        return versions.current(cell)

    def enclosing(self) -> "Iterator[ControlFlowContext]":
        """This context and its enclosing contexts, the innermost first."""
        context: ControlFlowContext | None = self
        while context is not None:
            yield context
            context = context.outer_context

    @property
    def title(self) -> str:
        """The name in messages: "a branch of cond 'cond_1' (model.py:7)"."""
        place = f" ({self.site})" if self.site else ""
        return f"{self._noun()} {self.name!r}{place}"

    def _noun(self) -> str:
        return self.kind

    def describe(self) -> str:
        """The classic dataflow form as text.

        For a branch, it is the form of the whole conditional.
        """
        (text,) = ON_DESCRIBE(self)
        return text

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name} at {self.site}>"


@public
class CondContext(ControlFlowContext):
    """One branch of a conditional.

    Attributes
    ----------
    pred
        The predicate, or the index of a switch: a node outside.
    branch
        The value of the predicate for which this branch is taken: 1 or 0, or the place in a switch.
    pivot
        The name of the predicate inside this branch, in the classic form.
    """

    kind = "cond"
    pred: Node
    branch: int
    pivot: str

    def __init__(self, pred: Node, branch: int, name: str | None = None) -> None:
        end = "ft"[branch] if pred.dtype.kind == "b" else branch
        super().__init__(name, pred=pred, branch=branch, pivot=f"switch_{end}")

    def call(self, function: Callable[[], Any]) -> Any:
        """Call the function of the branch inside this context."""
        with self:
            return function()

    def _noun(self) -> str:
        return "a branch of cond"


@public
class WhileContext(ControlFlowContext):
    """A while loop: predicate and body.

    Attributes
    ----------
    loop_variables
        The nodes that represent the loop variables inside.
    maximum_iterations
        The bound: a number, a node, or None.
    grad, back_prop, parallel_iterations, swap_memory
        As given to `kg.while_loop`.
    """

    kind = "while"
    loop_variables: tuple[Inner, ...]
    maximum_iterations: Any
    grad: str
    back_prop: bool
    parallel_iterations: int
    swap_memory: bool

    def _noun(self) -> str:
        return "while loop"


class ScanContext(ControlFlowContext):
    """A loop over rows."""

    kind = "scan"
    loop_variables: tuple[Inner, ...]


class BatchContext(ControlFlowContext):
    """A function of rows that is computed for all rows.

    Attributes
    ----------
    size
        The number of rows.
    """

    kind = "vmap"
    size: int
    _numbers: Node  # the outer node of the row numbers 0, 1, 2, ...
    _number: Inner | None = None

    def row_number(self) -> Inner:
        """The number of the row, as a node inside."""
        if self._number is None:
            self._set("_number", self.argument(self._numbers, "row", "row", shape=()))
        assert self._number is not None
        return self._number


def current_context() -> ControlFlowContext | None:
    """The innermost context that is being built; None at the top level."""
    return CURRENT.context


def _loop_around(context: ControlFlowContext | None) -> WhileContext | None:
    """The innermost while loop at or around `context`, or None."""
    enclosing = () if context is None else context.enclosing()
    return next((c for c in enclosing if isinstance(c, WhileContext)), None)


def require_outside(nodes: Sequence[Node], doing: str) -> None:
    """Raise SymbolicError if a node was made inside a branch or loop."""
    for node in nodes:
        if node.context is not None:
            raise SymbolicError(f"{doing}: {node.context.escaped(node)}")
