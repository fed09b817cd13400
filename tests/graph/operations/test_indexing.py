import warnings

import jax
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.graph.helpers import apply, check_gradient, gradient, unknown, value

import kinetograph as kg

CHEAP = settings(deadline=None, derandomize=True, max_examples=15)
# Few shapes, so that JAX compiles few kernels.
SHAPES = st.sampled_from([(4,), (2, 3), (3, 1, 2)])


def filled(shape):
    return np.arange(1.0, 1 + np.prod(shape, dtype=int)).reshape(shape)


@st.composite
def array_keys(draw, shape):
    """Keys with integer arrays, masks, slices and integers, as NumPy accepts them."""
    key, rest = [], list(shape)
    while rest and draw(st.booleans() if key else st.just(True)):
        size = rest[0]
        kind = draw(st.sampled_from(["int", "slice", "array", "array", "mask", "new"]))
        if kind == "new":
            key.append(None)
            continue
        rest.pop(0)
        if kind == "int":
            key.append(draw(st.integers(-size, size - 1)))
        elif kind == "slice":
            key.append(draw(st.slices(size)))
        elif kind == "mask":
            key.append(np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size))))
        else:
            values = draw(st.lists(st.integers(-size, size - 1), min_size=2, max_size=2))
            key.append(np.array(values))
    return tuple(key)


@CHEAP
@given(st.data())
def test_basic_keys(data):
    x = filled(data.draw(SHAPES))
    key = data.draw(hnp.basic_indices(x.shape, allow_newaxis=True))
    np.testing.assert_array_equal(apply(lambda a: a[key], x), x[key])


@CHEAP
@given(st.data())
def test_array_keys_known_and_computed(data):
    x = filled(data.draw(SHAPES))
    key = data.draw(array_keys(x.shape))
    try:
        expected = x[key]
    except IndexError:  # the index arrays do not broadcast
        with pytest.raises(kg.ShapeError):
            unknown(x)[key]
        return
    np.testing.assert_array_equal(apply(lambda a: a[key], x), expected)
    arrays = [k for k in key if isinstance(k, np.ndarray) and k.dtype != bool]
    if arrays:
        a, indices = unknown(x), [unknown(k) for k in arrays]
        left = iter(indices)
        graph_key = tuple(next(left) if any(k is b for b in arrays) else k for k in key)
        given = {a: x, **dict(zip(indices, arrays, strict=True))}
        np.testing.assert_array_equal(value(a[graph_key], given), expected)


@CHEAP
@given(st.data(), st.sampled_from(["set", "add", "multiply"]))
def test_functional_updates(data, how):
    x = filled(data.draw(SHAPES))
    key = data.draw(array_keys(x.shape))
    places = np.arange(x.size).reshape(x.shape)
    try:
        chosen = places[key]
    except IndexError:
        return
    if how == "set" and len(np.unique(chosen)) < chosen.size:
        return  # which of two values wins is not defined
    expected = x.copy()
    {"set": expected.__setitem__, "add": lambda k, v: np.add.at(expected, k, v)}.get(
        how, lambda k, v: np.multiply.at(expected, k, v)
    )(key, 2.5)
    found = apply(lambda a: getattr(a.at[key], how)(2.5), x)
    np.testing.assert_array_equal(found, expected)


def test_two_dimensional_mask_and_ellipsis():
    x = filled((2, 3, 2))
    mask = np.array([[True, False, True], [False, False, True]])
    for key in [
        mask,
        (mask, 1),
        (..., np.array([1, 0])),
        (0, ..., [True, False]),
        ([1, 0], ..., 0),
    ]:
        np.testing.assert_array_equal(apply(lambda a, k=key: a[k], x), x[key])
    np.testing.assert_array_equal(
        apply(lambda a: a.at[mask].set(0.0), x), np.where(mask[..., None], 0, x)
    )


def test_data_as_an_index_may_be_negative_and_change():
    idx = kg.data([-1, 0])
    x = unknown(np.array([1.0, 2.0, 3.0]))
    f = kg.compile([x, idx], x[idx])
    assert f([1.0, 2.0, 3.0], [-1, 0]).tolist() == [3, 1]
    assert f([1.0, 2.0, 3.0], [-2, 2]).tolist() == [2, 3]
    with pytest.raises(kg.ShapeError, match="index 3 is out of bounds for axis 0 of length 3"):
        f([1.0, 2.0, 3.0], [3, 0])


