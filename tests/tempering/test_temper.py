"""`kg.temper`: posteriors and evidence against closed forms, and refusals."""

import jax
import numpy as np
import pytest
from scipy import stats

import kinetograph as kg
from kinetograph.bits.draws import chain_key
from kinetograph.models.starting_points import initial_points
from kinetograph.tempering import nested, parallel, sequential

DATA = np.array([1.2, 0.7, 1.9])


def conjugate():
    mu = kg.normal(0, 1, name="mu")
    kg.observe(DATA, kg.normal(mu, 1), name="y")
    return mu


EVIDENCE = stats.multivariate_normal(np.zeros(3), np.eye(3) + 1).logpdf(DATA)


@pytest.fixture(scope="module")
def model():
    return kg.model(conjugate)


def temper(model, *args, **named):
    return kg.temper(model, *args, **({"seed": 1, "progress": False} | named))


@pytest.mark.parametrize("method", ["smc", "nested", "parallel"])
def test_conjugate_model(model, method):
    tree = temper(model, method)
    attributes = tree.attrs
    assert abs(attributes["log_evidence"] - EVIDENCE) < 5 * attributes["log_evidence_se"]
    assert attributes["log_evidence_se"] < 0.1
    mu = tree["posterior"]["mu"].values.ravel()
    mean, sd = DATA.sum() / 4, 0.5
    assert abs(mu.mean() - mean) < 6 * sd / np.sqrt(300)
    assert abs(mu.std() - sd) < 6 * sd / np.sqrt(2 * 300)
    if method == "nested":
        assert (np.diff(tree["tempering"]["level"].values) > 0).all()
        assert 0.5 < tree["tempering"]["mass"].values.sum() < 1  # the rest are draws of the prior
    else:
        parts = tree["tempering"]["log_evidence"].values
        assert np.nansum(parts) == pytest.approx(attributes["log_evidence"], abs=1e-9)
        powers = tree["tempering"]["power"].values
        assert (np.diff(powers) > 0).all()
        assert powers[-1] == 1
    np.testing.assert_allclose(
        tree["sample_stats"]["lp"].values.ravel(), model.log_prob(mu[:, None]), rtol=1e-9
    )


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
@pytest.mark.parametrize("method", ["smc", "parallel"])
def test_a_rung_compiles_nothing(model, method):
    """A longer ladder traces and compiles as often as a short one."""
    sizes = {"particles": 20} if method == "smc" else {"chains": 1, "draws": 4, "warmup": 4}
    events: list[str] = []

    def run(ladder):
        events.clear()
        tree = temper(model, method, ladder=ladder, sampler=kg.samplers.RandomWalk(), **sizes)
        assert tree["tempering"].sizes["rung"] >= len(ladder)
        return [sum(part in name for name in events) for part in ("jaxpr_trace", "backend_comp")]

    def note(name, *_, **__):
        events.append(name)

    jax.monitoring.register_event_duration_secs_listener(note)
    try:
        first, short, long = run([0.5, 1]), run([0.4, 1]), run(np.linspace(0.01, 1, 12))
    finally:
        jax.monitoring.unregister_event_duration_listener(note)
    assert first[0] > 0  # events are heard
    assert long == short


@pytest.mark.parametrize("method", ["smc", "nested"])
def test_results_do_not_depend_on_threads(model, method):
    def draws(**named):
        return temper(model, method, particles=300, **named)["posterior"]["mu"]

    one, three, other = draws(threads=1), draws(threads=3), draws(seed=2)
    np.testing.assert_array_equal(one.values, three.values)
    assert (one.values != other.values).all()


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
@pytest.mark.parametrize(
    ("method", "module"), [("smc", sequential), ("nested", nested), ("parallel", parallel)]
)
def test_results_do_not_depend_on_batches(model, method, module, monkeypatch):
    """Except for rounding."""
    parallel_sizes = {"chains": 2, "draws": 20, "warmup": 20}
    sizes = parallel_sizes if method == "parallel" else {"particles": 100}
    whole = temper(model, method, **sizes)
    monkeypatch.setattr(module, "GROUP", 7)
    parts = temper(model, method, **sizes)
    for group, name in (("posterior", "mu"), ("tempering", "log_evidence")):
        np.testing.assert_allclose(parts[group][name], whole[group][name], rtol=1e-9)


