"""Predictions of sampled networks, against NUTS and trained networks."""

import numpy as np
import pytest
from tests.laws.helpers import assert_mean, ess

import kinetograph as kg

SD = 0.3
X = np.linspace(-1.5, 1.5, 15)[:, None]
Y = np.sin(2 * X) + 0.2 * np.random.default_rng(3).normal(size=(15, 1))
NEW = np.array([-2.0, -0.5, 0.3, 1.0])
GAUSSIAN = kg.neural.Loss("normal", lambda z, t: 0.5 * (((z - t) / SD) ** 2).sum())


def reference() -> np.ndarray:
    """Predictions at new inputs by NUTS, whose model has kinetograph's own operations."""
    w1, w2, b1, b2 = (
        kg.normal(0.0, 1.0, shape=shape, name=name)
        for name, shape in (("w1", 3), ("w2", 3), ("b1", 3), ("b2", ()))
    )
    units = kg.tanh(kg.data(X) * w1[None, :] + b1[None, :])
    kg.observe(Y[:, 0], kg.normal(units @ w2 + b2, SD))
    tree = kg.mcmc(kg.model(w1, w2, b1, b2), draws=4000, chains=8, seed=2, progress=False)
    post = {name: tree["posterior"][name].values for name in ("w1", "w2", "b1", "b2")}
    units = np.tanh(NEW[:, None] * post["w1"][..., None, :] + post["b1"][..., None, :])
    return (units * post["w2"][..., None, :]).sum(-1) + post["b2"][..., None]


@pytest.mark.slow
def test_predictions_of_a_small_network_are_those_of_nuts():
    """Mean and square of predictions: weights themselves have permuted copies of the modes."""
    expected = reference()
    nn = kg.neural.Simulation(
        [X, Y],
        hidden_dimension=[3],
        hidden_activation="tanh",
        loss=GAUSSIAN,
        loss_scale="sum",
        prior=1.0,
        sampler="BAOAB",
        step_width=0.025,
        friction_constant=0.5,
        number_walkers=8,
        max_steps=100_000,
        every_nth=25,
        precision="float64",
        seed=1,
    )
    assert nn.num_parameters() == 10
    draws = nn.sample().parameters[:, 500:]
    simulated = nn.landscape.outputs(draws.reshape(-1, 10), NEW[:, None])
    simulated = np.asarray(simulated, float).reshape(*draws.shape[:2], 4)
    for i in range(4):
        for power in (1, 2):
            a, b = simulated[..., i] ** power, expected[..., i] ** power
            error = b.std() / np.sqrt(ess(b))
            assert_mean(a, b.mean(), truth_error=error, what=f"prediction {i}, power {power}")


@pytest.mark.slow
def test_sampled_networks_are_as_accurate_as_trained_ones():
    made = kg.neural.datasets.two_clusters(1200, noise=0.05, seed=1)
    x, y = made.x, np.ravel(made.y)
    order = np.random.default_rng(0).permutation(len(x))
    train, test = order[:200], order[200:]
    one = {"members": 1, "draws": 0, "activation": "tanh", "prior": 3.0, "seed": 1}
    one |= {"epochs": 20_000, "patience": 4000}  # an epoch is one batch
    trained = kg.neural.EnsembleClassifier((), **one).fit(x[train], y[train])
    settings = {**one, "members": 4, "draws": 50, "thin": 20, "warmup": 2000}
    sampled = kg.neural.EnsembleClassifier((), **settings).fit(x[train], y[train])
    scores = [model.score(x[test], y[test]) for model in (trained, sampled)]
    assert scores[0] > 0.7
    assert scores[1] >= scores[0] - 0.01
