"""Warm-up decides whether coefficients and effects are sampled together."""

import logging
import re
import time

import jax
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.adaptation.centring_choice import CentringChoice
from kinetograph.adaptation.form_choice import choose_forms
from kinetograph.adaptation.joint_choice import ROWS, UNUSED, WANTED, JointChoice
from kinetograph.adaptation.windows import EVERY, is_judged
from kinetograph.graph.precision import x64
from kinetograph.programs import engine
from kinetograph.programs.joint_information import at_start, informed
from kinetograph.programs.pace import Pace
from kinetograph.runs.variants import run_variants

LATE, SIZE = 1000, 3
INFINITE = np.full(SIZE, np.inf)


def updated(state, first, transitions, spread, rng, least=INFINITE, free=lambda k: np.ones(2)):
    """The first number of the information after transitions; `spread` has sd(y) sd(slope)."""
    size = state.window.evidence.mean.shape[-1]
    information = np.zeros((1, size + 1, size))
    information[0, 0, 0] = first
    asked = []
    with x64():
        for done in transitions:
            rows = rng.normal(size=(ROWS, size))
            rows[:2] *= np.sqrt(spread[0])
            rows[2:] *= np.sqrt(spread[1])
            state = state.add(rows, free(done), done)
            if not is_judged(done + 1, LATE):
                continue
            stacked = jax.tree.map(lambda x: np.asarray(x)[None], state)
            stacked, new, _, _ = stacked.judged(information, least, np.array([done + 1]))
            state = jax.tree.map(lambda x: x[0], stacked)
            if new[0, 0, 0] != information[0, 0, 0]:
                asked.append(done + 1)
            information = new
    return state, float(information[0, 0, 0]), asked


def start():
    return JointChoice.start(SIZE, 2, float)


def test_information_is_asked_for_where_no_form_is_good():
    rng = np.random.default_rng(1)
    assert updated(start(), UNUSED, range(300), (1.0, 1.0), rng)[1:] == (UNUSED, [])
    state, first, asked = updated(
        start(), UNUSED, range(60), (4.0, 4.0), rng, free=np.full(2, 1.0).__mul__
    )
    assert (first, asked) == (WANTED, [50])
    np.testing.assert_allclose(state.centre, np.mean(np.arange(10, 50)))
    assert int(state.changed) == 50


def test_good_forms_of_the_elements_are_enough():
    rng = np.random.default_rng(2)
    good = np.full(SIZE, 0.02)
    assert updated(start(), UNUSED, range(300), (4.0, 4.0), rng, good)[1:] == (UNUSED, [])
    some = np.array([0.02, np.inf, np.inf])
    assert updated(start(), UNUSED, range(60), (4.0, 4.0), rng, some)[1] == WANTED


@pytest.mark.parametrize(
    ("size", "spread", "expected"),
    [(64, 1.15, UNUSED), (64, 1.28, WANTED), (65, 1.28, UNUSED), (65, 1.5, WANTED)],
)
def test_large_blocks_must_gain_more(size, spread, expected):
    """D is the logarithm of the spread: 0.14, 0.25 or 0.41."""
    rng, block = np.random.default_rng(3), JointChoice.start(size, 2, float)
    infinite = np.full(size, np.inf)
    assert updated(block, UNUSED, range(60), (spread, spread), rng, infinite)[1] == expected


def test_information_is_computed_again_or_left_for_good():
    rng = np.random.default_rng(3)
    state, *_ = updated(start(), UNUSED, range(50), (9.0, 9.0), rng)
    good = updated(state, 1.0, range(50, 400), (9.0, 1.0), rng)
    assert good[1:] == (1.0, [])
    again = updated(state, 1.0, range(50, 100), (9.0, 3.0), rng)
    assert again[1:] == (WANTED, [100])
    state, first, asked = updated(state, 1.0, range(50, 100), (3.0, 9.0), rng)
    assert (first, asked) == (UNUSED, [100])
    assert updated(state, UNUSED, range(100, 400), (9.0, 9.0), rng)[1:] == (UNUSED, [])


def test_draws_in_the_coordinates_of_before_do_not_count():
    rng = np.random.default_rng(6)
    state, first, _ = updated(start(), UNUSED, range(50), (9.0, 9.0), rng)
    assert first == WANTED
    assert state.before.evidence.count == state.before.free.count == 0
    assert updated(state, 1.0, range(50, 400), (9.0, 1.0), rng)[1:] == (1.0, [])