def test_given_ladder(model):
    tree = temper(model, ladder=[0.2, 1.0], particles=300)
    np.testing.assert_array_equal(tree["tempering"]["power"], [0.2, 1.0])
    tree = temper(model, "parallel", ladder=[0, 0.2, 1.0], draws=20, warmup=20)
    np.testing.assert_array_equal(tree["tempering"]["power"], [0.0, 0.2, 1.0])


@pytest.mark.parametrize(
    "sampler",
    [
        kg.samplers.NUTS(),
        kg.samplers.RandomWalk(),
        kg.samplers.MALA(),
        kg.samplers.HMC(0.5, n_steps=3, tune=()),
    ],
    ids=lambda sampler: type(sampler).__name__,
)
def test_samplers(model, sampler):
    tree = temper(model, sampler=sampler, particles=400)
    attributes = tree.attrs
    assert abs(attributes["log_evidence"] - EVIDENCE) < 6 * attributes["log_evidence_se"]
    mu = tree["posterior"]["mu"].values.ravel()
    assert abs(mu.mean() - DATA.sum() / 4) < 6 * 0.5 / np.sqrt(100)


@pytest.mark.parametrize("sampler", [kg.samplers.BAOAB(0.2), kg.samplers.SGLD(0.02)])
def test_samplers_without_a_metropolis_test_warn(model, sampler):
    name = type(sampler).__name__
    with pytest.warns(
        kg.SamplingWarning, match=rf"temper: {name} has no Metropolis test"
    ) as caught:
        temper(model, sampler=sampler, particles=100)
    assert len([w for w in caught if "Metropolis" in str(w.message)]) == 1


NORMALS = np.array([0.5, -0.7, 1.2, 0.3])


def normals_of_a_scale():
    """The log likelihood has no mean under the prior."""
    s = kg.half_normal(1.0, name="s")
    kg.observe(NORMALS, kg.normal(0, s), name="z")
    return s


def test_ladder_of_a_scale_is_short():
    tree = temper(kg.model(normals_of_a_scale), "parallel", draws=60, warmup=60)
    grid = np.linspace(1e-4, 12, 200_000)
    likelihood = np.exp(stats.norm.logpdf(NORMALS[:, None], 0, grid).sum(0))
    density = 2 * stats.norm.pdf(grid) * likelihood
    truth = np.log(np.trapezoid(density, grid))
    attributes = tree.attrs
    assert tree["tempering"].sizes["rung"] <= 12
    assert abs(attributes["log_evidence"] - truth) < 6 * attributes["log_evidence_se"]
    assert abs(attributes["log_evidence_thermodynamic"] - truth) < 0.5


def test_points_that_diverge_keep_finite_places():
    model = kg.model(normals_of_a_scale)
    with pytest.warns(kg.SamplingWarning):
        tree = temper(model, sampler=kg.samplers.BAOAB(3.0), particles=100)
    assert np.isfinite(tree["posterior"]["s"].values).all()
    assert tree["tempering"]["diverging"].values.sum() > 0


