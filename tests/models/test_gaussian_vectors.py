"""The vectors that are normal given other unknowns, and their coordinates in a model."""

import jax
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.graph.lower import evaluate
from kinetograph.graph.precision import x64
from kinetograph.models.bound_density import Position
from kinetograph.models.centring import Centring, ChosenForms
from kinetograph.models.gaussian_vectors import gaussian_vectors


def walks():
    """Two walks in one sum, which are a system, and an autoregressive table with a location."""
    sd, rho = kg.half_normal(1, shape=2, name="sd"), kg.uniform(-1, 1, name="rho")
    mu = kg.normal(0, 1, shape=(3, 1), name="mu")
    level = kg.random_walk(sd[0], 5, drift=mu[0, 0], init_sd=2.0, name="level")
    season = kg.random_walk(sd[1], 5, name="season")
    table = kg.ar(rho, sd[:1], shape=(3, 5), constant=0.5, name="table")
    kg.observe(np.arange(5), kg.poisson(kg.exp(level + season)))
    kg.observe(np.ones((3, 5)), kg.poisson(kg.exp(mu + table)))
    return sd, rho, mu, level, season, table


def process():
    """A latent process by standard numbers, and one by value with an unknown mean."""
    length, mu = kg.lognormal(0, 0.5, name="length"), kg.normal(0, 1, name="mu")
    points = np.arange(4.0)
    one = kg.gp.Process(kg.gp.rbf(length), mean=mu).latent(points, name="z")
    K = kg.gp.rbf(length)(points) + 0.1 * np.eye(4)
    two = kg.multivariate_normal(mu * np.ones(4), K, name="two")
    kg.observe(np.array([1, 0, 3, 2]), kg.poisson(kg.exp(one)))
    kg.observe(np.ones(4), kg.normal(two, 1))
    return length, mu, one, two


def correlated():
    """Correlated effects as rows, as columns and by value."""
    sd, L = kg.half_normal(1, shape=2, name="sd"), kg.lkj_cholesky(2, 2, name="L")
    R, mu = kg.lkj_correlation(2, 2, name="R"), kg.normal(0, 1, shape=2, name="mu")
    rows, columns = kg.normal(0, 1, shape=(3, 2), name="rows"), kg.normal(0, 1, shape=(2, 3))
    value = kg.multivariate_normal(mu * np.ones((3, 2)), chol=sd[:, None] * L, name="value")
    effects = mu + (rows @ L.T) * sd + (kg.cholesky(R) @ columns).T + value
    kg.observe(np.ones((3, 2)), kg.normal(effects, 1))
    return {"sd": sd, "L": L, "R": R, "mu": mu, "rows": rows, "columns": columns, "value": value}


def diagonal():
    """Factors with a diagonal matrix, before or after their transpose."""
    sd, L = kg.half_normal(1, shape=2, name="sd"), kg.lkj_cholesky(2, 2, name="L")
    scaled, after, vector = (
        kg.normal(0, 1, shape=shape, name=name)
        for shape, name in (((3, 2), "scaled"), ((3, 2), "after"), ((2,), "vector"))
    )
    columns = kg.normal(0, 1, shape=(2, 3), name="columns")
    factor = kg.diag(sd) @ L
    effects = scaled @ factor.T + after @ (L.T @ kg.diag(sd)) + (vector @ (0.5 * factor).T)
    kg.observe(np.ones((3, 2)), kg.normal(effects + ((L @ kg.diag(sd)) @ columns).T, 1))
    return sd, L, scaled, after, vector, columns


def below():
    """An effect with a walk as its location, and a walk whose scale is such an effect."""
    sd = kg.half_normal(1, name="sd")
    walk = kg.random_walk(sd, 3, name="walk")
    effect = kg.normal(walk, sd, name="effect")
    last = kg.random_walk(kg.exp(effect[0]), 3, name="last")
    kg.observe(np.ones(3), kg.normal(effect + last, 1))
    return sd, walk, effect, last


def measured():
    """Two measurements of each element, one of them with an unknown error and slope."""
    mu, tau, b, sd = kg.normal(0, 1), kg.half_normal(1), kg.normal(1, 1), kg.half_normal(1)
    latent = kg.normal(mu, tau, shape=3, name="latent")
    kg.observe(np.array([[1.0, 2, 3], [0, 1, 2]]), kg.normal(latent, 0.5), name="first")
    kg.observe(np.array([1.0, 3, 5]), kg.normal(mu - (b * latent - 0.3) / 2, sd), name="second")
    return mu, tau, b, sd, latent


def measured_numbers():
    """The same by standard numbers."""
    mu, tau, b, sd = kg.normal(0, 1), kg.half_normal(1), kg.normal(1, 1), kg.half_normal(1)
    z = kg.normal(0, 1, shape=3, name="z")
    latent = mu + tau * z
    kg.observe(np.array([1.0, 3, 5]), kg.normal(1 - b * -latent, sd), name="y")
    return mu, tau, b, sd, z


