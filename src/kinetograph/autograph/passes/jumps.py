"""`break`, `continue`, `return` and the `else` of loops become flags and conditionals.

    while i < n:                        break_ = False
        if x[i] > 3:                    while not break_ and i < n:
            break                           if x[i] > 3:
        i += 1                                  break_ = True
                                            else:
                                                i += 1

What follows an `if` that always jumps moves under its other branch; what follows a statement that
may have jumped is guarded by the flag it may have set, which is known to be set where the guard
holds it back. A loop whose body jumps in several ways has one flag for all of them. Flags that
nobody reads are left out. The value of an early `return` waits in a variable for the one `return`
at the end.

Conditionals are told which of their branches never come to their end, and which flags say so while
the graph is built: what these leave in the variables is not read by what follows, after a `return`,
or need not be there, after another jump.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from .build import Namer, ag_call, assign_name, is_opaque, located, name, negation, text

__all__ = ["RETURN_VALUE", "lower_jumps"]

RETURN_VALUE = "retval_"
FALL, BREAK, CONTINUE, RETURN = "fall", "break", "continue", "return"


@dataclass
class _Loop:
    """The flags of a loop, empty where there is no such jump."""

    broken: str
    skipped: str  # set by every jump, if there are several kinds
    jumped: str  # the one that every jump in the body sets


@dataclass
class _Function:
    """The flags of a function."""

    returned: str
    value: str
    needed: set[str] = field(default_factory=set)  # flags that are read somewhere


def lower_jumps(node: ast.FunctionDef, namer: Namer) -> None:
    """Rewrite a function and the functions in it, in place."""
    returned = "return" in _exits([*node.body[:-1]]) or not _plain_end(node.body)
    function = _Function("", "")
    body = node.body
    if returned:
        function.value = namer.fresh(RETURN_VALUE)
        function.returned = namer.fresh("do_return")
        if FALL in _exits(body):
            body = [*body, located(ast.Return(None), body[-1])]
    lowered = _Lowering(function, namer).block(body, None)
    if returned:
        start: list[ast.stmt] = [assign_name(function.value, ag_call("UndefinedReturnValue"))]
        if function.returned in function.needed:
            start.insert(0, assign_name(function.returned, text(False)))
        end = ast.Return(ag_call("retval", name(function.value)))
        first = _docstring(lowered)
        lowered[first:first] = [located(s, node.body[0]) for s in start]
        lowered.append(located(end, node.body[-1]))
    node.body = _without_unread(lowered, namer.generated, function)


def _docstring(body: Sequence[ast.stmt]) -> int:
    """The number of statements that are the docstring."""
    first = body[0] if body else None
    return int(
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )


def _plain_end(body: Sequence[ast.stmt]) -> bool:
    """Whether a function returns at its end at most."""
    return not body or isinstance(body[-1], ast.Return) or RETURN not in _exits([body[-1]])


def _exits(body: Sequence[ast.stmt]) -> set[str]:
    """The ways in which a block of statements may be left, exceptions aside."""
    found: set[str] = set()
    for statement in body:
        ways = _ways(statement)
        found |= ways - {FALL}
        if FALL not in ways:
            return found
    return found | {FALL}


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
    found = _exits([*node.body, *node.orelse])
    for handler in node.handlers:
        found |= _exits(handler.body)
    return found


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and bool(node.value)


class _Lowering:
    def __init__(self, function: _Function, namer: Namer) -> None:
        self.function = function
        self.namer = namer
        self.finals = 0  # `try` statements around whose `finally` runs after a `return`

    def block(self, body: Sequence[ast.stmt], loop: _Loop | None) -> list[ast.stmt]:
        """A block without jumps that does the same."""
        done: list[ast.stmt] = []
        for place, statement in enumerate(body):
            ways = _ways(statement)
            rest = body[place + 1 :]
            if isinstance(statement, (ast.Break, ast.Continue, ast.Return)):
                return done + self.jump(statement, loop)
            if isinstance(statement, ast.If) and ways - {FALL} and rest:
                # What follows belongs to the branch that gets there.
                if FALL not in _exits(statement.body):
                    statement.orelse = [*statement.orelse, *rest]
                    rest = []
                elif FALL not in _exits(statement.orelse):
                    statement.body = [*statement.body, *rest]
                    rest = []
            if isinstance(statement, ast.If):
                self.tell(statement, _exits(statement.body), _exits(statement.orelse), loop)
            done += self.statement(statement, loop)
            if FALL not in ways:
                return done
            if rest and ways - {FALL}:
                return [*done, self.guard(ways - {FALL}, rest, loop)]
            if not rest:
                return done
        return done

    def guard(self, ways: set[str], rest: Sequence[ast.stmt], loop: _Loop | None) -> ast.stmt:
        """What is reached only if none of these jumps has been made."""
        flag = self.jumped(loop)
        found = _exits(rest)
        known: list[ast.stmt] = [assign_name(flag, text(True))] if found - {FALL} else []
        guard = ast.If(self.unset([flag]), self.block(rest, loop), known)
        self.tell(guard, found, ways, loop)
        return located(guard, rest[0])

    def tell(self, node: ast.If, body: set[str], orelse: set[str], loop: _Loop | None) -> None:
        """Note how the branches of a conditional are left, and the flags that say it."""
        node.left = self.left(body), self.left(orelse)  # type: ignore[attr-defined]
        node.flags = {self.jumped(loop): "jump"}  # type: ignore[attr-defined]
        node.flags[self.function.returned] = self.left({RETURN})  # type: ignore[attr-defined]

    def jumped(self, loop: _Loop | None) -> str:
        """The flag of all jumps out of a block."""
        return loop.jumped if loop is not None else self.function.returned

    def left(self, ways: set[str]) -> str:
        """How a branch is left that does not come to its end; empty if it does."""
        if FALL in ways or not ways:
            return ""
        return "return" if ways == {RETURN} and not self.finals else "jump"

    def jump(self, node: ast.stmt, loop: _Loop | None) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        if isinstance(node, ast.Return):
            if not self.function.value:
                return [node]  # the only one, at the end
            made.append(assign_name(self.function.value, node.value or text(None)))
            made.append(assign_name(self.function.returned, text(True)))
        elif loop is not None and isinstance(node, ast.Break):
            made.append(assign_name(loop.broken, text(True)))
        if loop is not None and loop.skipped:
            made.append(assign_name(loop.skipped, text(True)))
        return [located(s, node) for s in made]

    def unset(self, flags: Sequence[str]) -> ast.expr:
        """The test that none of these flags is set."""
        self.function.needed.update(flags)
        tests = [negation(name(flag)) for flag in flags]
        return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)

    def statement(self, node: ast.stmt, loop: _Loop | None) -> list[ast.stmt]:
        """A statement that is no jump itself."""
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

    def trial(self, node: ast.Try | ast.TryStar, loop: _Loop | None) -> list[ast.stmt]:
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

    def loop(self, node: ast.While | ast.For, outer: _Loop | None) -> list[ast.stmt]:
        jumps = _exits(node.body) - {FALL}
        endless = isinstance(node, ast.While) and _is_true(node.test) and BREAK not in jumps
        broken = self.namer.fresh("break_") if BREAK in jumps else ""
        several = CONTINUE in jumps or len(jumps) > 1
        skipped = self.namer.fresh("continue_") if several else ""
        flags = _Loop(broken, skipped, skipped or broken or self.function.returned)
        body = self.block(node.body, flags)
        if skipped in self.function.needed:
            body.insert(0, located(assign_name(skipped, text(False)), node.body[0]))
        node.body = body
        made: list[ast.stmt] = []
        if broken:
            made.append(located(assign_name(broken, text(False)), node))
        ends = [self.function.returned] if RETURN in jumps else []
        ends += [broken] if broken else []
        if ends:
            going_on = self.unset(ends)
            if isinstance(node, ast.For):
                node.extra_test = located(going_on, node)  # type: ignore[attr-defined]
            else:
                tests = going_on.values if isinstance(going_on, ast.BoolOp) else [going_on]
                if not _is_true(node.test):
                    tests = [*tests, node.test]
                both = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
                node.test = located(both, node.test)
        made.append(node)
        if RETURN in jumps and endless:
            made.append(located(assign_name(self.function.returned, text(True)), node))
        if RETURN in jumps and outer is not None and outer.skipped:
            skip = assign_name(outer.skipped, name(self.function.returned))
            made.append(located(skip, node))
        if node.orelse:
            made += self.loop_else(node.orelse, jumps, ends, outer)
            node.orelse = []
        return made

    def loop_else(
        self, body: list[ast.stmt], jumps: set[str], ends: Sequence[str], outer: _Loop | None
    ) -> list[ast.stmt]:
        """What runs only if a loop came to its end; past it, a `break` is no jump any more."""
        if BREAK in jumps:
            guard = ast.If(self.unset(ends), self.block(body, outer), [])
            self.tell(guard, _exits(body), {FALL}, outer)
            return [located(guard, body[0])]
        return [self.guard({RETURN}, body, outer)] if ends else self.block(body, outer)


def _without_unread(
    body: list[ast.stmt], generated: set[str], function: "_Function"
) -> list[ast.stmt]:
    """Statements without assignments to flags that nobody reads."""
    kept = {function.value, *function.needed}

    class Sweeper(ast.NodeTransformer):
        def visit_Assign(self, node: ast.Assign) -> ast.stmt | None:
            target, value = node.targets[0], node.value
            flag = isinstance(target, ast.Name) and target.id in generated
            constant = isinstance(value, ast.Constant) and isinstance(value.value, bool)
            other = isinstance(value, ast.Name) and value.id == function.returned
            if flag and (constant or other) and target.id not in kept:  # type: ignore[attr-defined]
                return None
            return node

        def generic_visit(self, node: ast.AST) -> ast.AST:
            if isinstance(node, ast.FunctionDef):
                return node  # swept by itself
            super().generic_visit(node)
            if isinstance(node, (ast.If, ast.For, ast.While, ast.With, ast.Try)) and not node.body:
                node.body = [located(ast.Pass(), node)]
            if isinstance(node, ast.ExceptHandler) and not node.body:
                node.body = [located(ast.Pass(), node)]
            return node

    module = ast.Module(body, [])
    Sweeper().visit(module)
    return module.body
