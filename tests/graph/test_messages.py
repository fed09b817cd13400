"""Golden texts of errors, with their lines and times."""

import re
import traceback

import jax
import jax.numpy as jnp
import numpy as np
import pandas
import pytest

import kinetograph as kg
from kinetograph.graph.messages import describe
from kinetograph.graph.source import warn_user

INFER = 'drop or fill missing values first, or infer them: kg.data(..., missing="impute")'


@pytest.fixture(autouse=True)
def nothing_is_compiled(monkeypatch):
    """Check that every error is raised before JAX compiles anything."""

    def refuse(*args, **kwargs):
        raise AssertionError("compiled before the error")

    kg.data  # imports the library, which then prepares its programs
    monkeypatch.setattr(jax, "jit", refuse)


def message(statement, kind):
    """The text of the error that `statement` raises on the caller's line."""
    with pytest.raises(kind) as caught:
        statement()
    frames = traceback.extract_tb(caught.value.__traceback__)
    own = [frame for frame in frames if frame.filename == __file__]
    line = statement.__code__.co_firstlineno
    assert own[-1].lineno == line
    return str(caught.value).replace(f" (test_messages.py:{line})", " (here)")


def test_broadcasting():
    x, y = kg.placeholder((3, 3)), kg.placeholder((2, 2))
    assert message(lambda: x + y, kg.ShapeError) == (
        "cannot broadcast (3, 3) with (2, 2) in x + y (here)\n"
        "    x  shape (3, 3)\n"
        "    y  shape (2, 2)\n"
        "  Shapes are aligned from the right; each pair must be equal or one of them 1."
    )
    assert "in x * 2 - y (here)\n" in message(lambda: x * 2.0 - y, kg.ShapeError)
    assert "in where(x > 0, x, y) (here)\n" in message(lambda: kg.where(x > 0, x, y), kg.ShapeError)


def test_matmul():
    a, b = kg.placeholder((2, 3)), kg.placeholder((2, 4))
    assert message(lambda: a @ b, kg.ShapeError) == (
        "matmul: inner sizes 3 and 2 differ in a @ b (here)\n"
        "    a  shape (2, 3)\n    b  shape (2, 4)\n"
        "  The last axis of the first has to be as long as the last but one of the second."
    )
    assert message(lambda: a @ kg.placeholder(name="s"), kg.ShapeError) == (
        "matmul needs at least one axis on both sides: a @ s (here)\n"
        "    a  shape (2, 3)\n    s  shape ()\n  Use * to multiply by a number."
    )
    p, q = kg.placeholder((2, 3, 3)), kg.placeholder((4, 3, 3))
    assert message(lambda: p @ q, kg.ShapeError).startswith(
        "matmul: the leading axes (2,) and (4,) do not fit in p @ q"
    )
    assert message(lambda: kg.solve(p, q), kg.ShapeError).startswith("solve: the leading axes")
    assert message(lambda: np.linalg.cholesky(a), kg.ShapeError) == (
        "cholesky of a: needs a square matrix, got shape (2, 3)"
    )
    assert "einsum(a, b)" in message(lambda: np.einsum("ij,jk->ik", a, b), kg.ShapeError)


def test_axes_and_shapes():
    x = kg.placeholder((2, 3))
    assert message(lambda: x.sum(axis=2), kg.ShapeError) == (
        "sum of x: axis 2 is out of range for shape (2, 3) (here)"
    )
    assert message(lambda: x.sum(axis=(0, -2)), kg.ShapeError) == (
        "sum of x: axis (0, -2) names an axis twice (here)"
    )
    assert message(lambda: x.sum(axis=0.5), kg.ShapeError) == (
        "sum of x: an axis is a whole number, got 0.5 (here)"
    )
    assert message(lambda: x.reshape(4, -1), kg.ShapeError) == (
        "cannot reshape x of shape (2, 3) (6 elements) into (4, -1) (here)"
    )
    for bad in [(-2, -3), (-1, -1), (7,)]:
        assert "cannot reshape x" in message(lambda bad=bad: x.reshape(bad), kg.ShapeError)
    y = kg.placeholder((3, 2))
    assert message(lambda: np.concatenate([x, y]), kg.ShapeError) == (
        "concatenate along axis 0: the other axes differ: x (2, 3), y (3, 2)"
    )
    assert message(lambda: np.stack([x, y]), kg.ShapeError) == (
        "stack needs arrays of one shape, got x (2, 3), y (3, 2)"
    )
    assert message(lambda: np.take(x, [0], axis=5), kg.ShapeError).startswith("take of x: the axis")
    assert message(lambda: np.broadcast_to(x, (3, 3)), kg.ShapeError) == (
        "cannot broadcast x of shape (2, 3) to (3, 3)"
    )
    assert message(lambda: kg.placeholder((0, 2), name="e").max(axis=0), kg.ShapeError) == (
        "max of e: shape (0, 2) has nothing to compare (here)"
    )