def repeated():
    """Elements of a column that are measured several times, and a factor of known scale."""
    sd, slope = kg.half_normal(1, name="sd"), kg.normal(0, 1, name="slope")
    column = kg.normal(slope, sd, shape=(3, 1), name="column")
    factor = kg.normal(0, 1, shape=2, name="factor")
    kg.observe(np.arange(12.0).reshape(3, 4), kg.normal(column, sd), name="y")
    kg.observe(np.array([[1.0, 2], [3, 4]]), kg.normal(slope * factor, 1), name="x")
    return sd, slope, column, factor


def levels():
    """A walk, a process and correlated effects with normal data of an unknown error."""
    sd, error = kg.half_normal(1, name="sd"), kg.half_normal(1, name="error")
    walk = kg.random_walk(sd, 3, name="walk")
    length, mu = kg.lognormal(0, 0.5, name="length"), kg.normal(0, 1, name="mu")
    f = kg.gp.Process(kg.gp.rbf(length), mean=mu).latent(np.arange(3.0), name="z")
    L = kg.lkj_cholesky(2, 2, name="L")
    columns = kg.normal(0, 1, shape=(2, 3), name="columns")
    kg.observe(np.array([1.0, 2, 4]), kg.normal(2 * walk, error), name="of_walk")
    kg.observe(np.array([0.0, 2, 1]), kg.normal(f, error), name="of_f")
    kg.observe(np.ones((2, 3)), kg.normal(sd * (L @ columns) + mu, error), name="of_columns")
    return sd, error, walk, length, mu, f, L


def mixed():
    """Elements whose normal data are not all of their data keep the forms of shifts."""
    mu, tau, error = kg.normal(0, 1), kg.half_normal(1), kg.half_normal(1)
    z = kg.normal(0, 1, shape=3, name="z")
    f = mu + tau * z
    kg.observe(np.ones(3), kg.normal(f, error), name="first")
    kg.observe(np.array([1, 0, 2]), kg.poisson(kg.exp(f)), name="second")
    return mu, tau, error, z


def negative():
    """Factors of an unknown sign."""
    slope, error = kg.normal(0, 1), kg.half_normal(1)
    z = kg.normal(0, 1, shape=3, name="z")
    kg.observe(np.ones(3), kg.normal(kg.exp(slope) * slope * z, error), name="y")
    return slope, error, z


def sums():
    """Running sums of steps that are scaled before and after, or by value."""
    sd, mu = kg.half_normal(1, shape=2, name="sd"), kg.normal(0, 1, shape=3, name="mu")
    after, before = (kg.normal(0, 1, shape=4, name=name) for name in ("after", "before"))
    level = mu[0] + sd[0] * kg.cumsum(after) + kg.cumsum(0.5 - before * mu[1] / 2)
    value = kg.normal(mu[2], sd[1], shape=(2, 3), name="value")
    kg.observe(np.arange(4.0), kg.normal(level, 0.5), name="of_level")
    kg.observe(np.ones(3), kg.normal(before[:3], 1), name="of_steps")
    kg.observe(np.full((2, 3), 2), kg.poisson(kg.exp(kg.cumsum(value, 1))), name="of_value")
    return sd, mu, after, before, value


def sums_of_tables():
    """Running sums along the first and the last axis, with normal data of an unknown error."""
    sd, error = kg.half_normal(1, shape=2, name="sd"), kg.half_normal(1, name="error")
    mu = kg.normal(0, 1, shape=2, name="mu")
    one = kg.normal(0, 1, shape=3, name="one")
    columns = kg.normal(0, sd, shape=(3, 2), name="columns")
    deep = kg.normal(mu[0], sd[0], shape=(2, 1, 3), name="deep")
    kg.observe(np.arange(3.0), kg.normal(1 - 2 * (mu[0] + sd[0] * kg.cumsum(one)), error), name="y")
    table = mu + kg.cumsum(columns * mu[1], 0) * sd
    kg.observe(np.ones((3, 2)), kg.normal(table, error), name="of_table")
    kg.observe(np.ones((2, 2, 3)), kg.normal(kg.cumsum(deep, -1), 1), name="of_deep")
    return sd, error, mu, one, columns, deep


def sums_after_a_value():
    """Running sums of which another value is the first element, with normal data."""
    sd, error = kg.half_normal(1, shape=2, name="sd"), kg.half_normal(1, name="error")
    mu = kg.normal(0, 1, shape=(1, 2), name="mu")
    steps, zero = kg.normal(0, sd[0], shape=3, name="steps"), kg.normal(0, 1, shape=3, name="zero")
    apart, rows = kg.normal(0, 1, shape=3, name="apart"), kg.normal(0, 1, shape=(3, 2), name="rows")
    first = kg.cumsum(kg.concatenate([mu[0, :1], 1 + steps]))
    with_zero = mu[0, 1] + sd[0] * kg.cumsum(kg.concatenate([[0.0], zero]))
    joined = kg.concatenate([mu[0, :1], mu[0, 1] + kg.cumsum(apart) * -sd[1]])
    table = kg.cumsum(kg.concatenate([mu, rows * sd]), 0)
    for f in (first, with_zero, joined):
        kg.observe(np.array([1.0, 3, 2, 4]), kg.normal(2 * f, error))
    kg.observe(np.arange(8.0).reshape(4, 2), kg.normal(table, error))
    return sd, error, mu, steps, zero, apart, rows


