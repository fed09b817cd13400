"""The definition of a function in the syntax tree of its file.

A file is parsed once, as a whole, so that all positions are positions in the file. A function is
found by its first line and its name. A lambda is found by the span of its body, which distinguishes
several lambdas on a line.
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
    """A function's node, which is shared and must be copied before changes."""

    node: FunctionNode
    class_name: str | None  # the class whose name mangles private names


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
        If the file cannot be read, or does not contain the function.
    """
    code = function.__code__
    file = _parsed(code.co_filename, function.__globals__)
    if code.co_name == "<lambda>":
        candidates = _pick_lambda(code, file.lambdas.get(code.co_firstlineno, []))
    else:
        key = code.co_firstlineno, code.co_name
        candidates = [d for d in file.functions.get(key, []) if _fits(d.node, code)]
    if not candidates:
        raise NoSource(
            f"line {code.co_firstlineno} of {code.co_filename} does not define it (any longer)"
        )
    return candidates[0]


def _parsed(filename: str, module_globals: dict[str, Any]) -> _File:
    if filename == "<string>" and module_globals.get("__name__") != "__main__":
        # Code executed from a text; the source of `python -c` has the same name.
        raise NoSource(f"{filename} cannot be read")
    linecache.checkcache(filename)
    text = "".join(linecache.getlines(filename, module_globals))
    cached = _FILES.get(filename)
    if cached is not None and cached.text == text:
        return cached
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
            key = line, child.name
            file.functions.setdefault(key, []).append(Definition(child, class_name))
        elif isinstance(child, ast.Lambda):
            file.lambdas.setdefault(child.lineno, []).append(Definition(child, class_name))
        _index(child, child.name if isinstance(child, ast.ClassDef) else class_name, file)


def _fits(node: FunctionNode, code: CodeType) -> bool:
    """Whether a node has the parameters of the code.

    They differ if the file has changed since it was imported.
    """
    spec = node.args
    names = [a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
    names += [a.arg for a in (spec.vararg, spec.kwarg) if a is not None]
    code_names = code.co_varnames[: len(names)]
    flags = (spec.vararg is not None, spec.kwarg is not None)
    code_flags = (
        bool(code.co_flags & inspect.CO_VARARGS),
        bool(code.co_flags & inspect.CO_VARKEYWORDS),
    )
    equal = all(a == b or (a.startswith("__") and b.endswith(a)) for a, b in zip(names, code_names))
    return equal and len(code_names) == len(names) and flags == code_flags


def _pick_lambda(code: CodeType, candidates: list[Definition]) -> list[Definition]:
    """The lambdas on a line that fit the code, best match first."""
    fitting = [d for d in candidates if _fits(d.node, code)]
    hull = _hull(code)
    if hull is None:  # without column numbers, compare the compiled code
        return [d for d in fitting if _same_code(d.node, code)] or fitting
    enclosing = [d for d in fitting if _contains(_body_span(d.node), hull)]
    return sorted(enclosing, key=lambda d: _extent(_body_span(d.node)))


def _body_span(node: FunctionNode) -> Span:
    body = node.body
    assert isinstance(body, ast.expr)
    assert body.end_lineno is not None
    assert body.end_col_offset is not None
    return body.lineno, body.col_offset, body.end_lineno, body.end_col_offset


def _hull(code: CodeType) -> Span | None:
    """The smallest span that contains all instructions."""
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
    """Whether a lambda compiles to equal code."""
    assert isinstance(node, ast.Lambda)
    compiled = compile(ast.Expression(node), code.co_filename, "eval")
    lambda_code = next(c for c in compiled.co_consts if isinstance(c, CodeType))
    # Outer variables are global here, but may be free in the original: join both kinds of names.
    return lambda_code.co_consts == code.co_consts and set(lambda_code.co_names) | set(
        lambda_code.co_freevars
    ) == set(code.co_names) | set(code.co_freevars)
