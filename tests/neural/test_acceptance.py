"""Laws of sampled networks: moments, orders of schemes, virials, walls, chains of operations."""

import jax
import numpy as np
import pytest
from tests.laws.helpers import assert_mean

import kinetograph as kg
from kinetograph import laws

RNG = np.random.default_rng(7)
X = RNG.normal(size=(30, 2)) * [1.0, 0.5]
Y = X @ [[0.7], [-0.4]] + 0.2 + 0.3 * RNG.normal(size=(30, 1))
DESIGN = np.column_stack([X, np.ones(30)])
STIFFNESS = 2 * DESIGN.T @ DESIGN / 30  # of the mean loss
BEST = np.linalg.lstsq(DESIGN, Y, rcond=None)[0].ravel()


def simulation(data=(X, Y), **options):
    settings = {"seed": 1, "precision": "float64", "every_nth": 1, **options}
    return kg.neural.Simulation(list(data), **settings)


def _gla1(h, k, gamma):
    a = np.exp(-gamma * h)
    return (1 + a) ** 2 / (2 * (1 + a) - h * h * k)


def _by_law(scheme):
    return lambda h, k, gamma: k * laws.oscillator(scheme, h, friction=gamma, stiffness=k).q2


# The stationary beta k <q^2> of an oscillator of stiffness k, at a step size and a friction.
SQUARES = {
    "SGLD": lambda h, k, gamma: 1 / (1 - h * k / 2),
    "GLA1": _gla1,
    "GLA2": lambda h, k, gamma: 1 / (1 - h * h * k / 4),
    "SGHMC": _by_law("SGHMC"),
    "UBU": _by_law("UBU"),
    **dict.fromkeys(
        ("LM", "BAOAB", "HMC", "GHMC", "MALA", "MAMS", "NUTS", "RandomWalk"),
        lambda h, k, gamma: 1.0,
    ),
    **dict.fromkeys(("SGNHT", "CCAdL", "MCLMC"), lambda h, k, gamma: 1.0),
}
# Errors that these samplers have at the step sizes of the test, and that vanish with the step size.
ERRORS = dict.fromkeys(("SGNHT", "CCAdL", "MCLMC"), 0.005)


def test_every_sampler_has_a_law():
    assert set(SQUARES) == set(kg.neural.Simulation().get_samplers())


@pytest.mark.parametrize("scale", ["mean", "sum", 4.0])
def test_the_posterior_of_normal_noise_has_its_covariance(scale):
    """The inverse Hessian of beta U is sigma^2 (X^T X)^-1 with beta = n / (2 sigma^2 s)."""
    sigma, s = 0.3, {"mean": 1.0, "sum": 30.0}.get(scale, scale)
    beta = 30 / (2 * sigma**2 * s)
    nn = simulation(loss_scale=scale, inverse_temperature=beta, max_steps=2)
    covariance = np.linalg.inv(beta * nn.hessians())
    exact = sigma**2 * np.linalg.inv(DESIGN.T @ DESIGN)
    np.testing.assert_allclose(covariance, exact, rtol=1e-9)
    data = nn.sample()
    for attrs in (data.attrs, data.to_tree().attrs):
        assert {name: attrs[name] for name in ("beta", "n", "scale")} == {
            "beta": beta,
            "n": 30,
            "scale": s,
        }


@pytest.mark.slow
@pytest.mark.parametrize("scaled", [False, True], ids=["mean", "sum"])
@pytest.mark.parametrize("sampler", SQUARES)
def test_moments_of_the_linear_network(sampler, scaled):
    """In each eigenvector of the Hessian the law of an oscillator; beta is 1 or n.

    The covariance of eigenvectors is 0. The mean loss is L_min + sum of beta k <q^2> / (2 beta s).
    """
    scale, beta = (30.0, 1.0) if scaled else (1.0, 30.0)
    values, vectors = np.linalg.eigh(scale * STIFFNESS)
    if sampler == "RandomWalk":
        h = 1.5 / np.sqrt(beta * values[-1])
    elif sampler in ("SGLD", "LM", "MALA"):
        h = 0.5 / values[-1]
    elif sampler == "MCLMC":
        h = 0.3 / np.sqrt(beta * values[-1])
    else:
        h = 0.8 / np.sqrt(values[-1])
    gamma = np.sqrt(values[0])
    data = simulation(
        sampler=sampler,
        step_width=h,
        friction_constant=gamma,
        loss_scale=scale,
        inverse_temperature=beta,
        hamiltonian_dynamics_time=4 * h,
        number_walkers=4,
        max_steps=200_000 if sampler in ERRORS else 20_000,
    ).sample()
    q = (data.parameters[:, 500:] - BEST) @ vectors
    error, exact = ERRORS.get(sampler, 0.0), [SQUARES[sampler](h, k, gamma) for k in values]
    for i, k in enumerate(values):
        assert_mean(q[..., i], 0.0, what=f"{sampler}: mean {i}")
        square = beta * k * q[..., i] ** 2
        assert_mean(square, exact[i], truth_error=error, what=f"{sampler}: square {i}")
        for j in range(i):
            assert_mean(q[..., i] * q[..., j], 0.0, what=f"{sampler}: product {i}, {j}")
    losses = data.run_info["loss"].to_numpy().reshape(-1, 4).T[:, 500:]
    lowest = np.mean((DESIGN @ BEST - Y[:, 0]) ** 2)
    excess = 2 * beta * scale * (losses - lowest)
    assert_mean(excess, sum(exact), truth_error=3 * error, what=f"{sampler}: loss")


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_the_error_of_an_average_falls_as_the_root_of_the_number_of_rows(precision):
    """The slope is -0.5 up to 0.05."""
    options = {"step_width": 0.5, "number_walkers": 4, "max_steps": 400_000, "precision": precision}
    losses = simulation(**options).sample().run_info["loss"].to_numpy().reshape(-1, 4).T
    assert laws.error_law(losses[:, 500:], tolerance=0.05).passed()


