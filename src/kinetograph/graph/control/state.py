"""`kg.state`: a variable that a compiled function keeps between calls.

Reading a state returns the node of its current version, and assigning makes a new version, so the
order of execution is the order of construction. A branch or loop that assigns a state takes the
version at its entry as an input and returns the version at its exit. Control dependencies are
therefore not needed.

Versions that are made outside of branches and loops belong to the current program. A program
contains everything that was written since the last call of `kg.compile`. A compiled function runs
all assignments of its program.
"""

import threading
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from ..array import Array
from ..errors import ShapeError, SymbolicError
from ..messages import describe
from ..missing import refuse_masked
from ..node import CURRENT, Apply, Node, Operation
from ..operations.elementwise import astype, elementwise
from ..operations.operands import as_node
from ..operations.shaping import broadcast_to
from ..precision import FLOAT32, float_dtype
from ..public import public
from ..source import here, site_of, variable_name
from ..value_texts import check_name

if TYPE_CHECKING:
    from .contexts import ControlFlowContext

__all__ = [
    "Assigned",
    "Cell",
    "Read",
    "State",
    "Versions",
    "current_versions",
    "new_program",
    "state",
    "top_level",
]


class Read(Node):
    """The value of a state when a compiled function is called."""

    __slots__ = ("cell", "program")
    kind = "state"

    def __init__(self, cell: "Cell", program: "Versions") -> None:
        super().__init__((), cell.initial.shape, cell.initial.dtype, cell.name)
        self.cell = cell
        self.program = program


class Assigned(Apply):
    """A version of a state that an assignment made."""

    __slots__ = ("cell", "program")

    def __init__(self, cell: "Cell", value: Node, program: "Versions") -> None:
        super().__init__(ASSIGN, (value,), cell.initial.shape, cell.initial.dtype, {})
        self.cell = cell
        self.program = program


ASSIGN = Operation("assign", lambda value: value)


class Cell:
    """The identity of a state: first value, name and source line."""

    __slots__ = ("__weakref__", "handle", "hidden", "initial", "name", "place")
    passing = False  # whether it starts with `initial` in every call instead of being kept

    def __init__(self, initial: np.ndarray, name: str | None, hidden: bool = False) -> None:
        self.initial = initial
        self.name = name
        self.place = here()
        self.hidden = hidden  # whether it is internal, such as a random stream
        self.handle: weakref.ref[State] | None = None

    def __getstate__(self) -> dict[str, Any]:
        content = {name: getattr(self, name) for name in ("initial", "name", "hidden")}
        return {**content, "place": site_of(self.place), "handle": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)

    def entry(self, program: "Versions") -> Node:
        """The node of its value at the start of a call."""
        return Read(self, program)

    def check(self, before: np.ndarray, after: np.ndarray) -> None:
        """Check a new value; here every value is valid.

        Subclasses raise an error if `after` is not a valid value after `before`.
        """

    def join(self, versions: Node, inside: Node) -> Node:
        """The version after a batch, for hidden states.

        `versions` holds the versions of all rows, `inside` the version of a row as a node of the
        batch.
        """
        raise NotImplementedError

    def view(self, values: Any) -> Any:
        """The value that `fn.state[...]` returns."""
        return values.raw(self)

    @property
    def title(self) -> str:
        """The name in messages."""
        handle = self.handle() if self.handle is not None else None
        name = self.name or (variable_name(handle) if handle is not None else None)
        return repr(name) if name else f"made at {site_of(self.place)}"


class Versions:
    """The current versions of states in a program or context."""

    def __init__(self, context: "ControlFlowContext | None" = None) -> None:
        self.context = context
        self.entered: dict[Cell, Node] = {}  # the versions at the entry, in order of first use
        self.latest: dict[Cell, Node] = {}
        self.assigned: dict[Cell, None] = {}
        self.traced = False  # whether it belongs to a traced function, whose calls have the effects
        self.effects: dict[Node, Node] = {}  # of a program: the effect state before to that after

    def current(self, cell: Cell) -> Node:
        """The version that a read returns now."""
        version = self.latest.get(cell)
        if version is None:
            if self.context is None:
                before, CURRENT.context = CURRENT.context, None
                try:
                    version = cell.entry(self)
                finally:
                    CURRENT.context = before
            else:
                outer = self.context.read_outside(cell)
                version = self.context.argument(outer, "state", cell.name)
            self.entered[cell] = self.latest[cell] = version
        return version

    def assign(self, cell: Cell, value: Node) -> Node:
        """Make a new version."""
        self.current(cell)  # record the version at the entry, which the other branches return
        version = Assigned(cell, value, self)
        self.replace(cell, version)
        return version

    def replace(self, cell: Cell, version: Node) -> None:
        """Make another version the current one."""
        if cell.passing and self.context is None:
            del self.latest[cell]
            self.effects[self.entered.pop(cell)] = version
            return
        self.latest[cell] = version
        self.assigned[cell] = None