def sums_by_loops():
    """Running sums whose values are computed one after another, with normal data."""
    sd, error = kg.half_normal(1, shape=2, name="sd"), kg.half_normal(1, name="error")
    mu = kg.normal(0, 1, shape=2, name="mu")
    z, apart = kg.normal(0, 1, shape=24, name="z"), kg.normal(0.3, 2, shape=24, name="apart")
    rows = kg.normal(0, 1, shape=(24, 2), name="rows")
    level, value, row = 0, mu[0], mu
    levels, values, table = [], [value], []
    for t in range(24):
        level = level + mu[1] * 0.2 + z[t] * sd[0]
        value += apart[t] * mu[1]
        row = row + sd * rows[t]
        levels.append(level)
        values.append(value)
        table.append(row)
    kg.observe(np.cos(np.arange(24.0)), kg.normal(kg.stack(levels), error))
    kg.observe(np.cos(np.arange(25.0)), kg.normal(2 - kg.stack(values), error))
    kg.observe(np.ones((24, 2)), kg.normal(kg.stack(table), error))
    return sd, error, mu, z, apart, rows


def recurrences_by_loops():
    """Linear recurrences of each kind: a value before, a first element, a stationary start."""
    sd, error = kg.half_normal(1, shape=2, name="sd"), kg.half_normal(1, name="error")
    mu, rho = kg.normal(0, 1, shape=2, name="mu"), kg.uniform(-1, 1, name="rho")
    z, after = kg.normal(0, 1, shape=25, name="z"), kg.normal(0, 1, shape=24, name="after")
    rows = kg.normal(0.5, 2, shape=(24, 2), name="rows")
    factors = 1 + 0.1 * np.cos(np.arange(24.0))
    level = mu[0] + sd[0] / kg.sqrt(1 - rho**2) * z[0]
    value, row = mu[1], mu
    levels, values, table = [level], [value], []
    for t in range(24):
        level = mu[0] + rho * (level - mu[0]) - sd[0] * z[t + 1]
        value = factors[t] * value / 1.1 + after[t] * sd[1]
        row = 0.3 - rho * row + sd * rows[t]
        levels.append(level)
        values.append(value)
        table.append(row)
    kg.observe(np.cos(np.arange(25.0)), kg.normal(kg.stack(levels) + sd[1], error))
    kg.observe(np.cos(np.arange(25.0)), kg.normal(2 - kg.stack(values), error))
    kg.observe(np.ones((24, 2)), kg.normal(kg.stack(table), error))
    return sd, error, mu, rho, z, after, rows


def recurrences_by_scans():
    """Linear recurrences by `kg.scan`: rows of several arrays, values read inside, tables."""
    sd, error = kg.half_normal(1, shape=2, name="sd"), kg.half_normal(1, name="error")
    mu, rho = kg.normal(0, 1, shape=2, name="mu"), kg.uniform(-1, 1, name="rho")
    z, after = kg.normal(0, 1, shape=5, name="z"), kg.normal(0, 1, shape=4, name="after")
    rows = kg.normal(0.5, 2, shape=(4, 2), name="rows")
    factors = 1 + 0.1 * np.cos(np.arange(4.0))

    def stationary(level, step):
        level = mu[0] + rho * (level - mu[0]) - sd[0] * step
        return level, level

    def varied(carry, row):
        (value, count), (factor, step) = carry, row
        value = factor * value / 1.1 + step * sd[1]
        return (value, count + 1), (count, value)

    def of_table(row, steps):
        row = 0.3 - rho * row + sd * steps
        return row, {"row": row, "sum": row.sum()}

    levels = kg.scan(stationary, mu[0], z)[1]
    values = kg.scan(varied, (mu[1], 0), (factors, after))[1][1]
    table = kg.scan(of_table, mu, rows)[1]["row"]
    kg.observe(np.cos(np.arange(5.0)), kg.normal(levels + sd[1], error))
    kg.observe(np.cos(np.arange(4.0)), kg.normal(2 - values, error))
    kg.observe(np.ones((4, 2)), kg.normal(table, error))
    return sd, error, mu, rho, z, after, rows


