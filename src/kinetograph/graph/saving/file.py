"""`kg.save_graph` and `kg.load_graph`: arrays with all they are computed from, in a file.

    kinetograph graph                       what it is
    9f86d081...                             the SHA-256 of all that follows
    {"format": 3, "kinetograph": ...}       which format, and who wrote it
    {"rows": ..., "functions": ...}         the graph, as JSON (see `document`)
    ...                                     its arrays, as NumPy's npz

Nothing behind the checksum is looked at unless it is right. Nothing in a file is executed:
functions given to `kg.lift` stand in it by name, and are imported only if `trust` names them.
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
from ..text import check_path, in_words
from .document import Document, decode, encode
from .references import find_function, name_of_function
from .trial import try_out

__all__ = ["from_bytes", "load_graph", "save_graph", "to_bytes"]

_MAGIC = b"kinetograph graph\n"
_FORMAT = 5


def save_graph(path: str | os.PathLike[str], arrays: Any) -> None:
    """Write arrays, with everything they are computed from, to a file.

    Unknowns are written with all that is observed of them, so that a model of the loaded arrays has
    the same density. Checks and prints are written if a function of the arrays would carry them
    out. Arrays keep their names: that given with `name=`, else that in the dictionary
    `arrays`, else, for unknowns, placeholders and data, that of the variable that holds them now.

    Parameters
    ----------
    path
        The file; it is replaced only when all has been written.
    arrays
        An array, or a structure of arrays (tuples, lists, dictionaries); `kg.load_graph` gives the
        same structure. Arrays that are to be inputs of a function compiled later must be in it,
        too.

    Raises
    ------
    KinetographError
        If the graph holds a function that has no name by which others could import it, such as a
        lambda given to `kg.lift`.
    TypeError
        If something in `arrays` is no array.

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
                + ("; the path comes first: kg.save_graph(path, arrays)" if swapped else "")
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


def load_graph(path: str | os.PathLike[str], trust: Collection[str] = ()) -> Any:
    """The arrays that `kg.save_graph` wrote, as new nodes in the same structure.

    A file cannot run code: it can be wrong, but not do harm. Functions that were given to `kg.lift`
    are the exception: the graph calls them by their names, and only those are imported that
    `trust` names. Checks of the arrays belong to the program that is being written, as if they
    were made now.

    Parameters
    ----------
    path
        The file.
    trust
        The names of functions that the graph may call, such as `"mypackage.model.growth"`.

    Raises
    ------
    KinetographError
        If the file is no saved graph, is damaged or of another format, or calls functions that
        `trust` does not name.
    OSError
        If it cannot be read.
    """
    if isinstance(trust, str):
        raise TypeError(f"load_graph: trust is a list of names, got the text {trust!r}")
    check_path("load_graph", path)
    whose = f"load_graph: {os.fspath(path)!r}"
    data = Path(path).read_bytes()
    if not data.startswith(_MAGIC):
        raise KinetographError(f"{whose} is no graph saved by kg.save_graph")
    checksum, _, rest = data[len(_MAGIC) :].partition(b"\n")
    if _checksum(rest) != checksum:
        raise KinetographError(
            f"{whose} is damaged: its checksum is another than when it was written; was it copied "
            "or downloaded completely?"
        )
    head, _, body = rest.partition(b"\n")
    header = _header(head, whose)
    if header.get("format") != _FORMAT:
        raise KinetographError(
            f"{whose} is of format {header.get('format')}, written by kinetograph "
            f"{header.get('kinetograph')}; this is kinetograph {__version__}, which reads format "
            f"{_FORMAT}: save it anew with this version"
        )
    try:
        parts, places, names, effects = decode(from_bytes(body, frozenset(trust), whose), try_out)
        for node, name in names:
            node.name = str(name)
        leaves, _, structure = flatten(places)
        _check_parts(parts, leaves, effects)
        arrays = [part if isinstance(part, State) else Array(part) for part in parts]
        loaded = structure.fill(arrays[place] for place in leaves)
        top_level().effects.update(effects)
        return loaded
    except KinetographError as error:
        if str(error).startswith(whose):
            raise
        raise KinetographError(f"{whose}: {error}") from error
    except Exception as error:
        raise KinetographError(f"{whose} is no graph: {error}") from error