def test_the_least_divergences_of_forms_are_those_of_the_members():
    """The members have bad coordinates; good forms of the effects are not enough for the mean."""
    chain = kg.chain(kg.model(grouped), kg.samplers.NUTS(), warmup=120, seed=1)
    warmup, state = chain._program.warmup, jax.tree.map(lambda x: x[None], chain.state)
    given, judged = [], JointChoice.judged

    class Recorded(JointChoice):
        def judged(self, information, least, transition):
            given.append(least)
            return judged(self, information, least, transition)

    rows = np.random.default_rng(7).normal(size=(40, *state.adaptation.centring.window.mean.shape))
    window = state.adaptation.centring.window._replace(
        count=np.full(1, 40.0), mean=rows.mean(0), squares=40 * rows.var(0)
    )
    centring = state.adaptation.centring._replace(window=window)
    adaptation = state.adaptation._replace(
        centring=centring, joint=Recorded(*state.adaptation.joint)
    )
    choose_forms(warmup, adaptation, state.hyper, np.array([100]))
    ((least,),) = given
    assert (warmup.joint_forms < 0).sum() == 1  # the intercept has no forms
    np.testing.assert_array_equal(np.isinf(least), warmup.joint_forms < 0)


def test_nothing_changes_at_the_end_of_warm_up():
    rng = np.random.default_rng(4)
    last = range(LATE - EVERY + 1, LATE)
    assert updated(start(), UNUSED, last, (9.0, 9.0), rng)[1:] == (UNUSED, [])


GROUPS, EACH, NOISE = 4, 10, 0.6
GROUP = np.repeat(np.arange(GROUPS), EACH)


def values():
    rng = np.random.default_rng(5)
    return 1.5 + rng.normal(0, 0.8, GROUPS)[GROUP] + NOISE * rng.normal(size=GROUPS * EACH)


def grouped():
    """Effects of groups whose intercept is apart."""
    sd, a = kg.half_normal(2, name="sd"), kg.normal(0, 5, name="a")
    z = kg.normal(0, 1, shape=GROUPS, name="z")
    kg.observe(values(), kg.normal(a + (sd * z)[GROUP], NOISE), name="y")
    return {"sd": sd, "a": a, "effects": sd * z}


def exact():
    """Means and standard deviations: normal given sd, and a sum over sd."""
    grid = np.linspace(1e-3, 12, 4000)
    y, design = values(), np.column_stack([np.ones(len(GROUP)), np.eye(GROUPS)[GROUP]])
    weights, means, seconds = [], [], []
    for sd in grid:
        prior = np.diag([25.0, *np.full(GROUPS, sd**2)])
        both = design @ prior @ design.T + NOISE**2 * np.eye(len(y))
        gain = np.linalg.solve(both, design @ prior).T
        mean = gain @ y
        fit = -0.5 * (np.linalg.slogdet(both)[1] + y @ np.linalg.solve(both, y))
        weights.append(fit - sd**2 / 8)
        means.append(mean)
        seconds.append(mean**2 + np.diag(prior - gain @ design @ prior))
    weights = np.exp(np.array(weights) - max(weights))
    weights /= weights.sum()
    mean = weights @ np.column_stack([grid, means])
    second = weights @ np.column_stack([grid**2, seconds])
    return mean, np.sqrt(second - mean**2)


@pytest.mark.parametrize("method", ["threads", "batch"])
def test_the_posterior_of_a_grouped_model_is_exact(method, caplog):
    caplog.set_level(logging.INFO, "kinetograph.runs")
    tree = kg.mcmc(kg.model(grouped), seed=2, chain_method=method, progress=False)
    assert (tree["sampler_state"]["hyper_joint"].values[:, 0, 0] >= 0).all()
    assert not [text for text in caplog.messages if "compiling again" in text]
    posterior = tree["posterior"]
    draws = np.stack([posterior["sd"].values, posterior["a"].values], -1)
    draws = np.concatenate([draws, posterior["effects"].values], -1)
    summary = kg.summary(tree)
    names = ["sd", "a", *(f"effects[{i}]" for i in range(GROUPS))]
    ess = np.array([summary["ess_bulk", name] for name in names])
    mean, sd = exact()
    z = (draws.mean((0, 1)) - mean) / (sd / np.sqrt(ess))
    assert np.abs(z).max() < 6  # false alarms: 2e-8
    np.testing.assert_allclose(draws.std((0, 1)), sd, rtol=0.15)


