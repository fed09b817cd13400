import numpy as np

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
    # an infinite derivative of what follows does not meet the 0 of what is not chosen
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
