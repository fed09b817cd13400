"""`kg.function`: a graph for each signature, states in common, nothing left behind by failures."""

import copy
import dataclasses
import functools
import gc
import inspect
import pickle
import sys
import threading
import types
import warnings
import weakref
from collections import namedtuple

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.autograph.function import function
from kinetograph.autograph.staged_function import StagedFunction
from kinetograph.graph.compiling.compiled import Function
from kinetograph.graph.control.state import top_level

Pair = namedtuple("Pair", "j k")


@dataclasses.dataclass
class Point:
    x: float
    y: float


def traced(f):
    """`f`, staged, and a list of what it was called with while graphs were made."""
    seen = []

    @functools.wraps(f)
    def noted(*args, **kwargs):
        seen.append((args, kwargs))
        return f(*args, **kwargs)

    return function(noted), seen


@function
def doubled(x):
    """Twice as much."""
    return 2 * x


total = kg.state(0.0, name="total")


@function
def add(x):
    return total.assign_add(x)


# Values, structures and signatures.
@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (True, "bool"),
        (3, "int64"),
        (0.5, "float64"),
        (np.float32(0.5), "float32"),
        (np.uint8(3), "uint8"),
        (np.arange(3, dtype=np.int32), "int32"),
        (np.arange(3.0).astype(">f8"), "float64"),
        (np.arange(3).astype(">i2"), "int16"),
        (np.float16(0.5), "float64"),
        ([[1, 2], [3, 4]], "int64"),
        ([1, 2.5], "float64"),
        ([np.float64(1), 2], "float64"),
    ],
)
def test_numbers_and_arrays_become_inputs(value, dtype):
    f, seen = traced(lambda x: x)
    result = f(value)
    (((x,), _),) = seen
    assert isinstance(x, kg.Array)
    assert (x.name, x.shape, x.dtype) == ("x", np.shape(value), dtype)
    assert isinstance(result, np.ndarray)
    assert result.dtype == dtype
    assert np.array_equal(result, value)


def test_arrays_of_other_libraries():
    import jax.numpy as jnp
    import pandas as pd
    import xarray as xr

    for value in (jnp.arange(3.0), pd.Series([0.0, 1.0, 2.0]), xr.DataArray([0.0, 1.0, 2.0])):
        assert np.array_equal(doubled(value), [0, 2, 4])
    table = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    assert np.array_equal(doubled(table), [[2, 6], [4, 8]])


def test_working_precision_belongs_to_the_signature():
    f, seen = traced(lambda x: x + 1.5)
    with kg.precision("float32"):
        assert f(0.5).dtype == np.float32
        assert f(np.array([0.5])).dtype == np.float32
    assert f(0.5).dtype == np.float64
    assert len(seen) == 3


def test_one_graph_for_each_signature():
    f, seen = traced(lambda x, n: x * n)
    for x in (1.0, 2.0, np.float64(3.0), np.array(4.0)):
        assert f(x, 2) == 2 * x
    assert len(seen) == f.traces == 1
    f(1, 2)
    f(True, 2)
    f(np.float32(1), 2)
    f([1.0], 2)
    assert len(seen) == f.traces == 5
    assert np.array_equal(f([1.0, 2.0, 3.0], 2), [2, 4, 6])
    assert len(seen) == 6


def test_inputs_are_named_after_their_place():
    f, seen = traced(lambda p, d, q, *args, **more: 0)

    def named(p, d, q, *args, **more):
        seen.append((p, d, q, args, more))
        return p.j + d["k"] + q.x + args[1] + more["w"]

    f = function(named)
    assert f(Pair(1, 2), {"k": 3, "m": "text"}, Point(4.0, 5.0), 6, 7, w=8) == 23
    p, d, q, args, more = seen[-1]
    assert isinstance(p, Pair)
    assert isinstance(q, Point)
    names = [a.name for a in (p.j, p.k, d["k"], q.x, q.y, *args, more["w"])]
    assert names == ["p.j", "p.k", "d['k']", "q.x", "q.y", "args[0]", "args[1]", "more['w']"]
    assert d["m"] == "text"


