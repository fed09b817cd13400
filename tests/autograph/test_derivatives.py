"""Derivatives, batches, models and threads of converted code."""

import threading

import numpy as np
import pytest
from tests.selection import thinned

import kinetograph as kg


def branches(x):
    if x > 1:
        y = x**3
        if x > 2:
            y = y + kg.sin(x) if x < 3 else y * x
    else:
        y = 2 * x
    return y


def early_returns(x):
    if x < 0.5:
        return x * x
    for i in range(3):
        if i == 2:
            return x * i + x**4
        x = x * x
    return x


def loop_with_jumps(x):
    s = 0.0
    for i in kg.range(6):
        if i % 2 == 0 and x * i > 1:
            s = s + x**i
        elif i == 5:
            break
        s = s + (x if s < 2 else x * x)
    return s


def return_from_a_loop(x):
    for i in kg.range(8):
        if x > 10:
            return x * (i + 1)
        x = x * x + 1
    return x


def while_of_data_dependent_length(x):
    n = 0
    y = x
    while y < 20:
        y = y * (1.5 + x)
        n = n + 1
        if n > 5:
            break
    else:
        y = y + x
    return y * n


def nested_loops(x):
    s = x
    for i in kg.range(1, 4):
        j = 0
        while j < i:
            if j == 1:
                j += 1
                continue
            s = s + x**j / i
            j += 1
    return s


def rows(x):
    s = 1.0
    for row in kg.stack([kg.stack([x, 1.0]), kg.stack([2.0, x]), kg.stack([x, x])]):
        s = s * row[0] + row[1]
    return s


def items(x):
    v = kg.stack([x, x, x]) * 1.0
    for i in kg.range(1, 3):
        v[i] = v[i] * v[i - 1]
        if i == 2:
            v[0] += x * x
    return v[0] + v[1] + 2 * v[2]


def variable_made_in_a_loop(x):
    for i in kg.range(3):
        y = x ** (i + 1)
    return y


def by_match(x):
    k = 0
    while x < 4:
        match k % 3:
            case 0:
                x = x * 2
            case 1:
                x = x * x + 1
            case _:
                x = x + 0.5
        k += 1
    return x


PROGRAMS = [
    branches,
    early_returns,
    loop_with_jumps,
    return_from_a_loop,
    while_of_data_dependent_length,
    nested_loops,
    rows,
    items,
    variable_made_in_a_loop,
    by_match,
]


class Jet:
    """A value with two derivatives: plain Python runs on it, an oracle without a graph."""

    def __init__(self, value, first=0.0, second=0.0):
        self.parts = (float(value), float(first), float(second))

    def apply(self, f, d1, d2):
        v, a, b = self.parts
        return Jet(f(v), d1(v) * a, d2(v) * a * a + d1(v) * b)

    def __add__(self, other):
        return Jet(*(p + q for p, q in zip(self.parts, _jet(other).parts, strict=True)))

    def __mul__(self, other):
        (v, a, b), (w, c, d) = self.parts, _jet(other).parts
        return Jet(v * w, a * w + v * c, b * w + 2 * a * c + v * d)

    def __truediv__(self, other):
        assert not isinstance(other, Jet)
        return self * (1 / other)

    def __pow__(self, n):
        result = Jet(1.0)
        for _ in range(int(n)):
            result = result * self
        return result

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other):
        return self.parts[0] < _jet(other).parts[0]

    def __gt__(self, other):
        return self.parts[0] > _jet(other).parts[0]


def _jet(value):
    return value if isinstance(value, Jet) else Jet(value)


class Rows(list):
    def __mul__(self, factor):
        return Rows(e * factor for e in self)


@pytest.fixture
def python(monkeypatch):
    """Run a program in plain Python on a `Jet`; its `range`, `stack` and `sin` are Python's."""

    def run(f, x):
        with monkeypatch.context() as patch:
            patch.setattr(kg, "range", range)
            patch.setattr(kg, "stack", Rows)
            patch.setattr(kg, "sin", lambda j: j.apply(np.sin, np.cos, lambda v: -np.sin(v)))
            return _jet(f(Jet(x, 1.0))).parts

    return run