def test_the_type_of_an_index_may_be_smaller_than_the_axis():
    x = kg.placeholder((300,))
    for index in (np.array([-1, 5], np.int8), np.array([255, 5], np.uint8)):
        read = kg.compile([x], x[kg.data(index)])
        np.testing.assert_array_equal(read(np.arange(300.0)), np.arange(300.0)[index])


def test_computed_indices_outside_read_and_write_what_is_no_number():
    x, i = unknown(np.array([1.0, 2.0, 3.0])), unknown(np.array([5, -1, -9]))
    given = {x: [1.0, 2.0, 3.0], i: [5, -1, -9]}
    read, written, whole = kg.debug([x[i], x.at[i].set(0.0), (x * 2).astype(int)[i]], given).values
    np.testing.assert_array_equal(read, [np.nan, 3, np.nan])
    np.testing.assert_array_equal(written, [np.nan, 2, np.nan])
    assert whole.tolist() == [-(2**63), 6, -(2**63)]


def test_update_promotes_as_addition_does():
    x = unknown(np.array([1, 2]))
    assert x.at[0].set(1.5).dtype == np.float64
    assert x.at[0].set(1).dtype == np.int64
    assert unknown(np.float32([1, 2])).at[0].add(1.5).dtype == np.float32
    assert apply(lambda x: x.at[0].set(1.5), np.array([1, 2])).tolist() == [1.5, 2]


def test_gradients():
    x = filled((2, 3))
    i = np.array([0, 2, 0])
    check_gradient(lambda x: x[:, i] ** 2, x)
    check_gradient(lambda x: x[1:, ::-1] ** 2, x)
    check_gradient(lambda x: x.at[:, i].add(x[:, :1] ** 2), x)
    check_gradient(lambda v: kg.data(x).at[0].set(v), np.ones(3))
    check_gradient(lambda v: kg.data(x).at[0, i].multiply(v), np.array([2.0, 0.0, 3.0]))
    check_gradient(lambda x: x.at[:, i].multiply(2.0), x)


def test_take_and_one_hot():
    x, i = filled((2, 3)), np.array([[1, -1], [0, 0]])
    for axis in (None, 0, 1, -1):
        low = np.where(i < 0, -1, 0) if axis == 0 else i
        found = apply(lambda a, axis=axis, low=low: np.take(a, low, axis=axis), x)
        np.testing.assert_array_equal(found, np.take(x, low, axis=axis))
    labels = np.array([[0, 2], [1, 1]])
    np.testing.assert_array_equal(apply(lambda k: kg.one_hot(k, 3), labels), np.eye(3)[labels])
    with kg.precision("float32"):
        assert kg.one_hot(labels, 3).dtype == np.float32


def test_iteration_and_length():
    x = unknown(filled((2, 3)))
    assert len(x) == 2
    assert [row.shape for row in x] == [(3,), (3,)]
    _, b = x
    assert value(b, {x: filled((2, 3))}).tolist() == [4, 5, 6]
    with pytest.raises(TypeError, match="single number and has no length"):
        len(unknown(1.0))


