"""The slice sampler: against Neal's own algorithm, known targets and reference draws."""

import hashlib
import importlib.util
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from jax import numpy as jnp
from scipy import stats
from tests.laws import posteriors
from tests.laws.helpers import assert_mean, assert_moments, assert_sd
from tests.runs.models import check_alike, run, same_draws, schools
from tests.samplers import kernels, neal_slice
from tests.samplers.kernels import series, transitions
from tests.selection import thinned

import kinetograph as kg
from kinetograph.bits.cipher import threefry4x32
from kinetograph.bits.draws import chain_key
from kinetograph.bits.source import unit
from kinetograph.graph.precision import x64
from kinetograph.programs.fingerprint import fingerprint
from kinetograph.programs.program import Program
from kinetograph.samplers import doubling
from kinetograph.samplers import slice as own

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")

SEED = 3


def moves(log_density, points, widths, max_steps, sampler=kg.samplers.Slice):
    """One transition from each point: where it ends, and the statistics."""
    made = sampler(width=1.0, max_steps=max_steps)
    return transitions(made, log_density, points, seed=SEED, scale=np.asarray(widths, float))


def uniforms(event):
    """The random numbers of a transition, one after the other, in (0, 1]."""
    key = chain_key(SEED, 0)
    digest = hashlib.blake2s(b"slice", digest_size=4).digest()
    named = (*key[:3], key[3] ^ np.frombuffer(digest, "<u4")[0])
    for number in itertools.count():
        counter = (np.uint32(0x6E6F6973), np.uint32(0), np.uint32(number), np.uint32(event))
        with x64():
            words = threefry4x32(named, counter)
            yield float(unit(words[:2], np.dtype(float)))


