"""The variables of a staged loop: before, during and after it.

Numbers and arrays in the variables' structures become loop variables. A variable that the loop
binds first has no value before it: one trip is built and discarded to find its type, and the
variable enters the loop with zeros that do not count (`Maybe`).
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
from .object_trees import settled
from .reachable import is_read
from .shared_objects import linked, stands_for
from .trip import RebuildLoop, Trip
from .undefined import LoopUndefined, Maybe, Undefined, UndefinedError, UndefinedReturnValue
from .values import (
    UNDEFINED,
    Containers,
    RecordedValue,
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
    object: Any  # its value before the loop
    value: RecordedValue
    place: str | None  # the place of the loop, if the variable may be undefined after it
    defined: Any = True


class LoopState:
    """The variables that a loop modifies."""

    def __init__(self, get_state: Access, set_state: Assign, names: Sequence[str]) -> None:
        self.get_state, self.set_state, self.names = get_state, set_state, names
        self.entry = get_state()
        self.containers = Containers(self.entry)
        self.place = place_text()
        self.variables = [
            self._variable(name, value) for name, value in zip(names, self.entry, strict=True)
        ]
        self.inner: list[Array] = []
        self.written: dict[int, str] = {}  # the loop variables that are written into, with places
        self.always_bound: set[str] = set()  # variables that each trip binds
        self.trip = Trip(names, self.entry)
        self.found_values: list[
            RecordedValue
        ] = []  # values of the variables after the discarded trip
        self.new_keys: list[str] = []  # keys of dictionaries that the loop creates
        self.new_attributes: list[str] = []

    def _variable(self, name: str, value: Any) -> _Variable:
        if isinstance(value, Maybe):
            return _Variable(name, value, read_value(value, name), value.place, value.defined)
        return _Variable(name, value, read_value(frozen(value), name), None)

    # Variables that the loop binds first.
    def find_types(self, iterate: Callable[[WhileContext], None], always: bool = False) -> None:
        """Find the types of variables that the loop binds first.

        If necessary or `always`, one trip is built and discarded. It also shows which keys of
        dictionaries and which attributes of objects the loop creates.
        """
        undefined = (isinstance(v.object, Undefined) for v in self.variables)
        needed = always or any(undefined)
        if not needed and not any(v.value.structure.has_keys() for v in self.variables):
            return
        checkpoint = mark()
        context = WhileContext("first iteration")
        leaves = iter(self.numbers())
        arguments = [context.argument(as_leaf_node(leaf), "loop variable") for leaf in leaves]
        with context:
            self._put(iter([Array(a) for a in arguments]), probing=True)
            iterate(context)
            values = [
                _types(name, current)
                for name, current in zip(self.names, self.get_state(), strict=True)
            ]
        rollback(checkpoint)
        self.restore()
        self.found_values = values
        for v, after in zip(self.variables, values, strict=True):
            self.new_keys += v.value.structure.new_keys(after.structure, v.name)
        self.new_attributes = [
            v.name
            for v, after in zip(self.variables, values, strict=True)
            if "." in v.name
            and isinstance(v.object, Undefined)
            and not isinstance(after.object, Undefined)
        ]
        self.variables = [
            v if not isinstance(v.object, Undefined) else self._created(v, value)
            for v, value in zip(self.variables, values, strict=True)
        ]

    def _created(self, variable: _Variable, value: RecordedValue) -> _Variable:
        if isinstance(value.object, Undefined):
            return variable
        if isinstance(variable.object, UndefinedReturnValue):
            return variable._replace(value=value)
        return variable._replace(value=value, place=self.place, defined=False)

    # Values that enter the loop, and values that a trip passes to the next.
    def loop_variables(self, several: bool) -> Variables:
        """The numbers and arrays in all variables."""
        leaves = self.numbers()
        paths = list(map(title, self._paths()))
        nodes: list[Node] = [as_leaf_node(leaf) for leaf in leaves]
        pairs = zip(nodes, self._created_flags(), strict=True)
        growing = [node.weak or created for node, created in pairs]
        return Variables(nodes, growing, paths, flatten(nodes)[2], several)

    def enter(self, arrays: Sequence[Array]) -> None:
        """Assign the loop variables to the user's variables."""
        self.inner = [Array(a.node) for a in arrays]  # the trip may write into these
        for array, outer in zip(self.inner, self.numbers(), strict=True):
            stands_for(array, outer)
        self._put(iter(self.inner))
        self.trip.begin(self.get_state())

    def leave(self, before: Sequence[Array], growing: Sequence[bool]) -> list[Any]:
        """The checked loop variables after a trip."""
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
        for variable, current in zip(self.variables, self.get_state(), strict=True):
            leaves += self._after(variable, current, arrays)
        self.restore()
        self.trip.refuse_exchange(exchanged)
        return leaves

    def finish(self, arrays: Sequence[Array], at_least_once: bool = False) -> None:
        """Assign the values after the loop to the user's variables."""
        results = iter(arrays)
        after: list[Any] = []
        for variable in self.variables:
            value = self._filled(variable, results)
            if isinstance(value, Maybe) and at_least_once and variable.name in self.always_bound:
                value = value.value
            if isinstance(value, Maybe) and "." in variable.name:
                raise no_attribute(variable.name, self.place)
            after.append(value)
        old_values = self.numbers()
        written = {id(old_values[number]) for number in self.written}
        triples = zip(
            after, self.trip.entry_trees, self.trip.end_trees or self.trip.entry_trees, strict=True
        )
        self.set_state(tuple(settled(value, pair, written) for value, *pair in triples))
        for number, place in self.written.items():
            overwrite(old_values[number], place)

    def _refuse_second_name(self, number: int, place: str) -> None:
        """Refuse to write into an array that two loop variables hold."""
        old_values = self.numbers()
        array = old_values[number]
        paths = self._paths()
        for i, (other, path) in enumerate(zip(old_values, paths, strict=True)):
            if (
                i != number
                and isinstance(other, Array)
                and is_read(path)
                and (array is other._of() or linked(array, other))
            ):
                raise StagingError(
                    f"items of {title(paths[number])!r} are assigned{place} in a loop, but "
                    f"{title(path)!r} is another name of the array: NumPy would change both; "
                    "make one of them a copy: .copy()"
                )

    def built(
        self, build: Callable[[], Sequence[Array]], check: Callable[[], None]
    ) -> Sequence[Array]:
        """Build the loop, repeatedly if places turn out to need separate objects."""
        while True:
            checkpoint = mark()
            try:
                return build()
            except RebuildLoop:
                rollback(checkpoint)
                self.restore()
                check()

    def numbers(self) -> list[Any]:
        """The values of the loop variables before the loop."""
        numbers: list[Any] = []
        for variable in self.variables:
            numbers += [leaf for leaf in variable.value.leaves if is_number(leaf)]
            if variable.place is not None:
                numbers.append(variable.defined)
        return numbers

    def _created_flags(self) -> list[bool]:
        """Flags of the loop variables that the loop binds first.

        The first values of these variables do not count.
        """
        flags: list[bool] = []
        for variable in self.variables:
            count = sum(map(is_number, variable.value.leaves)) + (variable.place is not None)
            flags += [isinstance(variable.object, Undefined)] * count
        return flags

    def _paths(self) -> list[str]:
        paths: list[str] = []
        for variable in self.variables:
            pairs = zip(variable.value.leaves, variable.value.paths, strict=True)
            paths += [path for leaf, path in pairs if is_number(leaf)]
            if variable.place is not None:
                paths.append(f"{variable.name} is defined")
        return paths

    def _filled(self, variable: _Variable, arrays: Any, probing: bool = False) -> Any:
        value = variable.value
        if (
            isinstance(value.object, Undefined)
            and not value.leaves
            and value.structure == UNDEFINED
        ):
            created = probing and not isinstance(value.object, UndefinedReturnValue)
            return LoopUndefined(variable.name) if created else value.object
        leaves = [next(arrays) if is_number(leaf) else leaf for leaf in value.leaves]
        content = value.structure.fill(leaves)
        if variable.place is None:
            return content
        return Maybe(variable.name, content, next(arrays), variable.place)

    def _put(self, arrays: Any, probing: bool = False) -> None:
        values = [self._filled(variable, arrays, probing) for variable in self.variables]
        self.set_state(self.trip.refilled(values))

    def restore(self) -> None:
        """Restore the user's variables to their values before the loop."""
        self.containers.restore()
        self.set_state(self.entry)

    def _after(self, variable: _Variable, current: Any, arrays: Any) -> list[Any]:
        name, before = variable.name, variable.value
        if isinstance(current, Undefined):
            if not before.leaves and variable.place is None:
                return []
            if not isinstance(current, UndefinedReturnValue):
                raise current._read()
        if (
            isinstance(current, Maybe)
            and variable.place is None
            and not isinstance(before.object, Undefined)
        ):
            raise StagingError(
                f"{name!r} is deleted in one branch of this loop{place_text()}, and not in "
                "another: whether it exists afterwards is not known while the graph is built. "
                "Instead of `del`, assign a number such as float('nan')"
            )
        value = read_value(current, name)
        if isinstance(before.object, Undefined) and not before.leaves and variable.place is None:
            return []  # bound in none of the branches that were built
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
            always_bound = not isinstance(current, Maybe)
            if always_bound:
                self.always_bound.add(name)
            leaves.append(True if always_bound else current.defined)
        return leaves


