"""Which loops over a range use their number only as an index."""

import ast
import math
import random
import time

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.autograph.passes.index_loops import mark_index_loops

NAMES = {"range": range, "len": len, "print": print, "kg.sin": kg.sin, "np.exp": np.exp}
NAMES |= {"math.sqrt": math.sqrt, "time.time": time.time, "random.gauss": random.gauss}


def _marked(body, head="for t in range(9):"):
    lines = "".join(f"\n    {line}" for line in body.splitlines())
    tree = ast.parse(f"def f(x, y, z):\n  {head}{lines}")
    mark_index_loops(tree.body[0], lambda node: NAMES.get(ast.unparse(node)))
    return hasattr(tree.body[0].body[0], "index_loop")


@pytest.mark.parametrize(
    "body",
    [
        *("x = x + y[t]", "x += y[t - 1, 2 * t + 1] * y[-t]", "x[t] = y[t % 3]", "pass", "x = y"),
        *("if t > 3: x = y[t]", "x = y[t] if 2 * t == len(y) else x", "x, z = z, y[t][z[t]]"),
        *("x = kg.sin(y[t])", "x = np.exp(x) + math.sqrt(2)", "x = z(x, y[t])", "x = y.sum()"),
        *("while x > 1: x = x / 2", "for k in range(3): x = x + y[t + k]", '"a comment"'),
    ],
)
def test_indices(body):
    assert _marked(body)


@pytest.mark.parametrize(
    "body",
    [
        *(
            "x = x + t",
            "x = x ** t",
            "x = y[t ** 2]",
            "x = f'{t}'",
            "x = z(t)",
            "t = 3",
            "x = y[t:]",
            "x = not t",
            "x = y * (t > 3)",
            "x = (t > 3) is True",
            "x = ~(t > 3)",
            "x = y[t] in z",
            "x = '%s' % y[t]",
            "x = y[t * 10**9 * z]",
        ),
        *("x.a = y[t]", "print(x)", "x.append(y[t])", "x = time.time()", "x = random.gauss(0, 1)"),
        *("x = [y[t] for _ in z]", "g = lambda: y[t]", "def g(): return y[t]", "import os"),
        *("for a in z: x = x + a", "with z: x = y[t]", "del x", "x = y[z := t]", "x = t in z"),
        *("for k in range(t): x = x + y[k]", "raise x", "assert x", "x.a[t] = 1", "x = t"),
    ],
)
def test_other_uses(body):
    assert not _marked(body)


@pytest.mark.parametrize(
    "head",
    ["for t in y:", "for t in z(9):", "for t, k in range(9):", "while x:", "for t in len(y):"],
)
def test_other_loops(head):
    assert not _marked("x = x + y[0]", head)
