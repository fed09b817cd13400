"""Kernels in JAX, of samplers with a method `kernel`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.kernels import Info, Statistic, TransitionKernel


class BoxKernel(TransitionKernel):
    """Metropolis with proposals q + U(-h, h)."""

    statistics = (Statistic("lp", float, "log density"), Statistic("ratio", float, "acceptance"))
    takes_gradient = False

    def init(self, moment, position):
        return {"made": jnp.int32(0)}

    def step(self, moment, state):
        old, h = state.position, moment.hyper["step_size"]
        u = moment.noise.uniforms(0, old.q.size + 1)
        new, trips = moment.density.evaluate(old.q + h * (2 * u[1:] - 1), state.trips)
        ratio = jnp.exp(jnp.minimum(new.log_density - old.log_density, 0))
        new = jax.tree.map(lambda a, b: jnp.where(u[0] < ratio, a, b), new, old)
        info = Info(ratio, jnp.int32(1), jnp.array(False), self.recorded(new.log_density, ratio))
        slots = {"made": state.slots["made"] + 1}
        return state._replace(position=new, slots=slots, trips=trips), info

    def recorded(self, *values):
        return jnp.stack(values)


class WithoutDensity(BoxKernel):
    statistics = BoxKernel.statistics[1:]


class WithoutRatio(BoxKernel):
    def recorded(self, density, ratio):
        return density[None]


class Box(kg.Sampler):
    step_size = kg.hyper(1.0, positive=True)
    target_acceptance = kg.hyper(0.4, above=0, below=1)
    tunes = ("step_size",)
    made_by = BoxKernel

    def kernel(self, space):
        return self.made_by()


def model():
    return kg.model(x=kg.normal([1.0, -2.0], 3.0, name="x"))


def test_warm_up_tunes_a_kernel_that_samples_the_target():
    tree = kg.mcmc(model(), Box(), draws=20_000, chains=4, seed=1, progress=False)
    x = tree.posterior["x"].values
    for i, mean in enumerate([1.0, -2.0]):
        assert kg.laws.mean_test(x[..., i], mean).passed(1e-7)
        assert kg.laws.mean_test((x[..., i] - mean) ** 2, 9.0).passed(1e-7)
    assert abs(float(tree.sample_stats["ratio"].mean()) - 0.4) < 0.05
    density = -0.5 * (((x - [1.0, -2.0]) / 3) ** 2).sum(-1) - np.log(2 * np.pi * 9)
    assert np.allclose(tree.sample_stats["lp"], density)


def test_a_kernel_continues_and_is_stepped_by_hand():
    whole = kg.mcmc(model(), Box(), draws=30, warmup=20, chains=2, seed=1, progress=False)
    first = kg.mcmc(model(), Box(), draws=10, warmup=20, chains=2, seed=1, progress=False)
    both = kg.extra_samples(first, model(), 20, sampler=Box(), progress=False)
    assert np.array_equal(both.posterior["x"], whole.posterior["x"])
    chain = kg.chain(model(), Box(2.0, tune=()), seed=1)
    chain.step(7)
    assert int(chain.slots["made"]) == 7


def test_defaults_of_a_kernel():
    kernel = BoxKernel()
    assert (kernel.turns, kernel.moves_by_values, kernel.ends_with_value) == (None, True, False)
    assert TransitionKernel.init(kernel, None, None) == {}


@pytest.mark.parametrize(
    ("kind", "settings", "error", "message"),
    [
        (WithoutDensity, {}, kg.ModelError, r"Box: .* kg.kernels.Statistic\('lp', .* got ratio "),
        (WithoutRatio, {}, kg.ShapeError, r"Box: the statistics .* \(2,\), got shape \(1,\)"),
        (
            BoxKernel,
            {"step_size": lambda i: 1 / (i + 1)},
            TypeError,
            "Box: step_size must be a number, got a function: Box does not take schedules",
        ),
    ],
)
def test_mistakes_of_a_kernel(monkeypatch, kind, settings, error, message):
    monkeypatch.setattr(Box, "made_by", kind)
    with pytest.raises(error, match=message):
        kg.mcmc(model(), Box(tune=(), **settings), draws=5, seed=1, progress=False)
