"""Rewriting of `if`, `while` and `for` as calls of operators.

    while i < n:          def get_state(): return (i, x)
        x = x * i         def set_state(state): nonlocal i, x; i, x = state
        i += 1            def loop_test(): return i < n
                          def loop_body(): nonlocal i, x; x = x * i; i += 1
                          ag__.while_stmt(loop_test, loop_body, get_state, set_state, ('i', 'x'))

`carried.py` determines the state of a statement.
"""

import ast
from collections.abc import Iterable, Sequence

from ..analysis.activity import activity
from .bindings import head_of
from .build import (
    Namer,
    ag_call,
    assign,
    assign_name,
    define,
    header,
    is_opaque,
    lazy,
    located,
    name,
    text,
)
from .carried import Carried, CarriedSymbols
from .items import lower_items
from .jumps import RETURN_VALUE

__all__ = ["lower_control_flow"]


def lower_control_flow(
    node: ast.FunctionDef,
    namer: Namer,
    modules: Iterable[str] = (),
    unsure: Iterable[str] = (),
) -> None:
    """Rewrite a function and its inner functions, in place.

    `modules` are names of modules, which have no state; `unsure` are variables of enclosing
    functions that may be undefined.
    """
    _ControlFlowLowering(node, namer, frozenset(modules), frozenset(unsure)).run()