class _Program(threading.local):
    versions: Versions | None = None


_PROGRAM = _Program()


def top_level() -> Versions:
    """The versions of the current program."""
    if _PROGRAM.versions is None:
        _PROGRAM.versions = Versions()
    return _PROGRAM.versions


def new_program(versions: Versions | None = None) -> Versions | None:
    """Begin or continue a program; return the previous one."""
    before, _PROGRAM.versions = _PROGRAM.versions, versions
    return before


def current_versions() -> Versions:
    """The versions of the innermost context or of the program."""
    context = CURRENT.context
    return top_level() if context is None else context._versions


@public
class State(Array):
    """A variable of a compiled function, made by `kg.state`.

    In expressions it represents its value at that point of the program.
    """

    __slots__ = ("cell",)

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        cell.handle = weakref.ref(self)

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The version that is current at this point of the program."""
        return current_versions().current(self.cell)

    @property
    def held(self) -> Node | None:
        """The version already read or assigned in this context, or None."""
        return current_versions().latest.get(self.cell)

    def assign(self, value: Any) -> Array:
        """Give the state a new value and return the value.

        The new value is valid from this point of the program on.

        Raises
        ------
        ShapeError
            If the value does not fit the state's shape.
        SymbolicError
            If the value's type is of a higher kind than the state's, such as float for an integer.
        """
        node, initial = as_node(value, "assign"), self.cell.initial
        subject = f"{self.cell.title} ({site_of(here())})"
        if node.shape != initial.shape:
            try:
                fits = np.broadcast_shapes(node.shape, initial.shape) == initial.shape
            except ValueError:
                fits = False
            if not fits:
                raise ShapeError(
                    f"assign to state {subject}: it has shape {initial.shape}, "
                    f"{describe(node)} has shape {node.shape}"
                )
            node = broadcast_to(node, initial.shape)
        if node.dtype != initial.dtype:
            if not np.can_cast(node.dtype, initial.dtype, "same_kind"):
                raise SymbolicError(
                    f"assign to state {subject}: it holds {initial.dtype}, {describe(node)} is "
                    f"{node.dtype}; convert it with .astype"
                )
            node = astype(node, initial.dtype)
        return Array(current_versions().assign(self.cell, node))

    def assign_add(self, value: Any) -> Array:
        """Add to the state; return the new value."""
        return self.assign(Array(elementwise("add", self, value)))

    def __repr__(self) -> str:
        initial = self.cell.initial
        return f"<state {self.cell.title} {initial.shape} {initial.dtype}>"


@public
def state(initial: Any, name: str | None = None) -> State:
    """A variable that keeps its value between calls of a compiled function.

    Every compiled function has its own copy, which starts with `initial`. Use `f.state[s]` to read
    or set it. In expressions a state represents its value at that point of the program. `assign`
    and `assign_add` change the value from that point on. Inside a branch they change it only if the
    branch is taken, inside a loop in every trip.

    Parameters
    ----------
    initial
        The first value: numbers or a NumPy array.
    name
        The name in messages and results.

    Examples
    --------
    >>> import kinetograph as kg
    >>> total = kg.state(0.0, name="total")
    >>> x = kg.placeholder(name="x")
    >>> add = kg.compile([x], total.assign_add(x))
    >>> float(add(2.0)), float(add(3.0))
    (2.0, 5.0)
    >>> float(add.state[total])
    5.0
    """
    check_name("state", name)
    where = f"state{f' {name!r}' if name else ''} at {site_of(here())}"
    if isinstance(initial, Array):
        raise SymbolicError(
            f"{where}: the initial value must be numbers, not an array of the graph"
        )
    refuse_masked(initial, where)
    value = np.array(initial)
    if value.dtype.kind not in "biuf":
        raise SymbolicError(f"{where}: the initial value has dtype {value.dtype}, expected numbers")
    if value.dtype.kind == "f" and value.dtype != FLOAT32:
        value = value.astype(float_dtype())
    value.setflags(write=False)
    return State(Cell(value, name))
