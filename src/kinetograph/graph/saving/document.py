"""Documents: graphs as tables of objects in plain JSON, with arrays.

Each object (node, context, state, ...) has a row with the name of its class and its fields. A value
in a row is a number, a text, or a list that begins with a tag: `["@", 7]` is the object of row 7,
`["array", 3]` is array 3, `["tuple", ...]` is a tuple. Only objects of registered classes (see
`storable`) are restored, and no constructor is called, so that a document cannot choose code that
runs when it is read. Users' functions are in a separate list, which the caller writes and looks
up.
"""

import functools
import types
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import NoneType
from typing import Any, NamedTuple

import numpy as np

from ..control.contexts import ControlFlowContext
from ..control.control_node import Control
from ..control.state import Assigned, Cell, Read, State, Versions
from ..control.subgraph import Subgraph
from ..errors import KinetographError
from ..node import _SERIAL, Call, Data, Node, Operation
from ..source import Site
from .fields import check_fields
from .references import own_object, own_reference

__all__ = ["Document", "decode", "encode", "keyed", "storable"]

_DERIVED = {"_children", "_purge_at", "__weakref__"}  # computed when a document is read
_SCALARS = (bool, int, float, str)
_TUPLES = {"Site": Site, "Call": Call}
_KINDS: dict[str, type] = {}
_FINDERS: dict[str, Callable[[str], Any]] = {}  # for objects written as a key


class Document(NamedTuple):
    """A graph in a form that files can hold; made by `encode`."""

    rows: list[Any]  # JSON: an object each
    root: Any  # JSON: the encoded content
    arrays: list[np.ndarray]
    functions: list[Any]  # users' functions


def storable[T: type](kind: T) -> T:
    """Allow documents to hold objects of a class and of its subclasses.

    Only subclasses in kinetograph are allowed.
    """
    _KINDS[_kind_name(kind)] = kind
    return kind


def keyed(kind: type, write: Callable[[Any], str], find: Callable[[str], Any]) -> None:
    """Allow documents to hold objects of a class as texts.

    `write` returns the text of an object, `find` returns the object of a text. `find` must only
    return objects that kinetograph itself could have made.
    """
    name = _kind_name(kind)
    _FINDERS[name] = find
    _VALUES[kind] = lambda self, value: ["keyed", name, write(value)]


def _kind_name(kind: type) -> str:
    return f"{kind.__module__.removeprefix('kinetograph.')}:{kind.__qualname__}"


_KINDS.update(
    (_kind_name(k), k) for k in (Node, ControlFlowContext, Subgraph, Cell, Versions, Operation)
)


def _all_kinds() -> dict[str, type]:
    kinds = dict(_KINDS)
    pending = list(_KINDS.values())
    while pending:
        kind: type
        for kind in pending.pop().__subclasses__():
            if kind.__module__.startswith("kinetograph.") and _kind_name(kind) not in kinds:
                kinds[_kind_name(kind)] = kind
                pending.append(kind)
    return kinds


