"""Derivatives of loops and branches in every order, against Python's loops on jets."""

from functools import partial

import numpy as np
import pytest
from tests.graph.control import helpers
from tests.graph.control.helpers import (
    PROGRAMS,
    Graph,
    check_derivatives,
    compiled,
    derivatives,
    expected_derivatives,
    plain_derivatives,
)
from tests.selection import thinned

import kinetograph as kg
from kinetograph.graph.errors import SymbolicError

# Value, gradient and Hessian at the points of PROGRAMS, from the requirements: closed forms.
REFERENCE = {
    "W9": (54, [27, 54], [[0, 27], [27, 36]]),
    "W10": (
        115.330078125,
        [57.6650390625, 768.8671875],
        [[0, 384.43359375], [384.43359375, 4613.203125]],
    ),
    "W11": (
        2.305351646929859,
        [-3.43239e-09, 0.4876261353217959],
        [[9.95662e-09, -2.00852e-07], [-2.00852e-07, -0.5330052176885969]],
    ),
    "W12": (
        408.638671875,
        [408.638671875, 2548.65234375],
        [[0, 2548.65234375], [2548.65234375, 14344.59375]],
    ),
    "W13a": (
        3.3254844521406928,
        [3.1918917142480874, -2.2200016089481887],
        [[10.446531817134327, -6.928355195914264], [-6.928355195914264, 5.231386890987397]],
    ),
    "W13b": (
        0.2587890625,
        [0.005859375, -0.5439453125],
        [[0.001953125, -0.029296875], [-0.029296875, 1.49169921875]],
    ),
}


def check(program, at, *, dtype=float, rtol=1e-12, atol=1e-12, every_way=True, **options):
    """Compare the derivatives of a compiled program with those of plain Python."""
    bound, grad = options.get("bound"), options.get("grad", "auto")
    with kg.precision(np.dtype(dtype).name):
        x, w = kg.placeholder(name="x"), kg.placeholder(name="w")
        y = program(Graph(bound, grad), x, w)
        assert y.dtype == dtype
        f = compiled([x, w], derivatives(y, [x, w], every_way=every_way))
    at = np.asarray(at, dtype)
    expected = expected_derivatives(*plain_derivatives(program, at, bound))
    check_derivatives(f(*at), expected, rtol, atol)
    return f.function


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_oracle_has_the_reference_values(name):
    program, at = PROGRAMS[name]
    for mine, theirs in zip(plain_derivatives(program, at), REFERENCE[name]):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", thinned(PROGRAMS, 3))
def test_loops_have_exact_derivatives_without_a_bound(name):
    program, at = PROGRAMS[name]
    check(program, at)


@pytest.mark.parametrize(
    ("w", "trips"), [(1.5, 10), (2, 6), (3.68, 4), (3.69, 3), (7, 3), (7.05, 3), (7.1, 2)]
)
def test_trips_that_depend_on_data(w, trips, growth):
    value, dx, dw, ddw, dddw = growth(2.0, w)
    rtol = 1e-12
    np.testing.assert_allclose(value, 2 * w**trips, rtol)
    np.testing.assert_allclose(dx, w**trips, rtol)
    np.testing.assert_allclose(dw, 2 * trips * w ** (trips - 1), rtol)
    np.testing.assert_allclose(ddw, 2 * trips * (trips - 1) * w ** (trips - 2), rtol)
    third = trips * (trips - 1) * (trips - 2) * w ** (trips - 3)
    np.testing.assert_allclose(dddw, 2 * third, rtol)


@pytest.fixture(scope="module")
def growth():
    """The loop of W10 with its derivatives up to the third."""
    x, w = kg.placeholder(), kg.placeholder()
    y = helpers.growth(Graph(), x, w)
    dx, dw = kg.gradients(y, [x, w])
    ddw = kg.gradients(dw, w)
    return kg.compile([x, w], [y, dx, dw, ddw, kg.gradients(ddw, w)])


# Exact, loose and truncating bounds.
BOUNDS = {
    "W9": (3, 64, 2),
    "W10": (10, 500, 7),
    "W11": (17, 20, 9),
    "W12": (10, 40, 3),
    "W13a": (6, 32, 5),
    "W13b": (4, 9, 2),
}


@pytest.mark.parametrize("place", thinned([2, 1, 0], 3))
@pytest.mark.parametrize(("name", "grad"), [("W10", "auto"), ("W12", "stack"), ("W13a", "forward")])
def test_bounds(name, grad, place):
    program, at = PROGRAMS[name]
    check(program, at, bound=BOUNDS[name][place], grad=grad, every_way=False)


@pytest.mark.parametrize(("name", "bound"), thinned([("W11", 12), ("W10", None)], 2))
def test_checkpoints(name, bound):
    program, at = PROGRAMS[name]
    check(program, at, grad="checkpoint", bound=bound, every_way=False)


