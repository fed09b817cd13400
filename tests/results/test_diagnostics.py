"""Our diagnostics against ArviZ's."""

import warnings

import numpy as np
import pytest
from arviz_stats.base import array_stats

from kinetograph.results import diagnostics

RNG = np.random.default_rng(1)


def autoregression(chains, length, phi):
    x = RNG.normal(size=(chains, length))
    for i in range(1, length):
        x[:, i] += phi * x[:, i - 1]
    return x


CASES = {
    "independent": RNG.normal(size=(4, 500)),
    "odd length": RNG.normal(size=(4, 501)),
    "one chain": RNG.normal(size=(1, 300)),
    "two chains, odd": RNG.normal(size=(2, 37)),
    "slow": autoregression(4, 1000, 0.95),
    "alternating": autoregression(4, 1000, -0.9),
    "heavy tails": RNG.standard_cauchy((4, 400)),
    "ties": RNG.poisson(2.0, (4, 500)).astype(float),
    "binary": (RNG.random((4, 300)) < 0.3).astype(float),
    "apart": RNG.normal(size=(4, 200)) + np.arange(4)[:, None],
    "unequal spread": RNG.normal(size=(4, 200)) * np.array([[1.0], [1.0], [1.0], [4.0]]),
    "four draws": RNG.normal(size=(4, 4)),
    "five draws": RNG.normal(size=(3, 5)),
    "seven draws": RNG.normal(size=(3, 7)),
    "trend": np.linspace(0, 1, 100) + 0.1 * RNG.normal(size=(2, 100)),
    "large offset": 1e9 + RNG.normal(size=(4, 500)),
    "tiny": 1e-9 * RNG.normal(size=(4, 500)),
}
AXES = {"chain_axis": 0, "draw_axis": 1}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (diagnostics.ess_mean, lambda x: array_stats.ess(x, method="mean", **AXES)),
        (diagnostics.ess_bulk, lambda x: array_stats.ess(x, method="bulk", **AXES)),
        (
            diagnostics.ess_tail,
            lambda x: array_stats.ess(x, method="tail", prob=(0.05, 0.95), **AXES),
        ),
        (diagnostics.mcse_mean, lambda x: array_stats.mcse(x, method="mean", **AXES)),
    ],
    ids=["ess_mean", "ess_bulk", "ess_tail", "mcse_mean"],
)
def test_equals_arviz(case, ours, theirs):
    x = CASES[case]
    np.testing.assert_allclose(ours(x), theirs(x), rtol=1e-10)


@pytest.mark.parametrize("length", range(4, 40))
def test_equals_arviz_at_every_small_length(length):
    """Where the sum over lags ends differs between odd and even lengths."""
    rng = np.random.default_rng(length)
    for phi in (-0.5, 0.0, 0.9):
        x = rng.normal(size=(3, length))
        for i in range(1, length):
            x[:, i] += phi * x[:, i - 1]
        for method, ours in (("mean", diagnostics.ess_mean), ("bulk", diagnostics.ess_bulk)):
            expected = array_stats.ess(x, method=method, **AXES)
            np.testing.assert_allclose(ours(x), expected, rtol=1e-10)


@pytest.mark.parametrize("case", CASES)
def test_rhat_equals_arviz(case):
    x = CASES[case]
    if len(x) == 1:  # ArviZ wants two chains; ours compares the halves of the one
        assert 0.9 < float(diagnostics.rhat(x)) < 1.1
        return
    np.testing.assert_allclose(
        diagnostics.rhat(x), array_stats.rhat(x, method="rank", **AXES), rtol=1e-10
    )


def quick(x):
    rhats, sizes = diagnostics.rhat_and_ess_bulk({"x": x})
    return rhats["x"], sizes["x"]


def test_targets_checked_together_or_alone_give_the_same(monkeypatch):
    rng = np.random.default_rng(3)
    targets = {"a": rng.normal(size=(4, 100)), "b": rng.normal(size=(4, 100, 2, 3))}
    targets["c"] = rng.normal(size=(4, 100, 5)) * [1, 2, 3, 4, 5]
    for part in (10**9, 2000, 1):
        monkeypatch.setattr(diagnostics, "_PART", part)
        rhats, sizes = diagnostics.rhat_and_ess_bulk(targets)
        for name, draws in targets.items():
            assert rhats[name].shape == draws.shape[2:]
            np.testing.assert_array_equal(sizes[name], diagnostics.ess_bulk(draws))
            np.testing.assert_array_equal(rhats[name], quick(draws)[0])


