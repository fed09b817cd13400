"""Random loops over buffers, run by Python on jets and by the graph.

A program is source text. It reads and writes vectors, rows and columns: near to and far from the
place of the trip, from the end, at fixed places, by a table and by its own counters. Its loops are
nested, end early, skip trips, count down, and are inside branches. Programs with indices outside
their arrays are left out.

    python -m tests.graph.control.random_loops SEED     the smallest part of a program that is wrong
"""

import random
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from tests.autograph.programs import compiled
from tests.graph.control.helpers import Jet, Plain

import kinetograph as kg

__all__ = ["agree", "program", "shrunk"]

_BUFFERS = {
    "vector": ["x * 1.0", "ops.sin(w)", "x - 0.5 * w", "0.0 * x"],
    "rows": ["ops.stack([x, w], 1)", "ops.stack([ops.sin(x), x * w], 1)"],
    "columns": ["ops.stack([w, x], 0)", "ops.stack([x * w, 0.3 * x], 0)"],
}


class Writer:
    """Write one program, with each choice drawn from `draw`."""

    def __init__(self, draw: random.Random, size: int) -> None:
        self.draw = draw
        self.n = size
        self.left = draw.randint(3, 7)  # the number of statements that may still be written
        self.lines: list[str] = []
        self.kinds: dict[str, str] = {}  # of the buffers
        self.loops: list[str] = []  # the variables of the loops around
        self.count = 0

    def choose(self, *options: Any) -> Any:
        return self.draw.choice(options)

    def put(self, level: int, *lines: str) -> None:
        self.lines += ["    " * level + line for line in lines]

    # Expressions.
    def near(self) -> str:
        """A place that moves with the loop."""
        t, k, n = self.loops[-1], self.choose(1, 1, 2, 3, self.n // 2), self.n
        if len(self.loops) > 1 and self.choose(True, False):
            t = self.loops[0]
        return self.choose(
            *(t, t, t, f"{t} - {k}", f"{t} - {k}", f"{t} + {k}", f"{t} - {n}", f"{t} - {n + k}"),
            *(f"{t} - {n - k}", f"{n - 1} - {t}", f"-1 - {t}", f"-{k} - {t}", f"{k} - {t}"),
            *(f"2 * {t}", f"2 * {t} - {n}", f"(3 * {t} + {k}) % {n}", f"table[{t}]"),
            *(f"{self.loops[0]} - {t}", f"{self.loops[0]} + {t}", "m", f"m - {k}"),
        )

    def place(self) -> str:
        if not self.loops or self.draw.random() < 0.15:
            return str(self.draw.randrange(-self.n, self.n))
        return self.near()

    def element(self, name: str, place: str) -> str:
        kind, part = self.kinds.get(name, "vector"), self.choose(0, 1)
        return {
            "vector": f"{name}[{place}]",
            "rows": f"{name}[{place}, {part}]",
            "columns": f"{name}[{part}, {place}]",
        }[kind]

    def item(self, around: str | None = None) -> str:
        """A number; `around` is the place that a statement writes."""
        kind = self.draw.random()
        if kind < 0.2:
            return "s"
        name = self.choose(*self.kinds, *self.kinds, "x", "w", "fixed")
        place = around if around is not None and self.draw.random() < 0.2 else self.place()
        return self.element(name, place)

    def number(self, around: str | None = None) -> str:
        one, two = self.item(around), self.item(around)
        return self.choose(
            f"0.5 * {one} - 0.4 * {two}",
            f"ops.sin({one}) * {two}",
            f"0.6 * ops.sin({one} + {two})",
            f"0.7 * {one}",
            f"{one} * {two} * 0.5 + 0.1",
        )

    def condition(self) -> str:
        level = self.choose("-0.3", "0.05", "0.4", "1.2")
        by_value = f"{self.item()} {self.choose('<', '>')} {level}"
        if not self.loops:
            return by_value
        t = self.loops[-1]
        by_trip = self.choose(f"{t} > {self.n // 2}", f"{t} % 2 == 0", f"m < {self.n // 2}")
        return self.choose(by_value, by_value, by_trip, f"({by_value}) and ({by_trip})")

    # Statements.
    def block(self, level: int, least: int = 1) -> None:
        for _ in range(self.draw.randint(least, 3)):
            self.statement(level)

    def statement(self, level: int) -> None:
        self.left -= 1
        simple = [self.write, self.write, self.write, self.add_up]
        if self.loops:
            simple.append(self.step)
        compound = [self.branch, self.loop, self.loop] if level < 4 and self.left > 0 else []
        jumps = [self.jump] if self.loops else []
        self.choose(*simple, *compound, *jumps)(level)

    def add_up(self, level: int) -> None:
        self.put(level, f"s = 0.6 * s + {self.number()}")

    def step(self, level: int) -> None:
        self.put(level, self.choose("m = m + 1", "m += 1", "m = (m + 2) % " + str(self.n)))

    def write(self, level: int) -> None:
        name, place = self.choose(*self.kinds), self.place()
        whole = self.kinds[name] != "vector" and self.choose(True, False, False)
        if whole:
            rows = self.kinds[name] == "rows"
            target, one, two = (
                f"{name}[{at}]" if rows else f"{name}[:, {at}]"
                for at in (place, self.place(), self.place())
            )
            value, factor = f"{one} * 0.5 + {two} * 0.3", "0.7"
        else:
            target, value = self.element(name, place), self.number(place)
            factor = "0.5 + 0.1 * s"
        updated = f"{name} = {name}.at{target[len(name) :]}"
        fresh = self.number(place) if self.choose(True, False) else value
        self.put(
            level,
            self.choose(
                f"{target} = {fresh}",
                f"{updated}.set({fresh})",
                f"{updated}.add(0.4 * ({value}))",
                f"{target} += 0.3 * ({value})",
                f"{target} *= {factor}",
            ),
        )

    def branch(self, level: int) -> None:
        self.put(level, f"if {self.condition()}:")
        self.block(level + 1)
        if self.choose(True, False):
            self.put(level, "else:")
            self.block(level + 1)

    def jump(self, level: int) -> None:
        word = self.choose("break", "break", "continue")
        self.put(level, f"if {self.condition()}:", f"    {word}")

    def loop(self, level: int) -> None:
        self.count += 1
        t, n, k = f"t{self.count}", self.n, self.choose(1, 2, 3)
        inner = len(self.loops)
        whole = [f"0, {n}", f"0, {n}", f"0, {n}", f"{k}, {n}", f"0, {n - k}", f"{n - 1}, -1, -1"]
        whole += [f"{n - 1}, {k - 1}, -1", f"0, {n}, 2", f"{k}, {n - 1}"]
        few = ["0, 3", "2, 0, -1", f"0, {self.loops[-1]} % 3", "1, 4"] if inner else []
        over = self.choose(*(few if inner and self.draw.random() < 0.8 else whole))
        if self.draw.random() < 0.2 and not inner:
            self.put(level, f"{t} = -1", f"while {t} < {n} - 1 and ({self.condition()}):")
            self.put(level + 1, f"{t} = {t} + 1")  # first, because a `continue` would skip it
            self.loops.append(t)
            self.block(level + 1)
        else:
            self.put(level, f"for {t} in ops.range({over}):")
            self.loops.append(t)
            if self.draw.random() < 0.3:
                self.jump(level + 1)
            self.block(level + 1)
        self.loops.pop()

    def whole(self) -> str:
        for name in "ABC"[: self.draw.randint(1, 3)]:
            self.kinds[name] = self.choose("vector", "vector", "rows", "columns")
        first = [f"{name} = {self.choose(*_BUFFERS[kind])}" for name, kind in self.kinds.items()]
        self.put(1, *first, "s = 0.3 * x[0]", "m = 0")
        self.loop(1)
        while self.left > 0:
            self.statement(1)
        ends = ["s", *(f"({name} * ops.weights({name})).sum()" for name in self.kinds)]
        if self.choose(True, False):  # only a part of it is read
            ends = ["0.0 * x[0]", *self.draw.sample(ends, self.draw.randint(1, len(ends)))]
        head = f"def program(ops, x, w, fixed, table, n={self.n}):"
        return "\n".join([head, *self.lines, f"    return {' + '.join(ends)}", ""])


class Buffer(np.ndarray):
    """NumPy's array of jets, with JAX's updates."""

    @property
    def at(self) -> "_At":
        return _At(self)

    def sum(self) -> Any:
        return np.asarray(self).sum()


class _At:
    def __init__(self, whole: Any, key: Any = None) -> None:
        self.whole, self.key = whole.copy(), key

    def __getitem__(self, key: Any) -> "_At":
        return _At(self.whole, key)

    def set(self, value: Any) -> Any:
        self.whole[self.key] = value
        return self.whole

    def add(self, value: Any) -> Any:
        self.whole[self.key] = self.whole[self.key] + value
        return self.whole


class PlainBuffers:
    """The functions that a program calls, in plain Python."""

    range = staticmethod(range)

    def sin(self, x: Any) -> Any:
        one = Plain().sin
        return np.array([one(e) for e in x], object).view(Buffer) if np.ndim(x) else one(x)

    def stack(self, arrays: Any, axis: int) -> Any:
        return np.stack(arrays, axis).view(Buffer)

    def weights(self, array: Any) -> Any:
        return weights(array.shape)


class GraphBuffers:
    """The functions that a program calls, in the graph."""

    range = staticmethod(kg.range)
    sin = staticmethod(kg.sin)
    stack = staticmethod(kg.stack)

    def weights(self, array: Any) -> Any:
        return weights(array.shape)


def weights(shape: tuple[int, ...]) -> Any:
    return np.cos(np.arange(np.prod(shape))).reshape(shape)


def data(size: int) -> tuple[Any, Any]:
    """The arrays that a program reads, without the differentiated ones."""
    i = np.arange(size)
    return np.sin(1.3 * i + 0.2), (7 * i + 3) % size


def points(size: int) -> list[Any]:
    """Values of x and w."""
    rng = np.random.default_rng(size)
    return [rng.normal(0, 0.7, (2, size)) for _ in range(3)]


def expected(run: Any, size: int, at: Any) -> tuple[float, Any, Any]:
    """Value, gradient and Hessian times a direction, by plain Python."""
    jets = np.array(Jet.inputs(*np.ravel(at)), object).view(Buffer)
    found = run(PlainBuffers(), jets[:size], jets[size:], *data(size))
    return found.v, found.g, found.h @ direction(size)


def direction(size: int) -> Any:
    return np.cos(1 + 2.0 * np.arange(2 * size))


def program(seed: int) -> tuple[str, int]:
    """The source of a program that stays inside its arrays, and their size."""
    draw = random.Random(seed)
    while True:
        size = draw.choice([5, 5, 6, 7, 8, 9, 12, 12, 17, 40])
        source = Writer(draw, size).whole()
        if stays(source, size):
            return source, size


def stays(source: str, size: int) -> bool:
    """Whether plain Python computes a program, with results of ordinary size."""
    with compiled(source) as run:
        try:
            found = [run(PlainBuffers(), *at.view(Buffer), *data(size)) for at in points(size)]
        except IndexError:
            return False
    return float(np.abs(found).max()) < 100


def agree(source: str, size: int, way: int, twice: bool = True) -> None:
    """Compare value, gradients and, if `twice`, tangent and Hessian with plain Python.

    `way` is a number below six: three ways to differentiate twice, each at one point (even) or for
    a batch of points.
    """
    places = points(size)[: 1 if way % 2 == 0 else None]
    with compiled(source) as run:
        wanted = [expected(run, size, at) for at in places]
        given = np.moveaxis(places, 1, 0) if way % 2 else places[0]
        found = differentiated(run, size, way, twice)(*given)
    names = ["value", "by x", "by w", "forward", "twice by x", "twice by w"]
    for i, (value, slope, curved) in enumerate(wanted):
        along = slope @ direction(size)
        right = [value, *np.split(slope, 2), along, *np.split(curved, 2)]
        for name, one, other in zip(names, found, right, strict=twice):
            one = one[i] if way % 2 else one
            scale = 1 + np.abs(other).max()
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-8 * scale, err_msg=name)


