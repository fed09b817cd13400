"""From a function to its converted one: find, rewrite, compile, bind.

The rewritten function is compiled under the original file name and with the original positions, so
that tracebacks, breakpoints and coverage are those of the user's file. It shares the globals and
the closure cells of the original.
"""

import ast
import builtins
import copy
import functools
import inspect
import sys
import weakref
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from . import directives, operators
from .definition import NoSource, find_definition
from .operators.builtins import STAGED
from .operators.call import CHANGING_FIRST
from .passes.assignment_expressions import lower_assignment_expressions
from .passes.bindings import bind_first
from .passes.build import OPERATORS, Namer, located
from .passes.calls import lower_calls
from .passes.conditions import lower_conditions
from .passes.control_flow import lower_control_flow
from .passes.directives import read_directives
from .passes.jumps import lower_jumps
from .passes.matching import lower_match
from .passes.plain_forms import plain_forms
from .passes.private_names import mangle_private_names
from .passes.refuse import Unsupported, refuse_unsupported
from .passes.tested import mark_tested
from .skipped import is_library

__all__ = ["NoSource", "Unsupported", "converted_code", "is_converted", "rewritten", "transform"]


class Rewritten(NamedTuple):
    """A function's tree after all passes."""

    tree: ast.FunctionDef
    names: frozenset[str]  # of generated functions


class _Converted(NamedTuple):
    code: CodeType
    source: "weakref.ref[CodeType]"  # tells whether the number is still that of this code


_CODES: dict[int, _Converted] = {}  # by the number of the original code: equal codes may differ
_MADE: dict[int, "weakref.ref[CodeType]"] = {}  # codes that came out of a conversion


def _forget(table: dict[int, Any], number: int, _: object) -> None:
    """Take an entry out of a table when its code is no more."""
    table.pop(number, None)


def is_converted(code: CodeType) -> bool:
    """Whether a code object is the outcome of a conversion."""
    made = _MADE.get(id(code))
    return made is not None and made() is code


def transform(function: FunctionType) -> FunctionType:
    """The converted function.

    Raises
    ------
    NoSource, Unsupported
        If it cannot be converted.
    """
    code = converted_code(function)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    closure = tuple(
        CellType(operators) if name == OPERATORS else cells[name] for name in code.co_freevars
    )
    made = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, closure
    )
    made.__kwdefaults__ = function.__kwdefaults__
    for name in ("__module__", "__qualname__", "__doc__", "__type_params__"):
        setattr(made, name, getattr(function, name))
    if sys.version_info >= (3, 14):
        made.__annotate__ = function.__annotate__
    else:
        made.__annotations__ = function.__annotations__
    made.__dict__.update(function.__dict__)
    made.__wrapped__ = function  # type: ignore[attr-defined]
    return made


def converted_code(function: FunctionType) -> CodeType:
    """The code of the converted function; each code object is converted once."""
    code = function.__code__
    known = _CODES.get(id(code))
    if known is not None and known.source() is code:
        return known.code
    made = _compiled(rewritten(function), function)
    forget = functools.partial(_forget, _CODES, id(code))
    _CODES[id(code)] = _Converted(made, weakref.ref(code, forget))
    return made


def rewritten(function: FunctionType) -> Rewritten:
    """The tree of a function after all passes."""
    node, class_name = find_definition(function)
    refuse_unsupported(node)
    node = copy.deepcopy(node)
    if isinstance(node, ast.Lambda):
        body: list[ast.stmt] = [located(ast.Return(node.body), node.body)]
        made = ast.FunctionDef("lambda_", node.args, body, [], type_params=[])
        node = located(made, node)
    assert isinstance(node, ast.FunctionDef)
    mangle_private_names(node, class_name)
    node.decorator_list = []
    node.returns = None
    node.type_params = []  # those that the body reads are in cells of the original
    node.type_params = []  # variables of a scope around the original, which are in its closure
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    for argument in [*every, node.args.vararg, node.args.kwarg]:
        if argument is not None:
            argument.annotation = None
    # Defaults are those of the original; what stands here only tells that there are some.
    node.args.defaults = [ast.Constant(None) for _ in node.args.defaults]
    node.args.kw_defaults = [d and ast.Constant(None) for d in node.args.kw_defaults]
    namer = Namer(node)
    namer.used.update(function.__code__.co_freevars)
    known = _Known(function)
    plain_forms(node)
    speaking = directives.set_loop_options, directives.set_element_type
    read_directives(node, known.value, *speaking, function.__code__.co_filename)
    lower_match(node, namer)
    mark_tested(node)
    lower_jumps(node, namer)
    lower_assignment_expressions(node, namer)
    lower_control_flow(node, namer, known.modules(namer.used))
    lower_conditions(node)
    lower_calls(node, known.is_plain)
    bind_first(node)
    return Rewritten(node, frozenset(namer.generated))