def test_indices():
    x = kg.placeholder((3,))
    school = kg.data([1, 2, 3])
    assert message(lambda: x[school], kg.ShapeError) == (
        "x[school]: index 3 is out of bounds for axis 0 of length 3 (here); "
        "the smallest is 1: do the labels start at 1? Subtract 1"
    )
    assert message(lambda: kg.segment_sum(x, school, 3), kg.ShapeError) == (
        "segment_sum: the labels school run from 1 to 3, not from 0 to 2 (here); "
        "do the labels start at 1? Subtract 1"
    )
    assert message(lambda: x[5], kg.ShapeError) == (
        "index of x, shape (3,): index 5 is out of bounds for axis 0 with size 3 (here)"
    )
    assert message(lambda: x[0, 1], kg.ShapeError).startswith("index of x, shape (3,): too many")
    where = kg.placeholder((2,))
    assert message(lambda: x[where], kg.ShapeError) == (
        "x[where]: an index must be of integers, got float64 (here); convert it with .astype(int)"
    )
    assert "must be of integers" in message(lambda: x[1.5], kg.ShapeError)
    assert message(lambda: x[x > 0], kg.ShapeError) == (
        "x[x > 0]: a mask computed in the graph has no known number of true elements (here); "
        "use kg.where(mask, x, other)"
    )
    assert message(lambda: x[np.array([True, False])], kg.ShapeError).endswith(
        "the mask has shape (2,), the axes it selects from have (3,) (here)"
    )
    n = kg.placeholder((), int)
    assert "start + np.arange(length)" in message(lambda: x[:n], kg.ShapeError)
    assert message(lambda: x.at[:2].set(np.ones(3)), kg.ShapeError) == (
        "x.at[...].set: array of shape (3,) does not fit the selected elements of shape (2,)"
    )


def test_values_that_are_not_known():
    x = kg.placeholder((2,))
    s = kg.placeholder()
    unknown = "is not known while the graph is built, so"
    refused = "using a symbolic array as a Python"
    text = message(lambda: 1 if s > 0 else 0, kg.SymbolicError)
    assert text.startswith(f"{refused} bool is not allowed: the value of s > 0 {unknown} `if`,")
    assert text.endswith(
        "elsewhere use kg.cond, kg.while_loop or kg.where, and & | ~ between conditions"
    )
    for f in (lambda: max(s, 1), lambda: sorted([s, 2 * s]), lambda: any([s > 0])):
        text = message(f, kg.SymbolicTruthError)
        assert "so a Python function that needs it, such as max, sorted, any or bool," in text
        assert text.endswith(
            "(here); use kg.maximum, kg.minimum, kg.sort, kg.any, kg.all or kg.where"
        )
    text = message(lambda: float(s), kg.SymbolicError)
    assert text.startswith(f"{refused} float is not allowed: the value of s {unknown} float(...)")
    assert text.endswith(
        "compute with the array itself (kg.exp in place of math.exp), or compile it with kg.compile"
    )
    for f in (int, range, bool):
        assert unknown in message(lambda f=f: f(s), kg.SymbolicError)
    assert message(lambda: x.__setitem__(0, 1.0), kg.SymbolicError) == (
        "x: arrays cannot be changed in place (here); write x = x.at[0].set(value)"
    )
    assert message(lambda: np.array(x), kg.SymbolicError) == (
        f"the value of x {unknown} a NumPy array of it is not possible (here); compute with the "
        "array itself (kg.stack joins arrays), or compile it with kg.compile"
    )
    assert unknown in message(lambda: np.array([x, x]), kg.SymbolicError)
    assert np.asarray(kg.data([1, 2])).tolist() == [1, 2]
    assert float(kg.data(2.0)) == 2.0
    assert bool(kg.data(True))