def stationary_recurrences():
    """Recurrences that are joined with their first value, scaled, or made of scaled numbers."""
    mu, rho = kg.normal(0, 1, shape=2, name="mu"), kg.uniform(-1, 1, name="rho")
    sd, spread = kg.half_normal(1, shape=2, name="sd"), 1 / kg.sqrt(1 - rho**2)
    joined, start = kg.normal(0, 1, shape=5, name="joined"), kg.normal(0, spread, name="start")
    after, zero = kg.normal(0, 1, shape=4, name="after"), kg.normal(0.2, 2, shape=5, name="zero")
    looped = kg.normal(0, 1, shape=25, name="looped")
    scaled, rows = kg.normal(0, 1, shape=25, name="scaled"), kg.normal(0, 1, shape=(5, 2))

    def step(level, z):
        return rho * level + z, rho * level + z

    def scan(first, steps):
        return kg.concatenate([first[None], kg.scan(step, first, steps)[1]])

    steps = kg.concatenate([kg.reshape(zero[0] * spread, (1,)), zero[1:]])
    level, other = looped[0] * spread, mu[1] + (x := 2 - sd[1] * scaled)[0] * spread
    levels, others = [level], [other]
    for t in range(1, 25):
        level = rho * level + looped[t]
        other = mu[1] + rho * (other - mu[1]) + x[t] / 2
        levels.append(level)
        others.append(other)
    fs = [
        mu[0] - sd[0] * scan(joined[0] * spread, joined[1:]),
        scan(start, sd[0] * after) * sd[1] - mu[1],
        kg.scan(step, 0.0, steps)[1] * sd[0] + mu[1],
        mu[0] + sd[0] * kg.stack(levels),
        kg.stack(others),
        sd * scan(rows[0] * spread, rows[1:]) + mu,
    ]
    for k, f in enumerate(fs):
        kg.observe(np.cos(k + np.arange(f.size)).reshape(f.shape), kg.normal(f, 0.5))
    vectors = {"joined": joined, "after": after, "zero": zero, "looped": looped, "rows": rows}
    return {"mu": mu, "rho": rho, "sd": sd, "start": start, "scaled": scaled, **vectors}


def results_of_states():
    """Results of steps that are linear in states: by a loop, by `kg.scan`, and filled arrays."""
    mu, rho = kg.normal(0, 1, shape=2, name="mu"), kg.uniform(-1, 1, name="rho")
    sd, spread = kg.half_normal(1, shape=2, name="sd"), 1 / kg.sqrt(1 - rho**2)
    looped, scanned, filled, walk = (
        kg.normal(0, 1, shape=n, name=name)
        for n, name in ((25, "looped"), (5, "scanned"), (6, "filled"), ((4, 2), "walk"))
    )

    def trip(x, z):
        x = rho * x + z
        return x, mu[1] - sd[0] * x

    @kg.function
    def fill(z, rho, mu, sd, spread):
        x, y, state = np.zeros(6), np.zeros((5, 2)), z[0] * spread
        x[0] = -(mu[0] + state / sd[0])
        y[0] = mu
        for t in kg.range(1, 6):
            state = rho * state + z[t]
            x[t] = -(mu[0] + state / sd[0])
        for t in kg.range(1, 5):
            y[t] = y[t - 1] + sd * walk[t - 1]
        return x, y

    state, first = looped[0] * spread, scanned[0] * spread
    values = [3 - sd[1] * state]
    for t in range(1, 25):
        state = rho * state + looped[t]
        values.append(3 - sd[1] * state)
    later = kg.scan(trip, first, scanned[1:])[1]
    of_scan = kg.concatenate([(mu[1] - sd[0] * first)[None], later])
    for f in (kg.stack(values), of_scan, *fill(filled, rho, mu, sd, spread)):
        kg.observe(np.cos(np.arange(f.size)).reshape(f.shape), kg.normal(f, 0.5))
    return mu, rho, sd, looped, scanned, filled, walk


def numbers():
    """A series whose numbers are unknowns of a loop, after another first number; and of order 2."""
    mu, sd = kg.normal(0, 1, shape=2, name="mu"), kg.half_normal(1, name="sd")
    rho = kg.uniform(-1, 1, name="rho")
    x, second = [kg.normal(mu[0], 2, name="first")], [kg.normal(0, 1), kg.normal(0, 1)]
    for t in range(1, 9):
        x.append(kg.normal(mu[0] + rho * (x[-1] - mu[0]), sd * (1 + t / 9), name=f"x{t}"))
        second.append(kg.normal(rho * second[-1] - 0.3 * second[-2], sd, name=f"second{t}"))
    for value in (kg.stack(x[1:]), kg.stack(second[2:])):
        kg.factor(kg.sum(0.8 * value - 0.5 * value * value))
    unknowns = {f"start{k}": v for k, v in enumerate(second[:2])}
    for v in (*x, *second[2:]):
        unknowns[v.node.name] = v
    return {"mu": mu, "sd": sd, "rho": rho, **unknowns}


def differences(forward, y, width=1e-5):
    """The derivative of the free state by central differences."""
    changes = width * np.eye(len(y))
    return np.array([(forward(y + d) - forward(y - d)) / (2 * width) for d in changes]).T


def check_position(density, moved, x):
    """Log density and gradient at a point, in the coordinates and back."""
    plain = density.value_and_gradient(x)[:2]
    there, back = jax.jit(lambda: (p := moved.into(Position(x, *plain)), moved.out_of(p)))()
    value, slope, _ = moved.value_and_gradient(there.q)
    np.testing.assert_allclose(there.log_density, value, rtol=1e-10)
    np.testing.assert_allclose(there.gradient, slope, rtol=1e-7, atol=1e-8)
    for got, expected in zip(back, (x, *plain), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-8)