POINTS = (0.3, 0.9, 1.7, 2.5, 3.5)


@pytest.mark.parametrize("f", thinned(PROGRAMS, 3), ids=lambda f: f.__name__)
def test_first_and_second_derivatives(f, python):
    """A48"""
    x = kg.placeholder(name="x")
    y = kg.autograph.convert(f)(x)
    (gradient,) = kg.gradients(y, [x])
    tangent = kg.jvp(y, [x], [kg.data(1.0)])
    second = kg.gradients(gradient, [x])[0]
    g = kg.compile([x], [y, gradient, tangent, second])
    for value in POINTS:
        wanted = python(f, value)
        got = [float(v) for v in g(value)]
        assert np.allclose(got, [wanted[0], wanted[1], wanted[1], wanted[2]], rtol=1e-10, atol=0)


def test_hessian_of_a_loop():
    """A48"""

    @kg.autograph.convert
    def f(v):
        s = 1.0
        for e in v:
            if e > 0:
                s = s * e
        return s

    v = kg.placeholder((3,), name="v")
    h = kg.compile([v], kg.hessian(f(v), [v])[0])
    assert np.allclose(h([2.0, 3.0, 5.0]), [[0, 5, 3], [5, 0, 2], [3, 2, 0]])
    assert np.allclose(h([2.0, -3.0, 5.0]), [[0, 0, 1], [0, 0, 0], [1, 0, 0]])


def test_the_same_as_with_explicit_functions():
    """A48"""

    @kg.autograph.convert
    def f(x):
        n, y = 0, x
        while y < 30:
            if n % 2 == 0:
                y = y * x
            else:
                y = y + x
            n = n + 1
        return y

    x = kg.placeholder(name="x")

    def body(n, y):
        return n + 1, kg.cond(n % 2 == 0, lambda: y * x, lambda: y + x)

    _, z = kg.while_loop(lambda n, y: y < 30, body, (kg.data(0), x))
    y = f(x)
    one = kg.compile([x], [y, *kg.gradients(y, [x])])
    other = kg.compile([x], [z, *kg.gradients(z, [x])])
    for value in (1.2, 2.0, 5.0, 40.0):
        assert [float(v) for v in one(value)] == [float(v) for v in other(value)]


def test_the_untaken_branch_gives_no_nan():
    """A48"""

    @kg.autograph.convert
    def f(x):
        if x > 0:
            return kg.sqrt(x)
        return 0.0 * x

    x = kg.placeholder(name="x")
    g = kg.compile([x], kg.gradients(f(x), [x])[0])
    assert g(0.0) == 0
    assert g(-1.0) == 0
    assert g(4.0) == 0.25


def test_gradients_inside_of_a_staged_loop():
    """A48: descent written by the user."""

    @kg.function
    def minimum(x):
        while True if x is None else abs(kg.gradients((x - 3) ** 2, [x])[0]) > 1e-9:
            x = x - 0.25 * kg.gradients((x - 3) ** 2, [x])[0]
        return x

    assert abs(minimum(10.0) - 3) < 1e-9


def test_batches():
    """A48"""

    @kg.function
    def f(x):
        c = 0
        while x > 1:
            if c > 3:
                break
            x = x / 2
            c += 1
        assert x < 50, "too big"
        return x, c

    batch = kg.function(lambda v: kg.vmap(f)(v))
    xs = np.array([0.5, 3.0, 100.0])
    x, c = batch(xs)
    single = [f(float(e)) for e in xs]
    assert [*zip(x, c, strict=True)] == single
    with pytest.raises(AssertionError, match="too big"):
        batch(np.array([1.0, 1e6]))


# Everyday those whose derivatives are not everyday ones above.
OTHERS = thinned(PROGRAMS[1:] + PROGRAMS[:1], 3)


@pytest.mark.parametrize("f", OTHERS, ids=lambda f: f.__name__)
def test_batches_of_values_and_gradients(f, python):
    """A48"""
    converted = kg.autograph.convert(f)

    def both(x):
        y = converted(x)
        return y, kg.gradients(y, [x])[0]

    v = kg.placeholder((len(POINTS),), name="v")
    values, slopes = kg.compile([v], list(kg.vmap(both)(v)))(np.array(POINTS))
    wanted = [python(f, value) for value in POINTS]
    assert np.allclose(values, [w[0] for w in wanted], rtol=1e-10, atol=0)
    assert np.allclose(slopes, [w[1] for w in wanted], rtol=1e-10, atol=0)


