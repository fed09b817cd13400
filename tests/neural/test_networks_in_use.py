"""Networks in simulations and models: walls, fixed numbers, other networks, loops by hand."""

import jax
import numpy as np
import pytest
from scipy import stats
from tests.laws.helpers import assert_mean, ess

import kinetograph as kg

RNG = np.random.default_rng(1)
X = RNG.normal(size=(40, 2))
Y = X @ np.array([[1.0], [-0.5]]) + 0.3 + 0.1 * RNG.normal(size=(40, 1))
DESIGN = np.column_stack([X, np.ones(40)])
LOWEST = np.linalg.lstsq(DESIGN, Y)[1][0] / 40


def linear(network=None, **options):
    settings = {"seed": 3, "max_steps": 20, "precision": "float64", **options}
    return kg.neural.Simulation([X, Y], network, **settings)


def test_walls_and_fixed_numbers():
    """Walls from 0 to 1 in the energy; equipartition counts the free parameters only."""
    nn = linear(
        prior_lower_boundary=0.0,
        prior_upper_boundary=1.0,
        prior_factor=10.0,
        fix_parameters={"layer0/bias": 0.5},
        inverse_temperature=10.0,
        step_width=0.02,
        friction_constant=5.0,
        max_steps=16_000,
        every_nth=10,
    )
    nn.parameters = w = np.array([1.3, -0.2])  # outside
    loss = np.mean((DESIGN @ [*w, 0.5] - Y[:, 0]) ** 2)
    assert nn.loss() == pytest.approx(loss, rel=1e-12)
    # Each wall has the width 0.01, and the potential (d + 0.01)^2 / 0.02 at the distance d.
    wall = 10 * (0.31**2 + 0.21**2) / 0.02
    assert nn.potential() == pytest.approx(loss + wall, rel=1e-9)
    data = nn.sample()
    draws = data.parameters[0, 100:]
    assert draws.shape[1] == 2
    assert -0.2 < draws.min() < 0.1
    assert draws.max() < 1.2
    energy = data.run_info["kinetic_energy"].to_numpy()
    assert_mean(energy, 2 / (2 * 10.0), what="kinetic energy")


@pytest.mark.slow
def test_a_function_with_equal_weights_makes_the_same_run():
    mlp = linear(hidden_dimension=[2], hidden_activation="tanh")
    shapes = [(2, 2), (2, 1), (2,), (1,)]
    start = [np.zeros(shape) for shape in shapes]

    def outputs(w, row):
        return jax.numpy.tanh(row @ w[0] + w[2]) @ w[1] + w[3]

    other = linear((outputs, start))
    other.parameters = mlp.parameters
    other.momenta = mlp.momenta
    np.testing.assert_allclose(other.sample().parameters, mlp.sample().parameters, rtol=1e-9)


def test_a_training_loop_by_hand_is_fit():
    trained, by_hand = linear(learning_rate=0.1, max_steps=5), linear()
    trained.fit()
    for _ in range(5):
        by_hand.parameters = by_hand.parameters - 0.1 * by_hand.gradients()
    np.testing.assert_allclose(by_hand.parameters, trained.parameters, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("schedule", ["exponential", "cosine"])
def test_a_rate_falls_to_a_hundredth(schedule):
    """Gradient descent by hand, with the rates of the schedule."""
    x, y = np.array([[1.0], [2.0], [-1.0]]), np.array([[0.5], [1.5], [0.0]])
    rates = {"schedule": schedule, "learning_rate": 0.1, "max_steps": 20}
    nn = kg.neural.Simulation([x, y], precision="float64", seed=1, **rates)
    w, ends = np.array(nn.parameters), nn.fit().parameters[0]
    part = np.arange(20) / 20
    falls = {"exponential": 0.01**part, "cosine": 0.01 + 0.495 * (1 + np.cos(np.pi * part))}
    for rate, end in zip(0.1 * falls[schedule], ends, strict=True):
        errors = x[:, 0] * w[0] + w[1] - y[:, 0]
        w = w - rate * 2 * np.array([(errors * x[:, 0]).mean(), errors.mean()])
        np.testing.assert_allclose(end, w, rtol=1e-6)


def test_a_metropolis_test_by_hand():
    """Random-walk Metropolis with loss(): the mean loss is L_min + N / (2 beta)."""
    nn, beta, rng = linear(), 10.0, np.random.default_rng(2)
    nn.parameters = w = np.linalg.lstsq(DESIGN, Y)[0][:, 0]
    here, losses = nn.loss(), []
    for _ in range(6000):
        nn.parameters = w + 0.35 * rng.normal(size=3)
        there = nn.loss()
        if np.log(rng.random()) < beta * (here - there):
            w, here = np.array(nn.parameters), there
        losses.append(here)
    assert_mean(np.array(losses), LOWEST + 3 / (2 * beta), what="the loss")


def hierarchy():
    """A 10-parameter network with learnt noise and a learnt scale of its weights."""
    x = np.linspace(-1, 1, 15)[:, None]
    y = np.sin(2 * x[:, 0]) + 0.1 * np.random.default_rng(3).normal(size=15)
    network = kg.neural.mlp([3], "tanh")
    layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    scale = kg.half_normal(2.0, name="scale")
    noise = kg.half_normal(1.0, name="noise")
    w = kg.normal(0.0, scale, shape=layout.size, name="w")
    outputs = kg.lift(lambda w: network.outputs(layout.tree(w), x)[:, 0])(w)
    likelihood = kg.observe(kg.data(y, "y"), kg.normal(outputs, noise))
    return kg.model(w, scale, noise), x, y, likelihood


def test_a_network_in_a_model_has_the_density_of_numpy():
    model, x, y, _ = hierarchy()
    w = np.random.default_rng(4).normal(size=10)
    mean = np.tanh(x @ w[:3][None] + w[6:9]) @ w[3:6] + w[9]
    wanted = (
        stats.norm.logpdf(w, 0, 0.7).sum()
        + stats.halfnorm.logpdf(0.7, scale=2)
        + stats.halfnorm.logpdf(0.2)
        + stats.norm.logpdf(y, mean, 0.2).sum()
        + np.log(0.7 * 0.2)  # the Jacobian of the free scale
    )
    got = model.log_prob({"w": w, "scale": 0.7, "noise": 0.2})
    assert got == pytest.approx(wanted, rel=1e-5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
def test_langevin_dynamics_and_nuts_agree_on_a_network_with_a_hierarchy():
    """On the noise, the scale of the weights, and predictions at two inputs."""
    model, *_ = hierarchy()
    nuts = kg.mcmc(model, draws=4000, chains=4, seed=1, progress=False)["posterior"]
    langevin = kg.mcmc(
        model,
        kg.samplers.BAOAB(0.01),  # where the noise is small, 0.02 is not stable
        draws=20_000,
        thin=20,
        warmup=2000,
        chains=4,
        seed=2,
        progress=False,
    )["posterior"]

    def values(posterior):
        w = posterior["w"].values
        yield "noise", np.log(posterior["noise"].values)
        yield "scale", np.log(posterior["scale"].values)
        for x in (-0.5, 0.9):
            units = np.tanh(x * w[..., :3] + w[..., 6:9])
            mean = (units * w[..., 3:6]).sum(-1) + w[..., 9]
            yield f"mean at {x}", mean
            yield f"square at {x}", mean**2

    for (what, wanted), (_, got) in zip(values(nuts), values(langevin), strict=True):
        error = wanted.std() / np.sqrt(ess(wanted))
        assert_mean(got, wanted.mean(), truth_error=error, what=what)
