"""Likelihoods and factors of unknowns, and the time they are in force.

Each unknown that a statement depends on, directly or through other unknowns, holds the statement. A
statement exists as long as these unknowns, and does not depend on the lifetime of the data. Each
further statement is added, also if it is about the same data. A statement is replaced only if the
code that made it is run again. Python compiles a cell of a notebook, a line at a prompt and a
module each time it is run, while a loop, or a function that is called repeatedly, runs one code
object several times. So statements from the same places in the same code objects are several
statements. In a notebook that identifies the running cell, the cell is the code, edited or not.
"""

import sys
import weakref
from types import CodeType, FrameType
from typing import Any, NamedTuple

from ..autograph.skipped_libraries import is_library
from ..distributions.variable import Variable
from ..graph.array import Array
from ..graph.errors import KinetographWarning, ModelError
from ..graph.node import Data, Node
from ..graph.source import PACKAGE, place_text, site_of, warn_user
from .discovery import unknowns_above
from .statement_store import EARLIER, statements_of

__all__ = ["add_statement", "placed", "same_given", "same_place"]


class _Written(NamedTuple):
    """The run of the user's code that made a statement."""

    frames: tuple[tuple[CodeType, int], ...]  # of the user's code, the outermost first
    variable: tuple[str, int] | None  # the global variable that held the data, and its namespace
    cell: int | None  # the number of the run of a notebook's cell
    cell_id: str | None  # the identity of the cell, if the notebook gives it
    codes: tuple[int, ...]  # the identities of the frames' codes
    given: int  # the identity of the object that the user gave as the data

    def same_run(self, old: "_Written") -> bool:
        """Whether two statements come from one run of code.

        One run is a run of the same code objects, or of one cell.
        """
        if self.cell is not None and self.cell == old.cell:
            return True
        return self.codes == old.codes

    def repeats(self, old: "_Written") -> bool:
        """Whether this code is `old`, run once more.

        A cell counts as the same code after it was edited.
        """
        if self.cell_id is not None and self.cell_id == old.cell_id:
            return True
        if any(_is_same_cell(new, code) for new, _ in self.frames for code, _ in old.frames):
            return True
        for (new, at), (code, place) in zip(self.frames, old.frames, strict=False):
            if new is not code or at != place:
                return new is not code and _same_place(new, at, code, place)
        return False

    def rebinds(self, old: "_Written") -> bool:
        """Whether other top-level code keeps other data in the same variable."""
        return (
            self.variable is not None
            and self.variable == old.variable
            and self.given != old.given
            and self.frames[-1][0] is not old.frames[-1][0]
        )


_WRITTEN: "weakref.WeakKeyDictionary[Node, _Written]" = weakref.WeakKeyDictionary()


def _is_same_cell(new: CodeType, old: CodeType) -> bool:
    """Whether top-level code is a new run of the same code.

    It is the code of a module, a cell or a prompt.
    """
    return new is not old and new.co_name == "<module>" and new == old and _same_file(new, old)


def _same_file(new: CodeType, old: CodeType) -> bool:
    names = new.co_filename, old.co_filename
    # Prompts number their inputs, so that a line given twice has two names.
    return names[0] == names[1] or all(name.startswith("<") for name in names)


def _same_place(new: CodeType, at: int, old: CodeType, place: int) -> bool:
    if new.co_qualname != old.co_qualname or not _same_file(new, old):
        return False
    lines = site_of((new, at)), site_of((old, place))
    return (new == old and at == place) or (new.co_name != "<module>" and lines[0] == lines[1])


def _written(given: Any) -> _Written:
    frames: list[tuple[CodeType, int]] = []
    inner: FrameType | None = None
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE) and not is_library(
            frame.f_globals.get("__name__")
        ):
            inner = inner or frame
            frames.append((code, frame.f_lasti))
        frame = frame.f_back
    variable = None
    if given is not None and inner is not None and inner.f_code.co_name == "<module>":
        names = _variables(given, inner.f_globals)
        variable = (names[0], id(inner.f_globals)) if names else None
    frames.reverse()
    codes = tuple(id(code) for code, _ in frames)
    return _Written(tuple(frames), variable, *_cell(), codes, id(given))


def _variables(given: Any, namespace: dict[str, Any]) -> list[str]:
    """The variables that hold data.

    Names that begin with an underscore are left out: IPython stores results in them.
    """
    return [
        name
        for name, value in list(namespace.items())
        if not name.startswith("_") and (value is given or _node(value) is _node(given) is not None)
    ]