@pytest.mark.parametrize("name", thinned(["W11", "W10", "W13a"], 3))
def test_single_precision(name):
    program, at = PROGRAMS[name]
    at = np.float32(at).astype(float)
    check(program, at, dtype=np.float32, rtol=2e-6, atol=2e-6, every_way=False)


PLACES = {
    name: getattr(helpers, name.replace(" ", "_"))
    for name in [
        "in cond",
        "beside cond",
        "in while",
        "in scan",
        "in vmap",
        "in vmap in while",
        "in while in vmap",
        "in cond in vmap",
    ]
}


@pytest.mark.parametrize("place", thinned(PLACES, 3))
def test_data_dependent_loop_inside(place):
    check(partial(PLACES[place], helpers.growth), (2.0, 1.7), every_way=False)


def newton(a):
    """The root of y^3 + a y - 1 by Newton's method, with derivatives taken inside the loop."""

    def potential(y):
        # Its gradient y^3 + a y - 1, computed by a loop.
        _, p = kg.while_loop(lambda i, p: i < 3, lambda i, p: (i + 1, p * y), (0, y))
        return p / 4 + a * y**2 / 2 - y

    def step(y, last):
        e = potential(y)
        return y - kg.gradients(e, y) / kg.hessian(e, y), y

    def going(y, last):
        return abs(y - last) > 1e-15

    return kg.while_loop(going, step, (0.5, 1.5), 50)[0]


def test_derivatives_inside_a_loop_and_of_it():
    a = kg.placeholder()
    y = newton(a)
    slope = kg.gradients(y, a)
    value, first, second = kg.compile([a], [y, slope, kg.jvp(slope, a, 1.0)])(2.0)
    root = np.roots([1, 0, 2.0, -1])
    root = root[abs(root.imag) < 1e-9].real[0]
    np.testing.assert_allclose(value, root, rtol=1e-12)
    # Implicitly: (3 y^2 + a) y' + y = 0, and once more.
    d = -root / (3 * root**2 + 2)
    dd = -(6 * root * d**2 + 2 * d) / (3 * root**2 + 2)
    np.testing.assert_allclose(first, d, rtol=1e-12)
    np.testing.assert_allclose(second, dd, rtol=1e-10)


@pytest.mark.parametrize("place", thinned(["while", "cond", "vmap", "scan"], 2))
def test_derivatives_taken_inside(place):
    x, w = kg.placeholder(), kg.placeholder()

    def inside(x, w):
        """w^T + 2 T w^(T-1) x, the derivatives of x w^T."""
        y = helpers.growth(Graph(), x, w)
        return sum(kg.gradients(y, [x, w])) + kg.jvp(y, w, 1.0)

    if place == "cond":
        total = kg.cond(x > 0, lambda: inside(x, w), lambda: x)
    elif place == "while":
        total = kg.while_loop(lambda i, s: i < 1, lambda i, s: (i + 1, inside(s, w)), (0, x))[1]
    elif place == "scan":
        total = kg.scan(lambda s, r: (inside(s, r), None), x, w.reshape(1))[0]
    else:
        total = kg.vmap(inside)(x.reshape(1), w.reshape(1)).sum()
    at, base, trips = 2.0, 1.5, 10
    first = [
        2 * trips * base ** (trips - 1),
        trips * base ** (trips - 1) + 2 * at * trips * (trips - 1) * base ** (trips - 2),
    ]
    value = base**trips + 2 * at * trips * base ** (trips - 1)
    f = kg.compile([x, w], [total, *kg.gradients(total, [x, w])])
    np.testing.assert_allclose(f(at, base), [value, *first], rtol=1e-12)


def test_by_intermediate_values_and_vectors():
    x, w = kg.placeholder((2,)), kg.placeholder()
    z = x * 3
    i, y = kg.while_loop(lambda i, y: y.sum() < 100, lambda i, y: (i + 1, y * w + z), (0, z))
    total = (y * [1.0, 10.0]).sum()
    by_z, by_w = kg.gradients(total, [z, w])
    (zz, zw), (wz, ww) = kg.hessian(total, [z, w])
    f = kg.compile([x, w], [i, total, by_z, by_w, zz, zw, wz, ww])
    trips, value, by_z, by_w, zz, zw, wz, ww = f([1.0, 2.0], 2.0)
    # y = z (1 + w + ... + w^T)
    powers = np.arange(trips + 1)
    series = (2.0**powers).sum()
    slope = (powers * 2.0 ** (powers - 1)).sum()
    bend = (powers * (powers - 1) * 2.0 ** (powers - 2)).sum()
    at = np.array([3.0, 6.0])
    assert at.sum() * series >= 100 > at.sum() * (series - 2.0**trips)
    weights = np.array([1.0, 10.0])
    assert value == weights @ at * series
    assert by_z.tolist() == (weights * series).tolist()
    assert by_w == weights @ at * slope
    assert zz.tolist() == np.zeros((2, 2)).tolist()
    assert zw.tolist() == wz.tolist() == (weights * slope).tolist()
    assert ww == weights @ at * bend