def test_lists_that_are_no_tables_are_structures():
    f, seen = traced(lambda x: None)
    f([np.zeros(2), np.zeros(3)])
    f([[1, 2], [3]])
    f([1, "a", None])
    f([(1, 2), (3, 4)])
    f([])
    f([[], []])
    got = [args[0] for args, _ in seen]
    assert [[a.shape for a in rows] for rows in got[:2]] == [[(2,), (3,)], [(2,), (1,)]]
    assert isinstance(got[2][0], kg.Array)
    assert got[2][1:] == ["a", None]
    assert isinstance(got[3][1][0], kg.Array)
    assert got[4:] == [[], [[], []]]


def test_containers_without_numbers_are_passed_as_they_are():
    log = []

    @function
    def f(x, log):
        log.append("traced")
        return x

    f(1, log)
    assert log == ["traced"]


def test_static_arguments():
    calls = []

    def power(x, n, mode="plain"):
        calls.append((n, mode))
        for _ in range(n):  # n must be a Python number here
            x = x * 2
        return x if mode == "plain" else -x

    f = function(power, static_argnames="n")
    assert f(1.0, 3) == 8
    assert f(2.0, n=3) == 16
    assert f(1.0, 2) == 4
    assert f(1.0, 2, "minus") == -4
    assert f(1.0, 2, mode="min" + "us") == -4
    assert calls == [(3, "plain"), (2, "plain"), (2, "minus")]


def test_statics_of_different_types_or_signs_are_different():
    f = function(lambda n: repr(n), static_argnames=["n"])
    values = [1, 1.0, True, np.int64(1), 0.0, -0.0, (1, 2), (1.0, 2), (True, 2), None, "1"]
    assert [f(v) for v in values] == [repr(v) for v in values]
    assert f.traces == len(values)


def test_statics_without_hash_go_by_identity():
    class Unhashable:
        __hash__ = None

        def __eq__(self, other):
            return True

    calls = []
    f = function(lambda o: calls.append(o))
    for _ in range(3):
        f(Unhashable())  # an id must not be used again for another object
    same = Unhashable()
    f(same)
    f(same)
    assert len(calls) == 4
    g = function(lambda rows: len(rows), static_argnames="rows")
    rows = [1, 2]
    assert (g(rows), g([1, 2, 3])) == (2, 3)


def test_results_keep_their_structure():
    constant = np.arange(2)

    @function
    def f(x):
        return {
            "a": (x, None),
            "p": Pair(x + 1, "text"),
            "q": Point(x, 2.0),
            "l": [x, 3, [constant]],
            "o": len,
        }

    for x in (1.0, 2.0):
        found = f(x)
        assert found["a"] == (x, None)
        assert found["p"] == Pair(x + 1, "text")
        assert found["q"] == Point(x, 2.0)
        assert found["l"][:2] == [x, 3]
        assert found["o"] is len
        assert isinstance(found["p"].j, np.ndarray)
        assert type(found["l"][1]) is int
        found["l"][2][0][:] = 7  # a copy of its own
    assert list(constant) == [0, 1]
    assert f(1.0)["l"] is not f(1.0)["l"]


def test_nothing_returned():
    s = kg.state(0)

    @function
    def f(x):
        s.assign_add(x)

    assert f(2) is None
    assert f(3) is None
    assert f.state[s] == 5


def test_data_and_constants_can_be_returned():
    known = kg.data([1.0, 2.0])
    assert np.array_equal(function(lambda: known)(), [1, 2])
    assert function(lambda: 3)() == 3


# Inlining.
def test_arrays_of_the_graph_are_computed_with():
    f, seen = traced(lambda x, n=2: x * n)
    x = kg.placeholder(name="x")
    y = f(x)
    assert isinstance(y, kg.Array)
    (((given,), keywords),) = seen
    assert (given.node, keywords) == (x.node, {})
    assert kg.compile([x], y)(3.0) == 6
    assert isinstance(f(Pair(1, 2).j, n=kg.data(3)), kg.Array)
    assert f.traces == 0


