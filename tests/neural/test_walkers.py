"""Walkers: independent, with a common preconditioner, and collapsed."""

import numpy as np
import pytest
from tests.laws.helpers import assert_mean, ess

import kinetograph as kg
from kinetograph.neural.sampler_options import make_sampler

RNG = np.random.default_rng(1)
X = RNG.normal(size=(40, 2)) * [1.0, 0.1]
Y = X @ np.array([[1.0], [-0.5]]) + 0.3 + 0.1 * RNG.normal(size=(40, 1))
DESIGN = np.column_stack([X, np.ones(40)])
EQN = {
    "number_walkers": 6,
    "covariance_blending": 2.0,
    "covariance_after_steps": 5,
    "every_nth": 10,
    "max_steps": 40,
}


STRUCTURES = [pytest.param(s, marks=pytest.mark.slow) for s in ("full", "block", "diagonal")]


def linear(**options):
    settings = {"seed": 3, "max_steps": 20, "precision": "float64", **options}
    return kg.neural.Simulation([X, Y], **settings)


def columns(data):
    frames = (data.run_info.drop(columns="time_per_nth_step"), data.trajectory, data.averages)
    return [frame.to_numpy() for frame in frames]


def test_without_blending_walkers_are_independent():
    """They have the plain sampler, whose walkers are single runs."""
    options = linear().get_options() | {"number_walkers": 4, "covariance_structure": "block"}
    made = make_sampler("sampling", options, 4)
    assert made == make_sampler("sampling", linear().get_options(), 1)
    assert type(made) is kg.samplers.BAOAB


@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["BAOAB", "SGLD", "GLA1", "HMC", "CCAdL"])
def test_a_walker_does_not_depend_on_the_number_of_walkers(sampler):
    """To the last bit, with batches of its own."""
    settings = {"sampler": sampler, "step_width": 0.05, "batch_size": 8, "shuffle": "random"}
    settings |= {"batch_size": None} if sampler == "HMC" else {}
    few, many = (linear(number_walkers=n, **settings).sample().parameters for n in (2, 5))
    np.testing.assert_array_equal(few, many[:2])
    assert len(np.unique(many[:, -1], axis=0)) == 5


def test_rows_of_walkers_that_take_turns():
    options = EQN | {"max_steps": 20, "every_nth": None}
    nn = linear(**options)
    assert nn.sample().run_info["step"].unique().tolist() == [5, 10, 15, 20]
    assert nn.step()["step"].unique().tolist() == [25]
    for name, value, way in (
        ("max_steps", 12, "take max_steps=15, or covariance_after_steps=12"),
        ("every_nth", 1, "take every_nth=None for a row after each turn"),
        ("every_nth", 7, "covariance_after_steps=7"),
    ):
        text = rf"{name}={value} must be a multiple of covariance_after_steps=5: .*{way}"
        with pytest.raises(ValueError, match=text):
            linear(**options | {name: value}).sample()


def test_the_blocks_of_a_network_are_its_layers():
    nn = linear(hidden_dimension=[2], fix_parameters={"layer0/bias": [np.nan, 0.0]})
    layout = nn.landscape.layout
    assert layout.columns[:7] == [f"weight{i}" for i in range(6)] + ["bias0"]
    assert layout.layers == (0, 0, 0, 0, 1, 1, 0, 1)
    options = nn.get_options() | EQN
    for structure, covariance in (("block", "blocks"), ("low-rank", "low-rank"), ("full", "full")):
        chosen = {"covariance_structure": structure, "covariance_rank": 3}
        made = make_sampler("sampling", options | chosen, 6, layout)
        assert (made.covariance, made.rank, made.steps, made.eta) == (covariance, 3, 5, 2.0)
        assert made.blocks == (layout.layers if structure == "block" else ())
    tree = kg.neural.ParameterLayout({"a": np.zeros(2), "dense": {"k": np.zeros(1), "b": 0.0}})
    assert tree.layers == (0, 0, 1, 1)


