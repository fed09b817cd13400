"""Rewriting of `break`, `continue`, `return` and loop `else` with flags.

    while i < n:                        break_ = False
        if x[i] > 3:                    while not break_ and i < n:
            break                           if x[i] > 3:
        i += 1                                  break_ = True
                                            else:
                                                i += 1

Statements behind an `if` with a branch that always jumps move into the other branch. Statements
behind a statement that may have jumped are guarded by the flag of the jump; where the guard skips
them, the flag is set again, so that its value is known there. A loop whose body jumps in several
ways has one flag for all of them. Flags that are never read are removed. The value of an early
`return` is kept in a variable for the single `return` at the end.

A conditional carries hints on which of its branches never reach their end, and on the flags that
show this while the graph is built. Variables of a branch that returns are not read by the following
statements; variables of a branch that jumps otherwise may be undefined there.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from .build import Namer, ag_call, assign_name, is_opaque, located, name, negation, text

__all__ = ["RETURN_VALUE", "lower_jumps"]

RETURN_VALUE = "retval_"
FALL, BREAK, CONTINUE, RETURN = "fall", "break", "continue", "return"


@dataclass
class _PythonLoop:
    """The flags of a loop; empty for jumps that do not occur."""

    broken: str
    skipped: str  # set by every jump, if there are several kinds
    jumped: str  # the flag that every jump in the body sets


@dataclass
class _Function:
    """The flags of a function."""

    returned: str
    value: str
    needed: set[str] = field(default_factory=set)  # flags that are read somewhere


def lower_jumps(node: ast.FunctionDef, namer: Namer) -> None:
    """Rewrite a function and its inner functions, in place."""
    returned = "return" in _exits([*node.body[:-1]]) or not _plain_end(node.body)
    function = _Function("", "")
    body = node.body
    if returned:
        function.value = namer.fresh(RETURN_VALUE)
        function.returned = namer.fresh("do_return")
        if FALL in _exits(body):
            body = [*body, located(ast.Return(None), body[-1])]
    lowered = _JumpLowering(function, namer).block(body, None)
    if returned:
        assignments: list[ast.stmt] = [assign_name(function.value, ag_call("UndefinedReturnValue"))]
        if function.returned in function.needed:
            assignments.insert(0, assign_name(function.returned, text(False)))
        end = ast.Return(ag_call("retval", name(function.value)))
        head = _docstring(lowered)
        lowered[head:head] = [located(s, node.body[0]) for s in assignments]
        lowered.append(located(end, node.body[-1]))
    node.body = _without_unread(lowered, namer.generated, function)


def _docstring(body: Sequence[ast.stmt]) -> int:
    """The number of statements that form the docstring: 0 or 1."""
    first = body[0] if body else None
    return int(
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )


def _plain_end(body: Sequence[ast.stmt]) -> bool:
    """Whether a function returns at most at its end."""
    return not body or isinstance(body[-1], ast.Return) or RETURN not in _exits([body[-1]])


def _exits(body: Sequence[ast.stmt]) -> set[str]:
    """The ways in which a block may be left, without exceptions."""
    exits: set[str] = set()
    for statement in body:
        ways = _ways(statement)
        exits |= ways - {FALL}
        if FALL not in ways:
            return exits
    return exits | {FALL}


def _ways(node: ast.stmt) -> set[str]:
    match node:
        case ast.Break():
            return {BREAK}
        case ast.Continue():
            return {CONTINUE}
        case ast.Return():
            return {RETURN}
        case ast.Raise():
            return set()
        case ast.If():
            return _exits(node.body) | _exits(node.orelse)
        case ast.While() | ast.For():
            inner = _exits(node.body)
            endless = isinstance(node, ast.While) and _is_true(node.test)
            after = _exits(node.orelse) if not endless else set()
            ends = {FALL} if BREAK in inner else set()
            return (inner & {RETURN}) | after | ends
        case ast.With():
            return _exits(node.body) | {FALL}  # it may swallow an exception
        case ast.Try() | ast.TryStar():
            return _try_exits(node)
        case _:
            return {FALL}


def _try_exits(node: ast.Try | ast.TryStar) -> set[str]:
    exits = _exits([*node.body, *node.orelse])
    for handler in node.handlers:
        exits |= _exits(handler.body)
    return exits


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and bool(node.value)


class _JumpLowering:
    def __init__(self, function: _Function, namer: Namer) -> None:
        self.function = function
        self.namer = namer
        self.finals = 0  # number of enclosing `try` statements with a `finally`

    def block(self, body: Sequence[ast.stmt], loop: _PythonLoop | None) -> list[ast.stmt]:
        """An equivalent block without jumps."""
        rewritten: list[ast.stmt] = []
        for index, statement in enumerate(body):
            ways = _ways(statement)
            following = body[index + 1 :]
            if isinstance(statement, (ast.Break, ast.Continue, ast.Return)):
                return rewritten + self.jump(statement, loop)
            if isinstance(statement, ast.If) and ways - {FALL} and following:
                # The following statements belong to the branch that reaches them.
                if FALL not in _exits(statement.body):
                    statement.orelse = [*statement.orelse, *following]
                    following = []
                elif FALL not in _exits(statement.orelse):
                    statement.body = [*statement.body, *following]
                    following = []
            if isinstance(statement, ast.If):
                self.annotate(statement, _exits(statement.body), _exits(statement.orelse), loop)
            rewritten += self.statement(statement, loop)
            if FALL not in ways:
                return rewritten
            if following and ways - {FALL}:
                return [*rewritten, self.guard(ways - {FALL}, following, loop)]
            if not following:
                return rewritten
        return rewritten

    def guard(
        self, ways: set[str], statements: Sequence[ast.stmt], loop: _PythonLoop | None
    ) -> ast.stmt:
        """An `if` around statements that run only if no jump was made.

        `ways` are the jumps that the preceding statement may have made.
        """
        flag = self.jumped(loop)
        exits = _exits(statements)
        otherwise: list[ast.stmt] = [assign_name(flag, text(True))] if exits - {FALL} else []
        guard = ast.If(self.unset([flag]), self.block(statements, loop), otherwise)
        self.annotate(guard, exits, ways, loop)
        return located(guard, statements[0])

    def annotate(
        self, node: ast.If, body: set[str], orelse: set[str], loop: _PythonLoop | None
    ) -> None:
        """Attach hints on its branches to a conditional.

        `left` says how each branch is left, and `flags` names the flags that show it.
        """
        node.left = self.left(body), self.left(orelse)  # type: ignore[attr-defined]
        node.flags = {self.jumped(loop): "jump"}  # type: ignore[attr-defined]
        node.flags[self.function.returned] = self.left({RETURN})  # type: ignore[attr-defined]

    def jumped(self, loop: _PythonLoop | None) -> str:
        """The flag that all jumps out of a block set."""
        return loop.jumped if loop is not None else self.function.returned

    def left(self, ways: set[str]) -> str:
        """The way in which a branch is left before its end.

        "return", "jump", or an empty text if the branch may reach its end.
        """
        if FALL in ways or not ways:
            return ""
        return "return" if ways == {RETURN} and not self.finals else "jump"

    def jump(self, node: ast.stmt, loop: _PythonLoop | None) -> list[ast.stmt]:
        statements: list[ast.stmt] = []
        if isinstance(node, ast.Return):
            if not self.function.value:
                return [node]  # the only `return`, at the end of the function
            statements.append(assign_name(self.function.value, node.value or text(None)))
            statements.append(assign_name(self.function.returned, text(True)))
        elif loop is not None and isinstance(node, ast.Break):
            statements.append(assign_name(loop.broken, text(True)))
        if loop is not None and loop.skipped:
            statements.append(assign_name(loop.skipped, text(True)))
        return [located(s, node) for s in statements]

    def unset(self, flags: Sequence[str]) -> ast.expr:
        """The test that none of these flags is set."""
        self.function.needed.update(flags)
        tests = [negation(name(flag)) for flag in flags]
        return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)

    def statement(self, node: ast.stmt, loop: _PythonLoop | None) -> list[ast.stmt]:
        """Rewrite a statement that is not a jump."""
        match node:
            case ast.FunctionDef():
                if not is_opaque(node):
                    lower_jumps(node, self.namer)
            case ast.While() | ast.For():
                return self.loop(node, loop)
            case ast.If() | ast.With():
                node.body = self.block(node.body, loop)
                if isinstance(node, ast.If):
                    node.orelse = self.block(node.orelse, loop)
            case ast.Try() | ast.TryStar():
                return self.trial(node, loop)
        return [node]

    def trial(self, node: ast.Try | ast.TryStar, loop: _PythonLoop | None) -> list[ast.stmt]:
        ways = _exits(node.body) - {FALL}
        self.finals += bool(node.finalbody)
        # The `else` runs only if the body came to its end.
        guarded = bool(node.orelse and ways)
        node.orelse = (
            [self.guard(ways, node.orelse, loop)] if guarded else self.block(node.orelse, loop)
        )
        node.body = self.block(node.body, loop)
        for handler in node.handlers:
            handler.body = self.block(handler.body, loop)
        self.finals -= bool(node.finalbody)
        node.finalbody = self.block(node.finalbody, loop)
        return [node]

    def loop(self, node: ast.While | ast.For, outer: _PythonLoop | None) -> list[ast.stmt]:
        jumps = _exits(node.body) - {FALL}
        endless = isinstance(node, ast.While) and _is_true(node.test) and BREAK not in jumps
        broken = self.namer.fresh("break_") if BREAK in jumps else ""
        needs_common_flag = CONTINUE in jumps or len(jumps) > 1
        skipped = self.namer.fresh("continue_") if needs_common_flag else ""
        flags = _PythonLoop(broken, skipped, skipped or broken or self.function.returned)
        body = self.block(node.body, flags)
        if skipped in self.function.needed:
            body.insert(0, located(assign_name(skipped, text(False)), node.body[0]))
        node.body = body
        statements: list[ast.stmt] = []
        if broken:
            statements.append(located(assign_name(broken, text(False)), node))
        end_flags = [self.function.returned] if RETURN in jumps else []
        end_flags += [broken] if broken else []
        if end_flags:
            no_jump = self.unset(end_flags)
            if isinstance(node, ast.For):
                node.extra_test = located(no_jump, node)  # type: ignore[attr-defined]
            else:
                tests = no_jump.values if isinstance(no_jump, ast.BoolOp) else [no_jump]
                if not _is_true(node.test):
                    tests = [*tests, node.test]
                condition = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
                node.test = located(condition, node.test)
        statements.append(node)
        if RETURN in jumps and endless:
            statements.append(located(assign_name(self.function.returned, text(True)), node))
        if RETURN in jumps and outer is not None and outer.skipped:
            skip = assign_name(outer.skipped, name(self.function.returned))
            statements.append(located(skip, node))
        if node.orelse:
            statements += self.loop_else(node.orelse, jumps, end_flags, outer)
            node.orelse = []
        return statements

    def loop_else(
        self,
        body: list[ast.stmt],
        jumps: set[str],
        end_flags: Sequence[str],
        outer: _PythonLoop | None,
    ) -> list[ast.stmt]:
        """The `else` of a loop, for loops that were not left.

        `jumps` are the jumps in the loop's body. A `break` ends there: it does not affect later
        statements.
        """
        if BREAK in jumps:
            guard = ast.If(self.unset(end_flags), self.block(body, outer), [])
            self.annotate(guard, _exits(body), {FALL}, outer)
            return [located(guard, body[0])]
        return [self.guard({RETURN}, body, outer)] if end_flags else self.block(body, outer)


def _without_unread(
    body: list[ast.stmt], generated: set[str], function: "_Function"
) -> list[ast.stmt]:
    """Remove assignments to flags that are never read."""
    read_names = {function.value, *function.needed}

    class Sweeper(ast.NodeTransformer):
        def visit_Assign(self, node: ast.Assign) -> ast.stmt | None:
            target, value = node.targets[0], node.value
            is_generated = isinstance(target, ast.Name) and target.id in generated
            is_boolean = isinstance(value, ast.Constant) and isinstance(value.value, bool)
            copies_return_flag = isinstance(value, ast.Name) and value.id == function.returned
            if is_generated and (is_boolean or copies_return_flag) and target.id not in read_names:  # type: ignore[attr-defined]
                return None
            return node

        def generic_visit(self, node: ast.AST) -> ast.AST:
            if isinstance(node, ast.FunctionDef):
                return node  # inner functions have been processed already
            super().generic_visit(node)
            if isinstance(node, (ast.If, ast.For, ast.While, ast.With, ast.Try)) and not node.body:
                node.body = [located(ast.Pass(), node)]
            if isinstance(node, ast.ExceptHandler) and not node.body:
                node.body = [located(ast.Pass(), node)]
            return node

    module = ast.Module(body, [])
    Sweeper().visit(module)
    return module.body
