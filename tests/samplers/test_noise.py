"""Random arrays of a step by name."""

import inspect
from functools import partial

import jax
import numpy as np
import pytest
from tests.bits.test_cipher import plain_threefry

import kinetograph as kg
from kinetograph.bits.source import unit
from kinetograph.graph.inputs import placeholder
from kinetograph.graph.precision import x64
from kinetograph.samplers.noise import NamedNoise, _numbers

PARAMETERS = {
    "gamma": dict(alpha=2.0),
    "inverse_gamma": dict(alpha=2.0),
    "negative_binomial": dict(size=2.0, prob=0.5),
    "beta": dict(shape1=1.0, shape2=2.0),
    "student": dict(df=3.0),
    "dirichlet": dict(alpha=np.ones(3)),
    "multivariate_normal": dict(mean=np.zeros(3), cov=np.eye(3)),
    "integers": dict(low=0, high=5),
    "poisson": dict(rate=2.0),
    "binomial": dict(size=5, prob=0.5),
    "categorical": dict(prob=[0.5, 0.5]),
    "choice": dict(x=4),
    "ar": dict(rho=[0.5], dim=3),
    "beta_binomial": dict(size=5, alpha=1.0, beta=2.0),
    "chi_squared": dict(df=3.0),
    "dirichlet_multinomial": dict(size=4, alpha=np.ones(3)),
    "discrete_uniform": dict(min=0, max=4),
    "f": dict(df1=3.0, df2=4.0),
    "geometric": dict(prob=0.5),
    "half_student": dict(df=3.0),
    "hurdle_gamma": dict(alpha=2.0, zero=0.2),
    "hurdle_lognormal": dict(zero=0.2),
    "hurdle_negative_binomial": dict(size=2.0, prob=0.5, zero=0.2),
    "hurdle_poisson": dict(rate=2.0, zero=0.2),
    "hypergeometric": dict(m=3, n=4, k=2),
    "markov_chain": dict(initial=[0.5, 0.5], transition=np.full((2, 2), 0.5), length=3),
    "multinomial": dict(size=4, prob=np.full(3, 1 / 3)),
    "multivariate_student": dict(df=3.0, mean=np.zeros(3), cov=np.eye(3)),
    "ordered_logistic": dict(eta=0.0, cutpoints=[-1.0, 1.0]),
    "ordered_probit": dict(eta=0.0, cutpoints=[-1.0, 1.0]),
    "pareto": dict(a=2.0, b=1.0),
    "random_walk": dict(dim=3),
    "wald": dict(mu=1.0, lam=2.0),
    "weibull": dict(alpha=2.0),
    "zero_inflated_beta": dict(shape1=1.0, shape2=2.0, zero=0.2),
    "zero_inflated_negative_binomial": dict(size=2.0, prob=0.5, zero=0.2),
    "zero_inflated_poisson": dict(rate=2.0, zero=0.2),
    "zero_sum_normal": dict(dim=3),
}
OF_MATRICES = {"lkj_correlation", "lkj_cholesky", "matrix_normal", "wishart"}
KINDS = [
    name
    for name, method in inspect.getmembers(NamedNoise, inspect.isfunction)
    if not name.startswith("_") and "like" in inspect.signature(method).parameters
]


def made(dtype=np.float64):
    words = [placeholder(shape, np.uint32).node for shape in ((4,), ())]
    return NamedNoise(*words, np.dtype(dtype))


def test_what_takes_like():
    draws = kg.RandomStreams.__mro__[1:]
    every = {name for kind in draws for name in vars(kind) if not name.startswith("_")}
    assert {*KINDS} == (every | {"sphere"}) - {"permutation"}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in OF_MATRICES])
def test_the_shape_is_that_of_an_array(kind):
    like, noise = np.zeros((2, 3)), made(np.float32)
    given = {"name": "a"} if kind == "sphere" else PARAMETERS.get(kind, {})
    found = getattr(noise, kind)(**given, like=like)
    assert found.shape == (2, 3)
    assert found.dtype in (np.float32, np.int64, bool)  # that of the position, where real
    if kind != "sphere":
        assert getattr(kg.RandomStreams(1), kind)(**given, like=like).shape == (2, 3)
    with pytest.raises(TypeError, match="give like= or shape=, not both"):
        getattr(noise, kind)(**given, like=like, shape=3)


def test_standard_noise_has_the_type_of_the_position():
    noise = made(np.float32)
    assert noise("a", like=np.zeros(3)).shape == (3,)
    assert {noise("a").dtype, noise.normal().dtype, noise.uniform().dtype} == {np.dtype("f4")}
    assert noise.normal(dtype="float64").dtype == float


@pytest.mark.parametrize("count", [2, 7, 16_385])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_are_those_of_the_plain_cipher(dtype, count):
    """Two numbers of a block: the upper bits of words 0 and 2, in two halves of the array."""
    state, row = [1, 2, 3, 4, 5, 6], 7
    numbers = partial(_numbers, convert=unit, shape=(count,), dtype=np.dtype(dtype))
    with x64():
        got = jax.jit(numbers)(np.array(state, np.uint32), np.uint32(row))
    tag = int.from_bytes(b"nois", "big")
    half, bits = (count + 1) // 2, 53 if dtype == np.float64 else 24
    assert got.shape == (count,)
    for i in {0, 1, half - 1, half, count - 1}:
        words = plain_threefry(state[:4], [tag + row, i % half, 5, 6])[i // half * 2 :]
        assert got[i] == ((words[0] << 32 | words[1]) >> 64 - bits) / 2**bits


@pytest.mark.filterwarnings("error:noise:")
def test_one_number_for_all_coordinates_is_warned_of():
    class Walk(kg.Sampler):
        def __init__(self, proposed):
            self.proposed = proposed

        def step(self, at):
            return self.evaluate(self.proposed(self, at.q))

    def run(proposed, size=3):
        model = kg.model(kg.normal(0, 1, shape=size))
        settings = {"draws": 2, "warmup": 0, "chains": 1, "progress": False}
        kg.mcmc(model, sampler=Walk(proposed), **settings)

    for proposed in (
        lambda self, q: q + self.noise("R"),
        lambda self, q: (0.5 * q - 0.1 * self.noise("R")) - 0.2,
    ):
        with pytest.warns(kg.KinetographWarning, match="added to all 3 coordinates"):
            run(proposed)
    run(lambda self, q: q + self.noise("R"), size=1)
    run(lambda self, q: q + self.noise("R", like=q))
    run(lambda self, q: q + self.noise("R") * self.noise.sphere("d", like=q))
