"""Diffusion maps: rates of quadratic potentials, wells, outliers."""

import numpy as np
import pytest
from scipy.stats import norm

from kinetograph.neural import analysis


@pytest.mark.parametrize(
    ("epsilon", "rates"),
    [(0.02, [0.996, 1.995, 3.031, 4.18]), (0.05, [0.988, 1.969, 2.972, 4.06])],
)
def test_a_target_measure_on_uniform_points(epsilon, rates):
    """The rates of U = q^2 / 2 at this epsilon."""
    q = np.linspace(-4, 4, 400)
    slow = analysis.diffusion_map(q, method="tmdmap", potential=q**2 / 2, epsilon=epsilon)
    assert slow.rates() == pytest.approx(rates, rel=2e-3)
    assert slow.retained.all()


def test_a_target_measure_at_another_temperature():
    beta, k = 2.0, 1.5
    q = np.linspace(-4, 4, 600) / np.sqrt(beta * k)
    slow = analysis.diffusion_map(
        q,
        method="tmdmap",
        potential=k * q**2 / 2,
        inverse_temperature=beta,
        epsilon=0.02 / (beta * k),
        count=3,
    )
    assert slow.rates() == pytest.approx([2.987, 5.984, 9.094], rel=2e-3)
    # First-order dynamics at beta: m k in the limit.
    assert slow.rates(inverse_temperature=beta) == pytest.approx(k * np.arange(1, 4), rel=0.02)


def test_the_vanilla_map_of_normal_quantiles():
    q = norm.ppf((np.arange(1500) + 0.5) / 1500)
    slow = analysis.diffusion_map(q, epsilon=0.05)
    assert slow.rates() == pytest.approx([1.011, 2.003, 2.982, 4.022], rel=2e-3)
    assert slow.rates("log") == pytest.approx(-4 * np.log(slow.eigenvalues) / 0.05)
    assert slow.retained.all()


@pytest.mark.parametrize("size", [300, 900])  # the dense and the iterative solver
def test_eigenpairs_are_those_of_the_random_walk(size):
    x = np.random.default_rng(1).uniform(-1, 1, (size, 2))
    slow = analysis.diffusion_map(x, epsilon=0.1, outliers="keep", count=3)
    k = np.exp(-((x[:, None] - x) ** 2).sum(-1) / 0.1)
    q = k.sum(1)
    k /= np.sqrt(np.outer(q, q))
    p = k / k.sum(1, keepdims=True)
    root = np.sqrt(k.sum(1))
    values = np.linalg.eigvalsh(k / np.outer(root, root))[::-1]  # similar to p, and symmetric
    assert slow.eigenvalues == pytest.approx(values[1:4], abs=1e-5)  # small entries are left out
    v = slow.eigenvectors
    assert p @ v == pytest.approx(v * slow.eigenvalues, abs=1e-3)
    assert slow.stationary @ p == pytest.approx(slow.stationary, abs=1e-5)
    gram = v.T @ (slow.stationary[:, None] * v)
    assert gram == pytest.approx(np.eye(3), abs=1e-6)
    assert (v[np.abs(v).argmax(0), range(3)] > 0).all()
    assert slow.coordinates == pytest.approx(v * slow.eigenvalues)


def test_the_first_eigenvector_separates_two_wells():
    """Points are quantiles of exp(-3 (q^2 - 1)^2)."""
    grid = np.linspace(-2, 2, 4001)
    weight = np.exp(-3 * (grid**2 - 1) ** 2)
    q = np.interp((np.arange(800) + 0.5) / 800, np.cumsum(weight) / weight.sum(), grid)
    slow = analysis.diffusion_map(q, epsilon=0.02)
    first = slow.eigenvectors[:, 0]
    signs = np.sign(first[np.abs(q) > 0.5]) * np.sign(q[np.abs(q) > 0.5])
    assert abs(signs.sum()) == len(signs)
    assert slow.rates()[1] > 3 * slow.rates()[0]


@pytest.mark.parametrize("size", [200, 800])  # the dense and the iterative solver
def test_wells_without_connection_have_the_eigenvalue_one(size):
    well = np.linspace(-1, 1, size)
    q = np.concatenate([well - 10, well, well + 10])
    slow = analysis.diffusion_map(q, epsilon=0.05, count=6)
    assert slow.eigenvalues[:2] == pytest.approx(1, abs=1e-12)
    alone = analysis.diffusion_map(well, epsilon=0.05, count=2)
    expected = [alone.eigenvalues[0]] * 3 + [alone.eigenvalues[1]]
    assert slow.eigenvalues[2:] == pytest.approx(expected, abs=1e-7)
    for m in range(2):
        parts = slow.eigenvectors[:, m].reshape(3, -1)
        assert np.ptp(parts, axis=1) == pytest.approx(0, abs=1e-9)
        assert np.ptp(parts[:, 0]) > 1
    assert slow.stationary @ slow.eigenvectors == pytest.approx(np.zeros(6), abs=1e-6)


