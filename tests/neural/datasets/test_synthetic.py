"""Synthetic sets: geometry, labels, balance, seeds, files and splits."""

import numpy as np
import pytest
from scipy.stats import chi2, kstest

import kinetograph as kg

sets = kg.neural.datasets
PLANE = [sets.two_circles, sets.squares, sets.two_clusters, sets.spiral]


def classes(data):
    return [data.x[data.y[:, 0] == c] for c in (1, -1)]


def test_two_circles():
    inner, outer = classes(sets.two_circles(2001, radius=4.0, seed=1))
    assert (len(inner), len(outer)) == (1001, 1000)
    inside, outside = (np.linalg.norm(x, axis=1) for x in (inner, outer))
    assert kstest(inside / 2.0, "uniform").pvalue > 1e-7
    assert kstest((outside - 2.8) / 1.2, "uniform").pvalue > 1e-7
    angles = np.arctan2(*outer.T) / (2 * np.pi) + 0.5
    assert kstest(angles, "uniform").pvalue > 1e-7
    noisy = sets.two_circles(2001, radius=4.0, noise=0.3, seed=1)
    wrong = (np.linalg.norm(noisy.x, axis=1) < 2) != (noisy.y[:, 0] > 0)
    assert 0.02 < wrong.mean() < 0.4


def test_squares():
    data = sets.squares(2000, radius=4.0, seed=1)
    np.testing.assert_array_equal(data.y[:, 0], np.sign(data.x.prod(1)))
    size = np.abs(data.x).ravel()
    assert kstest((size - 0.3) / 4.0, "uniform").pvalue > 1e-7
    assert abs(data.y.mean()) < 5.5 / np.sqrt(2000)
    assert (sets.squares(2000, noise=0.5, seed=1).x.prod(1) * data.y[:, 0] < 0).sum() == 0
    noisy = sets.squares(2000, noise=0.5, seed=1)
    assert 0.05 < (noisy.x.prod(1) * noisy.y[:, 0] < 0).mean() < 0.5


@pytest.mark.parametrize(("noise", "sd"), [(0.0, 0.5), (0.5, 4.0)])
def test_two_clusters(noise, sd):
    for sign, x in zip((1, -1), classes(sets.two_clusters(2000, noise=noise, seed=1)), strict=True):
        assert len(x) == 1000
        z = ((x - 2 * sign) / sd).ravel()
        assert kstest(z, "norm").pvalue > 1e-7
        assert 1e-7 < chi2(len(z)).cdf(z @ z) < 1 - 1e-7


def test_spiral():
    for turn, x in zip((0, np.pi), classes(sets.spiral(400, radius=4.0, seed=1)), strict=True):
        x = x[np.argsort(np.linalg.norm(x, axis=1))]
        share = np.arange(200) / 200
        angle = 1.75 * 2 * np.pi * share + turn
        expected = 4 * share[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        np.testing.assert_allclose(x, expected, atol=1e-12)
    plain, noisy = (np.sort(sets.spiral(40, noise=s, seed=1).x, 0) for s in (0.0, 0.2))
    assert 0 < np.abs(plain - noisy).max() < 0.4


def test_regression():
    data = sets.sine(2000, noise=0.2, radius=2.0, seed=1)
    assert kstest((data.x[:, 0] + 2) / 4, "uniform").pvalue > 1e-7
    assert kstest((data.y - np.sin(data.x))[:, 0] / 0.2, "norm").pvalue > 1e-7
    data = sets.linear(2000, weights=[1.0, 2.0, -3.0], bias=0.5, noise=0.2, seed=1)
    rest = data.y[:, 0] - data.x @ [1.0, 2.0, -3.0] - 0.5
    assert kstest(rest / 0.2, "norm").pvalue > 1e-7


@pytest.mark.parametrize("make", PLANE)
def test_seeds_and_files(make, tmp_path):
    """Equal bytes for a seed, and the same numbers again."""
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        sets.write_csv(tmp_path / name, make(30, noise=0.1, seed=seed))
    a, b, c = ((tmp_path / name).read_bytes() for name in "abc")
    assert a == b != c
    assert a.startswith(b"x1,x2,label\n")
    assert a.count(b"\n") == 31
    again, data = sets.read(tmp_path / "a"), make(30, noise=0.1, seed=1)
    np.testing.assert_array_equal(again.x, data.x)
    np.testing.assert_array_equal(again.y, data.y)


def test_splits():
    data = sets.spiral(40, seed=1)
    train, test = data.split(0.25, seed=3)
    assert (len(train.x), len(test.x)) == (30, 10)
    both = np.concatenate([np.hstack([d.x, d.y]) for d in (train, test)])
    np.testing.assert_array_equal(np.sort(both, 0), np.sort(np.hstack([data.x, data.y]), 0))
    assert (data.split(0.25, seed=4)[0].x != train.x).any()
    with pytest.raises(ValueError, match=r"test must be a fraction below 1, got 1\.0"):
        data.split(1.0)


def test_digits():
    from sklearn.datasets import load_digits

    images, numbers = load_digits(return_X_y=True)
    data = sets.digits()
    np.testing.assert_array_equal(16 * (data.x + 0.5), images)
    np.testing.assert_array_equal(data.y.argmax(1), numbers)
    np.testing.assert_array_equal(data.y.sum(1), 1)
    np.testing.assert_array_equal(sets.digits(one_hot=False).y[:, 0], numbers)


def test_arguments():
    with pytest.raises(ValueError, match="points must be a whole number of at least 2, got 1"):
        sets.spiral(1)
    with pytest.raises(ValueError, match="noise must not be negative"):
        sets.squares(10, noise=-0.1)
