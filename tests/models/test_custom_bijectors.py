"""Unknowns with custom bijectors.

Properties of all bijectors are tested in `test_bijectors`.
"""

import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats
from tests.models.own_maps import Mixing, Sinh, Softmax

import kinetograph as kg

QUIET = {"progress": False, "seed": 1}
AT = np.array([0.3, -1.2, 0.7])


def stated(x, *others):
    """A model in which x is standard normal."""
    return kg.model(x, *others, factors=kg.log_density(kg.normal(0, 1), x))


def test_the_density_is_flat_in_the_value():
    x = kg.variable(bijector=Sinh(), shape=3, name="x")
    model = stated(x)
    value = np.sinh(AT)
    np.testing.assert_allclose(model.transform(AT)["x"], value, rtol=1e-14)
    np.testing.assert_allclose(model.untransform({"x": value}), AT, rtol=1e-13)
    plain = stats.norm.logpdf(value).sum()
    assert float(model.log_prob(AT, adjusted=False)) == pytest.approx(plain, rel=1e-13)
    assert float(model.log_prob(AT)) == pytest.approx(plain + np.log(np.cosh(AT)).sum(), rel=1e-13)
    slope = -value * np.cosh(AT) + np.tanh(AT)
    np.testing.assert_allclose(model.gradient(AT), slope, rtol=1e-12)


def test_parameters_of_the_map_may_be_unknown():
    s = kg.gamma(2, 1, name="s")
    x = kg.variable(bijector=Sinh(s), name="x")
    model = stated(x, s)
    log_s, u = 0.4, -0.8
    names = dict(zip(model.names, (log_s, u) if model.names == ("s", "x") else (u, log_s)))
    scale, value = np.exp(names["s"]), np.exp(names["s"]) * np.sinh(names["x"])
    wanted = stats.gamma.logpdf(scale, 2) + names["s"] + stats.norm.logpdf(value)
    wanted += np.log(np.cosh(names["x"])) + np.log(scale)
    free = [names[name] for name in model.names]
    assert float(model.log_prob(free)) == pytest.approx(wanted, rel=1e-13)
    np.testing.assert_allclose(model.untransform(model.transform(free)), free, rtol=1e-12)
    step = 1e-6 * np.eye(2)
    slopes = (model.log_prob(free + step) - model.log_prob(free - step)) / 2e-6
    np.testing.assert_allclose(model.gradient(free), slopes, rtol=1e-7, atol=1e-7)


def test_data_of_the_map_can_be_replaced():
    scale = kg.data(2.0, name="scale")
    model = stated(kg.variable(bijector=Sinh(scale), shape=3, name="x"))
    np.testing.assert_allclose(model.transform(AT)["x"], 2 * np.sinh(AT), rtol=1e-14)
    model.set_data(scale=3.0)
    np.testing.assert_allclose(model.transform(AT)["x"], 3 * np.sinh(AT), rtol=1e-14)


def test_other_free_numbers_than_elements():
    part = kg.dim("part", ["a", "b", "c"])
    w = kg.variable(bijector=Softmax(), dims=part, name="w")
    kg.observe(kg.data([5, 2, 1], "y"), kg.multinomial(8, w))
    model = kg.model(w)
    assert (model.free_size, model.axes(w.node)) == (2, ("part",))
    # Flat on the simplex, with counts: the weights have a Dirichlet distribution.
    found = kg.opt(model, adjust=False, seed=1)
    np.testing.assert_allclose(found["w"], np.array([5, 2, 1]) / 8, atol=1e-5)


def test_a_run_and_what_follows():
    x = kg.variable(bijector=Sinh(), shape=2, name="x")
    model = kg.model(x, factors=kg.log_density(kg.cauchy(0, 1), x))
    tree = kg.mcmc(model, draws=1000, chains=4, initial={"x": [1.0, -2.0]}, **QUIET)
    draws = tree["posterior"]["x"].values.reshape(-1, 2)
    free = np.arcsinh(draws)  # a hyperbolic secant: variance pi^2 / 4, kurtosis 5
    bound = 6 / np.sqrt(500)  # for at least 500 independent draws
    assert np.abs(free.mean(0)).max() < bound * np.pi / 2
    assert np.abs(free.var(0) * 4 / np.pi**2 - 1).max() < bound * 2
    squares = kg.calculate(square=x**2, values=tree)["posterior"]["square"]
    np.testing.assert_allclose(squares.values.reshape(-1, 2), draws**2, rtol=1e-14)
    given = kg.calculate(square=x**2, values={"x": [1.0, 3.0]})["square"]
    np.testing.assert_allclose(given, [1.0, 9.0])


