"""Warm-up chooses the form of each element."""

import jax
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.adaptation.centring_choice import GRID, CentringChoice, best
from kinetograph.adaptation.windows import FIRST
from kinetograph.graph.precision import x64
from kinetograph.kernels.moments import Moments
from kinetograph.models.levels import placed

AUTO = kg.samplers.NUTS(parametrisation="auto")
WRITTEN = kg.samplers.NUTS(parametrisation="as written")
EFFECTS = [28.0, 8, -3, 7, -1, 1, 18, 12]
ERRORS = [15.0, 10, 16, 11, 9, 11, 10, 18]


def schools(centred=True):
    mu, tau = kg.normal(0, 5), kg.half_cauchy(5)
    theta = kg.normal(mu, tau, shape=8) if centred else mu + tau * kg.normal(0, 1, shape=8)
    kg.observe(EFFECTS, kg.normal(theta, ERRORS))
    return {"mu": mu, "tau": tau, "theta": theta}


def run(build, sampler=AUTO, **options):
    return kg.mcmc(kg.model(build), sampler, seed=1, progress=False, **options)


def forms(tree, part=slice(2, None)):
    return tree["sampler_state"]["hyper_centring"].values[:, part]


def precise_and_vague():
    """Two elements that are known well, and ten that are hardly known."""
    mu, tau = kg.normal(0, 1), kg.lognormal(-1, 1.5)
    theta = kg.normal(mu, tau, shape=12)
    errors = np.repeat([0.01, 20.0], [2, 10])
    y = np.concatenate([[0.3, 0.2], np.random.default_rng(3).normal(size=10)])
    kg.observe(y, kg.normal(theta, errors))
    return mu, tau, theta


def test_elements_with_much_data_are_centred_and_others_are_not():
    tree = run(precise_and_vague)
    found = forms(tree)
    assert np.mean(found[:, :2]) > 0.6
    assert np.mean(found[:, 2:]) < 0.3


def test_a_funnel_that_is_written_centred_mixes():
    """The same model with the other form is the oracle."""
    tree, other = run(schools), run(lambda: schools(False), kg.samplers.NUTS())
    assert np.mean(forms(tree)) < 0.3
    summary, reference = kg.summary(tree), kg.summary(other)
    for name in ("mu", "tau", "theta[0]", "theta[7]"):
        assert summary["r_hat", name] < 1.02
        error = np.hypot(summary["mcse_mean", name], reference["mcse_mean", name])
        difference = summary["mean", name] - reference["mean", name]
        assert abs(difference) < 5.5 * error  # false alarms: 4e-8


def test_draws_statistics_and_state_are_those_of_the_free_state():
    model = kg.model(schools)
    tree = kg.mcmc(model, AUTO, draws=60, chains=2, seed=1, progress=False)
    posterior, lp = tree["posterior"], tree["sample_stats"]["lp"].values
    for chain in range(2):
        for draw in (0, 59):
            at = {n: posterior[n].values[chain, draw] for n in ("mu", "tau", "theta")}
            np.testing.assert_allclose(lp[chain, draw], model.log_prob(at), rtol=1e-9)
    q = tree["sampler_state"]["position_q"].values
    np.testing.assert_allclose(q[:, 2:], posterior["theta"].values[:, -1], rtol=1e-9)
    np.testing.assert_allclose(
        tree["sampler_state"]["position_gradient"].values, model.gradient(q), rtol=1e-6, atol=1e-9
    )
    more = kg.mcmc(
        model, AUTO, draws=5, warmup=0, tuned=tree, initial=q, chains=2, seed=2, progress=False
    )
    np.testing.assert_array_equal(forms(more), forms(tree))
    with pytest.raises(ValueError, match="parametrisation='auto'"):
        kg.mcmc(model, WRITTEN, draws=5, warmup=0, tuned=tree, chains=2, seed=2, progress=False)


