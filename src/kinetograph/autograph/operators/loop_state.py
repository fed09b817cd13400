"""The variables of a staged loop: what goes in, round and out.

Numbers and arrays become loop variables, wherever in a structure they are. A variable that the loop
makes has no value before: one iteration is built and thrown away to learn its type, and it goes in
as zeros that do not count (`Maybe`).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...graph.array import Array
from ...graph.control.contexts import WhileContext
from ...graph.control.rollback import mark, rollback
from ...graph.control.structure import flatten
from ...graph.control.variables import Variables, grown_type
from ...graph.errors import ShapeError, StagingError
from ...graph.node import Node
from ...graph.source import place_text
from .merge import blank, no_return_value
from .owned import settled
from .reach import is_read
from .second_names import linked, stands_for
from .trip import Anew, Trip
from .undefined import LoopUndefined, Maybe, Undefined, UndefinedError, UndefinedReturnValue
from .values import (
    UNDEFINED,
    Containers,
    Value,
    as_leaf_node,
    frozen,
    is_number,
    read_value,
    same,
)
from .writing import overwrite, refuse_fixed, was_written

__all__ = ["LoopState", "no_attribute"]

Access = Callable[[], tuple[Any, ...]]
Assign = Callable[[tuple[Any, ...]], None]


class _Variable(NamedTuple):
    """One of the user's variables as it enters the loop."""

    name: str
    held: Any  # what it held before the loop
    value: Value
    place: str | None  # of the loop, where the variable may be undefined after it
    defined: Any = True