class _ControlFlowLowering:
    def __init__(
        self, node: ast.FunctionDef, namer: Namer, modules: frozenset[str], unsure: frozenset[str]
    ) -> None:
        self.node, self.namer, self.modules = node, namer, modules
        node.body = _declared_first(node.body)
        self.carried = Carried(node, modules, unsure)
        self.local_names, self.shared = self.carried.local_names, self.carried.shared
        self.writable = self.local_names | self.shared

    def run(self) -> None:
        """Rewrite the body."""
        body = self.block(self.node.body)
        self.node.local_names = self.local_names - self.carried.parameters  # type: ignore[attr-defined]
        names = sorted(self.carried.managed - self.carried.parameters)
        assignments = [assign_name(n, ag_call("Undefined", text(n))) for n in names]
        head = head_of(body)
        body[head:head] = [located(s, self.node.body[0]) for s in assignments]
        self.node.body = body

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        rewritten: list[ast.stmt] = []
        for statement in body:
            for new_statement in self.statement(statement):
                rewritten.append(new_statement)
        return lower_items(rewritten, self.writable, self.namer)

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        match node:
            case ast.If():
                return self.if_statement(node)
            case ast.While():
                return self.while_statement(node)
            case ast.For():
                return self.for_statement(node)
            case ast.With():
                node.body = self.block(node.body)
            case ast.Try() | ast.TryStar():
                return [self.trial(node)]
            case ast.FunctionDef() if not is_opaque(node):
                unsure = frozenset(self.carried.managed | self.carried.unsure)
                lower_control_flow(node, self.namer, self.modules, unsure)
            case ast.Delete():
                return self.delete(node)
            case ast.AugAssign(target=ast.Name(id=target)):
                checks: list[ast.stmt] = []
                if getattr(node.target, "unsure", False):
                    checks.append(assign_name(target, ag_call("ld", name(target))))
                if isinstance(node.value, _DISPLAYS):
                    checks.append(ast.Expr(ag_call("refuse_second_name", name(target))))
                return [*(located(s, node) for s in checks), node]
        return [node]

    def delete(self, node: ast.Delete) -> list[ast.stmt]:
        statements: list[ast.stmt] = []
        for target in node.targets:
            if isinstance(target, ast.Name) and target.id in self.carried.managed:
                statements.append(ast.Expr(ag_call("ld", name(target.id))))
                statements.append(assign_name(target.id, ag_call("Undefined", text(target.id))))
            else:
                if isinstance(target, ast.Subscript) and _is_plain(target.value):
                    statements.append(ast.Expr(ag_call("refuse_second_name", target.value)))
                statements.append(ast.Delete([target]))
        return [located(s, node) for s in statements]

    def trial(self, node: ast.Try | ast.TryStar) -> ast.stmt:
        node.body = self.block(node.body)
        node.orelse = self.block(node.orelse)
        node.finalbody = self.block(node.finalbody)
        if node.finalbody and _returns(node):
            body = ast.With([ast.withitem(ag_call("cleanup"))], node.finalbody)
            node.finalbody = [located(body, node.finalbody[0])]
        for handler in node.handlers:
            handler.body = self.block(handler.body)
            if isinstance(node, ast.Try) and _catches_all(handler):
                self.reraise_staged(handler)
            if handler.name in self.carried.managed:
                # Python removes the name of the exception at the end of the handler.
                variable = handler.name
                handler.name = self.namer.fresh(f"{variable}_")
                removed = assign_name(variable, ag_call("Undefined", text(variable)))
                inner = ast.Try(handler.body, [], [], [removed])
                handler.body = [assign_name(variable, name(handler.name)), inner]
                handler.body = [located(s, handler) for s in handler.body]
        return node

    def reraise_staged(self, handler: ast.ExceptHandler) -> None:
        """Make a handler raise exceptions of staged statements again.

        Such an exception leaves a statement while it is built, and must not be caught by the user's
        code.
        """
        if handler.type is None:
            handler.type = located(name("BaseException"), handler)
        if handler.name is None:
            handler.name = self.namer.fresh("error")
        check = ast.Expr(ag_call("caught", name(handler.name)))
        handler.body.insert(0, located(check, handler))

    def if_statement(self, node: ast.If) -> list[ast.stmt]:
        state = self.carried.states[node]
        body = self.function("if_body", self.block(node.body), state)
        orelse = self.function("else_body", self.block(node.orelse), state)
        get, put = self.access(state)
        functions = [name(f.name) for f in (body, orelse, get, put)]
        counts = [text(n) for n in (state.needed, state.shared)[: 1 + bool(state.shared)]]
        call = ag_call("if_stmt", node.test, *functions, _names(state), *counts)
        if operands := getattr(node, "operands", None):
            call.keywords.append(ast.keyword("operands", text(operands)))
        left = getattr(node, "left", ("", ""))
        flags = tuple(f for f in getattr(node, "flags", {}).items() if f[0] in state.symbols)
        plain = tuple(filter(self.is_plain, state.symbols[: state.needed]))
        user_symbols = set(state.symbols) - self.namer.generated
        if user_symbols and (any(left) or flags):
            hints = {"left": left, "flags": flags, "plain": plain}
            call.keywords += [ast.keyword(word, text(value)) for word, value in hints.items()]
        return [located(s, header(node)) for s in (get, put, body, orelse, ast.Expr(call))]

    def is_plain(self, symbol: str) -> bool:
        """Whether a variable of the user is dead after a `return`.

        No inner function or outer scope can then read it.
        """
        hidden = self.local_names - self.carried.activity.captured - self.namer.generated
        return symbol in hidden

    def while_statement(self, node: ast.While) -> list[ast.stmt]:
        state = self.carried.states[node]
        test = self.function("loop_test", [ast.Return(node.test)], state)
        body = self.function("loop_body", self.block(node.body), state)
        get, put = self.access(state)
        functions = [name(f.name) for f in (test, body, get, put)]
        call = ag_call("while_stmt", *functions, _names(state))
        call.keywords = _options(node)
        return [located(s, header(node)) for s in (get, put, test, body, ast.Expr(call))]

    def for_statement(self, node: ast.For) -> list[ast.stmt]:
        state = self.carried.states[node]
        single = isinstance(node.target, ast.Name)
        element = self.namer.fresh(f"{node.target.id}_" if single else "element")  # type: ignore[attr-defined]
        target = self.block([located(assign(node.target, name(element)), node.target)])
        body = self.function("loop_body", [*target, *self.block(node.body)], state, [element])
        get, put = self.access(state)
        definitions = [get, put, body]
        extra: ast.expr = text(None)
        test = getattr(node, "extra_test", None)
        if test is not None:
            function = self.function("extra_test", [ast.Return(test)], state)
            extra = name(function.name)
            definitions.append(function)
        functions = [name(f.name) for f in (body, get, put)]
        call = ag_call("for_stmt", node.iter, extra, *functions, _names(state))
        call.keywords = _options(node)
        names, written = getattr(node, "index_loop", ((), ()))
        carried = {*state.symbols}
        if names and test is None and not call.keywords and carried.issuperset(written):
            is_carried = node.target.id in carried  # type: ignore[attr-defined]
            call.keywords = [] if is_carried else [ast.keyword("index_names", text(names))]
        return [located(s, header(node)) for s in (*definitions, ast.Expr(call))]

    def function(
        self,
        name: str,
        body: list[ast.stmt],
        state: CarriedSymbols,
        parameters: Iterable[str] = (),
    ) -> ast.FunctionDef:
        """A generated function that works on the variables of the user's function."""
        symbols = activity(body)
        changed = (symbols.binds | symbols.removes | symbols.rebound) & self.writable
        return define(
            self.namer.fresh(name),
            body,
            parameters,
            nonlocals=changed - self.carried.activity.globals,
            globals=changed & self.carried.activity.globals,
        )

    def access(self, state: CarriedSymbols) -> tuple[ast.FunctionDef, ast.FunctionDef]:
        """The functions that read and write the state."""
        reads: list[ast.expr] = []
        writes: list[ast.expr] = []
        for symbol in state.symbols:
            path = symbol.split(".")
            if len(path) > 1:
                value = _attribute(path, ast.Load())
                reads.append(ag_call("ldu", lazy(value), text(symbol)))
                writes.append(_attribute(path, ast.Store()))
            elif symbol in self.local_names:
                reads.append(name(symbol))
                writes.append(ast.Name(symbol, ast.Store()))
            else:
                reads.append(ag_call("ldu", lazy(name(symbol)), text(symbol)))
                target_name = symbol if symbol in self.shared else "_"
                writes.append(ast.Name(target_name, ast.Store()))
        get = define(self.namer.fresh("get_state"), [ast.Return(ast.Tuple(reads, ast.Load()))])
        parameter = self.namer.fresh("state")
        put: list[ast.stmt] = []
        name_targets = [w for w in writes if isinstance(w, ast.Name)]
        if len(name_targets) == len(writes):
            if writes:
                put.append(assign(ast.Tuple(writes, ast.Store()), name(parameter)))
        else:
            # Objects without the attribute must not get one that is undefined.
            for index, target in enumerate(writes):
                value = ast.Subscript(name(parameter), text(index), ast.Load())
                if isinstance(target, ast.Attribute):
                    call = ag_call("set_attribute", target.value, text(target.attr), value)
                    put.append(ast.Expr(call))
                else:
                    put.append(assign(target, value))
        changed = {w.id for w in name_targets if w.id != "_"}
        return get, define(
            self.namer.fresh("set_state"),
            put,
            [parameter],
            nonlocals=changed - self.carried.activity.globals,
            globals=changed & self.carried.activity.globals,
        )