@pytest.mark.slow
def test_runs_continue_to_the_last_bit(tmp_path):
    whole = run(schools, draws=60, chains=2)
    part = run(schools, draws=25, chains=2)
    more = kg.extra_samples(part, kg.model(schools), 35, progress=False)
    np.testing.assert_array_equal(more["posterior"]["theta"], whole["posterior"]["theta"])
    stored = run(schools, draws=25, chains=2, store=tmp_path / "run.zarr")
    resumed = kg.resume(tmp_path / "run.zarr", draws=60, progress=False)
    np.testing.assert_array_equal(resumed["posterior"]["theta"], whole["posterior"]["theta"])
    assert stored.attrs["warmup"] == part.attrs["warmup"]


@pytest.mark.slow
def test_a_batch_has_the_same_law():
    one, batch = run(schools), run(schools, chain_method="batch")
    for name in ("mu", "tau"):
        a, b = (tree["posterior"][name].values for tree in (one, batch))
        errors = [x.std() / np.sqrt(400) for x in (a, b)]  # fewer independent draws than there are
        assert abs(a.mean() - b.mean()) < 5.5 * np.hypot(*errors)


def test_models_without_a_hierarchy_run_as_before():
    def build():
        mu = kg.normal(0, 1)
        kg.observe([0.3, 0.5], kg.normal(mu, 1))
        return mu

    one, two = run(build, draws=20), run(build, kg.samplers.NUTS(), draws=20)
    np.testing.assert_array_equal(one["posterior"]["mu"], two["posterior"]["mu"])
    assert "hyper_centring" not in one["sampler_state"]


def moments(*curves, count=400.0, spread=0.0):
    """Moments of elements whose D are the given curves over the grid.

    `spread` is the standard deviation of the log scale.
    """
    variances = np.exp(np.transpose(curves))
    log_scale = np.full((1, len(curves)), spread**2)
    return Moments(
        count, np.zeros(1), (count - 1) * np.concatenate([variances, variances, log_scale])
    )


def choice(*curves, c=None, parts=None, count=400.0, spread=0.0):
    c = np.zeros(len(curves)) if c is None else np.array(c, float)
    parts = [slice(0, len(curves))] if parts is None else parts
    with np.errstate(all="ignore"):
        chosen, _, gain, least = best(moments(*curves, count=count, spread=spread), c, parts)
    places = np.argmin(np.abs(GRID[:, None] - np.asarray(chosen)), 0)
    expected = np.nan_to_num(np.array(curves)[np.arange(len(curves)), places], nan=np.inf)
    np.testing.assert_allclose(least, expected, atol=1e-12)
    return np.asarray(chosen).tolist(), float(np.sum(gain))


FLAT = [0.0, -0.1, -0.18, -0.25, -0.28, -0.26, -0.21]
RISING = [0.0, 0.01, 0.02, 0.04, 0.06, 0.08, 0.09]
STEEP = [0.0, -0.06, -0.08, -0.02, 0.14, 0.31, 0.55]


def test_the_least_divergence_is_taken():
    chosen, gain = choice(FLAT, FLAT)
    assert chosen == [GRID[np.argmin(FLAT)]] * 2
    assert gain == pytest.approx(2 * 0.28)


@pytest.mark.parametrize(("count", "changes"), [(1, False), (2, True)])
def test_forms_change_if_all_elements_together_gain_enough(count, changes):
    """The least D of one element is lower by 0.28, and 0.30 + 0.02 for each element is asked."""
    window = jax.tree.map(lambda x: np.asarray(x)[None], moments(*[FLAT] * count))
    state = CentringChoice(window, jax.tree.map(np.zeros_like, window), np.zeros(1, np.int32))
    with np.errstate(all="ignore"):
        after, c, _, changed, _ = state.judged(
            np.zeros((1, count)), [slice(0, count)], np.array([FIRST])
        )
    assert c.tolist() == [[0.7 if changes else 0.0] * count]
    assert changed.all() == changes
    assert after.changed == (FIRST if changes else 0)