def differentiated(run: Any, size: int, way: int, twice: bool) -> Any:
    """The compiled program: value and gradients, tangent and Hessian times a direction."""
    fixed, table = map(kg.data, data(size))
    staged, shape = kg.function(run), (3, size) if way % 2 else (size,)
    x, w = kg.placeholder(shape, name="x"), kg.placeholder(shape, name="w")
    along = [np.broadcast_to(part, shape) for part in np.split(direction(size), 2)]

    def one(x: Any, w: Any) -> Any:
        return staged(GraphBuffers(), x, w, fixed, table)

    rows = kg.vmap(one)(x, w) if way % 2 else one(x, w)
    total = rows.sum() if way % 2 else rows
    slopes = kg.gradients(total, [x, w])
    if not twice:
        return kg.compile([x, w], [rows, *slopes])
    tangent = kg.jvp(rows, [x, w], along)
    if way // 2 == 0:
        curved = kg.jvp(slopes, [x, w], along)
    elif way // 2 == 1:
        curved = kg.gradients(tangent.sum(), [x, w])
    else:
        curved = kg.gradients(sum((g * a).sum() for g, a in zip(slopes, along)), [x, w])
    return kg.compile([x, w], [rows, *slopes, tangent, *curved])


def shrunk(source: str, size: int, way: int) -> str:
    """The program without the lines that its fault does not need."""
    kind = fault(source, size, way)
    i = 1
    while i < len(source.splitlines()) - 1:
        for smaller in shorter(source.splitlines(), i):
            if kind is not None and fault(smaller, size, way) == kind:
                source = smaller
                break
        else:
            i += 1
    return source


def shorter(lines: list[str], i: int) -> Iterator[str]:
    """The program without a line and its block, or without the line alone."""
    deep = [len(line) - len(line.lstrip()) for line in lines]
    end = next((j for j in range(i + 1, len(lines)) if deep[j] <= deep[i]), len(lines))
    yield "\n".join([*lines[:i], *lines[end:], ""])
    if end > i + 1:
        inside = [line[4:] for line in lines[i + 1 : end]]
        yield "\n".join([*lines[:i], *inside, *lines[end:], ""])


def fault(source: str, size: int, way: int) -> type | None:
    try:
        if not stays(source, size):
            return None
    except Exception:
        return None
    try:
        agree(source, size, way)
    except Exception as error:
        return type(error)
    return None


if __name__ == "__main__":
    number = int(sys.argv[1])
    text, length = program(number)
    print(text, shrunk(text, length, number % 6), sep="\n")