class _Encoder:
    def __init__(self, foreign: bool) -> None:
        self.foreign = foreign
        self.kinds = set(_all_kinds().values())
        self.places: dict[int, int] = {}
        self.objects: list[Any] = []
        self.arrays: list[np.ndarray] = []
        self.array_places: dict[int, int] = {}
        self.functions: list[Any] = []

    def rows(self) -> list[Any]:
        """The rows of all objects, including objects that other rows refer to."""
        rows: list[Any] = []
        programs: dict[int, Versions] = {}
        while len(rows) < len(self.objects):
            for place in range(len(rows), len(self.objects)):
                value = self.objects[place]
                if isinstance(value, Versions) and value.context is None:
                    programs[place] = value
                rows.append(self._row(value, {} if place in programs else _content(value)))
            # Nodes reached from a program may read more states, or follow other effects.
            for place, program in programs.items():
                rows[place] = self._row(program, self._reached(program))
        return rows

    def _row(self, value: Any, content: Mapping[str, Any]) -> Any:
        return [_kind_name(type(value)), {name: self.value(v) for name, v in content.items()}]

    def _reached(self, program: Versions) -> dict[str, Any]:
        """The fields of a program, restricted to objects written so far."""
        content = _content(program)
        for name, field in content.items():
            if isinstance(field, dict):
                content[name] = {k: v for k, v in field.items() if id(k) in self.places}
        return content

    def value(self, value: Any) -> Any:
        kind = type(value)
        if value is None or kind in _SCALARS:
            return value
        reference = own_reference(value)
        if reference is not None:
            return ["own", *reference]
        if kind in self.kinds:
            return ["@", self._place(value)]
        encode = _VALUES.get(kind) or self._other(value)
        return encode(self, value)

    def _place(self, value: Any) -> int:
        place = self.places.get(id(value))
        if place is None:
            place = self.places[id(value)] = len(self.objects)
            self.objects.append(value)  # kept alive, so that its id stays unique
        return place

    def _other(self, value: Any) -> Callable[["_Encoder", Any], Any]:
        if isinstance(value, State):
            return lambda self, value: ["state", self.value(value.cell)]
        if isinstance(value, np.dtype):
            return lambda self, value: ["dtype", value.str]
        if isinstance(value, np.generic):
            return lambda self, value: ["number", self.array(np.asarray(value))]
        if isinstance(value, tuple) and type(value) in _TUPLES.values():
            return lambda self, value: ["named", type(value).__name__, *map(self.value, value)]
        if callable(value) or self.foreign:
            return _Encoder.function
        raise KinetographError(
            f"the graph contains a {type(value).__module__}.{type(value).__qualname__}, which "
            "cannot be written"
        )

    def array(self, value: np.ndarray) -> int:
        place = self.array_places.get(id(value))
        if place is None:
            if value.dtype.kind not in "biufUSMm":
                raise KinetographError(f"arrays of {value.dtype} cannot be written")
            place = self.array_places[id(value)] = len(self.arrays)
            self.arrays.append(value)
        return place

    def function(self, value: Any) -> Any:
        for place, function in enumerate(self.functions):
            if function is value:
                return ["function", place]
        self.functions.append(value)
        return ["function", len(self.functions) - 1]

    def sequence(self, value: Any) -> Any:
        return [type(value).__name__, *map(self.value, value)]

    def mapping(self, value: Any) -> Any:
        tag = "proxy" if isinstance(value, types.MappingProxyType) else "dict"
        return [tag, *([self.value(k), self.value(v)] for k, v in value.items())]

    def partial(self, value: functools.partial[Any]) -> Any:
        return ["partial", *map(self.value, (value.func, value.args, value.keywords))]

    def lifted(self, value: Any) -> Any:
        return ["lifted", self.value(value.function), value.single]


def _content(value: Any) -> dict[str, Any]:
    """The fields of an object that are written."""
    if not isinstance(value, Node):
        state = value.__getstate__()
        if isinstance(state, tuple):
            state = {**(state[0] or {}), **(state[1] or {})}
        return dict(state or {})
    content = {}
    for name in _slots(type(value)):
        if name not in _DERIVED and hasattr(value, name):
            content[name] = value.site if name == "_place" else getattr(value, name)
    if isinstance(value, Data):
        content["rows"] = content["columns"] = None  # used while the model is made alone
    return content


def _slots(kind: type) -> Iterator[str]:
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__", ())
        yield from (slots,) if isinstance(slots, str) else slots


_VALUES: dict[type, Callable[[_Encoder, Any], Any]] = {
    tuple: _Encoder.sequence,
    list: _Encoder.sequence,
    set: _Encoder.sequence,
    frozenset: _Encoder.sequence,
    dict: _Encoder.mapping,
    types.MappingProxyType: _Encoder.mapping,
    functools.partial: _Encoder.partial,
    slice: lambda self, s: ["slice", *map(self.value, (s.start, s.stop, s.step))],
    type(Ellipsis): lambda self, value: ["ellipsis"],
    range: lambda self, r: ["range", r.start, r.stop, r.step],
    np.ndarray: lambda self, value: ["array", self.array(value)],
    weakref.ref: lambda self, value: ["weak", self.value(value())],
}


def encode(content: Any, *, foreign: bool = False) -> Document:
    """Make a document of an object that holds nodes.

    If `foreign` is true, objects of other libraries are allowed; they are listed among the
    functions.

    Raises
    ------
    KinetographError
        If a part of the object cannot be written.
    """
    from ..lift import Lifted

    _VALUES.setdefault(Lifted, _Encoder.lifted)
    encoder = _Encoder(foreign)
    root = encoder.value(content)
    return Document(encoder.rows(), root, encoder.arrays, encoder.functions)


