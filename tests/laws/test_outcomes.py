"""What tests say: levels, several elements, and numbers that show nothing."""

import numpy as np
import pytest
from scipy import stats

from kinetograph import laws


def mean_test(z, ess=1000.0):
    z = np.asarray(z, float)
    return laws.MeanTest(z, np.zeros_like(z), np.ones_like(z), np.full_like(z, ess))


@pytest.mark.parametrize("z", [0.0, 1.0, -4.8, 5.0, 30.0])
def test_the_p_value_of_one_score(z):
    p = 2 * stats.norm.sf(abs(z))
    assert mean_test(z).p_value == pytest.approx(p, rel=1e-9)
    for level in (1e-6, 0.1):
        assert mean_test(z).passed(level) == (p >= level)


def test_several_elements_share_the_level():
    assert mean_test([4.8, 0.0]).passed() == mean_test(4.8).passed() is True
    assert not mean_test([4.8, *np.zeros(99)]).passed(1e-3 / 5)
    assert mean_test([4.8, *np.zeros(99)]).passed(1e-4)
    assert mean_test([4.8, -5.5]).worst == 5.5


def test_nothing_passes_that_shows_nothing():
    assert not mean_test(np.nan).passed()
    assert not mean_test([0.0, np.nan]).passed()
    assert not mean_test(0.0, ess=399).passed()
    still = laws.MeanTest(np.array(1.0), np.array(1.0), np.array(0.0), np.array(1e4))
    assert not still.passed()
    assert not laws.PTest({"a": 0.5, "b": np.nan}, {"a": 1.0, "b": 1.0}, 10, "KSTest").passed()


def test_p_values_of_several_statistics():
    test = laws.PTest({"a": 0.5, "b": 0.01}, {"a": 1.0, "b": 7.0}, 10, "KSTest")
    assert test.p_value == pytest.approx(0.02)
    assert test.worst_name == "b"
    assert test.z[1] == pytest.approx(stats.norm.isf(0.005))
    assert test.passed(0.02)
    assert not test.passed(0.021)


def test_they_say_what_they_found():
    assert repr(mean_test([0.5, -7.25], ess=50)) == (
        "MeanTest(mean -7.25 +- 1, expected 0, z = -7.25 at element 1 of 2, ess 50, fewer than 400)"
    )
    test = laws.PTest({"a": 0.5, "b": 0.01}, {"a": 1.0, "b": 7.0}, 10, "KSTest")
    assert repr(test) == "KSTest(p = 0.02, statistic 7 (b, the worst of 2), 10 rows)"
