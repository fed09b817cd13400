"""One element for all that are the same: the same numbers as with an element for each."""

import jax
import jax.numpy as jnp
import numpy as np

import kinetograph as kg
from kinetograph.graph.precision import x64
from kinetograph.models.marginal.tables import Table

N = 6
Y = np.array([-1.0, 0.3, 2.5, 0.1, -2.0, 4.0])
rng = np.random.default_rng(5)
WIDE = rng.normal(size=(N, 2))
OWN = rng.dirichlet(np.ones(3), N)


def labels(shape=N):
    w = kg.dirichlet(np.ones(3), name="w")
    return w, kg.categorical(w, shape=shape, name="z"), kg.normal(0, 2, shape=3, name="mu")


def reads():
    w, z, mu = labels()
    kg.observe(Y, kg.normal(mu[z], 1 + 0.5 * z))
    return {"w": w, "mu": mu}


def rows_of_a_table():
    w, z, mu = labels()
    table = kg.stack([mu, 2 * mu], -1)
    kg.observe(WIDE, kg.multivariate_normal(table[z], chol=np.eye(2)))
    return {"w": w, "mu": mu}


def columns_of_a_table():
    w, z, mu = labels()
    places = mu + kg.data(OWN)
    kg.observe(Y, kg.normal(places[np.arange(N), z], 1))
    return {"w": w, "mu": mu}


def one_for_a_row():
    w, z, mu = labels((N, 1))
    kg.observe(WIDE, kg.normal(mu[z], kg.where(z == 2, 0.5, 1.5)))
    return {"w": w, "mu": mu}


def shares_of_their_own():
    z, mu = kg.categorical(OWN, name="z"), kg.normal(0, 2, shape=3, name="mu")
    kg.observe(Y, kg.normal(mu[z], 1))
    return {"mu": mu}


def two_of_them():
    w, z, mu = labels()
    on = kg.bernoulli(0.3, shape=N, name="on")
    kg.observe(Y, kg.normal(mu[z] * on, 1))
    return {"w": w, "mu": mu}


def one_beside_one_for_all():
    w, z, mu = labels()
    shift = kg.bernoulli(0.3, name="shift")
    kg.observe(Y, kg.normal(mu[z] + shift, 1))
    kg.observe(0.4, kg.normal(shift, 1))
    return {"w": w, "mu": mu}


def a_factor():
    w, z, mu = labels()
    kg.factor(kg.cos(mu[z] - Y))
    return {"w": w, "mu": mu}


def moved():
    w, z, mu = labels((2, 3))
    kg.observe(Y, kg.normal(mu[z.reshape(N)], 1))
    return {"w": w, "mu": mu}


def small_counts():
    p = kg.beta(2, 2, name="p")
    n = kg.binomial(4, p, shape=N, name="n")
    kg.observe(Y, kg.normal(n, 1))
    return {"p": p}


THIN = [
    reads,
    rows_of_a_table,
    columns_of_a_table,
    one_for_a_row,
    shares_of_their_own,
    two_of_them,
    one_beside_one_for_all,
    a_factor,
    small_counts,
]


def evaluated(models):
    """Log densities and their slopes, all in one program."""

    def all_of_them(rows, data):
        pairs = zip(models, rows, data, strict=True)
        return [jax.value_and_grad(m.density.log_density)(row, d) for m, row, d in pairs]

    with x64():
        data = [m.bind([jnp.asarray(v) for v in m.argument_values]).data for m in models]
        rows = [np.random.default_rng(1).normal(0, 0.5, m.free_size) for m in models]
        return jax.tree.map(np.asarray, jax.jit(lambda rows: all_of_them(rows, data))(rows))


def test_the_same_numbers(monkeypatch):
    models, really, asked = [kg.model(**build()) for build in (*THIN, moved)], Table.thin.func, []

    def kept(table):
        asked.append(really(table))
        return asked[-1]

    monkeypatch.setattr(Table, "thin", property(kept))
    found = evaluated(models)
    assert asked.count(True) >= 2 * len(THIN)
    monkeypatch.setattr(Table, "thin", False)
    expected = evaluated(models)
    for each in zip((*THIN, moved), found, expected, strict=True):
        build, (value, slope), (other, other_slope) = each
        np.testing.assert_allclose(value, other, rtol=1e-12, err_msg=build.__name__)
        np.testing.assert_allclose(slope, other_slope, rtol=1e-9, atol=1e-12)


def test_what_is_moved_is_not_thin(monkeypatch):
    """A reshape of one element is not that of all."""
    model = kg.model(**moved())
    (marginal,) = (t for t in model.density.terms if hasattr(t, "tables"))
    assert sorted(table.thin for table in marginal.tables) == [False, True]