def _types(name: str, current: Any) -> RecordedValue:
    """The type of a variable's value, with blank numbers.

    The value is used when the arrays of the discarded trip no longer exist.
    """
    value = read_value(current, name)
    return value._replace(leaves=[blank(leaf) for leaf in value.leaves])


def no_attribute(name: str, place: str) -> UndefinedError:
    """The error for an attribute that a loop may not create."""
    return UndefinedError(
        f"{name!r} must be defined before the loop{place}: the loop creates the attribute, but "
        "not in all branches"
    )


def title(path: str) -> str:
    """The name of a variable in messages."""
    if path.startswith("retval_"):
        return "the return value" + path[len("retval_") :].lstrip("0123456789")
    return path


def _checked(path: str, before: Array, growing: bool, leaf: Any) -> Any:
    """Return a leaf after a trip if its type has not changed.

    Raises
    ------
    ShapeError, TypeError
        If its shape or type has changed.
    """
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
        f"{place_text()}: only numbers and arrays can change in a loop of the graph"
    )


def _shown(value: Any) -> str:
    return f"an array of {value.dtype}" if isinstance(value, Array) else repr(value)


_KEYS = "; create all its keys before the loop, or in the first trip"


def _check_structure(name: str, before: RecordedValue, after: RecordedValue) -> None:
    difference = before.structure.difference(after.structure)
    if not difference:
        return
    path, first, second = difference
    variable = title(name)
    if first == "None" and not path:
        raise ValueError(
            f"{variable!r} is not allowed to be None before the loop{place_text()}: give it a "
            "value of the type that it gets in the loop"
        )
    if isinstance(before.object, list) and isinstance(after.object, list):
        raise TypeError(
            f"{variable!r} does not have the same nested structure after one iteration: list "
            f"{variable!r} is modified inside a staged loop{place_text()}, from {first} to "
            f"{second}; use a buffer: kg.autograph.set_element_type({variable}, ...), as "
            "TensorFlow's TensorArray, or an array of the final length"
        )
    raise TypeError(
        f"{variable!r} does not have the same nested structure after one iteration{place_text()}: "
        f"{f'at {path} ' if path else ''}it is {first} before the loop and {second} after"
        f"{_KEYS if first.startswith('dict') and second.startswith('dict') else ''}"
    )
