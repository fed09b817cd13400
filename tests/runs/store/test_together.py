"""Stores that are filled by several processes, gone on with by others, and with rows of warm-up."""

import numpy as np
import pytest
from tests.runs.models import gaussian, run, same_draws, schools
from tests.runs.store.test_store import PowerCut, cut, flip

import kinetograph as kg
from kinetograph.programs.sealed_files import Damaged, twins
from kinetograph.runs.checkpoints import Keeper, opened
from kinetograph.runs.rows import TransitionRows
from kinetograph.runs.store.warmups import Warmups

pytestmark = [
    pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning"),
    pytest.mark.usefixtures("small_blocks"),
]


def resumed(path, **options):
    return kg.resume(path, progress=False, **options)


def test_averages_are_those_of_all_chains(path):
    """Whoever ends last; so are the states, and what attributes count."""
    options = {"averages": [kg.observables.potential], "keep": False}
    every = run(gaussian(), chains=5, **options)
    run(gaussian(), chains=range(2, 5), store=path, **options)
    tree = run(gaussian(), chains=range(2), store=path, **options)
    for group in ("averages", "averages/mean", "averages/variance", "sampler_state"):
        assert tree[group].dataset.identical(every[group].dataset.assign_attrs(tree[group].attrs))
    assert tree.attrs["gradients"] == every.attrs["gradients"]
    more = resumed(path, draws=90, chains=[0, 1])
    assert more["averages/count"].values.tolist() == [90, 90, 60, 60, 60]
    assert np.array_equal(more["averages/mean/potential"][2:], every["averages/mean/potential"][2:])


def test_what_is_stored_of_numbers_is_the_same_of_all(path):
    run(gaussian(), store=path)
    with pytest.raises(kg.KinetographError, match="to a run with another dtype"):
        run(gaussian(), store=path, chains=range(2, 3), dtype="float32")
    with pytest.raises(kg.KinetographError, match="to a run with another keep_warmup"):
        run(gaussian(), store=path, chains=range(2, 3), keep_warmup=True)


@pytest.mark.parametrize("chains", [range(0), [0, 0], 1, "0", [0.0], [True]])
def test_what_are_no_chains_of_a_store(path, chains):
    run(gaussian(), store=path)
    with pytest.raises(ValueError, match="chains must be the numbers of chains of the store"):
        resumed(path, chains=chains)


def test_more_draws_than_can_be_counted(path):
    tree = run(gaussian(), store=path)
    for call in (
        lambda: resumed(path, draws=2**40),
        lambda: kg.extra_samples(tree, gaussian(), 2**40, progress=False),
    ):
        with pytest.raises(ValueError, match="transitions a chain are too many"):
            call()
    for threads in (0, "two"):
        with pytest.raises(ValueError, match="threads must be a whole number"):
            resumed(path, threads=threads)


def test_how_many_draws_were_wanted_last_is_known(path):
    run(gaussian(), store=path)

    def power_cut(so_far):
        raise PowerCut

    with pytest.raises(PowerCut):
        resumed(path, draws=5000, callback=power_cut)
    assert resumed(path)["posterior"].sizes["draw"] == 5000


def test_results_are_of_all_chains_where_each_has_enough(path):
    """Though one of them may be far ahead."""
    run(gaussian(), store=path)
    resumed(path, chains=[0], draws=500)
    tree = resumed(path, draws=90)
    assert tree["posterior"].sizes["chain"] == 2
    assert same_draws(tree, run(gaussian(), draws=90))


@pytest.mark.parametrize(("draws", "seen"), [(200, (2, 60)), (400, (1, 400))])
def test_a_chain_that_is_far_behind_is_left_out(path, draws, seen):
    run(gaussian(), store=path)
    sizes = resumed(path, chains=[0], draws=draws)["posterior"].sizes
    assert (sizes["chain"], sizes["draw"]) == seen


def test_that_a_run_was_forced_is_never_forgotten(path):
    x = kg.normal(0, 1, name="x")
    kg.observe(kg.data([1.0], name="y"), kg.normal(x, 1))
    model = kg.model(x)
    run(model, store=path)
    model.set_data(y=[5.0])
    said = "the data y have other values"
    assert resumed(path, model=model, draws=90, force=True).attrs["forced"] == said
    assert resumed(path, draws=120).attrs["forced"] == said
    assert opened(path).attrs["forced"] == said