@pytest.mark.parametrize("batch_size", [None, 10])
def test_a_batch_of_walkers_equals_walkers_on_threads(batch_size, tmp_path):
    options = {"number_walkers": 3, "every_nth": 4, "max_steps": 20, "batch_size": batch_size}
    path = str(tmp_path / "state")
    batch, threads = (linear(chain_method=method, **options) for method in ("batch", "threads"))
    for _ in range(2):
        for a, b in zip(columns(batch.sample()), columns(threads.sample()), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    batch.save(path)
    restored = linear(chain_method="batch", restore_model=path, **options)
    for a, b in zip(columns(restored.sample()), columns(batch.sample()), strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match=r"walkers.*threads=2 has no effect"):
        linear(chain_method="batch", threads=2, **options).sample()


def test_a_thinned_ensemble_continues_with_the_same_bits(tmp_path):
    path = str(tmp_path / "state.npz")
    options = EQN | {"covariance_structure": "block", "hidden_dimension": [2], "prior": 1.0}
    nn = linear(**options, hidden_activation="tanh")
    first = nn.sample().run_info
    assert first["step"].tolist()[::6] == [10, 20, 30, 40]
    assert (first["eta_effective"] == 2.0).all()
    nn.save(path)
    wanted = columns(nn.sample())
    restored = linear(**options, hidden_activation="tanh", restore_model=path)
    for a, b in zip(columns(restored.sample()), wanted, strict=True):
        np.testing.assert_array_equal(a, b)


def test_collapsed_walkers_begin_together_and_are_marked(tmp_path):
    path = str(tmp_path / "state")
    nn = linear(number_walkers=4, max_steps=5)
    lowest = np.argmin(nn.potential(full=True))
    best = np.array(nn.parameters[int(lowest)])
    nn.collapse_walkers()
    np.testing.assert_array_equal(nn.parameters, np.tile(best, (4, 1)))
    nn.save(path)
    assert linear(number_walkers=4, restore_model=path)._collapsed
    data = nn.sample()
    assert not data.attrs["stationary"]
    assert not data.to_tree().attrs["stationary"]
    assert len(np.unique(nn.parameters, axis=0)) == 4  # each has its own noise
    nn.collapse_walkers(2)
    np.testing.assert_array_equal(np.ptp(nn.parameters, axis=0), 0)
    nn.reset_parameters()
    assert nn.sample().attrs["stationary"]
    nn.set_options(collapse_walkers=True)
    assert not nn.sample().attrs["stationary"]


@pytest.mark.parametrize("structure", ["low-rank", *STRUCTURES])
def test_a_factor_that_fails_is_counted_in_the_records(structure):
    """The weight times the variances overflows; with small variances it does not."""
    eta = 1e308
    nn = linear(**EQN | {"covariance_blending": eta, "max_steps": 10, "step_width": 1e-300})
    nn.set_options(covariance_structure=structure)
    q = nn.parameters = 10 * np.random.default_rng(0).normal(size=(6, 3))
    row = nn.sample().run_info.iloc[0]
    traces = np.array([np.trace(np.cov(group.T)) for group in (q[:3], q[3:])])
    limits = 1 / (8 * 3 * np.finfo(float).eps) / traces
    failed = structure in ("diagonal", "low-rank")  # has no smaller weight
    expected = 0 if structure == "diagonal" else limits.mean()
    assert (row["unpreconditioned"] > 0) == failed
    if structure != "low-rank":
        assert row["eta_effective"] == pytest.approx(expected, rel=1e-12)
    np.testing.assert_array_equal(nn.parameters, q)
    nn.parameters = 1e-150 * q
    assert (nn.sample().run_info["eta_effective"] == eta).all()


def spread(nn):
    """The squares of the standardised parameters of a linear network, (walkers, rows, 3)."""
    beta, n = nn.get_options("inverse_temperature"), len(X)
    precision = 2 * beta * DESIGN.T @ DESIGN / n
    mean = np.linalg.lstsq(DESIGN, Y)[0][:, 0]
    return ((nn.sample().parameters - mean) @ np.linalg.cholesky(precision)) ** 2


@pytest.mark.parametrize("structure", ["low-rank", *STRUCTURES])
def test_the_posterior_of_a_linear_network_is_exact(structure):
    """BAOAB has exact positions for a Gaussian, with any preconditioner of the other group."""
    nn = linear(
        number_walkers=16,
        covariance_blending=20.0,
        covariance_after_steps=5,
        covariance_structure=structure,
        covariance_rank=2,
        step_width=0.2,
        inverse_temperature=4.0,
        max_steps=6000,
        every_nth=10,
    )
    squares = spread(nn)[:, 50:]
    assert_mean(squares.mean((0, 2)), 1.0, what="the squared standardised parameters")


@pytest.mark.slow
def test_an_ensemble_forgets_ten_times_faster_than_baoab_at_its_best_step():
    """The condition number of the inputs is 1e4."""
    scales = np.array([1.0, 0.1, 0.01])
    x = np.linalg.qr(np.random.default_rng(0).normal(size=(50, 3)))[0] * scales * np.sqrt(50)
    y = x @ np.ones((3, 1))

    def rows(steps, **options):
        settings = {"bias": False, "seed": 1, "precision": "float64", "every_nth": 10}
        nn = kg.neural.Simulation([x, y], **settings, max_steps=steps, **options)
        nn.parameters = 1 + np.random.default_rng(2).normal(size=(nn.num_walkers(), 3)) / scales
        return (nn.sample().parameters[:, :, 2] - 1) * scales[2] * np.sqrt(2)

    best = max(
        ess(rows(200_000, step_width=h, friction_constant=c)) / 20_000
        for h in (0.7, 1.1, 1.3)
        for c in (0.01, 0.05)
    )
    draws = rows(
        20_000,
        number_walkers=20,
        covariance_blending=100.0,
        covariance_after_steps=10,
        step_width=0.07,  # 0.1 is not stable with covariances of ten walkers
        friction_constant=20.0,
    )
    assert_mean((draws[:, 200:] ** 2).mean(0), 1.0, what="the square of the widest parameter")
    quick = np.mean([ess(walker[None, 200:]) for walker in draws]) / 1800
    assert quick > 10 * best