def test_numpy_functions():
    x = kg.placeholder((2, 2))
    assert message(lambda: np.fft.fft(x), kg.SymbolicError) == (
        "NumPy's fft.fft is not available for arrays in a graph (here): arrays hold real "
        "numbers only; instead: kg.lift(lambda x: jnp.abs(jnp.fft.rfft(x)))(x) gives real numbers; "
        "kg.convolve(x, y) convolves"
    )
    assert "NumPy's spacing is not" in message(lambda: np.spacing(x), kg.SymbolicError)
    assert message(lambda: np.maximum.reduceat(x, [0]), kg.SymbolicError) == (
        "NumPy's maximum.reduceat is not available for arrays in a graph (here); kg.lift(function) "
        "makes an operation of any JAX function, as in kg.lift(jax.numpy.maximum.reduceat)(x)"
    )
    assert "NumPy's add.at is not" in message(lambda: np.add.at(x, 0, 1), kg.SymbolicError)
    assert message(lambda: np.exp(x, out=np.ones((2, 2))), kg.SymbolicError) == (
        "np.exp: out= cannot be used with arrays in a graph (here); use the result instead of out="
    )
    assert message(lambda: np.exp(x, where=np.ones(2, bool)), kg.SymbolicError) == (
        "np.exp: where= cannot be used with arrays in a graph (here); "
        "use np.where instead of where="
    )
    assert "dtype=" in message(lambda: np.sum(x, dtype=int), kg.SymbolicError)
    assert "order=" in message(lambda: np.reshape(x, 4, order="F"), kg.SymbolicError)
    assert message(lambda: np.diff(x, prepend=0), kg.SymbolicError) == (
        "np.diff with arrays in a graph: got an unexpected keyword argument 'prepend'"
    )
    assert np.add.reduce(x, axis=1).shape == (2,)
    assert np.exp(x, where=True, out=None).shape == (2, 2)


def test_what_arrays_cannot_hold():
    x = kg.placeholder((2,))
    text = "cannot be part of a graph (here); arrays hold booleans, integers or real numbers"
    assert message(lambda: x * 1j, kg.SymbolicError) == (
        f"multiply: a complex (dtype complex128) {text}"
    )
    assert message(lambda: x + np.array([None, 1]), kg.SymbolicError) == (
        f"add: a NumPy array of shape (2,) (dtype object) {text}"
    )
    labels = np.array(["a", "b"], object)
    assert "kg.groups(values)" in message(lambda: x[labels], kg.SymbolicError)
    assert message(lambda: np.exp(x) == "a", kg.SymbolicError).startswith(
        "equal: the text 'a' cannot"
    )
    assert message(lambda: kg.stack([x, ["a", "b"]]), kg.SymbolicError).startswith("stack: a list")
    b = kg.placeholder((2,), bool)
    assert message(lambda: b - b, kg.SymbolicError) == (
        "subtract does not take operands of types bool, bool (here); "
        "for booleans use != or ^, or multiply by 1 first"
    )
    assert "bitwise_and" in message(lambda: x & x, kg.SymbolicError)
    n = kg.placeholder((), int)
    assert message(lambda: n**-1, kg.SymbolicError) == (
        "n ** -1: integers have no negative integer powers (here); write n ** -1.0"
    )
    assert "complex" in message(lambda: kg.placeholder((), complex), kg.SymbolicError)
    assert "complex" in message(lambda: x.astype(complex), kg.SymbolicError)


def without_place(text):
    assert "test_messages.py:" in text
    return re.sub(r" at test_messages\.py:\d+", "", text).replace("data value:", "data:")


def test_data():
    def of(value, **options):
        with pytest.raises((kg.DataError, kg.DimsError)) as caught:
            kg.data(value, **options)
        return without_place(str(caught.value))

    assert of([1.0, np.nan, 3.0], name="y") == ("data 'y': nan at index 1; " + INFER)
    assert of([[1.0, 2.0], [np.inf, np.nan]]) == (
        "data: inf at index (1, 0) and 1 more missing or infinite value; " + INFER
    )
    assert of(np.ma.masked_array([1, 2], [False, True])) == ("data: masked at index 1; " + INFER)
    assert of(["a", "b"]) == (
        "data: values of dtype <U1 are not numbers; "
        "for categories write g = kg.groups(values), which has g.codes and g.dim with the labels"
    )
    frame = pandas.DataFrame({"a": [1.0], "b": ["x"], "c": ["y"]})
    for bad, said in [
        ([1j], "complex128 are not numbers on the real line; pass real and imaginary parts"),
        (["1", "2.5"], "are not numbers but text; convert them: numpy.asarray(values, float)"),
        (np.array(["2020-01-01"], "M8[D]"), "are not numbers; count days: (dates"),
        ("data.csv", "the text 'data.csv' is not a number; pass the values themselves"),
        ({"a": 1.0}, "a dictionary of 'a' is not an array; make an array of each of its values"),
        (frame, "no numbers in b, c; pass each column alone"),
        (frame["b"], "are not numbers; for categories write g = kg.groups(values)"),
    ]:
        assert said in of(bad)
    assert "do not make an array" in of([[1, 2], [3]])
    assert "already a kinetograph array" in of(kg.data(1.0))
    assert of([1.0, 2.0], dims=("a", "b")) == (
        "data: dims ('a', 'b') name 2 axes, but the shape (2,) has 1; name each axis, or none"
    )
    assert of(np.ones((2, 2)), dims=("a", "a")) == (
        "data: dims ('a', 'a') name a dimension twice; give each axis its own name, such as "
        "dims=('a', 'a_2')"
    )


