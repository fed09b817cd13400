"""Shapes, reductions, joins and matrices of unknown arrays against NumPy."""

from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
import scipy.special as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.graph.helpers import apply, check_gradient, unknown, value
from tests.selection import thinned

import kinetograph as kg

CHEAP = settings(deadline=None, derandomize=True, max_examples=6)
SHAPES = st.sampled_from([(), (4,), (2, 3), (3, 1, 2), (0,), (2, 0)])
REDUCTIONS = ["sum", "prod", "mean", "var", "std", "median", "max", "min", "any", "all"]


def draws(shape, seed=0, dtype=float):
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "b":
        return rng.random(shape) > 0.5
    return (
        rng.integers(-3, 4, shape) if np.dtype(dtype).kind in "iu" else rng.normal(size=shape)
    ).astype(dtype)


def same(found, expected, rtol=1e-10):
    assert found.shape == np.shape(expected)
    assert found.dtype == np.asarray(expected).dtype, (found.dtype, np.asarray(expected).dtype)
    np.testing.assert_allclose(
        found, expected, rtol=1e-5 if found.dtype == np.float32 else rtol, atol=1e-12
    )


def all_same(x, cases):
    """Compare f(x) with its expected value for each case, in one program."""
    a = unknown(x)
    found = kg.compile([a], [f(a) for f, _ in cases])(x)
    for i, (got, (_, expected)) in enumerate(zip(found, cases, strict=True)):
        np.testing.assert_allclose(got, expected, 1e-10, 1e-12, err_msg=f"case {i}", strict=True)


@CHEAP
@given(
    st.sampled_from([(4,), (2, 3), (3, 1, 2)]),
    st.sampled_from(["float64", "float32", "int64", "bool"]),
    st.data(),
)
def test_reductions(shape, dtype, data):
    x = draws(shape, 1, dtype)
    axes = st.integers(-len(shape), len(shape) - 1)
    axis = data.draw(st.one_of(st.none(), axes, hnp.valid_tuple_axes(len(shape))))
    keepdims = data.draw(st.booleans())
    name = data.draw(st.sampled_from(REDUCTIONS))
    if name == "median" and (axis == () or dtype == "bool"):
        return  # NumPy's median fails there
    f = getattr(np, name)
    expected = f(x, axis=axis, keepdims=keepdims)
    same(apply(lambda a: f(a, axis=axis, keepdims=keepdims), x), expected)
    if name != "median":
        same(apply(lambda a: getattr(a, name)(axis=axis, keepdims=keepdims), x), expected)
    same(apply(lambda a: getattr(kg, name)(a, axis=axis, keepdims=keepdims), x), expected)


@pytest.mark.parametrize("name", ["argmax", "argmin", "cumsum", "cumprod"])
def test_along_one_axis(name):
    f = getattr(np, name)
    for shape in [(4,), (2, 3), (3, 1, 2)]:
        x, cases = draws(shape), []
        for axis in (None, 0, -1):
            expected = f(x, axis=axis)
            cases.append((lambda a, axis=axis: f(a, axis=axis), expected))
            cases.append((lambda a, axis=axis: getattr(a, name)(axis), expected))
        all_same(x, cases)


def test_running_extremes():
    x = draws((2, 3))
    all_same(
        x,
        [
            (lambda a: kg.cummax(a, 1), np.maximum.accumulate(x, 1)),
            (lambda a: kg.cummin(a), np.minimum.accumulate(x.ravel())),
        ],
    )


def test_of_nothing():
    x = np.zeros((2, 0))
    for name in ("sum", "prod", "any", "all"):
        for axis in (None, 0, 1):
            f = getattr(np, name)
            same(apply(lambda a, f=f, axis=axis: f(a, axis=axis), x), f(x, axis=axis))
    same(apply(lambda a: a.max(axis=0), x), x.max(axis=0))


def test_moments_extremes_and_ddof():
    x, cases = draws((3, 4)), []
    for ddof in (0, 1, 2):
        cases.append((lambda a, d=ddof: np.var(a, axis=0, ddof=d), np.var(x, axis=0, ddof=ddof)))
        cases.append((lambda a, d=ddof: np.std(a, ddof=d), np.std(x, ddof=ddof)))
    for axis in (None, 0, (0, 1)):
        expected = sp.logsumexp(x * 500, axis)
        cases.append((lambda a, axis=axis: kg.logsumexp(a * 500, axis), expected))
    cases += [
        (lambda a: np.ptp(a, axis=1), np.ptp(x, axis=1)),
        (lambda a: kg.softmax(a, 0), sp.softmax(x, 0)),
        (lambda a: kg.log_softmax(a), sp.log_softmax(x, -1)),
        (kg.imultilogit, sp.softmax(np.c_[x, np.zeros(3)], -1)),
    ]
    all_same(x, cases)


