"""Every public function of arrays at the points of `tests.graph.points`."""

import mpmath as mp
import numpy as np
import pytest
from tests.graph.exact import DIGITS, exact
from tests.graph.points import ELEMENTWISE, FLAT, SHAPED, function_of

import kinetograph as kg
from kinetograph.graph import functions


def weights(size):
    return np.cos(np.arange(float(size)))


def exact_slopes(case, point):
    """The value of a function of a vector, and the gradient of its weighted sum."""
    with mp.workdps(DIGITS):
        x = np.array([mp.mpf(v) for v in point], object)
        value = np.ravel(case.reference(x))
        scale = [mp.mpf(float(w)) for w in weights(value.size)]

        def along(i, h):
            moved = x.copy()
            moved[i] += h
            return sum(w * v for w, v in zip(scale, np.ravel(case.reference(moved)), strict=True))

        h = mp.mpf(10) ** (-DIGITS // 3)
        slope = [
            float((along(i, h) - along(i, -h)) / (2 * h)) if mp.isfinite(x[i]) else 0.0
            for i in range(len(point))
        ]
        return np.array([float(v) for v in value]), slope


def compiled(functions_and_points):
    """Values and gradients of weighted sums of several functions, in one program."""
    inputs, outputs, given = [], [], []
    for function, points in functions_and_points:
        columns = [kg.placeholder((len(points),)) for _ in points[0]]
        y = function(*columns)
        inputs += columns
        outputs += [y, *kg.gradients(y.sum(), columns)]
        given += [np.array(c, float) for c in zip(*points, strict=True)]
    found = iter(kg.compile(inputs, outputs)(*given))
    return [[next(found) for _ in range(1 + len(p[0]))] for _, p in functions_and_points]


def check(found, case, points):
    value, *slopes = found
    for row, point in enumerate(points):
        right, right_slopes = exact(case.reference, point, case.digits)
        at = [value[row], *(s[row] for s in slopes)]
        np.testing.assert_allclose(
            at, [right, *right_slopes], case.rtol, case.atol, err_msg=str(point)
        )


@pytest.fixture(scope="module")
def of_numbers():
    given = [(function_of(name), ELEMENTWISE[name].points) for name in ELEMENTWISE]
    return dict(zip(ELEMENTWISE, compiled(given), strict=True))


@pytest.fixture(scope="module")
def of_vectors():
    """One program of all functions, called for the first points, the second points, ..."""
    inputs, outputs = [], []
    for case in SHAPED.values():
        x = kg.placeholder((len(case.points[0]),))
        y = case.function(x).reshape((-1,))
        inputs.append(x)
        outputs += [y, kg.gradients((y * weights(y.size)).sum(), x)]
    f = kg.compile(inputs, outputs)
    most = max(len(case.points) for case in SHAPED.values())
    runs = [f(*[c.points[k % len(c.points)] for c in SHAPED.values()]) for k in range(most)]
    return {
        name: [(run[2 * i], run[2 * i + 1]) for run in runs[: len(case.points)]]
        for i, (name, case) in enumerate(SHAPED.items())
    }


def test_every_public_function_of_arrays_has_a_row():
    assert set(functions.__all__) <= {*ELEMENTWISE, *SHAPED, *FLAT}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_function_of_numbers(name, of_numbers):
    check(of_numbers[name], ELEMENTWISE[name], ELEMENTWISE[name].points)


def second(case, point, i, j):
    """The second derivative by two arguments, by differences; the step is relative."""
    with mp.workdps(case.digits + 300):
        x = [mp.mpf(v) for v in point]
        h = [mp.mpf(10) ** -50 * (abs(v) or 1) for v in x]

        def at(a, b):
            moved = list(x)
            moved[i] += a * h[i]
            moved[j] += b * h[j]
            return case.reference(*moved)

        total = mp.re(at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1))
        if abs(total) < abs(at(0, 0)) * mp.mpf(10) ** -(case.digits + 250):
            return 0.0  # rounding alone
        return float(total / (4 * h[i] * h[j]))


