"""Runs on several processes.

    python -m tests.runs.on_processes ADDRESS COUNT NUMBER FOLDER CASE ...

is one of the processes: it runs the cases, and prints a line of each. `started` starts all of them.
"""

import faulthandler
import hashlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tests.runs.models import gaussian, run
from tests.runs.on_devices import Langevin, check

import kinetograph as kg
from kinetograph.runs.processes import distributed
from kinetograph.runs.progress.display import SilentProgress
from kinetograph.runs.store.store import Store

__all__ = ["CASES", "free_address", "lines", "started"]

GROUPS = ("posterior", "sample_stats", "sampler_state")
DIFFERS = ("created_at", "store")  # attributes of results
TIMEOUT = 20.0  # of kg.distributed
LIMIT = 240  # seconds after which processes are ended


def free_address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


def started(
    count: int, folder: Path, *cases: str, timeout: float = TIMEOUT, **environment: str
) -> list[tuple[int, str, str]]:
    """The exit code, output and error output of each process."""
    address = free_address()
    processes = [
        subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.runs.on_processes", address, str(count)),
                *(str(number), str(folder), str(timeout), *cases),
            ],
            env=os.environ | {"JAX_PLATFORMS": "cpu"} | environment,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for number in range(count)
    ]  # fmt: skip
    ends = []
    try:
        for process in processes:
            out, err = process.communicate(timeout=LIMIT)
            ends.append((process.returncode, out, err))
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return ends


def lines(text: str, *cases: str) -> list[str]:
    """The lines of the cases in an output."""
    return [line for line in text.splitlines() if line.split(":")[0] in cases]


def digest(tree: Any) -> str:
    groups = [*GROUPS, *(g for g in tree.children if g.startswith("warmup_"))]
    values = [tree[g][name].values for g in groups for name in sorted(tree[g].data_vars)]
    numbers = tree["posterior/chain"].values if "chain" in tree["posterior"].coords else ()
    attributes = {k: v for k, v in tree.attrs.items() if not (k.endswith("time") or k in DIFFERS)}
    parts = [np.asarray(value).tobytes() for value in (*values, numbers)]
    parts.append(repr(sorted(attributes.items())).encode())
    return hashlib.sha256(b"".join(parts)).hexdigest()


def nuts(folder: Path) -> str:
    """Chains that end their own warm-ups."""
    return digest(run(gaussian(), chains=range(2, 5), warmup=None))


def memory(folder: Path) -> str:
    """Draws in memory, of uneven parts; then the run continues."""
    samplers = [Langevin(0.05 * k) for k in (1, 2, 3)]
    options = {"averages": [kg.observables.virial], "keep_warmup": True, "chains": 3}
    tree = run(gaussian(), sampler=samplers, **options)
    options = {"sampler": samplers, "averages": [kg.observables.virial], "progress": False}
    more = kg.extra_samples(tree, gaussian(), 20, **options)
    return f"{digest(tree)} {digest(more)} {more['averages/mean/virial'].values.tolist()}"


def stored(folder: Path) -> str:
    """A store that all processes write, and that more draws are added to."""
    path = folder / f"run-{distributed.process_count()}.zarr"
    tree = run(gaussian(), sampler=Langevin(), chains=3, store=path)
    text = digest(tree)
    more = kg.resume(path, draws=90, sampler=Langevin(), progress=False)
    assert more["posterior"].sizes["draw"] == 90
    return text + digest(more)


def enough(folder: Path) -> str:
    """Runs that end when their draws suffice, in memory and in a store."""
    path = folder / f"enough-{distributed.process_count()}.zarr"
    options = {"sampler": Langevin(), "draws": None, "chains": 3}
    options |= {"until": kg.until(ess=150, r_hat=1.1)}
    tree, there = run(gaussian(), **options), run(gaussian(), **options, store=path)
    options = {"sampler": Langevin(), "until": kg.until(ess=300, r_hat=1.1), "progress": False}
    more = kg.extra_samples(tree, gaussian(), draws=10**5, **options)
    x = [each["posterior/x"].values for each in (tree, there, more)]
    np.testing.assert_array_equal(x[0], x[1])
    np.testing.assert_array_equal(x[0], x[2][:, : x[0].shape[1]])
    return f"{[each.shape for each in x]} {hashlib.sha256(x[2].tobytes()).hexdigest()}"


def averaged(folder: Path) -> str:
    """Averages of chains whose draws are not kept."""
    options = {"averages": [kg.observables.virial], "keep": False, "chains": 3}
    tree = run(gaussian(), sampler=Langevin(), **options)
    return f"{digest(tree)} {tree['averages/mean/virial'].values.tolist()}"


def ensembles(folder: Path) -> str:
    """Ensembles of walkers."""
    sampler = kg.samplers.DifferentialEvolution(walkers=6)
    return digest(run(gaussian(), sampler=sampler, chains=2, warmup=50))


def idle(folder: Path) -> str:
    """More processes than chains, also when a store is resumed."""
    path = folder / f"idle-{distributed.process_count()}.zarr"
    tree = run(gaussian(), sampler=Langevin(), chains=1, store=path)
    more = kg.resume(path, draws=90, sampler=Langevin(), progress=False)
    return digest(tree) + digest(more)


