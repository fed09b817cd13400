import numpy as np
import pytest

import kinetograph as kg

FLAT = np.full(3, 0.25)


def slopes(pairs):
    """Values and gradients of functions of vectors, in one program."""
    inputs, outputs = [], []
    for function, at in pairs:
        x = kg.placeholder((len(at),))
        y = function(x)
        inputs.append(x)
        outputs += [y, kg.gradients(y.sum(), x)]
    found = kg.compile(inputs, outputs)(*(np.asarray(at, float) for _, at in pairs))
    return list(zip(found[::2], found[1::2], strict=True))


# function, where, value, gradient of its sum
KINKS = [
    (kg.std, FLAT, 0.0, [0, 0, 0]),
    (kg.var, FLAT, 0.0, [0, 0, 0]),
    (np.linalg.norm, [0, 0], 0.0, [0, 0]),
    (lambda x: np.hypot(x[0], x[1]), [0, 0], 0.0, [0, 0]),
    (lambda x: kg.pairwise_distance(x[:, None])[0, 1], [1, 1], 0.0, [0, 0]),
    (kg.abs, [0.0, -2.0, 3.0], [0, 2, 3], [0, -1, 1]),
    # ties share
    (kg.max, [2, 1, 2, 0], 2.0, [0.5, 0, 0.5, 0]),
    (kg.min, [2, 0, 0, 0], 0.0, [0, 1 / 3, 1 / 3, 1 / 3]),
    (lambda x: kg.maximum(x[0], x[1]), [1, 1], 1.0, [0.5, 0.5]),
    (lambda x: np.fmax(x[0], x[1]), [1, 1], 1.0, [0.5, 0.5]),
    (lambda x: np.fmin(x[0], x[1]), [np.nan, 1], 1.0, [0, 1]),
    (lambda x: kg.segment_max(x, np.array([0, 0, 1]), 2), [1, 1, 0], [1, 0], [0.5, 0.5, 1]),
    (lambda x: kg.clip(x, 0.0, 1.0), [0, 1, 0.5, -1, 2], [0, 1, 0.5, 0, 1], [0.5, 0.5, 1, 0, 0]),
    (kg.median, [1, 2, 2, 3], 2.0, [0, 0.5, 0.5, 0]),
    (lambda x: kg.sort(x) * [1, 2, 3], [1, 1, 0], [0, 2, 3], [2, 3, 1]),  # in order of place
    # an infinite later derivative is not multiplied by the 0 of an element that is not selected
    (lambda x: kg.log(kg.maximum(x, 0.0)), [-1, 2], [-np.inf, np.log(2)], [0, 0.5]),
    (lambda x: kg.log(kg.max(x)), [0, -1], -np.inf, [np.inf, 0]),
    # products with zeros
    (kg.prod, [0, 2, 3], 0.0, [6, 0, 0]),
    (kg.prod, [0, 0, 3], 0.0, [0, 0, 0]),
    (kg.cumprod, [2, 0, 3, 0], [2, 0, 0, 0], [1, 8, 0, 0]),
    (lambda x: kg.segment_prod(x, np.array([0, 0, 1]), 2), [0, 2, 0], [0, 0], [2, 0, 1]),
    # powers
    (lambda x: x[:, None] ** np.arange(3), [0, 2], [[1, 0, 0], [1, 2, 4]], [1, 5]),
    (lambda x: x[0] ** x[1], [0, 2], 0.0, [0, 0]),
    (lambda x: x[0] ** x[1], [0, 1], 0.0, [1, 0]),
    (lambda x: x[0] ** x[1], [2, 0], 1.0, [0, np.log(2)]),
    (lambda x: x[:2] ** x[2:], [-2, 3, 2, 0], [4, 1], [-4, 0, np.nan, np.log(3)]),
]


def test_kinks_ties_and_zeros():
    for (_, at, value, slope), (found, found_slope) in zip(
        KINKS, slopes([(f, at) for f, at, _, _ in KINKS]), strict=True
    ):
        np.testing.assert_allclose(found, value, atol=1e-15, err_msg=str(at))
        np.testing.assert_allclose(found_slope, slope, rtol=1e-13, atol=1e-15, err_msg=str(at))