def test_given_values_of_unknowns_are_data(path):
    x, y = kg.normal(0, 1, name="x"), kg.normal(0, 1, name="y")
    kg.observe([1.0], kg.normal(x + y, 1))
    fixed, other = (kg.condition(kg.model(x, y), y=value) for value in (1.0, 2.0))
    run(fixed, store=path)
    with pytest.raises(kg.KinetographError, match="the data y have other values"):
        resumed(path, model=other, draws=90)
    resumed(path, model=fixed, draws=90)


OPTIONS = {"keep_warmup": True, "warmup": 120, "draws": 200}
GROUPS = ("posterior", "sample_stats", "warmup_posterior", "warmup_sample_stats")


def cut_early(path, monkeypatch):
    """A stored run that was ended in its warm-up."""
    usual, ends = Keeper.keep, []

    def keep(keeper, chain):
        usual(keeper, chain)
        if chain.transition > 20 and not ends:
            ends.append(chain)
            raise PowerCut

    with monkeypatch.context() as patched:
        patched.setattr(Keeper, "keep", keep)
        with pytest.raises(PowerCut):
            run(schools(), store=path, checkpoint_every=0.0, **OPTIONS)
    held = kg.stashed_samples()
    assert held["posterior"].sizes["draw"] == 0 < held["warmup_posterior"].sizes["draw"] < 120


@pytest.mark.parametrize("early", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_rows_of_warm_up_are_kept(path, early, monkeypatch):
    """Cut before the first draw, and after."""
    whole = run(schools(), **OPTIONS)
    if early:
        cut_early(path, monkeypatch)
    else:
        cut(path, **OPTIONS)
    tree = resumed(path)
    assert same_draws(tree, whole, GROUPS)
    assert same_draws(opened(path).load(), whole, GROUPS)
    assert same_draws(resumed(path), whole, GROUPS)
    more = run(schools(), store=path, chains=range(2, 4), **OPTIONS)
    assert same_draws(more, run(schools(), chains=4, **OPTIONS), GROUPS)


@pytest.mark.parametrize(
    "how",
    ["flipped", *(pytest.param(how, marks=pytest.mark.slow) for how in ("gone", "states"))],
)
@pytest.mark.filterwarnings("ignore:resume:kinetograph.KinetographWarning")
def test_rows_of_warm_up_that_are_lost_are_drawn_again(path, how):
    cut(path, at=100, **OPTIONS)
    files = sorted((path / ".kinetograph").glob("warmup-1-*"))
    if how == "flipped":
        flip(files[0])
    elif how == "gone":
        files[-1].unlink()
    else:  # it begins anew, and writes its rows in other parts
        for twin in twins(path / ".kinetograph" / "chain-1"):
            flip(twin)
    tree = resumed(path, checkpoint_every=float("inf"))
    assert same_draws(tree, run(schools(), **OPTIONS), GROUPS)


def test_parts_of_warm_up_go_with_states(tmp_path):
    """Those that a state does not know of are of one that was lost."""

    def part(first, end):
        each = np.arange(first, end, dtype=float)
        return TransitionRows([each * 2, each.reshape(-1, 1)], each.reshape(-1, 1) * 3)

    held = Warmups(tmp_path, 3)
    for first, end in ((0, 100), (100, 104), (104, 110)):
        held.add(part(first, end))
    Warmups(tmp_path, 33).add(part(0, 7))
    assert held.count == 110
    again = Warmups(tmp_path, 3, count=100)
    assert len(TransitionRows.joined(again.read()).statistics) == 100
    again.add(part(100, 120))  # over that from 100 on; that from 104 on lies within
    for _ in range(2):
        whole = TransitionRows.joined(again.read())
        np.testing.assert_array_equal(whole.targets[0], np.arange(120) * 2.0)
        np.testing.assert_array_equal(whole.statistics[:, 0], np.arange(120) * 3.0)
        again.count = 100
        again.cut()
        assert len(list(tmp_path.glob("warmup-3-*"))) == 1
        again.add(part(100, 103))
        again.add(part(103, 120))
    assert len(list(tmp_path.glob("warmup-33-*"))) == 1
    (tmp_path / "warmup-3-0").unlink()
    with pytest.raises(Damaged, match="are missing"):
        again.read()
