"""The memory that the draws of a run take, beside what there is: before anything is allocated.

Draws are kept in memory as they come: chains x draws x the bytes of a row, which is a draw of all
targets with what is recorded of it. Results are made beside them, but for targets that lie as
results have them, which are not copied. What there is to take, Linux tells: of the machine, and of
each group of processes (cgroup) that this one belongs to. Elsewhere nothing is said.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from .rows import Rows

__all__ = ["available", "check_memory"]

WORTH = 0.25  # of what is available: more of it is told
_ROOT = Path("/")
_STORE = 'store="run.zarr" has them go to disk as they come'
_INSTEAD = (
    f"{_STORE}; thin=10 and a tenth of the draws keeps each tenth transition; keep=[...] some "
    "targets; keep=False, averages=[...] averages alone"
)
_FEWER = f"Ask for fewer draws, or run kg.mcmc anew: {_STORE}, and kg.resume goes on with it"


def check_memory(
    doing: str, names: Sequence[str], blank: Rows, chains: int, draws: int, copied: bool
) -> str:
    """What is to be told of the memory that draws take: nothing, if there is enough.

    `blank` are the rows of a chain, of targets with these names, `copied` for the results or not.

    Raises
    ------
    MemoryError
        If there is not as much.
    """
    free = available()
    times = 2 if copied else 1
    sizes = [times * t.dtype.itemsize * math.prod(t.shape[1:]) for t in blank.targets]
    recorded = 2 * blank.statistics.dtype.itemsize * math.prod(blank.statistics.shape[1:])
    row = sum(sizes) + recorded
    needed = chains * draws * row
    if free is None or needed <= WORTH * free:
        return ""
    product = f"{chains} chains x {draws:,} draws x {row:,} bytes, results included"
    if needed <= free:
        return (
            f"the draws will take {_size(needed)} of memory ({product}), of {_size(free)} that are "
            "available; store= of kg.mcmc has them go to disk"
        )
    largest, name = max(zip([*sizes, recorded], [*names, "the sampler's record"], strict=True))
    raise MemoryError(
        f"{doing}: the draws need {_size(needed)} of memory ({product}; {name} has {largest:,} "
        f"bytes of a row), and {_size(free)} are available. "
        + (_INSTEAD if doing == "mcmc" else _FEWER)
    )


def _size(count: float) -> str:
    """`1.2 GB`: bytes, for reading."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:,.1f} TB"


def available(root: Path = _ROOT) -> int | None:
    """The bytes that this process can still take, if the system tells."""
    found = [*_of_machine(root), *_of_groups(root)]
    return max(min(found), 0) if found else None


def _of_machine(root: Path) -> Iterator[int]:
    for line in _lines(root / "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) * 1024


def _of_groups(root: Path) -> Iterator[int]:
    """What is left below the limits of the groups, of both versions of them."""
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
            most, taken = _number(group / limit), _number(group / used)
            if most is not None and taken is not None:
                # Pages of files are given back when they are asked for.
                cached = [int(x.split()[1]) for x in _lines(group / "memory.stat") if _is(files, x)]
                yield most - taken + sum(cached)
            if group == mounted:
                break


def _is(name: str, line: str) -> bool:
    return line.split(" ", 1)[0] == name


def _number(path: Path) -> int | None:
    lines = _lines(path)
    return int(lines[0]) if lines and lines[0].isdigit() else None  # "max" is no limit


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
