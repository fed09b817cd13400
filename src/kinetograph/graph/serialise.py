"""`kg.save_graph` and `kg.load_graph`: arrays with all they are computed from, in a file.

Nodes are written one after the other, so deep graphs need no deep recursion; branches, loops and
the contexts in which they were built come along. Operations and families of kinetograph are written
by name, functions given to `kg.lift` by reference, as pickle does.
"""

import io
import itertools
import os
import pickle
import sys
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from ..version import __version__
from .array import Array
from .control.state import Cell, State
from .control.structure import flatten
from .control.subgraph import Control
from .errors import KinetographError
from .node import _SERIAL, Data, Node, Operation

__all__ = ["graph_from_bytes", "graph_to_bytes", "load_graph", "save_graph"]

_FORMAT = "kinetograph graph 1"
_DERIVED = {"_children", "_purge_at", "__weakref__"}  # made anew when loading
_PROXY = "attributes"


class _Constant(NamedTuple):
    """Where an object of kinetograph's own is found."""

    module: str
    name: str
    key: Any = None


def _constants() -> dict[int, _Constant]:
    """The operations and families that modules of kinetograph hold."""
    found: dict[int, _Constant] = {}
    for module_name, module in list(sys.modules.items()):
        if module_name.split(".")[0] != "kinetograph":
            continue
        for name, value in vars(module).items():
            if isinstance(value, Operation) or type(value).__name__ == "Family":
                found.setdefault(id(value), _Constant(module_name, name))
            elif isinstance(value, dict) and not name.startswith("__"):
                for key, inner in value.items():
                    if isinstance(inner, Operation) and isinstance(key, (str, int)):
                        found.setdefault(id(inner), _Constant(module_name, name, key))
    return found


class _Pickler(pickle.Pickler):
    def __init__(self, file: Any) -> None:
        super().__init__(file, protocol=5)
        self.nodes: dict[Node, int] = {}
        self.constants = _constants()

    def persistent_id(self, value: Any) -> Any:
        if isinstance(value, Node):
            place = self.nodes.setdefault(value, len(self.nodes))
            return place, type(value)
        return self.constants.get(id(value))

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, MappingProxyType):
            return dict, (dict(value),)
        if isinstance(value, weakref.ref):
            return _reference, (value(),)
        if isinstance(value, State):
            return _state_of, (value.cell,)
        return NotImplemented


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: Any) -> None:
        super().__init__(file)
        self.nodes: dict[int, Node] = {}

    def persistent_load(self, key: Any) -> Any:
        if isinstance(key, _Constant):
            __import__(key.module)
            value = getattr(sys.modules[key.module], key.name)
            return value if key.key is None else value[key.key]
        place, kind = key
        if place not in self.nodes:
            self.nodes[place] = kind.__new__(kind)
        return self.nodes[place]


def _reference(target: Any) -> Any:
    return None if target is None else weakref.ref(target)


def _state_of(cell: Cell) -> State:
    handle = cell.handle() if cell.handle is not None else None
    return State(cell) if handle is None else handle


def _slots(kind: type) -> Iterator[str]:
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__", ())
        yield from (slots,) if isinstance(slots, str) else slots


def _content(node: Node) -> dict[str, Any]:
    content = {}
    for name in _slots(type(node)):
        if name in _DERIVED or not hasattr(node, name):
            continue
        value = getattr(node, name)
        if name == "_place":
            value = node.site
        content[name] = value
    return content


def graph_to_bytes(content: Any, doing: str) -> bytes:
    """Anything that holds nodes, with all they are computed from.

    Raises
    ------
    KinetographError
        If something in it cannot be pickled.
    """
    file = io.BytesIO()
    pickler = _Pickler(file)
    try:
        pickler.dump((_FORMAT, __version__, content))
        written = 0
        while written < len(pickler.nodes):
            for node in list(itertools.islice(pickler.nodes, written, None)):
                pickler.dump(_content(node))
                written += 1
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise KinetographError(
            f"{doing}: the graph holds something that cannot be written: {error}; functions "
            "given to kg.lift must be importable, not lambdas"
        ) from error
    return file.getvalue()