def staged_density():
    """The model of a density with loop and branch: normal with mean 1 and variance 1/3."""

    @kg.function
    def density(x):
        s = 0.0
        for i in kg.range(5):
            if i > 2:
                break
            s = s - (x - i) ** 2 / 2
        return s if x > -10 else s * 2

    x = kg.variable(name="x")
    return kg.model(x, factors=[density(x)])


def test_terms_of_a_model():
    """A48"""
    model = staged_density()
    assert np.isclose(model.log_prob([2.0]), -2.5, rtol=1e-12)
    assert np.allclose(model.gradient([2.0]), [-3], rtol=1e-12)


@pytest.mark.slow
def test_a_staged_density_is_sampled():
    tree = kg.mcmc(staged_density(), draws=1000, chains=2, seed=4, progress=False)
    draws = tree["posterior"]["x"].values
    assert abs(draws.mean() - 1) < 6 * np.sqrt(1 / 3 / 200)  # an effective size of 200 at least


def test_one_function_in_several_threads():
    @kg.function
    def f(x, n):
        for _ in kg.range(n):
            if x > 10:
                break
            x = x * 2
        return x

    def python(x, n):
        for _ in range(n):
            if x > 10:
                break
            x = x * 2
        return x

    found = {}

    def work(k):
        found[k] = [float(f(k + 1.0, n)) for n in range(10)]

    _together(work)
    assert found == {k: [python(k + 1.0, n) for n in range(10)] for k in range(8)}
    assert f.traces == 1


def test_several_functions_made_in_several_threads():
    found = {}

    def work(k):
        state = kg.state(0.0)

        @kg.function
        def f(x):
            s = 0.0
            while x > 0:
                if x > k:
                    s = s + 1
                x = x - 1
                state.assign_add(1.0)
            return s, state

        found[k] = tuple(float(v) for v in f(10.0))

    _together(work)
    assert found == {k: (10 - k, 10) for k in range(8)}


def _together(work):
    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_precision():
    @kg.function
    def f(x):
        s = 0.0
        n = 0
        while x > 1:
            x = x / 2
            n += 1
            if x > 2:
                s = s + 1.5
        return x, s, n

    with kg.precision("float32"):
        results = f(9.0)
        assert [r.dtype for r in results] == ["float32", "float32", "int64"]
        assert [float(r) for r in results] == [0.5625, 3, 4]
    assert [r.dtype for r in f(9.0)] == ["float64", "float64", "int64"]


def test_inspection():
    @kg.function
    def f(x):
        while x > 1:
            x = x - 3 if x > 5 else x / 2
        return x

    assert "test_derivatives.py" in str(kg.explain(f.trace(9.0)))
    x = kg.placeholder(name="x")
    y = f(x)
    assert "while" in str(kg.draw_graph(y))
    assert "4 trips" in str(kg.debug(y, {x: 9.0}))


@pytest.mark.parametrize("trips", [0, 1, 2])
def test_what_a_nested_loop_hands_back_unread_by_its_trips(trips):
    """Where the inner loop makes no trip, x is what it was before both."""

    @kg.autograph.convert
    def program(a, x, y, zero):
        x = (0.5 * x if a < 0 else y + 0.5) * 0.5
        k = zero
        while k < 2:
            k = k + 1
            for _ in kg.range(a):
                x, y = y, 0.5 * x
        return x

    a, zero = (kg.placeholder(dtype=int, name=name) for name in ("a", "zero"))
    x, y = kg.placeholder(name="x"), kg.placeholder(name="y")
    f = kg.compile([a, x, y, zero], kg.gradients(program(a, x, y, zero), [x, y]))
    expected = {0: (0.0, 0.5), 1: (0.0, 0.25), 2: (0.0, 0.125)}[trips]
    np.testing.assert_allclose(f(trips, 0.3, 0.7, 0), expected, rtol=1e-12)