# Axes, and functions computed by other functions; test_functions.py tests each function itself.
ALONG = [
    lambda x: x.var(axis=1, ddof=1),
    lambda x: kg.logsumexp(x, 1),
    lambda x: x.cumprod(0),
    lambda x: np.linalg.norm(x, axis=1),
    lambda x: np.diff(x, axis=0),
    lambda x: np.roll(x, 1),
    lambda x: kg.log(x**2 + 1, 2),
]
OTHERS = [
    lambda x: x.mean(0),
    lambda x: x.std(),
    lambda x: x.prod(1),
    lambda x: np.median(x, axis=1),
    lambda x: x.max(0),
    lambda x: x.cumsum(1),
    lambda x: kg.cummax(x),
    lambda x: kg.softmax(x),
    lambda x: kg.log_softmax(x, 0),
    lambda x: kg.imultilogit(x),
    lambda x: kg.sort(x),
    lambda x: np.tile(x, 2),
    lambda x: kg.log_comb(x**2 + 5, 2.5),
    lambda x: kg.pairwise_distance(x),
]


@pytest.mark.parametrize("f", ALONG + [pytest.param(f, marks=pytest.mark.slow) for f in OTHERS])
def test_gradients(f):
    check_gradient(f, draws((3, 3), 5))


def test_logarithm_to_a_base_and_binomials():
    x = np.abs(draws(4)) + 0.1
    same(apply(lambda a: kg.log(a, 3), x), np.log(x) / np.log(3))
    n, k = np.array([5.0, 10.0, 1e6]), np.array([2.0, 10.0, 3.0])
    same(apply(kg.comb, n, k), sp.comb(n, k), rtol=1e-9)
    same(apply(lambda a: np.round(a, 1), x), np.round(x, 1))
    assert apply(lambda a: round(a), np.array(2.5)) == 2


@CHEAP
@given(SHAPES, st.data())
def test_rearrangements(shape, data):
    x, n = draws(shape), len(shape)
    order = data.draw(st.permutations(range(n)))
    same(apply(lambda a: np.transpose(a, order), x), np.transpose(x, order))
    same(apply(lambda a: a.T, x), x.T)
    flat = data.draw(st.permutations(shape))
    same(apply(lambda a: a.reshape(*flat) if flat else a.reshape(()), x), x.reshape(flat))
    same(apply(lambda a: a.ravel(), x), x.ravel())
    if x.size:
        same(apply(lambda a: np.reshape(a, (-1, 1)), x), np.reshape(x, (-1, 1)))
    at = data.draw(st.integers(-n - 1, n))
    same(apply(lambda a: np.expand_dims(a, at), x), np.expand_dims(x, at))
    same(apply(np.squeeze, x), np.squeeze(x))
    same(apply(lambda a: np.broadcast_to(a, (2, *shape)), x), np.broadcast_to(x, (2, *shape)))
    same(apply(np.flip, x), np.flip(x))
    if n:
        axis, other = data.draw(st.integers(-n, n - 1)), data.draw(st.integers(-n, n - 1))
        same(apply(lambda a: np.swapaxes(a, axis, other), x), np.swapaxes(x, axis, other))
        same(apply(lambda a: np.moveaxis(a, axis, other), x), np.moveaxis(x, axis, other))
        same(apply(lambda a: np.roll(a, 1, axis), x), np.roll(x, 1, axis))
        same(apply(lambda a: np.repeat(a, 2, axis), x), np.repeat(x, 2, axis))
        same(apply(lambda a: np.sort(a, axis), x), np.sort(x, axis))
        same(apply(lambda a: np.diff(a, 1, axis), x), np.diff(x, 1, axis))
        same(apply(lambda a: np.flip(a, axis), x), np.flip(x, axis))
        for f in (np.concatenate, np.stack):
            same(apply(lambda a, f=f: f([a, a * 2], axis), x), f([x, x * 2], axis))
        same(apply(lambda a: np.array_split(a, 2, axis)[1], x), np.array_split(x, 2, axis)[1])
    same(apply(lambda a: np.tile(a, (2, 1)), x), np.tile(x, (2, 1)))
    same(apply(lambda a: np.concatenate([a, a], None), x), np.concatenate([x, x], None))