@pytest.mark.parametrize("method", ["threads", "batch"])
def test_chains_leave_the_block_for_a_second_program(method, monkeypatch, caplog):
    """The written form is better for all chains, says a changed rule."""
    add = JointChoice.add
    monkeypatch.setattr(
        JointChoice, "add", lambda self, rows, *more: add(self, rows.at[2:].multiply(10.0), *more)
    )
    monkeypatch.setenv("KINETOGRAPH_CACHE", "off")
    caplog.set_level(logging.INFO, "kinetograph.runs")
    begun, settings = time.perf_counter(), {"draws": 20, "chain_method": method}
    tree = kg.mcmc(kg.model(grouped), seed=2, progress=False, **settings)
    np.testing.assert_array_equal(tree["sampler_state"]["hyper_joint"].values[:, 0, 0], UNUSED)
    what = "for coefficients and effects sampled one by one"
    place = caplog.messages.index(f"mcmc: compiling again, {what} ...")
    text = caplog.messages[place + 1]
    assert text.startswith(f"mcmc: {what}: traced in ")
    _, traced, _, compiled = re.findall(r"[\d.]+ s|traced in|(?:compiled|loaded) in", text)
    within = float(traced[:-2]) + float(compiled[:-2])
    assert tree.attrs["trace_time"] + tree.attrs["compile_time"] > within
    assert 0 < tree.attrs["sampling_time"] < time.perf_counter() - begun - within + 0.02


def test_a_chain_asks_at_its_starting_point_once():
    chain = kg.chain(kg.model(grouped), kg.samplers.NUTS(), warmup=0, seed=1)
    state = chain.state
    assert at_start(state) is state  # without a warm-up
    state = state._replace(phases=state.phases._replace(late=np.int32(100)))
    asking = at_start(state)
    assert asking.hyper["joint"][0, 0] == WANTED
    np.testing.assert_array_equal(asking.adaptation.joint.centre, state.position.q)
    assert state.hyper["joint"][0, 0] == UNUSED
    answered = asking._replace(hyper=state.hyper)
    assert at_start(answered) is answered  # the information was not finite
    later = state._replace(transition=np.int32(1))
    assert at_start(later) is later


def test_single_chains_and_refits_begin_in_the_block_too(monkeypatch):
    """Each compiles one block program."""
    compiled, compile_one = [], engine.make_executable

    def counted(program, batch, device, which, *arguments, **options):
        compiled.append(which)
        return compile_one(program, batch, device, which, *arguments, **options)

    monkeypatch.setattr(engine, "make_executable", counted)
    chain = kg.chain(kg.model(grouped), kg.samplers.NUTS(), warmup=120, seed=1)
    assert chain.state.hyper["joint"][0, 0] >= 0
    assert sorted(compiled) == ["block", "search"]
    compiled.clear()
    (tree,) = run_variants("test", kg.model(grouped), [{}], draws=20, chains=2, seed=1)
    assert (tree["sampler_state"]["hyper_joint"].values[:, 0, 0] >= 0).all()
    assert sorted(compiled) == ["block", "search"]


def test_short_warm_ups_begin_as_written(monkeypatch):
    """Without a time to judge the coordinates nothing is computed."""
    monkeypatch.setattr(engine, "informed", None)
    tree = kg.mcmc(kg.model(grouped), warmup=60, draws=5, seed=1, chains=1, progress=False)
    assert tree["sampler_state"]["hyper_joint"].values[0, 0, 0] == UNUSED


def test_draws_statistics_and_state_are_those_of_the_free_state():
    model = kg.model(grouped)
    settings = {"warmup": 150, "chains": 2, "progress": False}
    tree = kg.mcmc(model, draws=60, seed=1, keep_unknowns=True, **settings)
    used = tree["sampler_state"]["hyper_joint"].values[:, 0, 0] >= 0
    assert used.any()
    q, lp = tree["sampler_state"]["position_q"].values, tree["sample_stats"]["lp"].values
    np.testing.assert_allclose(lp[:, -1], model.log_prob(q), rtol=1e-9)
    np.testing.assert_allclose(np.exp(q[:, 0]), tree["posterior"]["sd"].values[:, -1], rtol=1e-9)
    np.testing.assert_allclose(
        tree["sampler_state"]["position_gradient"].values, model.gradient(q), rtol=1e-6, atol=1e-8
    )
    more = kg.mcmc(model, draws=60, seed=2, tuned=tree, **(settings | {"warmup": 0}))
    np.testing.assert_array_equal(
        more["sampler_state"]["hyper_joint"], tree["sampler_state"]["hyper_joint"]
    )
    longer = kg.mcmc(model, draws=90, seed=1, **settings)
    extended = kg.extra_samples(tree, model, 30, progress=False)
    np.testing.assert_array_equal(extended["posterior"]["a"], longer["posterior"]["a"])