def test_isolated_points_are_dropped_or_have_wider_kernels():
    q = np.append(np.random.default_rng(0).standard_normal(1500), [6.0, -7.0, -7.01])
    kept = analysis.diffusion_map(q, epsilon=0.05, outliers="keep")
    assert (kept.rates()[:2] < 1e-6).all()  # spurious: the two groups
    for outliers in ("drop", "local"):
        slow = analysis.diffusion_map(q, epsilon=0.05, outliers=outliers, count=1)
        assert slow.retained[np.abs(q) < 2.5].all()
        if outliers == "drop":
            assert not slow.retained[-3:].any()
            assert np.isnan(slow.eigenvectors[-3:]).all()
            assert (slow.stationary[-3:] == 0).all()
            assert slow.rates()[0] == pytest.approx(1, rel=0.1)
        else:
            assert slow.retained.all()
            assert slow.rates()[0] > 0.01  # connected, but still far


def test_weakly_connected_points_of_two_dimensions_are_dropped():
    x = np.random.default_rng(0).standard_normal((2000, 2))
    slow = analysis.diffusion_map(x, epsilon=0.3)
    assert slow.rates() == pytest.approx([1, 1, 2, 2], rel=0.15)
    assert (~slow.retained).sum() < 40
    assert slow.retained[np.linalg.norm(x, axis=1) < 2.5].all()


def test_nearest_neighbours_approximate_the_whole_kernel():
    q = norm.ppf((np.arange(900) + 0.5) / 900)
    whole = analysis.diffusion_map(q, epsilon=0.02, count=2)
    near = analysis.diffusion_map(q, epsilon=0.02, count=2, neighbours=300)
    assert near.rates() == pytest.approx(whole.rates(), rel=0.02)
    with pytest.warns(RuntimeWarning, match="at their neighbour 30, the last in the kernel"):
        analysis.diffusion_map(q, epsilon=0.02, neighbours=30)


@pytest.mark.parametrize("epsilon", ["bgh", "median"])
def test_bandwidths_from_the_points(epsilon):
    q = np.random.default_rng(2).uniform(0, 1, (2000, 2))
    slow = analysis.diffusion_map(q, epsilon=epsilon, count=2)
    scaled = analysis.diffusion_map(10 * q, epsilon=epsilon, count=2)
    assert scaled.epsilon == pytest.approx(100 * slow.epsilon)
    # The Laplacian on the square with reflection: pi^2 twice.
    assert slow.rates() == pytest.approx(np.pi**2, rel=0.25)


def test_negligible_targets_are_dropped():
    q = np.linspace(-40, 40, 4000)
    slow = analysis.diffusion_map(q, method="tmdmap", potential=q**2 / 2, epsilon=0.02, count=2)
    assert slow.rates() == pytest.approx([1, 2], rel=0.01)
    assert not slow.retained[np.abs(q) > 11].any()


Q = np.linspace(0, 1, 20)


@pytest.mark.parametrize(
    ("points", "options", "text"),
    [
        (Q, {"method": "tmd"}, "unknown name 'tmd'"),
        (Q, {"method": "tmdmap"}, "needs potential, one number for each point"),
        (Q, {"potential": Q}, "leave it out, or write method='tmdmap'"),
        (Q, {"method": "tmdmap", "potential": Q[1:]}, r"potential of shape \(20,\), got \(19,\)"),
        (Q, {"epsilon": -1}, "epsilon must be a positive number, got -1"),
        (Q, {"epsilon": "large"}, "unknown name 'large'"),
        (Q, {"count": 0}, "count must be a whole number from 1 on, got 0"),
        (Q, {"epsilon": 1e-9}, "0 of 20 points are left.*give a larger epsilon"),
        (Q, {"outliers": "remove"}, "unknown name 'remove'"),
        (np.zeros(20), {}, "most points coincide"),
        (np.append(Q, np.nan), {}, r"the first at index \(20, 0\)"),
        (np.zeros((2, 3, 4)), {}, r"write draws.reshape\(-1, draws.shape\[-1\]\)"),
    ],
)
def test_bad_input_is_named(points, options, text):
    with pytest.raises(ValueError, match=text):
        analysis.diffusion_map(points, **options)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"epsilon": 0.2}, {"epsilon": 0.01, "neighbours": 128}])
def test_ten_thousand_points(options):
    """A map in a minute and 4 GB for large kernels."""
    import resource
    import time

    x = np.random.default_rng(0).standard_normal((10_000, 2))
    start = time.perf_counter()
    slow = analysis.diffusion_map(x, **options)
    assert time.perf_counter() - start < 60
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 4e6  # KiB
    assert slow.rates()[:2] == pytest.approx(1, rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "epsilon"), [(10, "bgh"), (50, "median")])
def test_ten_thousand_points_of_many_coordinates(width, epsilon):
    """All points are neighbours; the rates of a wide kernel are too small, and nearly equal."""
    import resource

    x = np.random.default_rng(0).standard_normal((10_000, width))
    slow = analysis.diffusion_map(x, epsilon=epsilon)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 4e6  # KiB
    assert slow.retained.sum() > 9900
    assert 0 < slow.rates()[0] < 1
    assert np.ptp(slow.rates()) < 0.03 * slow.rates()[0]
