"""Which piece of source a function is made of."""

import ast
import importlib.util
import linecache
import os
import subprocess
import sys
import textwrap

import pytest
from tests.autograph.sources import function, module

import kinetograph as kg
from kinetograph.autograph.definition import NoSource, find_definition


def body(f):
    """The source of a lambda's body."""
    return ast.unparse(find_definition(f).node.body)


def test_functions_by_line_and_name():
    found = module(
        """
        def f(x): return x
        if True:
            def f(x):
                return x + 1

        def g(x): return x + 2
        """
    )
    node = find_definition(found["f"]).node
    assert (node.name, node.lineno, ast.unparse(node.body)) == ("f", 4, "return x + 1")
    assert find_definition(found["g"]).node.lineno == 7


def test_decorated_functions_start_at_the_first_decorator():
    found = module(
        """
        def same(f): return f
        @same
        @(
            same
        )
        def f(x):
            return x
        """
    )
    node = find_definition(found["f"]).node
    assert node.lineno == 7
    assert found["f"].__code__.co_firstlineno == 3


def test_methods_know_their_class():
    found = module(
        """
        class Outer:
            class _Inner:
                def f(self):
                    def g(): return self.__x
                    return g
            def f(self): pass
        def f(): pass
        """
    )
    outer = found["Outer"]
    assert find_definition(outer._Inner.f).class_name == "_Inner"
    assert find_definition(outer.f).class_name == "Outer"
    assert find_definition(found["f"]).class_name is None
    inner = outer._Inner()
    inner._Inner__x = 3
    nested = find_definition(inner.f())
    assert (nested.node.name, nested.class_name) == ("g", "_Inner")


def test_private_parameters():
    found = module(
        """
        class Tank:
            def f(self, __p, *, __q=1): return __p + __q
        """
    )
    assert find_definition(found["Tank"].f).node.name == "f"


LAMBDAS = """
pair = [lambda x: x + 1, lambda x: x + 2]
equal = [lambda x: x + 1, lambda x: x + 1]
nested = lambda x: lambda x: x + 1
triple = lambda x: lambda x: lambda x: x
wide = (lambda x:
    x +
    1, lambda x: x)
default = lambda x=lambda y: y: x
called = (lambda f: f(lambda x: x * 3))(lambda g: g)
"""


def test_lambdas_of_a_line():
    found = module(LAMBDAS)
    assert [body(f) for f in found["pair"]] == ["x + 1", "x + 2"]
    columns = [find_definition(f).node.col_offset for f in found["equal"]]
    assert columns == [9, 26]  # equal ones, but not the same
    assert [body(f) for f in found["wide"]] == ["x + 1", "x"]
    assert body(found["default"]) == "x"
    assert body(found["default"]()) == "y"
    assert body(found["called"]) == "x * 3"


def test_lambdas_in_lambdas():
    found = module(LAMBDAS)
    assert body(found["nested"]) == "lambda x: x + 1"
    assert body(found["nested"](0)) == "x + 1"
    assert body(found["triple"]) == "lambda x: lambda x: x"
    assert body(found["triple"](0)) == "lambda x: x"
    assert body(found["triple"](0)(0)) == "x"


def test_lambdas_in_every_place():
    found = module(
        """
        def keep(*values, **named): return [*values, *named.values()]
        many = keep(*[lambda x: x + i for i in range(2)], k=lambda x: x - 1)
        text = f"{(kept := lambda x: x * 7)}"
        class A: twice = property(lambda self: 2)
        """
    )
    assert [body(f) for f in found["many"]] == ["x + i", "x + i", "x - 1"]
    assert body(found["kept"]) == "x * 7"
    assert body(found["A"].twice.fget) == "2"


def test_two_files_with_equal_functions():
    """Equal code objects in two files are different functions: each has its own source."""
    source = "def f(x):\n    if x > 0:\n        return x\n    return 0\n"
    one, two = function(source), function(source)
    for f in (one, two):
        made = kg.autograph.convert(f, fast=False)
        assert made(3) == 3
        inner = made.__closure__ and made.__wrapped__
        assert inner is f
        converted = kg.autograph.convert(f)
        assert converted.__wrapped__.__code__.co_filename == f.__code__.co_filename


def test_errors_name_the_right_one_of_two_files():
    source = "def f(x):\n    if x:\n        raise KeyError(x)\n"
    for f in (function(source), function(source)):
        with pytest.raises(KeyError) as caught:
            kg.autograph.convert(f, fast=False)(1)
        assert caught.traceback[-1].frame.code.raw.co_filename == f.__code__.co_filename


def test_source_of_notebooks():
    """A cell is known to `linecache` alone, under a name that is no file."""
    f = function("def f(x):\n    return 1 if x > 0 else 2\n")
    assert not os.path.exists(f.__code__.co_filename)
    assert find_definition(f).node.name == "f"