@pytest.mark.slow
@pytest.mark.parametrize("beta", [1.0, 30.0])
def test_a_covariance_controlled_thermostat_of_batches(beta):
    """The moments of the posterior from batches of a third of the rows, up to an error of h."""
    scale = 30.0 if beta == 1 else 1.0
    h = 0.1 / np.sqrt(scale)
    sampler = kg.samplers.CCAdL(
        h, thermal_mass=10.0 / beta, covariance="full", inverse_temperature=beta
    )
    data = simulation(
        sampler=sampler,
        batch_size=10,
        shuffle="random",
        loss_scale=scale,
        number_walkers=4,
        max_steps=40_000,
        every_nth=4,
    ).sample()
    values, vectors = np.linalg.eigh(scale * STIFFNESS)
    q = (data.parameters[:, 1000:] - BEST) @ vectors
    for i, k in enumerate(values):
        assert_mean(q[..., i], 0.0, what=f"mean {i}")
        square = beta * k * q[..., i] ** 2
        assert_mean(square, 1.0, truth_error=0.01, what=f"square {i}")
        assert square.mean() == pytest.approx(1.0, abs=0.1)


def clusters(**options):
    """A network whose loss is not quadratic, with a prior that confines its parameters."""
    made = kg.neural.datasets.two_clusters(20, noise=0.1, seed=1)
    settings = {"output_activation": "tanh", "prior": 1.0, "inverse_temperature": 2.0}
    return simulation((made.x / 2, made.y), **settings | options)


@pytest.mark.parametrize(
    "sampler", ["SGLD", *(pytest.param(n, marks=pytest.mark.slow) for n in ("GLA1", "GLA2"))]
)
def test_virial_identities_hold_at_any_step(sampler):
    """From the rows of a run: V = <w g> is determined by gradients or moves of the same steps."""
    h, beta, gamma = 0.3, 2.0, 1.0
    nn = clusters(
        sampler=sampler, step_width=h, friction_constant=gamma, number_walkers=4, max_steps=20_000
    )
    data = nn.sample()
    columns = data.run_info[["virial", "scaled_gradient"]].to_numpy().reshape(-1, 4, 2)
    virial, slopes = columns.transpose(2, 1, 0)
    if sampler == "SGLD":
        difference = 2 * virial - slopes**2 / (2 * h)
        exact = nn.num_parameters() / beta
    else:
        moves = np.sum((np.diff(data.parameters, axis=1) / h) ** 2, -1)
        factor = 0.5 * (1 + np.exp(-gamma * h)) if sampler == "GLA1" else 1.0
        difference, exact = 2 * virial[:, :-1] - factor * moves, 0.0
    assert_mean(difference[:, 500:], exact, what=f"{sampler}: virial")


@pytest.mark.slow
@pytest.mark.parametrize("h", [0.1, 0.3, 0.6])
def test_the_virial_identity_of_baoab(h):
    """The momenta within a step follow from the positions, and gradients are NumPy's."""
    gamma = 1.0
    many = {"number_walkers": 64, "chain_method": "batch", "max_steps": 6000}
    nn = clusters(step_width=h, friction_constant=gamma, **many)
    starts, momenta = np.array(nn.parameters)[:, None], np.array(nn.momenta)
    q = np.concatenate([starts, nn.sample().parameters], axis=1)
    x, y = (np.asarray(a) for a in nn.dataset)
    design = np.column_stack([x, np.ones(len(x))])
    z = np.tanh(q @ design.T)
    g = (2 * (z - y.ravel()) * (1 - z * z)) @ design / len(x) + q  # of a prior of sd 1
    kicked, noisy = np.empty((2, *g[:, 1:].shape))
    for k in range(kicked.shape[1]):
        kicked[:, k] = momenta - 0.5 * h * g[:, k]
        noisy[:, k] = 2 / h * (q[:, k + 1] - q[:, k]) - kicked[:, k]
        momenta = noisy[:, k] - 0.5 * h * g[:, k + 1]
    np.testing.assert_allclose(momenta, nn.momenta, rtol=1e-7, atol=1e-7)
    a = np.exp(-gamma * h)
    before, after = np.sum(kicked**2, -1), np.sum(noisy**2, -1)
    exact = (1 - a) / (4 * (1 + a)) * ((1 + 2 * a) * before + after) + 0.5 * (a * before + after)
    difference = np.sum(q * g, -1)[:, 1:] - exact
    assert_mean(difference[:, 500:], 0.0, what="BAOAB: virial")