def test_by_what_a_derivative_went_through():
    """A derivative by e is not a function of r = exp(e) alone, so it raises."""
    e, w = kg.placeholder(name="e"), kg.placeholder(name="w")
    r = kg.exp(e)
    slope = kg.gradients(r**2 * w, e)
    by_log = kg.gradients(kg.log_density(kg.poisson(r), 3), e)  # reads e alone
    again = kg.gradients(slope, w)
    for y in (slope, slope + r, kg.jvp(r**2, e, 1.0), kg.hessian(r**2, e), again, by_log):
        for doing in (kg.gradients, kg.hessian, lambda y, x: kg.jvp(y, x, 1.0)):
            with pytest.raises(SymbolicError, match=r"was taken through [rx] .*stop_gradient"):
                doing(y, r)
    outputs = [
        kg.gradients(slope, e),
        kg.gradients(kg.stop_gradient(slope) * r, r),
        kg.gradients(slope * r, slope),
        kg.gradients(kg.gradients(r**2 * w, w), r),
        kg.gradients(kg.gradients(r**2 * w, r), r),
    ]
    expected = [8 * np.exp(0.6), 4 * np.exp(0.6), np.exp(0.3), 2 * np.exp(0.3), 4]
    np.testing.assert_allclose(kg.compile([e, w], outputs)(0.3, 2.0), expected, rtol=1e-12)


INSIDE = [
    (name, grad, place)
    for name in PROGRAMS
    for grad in ["auto", "stack", "forward"]
    for place in PLACES
]
# Checkpoints take long to compile.
INSIDE += [("W10", "checkpoint", place) for place in ["in cond", "in scan", "in vmap"]]
INSIDE += [("W13a", "checkpoint", "in while")]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "grad", "place"), INSIDE)
def test_every_loop_inside_everything(name, grad, place):
    program, at = PROGRAMS[name]
    bound = 60 if grad == "stack" else None
    check(partial(PLACES[place], program), at, grad=grad, bound=bound, rtol=1e-11, atol=1e-11)


BOUNDED = [
    (name, grad, bound, dtype)
    for name, bounds in BOUNDS.items()
    for grad in ["auto", "stack", "forward", "checkpoint"]
    for bound in [None, *bounds]
    for dtype in ["float64", "float32"]
    if (grad, bound) != ("stack", None) and (grad, dtype) != ("checkpoint", "float32")
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "grad", "bound", "dtype"), BOUNDED)
def test_every_loop_with_every_bound(name, grad, bound, dtype):
    program, at = PROGRAMS[name]
    at = np.asarray(at, dtype)
    tolerance = 1e-12 if dtype == "float64" else 5e-6
    check(program, at, bound=bound, grad=grad, dtype=dtype, rtol=tolerance, atol=tolerance)


def test_a_gradient_of_a_second_derivative():
    """Tangents of nested loops are a batch with equal values for all members."""
    w = kg.placeholder(name="w")

    def inner(v):
        return kg.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * w), [0, v])[1]

    y = kg.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, inner(v)), [0, w])[1]
    third = kg.compile([w], kg.gradients(kg.hessian(y, w), w))
    assert third(1.5) == pytest.approx(7 * 6 * 5 * 1.5**4, rel=1e-12)


def test_what_only_a_loop_inside_a_loop_reads_is_told_that_it_took_part():
    """Test an inner loop, which computes its predicate once more than its body."""
    x, bounds = kg.placeholder(name="x"), kg.data(np.arange(10.0))

    def body(t, v, n, kept):
        v = v * x
        square = v * v  # computed here, but read only in the inner loop
        n, kept = kg.while_loop(
            lambda n, kept: bounds[n] < 2 * t + 1,
            lambda n, kept: (n + 1, kept.at[n].add(square)),
            [n, kept],
            10,
        )
        return t + 1, v, n, kept

    start = [0.0, x, 0, kg.data(np.zeros(10))]
    *_, kept = kg.while_loop(lambda t, *_: t < 3, body, start, 20)
    value, gradient = kg.compile([x], [kept, kg.gradients(kept.sum(), x)])(2.0)
    # x^4 once, x^6 and x^8 twice each.
    np.testing.assert_array_equal(value[:6], [16, 64, 64, 256, 256, 0])
    assert gradient == 4 * 8 + 12 * 32 + 16 * 128


