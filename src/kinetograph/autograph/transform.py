"""The conversion of a function: find, rewrite, compile and bind.

The rewritten function is compiled under the original file name and with the original positions, so
that tracebacks, breakpoints and coverage refer to the user's file. It shares the globals and the
closure cells of the original.
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
from .passes.index_loops import mark_index_loops
from .passes.jumps import lower_jumps
from .passes.matching import lower_match
from .passes.plain_forms import plain_forms
from .passes.private_names import mangle_private_names
from .passes.truth_operands import mark_tested
from .passes.unsupported import Unsupported, refuse_unsupported
from .skipped_libraries import is_library

__all__ = ["NoSource", "Unsupported", "converted_code", "is_converted", "rewritten", "transform"]


class Rewritten(NamedTuple):
    """A function's tree after all passes."""

    tree: ast.FunctionDef
    names: frozenset[str]  # names of generated functions


class _Converted(NamedTuple):
    code: CodeType
    source: "weakref.ref[CodeType]"  # shows whether the id still belongs to this code


_CONVERTED_CODES: dict[
    int, _Converted
] = {}  # by the id of the original code: equal codes may differ
_CONVERSIONS: dict[int, "weakref.ref[CodeType]"] = {}  # code objects made by a conversion, by id


def _forget(table: dict[int, Any], key: int, _: object) -> None:
    """Remove the entry of a code object that was deleted."""
    table.pop(key, None)


def is_converted(code: CodeType) -> bool:
    """Whether a code object was made by a conversion."""
    reference = _CONVERSIONS.get(id(code))
    return reference is not None and reference() is code


def transform(function: FunctionType) -> FunctionType:
    """Convert a function.

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
    converted = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, closure
    )
    converted.__kwdefaults__ = function.__kwdefaults__
    for name in ("__module__", "__qualname__", "__doc__", "__type_params__"):
        setattr(converted, name, getattr(function, name))
    if sys.version_info >= (3, 14):
        converted.__annotate__ = function.__annotate__
    else:
        converted.__annotations__ = function.__annotations__
    converted.__dict__.update(function.__dict__)
    converted.__wrapped__ = function  # type: ignore[attr-defined]
    return converted


def converted_code(function: FunctionType) -> CodeType:
    """The code of the converted function; each code is converted once."""
    code = function.__code__
    cached = _CONVERTED_CODES.get(id(code))
    if cached is not None and cached.source() is code:
        return cached.code
    converted = _compiled(rewritten(function), function)
    forget = functools.partial(_forget, _CONVERTED_CODES, id(code))
    _CONVERTED_CODES[id(code)] = _Converted(converted, weakref.ref(code, forget))
    return converted


def rewritten(function: FunctionType) -> Rewritten:
    """The tree of a function after all passes.

    Raises
    ------
    NoSource, Unsupported
        If it cannot be converted.
    """
    node, class_name = find_definition(function)
    refuse_unsupported(node)
    node = copy.deepcopy(node)
    if isinstance(node, ast.Lambda):
        body: list[ast.stmt] = [located(ast.Return(node.body), node.body)]
        definition = ast.FunctionDef("lambda_", node.args, body, [], type_params=[])
        node = located(definition, node)
    assert isinstance(node, ast.FunctionDef)
    mangle_private_names(node, class_name)
    node.decorator_list = []
    node.returns = None
    node.type_params = []  # the body reads type parameters from cells of the original
    node.type_params = []  # they are variables of a scope around it, in its closure
    named_arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    for argument in [*named_arguments, node.args.vararg, node.args.kwarg]:
        if argument is not None:
            argument.annotation = None
    # The defaults are taken from the original; these constants only keep their number.
    node.args.defaults = [ast.Constant(None) for _ in node.args.defaults]
    node.args.kw_defaults = [d and ast.Constant(None) for d in node.args.kw_defaults]
    namer = Namer(node)
    namer.used.update(function.__code__.co_freevars)
    names = _OuterNames(function)
    plain_forms(node)
    mark_index_loops(node, names.value)
    directive_functions = directives.set_loop_options, directives.set_element_type
    read_directives(node, names.value, *directive_functions, function.__code__.co_filename)
    lower_match(node, namer)
    mark_tested(node)
    lower_jumps(node, namer)
    lower_assignment_expressions(node, namer)
    lower_control_flow(node, namer, names.modules(namer.used))
    lower_conditions(node)
    lower_calls(node, names.is_plain)
    bind_first(node)
    return Rewritten(node, frozenset(namer.generated))


class _OuterNames:
    """The objects of outer names, as far as known at conversion."""

    def __init__(self, function: FunctionType) -> None:
        code = function.__code__
        self.local = {*code.co_varnames, *code.co_cellvars}
        self.globals = function.__globals__
        self.cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        builtin = self.globals.get("__builtins__", builtins)
        self.builtins = builtin if isinstance(builtin, dict) else vars(builtin)

    def value(self, node: ast.expr) -> Any:
        """The object of a name or of an attribute of a module.

        None if it is not known.
        """
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
        """The names that are modules of libraries."""
        values = ((n, self.value(ast.Name(n, ast.Load()))) for n in names)
        return {n for n, v in values if isinstance(v, ModuleType) and is_library(v.__name__)}

    def is_plain(self, node: ast.expr) -> bool:
        """Whether a called function needs no conversion."""
        value = self.value(node)
        if value is None or any(value is function for function in CHANGING_FIRST):
            return False
        if isinstance(value, (type, BuiltinFunctionType)):
            if value in STAGED:
                return False
            if value.__module__ == "builtins":
                return True
        if isinstance(value, MethodType):
            return False  # it may draw random numbers, which is checked when it is called
        module = getattr(value, "__module__", None)
        return isinstance(node, ast.Attribute) and callable(value) and is_library(module)


def _compiled(result: Rewritten, function: FunctionType) -> CodeType:
    """The code of a rewritten function, at the place of the original."""
    code = function.__code__
    free = [*code.co_freevars, OPERATORS]
    # Free variables must be variables of an enclosing function; its own name must not be one.
    result.tree.name = "<converted>"
    outer = ast.FunctionDef(
        "factory",
        ast.arguments([], [ast.arg(n) for n in free], None, [], [], None, []),
        [result.tree],
        [],
        type_params=[],
    )
    module = ast.Module([located(outer, result.tree)], [])
    ast.fix_missing_locations(module)
    compiled = compile(
        module, code.co_filename, "exec", flags=_future_flags(code), dont_inherit=True
    )
    factory = next(c for c in compiled.co_consts if isinstance(c, CodeType))
    inner = next(c for c in factory.co_consts if isinstance(c, CodeType))
    generated = result.names | {result.tree.name}
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
    """The code under the user's name.

    Generated functions inside it get the same name, because they are parts of it.
    """
    consts = []
    scope = code.co_flags & inspect.CO_NEWLOCALS  # zero in a class: its methods are not converted
    converted = converted and bool(scope)
    for const in code.co_consts:
        if isinstance(const, CodeType):
            if const.co_name in generated:
                const = _renamed(const, name, qualname, generated, converted)
            else:
                inner = f"{qualname}{'.<locals>' if scope else ''}.{const.co_name}"
                const = _renamed(const, const.co_name, inner, generated, converted)
        consts.append(const)
    renamed = code.replace(co_name=name, co_qualname=qualname, co_consts=tuple(consts))
    if not converted:
        return renamed
    _CONVERSIONS[id(renamed)] = weakref.ref(
        renamed, functools.partial(_forget, _CONVERSIONS, id(renamed))
    )
    return renamed
