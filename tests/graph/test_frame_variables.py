"""Reading the variables of users' frames, also where CPython fails."""

import subprocess
import sys

import kinetograph as kg
from kinetograph.graph.frame_variables import local_variables


def seen():
    return local_variables(sys._getframe(1))


def test_variables_are_read():
    x, y = 1, 2
    f = lambda: y
    assert seen() == {"x": x, "y": f(), "f": f}


def test_a_variable_of_a_closure_is_read_until_a_comprehension_replaces_it():
    x, other = 1, 2
    f = lambda: x
    before = seen()
    inside = [seen() for x in [7]]
    assert before == {"x": f(), "other": other, "f": f}
    assert "x" not in inside[0] or sys.version_info < (3, 13)
    assert inside[0]["other"] == other


PROGRAMS = [
    "x = 1; f = lambda: x; return [kg.exp(a) // n for x in [1, 2]], f()",
    "return [kg.abs(n) % n for x in [1, 2] for y in [x]], [y for y in [1] if any(y for z in [1])]",
    "x = kg.normal(0, 1); f = lambda: x; return [kg.model(f()) for x in [1, 2]]",
    "x = a; f = lambda: x; return [str(kg.exp(f()) + x) for x in [1, 2]]",
]


def test_a_comprehension_over_a_variable_of_a_closure_does_not_end_the_process():
    """Run the code in a separate process."""
    functions = "\n".join(f"def f{i}(a, n): {text}" for i, text in enumerate(PROGRAMS))
    calls = "\n".join(f"print(type(f{i}(a, n)))" for i in range(len(PROGRAMS)))
    text = "import kinetograph as kg\na, n = kg.placeholder(), kg.placeholder((), int)\n"
    found = subprocess.run(
        [sys.executable, "-c", f"{text}{functions}\n{calls}"], capture_output=True, text=True
    )
    assert found.returncode == 0, found.stderr
    assert len(found.stdout.splitlines()) == len(PROGRAMS)


def test_arrays_are_named_there():
    """Arrays are named by the variables that can be read."""
    rate, count = kg.placeholder(), kg.placeholder((), int)
    f = lambda: rate
    texts = [str(kg.exp(rate) * count) for rate in [f()]]
    assert "count" in texts[0]