def test_jacobians():
    """Test Jacobians of several arrays, through loops, in a loop, and for each element."""
    x, w = kg.placeholder((2, 3), name="x"), kg.placeholder((3,), name="w")
    made = kg.tanh(x @ w) * kg.exp(w[0])

    rng = np.random.default_rng(1)
    u, v = rng.normal(size=(2, 3)), rng.normal(size=3)
    by_x, by_w = kg.compile([x, w], kg.jacobian(made, [x, w]))(u, v)
    slope = np.exp(v[0]) / np.cosh(u @ v) ** 2
    np.testing.assert_allclose(by_x, np.einsum("i,ij,k->ijk", slope, np.eye(2), v), rtol=1e-12)
    wanted = slope[:, None] * u
    wanted[:, 0] += np.exp(v[0]) * np.tanh(u @ v)
    np.testing.assert_allclose(by_w, wanted, rtol=1e-12)
    # dx_n / dx_0 of n squarings is 2**n x_0**(2**n - 1), for each element separately.
    _, last = kg.while_loop(lambda n, y: n < 3, lambda n, y: (n + 1, y * y), (0, w))
    slopes = kg.jacobian(last, w)
    np.testing.assert_allclose(kg.compile([w], slopes)(v), np.diag(8 * v**7), rtol=1e-12)
    debugged = kg.debug(slopes, {w: v})
    np.testing.assert_allclose(debugged.values[0], np.diag(8 * v**7), rtol=1e-12)
    # Newton's method on x^2 = (2, 3).
    _, root = kg.while_loop(
        lambda n, u: n < 6,
        lambda n, u: (n + 1, u - kg.solve(kg.jacobian(u * u, u), u * u - kg.data([2.0, 3.0]))),
        (0, kg.data([1.0, 1.0])),
    )
    np.testing.assert_allclose(kg.compile([], root)(), np.sqrt([2, 3]), rtol=1e-12)
    again = kg.compile([w], kg.jacobian(kg.jacobian(w**3, w), w))(v)
    wanted = np.zeros((3, 3, 3))
    wanted[range(3), range(3), range(3)] = 6 * v
    np.testing.assert_allclose(again, wanted, rtol=1e-12)
    nothing = kg.jacobian(kg.data([1.0, 2.0]), w)
    assert kg.compile([w], nothing)(v).tolist() == [[0] * 3] * 2
    with pytest.raises(SymbolicError, match=r"jacobian: .* must be floating-point"):
        kg.jacobian(kg.data([1, 2]), w)


def left_by_an_element(x, numbers, sin, stack):
    table, y, s = stack([x, x], 1), x * 1.0, x[0] * 0.3
    for t in numbers(2, 7):
        if table[2, 1] > 1.2:
            break
        for u in numbers(6, 1, -1):
            s = s * 0.5 + y[u - 1]
        y[t] = table[t, 0] + s
    return y.sum()


def left_by_what_an_inner_loop_wrote(x, numbers, sin, stack):
    y = sin(x)
    for t in numbers(5):
        for u in numbers(3):
            y[u] = x[u] * x[7]
        if y[t] > 0.1:
            break
    return y[0]


@pytest.mark.parametrize("f", [left_by_an_element, left_by_what_an_inner_loop_wrote])
def test_loops_that_inner_loops_end(f):
    """Predicates, which have no derivatives, read values whose participation is tracked."""
    x, at = kg.placeholder((9,), name="x"), np.linspace(0.1, 1, 9)
    y = kg.function(f)(x, kg.range, kg.sin, kg.stack)
    slope = kg.gradients(y, x)
    value, found, push = kg.compile([x], [y, slope, kg.jvp(y, x, np.cos(at))])(at)

    def plain(v):
        return f(v, range, np.sin, np.stack)

    steps = 1e-3 * np.eye(9)  # of a polynomial of degree two the central difference is exact
    wanted = [(plain(at + step) - plain(at - step)) / 2e-3 for step in steps]
    assert value == pytest.approx(plain(at), rel=1e-12)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-11)
    assert push == pytest.approx(wanted @ np.cos(at), rel=1e-9)


def test_gradients_of_every_number_of_trips():
    """Also of one trip more than there is room for, for each size of the buffer."""
    n, x = kg.placeholder(dtype=int, name="n"), kg.placeholder(name="x")
    _, y = kg.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * y / (y + x)), (0, 2.0))
    f = kg.compile([n, x], kg.gradients(y, x))

    def by_python(trips, x):
        y, slope = 2.0, 0.0
        for _ in range(trips):
            numerator = 2 * y * slope * (y + x) - y * y * (slope + 1)
            y, slope = y * y / (y + x), numerator / (y + x) ** 2
        return slope

    for trips in range(70):
        assert float(f(trips, 0.01)) == pytest.approx(by_python(trips, 0.01), rel=1e-12)
