"""Random programs of branches and loops with returns, in which some ways bind variables.

Each program asks each of its conditions at one place, and is run for all combinations of them.
Where Python finds a variable unbound, so does the graph; where it finds none, the graph gives the
result.
"""

import contextlib
import itertools
import random

import numpy as np
import pytest
from tests.autograph.programs import compiled

import kinetograph as kg

CONDITIONS = 4
COMBINATIONS = [np.array(c) for c in itertools.product([0.0, 1.0], repeat=CONDITIONS)]


class Writer:
    """Writes a program of the parameter c, an array of numbers that are 0 or 1."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.conditions = iter(range(CONDITIONS))
        self.numbers = itertools.count(2)
        self.lines = []

    def put(self, level, *lines):
        self.lines += ["    " * level + line for line in lines]

    def bind(self, level, targets):
        self.put(level, f"{self.random.choice(targets)} = c[0] + {next(self.numbers)}")

    def block(self, level, in_loop):
        kinds = ["if", "if", "for", "range", "while", "jump", "jump", "jump"]
        for kind in self.random.sample(kinds, self.random.choice([0, 1, 1, 2])):
            self.statement(kind, level, in_loop)
        self.bind(level, "yyyyz")

    def statement(self, kind, level, in_loop):
        condition = next(self.conditions, None)
        if condition is None:
            self.bind(level, "z")
        elif kind == "jump":
            word = self.random.choice(["break", "continue", "return"] if in_loop else ["return"])
            value = f" c[1] - {next(self.numbers)}" if word == "return" else ""
            self.put(level, f"if c[{condition}]:", f"    {word}{value}")
        elif kind == "if":
            self.put(level, f"if c[{condition}] > 0:")
            self.block(level + 1, in_loop)
            if self.random.random() < 0.3:
                self.put(level + 1, f"return c[2] - {next(self.numbers)}")
            if self.random.random() < 0.8:
                self.put(level, "else:")
                self.block(level + 1, in_loop)
        else:
            loops = {"for": "for _ in kg.range(2):", "range": "for _ in range(2):"}
            self.put(level, loops.get(kind, f"while n < c[{condition}]:"))
            if kind == "while":
                self.put(level + 1, "n = n + 1")
            self.block(level + 1, True)

    def program(self):
        self.put(0, "def program(c):")
        self.put(1, "n = 0.0", "if n:", "    y = z = 0.0")
        if self.random.random() < 0.2:
            self.put(1, "y = None")
        for kind in self.random.choice([["if"], ["if", "if"], ["range", "if"], ["while", "if"]]):
            self.statement(kind, 1, False)
        self.put(1, "return y")
        return "\n".join([*self.lines, ""])


def outcome(function, *arguments):
    """A number, or the name of an error."""
    try:
        return float(function(*arguments))
    except (UnboundLocalError, TypeError) as error:  # a TypeError where None is no number
        return "unbound" if isinstance(error, UnboundLocalError) else "none"


def python_range(*bounds):
    return range(*map(int, bounds))


@contextlib.contextmanager
def python():
    """Programs as Python runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kg, "range", python_range)
        yield


def check(seeds):
    """Compare programs with Python; give the number of those that always have a result there, and
    those of them that are refused.
    """
    working, refused = 0, []
    c = kg.placeholder(CONDITIONS, name="c")
    outputs, expected, sources = [], [], []
    for seed in seeds:
        source = Writer(seed).program()
        with compiled(source) as program:
            with python():
                found = [outcome(program, combination) for combination in COMBINATIONS]
            if "unbound" in found or "none" in found:
                if seed % 4 == 0:
                    check_unbound(program, found)
                continue
            working += 1
            try:
                result = kg.autograph.convert(program)(c)
            except (ValueError, TypeError) as error:
                refused.append(f"{source}\n{error}")
                continue
        outputs.append(result if isinstance(result, kg.Array) else kg.data(float(result)))
        expected.append(found)
        sources.append(source)
    f = kg.compile([c], outputs)
    got = np.transpose([f(combination) for combination in COMBINATIONS])
    for source, one, other in zip(sources, expected, got, strict=True):
        np.testing.assert_array_equal(other, one, err_msg=source)
    return working, refused


def check_unbound(program, expected):
    """A program that needs a variable that is not bound is refused, or raises where Python does."""
    with contextlib.suppress(ValueError, TypeError):
        staged = kg.function(program)
        staged.trace(COMBINATIONS[0])
        for combination, one in zip(COMBINATIONS, expected, strict=True):
            assert outcome(staged, combination) == one


def check_refusals(working, refused):
    """Refused are a few programs that carry None into a loop, and no others."""
    for text in refused:
        assert "is not allowed to be None before the loop" in text, text
    assert len(refused) <= 1 + working / 25


def test_programs_with_returns():
    working, refused = check(range(20))
    assert working >= 12
    check_refusals(working, refused)


@pytest.mark.slow
def test_many_programs_with_returns():
    working, refused = check(range(1000, 1400))
    assert working >= 200
    check_refusals(working, refused)