def test_small_targets_are_checked_together_and_large_ones_alone(monkeypatch):
    monkeypatch.setattr(diagnostics, "_PART", 1000)
    sizes = {"none": 0, "a": 100, "b": 300, "c": 900, "large": 2000, "d": 10}
    groups = diagnostics._together({name: np.zeros((1, size)) for name, size in sizes.items()})
    assert groups == [["none", "a", "b"], ["c"], ["large"], ["d"]]


def test_the_quick_check_has_the_same_bulk_size_and_nearly_the_same_rhat():
    for x in CASES.values():
        r, size = quick(x)
        np.testing.assert_allclose(size, diagnostics.ess_bulk(x), rtol=1e-12)
        whole = diagnostics.rhat(x)
        # The spread of chains is left out only where it cannot be much.
        assert r <= whole + 1e-12
        assert r == pytest.approx(whole, rel=1e-12) or r > whole - 0.05 > 0.9


def test_elements_are_independent_of_each_other():
    x = np.stack(
        [CASES["independent"], CASES["ties"], CASES["heavy tails"][:, :400].repeat(2, 1)[:, :500]],
        -1,
    )
    x = np.stack([x, 2 * x], -1)  # (chain, draw, 3, 2)
    for f in (
        diagnostics.ess_mean,
        diagnostics.ess_bulk,
        diagnostics.ess_tail,
        diagnostics.rhat,
        diagnostics.mcse_mean,
    ):
        got = f(x)
        assert got.shape == (3, 2)
        for i in range(3):
            for j in range(2):
                np.testing.assert_allclose(got[i, j], f(x[:, :, i, j]), rtol=1e-12)


def test_constants_have_full_size_and_no_rhat():
    x = np.full((4, 100), 2.5)
    assert diagnostics.ess_mean(x) == 400 == array_stats.ess(x, method="mean", **AXES)
    assert diagnostics.ess_bulk(x) == 400
    assert np.isnan(diagnostics.rhat(x))
    assert np.isnan(quick(x)[0])
    assert diagnostics.mcse_mean(x) == 0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_one_bad_value_makes_its_element_nan_and_no_other(bad):
    x = np.stack([CASES["independent"], CASES["odd length"][:, 1:]], -1)
    x[2, 17, 0] = bad
    with np.errstate(all="ignore"):
        for f in (
            diagnostics.ess_mean,
            diagnostics.ess_bulk,
            diagnostics.ess_tail,
            diagnostics.rhat,
        ):
            got = f(x)
            assert np.isnan(got[0])
            assert np.isfinite(got[1])
        for got in (*quick(x), *quick(x[:, 1:])):
            assert np.isnan(got[0])
            assert np.isfinite(got[1])


def test_a_bad_value_counts_wherever_it_stands():
    """Also in the draw that is left out to make two halves of one length."""
    for place in range(5):
        x = np.arange(15.0).reshape(3, 5) % 7
        x[1, place] = np.nan
        with np.errstate(all="ignore"):
            assert np.isnan(quick(x)).all()


def test_chains_that_differ_are_seen():
    assert diagnostics.rhat(CASES["independent"]) < 1.01
    assert diagnostics.rhat(CASES["apart"]) > 1.5
    assert diagnostics.rhat(CASES["unequal spread"]) > 1.05
    assert diagnostics.ess_bulk(CASES["slow"]) < 300
    assert diagnostics.ess_mean(CASES["alternating"]) > 4000


def test_the_check_after_a_run_sees_a_chain_of_another_spread():
    rng = np.random.default_rng(7)
    draws = rng.normal(size=(4, 1000, 3))
    draws[2, :, 1] *= 3.0
    values, _ = quick(draws)
    np.testing.assert_allclose(values[1], diagnostics.rhat(draws)[1], rtol=1e-12)
    assert values[1] > 1.1
    assert (values[[0, 2]] < 1.01).all()


def test_draws_of_any_size_are_checked_without_a_warning():
    draws = np.random.default_rng(1).normal(size=(4, 100, 2)) * [1e200, 1.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rhats, sizes = diagnostics.rhat_and_ess_bulk({"x": draws})
    np.testing.assert_allclose(rhats["x"][0], diagnostics.rhat(draws / 1e200)[0])
    assert np.isfinite(sizes["x"]).all()


def test_extreme_draws_have_the_sizes_of_their_scaled_selves():
    draws = np.random.default_rng(1).normal(size=(4, 100, 2)).cumsum(1)
    huge = draws * [1e250, 1.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for measure in (diagnostics.ess_mean, diagnostics.ess_bulk, diagnostics.ess_tail):
            np.testing.assert_allclose(measure(huge), measure(draws), rtol=1e-9)
        diagnostics.mcse_mean(huge)
