"""Compressed normal likelihoods equal the plain ones, and are used only where they may be."""

import jax
import numpy as np
import pytest
from scipy import stats

import kinetograph as kg
from kinetograph.graph.precision import x64


def both(model, free):
    """Log density and gradient with the compressed terms, and with the plain ones."""
    density = model.density
    forms = [term.compressed for term in density.terms]

    def plain(free, environment):
        for term in density.terms:
            term.compressed = None
        try:
            return density.log_density(free, environment)
        finally:
            for term, form in zip(density.terms, forms, strict=True):
                term.compressed = form

    @jax.jit
    def evaluate(free, values):
        environment = model.bind(values).data
        return [jax.value_and_grad(f)(free, environment) for f in (density.log_density, plain)]

    with x64():
        return evaluate(free, model.argument_values)


def assert_same(model, seed=0, rtol=1e-10):
    assert any(term.compressed is not None for term in model.density.terms)
    free = np.random.default_rng(seed).normal(size=model.free_size)
    (value, gradient), (plain, plain_gradient) = both(model, free)
    np.testing.assert_allclose(value, plain, rtol=rtol)
    scale = np.abs(plain_gradient).max()
    np.testing.assert_allclose(gradient, plain_gradient, rtol=rtol, atol=rtol * scale)
    return free, float(value)


def groups(rng, n=200, size=12):
    index = rng.integers(0, size, n)
    index[index == 5] = 4  # one group without observations
    return kg.data(index), kg.data(rng.normal(size=n)), kg.data(rng.normal(size=n)), size


def test_varying_intercepts_and_slopes():
    index, x, y, size = groups(np.random.default_rng(1))
    a, b, c = kg.normal(0, 1, shape=size), kg.normal(0, 1, shape=size), kg.normal(0, 1)
    sigma = kg.half_normal(1)
    kg.observe(y, kg.normal(c + a[index] + b[index] * x, sigma))
    model = kg.model(a, b, c, sigma)
    assert_same(model)
    form = model.density.terms[-1].compressed
    assert form.factor.shape == (12, 3, 3)


def test_a_regression_on_a_matrix_with_an_offset_and_scalars():
    rng = np.random.default_rng(2)
    X, y = kg.data(rng.normal(size=(300, 7))), kg.data(rng.normal(size=300) + 5.0)
    offset = kg.data(rng.normal(size=300))
    beta, alpha = kg.normal(0, 1, shape=7), kg.normal(0, 10)
    sigma = kg.half_cauchy(1)
    kg.observe(y, kg.normal(alpha + X @ beta - offset / 2.0, sigma))
    assert_same(kg.model(alpha, beta, sigma))


def test_known_sds_weigh_the_observations():
    rng = np.random.default_rng(3)
    index, _, y, size = groups(rng)
    a = kg.normal(0, 1, shape=size)
    sd = kg.data(rng.uniform(0.5, 2.0, 200))
    kg.observe(y, kg.normal(-a[index] * 3.0 + 1.0, sd))
    assert_same(kg.model(a))


def test_no_cancellation_when_the_data_are_far_from_zero():
    rng = np.random.default_rng(4)
    x, noise = rng.normal(size=400), rng.normal(size=400) * 1e-3
    y = kg.data(1e6 + 2.0 * x + noise)
    a, b = kg.variable(name="a"), kg.variable(name="b")
    kg.observe(y, kg.normal(1e6 + a + b * kg.data(x), 1e-3))
    model = kg.model(a, b)
    assert_same(model, rtol=1e-9)