class LoopState:
    """The variables that a loop modifies."""

    def __init__(self, get_state: Access, set_state: Assign, names: Sequence[str]) -> None:
        self.get_state, self.set_state, self.names = get_state, set_state, names
        self.entry = get_state()
        self.containers = Containers(self.entry)
        self.place = place_text()
        self.variables = [
            self._variable(name, held) for name, held in zip(names, self.entry, strict=True)
        ]
        self.inner: list[Array] = []
        self.written: dict[int, str] = {}  # the loop variables into which it writes, and where
        self.surely: set[str] = set()  # variables that each iteration binds
        self.trip = Trip(names, self.entry)
        self.found: list[Value] = []  # what the variables hold after the iteration that is not kept
        self.new_keys: list[str] = []  # of dictionaries, that it makes
        self.new_attributes: list[str] = []

    def _variable(self, name: str, held: Any) -> _Variable:
        if isinstance(held, Maybe):
            return _Variable(name, held, read_value(held, name), held.place, held.defined)
        return _Variable(name, held, read_value(frozen(held), name), None)

    # Variables that the loop makes.
    def find_types(self, iterate: Callable[[WhileContext], None]) -> None:
        """Build one iteration, if need be, to learn what undefined variables become.

        And which keys dictionaries get, and objects which attributes.
        """
        unknown = (isinstance(v.held, Undefined) for v in self.variables)
        if not any(unknown) and not any(v.value.structure.has_keys() for v in self.variables):
            return
        moment = mark()
        context = WhileContext("first iteration")
        leaves = iter(self.numbers())
        arguments = [context.argument(as_leaf_node(leaf), "loop variable") for leaf in leaves]
        with context:
            self._put(iter([Array(a) for a in arguments]), probing=True)
            iterate(context)
            found = [
                _types(name, held) for name, held in zip(self.names, self.get_state(), strict=True)
            ]
        rollback(moment)
        self.restore()
        self.found = found
        for v, after in zip(self.variables, found, strict=True):
            self.new_keys += v.value.structure.new_keys(after.structure, v.name)
        self.new_attributes = [
            v.name
            for v, after in zip(self.variables, found, strict=True)
            if "." in v.name
            and isinstance(v.held, Undefined)
            and not isinstance(after.held, Undefined)
        ]
        self.variables = [
            v if not isinstance(v.held, Undefined) else self._created(v, value)
            for v, value in zip(self.variables, found, strict=True)
        ]

    def _created(self, variable: _Variable, value: Value) -> _Variable:
        if isinstance(value.held, Undefined):
            return variable
        if isinstance(variable.held, UndefinedReturnValue):
            return variable._replace(value=value)
        return variable._replace(value=value, place=self.place, defined=False)

    # What goes in and round.
    def loop_variables(self, several: bool) -> Variables:
        """The numbers and arrays in all variables."""
        leaves = self.numbers()
        paths = list(map(title, self._paths()))
        nodes: list[Node] = [as_leaf_node(leaf) for leaf in leaves]
        pairs = zip(nodes, self._made(), strict=True)
        growing = [node.weak or made for node, made in pairs]
        return Variables(nodes, growing, paths, flatten(nodes)[2], several)

    def enter(self, arrays: Sequence[Array]) -> None:
        """Let the user's variables hold the loop variables."""
        self.inner = [Array(a.node) for a in arrays]  # what the iteration may write into
        for array, before in zip(self.inner, self.numbers(), strict=True):
            stands_for(array, before)
        self._put(iter(self.inner))
        self.trip.begin(self.get_state())

    def leave(self, before: Sequence[Array], growing: Sequence[bool]) -> list[Any]:
        """The loop variables after an iteration, checked."""
        leaves: list[Any] = []
        self.trip.end(self.get_state())
        for number, array in enumerate(self.inner):
            if (place := was_written(array)) is not None:
                refuse_fixed(self.numbers()[number], place)
                self._refuse_second_name(number, place)
                self.written[number] = place
        written = [array for array in self.inner if was_written(array) is not None]
        lasting = [i for i, v in enumerate(self.variables) if v.place is None and is_read(v.name)]
        exchanged = self.trip.exchanged(lasting, written)
        self.trip.name_as_before()
        arrays = iter(zip(before, growing, strict=True))
        for variable, held in zip(self.variables, self.get_state(), strict=True):
            leaves += self._after(variable, held, arrays)
        self.restore()
        self.trip.refuse_exchange(exchanged)
        return leaves

    def finish(self, arrays: Sequence[Array], at_least_once: bool = False) -> None:
        """Give the user's variables their values after the loop."""
        results = iter(arrays)
        after: list[Any] = []
        for variable in self.variables:
            value = self._filled(variable, results)
            if isinstance(value, Maybe) and at_least_once and variable.name in self.surely:
                value = value.value
            if isinstance(value, Maybe) and "." in variable.name:
                raise no_attribute(variable.name, self.place)
            after.append(value)
        before = self.numbers()
        written = {id(before[number]) for number in self.written}
        ways = zip(after, self.trip.start, self.trip.ended or self.trip.start, strict=True)
        self.set_state(tuple(settled(value, pair, written) for value, *pair in ways))
        for number, place in self.written.items():
            overwrite(before[number], place)

    def _refuse_second_name(self, number: int, place: str) -> None:
        """Refuse to write into an array that two loop variables hold."""
        before = self.numbers()
        array = before[number]
        paths = self._paths()
        for i, (other, path) in enumerate(zip(before, paths, strict=True)):
            if (
                i != number
                and isinstance(other, Array)
                and is_read(path)
                and (array is other._of() or linked(array, other))
            ):
                raise StagingError(
                    f"items of {title(paths[number])!r} are assigned{place} in a loop, but "
                    f"{title(path)!r} is another name of the array: NumPy would change both; let "
                    "one of them be a copy: .copy()"
                )

    def built(
        self, build: Callable[[], Sequence[Array]], check: Callable[[], None]
    ) -> Sequence[Array]:
        """What builds the loop, once more where it turns out that places have their own objects."""
        while True:
            moment = mark()
            try:
                return build()
            except Anew:
                rollback(moment)
                self.restore()
                check()

    def numbers(self) -> list[Any]:
        """What the loop variables are before the loop."""
        found: list[Any] = []
        for variable in self.variables:
            found += [leaf for leaf in variable.value.leaves if is_number(leaf)]
            if variable.place is not None:
                found.append(variable.defined)
        return found

    def _made(self) -> list[bool]:
        """Which of them the loop makes, so that their first values do not count."""
        found: list[bool] = []
        for variable in self.variables:
            count = sum(map(is_number, variable.value.leaves)) + (variable.place is not None)
            found += [isinstance(variable.held, Undefined)] * count
        return found

    def _paths(self) -> list[str]:
        found: list[str] = []
        for variable in self.variables:
            pairs = zip(variable.value.leaves, variable.value.paths, strict=True)
            found += [path for leaf, path in pairs if is_number(leaf)]
            if variable.place is not None:
                found.append(f"{variable.name} is defined")
        return found

    def _filled(self, variable: _Variable, arrays: Any, probing: bool = False) -> Any:
        value = variable.value
        if isinstance(value.held, Undefined) and not value.leaves and value.structure == UNDEFINED:
            created = probing and not isinstance(value.held, UndefinedReturnValue)
            return LoopUndefined(variable.name) if created else value.held
        leaves = [next(arrays) if is_number(leaf) else leaf for leaf in value.leaves]
        content = value.structure.fill(leaves)
        if variable.place is None:
            return content
        return Maybe(variable.name, content, next(arrays), variable.place)

    def _put(self, arrays: Any, probing: bool = False) -> None:
        values = [self._filled(variable, arrays, probing) for variable in self.variables]
        self.set_state(self.trip.refilled(values))

    def restore(self) -> None:
        """Put back what the user's variables held before the loop."""
        self.containers.restore()
        self.set_state(self.entry)

    def _after(self, variable: _Variable, held: Any, arrays: Any) -> list[Any]:
        name, before = variable.name, variable.value
        if isinstance(held, Undefined):
            if not before.leaves and variable.place is None:
                return []
            if not isinstance(held, UndefinedReturnValue):
                raise held._read()
        if (
            isinstance(held, Maybe)
            and variable.place is None
            and not isinstance(before.held, Undefined)
        ):
            raise StagingError(
                f"{name!r} is deleted on one way through this loop{place_text()}, and not on "
                "another: whether it is there afterwards is not known while the graph is built. "
                "Assign a number that tells, such as float('nan')"
            )
        value = read_value(held, name)
        if isinstance(before.held, Undefined) and not before.leaves and variable.place is None:
            return []  # bound on no way that was built
        _check_structure(name, before, value)
        leaves: list[Any] = []
        for path, first, second in zip(before.paths, before.leaves, value.leaves, strict=True):
            if not is_number(first):
                if not same(first, second):
                    raise _no_number(path, first, second)
                continue
            array, growing = next(arrays)
            leaves.append(_checked(path, array, growing, second))
        if variable.place is not None:
            next(arrays)
            sure = not isinstance(held, Maybe)
            if sure:
                self.surely.add(name)
            leaves.append(True if sure else held.defined)
        return leaves