def changed(tmp_path, old, new):
    """The sampler with one line of its source replaced."""
    text = Path(own.__file__).read_text()
    assert old in text
    path = tmp_path / "changed_slice.py"
    path.write_text(
        text.replace(old, new)
        .replace("from ..", "from kinetograph.")
        .replace("from .", "from kinetograph.samplers.")
    )
    spec = importlib.util.spec_from_file_location("changed_slice", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Slice


def banana(q):
    return -0.5 * q[0] ** 2 - 2.0 * (q[1] - q[0] ** 2) ** 2


@pytest.mark.parametrize(
    ("widths", "max_steps"),
    [
        pytest.param((0.3, 0.2), 100, marks=pytest.mark.slow),
        ((9.0, 5.0), 100),
        ((0.2, 0.1), 3),
    ],
)
def test_each_move_is_neals(widths, max_steps):
    points = np.random.default_rng(0).normal(size=(25, 2))
    found, _ = moves(banana, points, widths, max_steps)
    expected = [
        neal_slice.sweep(banana, point, widths, max_steps, uniforms(event))
        for event, point in enumerate(points)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("max_doublings", thinned([10, 2], 2))
def test_each_doubled_move_is_neals(max_doublings):
    """At widths from a hundredth to a hundred scales."""
    widths = (0.01, 1.0, 100.0)
    points = np.random.default_rng(0).normal(size=(12, 3))
    made = kg.samplers.Slice(width=1.0, doubling=True, max_doublings=max_doublings)
    found, statistics = transitions(made, two_modes, points, seed=SEED, scale=widths, small=True)
    expected = [
        neal_slice.doubling_sweep(two_modes, point, widths, max_doublings, uniforms(event))
        for event, point in enumerate(points)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert (statistics["n_evaluations"] >= 9).all()


def two_modes(q):
    """In each coordinate a narrow mode at -2 and a broad one at 2, of equal weight."""
    xp = np if isinstance(q, np.ndarray) else jnp
    return xp.logaddexp(-50 * (q + 2) ** 2 + np.log(10), -0.5 * (q - 2) ** 2).sum()


@pytest.mark.slow
def test_doubling_keeps_the_target_at_all_widths(monkeypatch):
    """Points of the target are points of the target after a move; without the test they are not.

    There are 9 moments, in standard errors: a limit of 5.5 is passed by chance with probability
    below 4e-7.
    """
    rng = np.random.default_rng(1)
    narrow = rng.random((20_000, 3)) < 0.5
    noise = rng.normal(size=narrow.shape)
    start = np.where(narrow, -2 + 0.1 * noise, 2 + noise)
    made = kg.samplers.Slice(width=1.0, doubling=True, max_doublings=6)

    truth = np.repeat([0, 4 + (0.01 + 1) / 2, stats.norm.cdf(2) / 2], 3)

    def moments(widths):
        q, _ = transitions(made, two_modes, start, seed=SEED, scale=widths, small=True)
        return np.concatenate([q, q**2, q > 0], 1) - truth

    def errors(values):
        return np.abs(values.mean(0)) / (values.std(0) / np.sqrt(len(values)))

    assert errors(moments((0.01, 1.0, 100.0))).max() < 5.5
    monkeypatch.setattr(doubling, "_reachable", lambda *_: (True, 0))
    monkeypatch.setattr(kernels, "KERNELS", {})  # none made before the change
    share = moments((0.6, 0.7, 0.8))[:, 6:].sum(1)  # in the broad mode, of all coordinates
    assert errors(share) > 7


@pytest.mark.slow
def test_long_doubled_chains_at_all_widths():
    """Where intervals have doubled often enough, the width does not even change the speed much."""
    made = kg.samplers.Slice(doubling=True, max_doublings=12, scale=[0.01, 1.0, 100.0], width=1.0)
    q = series(made, two_modes, np.ones((4, 3)), 8000)
    assert_moments(q, 0.0, np.sqrt(4 + (0.01 + 1) / 2))
    for i in range(3):
        share = (q[:, :, i] > 0).astype(float)
        assert_mean(share, stats.norm.cdf(2) / 2, what="share above 0")


@pytest.mark.slow
def test_the_control_of_moves(tmp_path):
    """The wrong end of the interval moves."""
    faulty = changed(tmp_path, "if offset < 0:", "if offset > 0:")
    found, _ = moves(banana, np.ones((25, 2)), (9.0, 5.0), 100, faulty)
    right, _ = moves(banana, np.ones((25, 2)), (9.0, 5.0), 100)
    assert not np.allclose(found, right)


def test_evaluations_are_counted():
    """Two for the ends, which are outside at once, and one for each proposal."""
    points = np.zeros((50, 1))
    _, statistics = moves(lambda q: -1e12 * q[0] ** 2, points, [1e-3], 100)
    proposals = 1 / statistics["acceptance_rate"]
    np.testing.assert_allclose(statistics["n_evaluations"], 2 + proposals, rtol=1e-12)


def test_a_density_that_is_nan_is_outside():
    """log(x) - x is NaN for a negative x, where a run asks for it."""
    x = kg.variable(name="x")
    model = kg.model(x, factors=[kg.log(x) - x])
    tree = run(model, sampler=kg.samplers.Slice(), initial={"x": 1.0}, draws=10_000)
    draws = tree["posterior"]["x"].values
    assert (draws > 0).all()
    assert_law(draws, stats.gamma(2))


# Laws.


def law(name):
    """A model, and the distribution of its only unknown."""
    if name == "normal":
        return kg.model(x=kg.normal(1, 2)), stats.norm(1, 2)
    if name == "skewed":
        return kg.model(x=kg.gamma(3.0, 2.0)), stats.gamma(3.0, scale=0.5)
    if name == "bounded":
        return kg.model(x=kg.beta(0.8, 2.5)), stats.beta(0.8, 2.5)
    return kg.model(x=kg.laplace(0, 1)), stats.laplace(0, 1)


def assert_law(draws, truth):
    """Mean, standard deviation, and the shares below five quantiles."""
    assert_moments(draws, truth.mean(), truth.std())
    for p in (0.02, 0.2, 0.5, 0.8, 0.98):
        assert_mean((draws < truth.ppf(p)).astype(float), p, what=f"share below quantile {p}")


@pytest.mark.parametrize("name", thinned(["skewed", "normal", "bounded", "with a kink"], 4))
def test_known_laws(name):
    model, truth = law(name)
    tree = run(model, sampler=kg.samplers.Slice(), draws=10_000, warmup=200, chains=2)
    assert_law(tree["posterior"]["x"].values, truth)


@pytest.mark.slow
def test_two_modes():
    """Intervals that grow reach from one mode to the other."""
    x = kg.variable(name="x")
    log_p = kg.logaddexp(-0.5 * (x + 3) ** 2, np.log(2) - 0.5 * (x - 3) ** 2)
    tree = run(kg.model(x, factors=[log_p]), sampler=kg.samplers.Slice(), draws=10_000, chains=2)
    draws = tree["posterior"]["x"].values
    assert_moments(draws, 1.0, 3.0)
    assert_mean((draws > 0).astype(float), 2 / 3 * stats.norm.cdf(3) + 1 / 3 * stats.norm.sf(3))


@pytest.mark.slow
def test_correlated_unknowns():
    x = kg.multivariate_normal([1.0, -2.0], [[1.0, 1.2], [1.2, 4.0]])
    tree = run(kg.model(x), sampler=kg.samplers.Slice(), draws=10_000, chains=2)
    draws = tree["posterior"]["x"].values
    assert_moments(draws, [1.0, -2.0], [1.0, 2.0])
    assert_mean((draws[..., 0] - 1) * (draws[..., 1] + 2), 1.2, what="covariance")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", thinned(["eight_schools-eight_schools_noncentered", "garch-garch11"], 2)
)
def test_agrees_with_reference_draws(name):
    model = posteriors.build(name)
    options = posteriors.OPTIONS.get(name, {})
    tree = run(model, sampler=kg.samplers.Slice(), draws=8000, warmup=500, chains=2, **options)
    draws = posteriors.quantities(tree)
    for quantity, r in posteriors.reference(name).items():
        x = draws[quantity]
        assert_mean(x, r["mean"], truth_error=r["mcse_mean"], what=f"mean of {quantity}")
        assert_sd(x, r["sd"], truth_ess=r["ess"], what=f"sd of {quantity}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    thinned(
        [
            ("log_p_new < level", "log_p_new < level - 1"),  # a little outside the slice
            ("> level and to_left > 0", "> level + 1 and to_left > 0"),  # too short to the left
            ("level = log_p + log1p(", "level = log_p + 0.8 * log1p("),
        ],
        3,
    ),
)
def test_controls(tmp_path, old, new):
    """A fault in one line shows."""
    faulty = changed(tmp_path, old, new)
    model, truth = law("skewed")
    tree = run(model, sampler=faulty(width=1.0), draws=10_000, warmup=200, chains=2)
    with pytest.raises(AssertionError, match="is off by"):
        assert_law(tree["posterior"]["x"].values, truth)


@pytest.mark.slow
def test_the_unchanged_source_passes(tmp_path):
    copy = changed(tmp_path, "if offset < 0:", "if offset < 0.0:")
    model, truth = law("skewed")
    tree = run(model, sampler=copy(width=1.0), draws=10_000, warmup=200, chains=2)
    assert_law(tree["posterior"]["x"].values, truth)


# Runs.


@pytest.mark.slow
def test_its_draws_obey_the_promises_of_runs():
    """The same on one thread and two, alone and among others; thinned they are each third."""
    sampler = kg.samplers.Slice()
    one = run(schools(), sampler=sampler, chains=4, threads=1)
    assert same_draws(run(schools(), sampler=sampler, chains=4, threads=2), one)
    alone = run(schools(), sampler=sampler, chains=1)
    assert np.array_equal(alone["posterior"]["mu"], one["posterior"]["mu"][:1])
    thin = run(schools(), sampler=sampler, chains=4, draws=20, thin=3)
    assert np.array_equal(thin["posterior"]["mu"], one["posterior"]["mu"][:, 2::3])


def test_what_is_recorded():
    tree = run(schools(), sampler=kg.samplers.Slice(width=2.0))
    found = tree["sample_stats"]
    assert found["n_evaluations"].dtype.kind == "i"
    # Each of ten coordinates takes two for the ends and one for a proposal at least.
    assert int(found["n_evaluations"].min()) >= 30
    assert float(found["acceptance_rate"].max()) <= 1
    settings = json.loads(tree.attrs["sampler_settings"])
    assert settings == {
        "width": 2.0,
        "max_steps": 100,
        "doubling": False,
        "max_doublings": 5,
        "inverse_temperature": 1.0,
    }
    scale = tree["sampler_state"]["hyper_scale"].values
    assert len(np.unique(scale)) == scale.size  # warm-up has set it


@pytest.mark.slow
def test_a_batch_of_chains_makes_the_same_draws():
    options = {"sampler": kg.samplers.Slice(), "chains": 3, "draws": 10, "warmup": 20}
    check_alike(*(run(schools(), chain_method=m, **options) for m in ("threads", "batch")))


def test_its_program_can_be_kept():
    model = schools()
    texts = [
        fingerprint(Program(model, sampler, model.targets), None)
        for sampler in (kg.samplers.Slice(), kg.samplers.Slice(tune=()), kg.samplers.NUTS())
    ]
    assert None not in texts
    assert len(set(texts)) == 3


@pytest.mark.slow
def test_a_density_with_a_loop():
    """Whose trips depend on the unknown: x ~ normal(0, 1), its square added up in a loop."""
    x = kg.variable(name="x")
    n, total = kg.while_loop(
        lambda n, total: n < 3 + abs(x), lambda n, total: (n + 1, total - x**2 / 6), [0.0, 0.0]
    )
    model = kg.model(x, factors=[total * 3 / n])
    tree = run(model, sampler=kg.samplers.Slice(), draws=5000, chains=2)
    assert_moments(tree["posterior"]["x"].values, 0.0, 1.0)


def test_a_start_where_there_is_no_density():
    x = kg.variable(name="x")
    model = kg.model(x, factors=[kg.log(x - 1e9)])
    with pytest.raises(kg.StartError):
        run(model, sampler=kg.samplers.Slice())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 0.0}, "width must be positive, got 0.0"),
        ({"width": np.nan}, "width must be finite"),
        ({"max_doublings": 0}, "max_doublings must be at least 1, got 0"),
        ({"doubling": "yes"}, "doubling must be False or True, got 'yes'"),
        ({"max_steps": 0}, "max_steps must be at least 1, got 0"),
        ({"max_steps": 2.5}, "max_steps must be a whole number"),
        ({"max_steps": True}, "max_steps must be a whole number"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        kg.samplers.Slice(**settings)