def graph_from_bytes(data: bytes, doing: str) -> Any:
    """What `graph_to_bytes` was given, with new nodes.

    Raises
    ------
    KinetographError
        If these are no such bytes, or are cut short.
    """
    unpickler = _Unpickler(io.BytesIO(data))
    contents: dict[int, Mapping[str, Any]] = {}
    try:
        head = unpickler.load()
        if not isinstance(head, tuple) or head[0] != _FORMAT:
            raise pickle.UnpicklingError("another format")
        while len(contents) < len(unpickler.nodes):
            contents[len(contents)] = unpickler.load()
    except (pickle.UnpicklingError, EOFError, AttributeError, IndexError, KeyError) as error:
        raise KinetographError(
            f"{doing} is no graph saved by this version of kinetograph: {error}"
        ) from error
    _restore([unpickler.nodes[place] for place in range(len(contents))], list(contents.values()))
    return head[2]


def save_graph(path: str | os.PathLike[str], arrays: Any) -> None:
    """Write arrays, with everything they are computed from, to a file.

    Parameters
    ----------
    path
        The file; it is replaced only when all has been written.
    arrays
        An array or a structure of arrays; `kg.load_graph` gives the same structure. Arrays that are
        to be inputs of a function compiled later must be in it, too.

    Raises
    ------
    KinetographError
        If the graph holds a function that cannot be written, such as a lambda given to `kg.lift`.

    Examples
    --------
    >>> import kinetograph as kg, tempfile, os
    >>> x = kg.placeholder(name="x")
    >>> (y,) = kg.while_loop(lambda v: v < 100, lambda v: 2 * v, [x])
    >>> path = os.path.join(tempfile.mkdtemp(), "doubling.kg")
    >>> kg.save_graph(path, {"x": x, "y": y})
    >>> graph = kg.load_graph(path)
    >>> f = kg.compile([graph["x"]], kg.gradients(graph["y"], graph["x"]))
    >>> float(f(1.0))
    128.0
    """
    leaves, _, pattern = flatten(arrays)
    for leaf in leaves:
        if not isinstance(leaf, Array):
            raise TypeError(f"save_graph: expected arrays, got {type(leaf).__name__}")
    states = [leaf if isinstance(leaf, State) else None for leaf in leaves]
    roots = [None if s is not None else leaf.node for leaf, s in zip(leaves, states, strict=True)]
    data = graph_to_bytes((roots, states, pattern.fill(range(len(leaves)))), "save_graph")
    target = Path(path)
    with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as temporary:
        temporary.write(data)
    os.replace(temporary.name, target)


def load_graph(path: str | os.PathLike[str]) -> Any:
    """The arrays that `kg.save_graph` wrote, as new nodes in the same structure.

    Parameters
    ----------
    path
        The file. It is read by `pickle`: load only files you trust.

    Raises
    ------
    KinetographError
        If the file is no saved graph, or is cut short.
    """
    data = Path(path).read_bytes()
    roots, states, places = graph_from_bytes(data, f"load_graph: {os.fspath(path)!r}")
    arrays = [
        state if state is not None else Array(root)
        for root, state in zip(roots, states, strict=True)
    ]
    leaves, _, pattern = flatten(places)
    return pattern.fill(arrays[place] for place in leaves)


def _restore(nodes: list[Node], contents: list[Mapping[str, Any]]) -> None:
    for node, content in zip(nodes, contents, strict=True):
        for name, value in content.items():
            setattr(node, name, MappingProxyType(value) if name == _PROXY else value)
        if isinstance(node, Data):
            node.value.setflags(write=False)
        node._children = None
    for node in sorted(nodes, key=lambda node: node.serial):
        node.serial = next(_SERIAL)
        for parent in node.parents:
            parent._adopt(node)
        if isinstance(node, Control):
            node.claim_contexts()