def test_programs_of_other_maps_are_others():
    """Programs in the cache are found by the graph of the bijector."""
    settings = {"draws": 20, "warmup": 0, "chains": 1, "sampler": kg.samplers.RandomWalk(0.5)}
    found = []
    for scale in (2.0, 3.0, 2.0):
        model = stated(kg.variable(bijector=Mixing(scale * np.eye(2)), shape=2, name="x"))
        start = {"x": [0.1, 0.2]}
        with pytest.warns(kg.SamplingWarning):
            tree = kg.mcmc(model, initial=start, **settings, **QUIET)
        found.append(tree["posterior"]["x"].values)
    assert not np.array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_loops_in_a_map():
    class Steps(kg.Bijector):
        """x_i = x_{i-1} / 2 + u_i."""

        def forward(self, u):
            def step(x, v):
                x = x / 2 + v
                return x, x

            return kg.scan(step, kg.data(0.0), u)[1]

        def inverse(self, x):
            return x - kg.concatenate([[0.0], x[:-1]]) / 2

        def log_det(self, u):
            return 0.0

    model = stated(kg.variable(bijector=Steps(), shape=3, name="x"))
    matrix = np.linalg.inv(np.eye(3) - np.eye(3, k=-1) / 2)
    np.testing.assert_allclose(model.transform(AT)["x"], matrix @ AT, rtol=1e-14)
    np.testing.assert_allclose(model.gradient(AT), -matrix.T @ matrix @ AT, rtol=1e-12)


def test_copies_do_not_need_the_class(tmp_path):
    model = stated(kg.variable(bijector=Sinh(kg.data(2.0)), shape=3, name="x"))
    text = (
        "import pickle, sys\n"
        "model = pickle.load(open(sys.argv[1], 'rb'))\n"
        "print(model.log_prob([0.3, -1.2, 0.7]), *model.untransform({'x': [1.0, 2.0, 3.0]}))\n"
        "assert 'tests.models.own_maps' not in sys.modules\n"
    )
    (tmp_path / "model").write_bytes(pickle.dumps(model))
    out = subprocess.run(
        [sys.executable, "-c", text, tmp_path / "model"], capture_output=True, text=True, check=True
    ).stdout
    found = [float(word) for word in out.split()]
    np.testing.assert_allclose(found[0], model.log_prob(AT), rtol=1e-15)
    np.testing.assert_allclose(found[1:], np.arcsinh([0.5, 1.0, 1.5]), rtol=1e-14)


def test_saved_graphs(tmp_path):
    x = kg.variable(bijector=Sinh(), shape=3, name="x")
    kg.save_graph(tmp_path / "graph.kg", [kg.log_density(kg.normal(0, 1), x).sum(), x])
    total, again = kg.load_graph(tmp_path / "graph.kg")
    model = kg.model(again, factors=total)
    np.testing.assert_allclose(model.transform(AT)["x"], np.sinh(AT), rtol=1e-14)


def test_values_outside():
    model = stated(kg.variable(bijector=Softmax(), shape=3, name="w"))
    np.testing.assert_allclose(model.untransform({"w": [0.25, 0.25, 0.5]}), np.log([0.5, 0.5]))
    text = r"w: must be a value that Softmax.forward returns, got \[0.5  0.25 0.5 \]"
    with pytest.raises(ValueError, match=text):
        model.untransform({"w": [0.5, 0.25, 0.5]})


class Wrong(Sinh):
    """Sinh with one replaced method."""

    def __init__(self, method, value):
        super().__init__()
        setattr(self, method, value)


@pytest.mark.parametrize(
    ("method", "value", "error", "text"),
    [
        ("log_det", lambda u: -kg.log(kg.cosh(u)), kg.ModelError, "the derivatives of forward "),
        (
            "log_det",
            lambda u: 0.0,
            kg.ModelError,
            "log_det returns 0, but the derivatives of forward ",
        ),
        ("inverse", lambda x: kg.sinh(x), kg.ModelError, "for which inverse returns"),
        (
            "forward",
            lambda u: kg.log(u - 9),
            kg.ModelError,
            "both must be finite for all real numbers u",
        ),
        (
            "forward",
            lambda u: u[:1],
            kg.ShapeError,
            "Wrong.forward returns shape (1,), expected (2,)",
        ),
        (
            "inverse",
            lambda x: x.sum(),
            kg.ShapeError,
            "Wrong.inverse returns shape (), expected (2,)",
        ),
        ("forward", lambda u: None, TypeError, "Wrong.forward returns None; is a return missing?"),
        ("forward", lambda u: u > 0, TypeError, "Wrong.forward must return real numbers, got bool"),
    ],
)
def test_maps_that_are_wrong(method, value, error, text):
    with pytest.raises(error, match=re.escape(text)) as caught:
        kg.variable(bijector=Wrong(method, value), shape=2)
    assert "test_custom_bijectors.py" in str(caught.value)


class Scale(kg.Bijector):
    def __init__(self, scale):
        self.scale = scale

    def forward(self, u):
        return self.scale * u

    def inverse(self, x):
        return x / self.scale

    def log_det(self, u):
        return kg.log(self.scale) + 0 * u


def test_unknowns_of_a_map_are_not_made_in_a_loop():
    with pytest.raises(kg.ModelError, match=r"w: an unknown cannot be made inside of vmap"):
        kg.vmap(lambda scale: kg.variable(bijector=Scale(scale), name="w"))(kg.data([1.0, 2.0]))


def test_what_is_no_bijector():
    with pytest.raises(TypeError, match=r"got the class Sinh; make an object of the class"):
        kg.variable(bijector=Sinh)
    with pytest.raises(TypeError, match="bounds and a bijector are given"):
        kg.variable(lower=0, bijector=Sinh())
    with pytest.raises(NotImplementedError, match=r"Bijector has no method forward\(u\)"):
        kg.variable(bijector=kg.Bijector())