def test_symbolic_leaves_and_statics_inline():
    x = kg.placeholder(name="x")
    f = function(lambda d, s: d["a"], static_argnames="s")
    assert f({"a": x, "b": 2}, 1) is x
    assert f({"a": 1}, x) == 1
    assert f.traces == 0


def test_inside_of_another_function():
    inner, seen = traced(lambda x: x + 1)
    outer = function(lambda x: (inner(x), inner(1)))
    one, two = outer(2.0)
    assert one == 3
    assert two == 2
    assert seen[1] == ((1,), {})  # a Python number stays one
    assert inner.traces == 0


def test_inside_of_a_branch():
    inner, _ = traced(lambda x: x + 1)
    x = kg.placeholder(name="x")
    y = kg.cond(x > 0, lambda: x * inner(1), lambda: 0.0)
    assert inner.traces == 0
    assert kg.compile([x], y)(4.0) == 8


def test_recursion_is_inlined():
    @functools.partial(function, static_argnames="n")
    def power(x, n):
        return x if n == 0 else 2 * power(x, n - 1)

    assert power(1.0, 3) == 8
    assert power.traces == 1


def test_gradients_inside():
    f = function(lambda x: kg.gradients((x**3).sum(), [x])[0])
    assert np.array_equal(f([1.0, 2.0]), [3, 12])


# States, effects, and programs.
def test_states_are_common_to_all_signatures():
    s = kg.state(0, name="s")

    @function
    def f(x):
        return s.assign_add(1) * x

    assert [f(1), f(1.0), f([1, 1])[0], f(1)] == [1, 2, 3, 4]
    assert f.traces == 3
    assert f.state[s] == 4
    f.state[s] = 10
    assert f(1.0) == 11
    assert list(f.state) == [s]


def test_states_of_functions_not_called_yet():
    f = function(lambda x: total.assign_add(x))
    with pytest.raises(KeyError, match="'total' is not used in this function, which has not been"):
        f.state[total]
    other = kg.state(0, name="other")
    f(1.0)
    assert f.state[total] == 1
    with pytest.raises(KeyError, match="'other' is not used in this function as far as"):
        f.state[other]


def test_assignments_in_order_and_without_results():
    s, t = kg.state(1.0), kg.state(0.0)

    @function
    def f(x):
        before = s + 0
        s.assign(x)
        t.assign(s * 10)
        s.assign_add(1)
        return before

    assert f(5.0) == 1
    assert (f.state[s], f.state[t]) == (6, 50)
    assert f(7.0) == 6


def test_tracing_leaves_the_users_program_alone():
    s = kg.state(0.0, name="s")
    s.assign_add(1.0)  # belongs to what is compiled below
    program = top_level()
    f = function(lambda x: s.assign_add(x))
    assert f(10.0) == 10
    assert top_level() is program
    g = kg.compile([], s + 0)
    assert g() == 1
    assert g.state[s] == 1
    assert f.state[s] == 10
    kg.compile([], kg.data(1.0))


def test_inlined_assignments_belong_to_the_users_program():
    s = kg.state(0.0, name="s")
    f = function(lambda x: s.assign_add(x))
    x = kg.placeholder(name="x")
    g = kg.compile([x], f(x))
    assert [g(1.0), g(2.0)] == [1, 3]
    assert not f.state.cells


def test_an_assignment_that_needs_what_is_no_argument():
    x, s = kg.placeholder(name="x"), kg.state(0.0)
    f = function(lambda: s.assign(x) is None)
    with pytest.raises(kg.ModelError, match=r"the value of x .* is needed; pass it as an argument"):
        f()


def test_checks_are_carried_out_without_results():
    s = kg.state(0.0)

    @function
    def f(x):
        s.assign_add(1)
        kg.check(x > 0, "must be positive")

    f(1.0)
    for _ in range(2):
        with pytest.raises(kg.CheckError, match="must be positive"):
            f(-1.0)
    f(2.0)
    assert f.state[s] == 2