def test_lists_in_lists_of_arrays_are_stacked():
    x = np.array([0.5, 2.0])
    for make in (
        lambda a, join: join.stack([[a[0], 1 - a[0]], [3.0, a[1]]]),
        lambda a, join: join.stack([[(a[0], 2.0)], [(a[1], a[0])]], axis=1),
        lambda a, join: join.concatenate([[a[1]], a, [1.5, a[0]]]),
    ):
        np.testing.assert_array_equal(apply(lambda a, f=make: f(a, kg), x), make(x, np))
    with pytest.raises(kg.ShapeError, match="stack needs arrays of one shape"):
        apply(lambda a: kg.stack([[a[0], a[1]], [a[0]]]), x)


def test_joins_and_splits():
    x, y = draws(3), draws(3, 1)
    for f in (np.stack, np.vstack, np.hstack, np.column_stack, np.concatenate):
        same(apply(lambda a, b, f=f: f([a, b]), x, y), f([x, y]))
    m = draws((2, 4))
    for f in (np.vstack, np.hstack):
        same(apply(lambda a, f=f: f([a, a]), m), f([m, m]))
    for found, expected in zip(
        np.split(unknown(m), 2, axis=1), np.split(m, 2, axis=1), strict=True
    ):
        assert found.shape == expected.shape
    same(apply(lambda a: np.split(a, [1, 3], axis=1)[1], m), m[:, 1:3])
    same(apply(lambda a: np.stack([a[0], 1, 2.5]), x), np.stack([x[0], 1, 2.5]))
    same(apply(lambda a: np.concatenate([a, np.array([1, 2])]), x), np.concatenate([x, [1, 2]]))
    same(apply(lambda a: np.roll(a, 1), m), np.roll(m, 1))
    same(apply(lambda a: np.roll(a, (1, 2), (0, 1)), m), np.roll(m, (1, 2), (0, 1)))
    same(apply(lambda a: np.repeat(a, [1, 0, 2, 1], axis=1), m), np.repeat(m, [1, 0, 2, 1], axis=1))
    same(apply(lambda a: np.repeat(a, 2), m), np.repeat(m, 2))
    for f in (np.atleast_1d, np.atleast_2d):
        same(apply(f, x), f(x))
    assert np.zeros_like(unknown(m)).tolist() == np.zeros((2, 4)).tolist()
    assert np.ones_like(unknown(x)).tolist() == [1, 1, 1]
    assert (np.shape(unknown(m)), np.ndim(unknown(m)), np.size(unknown(m))) == ((2, 4), 2, 8)


def test_diagonals_and_triangles():
    m, v = draws((3, 4)), draws(3)
    for k in (-2, 0, 1):
        same(apply(lambda a, k=k: np.diag(a, k), m), np.diag(m, k))
        same(apply(lambda a, k=k: np.diag(a, k), v), np.diag(v, k))
        same(apply(lambda a, k=k: np.tril(a, k), m), np.tril(m, k))
        same(apply(lambda a, k=k: np.triu(a, k), m), np.triu(m, k))
        same(apply(lambda a, k=k: np.trace(a, k), m), np.trace(m, k))
    t = draws((2, 3, 3))
    same(apply(lambda a: np.diagonal(a, 1, 1, 2), t), np.diagonal(t, 1, 1, 2))
    same(apply(lambda a: a.trace(0, 1, 2), t), t.trace(0, 1, 2))
    same(apply(lambda a: a.mT, t), t.mT)


@CHEAP
@given(st.data())
def test_matmul_and_dot(data):
    n, m, k = 2, 3, 4
    left = data.draw(st.sampled_from([(m,), (n, m), (2, n, m), (2, 1, n, m)]))
    right = data.draw(st.sampled_from([(m,), (m, k), (2, m, k), (3, m, k)]))
    dtype = data.draw(st.sampled_from(["float64", "int64", "float32", "bool"]))
    x, y = draws(left, 1, dtype), draws(right, 2, dtype)
    try:
        expected = x @ y
    except ValueError:
        with pytest.raises(kg.ShapeError, match="leading axes"):
            unknown(x) @ unknown(y)
    else:
        same(apply(lambda a, b: a @ b, x, y), expected)
        same(apply(lambda a: a @ y, x), expected)
        same(apply(lambda b: x @ b, y), expected)
        assert apply(lambda a: a @ draws(right, 2, "float64"), x).dtype == np.float64
    if dtype == "float64":
        same(apply(np.dot, x, y), np.dot(x, y))