BUILDS = {
    walks: {"level": None, "table": "mu"},
    process: {"z": "mu", "two": None},
    correlated: {"rows": "mu", "columns": None, "value": None},
    diagonal: {"scaled": "after", "after": None, "vector": None, "columns": None},
    below: {"walk": None, "last": "effect"},
    measured: {"latent": None},
    measured_numbers: {"z": None},
    repeated: {"column": None, "factor": None},
    levels: {"walk": None, "z": "mu", "columns": "mu"},
    mixed: {},
    negative: {"z": None},
    sums: {"after": "mu", "before": None, "value": None},
    sums_of_tables: {"one": "mu", "columns": "mu", "deep": None},
    sums_after_a_value: {"steps": "mu", "zero": "mu", "apart": "mu", "rows": "mu"},
    sums_by_loops: {"z": None, "apart": "mu", "rows": "mu"},
    recurrences_by_loops: {"z": "sd", "after": None, "rows": None},
    recurrences_by_scans: {"z": "sd", "after": None, "rows": None},
    numbers: {"x1": None, "second1": None},
    results_of_states: dict.fromkeys(("looped", "scanned", "filled")) | {"walk": "mu"},
    stationary_recurrences: {
        **dict.fromkeys(("zero", "looped", "rows"), "mu"),
        **dict.fromkeys(("joined", "after", "scaled")),  # mu - sd x has no location
    },
}


@pytest.mark.parametrize("build", BUILDS)
def test_the_vectors_that_are_found(build):
    model = kg.model(build)
    centring = Centring(model)
    assert {model.name(v) for v in centring.vectors} == set(BUILDS[build])
    for unknown, vector in centring.vectors.items():
        name = BUILDS[build][model.name(unknown)]
        assert (vector.location is None) == (name is None), model.name(unknown)


@pytest.mark.parametrize("build", BUILDS)
def test_the_maps_of_a_model(build):
    model = kg.model(build)
    centring, rng = Centring(model), np.random.default_rng(2)
    x, c = rng.normal(size=model.free_size), rng.uniform(size=model.free_size)
    elements = len(centring.vector_places)
    forms = ChosenForms(c, np.stack([rng.uniform(0, 3, elements), rng.normal(size=elements)]))
    written = centring.written
    with x64():
        data = model.bind().data
        forward = jax.jit(lambda y, forms: centring.forward(y, forms, data))
        inverse = jax.jit(lambda x, forms: centring.inverse(x, forms, data))
        y = inverse(x, forms)
        back, log_jacobian = forward(y, forms)
        assert np.abs(y - x).max() > 0.1
        np.testing.assert_allclose(back, x, rtol=1e-6, atol=1e-8)
        slopes = differences(lambda y: forward(y, forms)[0], y)
        np.testing.assert_allclose(log_jacobian, np.linalg.slogdet(slopes)[1], rtol=1e-5)
        np.testing.assert_array_equal(inverse(x, written), x)
        np.testing.assert_array_equal(forward(x, written)[0], x)


def scored():
    """A walk and effects whose factor is, with a location, that of normal data."""
    mu, sd = kg.normal(0, 1, name="mu"), kg.half_normal(1, name="sd")
    walk = kg.ar(0.9, sd, 4, constant=0.3, name="walk")
    L = kg.lkj_cholesky(2, 2, name="L")
    columns = kg.normal(0, 1, shape=(2, 3), name="columns")
    effects = mu + sd * (L @ columns)
    for f in (mu + walk, effects):
        kg.factor(kg.sum(0.8 * f - 0.5 * f * f))
    return mu, sd, walk, L, columns


NORMAL = [levels, measured, measured_numbers, repeated, negative, scored, sums_of_tables]
NORMAL += [sums_after_a_value, sums_by_loops, recurrences_by_loops, recurrences_by_scans]
NORMAL += [stationary_recurrences, numbers, results_of_states]


@pytest.mark.parametrize("build", NORMAL)
def test_coordinates_are_standard_normal_if_the_data_are_normal(build):
    """The slope of the log density by each coordinate u is -u."""
    model = kg.model(build)
    centring, rng = Centring(model), np.random.default_rng(7)
    y, places = -np.abs(rng.normal(size=model.free_size)), centring.vector_places
    information = np.repeat([[1.0], [0.8]], len(places), 1)  # h and r, unless data are known
    forms = ChosenForms(np.ones(len(y)), information)
    with x64():
        moved = model.bind()._replace(centring=centring, forms=forms)
        _, slope, _ = jax.jit(moved.value_and_gradient)(y)
    assert len(places)
    np.testing.assert_allclose(slope[places], -y[places], rtol=1e-8, atol=1e-8)


def test_positions_in_the_coordinates():
    """Log density and gradient at a point, in both directions."""
    model = kg.model(measured)
    centring, rng = Centring(model), np.random.default_rng(2)
    x = rng.normal(size=model.free_size)
    forms = ChosenForms(np.ones(len(x)), np.stack([np.ones(3), np.zeros(3)]))
    with x64():
        density = model.bind()
        check_position(density, density._replace(centring=centring, forms=forms), x)