class LinearMean:
    """A random mean that is linear in unknowns, of NumPy's arrays or of kinetograph's."""

    def __init__(self, rng, length):
        self.length, self.groups = length, int(rng.choice([1, 4]))
        self.index = rng.integers(-self.groups, self.groups, length)
        if self.groups > 2:
            self.index[self.index % self.groups == 1] = 0  # a group without observations
            self.index[self.index % self.groups == 2] = 0
            self.index[0] = 2 - self.groups * int(rng.integers(2))  # and one with a single one
        if rng.integers(2):
            self.index = self.index.astype(rng.choice(["int8", "int32"]))
        self.terms = [self.term(rng, kind) for kind in rng.integers(0, 5, rng.integers(1, 5))]

    def known(self, rng, positive=False):
        """A number or a row of numbers, of some type."""
        shape = () if rng.integers(2) else (self.length,)
        dtype = rng.choice(["int8", "uint8", "int64", "float64" if positive else "float32"])
        values = rng.integers(1, 5, shape) if dtype[0] in "iu" else rng.uniform(0.2, 2, shape)
        sign = -1 if dtype[0] != "u" and not positive and rng.integers(2) else 1
        return np.asarray(sign * values, dtype)

    def term(self, rng, kind):
        factor, divisor, offset = (self.known(rng) for _ in range(3))
        matrix = rng.normal(size=(self.length, 2))
        twice = bool(rng.integers(2))

        def write(scalar, group, vector, data):
            if kind == 0:
                return scalar * data(factor)
            if kind == 1:
                return data(factor) * group[data(self.index)] / data(divisor)
            if kind == 2:
                return -(data(matrix) @ vector) + data(offset)
            if kind == 3:
                rows = group[data(self.index)]
                return (2.0 * rows - rows if twice else rows) - data(offset)
            return data(factor) * (scalar - data(offset) * (scalar / data(divisor)))

        return write

    def __call__(self, *arguments):
        total = self.terms[0](*arguments)
        for k, term in enumerate(self.terms[1:]):
            total = total - term(*arguments) if k % 2 else term(*arguments) + total
        return total


SEEDS = [*range(2), *(pytest.param(s, marks=pytest.mark.slow) for s in range(2, 100))]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_linear_means(seed):
    """The density is SciPy's, and value and gradient are those of the plain form."""
    rng = np.random.default_rng(seed)
    n = 70
    write = LinearMean(rng, n)
    unknowns = {
        "scalar": kg.normal(0, 1),
        "group": kg.normal(0, 1, shape=write.groups),
        "vector": kg.normal(0, 1, shape=2),
        "sd": kg.half_normal(1),
    }
    mean = write(*list(unknowns.values())[:3], kg.data)
    observed = rng.normal(size=n) + 5.0
    if rng.integers(2):
        observed = observed.astype(rng.choice(["float32", "int64"]))
    known_sd = write.known(rng, positive=True) if rng.integers(2) else None
    spread = unknowns["sd"] if known_sd is None else kg.data(known_sd)
    y = kg.data(observed)
    kg.observe(y, kg.normal(mean, spread))
    model = kg.model(**unknowns, mean=mean)
    free, got = assert_same(model, seed, rtol=1e-9)

    parts = np.split(free, np.cumsum(model.density.sizes)[:-1])
    values = dict(zip(model.names, parts, strict=True))
    log_sd = float(values.pop("sd")[0]) if "sd" in values else 0.0
    scale = np.exp(log_sd) if known_sd is None else known_sd.astype(float)
    wanted = sum(stats.norm.logpdf(v).sum() for v in values.values())
    wanted += stats.halfnorm.logpdf(np.exp(log_sd)) + log_sd
    values["scalar"] = values["scalar"][0]
    expected = write(values["scalar"], values["group"], values["vector"], np.asarray)
    wanted += stats.norm.logpdf(observed, expected, scale).sum()
    assert got == pytest.approx(wanted, rel=1e-9)


def test_indices_that_count_from_the_end():
    y = kg.data([1.0, 2, 3, 4, 5, 6, 7, 8])
    index = np.array([0, 1, 0, 1, -1, -2, -1, -2])
    a = kg.normal(0, 1, shape=2)
    kg.observe(y, kg.normal(a[index], 1.0))
    model = kg.model(a)
    assert_same(model)
    at = np.array([3.0, 4.0])
    wanted = stats.norm.logpdf(at).sum() + stats.norm.logpdf(np.arange(1.0, 9.0), at[index]).sum()
    assert float(model.log_prob(at)) == pytest.approx(wanted, rel=1e-12)