def errors_of(sampler, column, friction=1.0):
    """A function of the step size: draws of a column of records."""

    def draws(h):
        nn = clusters(
            sampler=sampler,
            step_width=h,
            friction_constant=friction,
            number_walkers=4,
            max_steps=100_000,
            every_nth=2,
        )
        return nn.sample().run_info[column].to_numpy().reshape(-1, 4).T[:, 1000:]

    return draws


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sampler", "column", "order", "steps", "friction"),
    [
        ("BAOAB", "kinetic_energy", 2, (0.3, 0.4, 0.5, 0.6), 1.0),
        ("GLA2", "virial", 2, (0.3, 0.4, 0.5, 0.6), 1.0),
        ("SGLD", "virial", 1, (0.1, 0.15, 0.2, 0.3), 1.0),
        ("GLA1", "virial", 1, (0.06, 0.09, 0.12, 0.16), 3.0),  # an error of friction h / 2
    ],
)
def test_orders_of_schemes(sampler, column, order, steps, friction):
    """Errors of averages that are N / (2 beta) under the target."""
    draws = errors_of(sampler, column, friction)
    study = laws.step_error_study(draws, steps, 3 / (2 * 2.0), expected=order, tolerance=0.5)
    assert study.passed(), study


@pytest.mark.slow
def test_the_virial_of_baoab_is_nearly_exact():
    """Its error, of order h^2, is here below the one of GLA2 by more than a factor of five."""
    for h in (0.3, 0.4, 0.5):
        error, larger = (abs(errors_of(s, "virial")(h).mean() - 0.75) for s in ("BAOAB", "GLA2"))
        assert error < larger / 5, h


def test_walls_and_tethers():
    """The walls are soft: their energy at a distance of 0.2 is much larger than 1 / beta."""
    walls = {"prior_lower_boundary": 0.0, "prior_upper_boundary": 1.0, "prior_factor": 10.0}
    nn = simulation(
        sampler="BAOAB",
        step_width=0.01,
        number_walkers=2,
        max_steps=4000,
        inverse_temperature=10.0,
        prior_power=1.0,
        **walls,
    )
    nn.parameters = np.full(3, 0.5)
    w = nn.sample().parameters
    assert w.min() > -0.2
    assert w.max() < 1.2
    assert w.min() < 0.1  # the best bias and weights are not all inside
    centre = np.array([2.0, 2.0, 2.0])
    tethered = simulation(
        sampler="BAOAB",
        step_width=0.01,
        max_steps=4000,
        prior=lambda tree: -5e3 * sum(((v - 2.0) ** 2).sum() for v in jax.tree.leaves(tree)),
        inverse_temperature=10.0,
    )
    tethered.parameters = centre
    assert abs(tethered.sample().parameters - centre).max() < 0.5


def test_seeds():
    one, same, other = (simulation(max_steps=20, seed=s).sample().parameters for s in (3, 3, 4))
    np.testing.assert_array_equal(one, same)
    assert not np.isclose(one[:, -1], other[:, -1]).any()


def test_a_chain_of_operations(tmp_path):
    """Data, training, a saved state, sampling, analysis and a surface have the same losses."""
    made = kg.neural.datasets.two_clusters(60, noise=0.1, seed=2)
    options = {"output_activation": "tanh", "optimizer": "adam", "learning_rate": 0.05}
    nn = simulation((made.x, made.y), **options, max_steps=200)
    trained = nn.fit()
    nn.save(tmp_path / "trained.npz")
    again = simulation((made.x, made.y), **options, inverse_temperature=200.0, max_steps=50)
    again.load(tmp_path / "trained.npz")
    assert again.loss() == nn.loss()
    assert trained.run_info["loss"].iloc[-1] == pytest.approx(again.loss(), rel=1e-12)
    files = {"run_file": f"{tmp_path}/run.csv", "trajectory_file": f"{tmp_path}/rows.csv"}
    again.set_options(**files)
    losses = again.sample().run_info["loss"].to_numpy()
    assert losses[-1] == pytest.approx(again.loss(), rel=1e-12)
    study = kg.neural.analysis.Analysis.from_files(files["trajectory_file"], files["run_file"])
    assert study.table("averages")["average_loss"][-1] == pytest.approx(losses.mean(), rel=1e-7)
    table = kg.neural.surfaces.trajectory(again.landscape, files["trajectory_file"], progress=False)
    np.testing.assert_allclose(table.loss, losses, rtol=1e-5)
    best = np.array(nn.parameters)
    line = kg.neural.surfaces.subgrid(
        nn.landscape, best, np.eye(len(best))[:1], intervals=(-1.0, 1.0, 2), progress=False
    )
    assert np.ravel(line.loss)[1] == pytest.approx(nn.loss(), rel=1e-12)