class _Decoder:
    def __init__(self, document: Document) -> None:
        self.document = document
        kinds = _all_kinds()
        self.objects: list[Any] = [object.__new__(kinds[kind]) for kind, _ in document.rows]
        self.states: dict[int, State] = {}

    def fill(self) -> None:
        """Set the fields of all objects, and check them."""
        from . import graph_fields  # noqa: F401  # imported late, because it needs all nodes

        for obj, (_, content) in zip(self.objects, self.document.rows, strict=True):
            allowed = set(_slots(type(obj))) if isinstance(obj, Node) else None
            for name, stored in content.items():
                if allowed is not None and (name not in allowed or name in _DERIVED):
                    raise ValueError(f"{type(obj).__name__} has no {name}")
                if callable(getattr(type(obj), name, None)):
                    raise ValueError(f"{type(obj).__name__}.{name} is a method")
                object.__setattr__(obj, name, self.value(stored))
        for obj in self.objects:
            check_fields(obj)

    def value(self, stored: Any) -> Any:
        if stored is None or type(stored) in _SCALARS:
            return stored
        tag, *content = stored
        return _READERS[tag](self, content)

    def values(self, stored: Sequence[Any]) -> list[Any]:
        return [self.value(part) for part in stored]

    def array(self, place: int) -> np.ndarray:
        array = self.document.arrays[_count(place)]
        array.setflags(write=False)
        return array

    def state(self, cell: Cell) -> State:
        state = self.states.get(id(cell))
        if state is None:
            state = self.states[id(cell)] = object.__new__(State)
            state.cell = cell
            object.__setattr__(cell, "handle", weakref.ref(state))
        return state

    def named(self, name: str, *values: Any) -> Any:
        return _TUPLES[name](*values)

    def lifted(self, function: Any, single: bool) -> Any:
        from ..lift import Lifted

        return Lifted(function, single=single)


def _count(place: Any) -> int:
    if type(place) is not int or place < 0:
        raise ValueError(f"{place!r} is not an index")
    return place


def _weak(target: Any) -> Any:
    if not isinstance(target, (Node, NoneType)):
        raise ValueError(f"a reference to {type(target).__name__}")
    return None if target is None else weakref.ref(target)


_READERS: dict[str, Callable[[_Decoder, list[Any]], Any]] = {
    "@": lambda self, rest: self.objects[_count(rest[0])],
    "own": lambda self, rest: own_object(rest),
    "tuple": lambda self, rest: tuple(self.values(rest)),
    "list": lambda self, rest: self.values(rest),
    "set": lambda self, rest: set(self.values(rest)),
    "frozenset": lambda self, rest: frozenset(self.values(rest)),
    "dict": lambda self, rest: {self.value(k): self.value(v) for k, v in rest},
    "proxy": lambda self, rest: types.MappingProxyType(
        {self.value(k): self.value(v) for k, v in rest}
    ),
    "partial": lambda self, rest: functools.partial(
        self.value(rest[0]), *self.value(rest[1]), **self.value(rest[2])
    ),
    "slice": lambda self, rest: slice(*self.values(rest)),
    "ellipsis": lambda self, rest: Ellipsis,
    "range": lambda self, rest: range(*rest),
    "array": lambda self, rest: self.array(rest[0]),
    "number": lambda self, rest: self.array(rest[0])[()],
    "dtype": lambda self, rest: np.dtype(str(rest[0])),
    "weak": lambda self, rest: _weak(self.value(rest[0])),
    "state": lambda self, rest: self.state(self.value(rest[0])),
    "named": lambda self, rest: self.named(rest[0], *self.values(rest[1:])),
    "function": lambda self, rest: self.document.functions[_count(rest[0])],
    "lifted": lambda self, rest: self.lifted(*self.values(rest)),
    "keyed": lambda self, rest: _FINDERS[rest[0]](str(rest[1])),
}


def decode(document: Document, test: Callable[[list[Node]], Any] = len) -> Any:
    """Restore the object given to `encode`, with new nodes.

    `test` is called with the nodes, and may refuse them by an exception.

    Raises
    ------
    KinetographError
        If the document was not made by `encode`.
    """
    try:
        decoder = _Decoder(document)
        decoder.fill()
        root = decoder.value(document.root)
        nodes = [obj for obj in decoder.objects if isinstance(obj, Node)]
        _connect(nodes)
        test(nodes)
    except KinetographError:
        raise
    except Exception as error:
        raise KinetographError(f"not a graph: {type(error).__name__}: {error}") from error
    return root


def _connect(nodes: list[Node]) -> None:
    """Give the nodes new serial numbers, and register them with their parents."""
    for node in nodes:
        named = node.dims is None or len(node.dims) == len(node.shape)
        if not named or not all(p.serial < node.serial for p in node.parents):
            raise ValueError("a node whose parents or dims are wrong")
        if isinstance(node, (Read, Assigned)):
            versions = node.program
            if node.cell not in versions.latest or node.cell not in versions.entered:
                raise ValueError("a state without versions")
        node._children = None
    for node in sorted(nodes, key=lambda node: node.serial):
        if isinstance(node, Data):
            if node.value.shape != node.shape or node.value.dtype != node.dtype:
                raise ValueError("data whose shape or dtype differs from the node's")
            node.value.setflags(write=False)
        node.serial = next(_SERIAL)
        for parent in node.parents:
            parent._adopt(node)
        if isinstance(node, Control):
            node.claim_contexts()