def batches(folder: Path) -> str:
    """Batches, one for each process; each has the draws of such a batch in one process."""
    options = {"sampler": Langevin(), "chain_method": "batch"}
    tree = run(gaussian(), chains=5, **options)
    more = kg.extra_samples(tree, gaussian(), 20, sampler=Langevin(), progress=False)
    size = tree.attrs["chains_per_batch"]
    assert size == -(-5 // distributed.process_count())
    connections, distributed._CHANNELS[:] = distributed._CHANNELS[:], []
    for first in range(0, 5 - size + 1, size):
        one = run(gaussian(), chains=range(first, first + size), **options)
        check(tree.isel(chain=slice(first, first + size)), one)
    one = kg.extra_samples(tree, gaussian(), 20, sampler=Langevin(), progress=False)
    check(more, one)
    distributed._CHANNELS[:] = connections
    return digest(tree)


def seeds(folder: Path) -> str:
    """Without a seed, all processes take one of process 0."""
    return digest(run(gaussian(), sampler=Langevin(), seed=None))


def error_of(call: Callable[[], Any]) -> str:
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}".replace("\n", " ")
    return "no error"


def differing(folder: Path) -> str:
    """Another seed, model, data or number of draws in process 1."""
    number = os.environ["NUMBER"]
    is_first = number == "0"
    x, y = kg.normal(0, 1, name="x"), kg.data([1.0, 2.0 if is_first else 3.0], name="y")
    kg.observe(y, kg.normal(x, 1))
    other = gaussian() if is_first else kg.model(kg.normal(2, 2))
    calls: Sequence[Callable[[], Any]] = (
        lambda: run(gaussian(), sampler=Langevin(), seed=5 if is_first else 6),
        lambda: run(gaussian(), sampler=Langevin(), seed=None if is_first else 6),
        lambda: run(other, sampler=Langevin()),
        lambda: run(kg.model(x), sampler=Langevin()),
        lambda: run(gaussian(), sampler=Langevin(), draws=50 if is_first else 60),
        lambda: run(gaussian(), sampler=Langevin(0.1 if is_first else 0.2)),
        lambda: run(gaussian(), sampler=Langevin(), initial=[1.0 if is_first else 2.0]),
        lambda: run(
            gaussian(), sampler=Langevin(), draws=200, until=kg.until(ess=9 if is_first else 8)
        ),
        lambda: run(gaussian(), sampler=Langevin(), callback=print),
        lambda: run(gaussian(), sampler=Langevin(), thin=1 if is_first else 0),
    )
    return " | ".join(map(error_of, calls))


def failing(folder: Path) -> str:
    """A chain without a start in the last process, and processes that meet again after it."""
    x = kg.normal(1, 2, name="x")
    model = kg.model(x, factors=[0.01 * kg.sqrt(x + 30)])
    starts = [{"x": value} for value in (1.0, 2.0, -31.0)]
    options = {"initial": starts, "draws": 10**7, "chains": 3}
    text = error_of(lambda: run(model, sampler=Langevin(), **options))
    return text + " | " + digest(run(gaussian(), sampler=Langevin()))


def alone(folder: Path) -> str:
    """A call that the other processes do not make."""
    if os.environ["NUMBER"] == "0":
        return error_of(lambda: run(gaussian(), sampler=Langevin()))
    time.sleep(12)
    return ""


def killed(folder: Path) -> str:
    """The process KILLED dies during a run that is stored."""
    path, number = folder / "killed.zarr", int(os.environ["NUMBER"])
    if number == int(os.environ["KILLED"]):

        def die() -> None:
            begun = path / ".kinetograph" / f"chain-{number}.1"
            while not begun.exists():
                time.sleep(0.01)
            time.sleep(0.3)
            os.kill(os.getpid(), signal.SIGKILL)

        threading.Thread(target=die, daemon=True).start()
    options = {"sampler": Langevin(), "store": path, "checkpoint_every": 0.05, "draws": 10**8}
    text = error_of(lambda: run(gaussian(), chains=4, **options))
    return f"{text} kept: {kg.stashed_samples()['posterior'].sizes['draw'] > 0}"


def resumed(folder: Path) -> str:
    """The store of a run of which a process died; the draws are those of a run without it."""
    path = folder / f"resumed-{distributed.process_count()}.zarr"
    draws = max(Store.open(path).draws_on_disk()) + 500
    tree = kg.resume(path, sampler=Langevin(), draws=draws, progress=False)
    connections, distributed._CHANNELS[:] = distributed._CHANNELS[:], []
    whole = run(gaussian(), sampler=Langevin(), chains=4, draws=draws)
    check(tree, whole)
    distributed._CHANNELS[:] = connections
    return digest(tree)


class Interrupts(SilentProgress):
    """Sends the signal of Ctrl-C once the first chain has draws."""

    def start(self, chains: Any, lengths: Any, at_once: int) -> None:
        self.chain, self.sent = chains[0], False

    def update(self) -> None:
        if not self.sent and self.chain.kept > 500:
            self.sent = True
            signal.raise_signal(signal.SIGINT)


def stopped(folder: Path) -> str:
    """Ctrl-C in one process stops all of them, and the results are whole."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background processes
    options = {"draws": 10**6, "sampler": Langevin(), "progress": Interrupts()}
    tree = run(gaussian(), chains=4, **options)
    return f"{tree.attrs['stopped_by']} {tree['posterior'].sizes['chain']} {digest(tree)}"


CASES = {
    case.__name__: case
    for case in (
        *(nuts, memory, stored, enough, averaged, ensembles, idle, batches, seeds),
        *(differing, failing, alone, killed, resumed, stopped),
    )
}

if __name__ == "__main__":
    faulthandler.dump_traceback_later(LIMIT - 10)
    where, count, number, folder, timeout, *cases = sys.argv[1:]
    os.environ["NUMBER"] = number
    warnings.simplefilter("ignore", kg.SamplingWarning)
    kg.distributed(where, int(count), int(number), timeout=float(timeout))
    for name in cases:
        print(f"{name}: {CASES[name](Path(folder))}", flush=True)