def test_lift():
    x = kg.placeholder((2,))
    double = kg.lift(lambda a: a.reshape(3))
    assert message(lambda: double(x), kg.ShapeError).startswith("<lambda>(x (2,) float64) failed: ")
    scale = kg.lift(lambda a, factor=1.0: a * factor)
    assert message(lambda: scale(x, factor=x), kg.SymbolicError) == (
        "<lambda>: pass the array factor= by position, not by keyword"
    )
    assert scale(x, factor=2.0).shape == (2,)
    assert kg.lift(jnp.sum)(x).shape == ()


def test_compile(monkeypatch):
    monkeypatch.undo()
    x, y = kg.placeholder((2,)), kg.placeholder()
    text = message(lambda: kg.compile([x], x + y), kg.ModelError)
    assert re.sub(r":\d+", "", text) == (
        "compile: the value of y (written at test_messages.py) is needed; add it to the inputs"
    )
    assert message(lambda: kg.compile([x, x], x), kg.ModelError) == (
        "compile: an input is given twice (here)"
    )
    assert message(lambda: kg.compile([1.0], x), TypeError) == (
        "compile: input 0 is a float, not a kinetograph array (here)"
    )
    f = kg.compile([x, y], x + y)
    assert message(lambda: f([1.0, 2.0]), TypeError) == (
        "this function takes 2 values (x, y), got 1 (here)"
    )
    assert message(lambda: f([1.0, 2.0, 3.0], 0), kg.ShapeError) == (
        "input x: expected shape (2,), got (3,) (here)"
    )
    assert message(lambda: f([1.0, 2.0], 1j), kg.SymbolicError) == (
        "input y: expected float64, got complex128 (here)"
    )
    assert f([1, 2], True).tolist() == [2.0, 3.0]


def test_names_are_read_without_touching_the_users_objects():
    class Touchy:
        def __getattr__(self, name):
            raise RuntimeError("touched")

    touchy = Touchy()
    x = kg.placeholder((3,))
    assert "x + " in message(lambda: x + np.ones(2), kg.ShapeError)
    assert isinstance(touchy, Touchy)


WEIGHTS, _HIDDEN = np.array([1.0, 2.0]), np.array([3.0, 4.0])


def test_numpy_arrays_have_the_name_of_their_variable_wherever_they_are_described():
    local, number = np.array([5.0, 6.0]), np.array([7.0])
    x = kg.placeholder((2,), name="x")

    def inner():
        return [x * WEIGHTS, x * local, x * _HIDDEN, x * (local + 0), x * [1, 2], x * number]

    made = inner()
    local = None
    texts = ["x * WEIGHTS", "x * local", "x * array", "x * array", "x * array", "x * 7"]
    assert [describe(each.node, {}) for each in made] == texts
    drawn = str(kg.draw_graph(x @ WEIGHTS))
    assert "WEIGHTS" in drawn


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: kg.normal(0, 1, shape=(np.int64(-3), np.int8(2))), "shape (-3, 2) has"),
        (lambda: kg.normal(0, 1, truncation=(np.float64(3), np.float32(-2.5))), "(3.0, -2.5)"),
        (lambda: kg.diag(kg.data([1.0]), k=np.str_("a")), "k=the text 'a'"),
        (lambda: kg.samplers.NUTS(max_depth=np.int64(-3)), "got -3 ("),
        (lambda: kg.normal(0, 1, truncation=(np.True_, 2, 3)), "got (True, 2, 3) ("),
    ],
)
def test_numbers_of_numpy_read_as_numbers(make, said):
    with pytest.raises((TypeError, ValueError)) as caught:
        make()
    text = str(caught.value)
    assert said in text
    assert "np." not in text


def test_numbers_in_warnings_read_as_numbers():
    with pytest.warns(kg.KinetographWarning, match=r"^labels 3 and 'a', not np.sum$"):
        warn_user("labels np.int64(3) and np.str_('a'), not np.sum", kg.KinetographWarning)


def test_expressions_read_as_written():
    from kinetograph.graph.messages import describe

    x, i = kg.placeholder((3, 2)), kg.placeholder((2,), int)
    for array, text in [
        (x[0], "x[0]"),
        (x[:, 1:], "x[:, 1:]"),
        (x[i, None], "x[i, None]"),
        (x**2, "x ** 2"),
        (x**0, "x ** 0"),
        (-x, "-x"),
        (2 * x + 1.5, "2 * x + 1.5"),
        (np.exp(x[..., ::2]), "exp(x[..., ::2])"),
    ]:
        assert describe(array.node, {id(x.node): "x", id(i.node): "i"}) == text


def test_a_missing_value_is_called_missing():
    assert message(lambda: kg.data([[1.0, 2.0], [None, 3.0]], name="x"), kg.DataError).endswith(
        "a missing value (None) at index (1, 0); " + INFER
    )