def test_source_given_by_a_loader():
    """Files that exist only for an importer, as in archives."""

    class Loader:
        def get_source(self, name):
            return "def f(x):\n    return x if x > 0 else -x\n"

    spec = importlib.util.spec_from_loader("from_nowhere", loader=None)
    names = {"__name__": "from_nowhere", "__loader__": Loader(), "__spec__": spec}
    exec(compile(Loader().get_source(""), "nowhere/from_nowhere.py", "exec"), names)
    assert "if_exp" in kg.autograph.to_code(names["f"])


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_changed_files(tmp_path):
    path = tmp_path / "changing.py"
    path.write_text("def f(x):\n    return x\n")
    first = load(path).f
    assert find_definition(first).node.name == "f"
    path.write_text("# a comment\n\ndef f(x, y):\n    return x + y\n")
    os.utime(path, (10, 10))
    linecache.checkcache(str(path))
    second = load(path).f
    assert ast.unparse(find_definition(second).node.body) == "return x + y"
    with pytest.raises(NoSource, match="does not define it"):
        find_definition(first)
    path.write_text("def f(y):\n    return -y\n")  # the same place, but other parameters
    os.utime(path, (20, 20))
    with pytest.raises(NoSource, match=r"line 1 of .*changing\.py does not define it"):
        find_definition(first)


def test_files_that_cannot_be_parsed(tmp_path):
    path = tmp_path / "breaking.py"
    path.write_text("def f(x):\n    return x\n")
    f = load(path).f
    path.write_text("def f(x:\n")
    os.utime(path, (10, 10))
    with pytest.raises(NoSource, match="cannot be parsed"):
        find_definition(f)
    path.unlink()
    with pytest.raises(NoSource, match="cannot be read"):
        find_definition(f)


def executed(source, name="f"):
    """A function without a source."""
    names = {"__name__": "elsewhere"}
    exec(textwrap.dedent(source), names)
    return names[name]


def test_no_source_is_warned_of_once_and_runs():
    f = executed("def f(x):\n    if x > 0:\n        return 1\n    return 2")
    with pytest.warns(kg.AutographWarning, match="f .*cannot be read.*do_not_convert") as caught:
        made = kg.autograph.convert(f)
    assert [made(1), made(-1)] == [1, 2]
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_no_source_and_a_symbolic_condition():
    f = executed("def f(x):\n    if x > 0:\n        return 1\n    return 2")
    with pytest.warns(kg.AutographWarning):
        made = kg.autograph.convert(f)
    with pytest.raises(kg.SymbolicTruthError, match="source code may not be visible"):
        made(kg.placeholder(name="x"))


def test_no_source_of_a_callee():
    f = executed("def f(x):\n    return 1 if x > 0 else 2")
    g = function("def g(x):\n    return f(x)\n", f=f)
    made = kg.autograph.convert(g)
    x = kg.placeholder(name="x")
    with (
        pytest.warns(kg.AutographWarning, match="cannot be read"),
        pytest.raises(kg.SymbolicTruthError, match="source code may not be visible"),
    ):
        made(x)


def test_no_source_is_an_error_if_strict():
    f = executed("def f(x):\n    return 1 if x > 0 else 2")
    with pytest.raises(kg.ConversionError, match=r"f .*cannot be read"):
        kg.autograph.convert(f, strict=True)
    g = function("def g(x):\n    return h(x)\n", h=f)
    with pytest.warns(kg.AutographWarning):
        assert kg.autograph.convert(g, fast=False)(1) == 1
    with pytest.raises(kg.ConversionError, match=r"f .*cannot be read"):
        kg.autograph.convert(g, strict=True)(kg.placeholder())


SCRIPT = """
import kinetograph as kg
pair = [lambda x: x + 1 if x > 0 else 0, lambda x: x * 5 if x > 0 else 0]
equal = [lambda x: x + 1 if x > 0 else 0, lambda x: x + 1 if x > 0 else 0]
nested = lambda x: lambda x: x + 1 if x > 0 else 0
def f(x):
    assert x > 0, "small"
    y = (x if x > 0 else 0)
    return y
for one in (*pair, *equal, nested(0), f):
    print(kg.autograph.to_code(one).replace("\\n", ";"))
print(kg.autograph.convert(f, fast=False)(-3) if not __debug__ else "")
"""


def run_script(tmp_path, *options):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    source = os.path.dirname(os.path.dirname(kg.__file__))
    done = subprocess.run(
        [sys.executable, *options, str(path)],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return done.stdout.splitlines()


@pytest.mark.slow
def test_without_columns(tmp_path):
    """`-X no_debug_ranges`: lambdas of a line are told apart by what they compute."""
    lines = run_script(tmp_path, "-X", "no_debug_ranges")
    assert ["x + 1" in line for line in lines[:5]] == [True, False, True, True, True]
    assert "x * 5" in lines[1]
    assert all("if_exp" in line for line in lines[:6])


def test_without_asserts(tmp_path):
    """`python -O` leaves out assertions, in converted code as well."""
    lines = run_script(tmp_path, "-O")
    assert "assert" not in lines[5]
    assert lines[6] == "0"
    assert "assert_stmt" in kg.autograph.to_code(asserting)


def asserting(x):
    assert x > 0


def test_functions_of_docstrings():
    """`doctest` puts a source into `linecache` by a way of its own."""
    import doctest

    text = (
        ">>> def f(x):\n...     if x > 0:\n...         return 1\n...     return 2\n"
        ">>> 'if_stmt' in kg.autograph.to_code(f)\nTrue\n"
    )
    test = doctest.DocTestParser().get_doctest(text, {"kg": kg}, "example", "example.py", 0)
    result = doctest.DocTestRunner(verbose=False).run(test)
    assert (result.failed, result.attempted) == (0, 2)