def test_products():
    x, y, m = draws(3), draws(4, 1), draws((2, 3))
    same(apply(np.outer, m, y), np.outer(m, y))
    same(apply(np.kron, m, y), np.kron(m, y))
    same(apply(np.inner, m, x), np.inner(m, x))
    same(apply(np.inner, m, draws((4, 3))), np.inner(m, draws((4, 3))))
    same(apply(lambda a: np.dot(a, 2), x), np.dot(x, 2))
    same(
        apply(lambda a, b: np.einsum("ij,j,k->ik", a, b, y), m, x), np.einsum("ij,j,k->ik", m, x, y)
    )
    assert np.kron(unknown(np.array([1, 2])), unknown(np.float32([1]))).dtype == np.float64
    same(apply(lambda a: x @ a, np.arange(3)), x @ np.arange(3))


def positive(n, seed=0, batch=()):
    a = draws((*batch, n, n), seed)
    return a @ np.swapaxes(a, -1, -2) + n * np.eye(n)


@pytest.mark.parametrize(
    ("n", "batch"), thinned([(n, batch) for batch in ((), (2,)) for n in (3, 7, 0, 1, 6)], 5)
)
def test_linear_systems(n, batch):
    a, b, v = positive(n, 1, batch), draws((n, 2), 2), draws(n, 3)
    factor = np.linalg.cholesky(a)
    same(apply(np.linalg.cholesky, a), factor)
    same(apply(np.linalg.cholesky, np.tril(a) + np.triu(7 * np.ones((n, n)), 1)), factor)
    same(apply(np.linalg.solve, a, b), np.linalg.solve(a, b), rtol=1e-9)
    same(apply(np.linalg.solve, a, v), np.linalg.solve(a, v), rtol=1e-9)
    if batch or not n:
        return
    same(apply(np.linalg.inv, a), np.linalg.inv(a), rtol=1e-9)
    same(apply(np.linalg.det, a), np.linalg.det(a))
    for found, expected in zip(np.linalg.slogdet(unknown(a)), np.linalg.slogdet(a), strict=True):
        assert found.shape == np.shape(expected)
    same(apply(lambda a: np.linalg.slogdet(a).logabsdet, a), np.linalg.slogdet(a)[1])
    same(apply(lambda a: np.linalg.slogdet(-a).sign, a), np.linalg.slogdet(-a)[0])
    same(apply(kg.logdet, a), np.linalg.slogdet(a)[1])
    for lower, t in [(True, 0), (True, 1), (False, 0), (False, "T")]:
        matrix = factor if lower else factor.T.copy()
        same(
            apply(
                lambda a, lower=lower, t=t: kg.solve_triangular(a, b, trans=t, lower=lower), matrix
            ),
            scipy.linalg.solve_triangular(matrix, b, trans=t, lower=lower),
            rtol=1e-9,
        )
    same(apply(kg.chol_inverse, factor), np.linalg.inv(a), rtol=1e-8)
    same(apply(kg.chol_outer, factor), a)
    sd = np.sqrt(np.diag(a))
    same(apply(kg.cov2cor, a), a / np.outer(sd, sd))


def test_decompositions():
    a, m = positive(3), draws((4, 3))
    w, v = np.linalg.eigh(unknown(a))
    same(apply(np.linalg.eigvalsh, a), np.linalg.eigvalsh(a))
    rebuilt = apply(
        lambda a: (r := np.linalg.eigh(a)).eigenvectors * r.eigenvalues @ r.eigenvectors.T, a
    )
    same(rebuilt, a)
    assert (w.shape, v.shape) == ((3,), (3, 3))
    same(apply(lambda m: (r := np.linalg.qr(m)).Q @ r.R, m), m)
    same(apply(lambda m: (r := np.linalg.svd(m, full_matrices=False)).U * r.S @ r.Vh, m), m)
    same(apply(lambda m: np.linalg.svd(m, compute_uv=False), m), np.linalg.svd(m, compute_uv=False))
    with pytest.raises(kg.SymbolicError, match="full_matrices=False"):
        np.linalg.svd(unknown(m))


