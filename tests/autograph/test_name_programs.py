"""Random programs that give lists, dictionaries and arrays second names, and change them in place.

Each program is run for all combinations of its conditions: it is refused, or gives what Python
gives. Programs that work and those that are refused are counted, so that neither is missing.
"""

import itertools
import random

import numpy as np
import pytest
from tests.autograph.programs import compiled
from tests.autograph.test_return_programs import CONDITIONS, python

import kinetograph as kg
from kinetograph.graph.errors import StagingError, SymbolicError

COMBINATIONS = [np.array(c) for c in itertools.product([0.0, 1.0], repeat=CONDITIONS)]


class Writer:
    """Writes a program of the parameter c, an array of numbers that are 0 or 1.

    `arrays` tells whether the variables p, q, r hold arrays, else lists and a dictionary of one.
    """

    def __init__(self, seed, arrays):
        self.random = random.Random(seed)
        self.conditions = iter(range(CONDITIONS))
        self.numbers = itertools.count(2)
        self.lines = []
        self.arrays = arrays

    def put(self, level, *lines):
        self.lines += ["    " * level + line for line in lines]

    def new(self):
        number = f"c[0] + {next(self.numbers)}"
        return f"({number}) * np.ones(2)" if self.arrays else f"[{number}, {next(self.numbers)}.0]"

    def name(self):
        return self.random.choice("pqr")

    def small(self, level):
        kinds = ["rebind", "rebind", "write", "write", "new", "add", "read"]
        kinds += [] if self.arrays else ["box", "method", "unbox"]
        kind = self.random.choice(kinds)
        one, other = self.random.sample("pqr", 2)
        if kind == "rebind":
            self.put(level, f"{one} = {other}")
        elif kind == "write":
            self.put(level, f"{one}[0] = {one}[0] + {next(self.numbers)}")
        elif kind == "new":
            self.put(level, f"{one} = {self.new()}")
        elif kind == "add":
            self.put(level, f"{one}[1] += {other}[0]")
        elif kind == "read":
            self.put(level, f"t = t + {one}[0]")
        elif kind == "box":
            self.put(level, f"box['k'] = {one}")
        elif kind == "unbox":
            self.put(level, f"{one} = box['k']")
        else:
            self.put(level, f"{one}.reverse()")

    def statement(self, level):
        kind = self.random.choice(["if", "if", "small", "small", "for", "while", "exp"])
        condition = next(self.conditions, None) if kind != "small" else None
        if condition is None:
            self.small(level)
        elif kind == "exp":
            one, other, third = (self.name() for _ in range(3))
            self.put(level, f"{one} = {other} if c[{condition}] > 0 else {third}")
        elif kind == "if":
            self.put(level, f"if c[{condition}] > 0:")
            self.block(level + 1)
            if self.random.random() < 0.5:
                self.put(level, "else:")
                self.block(level + 1)
        else:
            loop = "for _ in kg.range(2):" if kind == "for" else f"while n < 2 * c[{condition}]:"
            self.put(level, loop)
            if kind == "while":
                self.put(level + 1, "n = n + 1")
            self.block(level + 1)

    def block(self, level):
        for _ in range(self.random.choice([1, 2, 2, 3])):
            self.statement(level)

    def program(self):
        self.put(0, "def program(c):")
        self.put(1, "n = t = 0.0", *(f"{name} = {self.new()}" for name in "pqr"))
        if not self.arrays:
            self.put(1, "box = {'k': p}")
        for _ in range(self.random.choice([2, 3, 4])):
            self.statement(1)
        last = "" if self.arrays else " + box['k'][0]"
        self.put(1, f"return p[0] + 3.0 * p[1] + 7.0 * q[0] + 11.0 * q[1] + 13.0 * r[0]{last} + t")
        return "\n".join([*self.lines, ""])


def check(seeds, arrays):
    """Compare programs with Python; give how many agree, and the texts of those refused."""
    refused = []
    c = kg.placeholder(CONDITIONS, name="c")
    outputs, expected, sources = [], [], []
    for seed in seeds:
        source = Writer(seed, arrays).program()
        with compiled(source) as program:
            with python():
                found = [float(program(combination)) for combination in COMBINATIONS]
            try:
                result = kg.autograph.convert(program)(c)
            except (StagingError, SymbolicError) as error:
                refused.append(f"{source}\n{error}")
                continue
        outputs.append(result if isinstance(result, kg.Array) else kg.data(float(result)))
        expected.append(found)
        sources.append(source)
    f = kg.compile([c], outputs)
    got = np.transpose([f(combination) for combination in COMBINATIONS])
    for source, one, other in zip(sources, expected, got, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12, err_msg=source)
    return len(sources), refused


@pytest.mark.parametrize("arrays", [False, True])
def test_programs_with_second_names(arrays):
    working, refused = check(range(25), arrays)
    assert working >= 8
    assert refused


@pytest.mark.slow
@pytest.mark.parametrize("arrays", [False, True])
def test_many_programs_with_second_names(arrays):
    working, refused = check(range(1000, 1500), arrays)
    assert working >= 150
    assert refused