def test_other_verbs_take_the_results(model):
    tree = temper(model, particles=300)
    assert kg.summary(tree)["mean", "mu"] == pytest.approx(DATA.sum() / 4, abs=0.3)
    assert kg.diagnose(tree) == []
    assert kg.predict(model, tree)["posterior_predictive"]["y"].shape == (1, 300, 3)
    assert kg.log_likelihood(model, tree)["log_likelihood"]["y"].shape == (1, 300, 3)
    assert kg.report(tree, model).findings == 0


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
@pytest.mark.parametrize("method", ["smc", "parallel"])
def test_chains_start_from_tempered_draws(model, method):
    parallel_sizes = {"chains": 2, "draws": 50, "warmup": 20}
    sizes = parallel_sizes if method == "parallel" else {"particles": 100}
    tree = temper(model, method, **sizes)
    draws = np.concatenate(tree["unconstrained_posterior/q"].values)
    starts = np.array(initial_points(model, tree, [chain_key(1, i) for i in range(4)]))
    np.testing.assert_array_equal(starts, draws[:: len(draws) // 4])
    run = kg.mcmc(model, initial=tree, chains=4, warmup=20, draws=10, seed=1, progress=False)
    assert np.isfinite(run["posterior"]["mu"].values).all()
    with pytest.raises(kg.ModelError, match=r"100 draws for 101 starts"):
        initial_points(model, tree, [chain_key(1, 0)] * 101)


@pytest.mark.parametrize("name", ["sample_smc", "bridge_sampling", "log_evidence"])
def test_habits_of_other_libraries(name):
    with pytest.raises(AttributeError, match=r"kg\.temper\(model\).*evidence"):
        getattr(kg, name)


def test_single_precision():
    with kg.precision("float32"):
        tree = temper(kg.model(conjugate), particles=400)
    assert abs(tree.attrs["log_evidence"] - EVIDENCE) < 6 * tree.attrs["log_evidence_se"]


def test_discrete_unknowns_factors_and_conditions():
    z = kg.bernoulli(0.3, name="z")
    mu = kg.normal(0, 1, name="mu")
    kg.observe(1.5, kg.normal(mu + 2 * z, 0.5), name="y")
    kg.factor(-kg.abs(mu))
    model = kg.model(mu, z)
    grid = np.linspace(-8, 8, 16001)
    joint = stats.norm.pdf(grid) * np.exp(-abs(grid))
    parts = [p * joint * stats.norm.pdf(1.5, grid + 2 * v, 0.5) for v, p in ((0, 0.7), (1, 0.3))]
    totals = [np.trapezoid(part, grid) for part in parts]
    tree = temper(model, particles=1000)
    error = tree.attrs["log_evidence_se"]
    assert abs(tree.attrs["log_evidence"] - np.log(sum(totals))) < 5 * error
    share = totals[1] / sum(totals)
    sd = np.sqrt(share * (1 - share) / 300)
    assert abs(tree["posterior"]["z"].values.mean() - share) < 6 * sd


def test_conditioned_unknowns_belong_to_the_likelihood():
    mu, sd = kg.normal(0, 1, name="mu"), kg.half_normal(1, name="sd")
    kg.observe(DATA, kg.normal(mu, sd), name="y")
    tree = temper(kg.condition(kg.model(mu, sd), {"sd": 1.0}))
    truth = EVIDENCE + stats.halfnorm.logpdf(1.0)
    assert abs(tree.attrs["log_evidence"] - truth) < 5 * tree.attrs["log_evidence_se"]


def test_constrained_unknowns_in_bounds():
    sd = kg.half_normal(1, name="sd")
    share = kg.beta(2, 2, name="share")
    kg.observe(3, kg.binomial(10, share), name="k")
    kg.observe([0.5, -1.0], kg.normal(0, sd), name="y")
    tree = temper(kg.model(sd, share))
    grid = np.linspace(1e-6, 10, 200_001)
    of_sd = np.trapezoid(
        stats.halfnorm.pdf(grid) * stats.norm.pdf(0.5, 0, grid) * stats.norm.pdf(-1, 0, grid), grid
    )
    truth = np.log(of_sd) + stats.betabinom.logpmf(3, 10, 2, 2)
    assert abs(tree.attrs["log_evidence"] - truth) < 5 * tree.attrs["log_evidence_se"]
    assert tree["posterior"]["share"].values.mean() == pytest.approx(5 / 14, abs=0.05)


def test_refusals(model):
    x, flat_one, slope = kg.normal(0, 1, shape=3), kg.variable(name="flat_one"), kg.normal(0, 1)
    kg.observe(1.0, kg.normal(x.sum(), 1))
    kg.observe(1.0, kg.normal(flat_one, 1))
    kg.observe(np.arange(10.0), kg.normal(kg.data(np.arange(10.0)) * slope, 1))
    noisy = kg.minibatch(kg.model(slope), 5)
    with pytest.raises(ValueError, match=r"particles are too few for the 3 free numbers"):
        temper(kg.model(x), particles=3)
    for ladder in ([0.5, 0.2, 1], [0.5], [], [0.1, 1.2], "abc", [-0.1, 1]):
        with pytest.raises(ValueError, match=r"ladder must be numbers that rise to 1"):
            temper(model, ladder=ladder)
    with pytest.raises(ValueError, match=r"must be 'smc', 'nested', 'parallel', got 'sm'.*smc"):
        temper(model, "sm")
    with pytest.raises(TypeError, match=r"second argument is the method.*sampler=NUTS"):
        temper(model, kg.samplers.NUTS())
    with pytest.raises(TypeError, match=r"Stretch moves ensembles"):
        temper(model, sampler=kg.samplers.Stretch())
    with pytest.raises(kg.ModelError, match=r"flat_one.* is a kg.variable, whose prior is flat"):
        temper(kg.model(flat_one))
    cuts = kg.ordered_variable(3, name="cuts")
    ordered = kg.model(cuts, factors=[-(cuts**2).sum()])
    said = r"cuts .*is a kg.ordered_variable.*in its place, such as kg.sort\(kg.normal\(0, 10, sh"
    with pytest.raises(kg.ModelError, match=said):
        temper(ordered)
    with pytest.raises(kg.ModelError, match=r"observes nothing and has no factor"):
        temper(kg.model(kg.normal(0, 1, name="alone")))
    with pytest.raises(kg.ModelError, match=r"mini-batches"):
        temper(noisy)


@pytest.mark.parametrize("method", ["smc", "nested"])
def test_sizes_of_another_method_are_refused(model, method):
    said = rf'method="{method}" has no chains=, draws= \(test_temper.py:.*give particles=1000, or'
    with pytest.raises(ValueError, match=said):
        temper(model, method, chains=8, draws=500)
    with pytest.raises(ValueError, match=r"has no warmup="):
        temper(model, method, warmup=300)  # also the default of "parallel"
    said = r'method="parallel" has no particles= .*give draws= and chains=, or take method="smc"'
    with pytest.raises(ValueError, match=said):
        temper(model, "parallel", particles=1000)
    with pytest.raises(ValueError, match=r"temper: draws must be"):
        temper(model, "parallel", draws=3)
    with pytest.raises(ValueError, match=r"temper: particles must be"):
        temper(model, method, particles=1)


def test_likelihood_that_is_zero_everywhere():
    x = kg.normal(0, 1, name="x")
    kg.observe(1.0, kg.uniform(100 + x**2, 101 + x**2), name="far")
    with pytest.raises(kg.StartError, match=r"(?s)zero.*at all of 100 draws of the prior.*far"):
        temper(kg.model(x), particles=100)


def test_few_ancestors_warn():
    x = kg.normal(0, 100, shape=6, name="x")
    kg.observe(np.zeros(6), kg.normal(x, 1e-3), name="y")
    with pytest.warns(kg.SamplingWarning, match=r"few draws of the prior .* particles=400"):
        temper(kg.model(x), particles=40)


class Interrupting:
    """A progress display that is stopped by Ctrl-C at a text."""

    def __init__(self, at):
        self.at = at

    def say(self, text):
        if text.startswith(self.at):
            raise KeyboardInterrupt

    start = update = finish = say


def test_interrupted_before_there_are_draws(model):
    for text in ("power", "sampling"):
        with pytest.raises(KeyboardInterrupt):
            kg.temper(model, "parallel", progress=Interrupting(text), seed=1, draws=10, warmup=10)


def test_interrupted_scans_return_their_draws(model, monkeypatch):
    from kinetograph.tempering.replicas import Replicas

    scan, made = Replicas._scan, []

    def interrupted(self, tuning):
        made.append(tuning)
        if made.count(False) == 30:
            raise KeyboardInterrupt
        return scan(self, tuning)

    monkeypatch.setattr(Replicas, "_scan", interrupted)
    with pytest.warns(kg.SamplingWarning, match=r"stopped by Ctrl-C after 29 of 500 draws"):
        tree = temper(model, "parallel", draws=500, warmup=20)
    assert tree["posterior"].sizes["draw"] == 29
    assert tree.attrs["interrupted"] == 1
    monkeypatch.undo()
    whole = temper(model, "parallel", draws=40, warmup=20)["posterior"]["mu"].values
    np.testing.assert_array_equal(tree["posterior"]["mu"].values, whole[:, :29])


def test_infinite_likelihood_is_refused():
    x = kg.normal(0, 1, name="x")
    kg.factor(kg.where(x > 1, np.inf, 0.0))
    with pytest.raises(kg.ModelError, match=r"(?s)infinite at \d+ of 200 draws.*factor .* inf"):
        temper(kg.model(x), particles=200)


def test_vectors_observed_in_part_are_refused():
    mu = kg.normal(0, 1, name="mu")
    rows = kg.data(np.array([[1.2, np.nan], [0.3, 0.7]]), missing="impute", name="rows")
    kg.observe(rows, kg.multivariate_normal(mu * np.ones(2), np.eye(2)), name="y")
    with pytest.raises(kg.ModelError, match=r"vectors of rows are .* in part.* rows_missing have"):
        temper(kg.model(mu))


def test_parallel_takes_more_unknowns_than_particles():
    x = kg.normal(0, 1, shape=257, name="x")
    kg.observe(np.ones(257), kg.normal(x, 10), name="y")
    tree = temper(kg.model(x), "parallel", draws=20, warmup=10)
    truth = 257 * stats.norm.logpdf(1, 0, np.sqrt(101))
    assert abs(tree.attrs["log_evidence"] - truth) < 1
