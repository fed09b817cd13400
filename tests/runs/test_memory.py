"""A run holds its draws and little more, and is refused if there is no room for them."""

import re
import subprocess
import sys
import tracemalloc

import jax
import numpy as np
import pytest
from tests.runs.models import gaussian, run, schools

import kinetograph as kg
from kinetograph.runs import assembly, mcmc, memory
from kinetograph.runs import run as running
from kinetograph.runs.memory import available, check_memory
from kinetograph.runs.progress.display import SilentProgress
from kinetograph.runs.queues import MOST_BYTES
from kinetograph.runs.rows import MemorySink, TransitionRows, joint

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")

SAMPLER = kg.samplers.GLA2(0.5)  # of a gradient a draw


@pytest.mark.slow
def test_memory_is_the_draws_and_a_constant():
    """Peak of NumPy's allocations, without the compiler's: the draws, not copied."""
    x = kg.normal(0, 1, shape=1000)
    model = kg.model(x)
    run(model, draws=10, sampler=SAMPLER)
    tracemalloc.start()
    tree = run(model, draws=10_000, warmup=50, sampler=SAMPLER)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    size = sum(v.nbytes for v in tree["posterior"].dataset.data_vars.values())
    assert size == 2 * 10_000 * 1000 * 8
    # The check of convergence works on a part at a time, some tens of MiB.
    assert peak < 1.5 * size + 60e6, f"{peak / size:.1f} times the draws"


@pytest.mark.slow
def test_only_targets_are_kept():
    """A large unknown that is no target leaves no rows behind."""
    z = kg.normal(0, 1, shape=300)
    total = kg.sum(z)
    tree = run(kg.model(total), draws=100, sampler=SAMPLER)
    assert list(tree["posterior"].dataset.data_vars) == ["total"]
    rows = sum(
        v.nbytes for g in ("posterior", "sample_stats") for v in tree[g].dataset.data_vars.values()
    )
    assert rows < 2 * 100 * 8 * 10
    assert np.isfinite(tree["posterior"]["total"]).all()


BLANK = TransitionRows(
    [np.empty((0, 3, 2)), np.empty((0,), np.int32)], np.empty((0, 5))
)  # 48 + 4 + 2 x 40


def system(root, **files):
    """A system that tells what these files do; `__` is a folder's end."""
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return available(root)


MEMINFO = "MemTotal:  2000 kB\nMemFree:  10 kB\nMemAvailable:  1000 kB\n"


def test_what_the_machine_has(tmp_path):
    assert available(tmp_path) is None
    assert system(tmp_path, proc__meminfo=MEMINFO) == 1_024_000


def test_what_a_group_may_take_version_2(tmp_path):
    files = {
        "proc__meminfo": MEMINFO,
        "proc__self__cgroup": "0::/outer/inner\n",
        "sys__fs__cgroup__outer__inner__memory_dot_max": "max\n",
        "sys__fs__cgroup__outer__inner__memory_dot_current": "100\n",
        "sys__fs__cgroup__outer__memory_dot_max": "500000\n",
        "sys__fs__cgroup__outer__memory_dot_current": "300000\n",
        "sys__fs__cgroup__outer__memory_dot_stat": "anon 7\ninactive_file 40000\n",
    }
    assert system(tmp_path, **files) == 500_000 - 300_000 + 40_000
    files["sys__fs__cgroup__outer__inner__memory_dot_max"] = "1100\n"
    assert system(tmp_path, **files) == 1000
    files["sys__fs__cgroup__outer__inner__memory_dot_current"] = "1200\n"
    assert system(tmp_path, **files) == 0


def test_what_a_group_may_take_version_1(tmp_path):
    files = {
        "proc__meminfo": MEMINFO,
        "proc__self__cgroup": "5:cpu,memory:/some\n4:devices:/other\n0::/\n",
        "sys__fs__cgroup__memory__some__memory_dot_limit_in_bytes": "9000\n",
        "sys__fs__cgroup__memory__some__memory_dot_usage_in_bytes": "2000\n",
        "sys__fs__cgroup__memory__memory_dot_limit_in_bytes": f"{2**63 - 4096}\n",
        "sys__fs__cgroup__memory__memory_dot_usage_in_bytes": "5000\n",
    }
    assert system(tmp_path, **files) == 7000


def draws(chains, draws, copied=False):
    return [memory.draws_need(["theta", "n"], BLANK, chains, draws, copied)]


def test_draws_without_room_are_refused_with_numbers(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 10_000_000)
    assert 4 * 20_000 * (48 + 4 + 2 * 40) == 10_560_000
    with pytest.raises(MemoryError) as refused:
        check_memory("mcmc", draws(4, 20_000), 4)
    text = str(refused.value)
    assert text.startswith(
        "mcmc: the run needs 10.6 MB of memory, but 10 MB are available: 10.6 MB for draws (4 "
        "chains x 20,000 draws x 132 bytes, results included; the sampler's record has 80 bytes "
        "of a row). "
    )
    for way in ('store="run.zarr"', "thin=", "keep=False, averages="):
        assert way in text
    assert "fewer chains" not in text
    with pytest.raises(MemoryError, match=r"184 bytes.* theta has 96 .*kg\.resume continues"):
        check_memory("extra_samples", draws(4, 20_000, True), 4)