def _check_parts(parts: Any, places: Any, effects: Any) -> None:
    """Refuse what is not an array, or not an effect, at the root of a document."""
    if not all(isinstance(part, (Node, State)) for part in parts):
        raise ValueError("arrays that are neither nodes nor states")
    if list(places) != list(range(len(parts))):
        raise ValueError("a structure of other arrays")
    if not all(isinstance(e, Entry) and isinstance(end, Node) for e, end in effects.items()):
        raise ValueError("effects that are not of nodes")


def _names(arrays: Any, nodes: list[Node]) -> list[tuple[Node, str]]:
    """What arrays without a name are called: as in the given dictionary, else as in the program."""
    found = ancestors(nodes)
    taken = {node.name for node in found}
    calls: dict[Node, str] = {}
    if isinstance(arrays, dict):
        for key, array in arrays.items():
            if isinstance(array, Array) and isinstance(key, str):
                calls.setdefault(array.node, key)
    variables = names_in_scope()
    for node in found:
        literal = isinstance(node, Data) and node.literal
        if id(node) in variables and not literal and not isinstance(node, (Apply, Bundle)):
            calls.setdefault(node, variables[id(node)])
    kept: list[tuple[Node, str]] = []
    for node, name in calls.items():
        if node.name is None and name not in taken:
            taken.add(name)
            kept.append((node, name))
    return kept


def _effects(nodes: list[Node]) -> dict[Node, Node]:
    """The checks and prints that a function of the nodes has, if all its inputs are given."""
    given = [n for n in ancestors(nodes) if not isinstance(n, (Apply, Bundle, Data, Read))]
    return effects_of(nodes, set(given))


def _is_special(value: Any) -> bool:
    """Whether a container is one that files do not hold."""
    return isinstance(value, tuple) and type(value) is not tuple


def _checksum(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


def _header(head: bytes, whose: str) -> dict[str, Any]:
    try:
        header = json.loads(head)
    except ValueError:
        header = None
    if not isinstance(header, dict):
        raise KinetographError(f"{whose} is no graph: its header cannot be read")
    return header


def to_bytes(document: Document) -> bytes:
    """A document as bytes: a line of JSON, and its arrays.

    Raises
    ------
    KinetographError
        If it holds a function that has no name by which others could import it.
    """
    names = [name_of_function(f) for f in document.functions]
    text = json.dumps(
        {"functions": names, "root": document.root, "rows": document.rows}, separators=(",", ":")
    )
    file = io.BytesIO()
    file.write(text.encode() + b"\n")
    np.savez(file, *document.arrays)  # type: ignore[arg-type]
    return file.getvalue()


def from_bytes(data: bytes, trust: frozenset[str], whose: str) -> Document:
    """The document of bytes that `to_bytes` gave; functions are imported that `trust` names.

    Raises
    ------
    KinetographError
        If they are no such bytes, or name other functions.
    """
    text, _, rest = data.partition(b"\n")
    try:
        content = json.loads(text)
        names = content["functions"]
        unknown = [name for name in names if name not in trust]
        if unknown:
            raise KinetographError(
                f"{whose} calls {', '.join(unknown)}; if you trust the file to call "
                f"{'it' if len(unknown) == 1 else 'them'}, write trust={unknown}"
            )
        with np.load(io.BytesIO(rest), allow_pickle=False) as stored:
            arrays = [stored[f"arr_{i}"] for i in range(len(stored.files))]
    except (ValueError, LookupError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise KinetographError(f"{whose} is no graph: {error}") from error
    return Document(content["rows"], content["root"], arrays, [find_function(n) for n in names])


def _write(path: Path, data: bytes) -> None:
    """Write a file as a whole, or not at all, with the rights that files usually get here."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