def _types(name: str, held: Any) -> Value:
    """What a variable holds, with zeros for its numbers: they are needed when it is no more."""
    value = read_value(held, name)
    return value._replace(leaves=[blank(leaf) for leaf in value.leaves])


def no_attribute(name: str, place: str) -> UndefinedError:
    """The complaint about an attribute that a loop may not make."""
    return UndefinedError(
        f"{name!r} must be defined before the loop{place}: the loop makes the attribute, but not "
        "on every way through it"
    )


def title(path: str) -> str:
    """How messages call a variable."""
    if path.startswith("retval_"):
        return "the return value" + path[len("retval_") :].lstrip("0123456789")
    return path


def _checked(path: str, before: Array, growing: bool, leaf: Any) -> Any:
    """A leaf after an iteration, of the type and shape that it had before."""
    name = title(path)
    if not is_number(leaf):
        raise _no_number(path, before, leaf)
    node = as_leaf_node(leaf)
    if node.shape != before.shape:
        raise ShapeError(
            f"{name!r} has shape {before.shape} before the loop, but shape {node.shape} after one "
            f"iteration{place_text()}: shapes are fixed in compiled programs (shape_invariants "
            "cannot change that); start with an array of the final shape and write into it"
        )
    if grown_type(before.node, node, growing) is None:
        raise TypeError(
            f"{name!r} has dtype {before.dtype} before the loop, but dtype {node.dtype} after one "
            f"iteration{place_text()}; start it with that type, or convert it in the loop with "
            f".astype('{before.dtype}')"
        )
    return leaf


def _no_number(path: str, before: Any, after: Any) -> TypeError:
    name = title(path)
    if name.startswith("the return value"):
        return no_return_value(after)
    return TypeError(
        f"{name!r} is {_shown(before)} before the loop, but {_shown(after)} after one iteration"
        f"{place_text()}: only numbers and arrays can change in a loop that becomes graph"
    )


def _shown(value: Any) -> str:
    return f"an array of {value.dtype}" if isinstance(value, Array) else repr(value)


_KEYS = "; give it all its keys before the loop, or make them in its first trip"


def _check_structure(name: str, before: Value, after: Value) -> None:
    found = before.structure.difference(after.structure)
    if not found:
        return
    path, first, second = found
    called = title(name)
    if first == "None" and not path:
        raise ValueError(
            f"{called!r} is not allowed to be None before the loop{place_text()}: give it a value "
            "of the type it gets in the loop"
        )
    if isinstance(before.held, list) and isinstance(after.held, list):
        raise TypeError(
            f"{called!r} does not have the same nested structure after one iteration: list "
            f"{called!r} is modified inside a staged loop{place_text()}, from {first} to {second}; "
            f"use a buffer: kg.autograph.set_element_type({called}, ...), as TensorFlow's "
            "TensorArray does, or an array of the final length"
        )
    raise TypeError(
        f"{called!r} does not have the same nested structure after one iteration{place_text()}: "
        f"{f'at {path} ' if path else ''}it is {first} before the loop and {second} after"
        f"{_KEYS if first.startswith('dict') and second.startswith('dict') else ''}"
    )