def _node(value: Any) -> Node | None:
    return value.node if isinstance(value, Array) else None


def _cell() -> tuple[int | None, str | None]:
    """The number and the identity of the cell that IPython runs.

    The number is different in each run. The identity stays when the cell is edited; kernels receive
    it from JupyterLab, Notebook and VS Code with the request. IPython compiles each statement of a
    cell separately.
    """
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    request = shell.get_parent() if hasattr(shell, "get_parent") else {}
    metadata = request.get("metadata") or {}
    return getattr(shell, "execution_count", None), metadata.get("cellId")


def add_statement(
    statement: Node, data: Data | None, given: Any, words: str, once: bool = False
) -> list[Variable]:
    """Add a statement to its unknowns, which are returned.

    It takes the place of statements that it repeats.

    `data` follow a likelihood, and `given` is the object that the user passed; a factor has none.
    With `once`, the data can have one likelihood only.

    Raises
    ------
    ModelError
        If the data have a likelihood already.

    Warns
    -----
    KinetographWarning
        If the statement replaces earlier ones that share unknowns with it.
    """
    unknowns = unknowns_above([statement])
    written = _written(given)
    replaced: list[tuple[Node, str]] = []
    searched = [v for v in unknowns if once or not _repeats_last(v, written)]
    for old, target in dict.fromkeys(s for v in searched for s in statements_of(v)):
        why = _replaces(written, old, target)
        if why:
            replaced.append((old, why))
        elif once and target is data:
            raise ModelError(
                f"observe: {words} has been observed, as {placed(old)}, and its missing values "
                f"are unknowns of that distribution{place_text()}; add a further density by "
                f"kg.factor(kg.log_density(distribution, {words}))"
            )
    for old, _ in replaced:
        withdraw(old)
    if replaced:
        first, why = replaced[0]
        more = f" and {len(replaced) - 1} more" if len(replaced) > 1 else ""
        text = f"{words} {why.format(place=f'{placed(first)}{more}')}"
        warn_user(text, KinetographWarning)
    _WRITTEN[statement] = written
    for v in unknowns:
        statements_of(v).append((statement, data))
        if replaced:  # earlier models had the statement that is replaced, not a further one
            EARLIER.pop(v, None)
    return unknowns


def same_place(a: Node, b: Node) -> bool:
    """Whether two statements come from one place, as in a loop."""
    first, second = _WRITTEN.get(a), _WRITTEN.get(b)
    return first is not None and second is not None and first.frames == second.frames


def same_given(a: Node, b: Node) -> bool:
    """Whether two likelihoods are of data in the same variable.

    The variable held these data for both.
    """
    first, second = _WRITTEN.get(a), _WRITTEN.get(b)
    return first is not None and second is not None and first.given == second.given


def placed(statement: Node) -> str:
    """A statement and its place, such as `normal at model.py:3`."""
    return f"{statement.label()}{f' at {statement.site}' if statement.site else ''}"


_RUN_AGAIN = (
    "is stated by code that was run before, and replaces its earlier statement, {place}. To keep "
    "both, state them in one loop, or in different code"
)
_REBOUND = (
    "is another array than the one that this variable held when it was observed, {place}; the new "
    "likelihood replaces the old one. To keep both, store the data in another variable"
)


def _repeats_last(v: Variable, new: _Written) -> bool:
    """Whether the last statement came from the very same place.

    A loop is the usual case; the search for repeated statements has been made then.
    """
    pairs = statements_of(v)
    last = _WRITTEN.get(pairs[-1][0]) if pairs else None
    same = last is not None and last.codes == new.codes and last.frames == new.frames
    return same and last is not None and (last.variable, last.cell) == (new.variable, new.cell)


def _replaces(new: _Written, old: Node, target: Data | None) -> str:
    """The reason why a statement replaces an earlier one, or nothing."""
    written = _WRITTEN.get(old)
    if written is None or new.same_run(written):
        return ""
    if new.repeats(written):
        return _RUN_AGAIN
    rebound = target is not None and new.rebinds(written) and not _is_held(target)
    return _REBOUND if rebound else ""


def _is_held(target: Data) -> bool:
    """Whether a top-level variable of the user's code still holds data."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "<module>" and not is_library(frame.f_globals.get("__name__")):
            return bool(_variables(Array(target), frame.f_globals))
        frame = frame.f_back
    return False


def withdraw(statement: Node) -> None:
    """Remove a statement from all unknowns."""
    for v in unknowns_above([statement]):
        pairs = statements_of(v)
        pairs[:] = [pair for pair in pairs if pair[0] is not statement]