def test_the_form_of_tails_changes_by_the_mean_of_the_unknown():
    """The mean D of each unknown is lower by 0.03; forms of hierarchies gain more together."""
    curves = [FLAT, FLAT, np.multiply(FLAT, -0.2), np.multiply(FLAT, 0.2)]
    window = jax.tree.map(lambda x: np.asarray(x)[None], moments(*curves))
    state = CentringChoice(window, jax.tree.map(np.zeros_like, window), np.zeros(1, np.int32))
    parts = [slice(0, 1), slice(1, 3), slice(3, 4)]
    with np.errstate(all="ignore"):
        after, c, _, changed, _ = state.judged(np.zeros((1, 4)), parts, np.array([FIRST]), tails=2)
    assert changed.tolist() == [[False, True, True, True]]
    assert c.tolist() == [[0.0, 0.7, 0.7, 0.7]]
    assert after.changed == FIRST
    less = jax.tree.map(lambda x: np.asarray(x)[None], moments(np.multiply(FLAT, 0.1)))
    with np.errstate(all="ignore"):
        _, c, *_ = CentringChoice(less, jax.tree.map(np.zeros_like, less), np.zeros(1)).judged(
            np.ones((1, 1)), [slice(0, 1)], np.array([FIRST]), tails=1
        )
    assert c.tolist() == [[1.0]]


def test_forms_near_the_centred_one_are_avoided_where_the_posterior_has_a_neck():
    assert GRID[np.argmin(STEEP)] == 0.3
    assert choice(STEEP)[0] == [0.0]


def test_forms_that_are_narrow_at_small_scales_are_avoided():
    """A larger spread of the log scale leaves a smaller c; data that decide alone leave c = 1."""
    values = [choice(FLAT, spread=spread)[0][0] for spread in (0.0, 0.1, 0.4, 1.5)]
    assert values == [0.7, 0.7, 0.3, 0.0]
    decided = [5.0, 4.0, 3.0, 2.0, 1.0, 0.5, 0.0]
    assert choice(decided, spread=0.4)[0] == [1.0]


def test_an_element_that_has_not_moved_keeps_its_form():
    """It has no D, and does not take part in the mean of the others."""
    still = [np.nan] * len(GRID)
    assert choice(FLAT, still, FLAT, c=[0, 0.85, 0])[0] == [0.7, 0.85, 0.7]
    alone = choice(still, FLAT, c=[1, 0], parts=[slice(0, 1), slice(1, 2)])
    assert alone == ([1.0, 0.7], pytest.approx(0.28))


def test_elements_that_move_in_a_joint_block_keep_their_form():
    rows, c = np.random.default_rng(1).normal(size=(60, 2, len(GRID), 2)), np.zeros(2)
    rows *= np.exp(np.array([0.0, -0.1, -0.3, -0.6, -0.9, -0.5, -0.3]))[:, None] ** 0.5
    rows = np.concatenate([rows.reshape(60, -1, 2), np.zeros((60, 1, 2))], 1)
    state, parts = CentringChoice.start(2, float), [slice(0, 1), slice(1, 2)]
    with x64():
        for done, forms in enumerate(rows[:FIRST]):
            state = state.add(forms, done)
    state, c = jax.tree.map(lambda x: np.asarray(x)[None], state), c[None]
    _, chosen, _, changes, _ = state.judged(c, parts, FIRST, np.array([[False, True]]))
    assert chosen[0, 0] == 0
    assert chosen[0, 1] > 0
    assert changes.tolist() == [[False, True]]
    _, kept, _, none, _ = state.judged(c, parts, FIRST, np.zeros((1, 2), bool))
    assert kept.tolist() == [[0, 0]]
    assert not none.any()


def test_the_elements_of_an_unknown_are_pooled_while_draws_are_few():
    assert choice(FLAT, FLAT, RISING, count=1e6)[0] == [0.7, 0.7, 0.0]
    assert len(set(choice(FLAT, FLAT, RISING, count=2.0)[0])) == 1


def test_warm_up_makes_no_scatter():
    """A scatter keeps XLA from compiling the loop of transitions as one function."""
    values, places, others = np.array([5.0, 6.0]), np.array([1, 3]), np.arange(4.0)
    np.testing.assert_array_equal(placed(values, places, others), [0, 5, 2, 6])
    program = jax.jit(lambda values, others: placed(values, places, others))
    assert "scatter" not in program.lower(values, others).as_text()
