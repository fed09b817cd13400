"""Memory for the draws of a run, checked before anything is allocated.

Draws kept in memory need chains x draws x the bytes of a row. A row is a draw of all targets with
its records. Results are copies of them, except for targets whose draws are stored as results need
them. The available memory is known on Linux only: of the machine, and of each group of processes
(cgroup) to which this process belongs. On other systems nothing is checked.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from .rows import TransitionRows

__all__ = ["available", "check_memory"]

WORTH = 0.25  # a larger part of the available memory is reported
_ROOT = Path("/")
_STORE = 'store="run.zarr" writes them to disk as they are made'
_INSTEAD = (
    f"{_STORE}; thin=10 and a tenth of the draws keeps each tenth transition; keep=[...] keeps "
    "some targets; keep=False, averages=[...] keeps averages only"
)
_FEWER = f"Ask for fewer draws, or run kg.mcmc again: {_STORE}, and kg.resume continues the run"


def check_memory(
    doing: str, names: Sequence[str], blank: TransitionRows, chains: int, draws: int, copied: bool
) -> str:
    """A text about the memory that draws need, or ''.

    `blank` are rows of a chain, with targets of these names. `copied` says whether the results are
    a copy of the targets.

    Raises
    ------
    MemoryError
        If the draws need more memory than is available.
    """
    free = available()
    copies = 2 if copied else 1
    sizes = [copies * t.dtype.itemsize * math.prod(t.shape[1:]) for t in blank.targets]
    recorded = 2 * blank.statistics.dtype.itemsize * math.prod(blank.statistics.shape[1:])
    row = sum(sizes) + recorded
    needed = chains * draws * row
    if free is None or needed <= WORTH * free:
        return ""
    product = f"{chains} chains x {draws:,} draws x {row:,} bytes, results included"
    if needed <= free:
        return (
            f"the draws will take {_size(needed)} of memory ({product}), of {_size(free)} that are "
            "available; store= of kg.mcmc writes them to disk"
        )
    largest, name = max(zip([*sizes, recorded], [*names, "the sampler's record"], strict=True))
    raise MemoryError(
        f"{doing}: the draws need {_size(needed)} of memory ({product}; {name} has {largest:,} "
        f"bytes of a row), but {_size(free)} are available. "
        + (_INSTEAD if doing == "mcmc" else _FEWER)
    )


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