def test_prints_happen_in_every_call(capsys):
    f = function(lambda x: kg.print("x is", x))
    assert f(1) is None
    f(2)
    assert capsys.readouterr().out == "x is 1\nx is 2\n"


def test_a_failed_trace_leaves_nothing_behind():
    streams, expected = kg.RandomStreams(3), kg.RandomStreams(3).normal()
    s = kg.state(0.0)
    s.assign_add(1.0)
    broken = True

    @function
    def f(x):
        s.assign_add(x)
        u = streams.normal()
        if broken:
            raise RuntimeError("broken")
        return u

    program = top_level()
    for _ in range(2):
        with pytest.raises(RuntimeError, match="broken"):
            f(1.0)
    assert top_level() is program
    assert not list(streams.results())
    assert f.traces == 0
    assert not f.state.cells
    assert kg.compile([], s + 0)() == 1
    broken = False
    assert f(1.0) == kg.compile([], expected)()


def test_results_of_a_branch_that_has_been_left():
    kept = []

    @function
    def f(x):
        kg.cond(x > 0, lambda: kept.append(x * 2) or kept[0], lambda: 0.0)
        return kept[0]

    with pytest.raises(kg.SymbolicError, match=r"f: outputs: .* is defined inside a branch"):
        f(1.0)
    assert f.traces == 0


def test_arrays_of_other_traces():
    kept = []
    f = function(lambda x: kept.append(x) or kept[0] + 1)
    f(1.0)
    with pytest.raises(kg.ModelError, match=r"the value of x .* is needed"):
        f([1.0])


def test_arguments_are_not_kept():
    f = function(lambda x: x.sum())

    def call():  # in a frame that ends: Python 3.12 keeps snapshots of variables in frames
        value = np.zeros(3)
        f(value)
        return weakref.ref(value)

    gone = call()
    gc.collect()
    assert gone() is None


# Random streams.
def test_streams_of_functions():
    streams = kg.RandomStreams(7)
    f = function(lambda x: x + streams.normal(shape=(3,)))
    first, second = f(0.0), f(0.0)
    assert not np.array_equal(first, second)
    expected = kg.compile([], kg.RandomStreams(7).normal(shape=(3,)))
    assert np.array_equal(first, expected())
    assert np.array_equal(second, expected())
    saved = streams.getstate(f)
    third = f(0.0)
    streams.setstate(f, saved)
    assert np.array_equal(f(0.0), third)
    streams.seed(f, 7)
    assert np.array_equal(f(0.0), first)
    assert not np.array_equal(f(0), first)  # another graph, with a stream of its own
    assert len(saved.streams) == 1
    assert len(streams.getstate(f).streams) == 2


def test_conditions_draw_anew_in_every_trip():
    streams = kg.RandomStreams(11)

    @function
    def f():
        n = 0
        while streams.uniform() > 0.5:
            n += 1
        return n

    trips = [int(f()) for _ in range(300)]
    (stream,) = (cell.stream for cell in f.state.cells)
    assert stream.member == 0
    assert f.state[stream].counter == sum(trips) + len(trips)
    assert 150 < sum(trips) < 500  # a geometric sum of mean 300 and standard deviation 24.5


def test_what_has_no_streams():
    streams = kg.RandomStreams(7)
    with pytest.raises(TypeError, match=r"a result of kg\.compile or kg\.function, got builtin"):
        streams.seed(len, 7)
    with pytest.raises(ValueError, match="draws nothing"):
        streams.seed(doubled, 7)


# What is decorated.
def test_a_decorated_function_looks_like_itself():
    assert doubled.__name__ == "doubled"
    assert doubled.__doc__ == "Twice as much."
    assert doubled.__wrapped__ is doubled.python_function
    assert inspect.isfunction(doubled.python_function)
    assert str(inspect.signature(doubled)) == "(x)"
    assert "doubled(x)" in repr(doubled)
    assert isinstance(function(doubled), StagedFunction)
    assert function(doubled).python_function is doubled.python_function
    f = function(lambda x: x, name="f")
    with pytest.raises(TypeError, match=r"f\(\): missing a required argument: 'x'"):
        f()


