"""Functions and syntax trees from source text, for tests of the converter's inside."""

import ast
import itertools
import linecache
import textwrap
from types import FunctionType
from typing import Any

from kinetograph.autograph import operators
from kinetograph.autograph.passes.build import OPERATORS, Namer

_numbers = itertools.count()


def module(source: str, **names: Any) -> dict[str, Any]:
    """The names that a source defines, in a file that only `linecache` knows, as of a notebook."""
    source = textwrap.dedent(source)
    file = f"<source {next(_numbers)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    defined: dict[str, Any] = {"__name__": "user_module", "__file__": file, **names}
    exec(compile(source, file, "exec", dont_inherit=True), defined)
    return defined


def function(source: str, **names: Any) -> FunctionType:
    """The last function that a piece of source defines."""
    made = [v for v in module(source, **names).values() if isinstance(v, FunctionType)]
    return made[-1]


def tree(source: str) -> ast.FunctionDef:
    """The syntax tree of one function."""
    (node,) = ast.parse(textwrap.dedent(source)).body
    assert isinstance(node, ast.FunctionDef)
    return node


def rewritten(source: str, lower: Any, *arguments: Any) -> str:
    """What a pass `lower(node, namer, *arguments)` makes of a function."""
    node = tree(source)
    lower(node, Namer(node), *arguments)
    return ast.unparse(node)


def normal(source: str) -> str:
    """A piece of source as `ast.unparse` writes it."""
    return ast.unparse(ast.parse(textwrap.dedent(source)))


def runs(text: str, **names: Any) -> Any:
    """The function that converted source text defines, with the operators at hand."""
    names |= {OPERATORS: operators}
    exec(compile(text, "<converted>", "exec", dont_inherit=True), names)
    return [v for v in names.values() if isinstance(v, FunctionType)][-1]
