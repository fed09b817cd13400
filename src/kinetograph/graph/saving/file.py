"""The functions `kg.save_graph` and `kg.load_graph`: arrays and their graph in a file.

    kinetograph graph                       the kind of file
    9f86d081...                             the SHA-256 of the rest of the file
    {"format": 5, "kinetograph": ...}       the format, and the version that wrote the file
    {"rows": ..., "functions": ...}         the graph, as JSON (see `document`)
    ...                                     its arrays, as NumPy's npz

The rest of the file is read only if its checksum is right. Code in a file is never executed:
functions given to `kg.lift` are stored by name, and are imported only if `trust` has the name.
"""

import hashlib
import io
import json
import os
import secrets
import zipfile
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ...version import __version__
from ..array import Array
from ..control.effects import Entry
from ..control.program import effects_of
from ..control.state import Read, State, top_level
from ..control.structure import flatten
from ..errors import KinetographError
from ..messages import names_in_scope
from ..node import Apply, Bundle, Data, Node, ancestors
from ..public import public
from ..source import place_text
from ..value_texts import check_path, in_words
from .document import Document, decode, encode
from .references import find_function, name_of_function
from .trial_lowering import try_out

__all__ = ["from_bytes", "load_graph", "save_graph", "to_bytes"]

_MAGIC = b"kinetograph graph\n"
_HDF5 = b"\x89HDF"  # netCDF files of results begin with it
_FORMAT = 5