def test_known_normal_data():
    """h = sum (k / sd)^2 and r = sum k (y - c) / sd^2, over all normal data of an element."""
    model = kg.model(measured)
    ((unknown, vector),) = Centring(model).vectors.items()
    assert model.name(unknown) == "latent"
    assert vector.data is not None
    mu, tau, b, sd = 0.4, 0.9, 1.5, 0.7
    with x64():
        environment = dict(model.bind().data)
        free = np.array([mu, np.log(tau), b, np.log(sd), 1.0, 2.0, 3.0])
        images = model.density.images(model.density.pieces(free), environment, None)
        evaluate(vector.nodes, environment, images, None)
        h, r = vector.data.information(environment)
    slope, constant = -b / 2, mu + 0.3 / 2
    np.testing.assert_allclose(h, 2 / 0.5**2 + slope**2 / sd**2)
    expected = np.array([1.0, 3, 5]) / 0.5**2
    expected += slope * (np.array([1.0, 3, 5]) - constant) / sd**2
    np.testing.assert_allclose(r, expected)


@pytest.mark.parametrize("build", [walks, process, correlated, sums, numbers])
def test_evidence_has_the_slope_of_the_likelihood(build):
    """The oracle: the slope of the terms of the data, for a small change of f."""
    model = kg.model(build)
    centring, rng = Centring(model), np.random.default_rng(3)
    x = rng.normal(size=model.free_size)
    with x64():
        density = model.bind()
        _, gradient, _ = density.value_and_gradient(x)
        rows = np.asarray(centring.evidence(x, gradient, x, gradient, density.data))
        places = centring.vector_places
        np.testing.assert_array_equal(rows[2], x[places])
        np.testing.assert_allclose(rows[3], gradient[places], rtol=1e-12)
        if build is walks:
            mu, level, season, table = x[3:6], x[6:11], x[11:16], x[16:].reshape(3, 5)
            both = level + season
            f = np.concatenate([(mu[:, None] + table).ravel(), both, both])
            of_both = np.arange(5) - np.exp(both)
            slope = [(1 - np.exp(mu[:, None] + table)).ravel(), of_both, of_both]
            np.testing.assert_allclose(rows[0], f, rtol=1e-12)
            np.testing.assert_allclose(rows[1], np.concatenate(slope), rtol=1e-8, atol=1e-8)
        if build is process:
            np.testing.assert_allclose(rows[0, 4:], x[6:], rtol=1e-12)
            np.testing.assert_allclose(rows[1, 4:], 1 - x[6:], rtol=1e-7, atol=1e-8)
        if build is sums:
            f = np.cumsum(x[-6:].reshape(2, 3), 1).ravel()
            np.testing.assert_allclose(rows[0, -6:], f, rtol=1e-12)
            np.testing.assert_allclose(rows[1, -6:], 2 - np.exp(f), rtol=1e-8, atol=1e-8)
            level = x[2] + np.exp(x[0]) * np.cumsum(x[5:9])
            slope = (np.arange(4) - level - np.cumsum(0.5 - x[9:13] * x[3] / 2)) / 0.25
            np.testing.assert_allclose(rows[0, :4], level, rtol=1e-12)
            np.testing.assert_allclose(rows[1, :4], slope, rtol=1e-8, atol=1e-8)
        if build is numbers:
            np.testing.assert_allclose(rows[0], x[places], rtol=1e-12)
            np.testing.assert_allclose(rows[1], 0.8 - x[places], rtol=1e-8, atol=1e-8)
        if build is process:
            counts = np.array([1, 0, 3, 2])
            np.testing.assert_allclose(rows[1, :4], counts - np.exp(rows[0, :4]), rtol=1e-5)


@pytest.mark.parametrize("name", ["scaled", "after", "vector"])
def test_the_law_of_rows_is_that_of_their_product(name):
    vectors = gaussian_vectors(kg.model(diagonal))
    (vector,) = (each for each in vectors if each.unknown.name == name)
    factor, z = np.array([[0.5, 0.0], [1.2, 1.6]]), np.arange(6.0).reshape(3, 2)
    z = z[0] if name == "vector" else z
    law = vector.law_of(z.shape, factor.T)
    np.testing.assert_allclose(law._from_numbers(z), z @ factor.T, rtol=1e-6)


