"""The control-flow graph of a function body.

Each simple statement and each test is a point. Each statement also has a point before and a point
after it, at which the analysis can be queried. An exception may leave at any point of a `try` body,
before or after the point had its effect. If an early `return` was rewritten into flags and an `if`,
the end of the branch that returns leads directly to the last statement.
"""

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from .activity import Activity, activity

__all__ = ["FlowGraph", "ControlFlowPoint"]


class ControlFlowPoint:
    """A place in the program, with its symbols and its successors."""

    __slots__ = ("activity", "code", "raises", "successors")

    def __init__(self, activity: Activity | None = None, code: Sequence[ast.AST] = ()) -> None:
        self.activity = activity or _NOTHING
        self.code = code
        self.successors: list[ControlFlowPoint] = []
        self.raises: list[ControlFlowPoint] = []  # where an exception goes


_NOTHING = Activity()


class FlowGraph:
    """The points of a function body, from `start` to `end`.

    Attributes
    ----------
    before, after
        The points before and after each statement.
    heads
        For each loop, the point at which it decides on another trip.
    """

    def __init__(self, body: Sequence[ast.stmt], parameters: Sequence[str] = ()) -> None:
        self.points: list[ControlFlowPoint] = []
        self.before: dict[ast.stmt, ControlFlowPoint] = {}
        self.after: dict[ast.stmt, ControlFlowPoint] = {}
        self.heads: dict[ast.stmt, ControlFlowPoint] = {}
        self._handlers: list[ControlFlowPoint] = []
        self._loops: list[
            tuple[ControlFlowPoint, ControlFlowPoint]
        ] = []  # where `continue` and `break` go
        self._returns: list[ControlFlowPoint] = []
        self.end = ControlFlowPoint()
        self._leave = ControlFlowPoint()  # leads directly to the single `return` at the end
        self._returns.append(self.end)
        self.start = self._point(Activity(binds=set(parameters)))
        self._link(self._block(body, self.start), self.end)
        if body and isinstance(body[-1], ast.Return):
            self._link(self._leave, self.before[body[-1]])
        self.points += [self._leave, self.end]

    def _point(
        self, symbols: Activity | None = None, code: Sequence[ast.AST] = ()
    ) -> ControlFlowPoint:
        point = ControlFlowPoint(symbols, code)
        point.raises = list(self._handlers[-1:])
        self.points.append(point)
        return point

    @staticmethod
    def _link(first: ControlFlowPoint | None, second: ControlFlowPoint) -> None:
        if first is not None:
            first.successors.append(second)

    def _step(
        self, first: ControlFlowPoint | None, *code: ast.AST, binds: str | None = None
    ) -> ControlFlowPoint:
        """Add a point behind another point."""
        symbols = activity(code)
        if binds is not None:
            symbols.binds.add(binds)
        point = self._point(symbols, code)
        self._link(first, point)
        return point

    def _block(
        self, body: Sequence[ast.stmt], point: ControlFlowPoint | None
    ) -> ControlFlowPoint | None:
        """Add statements behind a point.

        Returns the point at their end; None if they never reach it.
        """
        for statement in body:
            self.before[statement] = first = self._step(point)
            last = self._statement(statement, first)
            point = self.after[statement] = self._point()
            self._link(last, point)
            if last is None:
                point = None  # the following statements are unreachable, but analysed, too
        return point

    def _statement(self, node: ast.stmt, point: ControlFlowPoint) -> ControlFlowPoint | None:
        match node:
            case ast.If():
                return self._if(node, point)
            case ast.While():
                return self._loop(node, point, (node.test,), None)
            case ast.For():
                extra = getattr(node, "extra_test", None)
                tests = () if extra is None else (extra,)
                return self._loop(node, self._step(point, node.iter), tests, node.target)
            case ast.With():
                return self._block(node.body, self._step(point, *node.items))
            case ast.Try() | ast.TryStar():
                return self._try(node, point)
            case ast.Return():
                self._link(self._step(point, node), self._returns[-1])
                return None
            case ast.Raise():
                self._step(point, node)
                return None
            case ast.Break() | ast.Continue():
                if self._loops:
                    self._link(point, self._loops[-1][isinstance(node, ast.Break)])
                return None
            case ast.FunctionDef() if getattr(node, "inlined", False):
                return self._step(self._perhaps(point, node), binds=node.name)
            case _:
                return self._step(point, node)

    def _perhaps(self, point: ControlFlowPoint, pattern: ast.AST) -> ControlFlowPoint:
        """Add a pattern, which binds its names only if it matches."""
        last = self._point()
        self._link(self._step(point, pattern), last)
        self._link(point, last)
        return last

    def _if(self, node: ast.If, point: ControlFlowPoint) -> ControlFlowPoint:
        test = self._step(point, node.test)
        last = self._point()
        for branch, left in zip(
            (node.body, node.orelse), getattr(node, "left", ("", "")), strict=True
        ):
            done = self._block(branch, test)
            if left == "return" and done is not None:
                # Guards on the way read the flags.
                flags_read = self._point(Activity(reads=set(getattr(node, "flags", ()))))
                self._link(done, flags_read)
                self._link(flags_read, self._leave)
            else:
                self._link(done, last)
        return last

    def _loop(
        self,
        node: ast.While | ast.For,
        point: ControlFlowPoint,
        test: Sequence[ast.AST],
        target: ast.AST | None,
    ) -> ControlFlowPoint:
        head = self._step(point, *test)
        last = ControlFlowPoint(None)
        last.raises = list(self._handlers[-1:])
        body = head if target is None else self._step(head, target)
        self._loops.append((head, last))
        self._link(self._block(node.body, body), head)
        self._loops.pop()
        self.heads[node] = head
        self._link(self._block(node.orelse, head), last)
        self.points.append(last)
        return last

    def _try(self, node: ast.Try | ast.TryStar, point: ControlFlowPoint) -> ControlFlowPoint:
        last = self._point()
        final = self._point() if node.finalbody else last
        entries = [self._point() for _ in node.handlers]
        catch = ControlFlowPoint()  # the target of exceptions in the body
        catch.successors = [*entries, *([final] if node.finalbody else self._handlers[-1:])]
        self.points.append(catch)
        with self._exits(final if node.finalbody else None):
            self._handlers.append(catch)
            body = self._block(node.body, self._step(point))
            self._handlers.pop()
            if node.finalbody:
                self._handlers.append(final)
            self._link(self._block(node.orelse, body), final)
            for entry, handler in zip(entries, node.handlers, strict=True):
                kind = () if handler.type is None else (handler.type,)
                done = self._block(handler.body, self._step(entry, *kind, binds=handler.name))
                if done is not None and handler.name:
                    removed = self._point(Activity(removes={handler.name}))
                    self._link(done, removed)
                    done = removed
                self._link(done, final)
            if node.finalbody:
                self._handlers.pop()
        if node.finalbody:
            done = self._block(node.finalbody, final)
            self._link(done, last)
            if done is not None:
                done.successors += [*self._handlers[-1:], self._returns[-1]]
                done.successors += self._loops[-1] if self._loops else ()
        return last

    @contextmanager
    def _exits(self, final: ControlFlowPoint | None) -> Iterator[None]:
        """Lead `return`, `break` and `continue` through a `finally`."""
        if final is None:
            yield
            return
        loops = self._loops
        self._returns.append(final)
        self._loops = [(final, final)] if loops else []
        yield
        self._loops = loops
        self._returns.pop()