@pytest.mark.slow
def test_second_derivatives_are_right_or_absent():
    """Test second derivatives, also at 0 and at ties, where slopes are set by convention."""
    for name, case in ELEMENTWISE.items():
        columns = [kg.placeholder((len(case.points),)) for _ in case.points[0]]
        slopes = kg.gradients(function_of(name)(*columns).sum(), columns)
        ones = np.ones(len(case.points))
        pairs = [(i, j) for i in range(len(columns)) for j in range(len(columns))]
        program = kg.compile(columns, [kg.jvp(slopes[i], columns[j], ones) for i, j in pairs])
        found = program(*(np.array(c, float) for c in zip(*case.points, strict=True)))
        for (i, j), got in zip(pairs, found, strict=True):
            for k, point in enumerate(case.points):
                if not np.isfinite([*point, got[k]]).all():
                    continue
                right = second(case, point, i, j)
                if np.isfinite(right):
                    at = f"{name} by {i} and {j} at {point}"
                    np.testing.assert_allclose(got[k], right, 1e-6, 1e-12, err_msg=at)


@pytest.mark.parametrize("name", SHAPED)
def test_function_of_vectors(name, of_vectors):
    case = SHAPED[name]
    for point, (value, slope) in zip(case.points, of_vectors[name], strict=True):
        right, right_slope = exact_slopes(case, point)
        scale = np.abs(right_slope).max()
        np.testing.assert_allclose(value, right, case.rtol, 1e-300, err_msg=str(point))
        np.testing.assert_allclose(slope, right_slope, 1e-10, 1e-14 * scale, err_msg=str(point))


def of_where(rows, ok):
    """Each function of its columns where they are valid, 1 elsewhere."""
    return [kg.where(ok[n], function_of(n)(*c), 1.0) for n, c in rows.items()]


def of_batch(rows, ok):
    def one(name):
        function = function_of(name)
        return kg.vmap(lambda o, *c: kg.cond(o, lambda: function(*c), lambda: 1.0))

    return [one(n)(kg.data(ok[n]), *c) for n, c in rows.items()]


def of_scan(rows, ok):
    def one(name, columns):
        function = function_of(name)
        return kg.scan(
            lambda s, row: (s, kg.cond(row[0], lambda: function(*row[1:]), lambda: 1.0)),
            0.0,
            (kg.data(ok[name]), *columns),
        )[1]

    return [one(n, c) for n, c in rows.items()]


def of_while(rows, ok):
    start = [0, *(0.0 * c[0] for c in rows.values())]
    return kg.while_loop(lambda i, *ys: i < 2, lambda i, *ys: (i + 1, *of_where(rows, ok)), start)[
        1:
    ]


def check_inside(wrapper, names):
    """A singular function that is not selected does not affect a gradient."""
    points = {n: (*ELEMENTWISE[n].points, *ELEMENTWISE[n].singular) for n in names}
    sizes = {n: len(ELEMENTWISE[n].points) for n in names}
    ok = {n: np.arange(len(points[n])) < sizes[n] for n in names}
    rows = {n: [kg.placeholder((len(points[n]),)) for _ in points[n][0]] for n in names}
    ys = list(wrapper(rows, ok))
    columns = [c for row in rows.values() for c in row]
    slopes = kg.gradients(kg.sum(kg.concatenate(ys)), columns)
    given = [np.array(c, float) for n in names for c in zip(*points[n], strict=True)]
    found = kg.compile(columns, [*ys, *slopes])(*given)
    values, rest = found[: len(names)], iter(found[len(names) :])
    for name, value in zip(names, values, strict=True):
        own = [next(rest) for _ in rows[name]]
        check([value, *own], ELEMENTWISE[name], ELEMENTWISE[name].points)
        np.testing.assert_array_equal([v[sizes[name] :] for v in (value, *own)][1:], 0.0, name)
        np.testing.assert_array_equal(value[sizes[name] :], 1.0)


LONG = {"gammaln", "digamma", "trigamma", "betaln", "comb", "log_comb"}  # time to compile
LONG |= {"polygamma", "multigammaln", "gammainc", "gammaincc", "betainc", "stdtr"}
SINGULAR = [name for name, case in ELEMENTWISE.items() if case.singular and name not in LONG]
WRAPPERS = [of_where, of_batch, of_scan, of_while]


def test_singular_points_that_are_not_chosen():
    check_inside(of_where, SINGULAR)


def test_singular_points_in_branches_of_a_batch():
    check_inside(of_batch, ["sqrt", "logit", "xlogy", "divide"])


def test_singular_points_in_a_loop():
    check_inside(of_while, ["log", "arcsin", "log1mexp", "power"])


@pytest.mark.slow
@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_all_functions_inside(wrapper):
    check_inside(wrapper, list(ELEMENTWISE))