def test_attributes_of_the_function_do_not_get_in_the_way():
    def f(x):
        return x

    f.state, f.note = "mine", "kept"
    staged = function(f)
    assert staged.note == "kept"
    assert not staged.state.cells


def test_methods():
    class Model:
        def __init__(self, scale):
            self.scale = scale
            self.calls = kg.state(0)

        @function
        def scaled(self, x, *, shift=0.0):
            self.calls.assign_add(1)
            return self.scale * x + shift

        @staticmethod
        @function
        def plain(x):
            return x + 1

        @classmethod
        @function
        def named(cls, x):
            return x, cls.__name__

    two, three = Model(2), Model(3)
    assert [two.scaled(1.0), three.scaled(1.0), two.scaled(2.0, shift=1.0)] == [2, 3, 5]
    assert Model.scaled(two, 1.0) == 2
    assert two.scaled.state[two.calls] == 3
    assert three.scaled.state[three.calls] == 1
    assert Model.plain(1) == two.plain(1) == 2
    assert two.named(1) == (1, "Model")
    assert str(inspect.signature(two.scaled)) == "(x, *, shift=0.0)"
    assert two.scaled == two.scaled != three.scaled
    assert len({two.scaled, two.scaled, three.scaled}) == 2
    assert isinstance(two.scaled.trace(1.0), Function)
    assert two.scaled.__name__ == "scaled"
    with pytest.raises(TypeError, match=r"scaled: unknown parameter y .*\. It takes x, shift"):
        two.scaled(1.0, y=2)


def test_the_owner_of_a_method_is_static_whatever_it_is():
    @dataclasses.dataclass
    class Line:
        slope: float

        @function
        def at(self, x):
            assert isinstance(self.slope, float)
            return self.slope * x

    assert Line(2.0).at(3.0) == 6
    assert Line(3.0).at(3.0) == 9


def test_other_callables():
    class Scale:
        state = "mine"

        def __call__(self, x, factor=2):
            return factor * x

    scale = function(Scale())
    assert scale(3) == 6
    assert "Scale" in repr(scale)
    assert function(functools.partial(Scale(), factor=5))(3) == 15
    assert function(types.MethodType(Scale.__call__, Scale()))(3) == 6
    assert function(np.sin)(0.0) == 0


def test_orders_of_decorators():
    for kind in (staticmethod, classmethod):
        with pytest.raises(TypeError, match=f"below @{kind.__name__}"):
            function(kind(lambda x: x))
    with pytest.raises(TypeError, match="f must be callable, got property"):
        function(property(lambda self: 1))


def test_unknown_static_names():
    with pytest.raises(
        ValueError, match=r"'m', 'k' are not parameters of f .*parameters are 'x', 'n'"
    ):

        @function(static_argnames=("n", "m", "k"))
        def f(x, n):
            return x


# Arguments that cannot be.
@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (1j, kg.SymbolicError, r"d\['k'\]: a complex of dtype complex128"),
        (np.array([1j]), kg.SymbolicError, r"d\['k'\]: a ndarray of dtype complex128"),
        (np.complex64(1), kg.SymbolicError, r"d\['k'\]: a complex64"),
        (np.array(["a"]), kg.SymbolicError, r"d\['k'\]: a ndarray of dtype <U1"),
        (np.array([None]), kg.SymbolicError, r"d\['k'\]: .* dtype object"),
        (2**70, kg.DataError, r"d\['k'\]: 1180591620717411303424 does not fit"),
        ([1, 2**70], kg.SymbolicError, r"d\['k'\]: a list of dtype object"),
        (np.ma.array([1.0, 2.0], mask=[0, 1]), kg.DataError, r"d\['k'\]: masked at index 1"),
    ],
)
def test_what_cannot_be_an_input(value, error, text):
    f = function(lambda d: d)
    with pytest.raises(error, match=text):
        f({"k": value})
    assert f.traces == 0
    assert function(lambda d: "static", static_argnames="d")(value) == "static"


