"""`match` becomes a chain of `if`.

Each pattern is tried by Python itself, in a small function that binds what it captures:

    match x:                  def case(subject):
        case 0: A                 match subject:
        case [a, b]: B                case 0: return True
                                  return False
                              if ag__.matches(x, case, (0,)): A
                              else: ...

Of a symbolic subject, literals are compared in the graph; the last argument lists them.
"""

import ast

from .build import Namer, ag_call, assign_name, define, is_opaque, located, name, text

__all__ = ["lower_match"]


def lower_match(node: ast.FunctionDef, namer: Namer) -> None:
    """Rewrite all `match` statements of a function and the functions in it, in place."""
    _Lowering(namer).visit(node)


class _Lowering(ast.NodeTransformer):
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
        pattern, place = case.pattern, case.body[0]
        made: list[ast.stmt] = []
        tests: list[ast.expr] = []
        bare = isinstance(pattern, ast.MatchAs) and pattern.pattern is None
        if bare and pattern.name:  # type: ignore[attr-defined]
            made.append(assign_name(pattern.name, name(subject)))  # type: ignore[attr-defined]
        elif not bare:
            function = self.trial(pattern, subject)
            made.append(function)
            known = literals(pattern)
            values = text(None) if known is None else ast.Tuple(known, ast.Load())
            tests.append(ag_call("matches", name(subject), name(function.name), values))
        if case.guard is not None:
            tests.append(case.guard)
        if tests:
            test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
            made.append(ast.If(test, case.body, otherwise))
        else:
            made += case.body
        return [located(s, pattern if s is not place else place) for s in made]

    def trial(self, pattern: ast.pattern, subject: str) -> ast.FunctionDef:
        """A function that matches its argument and binds what the pattern captures."""
        found = {
            bound
            for part in ast.walk(pattern)
            for bound in (getattr(part, "name", None), getattr(part, "rest", None))
            if isinstance(bound, str)
        }
        yes = ast.match_case(pattern, None, [ast.Return(text(True))])
        body = [ast.Match(name(subject), [yes]), ast.Return(text(False))]
        function = define(
            self.namer.fresh("case"),
            body,
            [subject],
            nonlocals=found - self.globals,
            globals=found & self.globals,
        )
        function.inlined = function.opaque = True  # type: ignore[attr-defined]
        return function


def literals(pattern: ast.pattern) -> list[ast.expr] | None:
    """The values a pattern compares with; None if it does anything else."""
    match pattern:
        case ast.MatchValue():
            return [pattern.value]
        case ast.MatchSingleton():
            return [ast.Constant(pattern.value)]
        case ast.MatchOr():
            found: list[ast.expr] = []
            for part in pattern.patterns:
                values = literals(part)
                if values is None:
                    return None
                found += values
            return found
        case _:
            return None
