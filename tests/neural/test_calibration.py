"""Calibration, against values computed by hand and against laws of calibrated predictions."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import brier_score_loss

import kinetograph as kg
from kinetograph.neural import calibration


def test_coverage_by_hand():
    table = calibration.coverage([0.02, 0.3, 0.4, 0.6, 0.99], levels=[0.3, 0.5, 0.97, 1.0])
    assert table.observed.tolist() == [0.4, 0.6, 0.8, 1.0]
    np.testing.assert_allclose(table.error, (0.1 + 0.1 + 0.17 + 0.0) / 4)
    np.testing.assert_allclose(table.standard_errors[1], 0.5 / np.sqrt(5))


def test_intervals_of_the_right_distribution_cover_their_levels():
    rng = np.random.default_rng(1)
    mean, sd = rng.normal(size=4000), rng.uniform(0.5, 2, 4000)
    y = rng.normal(mean, sd)
    table = calibration.coverage(stats.norm(mean, sd).cdf(y))
    assert (abs(table.observed - table.expected) < 5 * table.standard_errors).all()
    narrow = calibration.coverage(stats.norm(mean, 0.5 * sd).cdf(y))
    assert narrow.error > 0.15  # the central interval of level 0.9 covers 0.59 of the labels


def test_reliability_by_hand():
    """The first two of five bins have no rows."""
    chances = np.array([[0.55, 0.45], [0.4, 0.6], [0.7, 0.3], [0.9, 0.1], [0.0, 1.0]])
    table = calibration.reliability(chances, [0, 0, 0, 1, 1], bins=5)
    np.testing.assert_allclose(table.expected, [0.575, 0.7, 0.95])
    np.testing.assert_allclose(table.observed, [0.5, 1.0, 0.5])
    assert table.counts.tolist() == [2, 1, 2]
    np.testing.assert_allclose(table.error, (2 * 0.075 + 0.3 + 2 * 0.45) / 5)


def test_labels_drawn_from_the_probabilities_are_calibrated():
    rng = np.random.default_rng(2)
    chances = rng.dirichlet(np.ones(3), size=5000)
    labels = (chances.cumsum(1) < rng.uniform(size=(5000, 1))).sum(1)
    table = calibration.reliability(chances, labels)
    assert (abs(table.observed - table.expected) < 5.5 * table.standard_errors).all()
    squares = (chances**2).sum(1) - 2 * chances[np.arange(5000), labels] + 1
    expected = squares.mean()
    np.testing.assert_allclose(calibration.brier_score(chances, labels), expected)


def test_the_brier_score_of_two_classes_is_twice_that_of_scikit_learn():
    chance, labels = np.array([0.1, 0.8, 0.4]), np.array([0, 1, 1])
    score = calibration.brier_score(np.stack([1 - chance, chance], 1), labels)
    np.testing.assert_allclose(score, 2 * brier_score_loss(labels, chance, scale_by_half=True))


def test_pictures_show_the_table():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    axes = calibration.coverage([0.02, 0.3, 0.4, 0.6, 0.99]).plot(label="five")
    lines = [line.get_xydata() for line in axes.lines]
    np.testing.assert_allclose(lines[1][1], [0.3, 0.4])
    pyplot.close(axes.figure)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: calibration.coverage([0.5, 1.2]), "transforms must be between 0 and 1"),
        (lambda: calibration.coverage([np.nan]), "transforms must be between 0 and 1"),
        (lambda: calibration.coverage([[0.5]]), "expected one for each row"),
        (lambda: calibration.reliability([[0.5, 0.5]], [2]), "whole numbers from 0 to 1"),
        (lambda: calibration.reliability([[0.5, 0.5]], [0.5]), "whole numbers from 0 to 1"),
        (
            lambda: calibration.reliability([[0.5, 0.5], [0.6, 0.6]], [0, 1]),
            "row 1 has the sum 1.2",
        ),
        (lambda: calibration.brier_score([[0.5]], [0]), "row 0 has the sum 0.5"),
        (lambda: calibration.reliability([[0.5, 0.5]], [0, 1]), "one label for each row"),
        (lambda: calibration.reliability([[0.5, 0.5]], [0], bins=0), "bins must be at least 1"),
    ],
)
def test_wrong_values(call, text):
    with pytest.raises((kg.DataError, kg.ShapeError, ValueError), match=text):
        call()