@public
def save_graph(path: str | os.PathLike[str], arrays: Any) -> None:
    """Write arrays, and all nodes they are computed from, to a file.

    Unknowns are written with their observations, so that a model of the loaded arrays has the same
    density. Checks and prints are written if a compiled function of the arrays would run them.
    Arrays keep their names. The name of an array is the name given with `name=`, or else its key in
    the dictionary `arrays`, or else, for unknowns, placeholders and data, the name of the variable
    that holds it.

    Parameters
    ----------
    path
        The file. An existing file is replaced only after everything has been written.
    arrays
        An array, or a structure of arrays (tuples, lists, dictionaries). `kg.load_graph` returns
        the same structure. It must include all arrays that will be inputs of functions compiled
        from the loaded graph.

    Raises
    ------
    KinetographError
        If the graph contains a function that cannot be imported by a name, such as a lambda given
        to `kg.lift`.
    TypeError
        If something in `arrays` is not an array.

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
    leaves, paths, structure = flatten(arrays, is_leaf=_is_special)
    for leaf, place in zip(leaves, paths, strict=True):
        if not isinstance(leaf, Array):
            swapped = isinstance(path, (Array, list, tuple, dict)) and not place
            raise TypeError(
                f"save_graph: expected arrays in tuples, lists and dictionaries, got "
                f"{in_words(leaf)}{f' at arrays{place}' if place else ''}"
                + ("; pass the path first: kg.save_graph(path, arrays)" if swapped else "")
            )
    check_path("save_graph", path)
    parts = [leaf if isinstance(leaf, State) else leaf.node for leaf in leaves]
    places = structure.fill(range(len(leaves)))
    names = _names(arrays, [part for part in parts if isinstance(part, Node)])
    effects = _effects([part for part in parts if isinstance(part, Node)])
    document = encode((parts, places, names, effects))
    header = {"format": _FORMAT, "kinetograph": __version__}
    data = json.dumps(header).encode() + b"\n" + to_bytes(document)
    _write(Path(path), _MAGIC + _checksum(data) + b"\n" + data)


@public
def load_graph(path: str | os.PathLike[str], trust: Collection[str] = ()) -> Any:
    """Load arrays written by `kg.save_graph`, as new nodes in the same structure.

    Loading a file cannot run harmful code: a file may be wrong, but contains no code. The graph
    calls functions that were given to `kg.lift` by their names, and only functions listed in
    `trust` are imported. Checks of the arrays become part of the program that is being built, as if
    they were made now.

    Parameters
    ----------
    path
        The file.
    trust
        The names of functions that the graph may call, such as `"mypackage.model.growth"`.

    Raises
    ------
    KinetographError
        If the file is not a saved graph, is damaged, has another format, or calls functions that
        are not in `trust`.
    OSError
        If the file cannot be read.
    """
    if isinstance(trust, str):
        raise TypeError(f"load_graph: trust must be a list of names, got the text {trust!r}")
    check_path("load_graph", path)
    subject = f"load_graph: {os.fspath(path)!r}"
    data = Path(path).read_bytes()
    if not data.startswith(_MAGIC):
        hint = "; xarray.open_datatree(path) reads results" if data.startswith(_HDF5) else ""
        raise KinetographError(
            f"{subject} is not a graph saved by kg.save_graph{place_text()}{hint}"
        )
    checksum, _, rest = data[len(_MAGIC) :].partition(b"\n")
    if _checksum(rest) != checksum:
        raise KinetographError(
            f"{subject} is damaged: its checksum does not match its content; was it copied or "
            "downloaded completely?"
        )
    head, _, body = rest.partition(b"\n")
    header = _header(head, subject)
    if header.get("format") != _FORMAT:
        raise KinetographError(
            f"{subject} has format {header.get('format')}, written by kinetograph "
            f"{header.get('kinetograph')}; this is kinetograph {__version__}, which reads format "
            f"{_FORMAT}: save the graph again with this version"
        )
    try:
        parts, places, names, effects = decode(from_bytes(body, frozenset(trust), subject), try_out)
        for node, name in names:
            node.name = str(name)
        leaves, _, structure = flatten(places)
        _check_parts(parts, leaves, effects)
        arrays = [part if isinstance(part, State) else Array(part) for part in parts]
        loaded = structure.fill(arrays[place] for place in leaves)
        top_level().effects.update(effects)
        return loaded
    except KinetographError as error:
        if str(error).startswith(subject):
            raise
        raise KinetographError(f"{subject}: {error}") from error
    except Exception as error:
        raise KinetographError(f"{subject} is not a graph: {error}") from error


def _check_parts(parts: Any, places: Any, effects: Any) -> None:
    """Check the root of a document: arrays, their structure and effects."""
    if not all(isinstance(part, (Node, State)) for part in parts):
        raise ValueError("arrays that are neither nodes nor states")
    if list(places) != list(range(len(parts))):
        raise ValueError("a structure of different arrays")
    if not all(isinstance(e, Entry) and isinstance(end, Node) for e, end in effects.items()):
        raise ValueError("effects that are not nodes")


def _names(arrays: Any, nodes: list[Node]) -> list[tuple[Node, str]]:
    """Names for arrays without a name: keys of the dictionary, or variables."""
    nodes_above = ancestors(nodes)
    used_names = {node.name for node in nodes_above}
    candidates: dict[Node, str] = {}
    if isinstance(arrays, dict):
        for key, array in arrays.items():
            if isinstance(array, Array) and isinstance(key, str):
                candidates.setdefault(array.node, key)
    variables = names_in_scope()
    for node in nodes_above:
        literal = isinstance(node, Data) and node.literal
        if id(node) in variables and not literal and not isinstance(node, (Apply, Bundle)):
            candidates.setdefault(node, variables[id(node)])
    names: list[tuple[Node, str]] = []
    for node, name in candidates.items():
        if node.name is None and name not in used_names:
            used_names.add(name)
            names.append((node, name))
    return names


def _effects(nodes: list[Node]) -> dict[Node, Node]:
    """The checks and prints of a function that computes the nodes."""
    given = [n for n in ancestors(nodes) if not isinstance(n, (Apply, Bundle, Data, Read))]
    return effects_of(nodes, set(given))


def _is_special(value: Any) -> bool:
    """Whether a value is a tuple type that files do not hold."""
    return isinstance(value, tuple) and type(value) is not tuple


def _checksum(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


def _header(head: bytes, subject: str) -> dict[str, Any]:
    try:
        header = json.loads(head)
    except ValueError:
        header = None
    if not isinstance(header, dict):
        raise KinetographError(f"{subject} is not a graph: its header cannot be read")
    return header


def to_bytes(document: Document) -> bytes:
    """Convert a document to bytes: a line of JSON, and its arrays.

    Raises
    ------
    KinetographError
        If it contains a function that cannot be imported by a name.
    """
    names = [name_of_function(f) for f in document.functions]
    text = json.dumps(
        {"functions": names, "root": document.root, "rows": document.rows}, separators=(",", ":")
    )
    file = io.BytesIO()
    file.write(text.encode() + b"\n")
    np.savez(file, *document.arrays)  # type: ignore[arg-type]
    return file.getvalue()


def from_bytes(data: bytes, trust: frozenset[str], subject: str) -> Document:
    """Read a document from the bytes of `to_bytes`; import functions in `trust`.

    Raises
    ------
    KinetographError
        If the bytes were not made by `to_bytes`, or name functions that are not in `trust`.
    """
    text, _, array_bytes = data.partition(b"\n")
    try:
        content = json.loads(text)
        names = content["functions"]
        untrusted = [name for name in names if name not in trust]
        if untrusted:
            raise KinetographError(
                f"{subject} calls {', '.join(untrusted)}; if you trust the file to call "
                f"{'it' if len(untrusted) == 1 else 'them'}, pass trust={untrusted}"
            )
        with np.load(io.BytesIO(array_bytes), allow_pickle=False) as stored:
            arrays = [stored[f"arr_{i}"] for i in range(len(stored.files))]
    except (ValueError, LookupError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise KinetographError(f"{subject} is not a graph: {error}") from error
    return Document(content["rows"], content["root"], arrays, [find_function(n) for n in names])


def _write(path: Path, data: bytes) -> None:
    """Write a complete file or none, with the user's default permissions."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):  # with the path that the user knows
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
