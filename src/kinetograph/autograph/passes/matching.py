"""Rewriting of `match` as a chain of `if`.

Python itself tries each pattern, in a small function that binds the captured names:

    match x:                  def case(subject):
        case 0: A                 match subject:
        case [a, b]: B                case 0: return True
                                  return False
                              if ag__.matches(x, case, (0,)): A
                              else: ...

The graph compares a symbolic subject with the literals of a pattern, which the last argument lists.
"""

import ast

from .build import Namer, ag_call, assign_name, define, is_opaque, located, name, text

__all__ = ["lower_match"]


def lower_match(node: ast.FunctionDef, namer: Namer) -> None:
    """Rewrite all `match` statements of a function, in place.

    Inner functions are included.
    """
    _MatchLowering(namer).visit(node)


class _MatchLowering(ast.NodeTransformer):
    def __init__(self, namer: Namer) -> None:
        self.namer = namer
        self.globals: set[str] = set()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if is_opaque(node):
            return node
        outer = self.globals
        self.globals = {n for s in ast.walk(node) if isinstance(s, ast.Global) for n in s.names}
        self.generic_visit(node)
        self.globals = outer
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def visit_Match(self, node: ast.Match) -> list[ast.stmt]:
        self.generic_visit(node)
        subject = self.namer.fresh("subject")
        chain: list[ast.stmt] = []
        for case in reversed(node.cases):
            chain = self.case(case, subject, chain)
        return [located(assign_name(subject, node.subject), node), *chain]

    def case(self, case: ast.match_case, subject: str, otherwise: list[ast.stmt]) -> list[ast.stmt]:
        pattern, first_statement = case.pattern, case.body[0]
        statements: list[ast.stmt] = []
        tests: list[ast.expr] = []
        bare = isinstance(pattern, ast.MatchAs) and pattern.pattern is None
        if bare and pattern.name:  # type: ignore[attr-defined]
            statements.append(assign_name(pattern.name, name(subject)))  # type: ignore[attr-defined]
        elif not bare:
            function = self.trial(pattern, subject)
            statements.append(function)
            values_compared = literals(pattern)
            values = (
                text(None) if values_compared is None else ast.Tuple(values_compared, ast.Load())
            )
            tests.append(ag_call("matches", name(subject), name(function.name), values))
        if case.guard is not None:
            tests.append(case.guard)
        if tests:
            test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
            statements.append(ast.If(test, case.body, otherwise))
        else:
            statements += case.body
        return [
            located(s, pattern if s is not first_statement else first_statement) for s in statements
        ]

    def trial(self, pattern: ast.pattern, subject: str) -> ast.FunctionDef:
        """A function that matches its argument and binds the captured names."""
        captured = {
            identifier
            for part in ast.walk(pattern)
            for identifier in (getattr(part, "name", None), getattr(part, "rest", None))
            if isinstance(identifier, str)
        }
        case = ast.match_case(pattern, None, [ast.Return(text(True))])
        body = [ast.Match(name(subject), [case]), ast.Return(text(False))]
        function = define(
            self.namer.fresh("case"),
            body,
            [subject],
            nonlocals=captured - self.globals,
            globals=captured & self.globals,
        )
        function.inlined = function.opaque = True  # type: ignore[attr-defined]
        return function


def literals(pattern: ast.pattern) -> list[ast.expr] | None:
    """The values with which a pattern compares.

    None if the pattern does anything else.
    """
    match pattern:
        case ast.MatchValue():
            return [pattern.value]
        case ast.MatchSingleton():
            return [ast.Constant(pattern.value)]
        case ast.MatchOr():
            alternatives: list[ast.expr] = []
            for part in pattern.patterns:
                values = literals(part)
                if values is None:
                    return None
                alternatives += values
            return alternatives
        case _:
            return None