def test_texts_and_dates_are_static():
    values = ["a", np.str_("b"), np.datetime64("2020-01-01"), b"c", len, float, np.float64]
    f, seen = traced(lambda v: None)
    for value in values:
        f(value)
    assert [args[0] for args, _ in seen] == values


def test_wrong_arguments():
    def f(x, /, y, *, z=1):
        return x

    staged = function(f)
    for args, kwargs in [
        ((), {}),
        ((1,), {}),
        ((1, 2, 3), {}),
        ((1, 2), {"w": 3}),
        ((1,), {"x": 2}),
    ]:
        with pytest.raises(TypeError) as expected:
            inspect.signature(f).bind(*args, **kwargs)
        with pytest.raises(TypeError) as found:
            staged(*args, **kwargs)
        told = str(found.value)
        assert told.startswith((f"f(): {expected.value} (", "f: unknown parameter w ("))
    assert staged(1, 2, z=3) == staged(1, y=2) == 1
    assert staged.traces == 2  # z is static where it is left at its default


def test_many_graphs_are_warned_of_once():
    f = function(lambda x, mode: x.sum(), name="f")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(1, 50):
            f.trace(np.zeros(n), "a")
    with pytest.warns(
        kg.AutographWarning, match=r"f has been traced 50 times.*x: shape \(49,\)"
    ) as w:
        f.trace(np.zeros(50), "a")
    assert "float64, then shape (50,) float64" in str(w[0].message)
    assert "mode" not in str(w[0].message)
    assert w[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f.trace(np.zeros(51), "a")


def test_what_a_warning_names():
    parameters = function(lambda x, y: None)._parameters
    key = lambda *values: parameters.read(values).key
    assert parameters.difference(key(1, "a"), key(1.0, "b")) == (
        "x: shape () int64, then shape () float64; y: 'a', then 'b'"
    )
    assert parameters.difference(key(1, (1, "a")), key(1, (1, "b"))) == (
        "y: tuple of 2 (shape () int64, 'a'), then tuple of 2 (shape () int64, 'b')"
    )
    double = key(1, 1.0)
    with kg.precision("float32"):
        assert parameters.difference(double, key(1, 1.0)) == (
            "the precision: float64, then float32"
        )


# The rest.
def test_compiled_functions_of_signatures():
    f = function(lambda x, n: x * n)
    g = f.trace(np.ones(3), 2)
    assert isinstance(g, Function)
    assert np.array_equal(g(np.ones(3), 5)[0], [5, 5, 5])
    assert f.trace([1.0, 2.0, 3.0], 7) is g
    assert str(kg.explain(g)) == str(kg.explain(kg.compile([], kg.data(1.0))))
    with pytest.raises(kg.SymbolicError, match="needs values"):
        f.trace(kg.placeholder(), 1)
    with pytest.raises(kg.ModelError, match="trace cannot be used in a branch"):
        function(lambda x: f.trace(1.0, 2))(1)


def test_copies_have_states_of_their_own():
    f = copy.copy(add)
    f(1.0)
    for twin in (copy.copy(f), copy.deepcopy(f)):
        assert twin.traces == f.traces
        assert twin(1.0) == 2
        assert (twin.state[total], f.state[total]) == (2, 1)
        twin(1)
        assert twin.traces == f.traces + 1
        assert twin.__name__ == "add"


def named(x):
    return x + 1


staged_by_call = function(named, static_argnames=["x"])


class Owner:
    def __eq__(self, other):
        return isinstance(other, Owner)

    __hash__ = None

    @function
    def method(self, x):
        return x + 1


@pytest.fixture
def importable(monkeypatch):
    """This file as a module that can be imported by name, as a user's is."""
    module = types.ModuleType(__name__)
    module.__dict__.update(globals())
    monkeypatch.setitem(sys.modules, __name__, module)


@pytest.mark.usefixtures("importable")
def test_functions_of_modules_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(doubled)) is doubled
    again = pickle.loads(pickle.dumps(staged_by_call))
    assert again.python_function is named
    assert (again(1), again.traces) == (2, 1)
    assert again._parameters.static == (True,)
    assert pickle.loads(pickle.dumps(Owner().method))(1) == 2