def test_draws_that_take_much_are_told(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 10_000_000)
    told = check_memory("mcmc", draws(4, 10_000, True), 4)
    assert told.startswith("the run will take 7.36 MB of memory, of 10 MB available: 7.36 MB for ")
    assert "(4 chains x 10,000 draws x 184 bytes, results included; theta has" in told
    assert check_memory("mcmc", draws(4, 3000, True), 4) == ""
    monkeypatch.setattr(memory, "available", lambda: None)
    assert check_memory("mcmc", draws(4, 10**12, True), 4) == ""


@pytest.mark.parametrize("method", ["threads", "batch"])
def test_states_and_warmup_of_many_chains_count_too(monkeypatch, tmp_path, method):
    """A store and averages hold no draws, and do not make these smaller."""
    monkeypatch.setattr(memory, "available", lambda: 2_000_000_000)
    x = kg.normal(0, 1, shape=1000, name="x")
    model = kg.model(x)
    for way in (
        {"store": tmp_path / "run.zarr"},
        {"keep": False, "averages": [x]},
        {"keep": ["x"], "draws": 2},
    ):
        with pytest.raises(MemoryError) as refused:
            run(model, chains=4096, warmup=None, chain_method=method, **way)
        text = str(refused.value)
        assert "for states of chains (4096 chains x " in text
        assert 'kg.samplers.NUTS(metric="diagonal") has none' in text
        at_once = 4096 if method == "batch" else MOST_BYTES // 4_000_000
        assert f"for warm-up ({at_once} chains at a time x 4,000,000 bytes of draws" in text
        assert re.search(r"chains=range\(0, \d+\), store=", text)
        assert ("blocks of draws" in text) == ("store" in way)
    assert not (tmp_path / "run.zarr").exists()


class Listening(SilentProgress):
    def __init__(self):
        self.lines = []

    def say(self, text):
        self.lines.append(text)


def test_a_run_without_room_is_refused_before_anything_is_compiled(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "available", lambda: 20_000_000_000)

    class Compiling(Exception):
        pass

    def compiling(*_):
        raise Compiling

    monkeypatch.setattr(running, "build", compiling)
    with pytest.raises(MemoryError, match=r"4 chains x 100,000,000 draws x \d+ bytes"):
        run(schools(), draws=100_000_000, chains=4)
    for way in (
        {"store": tmp_path / "run.zarr"},
        {"draws": 1000, "thin": 100_000},
        {"keep": False, "averages": [kg.observables.gradient_norm]},
        {"draws": None},
    ):
        with pytest.raises(Compiling):
            run(schools(), **({"draws": 100_000_000, "chains": 4} | way))


def test_what_is_told_comes_before_the_run(monkeypatch):
    progress = Listening()
    monkeypatch.setattr(memory, "available", lambda: 600_000)
    tree = run(gaussian(), progress=progress)
    assert progress.lines[0].startswith("the run will take ")
    assert progress.lines[1] == "compiling ..."
    more = Listening()
    monkeypatch.setattr(memory, "available", lambda: 700_000)
    kg.extra_samples(tree, gaussian(), 60, progress=more)
    assert "2 chains x 120 draws" in more.lines[0]
    with pytest.raises(MemoryError, match="extra_samples: the run needs"):
        kg.extra_samples(tree, gaussian(), 10_000)


def test_a_resumed_run_without_room_is_refused_and_stays_as_it_was(monkeypatch, tmp_path):
    path = tmp_path / "run.zarr"
    run(schools(), store=path, draws=30)
    with monkeypatch.context() as small:
        small.setattr(memory, "available", lambda: 200_000)
        with pytest.raises(
            MemoryError, match=r"resume: .*for states of chains.*chains=range\(0, 1\)"
        ):
            kg.resume(path, draws=60, progress=False)
    assert kg.resume(path, draws=60, progress=False).posterior.sizes["draw"] == 60


def test_the_results_hold_what_was_said(monkeypatch):
    asked = []

    def noting(doing, needs, chains):
        asked.extend(need.size for need in needs if need.kind == "draws")
        return ""

    monkeypatch.setattr(mcmc, "check_memory", noting)
    tree = run(kg.model(kg.normal(0, 1, shape=300, name="x")), draws=50, sampler=SAMPLER)
    groups = (tree[name].dataset for name in ("posterior", "sample_stats"))
    held = sum(v.nbytes for group in groups for v in group.data_vars.values())
    assert 0.9 * asked[0] < held <= asked[0]