def _declared_first(body: list[ast.stmt]) -> list[ast.stmt]:
    """Move the `global` and `nonlocal` declarations of a body to its front.

    A declaration holds for the whole body.
    """
    declarations: list[ast.stmt] = []

    class Collector(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                declarations.append(node)
                return located(ast.Pass(), node)
            opens_scope = isinstance(
                node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
            )
            return node if opens_scope else self.generic_visit(node)

    module = ast.Module(body, [])
    Collector().visit(module)
    first = head_of(module.body)
    return [*module.body[:first], *declarations, *module.body[first:]]


_DISPLAYS = (ast.List, ast.Tuple, ast.ListComp, ast.Dict, ast.DictComp)


def _is_plain(node: ast.expr) -> bool:
    """Whether an expression is a variable or an attribute of one.

    Such an expression can be read twice.
    """
    return isinstance(node, ast.Name) or (
        isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    )


def _returns(node: ast.Try | ast.TryStar) -> bool:
    """Whether a return value may be assigned before a `finally` begins."""
    parts = [*node.body, *node.orelse, *node.handlers]
    names = (n for part in parts for n in ast.walk(part) if isinstance(n, ast.Name))
    return any(n.id.startswith(RETURN_VALUE) for n in names)


def _catches_all(handler: ast.ExceptHandler) -> bool:
    kinds = [*handler.type.elts] if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(
        kind is None or (isinstance(kind, ast.Name) and kind.id == "BaseException")
        for kind in kinds
    )


def _attribute(path: Sequence[str], context: ast.expr_context) -> ast.expr:
    value: ast.expr = name(path[0])
    for step in path[1:-1]:
        value = ast.Attribute(value, step, ast.Load())
    return ast.Attribute(value, path[-1], context)


def _names(state: CarriedSymbols) -> ast.expr:
    return ast.Tuple([text(symbol) for symbol in state.symbols], ast.Load())


def _options(node: ast.stmt) -> list[ast.keyword]:
    return list(getattr(node, "options", ()))