def test_models_as_written_have_no_block():
    sampler = kg.samplers.NUTS(parametrisation="as written")
    tree = kg.mcmc(kg.model(grouped), sampler, draws=10, warmup=10, seed=1, progress=False)
    assert "hyper_joint" not in tree["sampler_state"]


def test_the_time_of_the_information_is_not_that_of_a_block(monkeypatch):
    blocks, asked, compute = [], [], engine.informed

    def slow(*arguments):
        asked.append(arguments)
        time.sleep(2.0 if len(asked) == 1 else 0.0)
        return compute(*arguments)

    def adjust(pace, spent, seconds, overhead=0.0):
        blocks.append(seconds)

    monkeypatch.setattr(engine, "informed", slow)
    monkeypatch.setattr(Pace, "adjust", adjust)
    kg.mcmc(kg.model(grouped), seed=2, draws=20, chains=1, progress=False)
    assert asked
    assert max(blocks) < 2.0


def test_the_division_of_a_batch_into_blocks_changes_nothing(monkeypatch):
    """Some chains use the block, and some leave it."""
    judged = JointChoice.judged

    def mixed(self, information, least, transition):
        signs, lasts = (np.sign(self.window.evidence.mean[:, 1, i]) for i in (0, 1))
        state, new, scale, back = judged(
            self, information, np.where(signs[:, None] > 0, -9.0, 9.0) + 0 * least, transition
        )
        leaves = (transition == 100) & (lasts > 0) & (new[:, 0, 0] >= 0)
        new[:, 0, 0] = np.where(leaves, UNUSED, new[:, 0, 0])
        return state, new, scale, back | leaves

    monkeypatch.setattr(JointChoice, "judged", mixed)
    monkeypatch.setenv("KINETOGRAPH_CACHE", "off")
    model, trees = kg.model(grouped), []
    for gradients in (60, 100_000):
        monkeypatch.setattr(
            Pace, "adjust", lambda self, *_, n=gradients: setattr(self, "gradients", n)
        )
        settings = {"chains": 8, "chain_method": "batch", "progress": False}
        trees.append(kg.mcmc(model, draws=20, warmup=200, seed=3, **settings))
    one, other = trees
    used = one["sampler_state"]["hyper_joint"].values[:, 0, 0] >= 0
    tried = one["sampler_state"]["adaptation_joint_tried"].values
    assert used.any()
    assert (tried & ~used).any()
    for group in ("posterior", "sample_stats"):
        for name in one[group]:
            np.testing.assert_array_equal(one[group][name], other[group][name], err_msg=name)


def test_information_is_that_of_the_centre_or_is_not_used():
    model = kg.model(grouped)
    chain = kg.chain(model, kg.samplers.NUTS(), warmup=0, seed=1)
    program, state, centre = chain._program, chain.state, np.array([0.3, 1.0, 0.2, -0.1, 0.4, 0.5])
    wanted = np.array(state.hyper["joint"])
    wanted[0, 0] = WANTED

    def found(centre):
        joint = state.adaptation.joint._replace(centre=centre)
        asking = state._replace(
            hyper=state.hyper | {"joint": wanted},
            adaptation=state.adaptation._replace(joint=joint),
        )
        with x64():
            return np.asarray(informed(program, asking, chain._data, None).hyper["joint"])

    design = np.column_stack([np.ones(len(GROUP)), np.eye(GROUPS)[GROUP]])
    information = found(centre)
    np.testing.assert_allclose(information[:-1], design.T @ design / NOISE**2, atol=1e-6)
    np.testing.assert_allclose(information[-1], design.T @ values() / NOISE**2, atol=1e-6)
    assert found(np.full(6, np.nan))[0, 0] == UNUSED


def test_forms_of_members_rest_while_the_block_is_in_use(monkeypatch):
    """Their draws would change them, and begin the metric again."""
    given, judged = [], CentringChoice.judged

    def recorded(self, c, parts, transition, alone):
        given.append(alone)
        return judged(self, c, parts, transition, alone)

    monkeypatch.setattr(CentringChoice, "judged", recorded)
    chain = kg.chain(kg.model(grouped), kg.samplers.NUTS(), warmup=120, seed=1)
    assert len(chain._program.centring.places) == GROUPS
    assert [alone.tolist() for alone in given] == [[[False] * GROUPS]]
    warmup, state = chain._program.warmup, jax.tree.map(lambda x: x[None], chain.state)
    hyper = state.hyper | {"joint": np.full((1, GROUPS + 2, GROUPS + 1), UNUSED)}
    choose_forms(warmup, state.adaptation, hyper, np.array([100]))
    assert given[1].tolist() == [[True] * GROUPS]