@pytest.mark.parametrize("dtype", [bool, "uint8", "int32", "int64", "float32", "float64"])
def test_types_are_numpys(dtype):
    x, peer = kg.placeholder((2, 3), dtype), np.ones((2, 3), dtype)
    for name in ("sum", "prod", "mean", "max", "argmax", "any", "cumsum", "cumprod"):
        ours, numpys = getattr(kg, name), getattr(np, name)
        assert ours(x, axis=1).dtype == numpys(peer, axis=1).dtype, name
        assert ours(x, axis=1).shape == numpys(peer, axis=1).shape, name
        assert ours(x).shape == numpys(peer).shape, name


def test_axes_that_cannot_be():
    x = kg.placeholder((2, 3))
    with pytest.raises(kg.ShapeError, match=r"argmax of .*takes one axis, got \(0, 1\)"):
        kg.argmax(x, axis=(0, 1))
    with pytest.raises(kg.ShapeError, match=r"cumsum of .*needs an axis"):
        kg.cumsum(x, axis=())


def test_rounding_taking_and_grouping_are_numpys():
    x, at, index = (
        kg.placeholder((4,)),
        np.array([-25.0, 0.125, 1.375, 1234.5]),
        np.array([-7, 2, 9]),
    )
    labels = kg.placeholder((4,), "uint8")
    outputs = [kg.round(x, n) for n in (-2, -1, 0, 1, 2)]
    outputs += [kg.take(x, index, mode=mode) for mode in ("clip", "wrap")]
    outputs.append(kg.segment_sum(x, labels, 3))
    found = kg.compile([x, labels], outputs)(at, np.uint8([2, 0, 2, 0]))
    wanted = [np.round(at, n) for n in (-2, -1, 0, 1, 2)]
    wanted += [np.take(at, index, mode=mode) for mode in ("clip", "wrap")]
    wanted.append(np.bincount([2, 0, 2, 0], at))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)


@pytest.mark.parametrize("wrong", [[0, 2], [0, -1]])
def test_labels_out_of_range_leave_no_group_a_number(wrong):
    """Values without the check at run time: no label counts from the end."""
    x, labels = kg.placeholder((2,)), kg.placeholder((2,), int)
    groups = kg.segment_sum(x, labels, 2)
    several = kg.segment_sum(x, (labels, 1 - labels), (2, 3))  # -1 and 2 would combine to group -1
    rows = kg.one_hot(labels, 2)
    found = kg.debug([groups, several, rows], {x: [1.0, 2.0], labels: wrong}).values
    assert np.isnan(found[0]).all()
    assert np.isnan(found[1]).all()
    np.testing.assert_array_equal(found[2], [[1, 0], [np.nan, np.nan]])


def test_only_sorted_known_labels_are_declared_sorted():
    """XLA may add the elements of other labels wrongly if it is told that they are sorted."""
    x, labels = kg.placeholder((3,)), kg.placeholder((3,), int)
    for index, is_sorted in (([0, 1, 1], True), ([1, 0, 1], False), (labels, False)):
        index = np.array(index) if isinstance(index, list) else index
        node = kg.segment_sum(x, index, 2).node
        assert node.attributes["is_sorted"] is is_sorted


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of means of nothing
@pytest.mark.parametrize("name", ["sum", "prod", "mean", "median", "var", "std", "any", "all"])
def test_reductions_of_no_elements_are_numpys(name):
    shapes = [(0,), (2, 0), (0, 3)]
    inputs = [kg.placeholder(shape) for shape in shapes]
    ours, numpys = getattr(kg, name), getattr(np, name)
    outputs = [*map(ours, inputs), ours(inputs[1], axis=1), ours(inputs[2], axis=0, keepdims=True)]
    empty = [np.zeros(shape) for shape in shapes]
    wanted = [
        *map(numpys, empty),
        numpys(empty[1], axis=1),
        numpys(empty[2], axis=0, keepdims=True),
    ]
    for found, right in zip(kg.compile(inputs, outputs)(*empty), wanted, strict=True):
        np.testing.assert_array_equal(found, right)