def test_draws_of_a_whole_run_are_not_copied(monkeypatch):
    found = []
    monkeypatch.setattr(assembly, "joint", lambda parts: found.append(joint(parts)) or found[-1])
    tree = run(schools())
    shared = [whole for whole in found if whole is not None]
    assert [whole.shape for whole in shared] == [(2, 60), (2, 60), (2, 60, 8), (2, 60, 8)]
    assert np.shares_memory(tree["unknowns"]["z"].values, shared.pop())
    for name, whole in zip(("mu", "tau", "theta"), shared, strict=True):
        assert np.shares_memory(tree["posterior"][name].values, whole)


def test_rows_that_lie_side_by_side_are_told():
    blank = TransitionRows([np.empty((0, 3))], np.empty((0, 1)))
    chains = MemorySink.side_by_side(blank, 4, 2)
    for i, chain in enumerate(chains):
        chain.add(TransitionRows([np.full((4, 3), i)], np.zeros((4, 1))))
    parts = [chain.rows().targets[0] for chain in chains]
    whole = joint(parts)
    np.testing.assert_array_equal(whole, np.repeat([0.0, 1.0], 12).reshape(2, 4, 3))
    assert all(np.shares_memory(whole[i], part) for i, part in enumerate(parts))
    # In another order, of some draws, of some chains, or of others, they are not that array.
    for others in (parts[::-1], [p[:3] for p in parts], parts[:1], [parts[0], parts[0]]):
        assert joint(others) is None
    assert joint([np.zeros(3), np.zeros(3)]) is None
    apart = [chain.rows().targets[0] for chain in MemorySink.side_by_side(blank, None, 2)]
    assert joint(apart) is None


MEASURED = """
import ctypes, gc, sys
import kinetograph as kg
from kinetograph.runs import mcmc

def resident(which):
    with open("/proc/self/status") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(which))

way, path, method = sys.argv[1:4]
chains, draws, size = map(int, sys.argv[4:])
x = kg.normal(0, 1, shape=size, name="x")
total = kg.sum(x)
model = kg.model(x, total)
options = {"keep": {"keep": ["total"]}, "all": {}, "store": {}}[way]
options |= {"seed": 1, "warmup": 20, "progress": False, "chain_method": method}
options |= {"threads": 1} if method == "threads" else {}
stores = [{"store": path + name} if way == "store" else {} for name in ("first", "second")]
sampler = kg.samplers.NUTS(metric="diagonal", max_depth=3)
few = 2 if method == "threads" else chains  # a batch of another size is another program
kg.mcmc(model, sampler, draws=5, chains=few, **options, **stores[0])
gc.collect()
ctypes.CDLL(None).malloc_trim(0)
stated = []
mcmc.check_memory = lambda doing, needs, chains: stated.append(sum(n.size for n in needs)) or ""
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # the peak begins here
before = resident("VmRSS")
kg.mcmc(model, sampler, draws=draws, chains=chains, **options, **stores[1])
print(stated[0], resident("VmHWM") - before)
"""


def stated_and_used(path, way, method, chains, draws, size):
    """The bytes that a run says it needs, and the growth of its process."""
    command = [sys.executable, "-W", "ignore", "-c", MEASURED, way, str(path / "run.zarr"), method]
    command += map(str, (chains, draws, size))
    done = subprocess.run(command, capture_output=True, text=True, timeout=550, check=False)
    assert done.returncode == 0, done.stderr
    return map(int, done.stdout.split())


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("way", ["all", "keep", "store"])
def test_a_run_stays_within_the_memory_that_is_stated(tmp_path, way):
    """All draws take 64 x 2000 x 1.6 kB = 205 MB; modules and working memory are not stated."""
    stated, used = stated_and_used(tmp_path, way, "threads", 64, 2000, 200)
    assert used < stated + 100e6
    assert stated < {"all": 300e6, "keep": 40e6, "store": 500e6}[way]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("way", "method", "most"),
    [("all", "threads", 900e6), ("all", "batch", 900e6), ("store", "threads", 3e9)],
)
def test_4096_chains_stay_within_the_memory_that_is_stated(tmp_path, way, method, most):
    """All draws take 4096 x 100 x 0.4 kB = 164 MB."""
    stated, used = stated_and_used(tmp_path, way, method, 4096, 100, 50)
    assert used < stated + 100e6
    assert stated < most


def test_a_chain_holds_one_state_and_no_draws_of_its_warmup():
    """The state at its start, and the draws that warm-up has examined, are dropped."""
    model = kg.model(kg.normal(0, 1, shape=37, name="x"))
    progress, counts, chains = Listening(), [], []
    progress.start = lambda each, lengths, at_once: chains.extend(each)

    def count(so_far):
        counts.append(sum(x.shape == (32, 37) for x in jax.live_arrays()))

    options = {"draws": 300, "chains": 12, "warmup": 40, "threads": 1}
    run(model, sampler=kg.samplers.NUTS(max_depth=2), progress=progress, callback=count, **options)
    assert len(chains) == 12 <= min(counts)
    assert max(counts) < 20
    assert not any(chain.tuner.draws or chain.tuner.slopes for chain in chains)