@pytest.mark.parametrize("known", [True, False])
def test_segments_against_a_loop(known):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(6, 2))
    for labels in (np.array([0, 0, 1, 1, 3, 3]), np.array([3, 0, 1, 3, 0, 0])):
        for name, f in {
            "sum": np.sum,
            "mean": np.mean,
            "max": np.max,
            "min": np.min,
            "prod": np.prod,
        }.items():
            empty = {"sum": 0.0, "mean": np.nan, "max": -np.inf, "min": np.inf, "prod": 1.0}[name]
            expected = [
                f(x[labels == k], axis=0) if (labels == k).any() else np.full(2, empty)
                for k in range(4)
            ]
            segment = getattr(kg, f"segment_{name}")
            found = (
                apply(lambda a: segment(a, labels, 4), x)
                if known
                else apply(lambda a, k: segment(a, k, 4), x, labels)
            )
            np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_segments_by_two_labels():
    a, b, x = np.array([0, 1, 1, 0]), np.array([2, 0, 0, 1]), np.array([1.0, 2.0, 4.0, 8.0])
    expected = np.zeros((2, 3))
    np.add.at(expected, (a, b), x)
    np.testing.assert_array_equal(apply(lambda x: kg.segment_sum(x, (a, b), (2, 3)), x), expected)
    check_gradient(lambda x: kg.segment_sum(x**2, (a, b), (2, 3)), x)
    for name in ("mean", "max", "prod"):
        check_gradient(lambda x, n=name: getattr(kg, f"segment_{n}")(x, b, 3), x)
    for zeros in ([0.0, 2.0, 3.0, 4.0], [0.0, 2.0, 0.0, 4.0], [2.0, 0.0, 0.0, 4.0]):
        check_gradient(lambda x: kg.segment_prod(x, b, 3), np.array(zeros))
    slope, _ = gradient(kg.segment_mean(y := unknown(x), b, 4)[:3], y, x)
    assert np.isfinite(slope).all()  # without the empty group's NaN
    assert jax.config.jax_enable_x64 is False


FLAGS = [
    "[True]",
    "[False]",
    "[np.True_]",
    "[np.array(True)]",
    "[True, 1]",
    "[..., True]",
    "[None, True]",
    "[True, None, 1]",
    "[:, True]",
    "[True, [0, 2]]",
    "[True, [0], False]",
    "[True, True]",
    "[np.array([True, False, True]), True]",
]


@pytest.mark.parametrize("key", FLAGS)
def test_single_booleans_are_axes(key):
    x = filled((3, 2))
    expected = eval(f"x{key}", {"x": x, "np": np})
    found = apply(lambda a: eval(f"a{key}", {"a": a, "np": np}), x)
    np.testing.assert_array_equal(found, expected)
    written = x.copy()
    exec(f"x{key} = 7.0", {"x": written, "np": np})
    found = apply(lambda a: eval(f"a.at{key}.set(7.0)", {"a": a, "np": np}), x)
    np.testing.assert_array_equal(found, written)


def test_a_boolean_of_the_graph_is_no_index():
    x, chosen = kg.placeholder((3,), name="x"), kg.placeholder((), "bool", name="chosen")
    with pytest.raises(kg.ShapeError, match=r"use kg.where\(mask, x, other\)"):
        x[chosen]
    assert x[kg.data(True)].shape == (1, 3)


def test_codes_of_missing_groups_are_told():
    """pandas marks rows without a group by -1, which NumPy reads as the last element."""
    effects = kg.normal(0, 1, shape=3, name="effects")
    codes = pd.Series(["a", "c", None, "b", None], dtype="category").cat.codes
    said = r"effects\[\w+\]: 2 of 5 indices are -1, the first in row 2 \(.*leave these rows out"
    with pytest.warns(kg.KinetographWarning, match=said):
        effects[codes]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for usual in ([0, 2, 1, 1, 0], [-1] * 5, [0, 1, 2, -3, -1]):
            effects[pd.Series(usual)]
        for lags in ([-1, 0, 1], [-1, 0, 1, 2, 0], [-1, 0, 1, 0, 1, -1, -1]):
            effects[np.array(lags)]


def test_codes_of_a_categorical_are_told_in_few_rows():
    effects = kg.normal(0, 1, shape=2, name="effects")
    codes = pd.Categorical(["a", "b", None]).codes
    for index in (codes, codes.astype(np.int16)):
        with pytest.warns(kg.KinetographWarning, match="1 of 3 indices are -1, the first in row 2"):
            effects[index]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for usual in (codes.astype(int), codes[:2], codes[2], codes[:, None], -codes[2:]):
            effects[usual]


def test_codes_of_missing_groups_are_told_without_a_data_frame():
    effects = kg.normal(0, 1, shape=3, name="effects")
    codes, _ = pd.factorize(pd.Series(["a", None, "c", "b", "a", None, "b"]))
    said = r"2 of 7 indices are -1, the first in row 1 .*; if not, write 2 in its place"
    for index in (codes, kg.data(codes, "g"), list(codes)):
        with pytest.warns(kg.KinetographWarning, match=said):
            effects[index]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        effects[codes % 3]
