"""A run on disk: what readers see, what goes on, and what is found when files are damaged."""

import json
import multiprocessing
import os
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from tests.runs.models import EFFECTS, ERRORS, gaussian, run, same_draws, schools

import kinetograph as kg
from kinetograph.programs.sealed_files import twins
from kinetograph.runs.checkpoints import opened
from kinetograph.runs.store import blocks, view
from kinetograph.runs.store.store import Store

pytestmark = [
    pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning"),
    pytest.mark.usefixtures("small_blocks"),
]
GROUPS = ("posterior", "sample_stats")
DRAWS = 260


class PowerCut(Exception):
    """Ends a run in the middle."""


def read(path):
    return xr.open_datatree(path, engine="zarr", consolidated=True).load()


def cut(path, at=150, **options):
    """A stored run that was ended after some draws."""

    def look(so_far):
        if so_far.draws >= at:
            raise PowerCut

    options = {"checkpoint_every": 0.0, "draws": DRAWS, **options}
    with pytest.raises(PowerCut) as raised:
        run(schools(), store=path, callback=look, **options)
    return raised.value


def resumed(path, **options):
    return kg.resume(path, progress=False, **options)


def test_a_stored_run_is_the_run(path, whole):
    tree = run(schools(), draws=DRAWS, store=path)
    assert same_draws(tree[GROUPS[0]].parent, whole, ("posterior",))
    for group in whole.children:
        for name, values in whole[group].dataset.variables.items():
            found = tree[group].dataset.variables[name]
            np.testing.assert_array_equal(found.values, values.values, f"{group}/{name}")
            assert found.dims == values.dims
            assert found.dtype == values.dtype
            assert found.attrs == values.attrs
    assert read(path).identical(tree.load())
    different = {"created_at", "trace_time", "compile_time", "sampling_time"}
    for name in whole.attrs.keys() - different:
        assert tree.attrs[name] == whole.attrs[name]
    assert str(kg.summary(tree)) == str(kg.summary(whole))


def test_states_of_many_chains_are_few_files(path):
    """Each array of the states is one file, for any number of chains."""
    run(schools(), store=path, chains=3)
    for group in ("sampler_state", "observed_data"):
        for array in path.joinpath(group).glob("*/zarr.json"):
            assert sum(file.is_file() for file in array.parent.glob("c/**/*")) <= 1


def test_readers_see_whole_draws_while_it_goes_on(path, whole):
    seen = []

    def look(so_far):
        if (path / "posterior").exists():
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                tree = read(path)
            chains, count = tree["posterior"]["tau"].shape
            expected = whole.isel(chain=slice(chains), draw=slice(count), missing_dims="ignore")
            if count:
                assert same_draws(tree, expected)
            seen.append(chains * count)

    run(schools(), draws=DRAWS, store=path, callback=look, checkpoint_every=0.0)
    assert seen == sorted(seen)
    assert seen[-1] > 0
    assert read(path)["posterior"]["school"].identical(whole["posterior"]["school"])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"warmup": None, "at": 0},
        {"thin": 2, "keep": ["theta"]},
        pytest.param({"chain_method": "batch"}, marks=pytest.mark.slow),
        pytest.param({"sampler": kg.samplers.Stretch(walkers=24)}, marks=pytest.mark.slow),
        {"averages": [kg.observables.potential], "keep": False, "at": 0},
        {"observables": [kg.observables.gradient_norm]},
    ],
)
def test_it_goes_on_to_the_same_bits(path, options):
    error = cut(path, **options)
    assert f"kg.resume('{path}') continues the run" in error.__notes__[0]
    options.pop("at", None)
    expected = run(schools(), draws=DRAWS, **options)
    tree = resumed(path)
    for node in expected.subtree:
        for name, values in node.dataset.data_vars.items():
            np.testing.assert_array_equal(tree[node.path].dataset[name], values, str(name))
    assert resumed(path).attrs["gradients"] == expected.attrs["gradients"]  # nothing is left to do


