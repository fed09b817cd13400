"""Models of plain JAX functions: log densities, names, draws, errors."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.programs.fingerprint import fingerprint
from kinetograph.programs.program import Program


def log_density(p):
    return -0.5 * jnp.sum(p["a"] ** 2) - 0.5 * jnp.sum((p["b"] - p["a"][0]) ** 2 / 0.25)


RNG_ROWS = np.random.default_rng(5)
LIKE = {"b": np.zeros((2, 2)), "a": np.zeros(3)}  # JAX orders keys


def by_graph() -> kg.Model:
    a = kg.variable(shape=3, name="a")
    b = kg.variable(shape=(2, 2), name="b")
    kg.factor(-0.5 * kg.sum(a**2) - 0.5 * kg.sum((b - a[0]) ** 2 / 0.25))
    return kg.model(a, b)


@pytest.mark.slow
def test_draws_are_those_of_the_same_model():
    """Draws agree with the same model written with kinetograph.

    A leapfrog step amplifies rounding only little, so 20 transitions agree to ten digits.
    """
    models = kg.jax_model(log_density, LIKE), by_graph()
    start = {"a": [0.1, 0.2, 0.3], "b": [[0.0, 1.0], [-1.0, 0.5]]}
    chains = [
        kg.chain(m, kg.samplers.HMC(step_size=0.2, tune=()), seed=5, initial=start) for m in models
    ]
    first, second = (chain.step(20) for chain in chains)
    for name in ("a", "b"):
        np.testing.assert_allclose(first.posterior[name], second.posterior[name], rtol=1e-8)
    np.testing.assert_allclose(first.sample_stats["lp"], second.sample_stats["lp"], rtol=1e-8)


def test_log_density_and_names():
    model = kg.jax_model(log_density, LIKE)
    assert model.names == model.target_names == ("a", "b")
    point = {"a": np.arange(3.0), "b": np.ones((2, 2))}
    np.testing.assert_allclose(model.log_prob(point), log_density(point), rtol=1e-6)
    same = by_graph()
    np.testing.assert_allclose(model.log_prob(point), same.log_prob(point), rtol=1e-12)
    np.testing.assert_allclose(model.gradient(point), same.gradient(point), rtol=1e-12)

    def of_layers(p):
        return -sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(p))

    layers = {"layers": [{"w": np.zeros(2), "b": 0.0}, {"w": np.zeros(1), "b": 0}]}
    nested = kg.jax_model(of_layers, layers)
    assert nested.names == ("layers_0_b", "layers_0_w", "layers_1_b", "layers_1_w")
    values = dict(zip(nested.names, jax.tree.leaves(layers), strict=True))
    assert nested.log_prob(values) == 0.0
    assert kg.jax_model(of_layers, jnp.zeros(4)).names == ("q",)
    assert kg.jax_model(lambda q: 0, 0.0).log_prob([1.0]) == 0.0


def likelihood(p, x, y):
    return -((y - x * p["a"][0]) ** 2)


@pytest.mark.parametrize(
    ("given", "error", "expected"),
    [
        ((lambda p: p["a"], LIKE), kg.ModelError, r"log_density, .*test_jax_model.py:\d+"),
        ((lambda p: p["a"], LIKE), kg.ModelError, r"one number, got an array of shape \(3,\)"),
        ((lambda p: p, LIKE), kg.ModelError, "must give one number"),
        ((lambda p: p["a"] @ p["b"], LIKE), kg.ShapeError, r"a \(3,\) float64.*failed"),
        ((log_density, {}), kg.ModelError, "holds no arrays"),
        ((log_density, {"a": ["x"]}), TypeError, "a_0 must be real numbers"),
        ((3, LIKE), TypeError, "log_density must be a JAX function, got 3"),
        ((log_density, LIKE, likelihood), kg.ModelError, "give both log_likelihood= and rows="),
        (
            (log_density, LIKE, None, np.zeros(2)),
            kg.ModelError,
            "give both log_likelihood= and rows=",
        ),
        (
            (log_density, LIKE, likelihood, (np.zeros(4), np.zeros(3))),
            kg.ModelError,
            r"arrays need the same number of rows, got \(4,\), \(3,\)",
        ),
        (
            (log_density, LIKE, lambda p, x: x, np.zeros((4, 2))),
            kg.ModelError,
            r"log_likelihood, .* one number, got an array of shape \(2,\)",
        ),
    ],
)
def test_what_is_refused(given, error, expected):
    function, like, *rest = given
    more = dict(zip(("log_likelihood", "rows"), rest, strict=False))
    with pytest.raises(error, match=expected):
        kg.jax_model(function, like, **more)


def test_batches_are_part_of_a_program():
    """Programs in the cache differ by the rows and sizes of batches."""
    x, y = kg.data(np.arange(6.0), "x"), kg.data(np.arange(6.0), "y")
    w = kg.normal(0.0, 1.0, name="w")
    kg.observe(y, kg.normal(w, kg.exp(0.0 * x)))
    model = kg.model(w)
    sampler = kg.samplers.SGLD()
    options = [(2, {}), (3, {}), (2, {"replace": True}), (2, {})]
    models = [model, *(kg.minibatch(model, size, **more) for size, more in options)]
    *texts, again = (fingerprint(Program(m, sampler, m.targets), None) for m in models)
    assert None not in texts
    assert len(set(texts)) == len(texts)
    assert again == texts[1]


def test_likelihoods_of_all_rows_at_once():
    x, y = RNG_ROWS.normal(size=(2, 12))
    models = [
        kg.jax_model(
            lambda p: -0.5 * jnp.sum(p["a"] ** 2),
            {"a": np.zeros(2)},
            log_likelihood=lambda p, x, y: -0.5 * (y - p["a"][0] - p["a"][1] * x) ** 2,
            rows=(x, y),
            batched=batched,
        )
        for batched in (False, True)
    ]
    states = RNG_ROWS.normal(size=(3, 2))
    by_row, at_once = (m.gradient(states) for m in models)
    np.testing.assert_allclose(at_once, by_row, rtol=1e-12)
    walks = [
        kg.chain(kg.minibatch(m, 4), kg.samplers.SGLD(0.01), seed=1, initial=np.zeros(2)).step(5)
        for m in models
    ]
    np.testing.assert_allclose(*(w.posterior["a"] for w in walks), rtol=1e-9)
