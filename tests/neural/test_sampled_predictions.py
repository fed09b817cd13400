"""Predictions of sampled networks, against NUTS, the prior's draws, and trained networks."""

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


def weighted(x, y, new, units, count, size=200_000):
    """Means of m and of m^2 + sd^2 at new inputs, with their errors, from draws of the prior.

    The network has one hidden layer of tanh and the outputs m and s, with sd = log(1 + exp(s)).
    The draws have the likelihood as weight, so they see all modes.
    """
    rng, points, rows = np.random.default_rng(1), np.concatenate([x, new]), len(x)
    weights, values = [], []
    for _ in range(count // size):
        shapes = ((1, units), (units, 2), (1, units), (1, 2))
        w1, w2, b1, b2 = (rng.normal(size=(size, *shape)) for shape in shapes)
        outputs = np.tanh(points @ w1 + b1) @ w2 + b2
        m, sd = outputs[..., 0], np.logaddexp(0, outputs[..., 1])
        z = (y - m[:, :rows]) / sd[:, :rows]
        weights.append(np.exp(-0.5 * (z * z).sum(1)) / sd[:, :rows].prod(1))
        values.append(np.concatenate([m, m * m + sd * sd], 1).reshape(size, 2, -1)[..., rows:])
    share = np.concatenate(weights) / np.sum(weights)
    drawn = np.concatenate(values)
    mean = np.einsum("i,ijk", share, drawn)
    return mean, np.sqrt(np.einsum("i,ijk", share**2, (drawn - mean) ** 2))


@pytest.mark.slow
@pytest.mark.parametrize("sampler", [None, kg.samplers.NUTS()], ids=["default", "NUTS"])
def test_predictions_of_an_ensemble_are_those_of_the_posterior(sampler):
    """Few rows, so that the posterior is wide and its members have to move."""
    x = np.linspace(-1, 1, 5)[:, None] * np.sqrt(2)  # of mean 0 and standard deviation 1
    y = np.sin(1.2 * np.sqrt(2) * x[:, 0]) + 0.5 * np.random.default_rng(5).normal(size=5)
    y = (y - y.mean()) / y.std()
    new = np.array([[0.2], [0.4], [0.7]])
    settings = {"members": 8, "draws": 1000, "thin": 20, "warmup": 2000, "epochs": 100, "seed": 1}
    if sampler is not None:
        settings |= {"sampler": sampler, "thin": 2}
    model = kg.neural.EnsembleRegressor((2,), activation="tanh", prior=1.0, **settings).fit(x, y)
    exact, error = weighted(x, y, new, 2, 4_000_000)
    means, sds = model._normals(model._outputs(model._inputs(new)))
    for i in range(3):
        for j, draws in enumerate((means, means**2 + sds**2)):
            what = f"prediction {i}, power {j + 1}"
            assert_mean(draws[..., i], exact[j, i], truth_error=error[j, i], what=what)
    mean, sd = model.predict(new, return_std=True)
    np.testing.assert_allclose(mean, exact[0], atol=0.05)
    np.testing.assert_allclose(sd, np.sqrt(exact[1] - exact[0] ** 2), rtol=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "noise", "hidden", "least"),
    [("two_clusters", 0.05, (), 0.7), ("spiral", 0.3, (20,), 0.6)],
)
def test_sampled_networks_are_as_accurate_as_trained_ones(data, noise, hidden, least):
    made = getattr(kg.neural.datasets, data)(1200, noise=noise, seed=1)
    x, y = made.x, np.ravel(made.y)
    order = np.random.default_rng(0).permutation(len(x))
    train, test = order[:200], order[200:]
    one = {"members": 1, "draws": 0, "activation": "tanh", "prior": 3.0, "seed": 1}
    one |= {"epochs": 20_000, "patience": 4000}  # an epoch is one batch
    trained = kg.neural.EnsembleClassifier(hidden, **one).fit(x[train], y[train])
    settings = {**one, "members": 4, "draws": 50, "thin": 20, "warmup": 2000}
    sampled = kg.neural.EnsembleClassifier(hidden, **settings).fit(x[train], y[train])
    scores = [model.score(x[test], y[test]) for model in (trained, sampled)]
    assert scores[0] > least
    assert scores[1] >= scores[0] - 0.01


@pytest.mark.slow
def test_the_mean_of_simulated_predictions_is_as_accurate_as_training():
    """The spiral, at the inverse temperature of its posterior."""
    made = kg.neural.datasets.spiral(1200, noise=0.3, seed=1)
    order = np.random.default_rng(0).permutation(len(made.x))
    x, y = made.x[order] / made.x.std(0), np.ravel(made.y)[order]
    nn = kg.neural.Simulation(
        [x[:200], y[:200]],
        hidden_dimension=[20],
        hidden_activation="tanh",
        output_activation="tanh",
        loss_scale="sum",
        prior=3.0,
        optimizer="adam",
        learning_rate=0.02,
        step_width=0.02,
        max_steps=4000,
        every_nth=20,
        seed=1,
    )
    nn.fit()
    trained = np.mean(np.sign(nn.predict(x[200:])[:, 0]) == y[200:])
    nn.set_options(max_steps=20_000)
    mean = nn.predict(x[200:], trajectory=nn.sample()).mean
    sampled = np.mean(np.sign(mean[:, 0]) == y[200:])
    assert trained > 0.9
    assert sampled >= trained - 0.01