def test_it_is_looked_at_while_it_goes_on(path):
    """By `until=`, and by callbacks, which read what is on disk."""
    seen = []

    def look(so_far):
        seen.append(so_far.results())

    options = {"draws": 3000, "until": kg.until(ess=500, r_hat=1.1)}
    tree = run(schools(), store=path, callback=look, **options)
    expected = run(schools(), **options)
    assert same_draws(tree, expected)
    assert max(each["posterior"].sizes["draw"] for each in seen) > 0
    whole = run(schools(), draws=3000)
    for each in seen:
        made = slice(each["posterior"].sizes["draw"])
        assert same_draws(each, whole.isel(draw=made, missing_dims="ignore"))


def test_more_draws_and_fewer(path, whole):
    run(schools(), draws=100, store=path)
    assert same_draws(resumed(path, draws=DRAWS), whole)
    with pytest.warns(kg.KinetographWarning, match=rf"has {DRAWS} draws already, and draws=50 is"):
        assert resumed(path, draws=50)["posterior"].sizes["draw"] == DRAWS


def test_chains_with_samplers_of_their_own_and_tuned_values_go_on(path):
    """At once, and from their begins."""
    first = run(schools(), draws=50)
    samplers = [kg.samplers.NUTS(target_acceptance=t) for t in (0.7, 0.9)]
    options = {"sampler": samplers, "tuned": first, "warmup": 40}
    whole = run(schools(), draws=DRAWS, **options)
    cut(path, **options)
    for twin in twins(path / ".kinetograph" / "chain-1"):
        flip(twin)
    with pytest.raises(ValueError, match=r"sampler=\[NUTS\(...\), ...\] .*; it differs"):
        resumed(path)
    with pytest.raises(ValueError, match="drawn with target_acceptance="):
        resumed(path, sampler=samplers[::-1])
    with pytest.warns(kg.KinetographWarning, match="damaged, and repaired"):
        tree = resumed(path, sampler=samplers)
    assert same_draws(tree, whole)
    half = run(schools(), draws=DRAWS // 2, **options)
    more = kg.extra_samples(half, schools(), DRAWS // 2, sampler=samplers, progress=False)
    assert same_draws(more, whole)


def test_a_batch_goes_on_as_a_whole(path):
    options = {"chain_method": "batch"}
    cut(path, **options)
    with pytest.raises(ValueError, match="are a batch, so all must continue together"):
        resumed(path, chains=range(1))
    for twin in twins(path / ".kinetograph" / "chain-1"):
        flip(twin)
    with pytest.warns(kg.KinetographWarning, match="damaged, and repaired"):
        tree = resumed(path)
    assert same_draws(tree, run(schools(), draws=DRAWS, **options))


def test_what_readers_do_not_see_yet_is_told(path):
    """Of chains that were ahead when it ended: the store has them."""
    cut(path)
    tree = xr.open_datatree(path, engine="zarr", consolidated=True).load()
    with pytest.raises(ValueError, match=r"but the results hold .*kg\.resume\('.*run.zarr'\)"):
        kg.extra_samples(tree.isel(draw=slice(5), missing_dims="ignore"), schools(), 10)


def test_half_the_room(path, whole):
    cut(path, dtype="float32")
    tree = resumed(path)
    assert tree["posterior"]["theta"].dtype == np.float32
    expected = whole["posterior"]["theta"].values.astype(np.float32)
    np.testing.assert_array_equal(tree["posterior"]["theta"], expected)
    assert tree["sample_stats"]["n_steps"].dtype == np.int64


def test_chains_of_one_store_from_two_processes(path):
    every = run(schools(), draws=DRAWS, chains=5)
    run(schools(), draws=DRAWS, chains=range(2, 5), store=path)
    tree = run(schools(), draws=DRAWS, chains=range(2), store=path)
    assert tree["posterior"]["chain"].values.tolist() == [0, 1, 2, 3, 4]
    assert same_draws(tree, every)
    with pytest.raises(kg.KinetographError, match="has chains 1, 2 of a run already"):
        run(schools(), draws=DRAWS, chains=range(1, 3), store=path)
    with pytest.raises(kg.KinetographError, match=r"to a run with seed=5 .*; new chains need"):
        run(schools(), draws=DRAWS, chains=range(5, 6), store=path, seed=6)
    others = {"model or sampler": {"sampler": kg.samplers.HMC()}, "thin": {"thin": 2}}
    for other, options in others.items():
        with pytest.raises(kg.KinetographError, match=f"to a run with another {other}"):
            run(schools(), **{"draws": DRAWS, "chains": range(5, 6), "store": path, **options})


# Damage.
def flip(file, place=0.5):
    data = bytearray(file.read_bytes())
    data[int(place * (len(data) - 1))] ^= 4
    file.write_bytes(data)


FILES = {
    "a full block": "posterior/theta/c/1/0/0",
    "the last block": "sample_stats/lp/c/1/2",
    "a state": ".kinetograph/chain-1.1",
    "the other state": ".kinetograph/chain-1.2",
    "the manifest": ".kinetograph/run.1",
    "its copy": ".kinetograph/run.2",
    "the model": ".kinetograph/model.1",
    "what a chain begins with": ".kinetograph/begin-0.1",
    "the layout": ".kinetograph/view.1",
    "the root": "zarr.json",
    "an array": "posterior/theta/zarr.json",
    "data": "observed_data/effects/c/0",
    "the metadata of data": "observed_data/effects/zarr.json",
    "constant data": "constant_data/errors/c/0",
    "the metadata of a group": "constant_data/zarr.json",
    "a label": "posterior/school/c/0",
    "draws": "posterior/draw/c/0",
    "chains": "posterior/chain/c/1",
}


@pytest.mark.parametrize(
    "how",
    [
        "flipped",
        pytest.param("torn", marks=pytest.mark.slow),
        pytest.param("gone", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("name", FILES)
def test_what_is_damaged_is_named_and_mended(path, whole, name, how):
    cut(path)
    file = path / FILES[name]
    assert file.exists()
    if how == "flipped":
        flip(file)
    elif how == "torn":
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 3])
    else:
        file.unlink()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        tree = resumed(path)
    assert same_draws(tree, whole)
    assert read(path).identical(tree.load())
    assert tree["observed_data"]["effects"].values.tolist() == EFFECTS
    assert tree["constant_data"]["errors"].values.tolist() == ERRORS
    said = [str(w.message) for w in told if "damaged, and repaired" in str(w.message)]
    made_anew = ("a state", "the other state", "draws", "chains")  # which need not be there
    if how != "gone" or name not in made_anew:
        assert len(said) == 1
        short = FILES[name] if FILES[name][0] != "." else Path(FILES[name]).name
        assert short in said[0] or "block" in said[0]
        assert "; " not in said[0]  # one file


@pytest.mark.parametrize(
    "options",
    [
        {"keep": False},
        pytest.param({"keep": False, "chain_method": "batch"}, marks=pytest.mark.slow),
        pytest.param({"keep_warmup": True, "warmup": 20}, marks=pytest.mark.slow),
        pytest.param(
            {"chains": range(2, 4), "sampler": kg.samplers.Stretch(walkers=8)},
            marks=pytest.mark.slow,
        ),
        pytest.param({"dtype": "float32", "thin": 2}, marks=pytest.mark.slow),
        pytest.param({"draws": 0}, marks=pytest.mark.slow),
    ],
    ids=lambda options: "-".join(options),
)
def test_nothing_is_called_damaged_in_a_sound_store(path, options):
    """Whatever its arrays are, with more draws and without."""
    options = {"draws": 30, "warmup": 0, "sampler": kg.samplers.GLA2(0.1), **options}
    x = kg.normal(1, 2, shape=3)
    run(kg.model(x), store=path, averages=[x], **options)
    for draws in (options["draws"], 60):
        with warnings.catch_warnings():
            warnings.simplefilter("error", kg.KinetographWarning)
            warnings.simplefilter("ignore", kg.SamplingWarning)
            resumed(path, draws=draws)


def test_a_layout_that_is_lost_is_made_of_the_model(path, whole):
    cut(path)
    for twin in twins(path / ".kinetograph" / "view"):
        flip(twin)
    for name in ("zarr.json", "observed_data/effects/c/0", "posterior/theta/zarr.json"):
        flip(path / name)
    with pytest.warns(kg.KinetographWarning, match="view.1 is damaged.*effects/c/0 is damaged"):
        tree = resumed(path)
    assert same_draws(tree, whole)
    assert tree["observed_data"]["effects"].values.tolist() == EFFECTS


def test_nothing_is_called_damaged_where_a_process_was_killed(path, whole, monkeypatch):
    """As it replaced files at the end of a run."""
    run(schools(), draws=DRAWS, store=path)
    store = Store.open(path)
    usual, count = view.write_whole, [0]

    def killed(*arguments):
        count[0] += 1
        if count[0] == 12:
            raise KeyboardInterrupt
        usual(*arguments)

    other = opened(path)
    other.attrs["sampling_time"] = 1e9
    other["sampler_state"]["transition"] = other["sampler_state"]["transition"] + 1
    monkeypatch.setattr(view, "write_whole", killed)
    with pytest.raises(KeyboardInterrupt):
        store.dress(other)
    monkeypatch.undo()
    with warnings.catch_warnings():
        warnings.simplefilter("error", kg.KinetographWarning)
        warnings.simplefilter("ignore", kg.SamplingWarning)
        assert same_draws(resumed(path), whole)


@pytest.mark.filterwarnings("ignore::kinetograph.KinetographWarning")
def test_the_older_states_of_a_chain_that_begins_again_are_not_used(path, whole, monkeypatch):
    """Neither for the number of its draws nor to continue it: the rest of its block is zeros."""
    monkeypatch.setattr(blocks, "MOST", DRAWS)
    run(schools(), draws=DRAWS, store=path)
    (path / "posterior/theta/c/1/0/0").unlink()
    tree = resumed(path, draws=100)
    assert tree["posterior"].sizes["draw"] == 100
    assert same_draws(tree, whole.isel(draw=slice(100), missing_dims="ignore"))
    assert same_draws(resumed(path, draws=DRAWS), whole)


@pytest.mark.parametrize("name", ["posterior", "sample_stats/lp"])
def test_a_folder_that_is_lost_is_made_again(path, whole, name):
    cut(path)
    shutil.rmtree(path / name)
    with pytest.warns(kg.KinetographWarning, match=f"{name}/zarr.json is missing"):
        assert same_draws(resumed(path), whole)


def test_what_is_damaged_twice_is_refused_or_drawn_again(path, whole):
    cut(path)
    for twin in twins(path / ".kinetograph" / "chain-1"):
        flip(twin)
    with pytest.warns(kg.KinetographWarning, match="chain-1.1 is damaged"):
        assert same_draws(resumed(path), whole)
    for twin in twins(path / ".kinetograph" / "model"):
        flip(twin)
    with pytest.raises(kg.KinetographError, match=r"of the model are damaged.*; give model="):
        resumed(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert same_draws(resumed(path, model=schools()), whole)
    for twin in twins(path / ".kinetograph" / "run"):
        flip(twin)
    with pytest.raises(kg.KinetographError, match="of the description of the run are damaged"):
        resumed(path)


def test_a_full_disk(path, whole, monkeypatch):
    """No room for a block: what was there stays, the error says so, and the run goes on later."""
    real, count = blocks.write_chunk, [0]

    def full(file, values):
        count[0] += 1
        if count[0] > 60:
            raise OSError(28, "No space left on device", str(file))
        real(file, values)

    monkeypatch.setattr(blocks, "write_chunk", full)
    with pytest.raises(OSError, match="No space left on device") as raised:
        run(schools(), draws=DRAWS, store=path, checkpoint_every=0.0)
    assert "continues the run" in raised.value.__notes__[0]
    left = read(path)["posterior"].sizes["draw"]
    assert left < DRAWS
    monkeypatch.setattr(blocks, "write_chunk", real)
    assert same_draws(resumed(path), whole)


# Refusals.
def test_what_is_no_store(path, tmp_path):
    with pytest.raises(kg.KinetographError, match=r"the folder .* does not exist .*; kg.mcmc\("):
        resumed(path)
    path.mkdir()
    (path / "notes.txt").write_text("mine")
    for call in (resumed, lambda p: run(schools(), store=p)):
        with pytest.raises(kg.KinetographError, match=r"not the store of a run.*; give another"):
            call(path)
    assert (path / "notes.txt").read_text() == "mine"


def test_of_another_version_model_or_data(path, whole):
    cut(path)
    store = path / ".kinetograph"
    from kinetograph.programs.sealed_files import read_any, write_twice

    manifest = json.loads(read_any(store / "run")[0])
    write_twice(store / "run", json.dumps(manifest | {"format": 99}).encode())
    with pytest.raises(kg.KinetographError, match="is of format 99, written by kinetograph"):
        resumed(path)
    older = manifest | {"versions": manifest["versions"] | {"jax": "0.1", "python": "3.2"}}
    write_twice(store / "run", json.dumps(older).encode())
    with pytest.raises(
        kg.KinetographError, match=r"python was 3\.2 and .*; jax was 0\.1 .* force="
    ):
        resumed(path)
    write_twice(store / "run", json.dumps(manifest).encode())
    with pytest.raises(kg.ModelError, match="data errors, effects, which this model does not have"):
        resumed(path, model=gaussian())
    other = schools()
    values = other.value_of(other.observed[0]) + 1.0
    other.set_data(effects=values)
    try:
        with pytest.raises(kg.KinetographError, match="the data effects have other values"):
            resumed(path, model=other)
    finally:
        other.set_data(effects=values - 1.0)
    with pytest.raises(ValueError, match="come from NUTS, got sampler=HMC"):
        resumed(path, sampler=kg.samplers.HMC())
    with pytest.raises(ValueError, match="has chains 0, 1, but not 7"):
        resumed(path, chains=range(1, 8, 6))
    with pytest.raises(ValueError, match="checkpoint_every must be a number of seconds"):
        resumed(path, checkpoint_every=-1.0)
    assert same_draws(resumed(path), whole)


def test_a_run_that_finds_no_start_lets_go_of_its_store(path):
    x = kg.normal(0, 1, name="x")
    bad = kg.model(x, factors=[kg.log(-1.0 - x * x)])
    for call in (lambda: run(bad, store=path), lambda: resumed(path)):
        with pytest.raises(kg.StartError, match="no finite log density"):
            call()


def test_a_type_without_a_store_and_others_than_real_ones(path):
    with pytest.raises(ValueError, match="dtype= is the type of numbers in a store"):
        run(schools(), dtype="float32")
    for wanted in ("float16", "text", int):
        with pytest.raises(ValueError, match="float32 or float64"):
            run(schools(), dtype=wanted, store=path)
    assert not path.exists()


def test_a_forced_run_says_so(path):
    cut(path)
    from kinetograph.programs.sealed_files import read_any, write_twice

    base = path / ".kinetograph" / "run"
    manifest = json.loads(read_any(base)[0])
    manifest["versions"]["numpy"] = "1.0"
    write_twice(base, json.dumps(manifest).encode())
    assert resumed(path, force=True).attrs["forced"].startswith("numpy was 1.0 and is")


def test_a_model_that_cannot_be_written_has_to_be_given(path):
    x = kg.normal(0, 1, name="x")
    model = kg.model(x, y=kg.lift(lambda v: v + 1.0)(x))
    tree = run(model, store=path)
    with pytest.raises(kg.KinetographError, match=r"does not hold the model .*; give .* by model="):
        resumed(path)
    assert same_draws(resumed(path, model=model, draws=90), run(model, draws=90))
    assert tree["posterior"]["y"].shape == (2, 60)


def _hold(path, ready, end):
    from kinetograph.runs.store.locks import hold

    hold(Path(path), "it")
    ready.set()
    end.wait(60)


def test_a_process_that_is_alive_keeps_others_out(path, whole):
    cut(path)
    context = multiprocessing.get_context("spawn")
    ready, end = context.Event(), context.Event()
    lock = str(path / ".kinetograph" / "chain-1.lock")
    other = context.Process(target=_hold, args=(lock, ready, end))
    other.start()
    try:
        assert ready.wait(60)
        said = f"chain 1 is being run by another process .process {other.pid}"
        with pytest.raises(kg.KinetographError, match=said):
            resumed(path)
        part = resumed(path, chains=range(1))
        assert part["posterior"].sizes["chain"] >= 1
    finally:
        other.kill()
        other.join()
    assert same_draws(resumed(path), whole)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(OSError, match="Permission denied"):
        run(schools(), store=tmp_path / "run.zarr")


def test_memory_does_not_grow_with_draws(path):
    """No more than a block of each chain is held."""
    held = []

    def look(so_far):
        held.append(max(chain.sink._filled for chain in so_far._run.chains))

    run(gaussian(), draws=5000, store=path, callback=look)
    assert max(held) <= 64
