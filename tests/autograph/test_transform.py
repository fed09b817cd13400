"""Converted functions: their looks, their frames, their code, and every class of syntax."""

import ast
import functools
import gc
import inspect
import linecache
import sys
import threading
import traceback
import types
import warnings
import weakref

import pytest
from tests.autograph import syntax
from tests.autograph.sources import function, module

import kinetograph as kg
from kinetograph.autograph import transform as transforming
from kinetograph.autograph.transform import converted_code, is_converted, transform


def convert(f):
    """The converted function, without the way around it."""
    return kg.autograph.convert(f, fast=False)


# Every class of syntax.
def outcome(f):
    try:
        return f(3, 4, (1, 2, 3), types.SimpleNamespace())
    except Exception as error:
        return type(error), error.args


@pytest.mark.parametrize("body", syntax.BODIES)
def test_syntax(body):
    f = function(syntax.source(body))
    expected = outcome(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error", kg.AutographWarning)
        assert outcome(convert(f)) == expected
    ast.parse(kg.autograph.to_code(f))


ELSEWHERE = {
    *("Module", "Interactive", "Expression", "FunctionType", "TypeIgnore"),  # no parts of functions
    *("AugLoad", "AugStore", "Param", "Suite", "Index", "ExtSlice"),  # of older versions
    *("Num", "Str", "Bytes", "NameConstant", "Ellipsis"),
    "type_ignore",
}


def kinds(of):
    """The classes of syntax that have no subclasses of their own."""
    found = set()
    for kind in of.__subclasses__():
        inner = kinds(kind)
        found |= inner or {kind.__name__}
    return found


def test_all_classes_of_syntax_are_tried():
    """Fails when a version of Python has a class for which there is no snippet."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        known = kinds(ast.AST)
    found = {
        type(node).__name__
        for body in syntax.BODIES
        for node in ast.walk(ast.parse(syntax.source(body)))
    }
    own = {"Precedence", "Slice"} | ELSEWHERE
    missing = {k for k in known - found - own if hasattr(ast, k)}
    assert not {k for k in missing if isinstance(getattr(ast, k), type)}
    assert {"TryStar", "MatchClass", "NamedExpr", "TypeAlias", "ParamSpec"} <= found


# What a converted function looks like.
def test_looks():
    noted = []

    def note(value):
        noted.append(value)
        return value

    names = module(
        """
        def keep(f):
            note('decorator')
            f.mark = 'mark'
            return f
        class Owner:
            @keep
            def method(self, a: note('annotation'), b=note([1]), *, c: int = note(3)) -> 'later':
                '''Text.'''
                return a if a else (b, c)
        """,
        note=note,
    )
    f = names["Owner"].method
    before = list(noted)
    made = convert(f)
    inner = transform(f)
    assert noted == before
    for other in (made, inner):
        assert inspect.signature(other) == inspect.signature(f)
        assert other.__name__ == "method"
        assert other.__qualname__ == "Owner.method"
        assert other.__doc__ == "Text."
        assert other.__module__ == "user_module"
        assert other.__wrapped__ is f
        assert other.mark == "mark"
    assert inner.__defaults__ is f.__defaults__
    assert inner.__kwdefaults__ == f.__kwdefaults__
    assert inner.__defaults__[0] is f.__defaults__[0]
    assert (
        inner.__annotations__
        == f.__annotations__
        == {"a": "annotation", "c": int, "return": "later"}
    )
    assert made(None, 0) == ([1], 3)


def test_names_of_code():
    f = function(
        "def f(x):\n    def g():\n        return 1\n    if x: return g\n    return lambda: 2\n"
    )
    made = transform(f)
    assert made.__code__.co_name == "f"
    assert made.__code__.co_filename == f.__code__.co_filename
    assert made.__code__.co_firstlineno == f.__code__.co_firstlineno
    assert made(1).__qualname__ == f(1).__qualname__ == "f.<locals>.g"
    assert made(0).__qualname__ == f(0).__qualname__ == "f.<locals>.<lambda>"
    assert made(1).__code__.co_firstlineno == 2


def test_type_parameters():
    f = function("def f[T](x: T):\n    return T if x else f.__type_params__\n")
    made = convert(f)
    assert made(1) is f(1)
    assert made(0) == f(0)


def test_future_features():
    f = function(
        """
        from __future__ import annotations
        def f(x):
            def g(a: missing): return a
            return g if x else 0
        """
    )
    assert convert(f)(1).__annotations__ == {"a": "missing"}


# Where its variables live.
def test_globals_stay_live():
    names = module(
        """
        n = 1
        def f(x): return n if x else 0
        def set(v):
            global n
            n = v
            if v: n = v
        """
    )
    made = convert(names["f"])
    assert made(1) == 1
    names["n"] = 2
    assert made(1) == 2
    convert(names["set"])(5)
    assert names["n"] == made(1) == 5


def test_cells_are_shared():
    names = module(
        """
        def make():
            n = 1
            def get(x): return n if x else 0
            def put(v):
                nonlocal n
                if v: n = v
            return get, put
        get, put = make()
        """
    )
    get, put = names["get"], names["put"]
    one, two = convert(get), convert(put)
    put(2)
    assert one(1) == 2
    two(3)
    assert get(1) == one(1) == 3
    assert get.__closure__[0] in transform(get).__closure__


def test_cells_bound_later():
    def make():
        f = convert(lambda x: later if x else 0)
        later = 7
        return f

    assert make()(1) == 7


def test_recursion_by_every_name():
    names = module("def f(n):\n    return 0 if n == 0 else 1 + f(n - 1)\n")
    assert convert(names["f"])(5) == 5

    def local(n):
        return 0 if n == 0 else 1 + local(n - 1)

    assert convert(local)(5) == 5


def test_super_and_class_cells():
    names = module(
        """
        class A:
            def m(self, x): return [x]
        class B(A):
            def m(self, x):
                found = super().m(x) if x else __class__
                return found
        """
    )
    made = convert(names["B"].m)
    assert made(names["B"](), 1) == [1]
    assert made(names["B"](), 0) is names["B"]


def test_docstrings_stay():
    f = function(
        """
        def f(x):
            'Text.'
            def g():
                'Inner.'
                return 1
            return g if x else 0
        """
    )
    assert convert(f)(1).__doc__ == "Inner."


# Frames.
LINES = """
def f(x, y):
    total = 0
    if x > 0:
        total = total + 1
        total = total * 2
    else:
        total = total - 1
    for i in y:
        if i > 1:
            continue
        total = total + i
    while total < x + 3:
        total = total + 1
        if total == 2:
            break
    return total if total > 0 else -1
"""


def traced_lines(f, *args):
    """The lines that a debugger stops at, and the names of the frames."""
    file, lines, names = f.__code__.co_filename, set(), set()

    def local(frame, event, arg):
        if event == "line":
            lines.add(frame.f_lineno)
            names.add(frame.f_code.co_name)
        return local

    before = sys.gettrace()
    sys.settrace(lambda frame, event, arg: local if frame.f_code.co_filename == file else None)
    try:
        result = convert(f)(*args)
    finally:
        sys.settrace(before)
    return result, lines, names


def test_debuggers_stop_at_both_branches():
    f = function(LINES)
    _, lines, names = traced_lines(
        f, kg.placeholder(name="x"), kg.placeholder(3, dtype=int, name="y")
    )
    assert lines >= {3, 4, 5, 6, 8, 9, 10, 12, 13, 14, 15, 17}
    assert lines <= set(range(2, 18))
    assert names <= {"f", "<lambda>"}


def test_debuggers_stop_where_python_goes():
    f = function(LINES)
    result, lines, _ = traced_lines(f, 1, [1])
    assert result == f(1, [1])
    assert not lines & {8, 11}
    assert lines >= {3, 4, 5, 6, 9, 10, 12, 13, 17}


def test_coverage_of_both_branches(tmp_path):
    coverage = pytest.importorskip("coverage")
    path = tmp_path / "covered.py"
    path.write_text(LINES)
    names = {}
    exec(compile(LINES, str(path), "exec"), names)
    made = convert(names["f"])
    if sys.gettrace() is not None:
        pytest.skip("another tracer is at work")
    watch = coverage.Coverage(data_file=None, config_file=False, include=[str(path)])
    watch.start()
    try:
        made(kg.placeholder(name="x"), kg.placeholder(3, dtype=int, name="y"))
    finally:
        watch.stop()
    covered = set(watch.get_data().lines(str(path)))
    assert covered >= {4, 5, 6, 8, 10, 12, 14}


def test_tracebacks():
    f = function(LINES.replace("total = total - 1", "raise KeyError(x)"))
    with pytest.raises(KeyError) as caught:
        convert(f)(-1, [])
    frames = [
        frame
        for frame in traceback.extract_tb(caught.value.__traceback__)
        if frame.filename == f.__code__.co_filename
    ]
    assert {frame.name for frame in frames} == {"f"}
    assert frames[-1].lineno == 8
    assert frames[-1].line == "raise KeyError(x)"


def test_warnings_point_at_the_line():
    f = function(
        "import warnings\ndef f(x):\n    if x:\n        warnings.warn('careful')\n    return x\n"
    )
    with pytest.warns(UserWarning, match="careful") as caught:
        convert(f)(1)
    assert (caught[0].filename, caught[0].lineno) == (f.__code__.co_filename, 4)


def test_columns():
    """Errors are underlined where the user wrote them."""
    f = function("def f(x):\n    if x:\n        y = 1 + x / 0\n    return y\n")
    with pytest.raises(ZeroDivisionError) as caught:
        convert(f)(1)
    text = "".join(traceback.format_tb(caught.value.__traceback__))
    assert "y = 1 + x / 0" in text
    assert "~~^~~" in text


def test_locals_for_a_debugger():
    """The frame of a converted function has the user's variables."""
    seen = []
    f = function(
        "def f(x):\n    y = x + 1\n    if x:\n        z = y\n        look()\n    return y\n",
        look=lambda: seen.append(dict(sys._getframe(1).f_locals)),
    )
    convert(f)(1)
    assert seen[0]["y"] == 2


# Codes that have been converted.
def test_code_is_converted_once():
    source = "def make(n):\n    def f(x):\n        return n if x else 0\n    return f\n"
    make = function(source)
    one, two = make(1), make(2)
    assert one.__code__ is two.__code__
    assert converted_code(one) is converted_code(two)
    assert [transform(f)(1) for f in (one, two)] == [1, 2]


def test_equal_codes_are_converted_each():
    source = "def f(x):\n    return 1 if x else 0\n"
    file = "<twice>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    codes = []
    for _ in range(2):
        names = {}
        exec(compile(source, file, "exec"), names)
        codes.append(names["f"])
    one, two = codes
    assert one.__code__ == two.__code__
    assert converted_code(one) is not converted_code(two)


def test_which_code_is_converted():
    f = function(
        "def f(x):\n    g = lambda: 1\n    def h(): return 2\n    if x: return g, h\n    return x\n"
    )
    made = transform(f)
    assert not is_converted(f.__code__)
    assert is_converted(made.__code__)
    assert all(is_converted(g.__code__) for g in made(1))


def test_nothing_is_kept_alive():
    def once():
        f = function("def f(x):\n    def g(): return x\n    if x: return g\n    return 0\n")
        made = transform(f)
        return [weakref.ref(f.__code__), weakref.ref(made.__code__), weakref.ref(made)]

    once()
    gc.collect()
    sizes = len(transforming._CONVERTED_CODES), len(transforming._CONVERSIONS)
    refs = [ref for _ in range(5) for ref in once()]
    gc.collect()
    assert [ref() for ref in refs] == [None] * 15
    after = len(transforming._CONVERTED_CODES), len(transforming._CONVERSIONS)
    assert all(now <= before for now, before in zip(after, sizes, strict=True))  # others may go


def test_callees_are_not_kept_alive():
    def once():
        names = module("def g(x):\n    return 1 if x else 0\ndef f(x):\n    return g(x)\n")
        convert(names["f"])(1)
        return weakref.ref(names["g"].__code__)

    refs = [once() for _ in range(3)]
    gc.collect()
    assert [ref() for ref in refs] == [None] * 3


def test_local_functions_are_not_kept_alive():
    """What a converted function defines and calls goes with the call."""
    refs = []
    source = """
    def f(x):
        def g():
            return x
        note(g)
        return g() if x else h(x)
    """
    f = function(source, note=lambda g: refs.append(weakref.ref(g)), h=lambda x: x)
    made = convert(f)
    for x in (1, 0, 2):
        made(x)
    gc.collect()
    assert [ref() for ref in refs] == [None] * 3


def test_what_is_known_of_a_callee_is_not_handed_on():
    """Decorators copy the attributes of a function to another one."""
    names = module(
        """
        import functools
        def g(x): return 1 if x else 0
        def h(x): return -1 if x else 0
        def f(x): return g(x), h(x)
        """
    )
    made = convert(names["f"])
    assert made(1) == (1, -1)
    names["h"] = functools.update_wrapper(names["h"], names["g"])
    assert made(1) == (1, -1)


def test_many_threads():
    made, errors = [], []
    functions = [function(LINES) for _ in range(4)]
    start = threading.Barrier(8)

    def work():
        try:
            start.wait(60)
            for f in functions:
                made.append((f, convert(f)(1, [1])))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not errors
    assert len(made) == 32
    assert all(result == f(1, [1]) for f, result in made)


def test_staging_in_many_threads():
    f = function(LINES)
    made, results = kg.autograph.convert(f), []
    work = lambda: results.append(
        made(kg.placeholder(name="x"), kg.placeholder(2, dtype=int, name="y"))
    )
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [type(r) for r in results] == [kg.Array] * 4


# What `convert` takes.
def test_decorators_with_options():
    @kg.autograph.convert(strict=True)
    def f(x):
        return 1 if x > 0 else 0

    assert f(1) == 1
    assert kg.autograph.convert(f) is f


def test_callables():
    class Owner:
        limit = 3

        def method(self, x):
            return x if x > self.limit else self.limit

        __call__ = method

        @staticmethod
        def static(x):
            return 1 if x else 0

        @classmethod
        def of_class(cls, x):
            return cls.limit if x else 0

    owner = Owner()
    for one in (owner.method, owner, Owner.static, owner.of_class, functools.partial(Owner.static)):
        made = kg.autograph.convert(one)
        assert made(5) == one(5)
    assert kg.autograph.convert(len) is len
    assert kg.autograph.convert(Owner) is Owner
    bound = kg.autograph.convert(vars(Owner)["static"])
    assert isinstance(bound, staticmethod)
    with pytest.raises(TypeError, match="convert: expected a function, got int"):
        kg.autograph.convert(3)


def test_left_alone():
    f = function("def f(x):\n    return 1 if x > 0 else 0\n")
    kg.autograph.do_not_convert(f)
    assert kg.autograph.convert(f) is f
    x = kg.placeholder(name="x")
    with pytest.raises(kg.SymbolicTruthError):
        f(x)
    g = function("def g(x):\n    return h(x)\n", h=f)
    with pytest.raises(kg.SymbolicTruthError):
        kg.autograph.convert(g)(x)


def test_pause():
    h = function("def h(x):\n    return 1 if x > 0 else 0\n")
    g = function(
        "def g(x):\n    with kg.autograph.do_not_convert():\n        return h(x)\n", h=h, kg=kg
    )
    with pytest.raises(kg.SymbolicTruthError):
        kg.autograph.convert(g)(kg.placeholder(name="x"))
    with pytest.raises(TypeError, match="do_not_convert: expected a function, got int"):
        kg.autograph.do_not_convert(3)