class _Known:
    """What names of a function stand for, as far as it is known when it is converted."""

    def __init__(self, function: FunctionType) -> None:
        code = function.__code__
        self.local = {*code.co_varnames, *code.co_cellvars}
        self.globals = function.__globals__
        self.cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        builtin = self.globals.get("__builtins__", builtins)
        self.builtins = builtin if isinstance(builtin, dict) else vars(builtin)

    def value(self, node: ast.expr) -> Any:
        """What a name, or an attribute of a module, stands for; None if it is not known."""
        if isinstance(node, ast.Attribute):
            owner = self.value(node.value)
            return getattr(owner, node.attr, None) if isinstance(owner, ModuleType) else None
        if not isinstance(node, ast.Name) or node.id in self.local:
            return None
        if node.id in self.cells:
            try:
                return self.cells[node.id].cell_contents
            except ValueError:  # not bound yet
                return None
        return self.globals.get(node.id, self.builtins.get(node.id))

    def modules(self, names: set[str]) -> set[str]:
        """Those of the names that stand for modules of libraries."""
        found = ((n, self.value(ast.Name(n, ast.Load()))) for n in names)
        return {n for n, v in found if isinstance(v, ModuleType) and is_library(v.__name__)}

    def is_plain(self, node: ast.expr) -> bool:
        """Whether what is called needs no conversion."""
        value = self.value(node)
        if value is None or any(value is function for function in CHANGING_FIRST):
            return False
        if isinstance(value, (type, BuiltinFunctionType)):
            if value in STAGED:
                return False
            if value.__module__ == "builtins":
                return True
        if isinstance(value, MethodType):
            return False  # it may draw random numbers: looked at when it is called
        module = getattr(value, "__module__", None)
        return isinstance(node, ast.Attribute) and callable(value) and is_library(module)


def _compiled(made: Rewritten, function: FunctionType) -> CodeType:
    """The code of a rewritten function, as if it stood where the original does."""
    code = function.__code__
    free = [*code.co_freevars, OPERATORS]
    # Free variables must be those of a function around it, of which its own name is none.
    made.tree.name = "<converted>"
    outer = ast.FunctionDef(
        "factory",
        ast.arguments([], [ast.arg(n) for n in free], None, [], [], None, []),
        [made.tree],
        [],
        type_params=[],
    )
    module = ast.Module([located(outer, made.tree)], [])
    ast.fix_missing_locations(module)
    compiled = compile(
        module, code.co_filename, "exec", flags=_future_flags(code), dont_inherit=True
    )
    factory = next(c for c in compiled.co_consts if isinstance(c, CodeType))
    inner = next(c for c in factory.co_consts if isinstance(c, CodeType))
    generated = made.names | {made.tree.name}
    return _renamed(inner, code.co_name, code.co_qualname, generated)


def _future_flags(code: CodeType) -> int:
    import __future__

    features = (getattr(__future__, name) for name in __future__.all_feature_names)
    mask = 0
    for feature in features:
        mask |= feature.compiler_flag
    return code.co_flags & mask


def _renamed(
    code: CodeType, name: str, qualname: str, generated: frozenset[str], converted: bool = True
) -> CodeType:
    """The code under the name by which the user knows it; generated functions are parts of it."""
    consts = []
    scope = (
        code.co_flags & inspect.CO_NEWLOCALS
    )  # else a class, whose methods are not converted yet
    converted = converted and bool(scope)
    for const in code.co_consts:
        if isinstance(const, CodeType):
            if const.co_name in generated:
                const = _renamed(const, name, qualname, generated, converted)
            else:
                inner = f"{qualname}{'.<locals>' if scope else ''}.{const.co_name}"
                const = _renamed(const, const.co_name, inner, generated, converted)
        consts.append(const)
    made = code.replace(co_name=name, co_qualname=qualname, co_consts=tuple(consts))
    if not converted:
        return made
    _MADE[id(made)] = weakref.ref(made, functools.partial(_forget, _MADE, id(made)))
    return made
