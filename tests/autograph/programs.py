"""Random programs as source text: loops, branches, jumps, over integers, floats and an array.

Every program ends, divides by nothing that may be zero, and stays small: integers are taken modulo
101, floats are contracted. Floats are compared with odd constants alone, so that the last bit of a
sum decides nothing. Loops begin as Python's or as the graph's; whole numbers are conditions, too.
"""

import contextlib
import itertools
import linecache
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

import kinetograph as kg

PARAMETERS = "a, b, c, x, y, u, v, zero"
RESULT = "return a, b, c, x, y, p, v"
_numbers = itertools.count()


class Writer:
    """Writes one program, each choice drawn by hypothesis."""

    def __init__(self, draw: Callable[..., Any], size: int) -> None:
        self.draw = draw
        self.left = size  # statements that may still be written
        self.lines: list[str] = []
        self.loops = 0  # loops written so far, for the names of their variables

    def choose(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    # Expressions.
    def atom(self) -> str:
        names = ["a", "b", "c", "q", *(f"k{i}" for i in range(1, self.loops + 1))]
        literals = ["0", "1", "2", "5", "9"]
        return self.choose(*names, *literals, "v[1]", "v[3]", f"v[{self.choose(*names)} % 4]")

    def integer(self, depth: int = 2) -> str:
        """An integer in 0..100."""
        kind = self.choose("atom", "sum", "product", "quotient", "choice") if depth else "atom"
        if kind == "atom":
            return self.atom()
        one, two = self.integer(depth - 1), self.integer(depth - 1)
        if kind == "sum":
            return f"(({one} {self.choose('+', '-')} {two}) % 101)"
        if kind == "product":
            return f"(({one} * {two} + {self.atom()}) % 101)"
        if kind == "quotient":
            return f"({one} // {self.choose(2, 3, 7)})"
        return f"({one} if {self.condition(depth - 1)} else {two})"

    def real(self) -> str:
        """A float of at most some hundreds."""
        linear = f"{self.choose('0.5', '0.25', '-0.5')} * {self.choose('x', 'y')}"
        return self.choose(
            f"{linear} + 0.125 * {self.integer(1)}",
            f"{linear} + 0.25 * {self.choose('x', 'y')} + 1.5",
            "0.001 * x * y + 0.75 * x",
            f"({linear} if {self.condition(1)} else y + 0.5) * 0.5",
        )

    def condition(self, depth: int = 2) -> str:
        kinds = ["integers", "chain", "real", "flag", "number"]
        kind = self.choose(*kinds, *(["and", "or", "not", "walrus"] if depth else []))
        if kind == "integers":
            operator = self.choose("<", "<=", ">", ">=", "==", "!=")
            return f"{self.integer(1)} {operator} {self.integer(1)}"
        if kind == "chain":
            first, second = self.choose("<", "<="), self.choose("<", "!=")
            return f"{self.atom()} {first} {self.atom()} {second} {self.atom()}"
        if kind == "real":
            limit = self.choose("1.2345678", "7.1234567")
            return f"{self.choose('x', 'y')} {self.choose('<', '>')} {limit}"
        if kind == "flag":
            return self.choose("p", "not p")
        if kind == "number":
            return f"{self.atom()} % {self.choose(2, 3)}"
        if kind == "walrus":
            return f"(q := {self.integer(1)}) > {self.atom()}"
        if kind == "not":
            return f"not ({self.condition(depth - 1)})"
        return f"({self.condition(depth - 1)}) {kind} ({self.condition(depth - 1)})"

    # Statements.
    def put(self, level: int, *lines: str) -> None:
        self.lines += ["    " * level + line for line in lines]

    def block(self, level: int, where: "Where") -> None:
        before = len(self.lines)
        for _ in range(self.draw(st.integers(1, 3))):
            if self.left > 0:
                self.statement(level, where)
        if len(self.lines) == before:
            self.put(level, "pass")

    def statement(self, level: int, where: "Where") -> None:
        self.left -= 1
        simple = [self.assign_integer, self.assign_real, self.assign_flag, self.assign_item]
        compound = [self.branch, self.branch, self.loop_over, self.loop_while]
        compound += [self.loop_over, self.loop_while, self.choose(self.match, self.guarded)]
        jumps = [self.jump, self.jump, self.jump] if where.in_loop or level > 1 else []
        self.choose(*simple, *jumps, *(compound if level < 5 and self.left > 0 else []))(
            level, where
        )

    def assign_integer(self, level: int, where: "Where") -> None:
        name = self.choose("a", "b", "c")
        self.choose(
            lambda: self.put(level, f"{name} = {self.integer()}"),
            lambda: self.put(level, f"{name} += {self.integer(1)}", f"{name} %= 101"),
            lambda: self.put(level, f"a, {name} = {name}, {self.integer(1)}"),
        )()

    def assign_real(self, level: int, where: "Where") -> None:
        name = self.choose("x", "y")
        self.choose(
            lambda: self.put(level, f"{name} = {self.real()}"),
            lambda: self.put(level, f"{name} -= {self.real()}", f"{name} *= 0.5"),
            lambda: self.put(level, f"x, y = y, 0.5 * {name}"),
        )()

    def assign_flag(self, level: int, where: "Where") -> None:
        # A condition may be a number, and what is a boolean on one way alone is none in a graph.
        condition = f"not ({self.condition()})"
        self.put(level, f"p = {self.choose('True', 'False', condition)}")

    def assign_item(self, level: int, where: "Where") -> None:
        place = f"v[{self.choose('0', '2', self.atom() + ' % 4')}]"
        if self.choose(True, False):
            self.put(level, f"{place} = {self.integer()}")
        else:
            self.put(level, f"{place} += {self.integer(1)}", "v[:] %= 101")

    def branch(self, level: int, where: "Where") -> None:
        self.put(level, f"if {self.condition()}:")
        self.block(level + 1, where)
        if self.choose(True, False, False):
            self.put(level, f"elif {self.condition()}:")
            self.block(level + 1, where)
        if self.choose(True, False):
            self.put(level, "else:")
            self.block(level + 1, where)

    def match(self, level: int, where: "Where") -> None:
        self.put(level, f"match {self.integer(1)} % 4:")
        for pattern in self.choose(("0", "1 | 2"), ("3",), ("2", "_"), ("1", "0 | 3", "_")):
            guard = f" if {self.condition(1)}" if self.choose(True, False, False) else ""
            self.put(level + 1, f"case {pattern}{guard}:")
            self.block(level + 2, where)

    def guarded(self, level: int, where: "Where") -> None:
        """A block in `with` or `try`, of which a jump leaves by the `finally`."""
        if self.choose(True, False):
            self.put(level, "with contextlib.nullcontext(2) as q:")
            self.block(level + 1, where)
        else:
            self.put(level, "try:")
            self.block(level + 1, where)
            self.put(level, "finally:")
            self.assign_integer(level + 1, where)

    def loop_over(self, level: int, where: "Where") -> None:
        self.loops += 1
        name = f"k{self.loops}"
        staged = self.choose(True, True, False)
        over = (
            self.choose(
                f"kg.range({self.integer(1)} % 5)",
                f"kg.range(1, {self.integer(1)} % 6, 2)",
                f"kg.range({self.integer(1)} % 5, 0, -1)",
                "kg.range(3)",
                "u",
            )
            if staged
            else self.choose("range(3)", "(2, 5)", "[c, a]", "range(0)")
        )
        self.put(level, f"for {name} in {over}:")
        python_jump = not staged and over.startswith(("range", "(2")) and self.choose(True, False)
        if python_jump:  # the target is a Python number, and so is the condition
            word = self.choose("break", "continue")
            self.put(level + 1, f"if {name} == 2:", f"    {word}")
        self.block(level + 1, where.in_a_loop())
        self.otherwise(level, where)

    def loop_while(self, level: int, where: "Where") -> None:
        self.loops += 1
        name = f"k{self.loops}"
        limit = f"{name} < {self.choose(2, 4)}"
        test = self.choose(
            limit, f"({self.condition()}) and {limit}", f"{limit} and ({self.condition()})"
        )
        self.put(level, f"{name} = {self.choose('zero', 'zero', '0')}", f"while {test}:")
        self.put(level + 1, f"{name} = {name} + 1")
        self.block(level + 1, where.in_a_loop())
        self.otherwise(level, where)

    def otherwise(self, level: int, where: "Where") -> None:
        if self.choose(True, False, False):
            self.put(level, "else:")
            self.block(level + 1, where)

    def jump(self, level: int, where: "Where") -> None:
        word = self.choose(RESULT, *(["break", "continue", "continue"] if where.in_loop else []))
        if self.choose(True, True, False):
            self.put(level, f"if {self.condition()}:", f"    {word}")
        else:
            self.put(level, word)


class Where(NamedTuple):
    """Which jumps are allowed at a place in the program."""

    in_loop: bool = False

    def in_a_loop(self) -> "Where":
        return Where(True)


@st.composite
def programs(draw: Callable[..., Any], size: int = 12) -> str:
    """The source of a function `program` of some statements."""
    writer = Writer(draw, size)
    while writer.left > 0:
        writer.statement(1, Where())
    targets = "".join(f"k{i} = " for i in range(1, writer.loops + 1))
    first = [f"def program({PARAMETERS}):", f"    {targets}q = 0", "    p = True"]
    return "\n".join([*first, *writer.lines, f"    {RESULT}", ""])


def arguments(a: int, b: int, c: int, x: float, y: float) -> tuple[Any, ...]:
    """A call of a program."""
    return a, b, c, x, y, np.array([3, 0, 7]), np.array([1, 2, 3, 4]), 0


CALLS = (
    arguments(1, 5, 2, 0.5, 8.25),
    arguments(40, 3, 9, 20.0, -3.5),
    arguments(0, 0, 0, 1.0, 1.0),
)


@contextlib.contextmanager
def compiled(source: str) -> Iterator[Callable[..., Any]]:
    """The function of a program, in a file that exists only where Python looks for lines."""
    name = f"<program {next(_numbers)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    names: dict[str, Any] = {"kg": kg, "np": np, "contextlib": contextlib}
    exec(compile(source, name, "exec"), names)
    try:
        yield names["program"]
    finally:
        linecache.cache.pop(name, None)


class Dual:
    """A number and its derivative along one direction: the oracle of derivatives."""

    def __init__(self, value: float, slope: float) -> None:
        self.value, self.slope = value, slope

    @staticmethod
    def of(other: Any) -> "Dual":
        return other if isinstance(other, Dual) else Dual(float(other), 0.0)

    def __add__(self, other: Any) -> "Dual":
        other = Dual.of(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    def __sub__(self, other: Any) -> "Dual":
        other = Dual.of(other)
        return Dual(self.value - other.value, self.slope - other.slope)

    def __mul__(self, other: Any) -> "Dual":
        other = Dual.of(other)
        slope = self.slope * other.value + self.value * other.slope
        return Dual(self.value * other.value, slope)

    def __rsub__(self, other: Any) -> "Dual":
        return Dual.of(other) - self

    __radd__ = __add__
    __rmul__ = __mul__

    def __lt__(self, other: Any) -> bool:
        return self.value < Dual.of(other).value

    def __gt__(self, other: Any) -> bool:
        return self.value > Dual.of(other).value
