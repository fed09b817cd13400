"""Models in other processes: pickled, copied, and sampled to the same bits."""

import copy
import pickle
import subprocess
import sys

import jax
import numpy as np
import pytest

import kinetograph as kg


def halved(value):
    return value / 2


def build():
    """A model with every kind of term and of names.

    Terms are compressed, plain, factors, loops, and terms with unknown bounds.
    """
    rng = np.random.default_rng(0)
    mu, tau = kg.normal(0, 1), kg.half_normal(1)
    theta = kg.normal(mu, tau, shape=3, dims="school")
    low = kg.uniform(mu, 10.0, name="low")
    index = kg.data(rng.integers(0, 3, 40))
    y = kg.data(rng.normal(size=40), dims="day")
    kg.observe(y, kg.normal(theta[index], 1.0))
    kg.observe(rng.poisson(3, 5), kg.poisson(low + 12.0), name="counts")
    kg.factor(kg.log_density(kg.normal(0, 1), theta.sum()))
    (level,) = kg.while_loop(lambda v: v < 5.0, lambda v: v + tau, [tau])
    days = np.arange(40).astype("M8[D]")
    return kg.model(
        mu, level=level, theta=theta, factors=[-level], coords={"school": list("äbc"), "day": days}
    )


@pytest.mark.parametrize("way", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_is_the_same_model(way):
    model = build()
    twin = way(model)
    assert repr(twin) == repr(model)
    assert twin.names == model.names
    assert [twin.dims(n) for n in twin.targets] == [model.dims(n) for n in model.targets]
    for dim, labels in model.coords.items():
        np.testing.assert_array_equal(twin.coords[dim], labels)
    assert str(twin.plot()) == str(model.plot())
    assert not set(twin.component.nodes) & set(model.component.nodes)
    again = way(twin)
    at = np.linspace(-0.5, 0.5, model.free_size)
    np.testing.assert_array_equal(again.gradient(at), model.gradient(at))


def of_derived_families():
    """Derived distributions, which are found again by their components."""
    mu, z = kg.normal([-1.0, 1.0], 1, name="mu"), kg.categorical([0.3, 0.7], shape=3, name="z")
    w = kg.normal(0, 1, truncation=(0, None), name="w")
    kg.observe([0.1, 0.2, 0.9], kg.normal(mu[z], w), name="y")
    parts = kg.normal(mu[0], 1), kg.student(3, mu[1], 1)
    kg.observe([1.0, 2.0], kg.mixture(*parts, weights=[0.5, 0.5]), name="v")
    kg.observe([1.0, 2.0], kg.mixture(kg.normal(mu, 1), weights=[0.5, 0.5]), name="u")
    kg.observe([1.0, 3.0], kg.gamma(2, w, censoring=(None, 3.0)), name="t")
    kg.observe([[1.0, 3.0]], kg.gamma(2, w, censoring="interval"), name="s")
    x = kg.joint(kg.normal(mu[0], 1), kg.gamma(2, 1), name="x")
    return kg.model(mu, w, x)


@pytest.mark.slow
def test_families_made_of_others(tmp_path):
    model = of_derived_families()
    at = np.linspace(-0.5, 0.5, model.free_size)
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.log_prob(at), model.log_prob(at))
    path = tmp_path / "model.kg"
    kg.save_graph(path, {model.name(n): kg.Array(n) for n in model.targets})
    code = "import kinetograph as kg, sys; g = kg.load_graph(sys.argv[1]); "
    code += "m = kg.model(*g.values()); "
    code += "print(repr(float(m.log_prob([float(a) for a in sys.argv[2:]]))))"
    made = subprocess.run(
        [sys.executable, "-c", code, str(path), *map(repr, map(float, at))],
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(made.stdout) == pytest.approx(float(model.log_prob(at)), rel=1e-12)


def test_a_distribution_of_ones_own_is_not_written(tmp_path):
    law = kg.distribution(lambda x, m: -abs(x - m), name="tent")
    for x in (law(0.0, name="x"), kg.mixture(law(0.0), law(1.0), weights=[1, 1], name="x")):
        with pytest.raises(kg.KinetographError, match=r"tent was made by kg.distribution"):
            kg.save_graph(tmp_path / "x.kg", x)
        assert not (tmp_path / "x.kg").exists()


GRADIENT = """
import pickle, sys
model, at = pickle.load(sys.stdin.buffer)
pickle.dump(model.gradient(at), sys.stdout.buffer)
"""

DRAWS = """
import pickle, sys
import kinetograph as kg
model, settings = pickle.load(sys.stdin.buffer)
tree = kg.mcmc(model, **settings)
draws = {k: v.values for k, v in tree["posterior"].dataset.data_vars.items()}
pickle.dump(draws, sys.stdout.buffer)
"""


def in_another_process(program, *given):
    done = subprocess.run(
        [sys.executable, "-c", program], input=pickle.dumps(given), capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    return pickle.loads(done.stdout)


@pytest.mark.slow
def test_another_process_computes_the_same_bits():
    model = build()
    at = np.linspace(-0.5, 0.5, model.free_size)
    np.testing.assert_array_equal(in_another_process(GRADIENT, model, at), model.gradient(at))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
def test_another_process_draws_the_same_bits():
    model = build()
    settings = {"draws": 20, "warmup": 20, "chains": 1, "seed": 3, "progress": False}
    tree = kg.mcmc(model, **settings)
    draws = in_another_process(DRAWS, model, settings)
    assert list(draws) == list(tree["posterior"].dataset.data_vars)
    for name, values in draws.items():
        np.testing.assert_array_equal(values, tree["posterior"][name].values)


@pytest.mark.parametrize("used", [True, False])
def test_other_forms_of_unknowns_are_copied(used):
    x = kg.half_normal(1, name="x")
    if used:
        kg.observe([0.3, 1.2], kg.gamma(2.0, x))
    else:
        x.node.form("log")  # without a reference
    kg.observe([0.3, -1.2], kg.normal(0.0, x))
    model = kg.model(x)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.log_prob([0.1]) == model.log_prob([0.1])


def test_labels_of_pandas_are_pickled():
    pd = pytest.importorskip("pandas")
    y = kg.data(pd.Series([3.0, 4.0], index=pd.Index(["Oslo", "Bonn"], name="city")))
    b = kg.normal(0, 1)
    kg.observe(y, kg.normal(b, 1))
    twin = pickle.loads(pickle.dumps(kg.model(b)))
    assert list(twin.coords["city"]) == ["Oslo", "Bonn"]


def test_functions_are_pickled_as_python_can():
    x = kg.normal(0, 1)
    density = kg.lift(halved)(x)
    twin = pickle.loads(pickle.dumps(kg.model(x, factors=density)))
    assert twin.log_prob([0.5]) == kg.model(x, factors=density).log_prob([0.5])
    hidden = kg.model(x, factors=kg.lift(lambda v: v * 2)(x))
    with pytest.raises(kg.KinetographError, match=r"pickling a model: .* must be importable"):
        pickle.dumps(hidden)
    assert copy.deepcopy(hidden).log_prob([0.5]) == hidden.log_prob([0.5])


def test_arrays_alone():
    mu = kg.normal(0, 1)
    assert copy.deepcopy({"a": [mu]})["a"][0].node is mu.node
    with pytest.raises(TypeError, match=r"mu cannot be pickled alone: .* kg.save_graph"):
        pickle.dumps(mu)


@pytest.mark.parametrize(
    "function",
    [jax.nn.relu, jax.numpy.linalg.norm, jax.jit(jax.numpy.sinc)],
    ids=["relu", "norm", "jit"],
)
def test_functions_that_a_decorator_has_wrapped_are_pickled(function):
    x = kg.placeholder((2,), name="x")
    f = kg.compile([x], kg.lift(function)(x))
    again = pickle.loads(pickle.dumps(f))
    np.testing.assert_array_equal(again([-0.5, 2.0]), f([-0.5, 2.0]))