@pytest.mark.parametrize(
    "build",
    [
        lambda sd, z: kg.exp(sd) * np.eye(3) @ z,  # not a Cholesky factor
        lambda sd, z: kg.cholesky(np.eye(3) + 0.5) @ z + sd,  # a known matrix
        lambda sd, z: kg.cholesky(sd[0] * np.eye(3)).T @ z,  # an upper factor
        lambda sd, z: z @ kg.transpose(kg.cholesky(sd[0] * np.eye(3)), (0, 1)),  # a lower one
        lambda sd, z: (kg.cholesky(sd[:1, None]) * np.ones((3, 3))) @ z,  # a factor of one number
        lambda sd, z: (kg.diag(sd[1:], 1) @ kg.cholesky(sd[0] * np.eye(3))) @ z,
        lambda sd, z: kg.diag(sd) @ z,  # elements that do not depend on each other
        lambda sd, z: (kg.diag(sd) @ kg.cholesky(sd[0] * np.eye(3)).T) @ z,
        lambda sd, z: (kg.diag(sd) @ (kg.exp(sd) * np.eye(3))) @ z,
        lambda sd, z: (kg.diag(sd) @ kg.diag(kg.exp(sd))) @ z,
    ],
)
def test_other_products_stay_as_written(build):
    def model():
        sd, z = kg.half_normal(1, shape=3), kg.normal(0, 1, shape=3)
        kg.observe(np.zeros(3), kg.normal(build(sd, z), 1))
        return sd, z

    assert not Centring(kg.model(model)).vectors


@pytest.mark.parametrize(
    ("shape", "build"),
    [
        ((1, 3), lambda sd, z: kg.cumsum(sd * z)),  # of the flattened array
        ((1, 3), lambda sd, z: kg.cumsum(sd * z, 0)),  # along a single element
        ((2, 3, 2), lambda sd, z: kg.cumsum(sd * z, 0)),
        ((2, 3, 2), lambda sd, z: kg.cumsum(sd * z, 1)),
        ((3,), lambda sd, z: kg.cumsum(kg.exp(sd * z))),  # not linear
        ((3,), lambda sd, z: kg.cumsum(z * z * sd)),
        ((3,), lambda sd, z: kg.cumprod(sd * z)),
        ((3,), lambda sd, z: kg.cumsum(kg.concatenate([z[:1], sd * z[1:]]))),  # not all steps
        ((3,), lambda sd, z: kg.cumsum(kg.concatenate([z[:1], sd * z]))),
        ((3,), lambda sd, z: kg.cumsum(kg.concatenate([sd * z, [1.0]]))),
        ((3,), lambda sd, z: kg.cumsum(kg.concatenate([[1.0], [2.0], sd * z]))),
        ((3,), lambda sd, z: kg.cumsum(3 * z) + sd),  # of a known scale
        ((3,), lambda sd, z: kg.cumsum(z) * kg.exp(sd * np.arange(3.0))),  # of several scales
    ],
)
def test_other_sums_stay_as_written(shape, build):
    def model():
        sd, z = kg.half_normal(1), kg.normal(0, 1, shape=shape)
        f = build(sd, z)
        kg.observe(np.zeros(f.shape), kg.normal(f, 1))
        return sd, z, sd * kg.cumsum(z, -1)

    assert not Centring(kg.model(model)).vectors


def test_data_of_more_than_the_sum_are_not_of_the_sum():
    """Before the sum is a value that depends on the steps."""
    sd, z = kg.half_normal(1), kg.normal(0, 1, shape=3)
    total = kg.cumsum(z)
    kg.observe(np.zeros(4), kg.normal(kg.concatenate([total[:1], sd * total]), 1))
    ((_, vector),) = Centring(kg.model(sd, z)).vectors.items()
    assert vector.data is None


@pytest.mark.parametrize(
    "vector",
    [
        lambda sd: kg.ar(np.full(14, 0.05), sd, 20),
        lambda sd: kg.random_walk(1.0, 5),
        lambda sd: kg.multivariate_normal(np.zeros(5), precision=np.eye(5) / sd),
    ],
)
def test_vectors_without_a_law_stay_as_written(vector):
    def model():
        sd = kg.half_normal(1)
        x = vector(sd)
        kg.observe(np.zeros(x.shape), kg.normal(x, sd))
        return sd, x

    assert not Centring(kg.model(model)).vectors


@pytest.mark.parametrize(
    "step",
    [
        lambda x, z, c, sd: 0.5 * x + c + sd * z,  # c is one number for three states
        lambda x, z, c, sd: c * x + sd * z,
        lambda x, z, c, sd: x + sd * c,
        lambda x, z, c, sd: x + (sd * z) ** 2,  # not linear
    ],
)
def test_recurrences_that_are_not_rewritten(step):
    """Their densities are those of NumPy, and there is no vector of them."""

    def run(z, c, sd, library):
        x, states = np.zeros(3), []
        for t in range(30):
            x = step(x, z[t], c[t], sd)
            states.append(x)
        return library.stack(states)

    sd = kg.half_normal(1, name="sd")
    z, c = kg.normal(0, 1, shape=(30, 3), name="z"), kg.normal(0, 1, shape=30, name="c")
    kg.observe(np.ones((30, 3)), kg.normal(run(z, c, sd, kg), 1), name="y")
    model = kg.model(sd, z, c)
    assert "z" not in {model.name(v) for v in Centring(model).vectors}
    free = np.random.default_rng(0).normal(size=model.free_size) / 4
    values = model.transform(free)
    plain = run(values["z"], values["c"], values["sd"], np)
    expected = -0.5 * ((1 - plain) ** 2).sum() - 0.5 * (free[1:] ** 2).sum()
    expected += -0.5 * values["sd"] ** 2 + free[0]
    constants = model.log_prob(free) - expected
    other = free / 2
    values = model.transform(other)
    plain = run(values["z"], values["c"], values["sd"], np)
    expected = -0.5 * ((1 - plain) ** 2).sum() - 0.5 * (other[1:] ** 2).sum()
    expected += -0.5 * values["sd"] ** 2 + other[0]
    np.testing.assert_allclose(model.log_prob(other) - expected, constants, rtol=1e-10)


