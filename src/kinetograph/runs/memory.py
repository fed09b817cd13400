"""Memory of a run, checked before anything is allocated.

Draws kept in memory need chains x draws x the bytes of a row. A row is a draw of all targets with
its records. Results are copies of them, except for targets whose draws are stored as results need
them. With a store each chain has a block of draws in memory, and some draws are read for
diagnostics. In any case each chain has a state, which results copy, and draws and gradients that
the host examines in warm-up. The memory of the compiler and of modules, some hundred
MB for any number of chains, is not counted.

The available memory is known on Linux only: of the machine, and of each group of processes (cgroup)
to which this process belongs. On other systems nothing is checked.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

from ..adaptation.host_warmup import SHORTEST, Tuner
from ..programs.program import Program
from ..programs.state import Start
from ..results.diagnosis import LOOKED_AT
from .queues import held_in_warmup, warming_up_at_once
from .rows import TransitionRows
from .store.blocks import Column, block_rows, row_bytes

__all__ = [
    "Need",
    "available",
    "chain_needs",
    "check_memory",
    "draws_need",
    "examined_draws",
    "store_needs",
]

WORTH = 0.25  # a larger part of the available memory is reported
SMALL = 0.01  # a smaller part of the sum is not listed
COPIES = 2  # of the state of a chain: the state, and its place in the results;
STORED_COPIES = 5  # also the files that are written, and the copies of these files
CHAIN_BYTES = 2**17  # about, of a chain's objects in addition to the numbers of its state
EXAMINED = 2**30  # bytes of the draws that are read from a store for diagnostics,
FEWEST_EXAMINED = 100  # unless these are fewer draws of each chain
_ROOT = Path("/")
_STORE = 'store="run.zarr" writes them to disk as they are made'
_INSTEAD = (
    f"{_STORE}; thin=10 and a tenth of the draws keeps each tenth transition; keep=[...] keeps "
    "some targets; keep=False, averages=[...] keeps averages only"
)
_FEWER = f"Ask for fewer draws, or run kg.mcmc again: {_STORE}, and kg.resume continues the run"
_GROUPS = (
    'Run fewer chains at a time, into one store: chains=range(0, {few}), store="run.zarr", then '
    "chains=range({few}, {more}) with the same seed, in this process or in other processes"
)
_CONTINUED_GROUPS = (
    "Continue fewer chains at a time, if they are on threads: "
    "kg.resume(path, chains=range(0, {few})), then chains=range({few}, {more})"
)


class Need(NamedTuple):
    """A part of the memory that a run needs."""

    kind: str  # a key of `_NAMES`
    size: int
    text: str  # the factors of the size


def draws_need(
    names: Sequence[str], blank: TransitionRows, chains: int, draws: int, copied: bool
) -> Need:
    """The memory of draws and results.

    `blank` are rows of a chain, with targets of these names. `copied` says whether the results are
    a copy of the targets.
    """
    copies = 2 if copied else 1
    sizes = [copies * t.dtype.itemsize * math.prod(t.shape[1:]) for t in blank.targets]
    recorded = 2 * blank.statistics.dtype.itemsize * math.prod(blank.statistics.shape[1:])
    row = sum(sizes) + recorded
    text = f"{chains} chains x {draws:,} draws x {row:,} bytes, results included"
    if row:
        pairs = zip([*sizes, recorded], [*names, "the sampler's record"], strict=True)
        largest, name = max(pairs)
        text += f"; {name} has {largest:,} bytes of a row"
    return Need("draws", chains * draws * row, text)


def store_needs(blank: TransitionRows, chains: int, mine: int, draws: int | None) -> list[Need]:
    """The memory of a store's blocks, and of examined draws.

    `mine` is the number of chains that this process runs.
    """
    columns = [Column("", x.dtype, x.shape[1:]) for x in _all(blank)]
    rows, width = block_rows(columns, 1, draws, mine), row_bytes(columns)
    text = f"{mine} chains x {rows:,} draws x {width:,} bytes"
    needs = [Need("blocks", mine * rows * width, text)]
    read = examined_draws(chains, LOOKED_AT if draws is None else draws, width)
    text = f"{chains} chains x {read:,} draws x {width:,} bytes"
    return [*needs, Need("examination", chains * read * width, text)]


def examined_draws(chains: int, draws: int, width: int) -> int:
    """The number of a stored chain's draws that diagnostics read.

    `width` is the number of bytes of a draw.
    """
    fitting = EXAMINED // max(chains * width, 1)
    return min(draws, LOOKED_AT, max(fitting, FEWEST_EXAMINED))


def chain_needs(
    program: Program,
    tuner: Tuner,
    chains: int,
    together: int | None,
    kept_rows: TransitionRows | None = None,
    stored: bool = False,
) -> list[Need]:
    """The memory of the states of chains, and of their warm-up.

    `together` is the number of chains that warm up together; None for chains on threads.
    `kept_rows` are blank rows of the targets, if the run keeps the rows of warm-up. With `stored` a
    store gets the states at the end, too.
    """
    state = _bytes(program.shapes()) + _bytes(Start.at(program.shapes().position))
    copies = STORED_COPIES if stored else COPIES
    width = copies * state + CHAIN_BYTES
    text = f"{chains} chains x {width:,} bytes, results included"
    directions = copies * _bytes(program.hyper().get("directions"))
    if directions > width / 2:
        text += (
            f"; directions of the metric have {directions:,} bytes of these, and "
            'kg.samplers.NUTS(metric="diagonal") has none'
        )
    needs = [Need("states", chains * width, text)]
    size = held_in_warmup(program, tuner)
    if size:
        count = warming_up_at_once(program, tuner, chains, 1) if together is None else together
        text = f"{count} chains at a time x {size:,} bytes of draws and gradients"
        needs.append(Need("warm-up", count * size, text))
    if kept_rows is not None:
        rows = SHORTEST if tuner.length is None else tuner.length
        width = 2 * sum(x.dtype.itemsize * math.prod(x.shape[1:]) for x in _all(kept_rows))
        text = f"{chains} chains x {rows:,} transitions x {width:,} bytes, by keep_warmup=True"
        needs.append(Need("warm-up", chains * rows * width, text))
    return needs


def _all(rows: TransitionRows) -> list[np.ndarray]:
    return [*rows.targets, rows.statistics]


def _bytes(tree: object) -> int:
    """The bytes of the arrays in a tree of arrays or shapes."""
    leaves = jax.tree.leaves(tree)
    return sum(math.prod(np.shape(x)) * np.dtype(x.dtype).itemsize for x in leaves)


def check_memory(doing: str, needs: Sequence[Need], chains: int) -> str:
    """A text about the memory that a run needs, or ''.

    Raises
    ------
    MemoryError
        If the run needs more memory than is available.
    """
    free, needed = available(), sum(need.size for need in needs)
    if free is None or needed <= WORTH * free:
        return ""
    listed = [need for need in needs if need.size > SMALL * needed]
    parts = "; ".join(f"{_size(n.size)} for {_NAMES[n.kind]} ({n.text})" for n in listed)
    kinds = {need.kind for need in listed}
    if needed <= free:
        way = "; store= of kg.mcmc writes draws to disk" if "draws" in kinds else ""
        return (
            f"the run will take {_size(needed)} of memory, of {_size(free)} available: {parts}{way}"
        )
    raise MemoryError(
        f"{doing}: the run needs {_size(needed)} of memory, but {_size(free)} are available: "
        f"{parts}. {_way_out(doing, needs, chains, free)}"
    )


_NAMES = {
    "draws": "draws",
    "blocks": "blocks of draws that are not written yet",
    "examination": "draws that are read for R-hat",
    "states": "states of chains",
    "warm-up": "warm-up",
}


def _way_out(doing: str, needs: Sequence[Need], chains: int, free: int) -> str:
    """Ways to run with less memory."""
    of_chains = sum(need.size for need in needs if need.kind != "draws")
    ways = []
    if sum(need.size for need in needs if need.kind == "draws") > free / 4:
        ways.append(_INSTEAD if doing == "mcmc" else _FEWER)
    if of_chains > free / 2 and chains > 1:
        few = max(int(chains * free / 2 / of_chains), 1)
        groups = _CONTINUED_GROUPS if doing == "resume" else _GROUPS
        ways.append(groups.format(few=few, more=min(2 * few, chains)))
    return ". ".join(ways)


def _size(count: float) -> str:
    """A number of bytes as a text, such as `1.2 GB`."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:,.1f} TB"


