"""Where a function is written: its node in the syntax tree of its file.

A file is parsed once, as a whole, so that all positions are those of the file. A function is found
by its first line and name, a lambda by the span of its body, which tells apart several on a line.
"""

import ast
import inspect
import linecache
from types import CodeType, FunctionType
from typing import Any, NamedTuple

__all__ = ["Definition", "NoSource", "find_definition"]

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Span = tuple[int, int, int, int]  # first line and column, last line and column


class NoSource(Exception):
    """The source of a function cannot be found."""


class Definition(NamedTuple):
    """A function's node, which is shared and must be copied before it is changed."""

    node: FunctionNode
    class_name: str | None  # the class by whose name private names are mangled


class _File(NamedTuple):
    text: str
    functions: dict[tuple[int, str], list[Definition]]
    lambdas: dict[int, list[Definition]]


_FILES: dict[str, _File] = {}


def find_definition(function: FunctionType) -> Definition:
    """The definition of a function.

    Raises
    ------
    NoSource
        If there is no file, or the function is not in it.
    """
    code = function.__code__
    file = _parsed(code.co_filename, function.__globals__)
    if code.co_name == "<lambda>":
        found = _pick_lambda(code, file.lambdas.get(code.co_firstlineno, []))
    else:
        place = code.co_firstlineno, code.co_name
        found = [d for d in file.functions.get(place, []) if _fits(d.node, code)]
    if not found:
        raise NoSource(
            f"line {code.co_firstlineno} of {code.co_filename} does not define it (any more)"
        )
    return found[0]


def _parsed(filename: str, module_globals: dict[str, Any]) -> _File:
    if filename == "<string>" and module_globals.get("__name__") != "__main__":
        # What was executed from a text; `python -c` has a source of the same name.
        raise NoSource(f"{filename} cannot be read")
    linecache.checkcache(filename)
    text = "".join(linecache.getlines(filename, module_globals))
    known = _FILES.get(filename)
    if known is not None and known.text == text:
        return known
    if not text:
        raise NoSource(f"{filename} cannot be read")
    try:
        tree = ast.parse(text, filename)
    except SyntaxError as error:
        raise NoSource(f"{filename} cannot be parsed: {error}") from None
    file = _File(text, {}, {})
    _index(tree, None, file)
    _FILES[filename] = file
    return file


def _index(node: ast.AST, class_name: str | None, file: _File) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            line = min([child.lineno, *(d.lineno for d in child.decorator_list)])
            place = line, child.name
            file.functions.setdefault(place, []).append(Definition(child, class_name))
        elif isinstance(child, ast.Lambda):
            file.lambdas.setdefault(child.lineno, []).append(Definition(child, class_name))
        _index(child, child.name if isinstance(child, ast.ClassDef) else class_name, file)


def _fits(node: FunctionNode, code: CodeType) -> bool:
    """Whether the parameters are those of the code; a file may have changed since it was read."""
    spec = node.args
    names = [a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
    names += [a.arg for a in (spec.vararg, spec.kwarg) if a is not None]
    own = code.co_varnames[: len(names)]
    flags = (spec.vararg is not None, spec.kwarg is not None)
    own_flags = (
        bool(code.co_flags & inspect.CO_VARARGS),
        bool(code.co_flags & inspect.CO_VARKEYWORDS),
    )
    same = all(a == b or (a.startswith("__") and b.endswith(a)) for a, b in zip(names, own))
    return same and len(own) == len(names) and flags == own_flags


def _pick_lambda(code: CodeType, candidates: list[Definition]) -> list[Definition]:
    """The lambdas of a line that the code may belong to, the likeliest first."""
    fitting = [d for d in candidates if _fits(d.node, code)]
    hull = _hull(code)
    if hull is None:  # without columns: by what they compute
        return [d for d in fitting if _same_code(d.node, code)] or fitting
    around = [d for d in fitting if _contains(_body_span(d.node), hull)]
    return sorted(around, key=lambda d: _extent(_body_span(d.node)))


def _body_span(node: FunctionNode) -> Span:
    body = node.body
    assert isinstance(body, ast.expr)
    assert body.end_lineno is not None
    assert body.end_col_offset is not None
    return body.lineno, body.col_offset, body.end_lineno, body.end_col_offset


def _hull(code: CodeType) -> Span | None:
    """The smallest span around all instructions."""
    starts, ends = [], []
    for line, end_line, column, end_column in code.co_positions():
        if None in (line, end_line, column, end_column) or end_column == 0:
            continue  # the entry of a function has no columns
        starts.append((line, column))
        ends.append((end_line, end_column))
    return (*min(starts), *max(ends)) if starts else None  # type: ignore[return-value,type-var]


def _contains(outer: Span, inner: Span) -> bool:
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]


def _extent(span: Span) -> tuple[int, int]:
    return span[2] - span[0], span[3] - span[1]


def _same_code(node: FunctionNode, code: CodeType) -> bool:
    assert isinstance(node, ast.Lambda)
    compiled = compile(ast.Expression(node), code.co_filename, "eval")
    own = next(c for c in compiled.co_consts if isinstance(c, CodeType))
    # Names from outside are global here and free there: compare what does not depend on it.
    return own.co_consts == code.co_consts and set(own.co_names) | set(own.co_freevars) == set(
        code.co_names
    ) | set(code.co_freevars)