def test_columns_of_a_square_table_are_not_its_rows():
    z = kg.normal(0, 1, shape=(24, 24), name="z")
    sd, level, levels = kg.half_normal(1, name="sd"), np.zeros(24), []
    for t in range(24):
        level = level + sd * z[:, t]
        levels.append(level)
    kg.observe(np.ones((24, 24)), kg.normal(kg.stack(levels), 1), name="y")
    assert not Centring(kg.model(sd, z)).vectors


@pytest.mark.parametrize(
    ("shape", "first"),
    [
        ((24, 1), lambda mu, sd, z: mu),  # three states with one step
        ((25,), lambda mu, sd, z: mu[0] + sd * z[0] * z[1]),  # another step in the first element
        ((25,), lambda mu, sd, z: mu[0] + sd * z[0] + kg.sum(z)),
    ],
)
def test_first_elements_that_are_not_rewritten(shape, first):
    mu, sd = kg.normal(0, 1, shape=3, name="mu"), kg.half_normal(1, name="sd")
    z = kg.normal(0, 1, shape=shape, name="z")
    level = first(mu, sd, z)
    levels = [level]
    for t in range(24):
        level = level + sd * z[t + shape[0] - 24]
        levels.append(level)
    f = kg.stack(levels)
    kg.observe(np.ones(f.shape), kg.normal(f, 1), name="y")
    assert "z" not in {v.name for v in Centring(kg.model(mu, sd, z)).vectors}


@pytest.mark.parametrize(
    "step",
    [
        lambda x, y, z, sd: (x + (sd * z) ** 2, y, x),  # not linear in the unknown
        lambda x, y, z, sd: (x * x + sd * z, y, x),  # nor in the value before
        lambda x, y, z, sd: (x * y + sd * z, y + 1, None),  # a product of carried values
        lambda x, y, z, sd: (x + sd * kg.stack([z, z]).sum(), y, None),  # not by elements
        lambda x, y, z, sd: (kg.cond(y > 2, lambda: x, lambda: -x) + sd * z, y, None),
        lambda x, y, z, sd: (-x, y, None),
        lambda x, y, z, sd: (x + sd * z, y + 1, y * (x + sd * z)),  # a scale of each row
    ],
)
def test_scans_that_are_not_rewritten(step):
    sd, z = kg.half_normal(1), kg.normal(0, 1, shape=6)

    def trip(carry, z):
        x, y, result = step(*carry, z, sd)
        return (x, y), x if result is None else result

    kg.observe(np.ones(6), kg.normal(kg.scan(trip, (0.0, 1.0), z)[1], 1))
    assert not Centring(kg.model(sd, z)).vectors


@pytest.mark.parametrize(
    "write",
    [
        lambda scan, rho, z: kg.concatenate([z[1:2], scan(z[0], z[1:])]),  # not the first value
        lambda scan, rho, z: kg.concatenate([z[:1], scan(z[0], (z * z)[1:])]),
        lambda scan, rho, z: kg.concatenate([z[:1], scan(z[0], kg.cumsum(z)[1:])]),
        lambda scan, rho, z: scan(0.0, kg.concatenate([z[:1] * z[1:2], z[1:]])),
    ],
)
def test_joined_recurrences_that_are_not_rewritten(write):
    rho, z = kg.uniform(0.1, 0.9), kg.normal(0, 1, shape=6)

    def scan(first, steps):
        return kg.scan(lambda x, z: (rho * x + z,) * 2, first, steps)[1]

    kg.observe(np.ones(6), kg.poisson(kg.exp(write(scan, rho, z))))
    assert not Centring(kg.model(rho, z)).vectors


def test_results_with_a_factor_of_each_row_have_coordinates_as_a_system():
    """They are not the states of another recurrence."""
    sd, z = kg.half_normal(1), kg.normal(0, 1, shape=6, name="z")

    def trip(x, row):
        x = 0.5 * x + sd * row[0]
        return x, row[1] * x

    values = kg.scan(trip, 0.0, (z, np.arange(1.0, 7)))[1]
    kg.observe(np.ones(6), kg.normal(values, 1))
    (vector,) = Centring(kg.model(sd, z)).vectors.values()
    assert len(vector.system) == 1
    assert vector.data is not None


def test_a_scan_from_the_last_row_stays_as_written():
    sd, z = kg.half_normal(1), kg.normal(0, 1, shape=6)
    values = kg.scan(lambda x, z: (x + sd * z,) * 2, 0.0, z, reverse=True)[1]
    kg.observe(np.ones(6), kg.normal(values, 1))
    assert not Centring(kg.model(sd, z)).vectors