def available(root: Path = _ROOT) -> int | None:
    """The bytes that this process can still allocate, if known."""
    limits = [*_of_machine(root), *_of_groups(root)]
    return max(min(limits), 0) if limits else None


def _of_machine(root: Path) -> Iterator[int]:
    for line in _lines(root / "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) * 1024


def _of_groups(root: Path) -> Iterator[int]:
    """The bytes left below the limits of the groups.

    Versions 1 and 2 of control groups are read.
    """
    for line in _lines(root / "proc/self/cgroup"):
        number, controllers, place = line.split(":", 2)
        if number == "0":
            top, limit, used, files = "", "memory.max", "memory.current", "inactive_file"
        elif "memory" in controllers.split(","):
            top, limit = "memory", "memory.limit_in_bytes"
            used, files = "memory.usage_in_bytes", "total_inactive_file"
        else:
            continue
        mounted = root / "sys/fs/cgroup" / top
        inside = mounted / place.lstrip("/")
        for group in (inside, *inside.parents):
            limit_bytes, used_bytes = _number(group / limit), _number(group / used)
            if limit_bytes is not None and used_bytes is not None:
                # The kernel frees cached pages of files when memory is needed.
                cached = [int(x.split()[1]) for x in _lines(group / "memory.stat") if _is(files, x)]
                yield limit_bytes - used_bytes + sum(cached)
            if group == mounted:
                break


def _is(name: str, line: str) -> bool:
    return line.split(" ", 1)[0] == name


def _number(path: Path) -> int | None:
    lines = _lines(path)
    return int(lines[0]) if lines and lines[0].isdigit() else None  # "max": no limit


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