def test_other_callables_are_pickled_as_they_are():
    scale = pickle.loads(pickle.dumps(function(functools.partial(np.multiply, 3))))
    assert scale(2.0) == 6


def test_functions_that_cannot_be_pickled():
    @function
    def local(x):
        return x

    with pytest.raises(pickle.PicklingError, match=r"local cannot be pickled: .* top of a module"):
        pickle.dumps(local)


def test_threads_make_one_graph():
    calls, results = [], []
    s = kg.state(0)
    barrier = threading.Barrier(4)

    @function
    def f(x):
        calls.append(threading.get_ident())
        s.assign_add(1)
        return x + 1

    def work():
        barrier.wait()
        results.extend(float(f(float(i))) for i in range(5))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(calls) == 1
    assert sorted(results) == sorted([1.0, 2.0, 3.0, 4.0, 5.0] * 4)
    assert f.state[s] == 20


def test_a_call_in_another_thread_does_not_see_this_ones_trace():
    found = []
    inner = function(lambda x: x + 1)

    @function
    def outer(x):
        thread = threading.Thread(target=lambda: found.append(inner(1)))
        thread.start()
        thread.join()
        return x

    outer(1)
    assert isinstance(found[0], np.ndarray)
    assert inner.traces == 1


# Control flow.
def test_a_return_in_a_loop():
    @function
    def f(x):
        i = 0
        while i < x:
            if i > 3:
                return i
            i += 1
        return i

    assert [int(f(n)) for n in (-1, 0, 2, 4, 9)] == [0, 0, 2, 4, 4]
    assert f.traces == 1


def test_rows():
    @function
    def g(t):
        s = 0.0
        for r in t:
            s = s + r[0] * r[1]
        return s

    assert g([[1, 2], [3, 4]]) == 14


def test_a_symbolic_break_of_a_python_loop():
    @function
    def counted(x):
        while True:
            if x == 0:
                break
            x = x - 1
        return x

    assert counted(3) == 0


def test_strict_refuses_what_has_no_source():
    scope = {}
    exec("def f(x):\n    return x", scope)
    with pytest.raises(kg.ConversionError):
        function(scope["f"], strict=True)(1)


# Parameters left at their defaults.
def zeros(x, n=3):
    return np.zeros(n) + x


def repeated(x, n=3):
    s = 0.0
    for _ in range(n):
        s = s + x
    return s


def recursive(x, depth=3):
    return x if depth == 0 else recursive(x * 2, depth - 1)


def shaped(x, shape=(2, 2), flag=True):
    return x.reshape(shape) if flag else x


@pytest.mark.parametrize("f", [zeros, repeated, recursive])
def test_whole_numbers_left_at_their_defaults_are_static(f):
    assert np.array_equal(kg.function(f)(1.5), f(1.5))


def test_tuples_and_booleans_left_at_their_defaults_are_static():
    assert kg.function(shaped)(np.arange(4.0)).shape == (2, 2)


@pytest.mark.parametrize(("f", "name"), [(zeros, "n"), (repeated, "n"), (recursive, "depth")])
def test_whole_numbers_that_are_given_are_inputs_and_errors_name_static_argnames(f, name):
    with pytest.raises((TypeError, kg.SymbolicError, RecursionError)) as caught:
        kg.function(f)(1.5, 2)
    assert f"if {name} decides what is built" in str(caught.value)
    assert f"@kg.function(static_argnames={name!r})" in str(caught.value)
    assert np.array_equal(kg.function(f, static_argnames=name)(1.5, 2), f(1.5, 2))


def test_a_default_that_is_given_has_a_graph_of_its_own():
    f = kg.function(lambda x, n=3, *, r=2.0: x * n * r)
    assert (f(1.0), f(1.0, 3), f(1.0, n=4), f(1.0, r=3.0)) == (6, 6, 8, 9)
    assert f.traces == 2
    with pytest.raises(kg.ShapeError) as caught:
        kg.function(lambda a, n: a[:2] * n)(1, 2)
    assert "static_argnames" not in str(caught.value)