def test_one_index_into_two_lengths_stays_plain():
    """From the end, an index means other rows of a longer vector; from the start, more groups."""
    rng = np.random.default_rng(8)
    y = rng.normal(size=60)
    for low in (0, -3):
        index = rng.integers(low, 3, 60)
        a, b = kg.normal(0, 1, shape=3), kg.normal(0, 1, shape=5)
        data = kg.data(y)
        kg.observe(data, kg.normal(a[index] + b[index], 1.0))
        model = kg.model(a, b)
        at = np.arange(8.0)
        wanted = stats.norm.logpdf(at).sum()
        wanted += stats.norm.logpdf(y, at[:3][index] + at[3:][index]).sum()
        assert float(model.log_prob(at)) == pytest.approx(wanted, rel=1e-12)


def test_single_precision_data_are_computed_with_as_the_unknowns_are():
    rng = np.random.default_rng(9)
    y = (1e4 + rng.normal(size=200)).astype(np.float32)
    mean = kg.variable(name="mean")
    data = kg.data(y)
    kg.observe(data, kg.normal(mean / kg.data(np.float32(3.0)), 1.0))
    model = kg.model(mean)
    values = 3e4 + np.linspace(-1, 1, 5)
    wanted = stats.norm.logpdf(y.astype(float), values[:, None] / 3.0).sum(1)
    np.testing.assert_allclose(model.log_prob(values[:, None]), wanted, rtol=1e-10)


def plain_terms(model):
    return [term.compressed for term in model.density.terms]


@pytest.mark.parametrize("kind", ["square", "product", "two indices", "few", "vector sd", "2-d"])
def test_what_is_not_linear_or_gains_nothing_stays_plain(kind):
    rng = np.random.default_rng(5)
    index, x, y, size = groups(rng)
    other = kg.data(rng.integers(0, size, 200))
    a, b, s = kg.normal(0, 1, shape=size), kg.normal(0, 1), kg.half_normal(1, shape=size)
    if kind == "square":
        kg.observe(y, kg.normal(a[index] ** 2, 1.0))
    elif kind == "product":
        kg.observe(y, kg.normal(a[index] * (b * x), 1.0))
    elif kind == "two indices":
        kg.observe(y, kg.normal(a[index] + a[other], 1.0))
    elif kind == "few":
        y = kg.data(rng.normal(size=size))
        kg.observe(y, kg.normal(a, 1.0))
    elif kind == "vector sd":
        kg.observe(y, kg.normal(b * x, s[index]))
    else:
        y = kg.data(rng.normal(size=(50, 4)))
        kg.observe(y, kg.normal(b, 1.0))
    model = kg.model(a, b, s)
    assert plain_terms(model) == [None] * len(plain_terms(model))


@pytest.mark.parametrize(("length", "compressed"), [(7, False), (8, True)])
def test_two_observations_for_each_row_are_enough(length, compressed):
    x = kg.data(np.arange(length * 4.0).reshape(length, 4) % 5)
    beta = kg.normal(0, 1, shape=4)
    kg.observe(kg.data(np.arange(float(length))), kg.normal(x @ beta, 1.0))
    (form,) = [form for form in plain_terms(kg.model(beta)) if form] or [None]
    assert (form is not None) == compressed


def test_the_density_does_not_touch_the_observations():
    rng = np.random.default_rng(6)
    index, x = kg.data(rng.integers(0, 5, 5000)), kg.data(rng.normal(size=5000))
    y = kg.data(rng.normal(size=5000))
    a = kg.normal(0, 1, shape=5)
    kg.observe(y, kg.normal(a[index] * x, kg.half_normal(1)))
    model = kg.model(a)

    def density(u, values):
        return model.density.log_density(u, model.bind(values).data)

    def largest():
        with x64():
            trace = jax.make_jaxpr(lambda u, v: density(u, v))  # a new function: not cached
            traced = trace(np.zeros(model.free_size), model.argument_values)
        return max(v.aval.size for equation in traced.eqns for v in equation.outvars)

    assert largest() < 100
    for term in model.density.terms:
        term.compressed = None
    assert largest() >= 5000