@pytest.mark.parametrize("n", thinned([7, 3], 2))
def test_gradients_of_matrices(n):
    a, b = positive(n, 1), draws((n, 2), 2)
    lower = np.linalg.cholesky(a)
    for f in (
        lambda m: np.linalg.cholesky(m + m.T),
        lambda m: kg.solve(m, b),
        lambda m: kg.logdet(m),
        lambda m: kg.solve_triangular(m, b, lower=True),
        lambda m: kg.inv(m) @ b,
        lambda m: np.linalg.eigvalsh(m + m.T),
        lambda m: np.linalg.svd(m, compute_uv=False),
    ):
        check_gradient(f, lower, rtol=1e-5, step=1e-4)


def test_distances():
    x, y = draws((4, 2)), draws((3, 2), 1)
    expected = np.sqrt(((x[:, None] - y) ** 2).sum(-1))
    same(apply(kg.pairwise_distance, x, y), expected)


def test_handles():
    x = unknown(draws((2, 3)))
    assert (x.shape, x.ndim, x.size, x.dtype, x.T.shape) == ((2, 3), 2, 6, np.float64, (3, 2))
    q, r = divmod(x, 2.0)
    same(value(q, {x: draws((2, 3))}), draws((2, 3)) // 2)
    same(value(r, {x: draws((2, 3))}), draws((2, 3)) % 2)
    assert x.astype(int).dtype == np.int64
    assert x.astype(float) is not x
    assert x.astype(float).node is x.node
    for method in ("any", "all", "argmin"):
        assert getattr(x, method)().shape == ()
    assert x.clip(0, 1).shape == (2, 3)
    assert x.repeat(2, 0).shape == (4, 3)
    assert x.round().squeeze().swapaxes(0, 1).transpose(1, 0).flatten().take([0]).shape == (1,)
    assert x.diagonal().shape == (2,)
    assert x.dot(np.ones(3)).shape == (2,)


def test_every_entry_of_the_protocol_runs():
    from kinetograph.graph.numpy.protocol import _FUNCTIONS

    one = {
        "where": (True, 1.0),
        "reshape": ((9,),),
        "broadcast_to": ((2, 3, 3),),
        "swapaxes": (0, 1),
    }
    more = {
        "moveaxis": (0, 1),
        "expand_dims": (0,),
        "split": (3,),
        "array_split": (2,),
        "hsplit": (3,),
        "vsplit": (3,),
        "repeat": (2,),
        "tile": (2,),
        "roll": (1,),
        "take": ([0],),
        "dot": (np.eye(3),),
        "inner": (np.eye(3),),
        "outer": (np.eye(3),),
        "kron": (np.eye(3),),
        "solve": (np.eye(3),),
        "clip": (0, 1),
    }
    joins = {"concatenate", "stack", "vstack", "hstack", "dstack", "column_stack"}
    a = positive(3)
    x = unknown(a)
    compared = []
    others = (Path(__file__).parent / "numpy").glob("*.py")  # these have separate cases
    tested = "".join(path.read_text(encoding="utf-8") for path in others)
    for f in (f for f in _FUNCTIONS if f".{f.__name__}(" not in tested):
        extra = {**one, **more}.get(f.__name__, ())
        if f is np.dsplit:
            found, expected = f(x[None], 3), f(a[None], 3)
        elif f.__name__ == "einsum":
            found, expected = f("ij->ji", x), f("ij->ji", a)
        elif f.__name__ in joins:
            found, expected = f([x, x]), f([a, a])
        else:
            found, expected = f(x, *extra), f(a, *extra)
        found = found if isinstance(found, (tuple, list)) else [found]
        expected = expected if isinstance(expected, (tuple, list)) else [expected]
        assert [np.shape(p) for p in found] == [np.shape(p) for p in expected], f
        for part, wanted in zip(found, expected, strict=True):
            if isinstance(part, kg.Array) and f.__name__ not in ("eigh", "svd", "qr"):
                compared.append((f.__name__, part, wanted))
    for (name, *_, wanted), got in zip(
        compared, kg.compile([x], [part for _, part, _ in compared])(a), strict=True
    ):
        np.testing.assert_allclose(got, wanted, 1e-9, 1e-12, err_msg=name)
