"""The rows of warm-up in a store, one file for each checkpoint.

    warmup-3-0, warmup-3-120, ...    chain 3: rows from row 0 on, from row 120 on, ...

The state of a chain records the number of rows. Files of later rows belong to a checkpoint that was
lost.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ...programs.sealed_files import (
    Damaged,
    arrays_bytes,
    arrays_of,
    read_sealed,
    seal,
    write_whole,
)
from ..rows import TransitionRows

__all__ = ["Warmups"]


class Warmups:
    """The rows of warm-up of one chain."""

    def __init__(self, hidden: Path, number: int, count: int = 0) -> None:
        self.hidden, self.number, self.count = hidden, number, count

    def _files(self) -> Iterator[tuple[int, Path]]:
        files = [
            (int(file.name.rpartition("-")[2]), file)
            for file in self.hidden.glob(f"warmup-{self.number}-*")
        ]
        yield from sorted(files)

    def add(self, rows: TransitionRows) -> None:
        """Write further rows."""
        values = {f"target_{i}": target for i, target in enumerate(rows.targets)}
        data = arrays_bytes(values | {"statistics": rows.statistics})
        write_whole(self.hidden / f"warmup-{self.number}-{self.count}", seal(data))
        self.count += len(rows.statistics)

    def cut(self) -> None:
        """Remove the files of rows beyond the recorded number."""
        for first, file in self._files():
            if first >= self.count:
                file.unlink()

    def read(self) -> Sequence[TransitionRows]:
        """All rows.

        Raises
        ------
        Damaged
            If some are damaged or missing.
        """
        parts, rows_read = [], 0
        for first, file in self._files():
            if first == rows_read < self.count:  # other files belong to a lost checkpoint
                values = arrays_of(read_sealed(file))
                statistics = values.pop("statistics")
                parts.append(
                    TransitionRows([values[f"target_{i}"] for i in range(len(values))], statistics)
                )
                rows_read += len(statistics)
        if rows_read != self.count:
            raise Damaged(f"rows of the warm-up of chain {self.number} are missing")
        return parts
