"""A SQLite database of runs: their timings, and values of their records.

runs      one row for each fit() or sample(); `seconds` is empty while a run is under way, or if it
          was interrupted
scalars   loss, accuracy and the other columns of the run's last row in each block of steps, by
          walker; only with `sql_scalars`

Several simulations may write to one database.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd

from ..graph.errors import DataError
from ..version import __version__

__all__ = ["RunDatabase", "run_database"]

_RUNS = {
    "id": "INTEGER PRIMARY KEY",
    "started": "TEXT",
    "role": "TEXT",
    "method": "TEXT",
    "network": "TEXT",
    "parameters": "INTEGER",
    "data_rows": "INTEGER",
    "batch_size": "INTEGER",
    "walkers": "INTEGER",
    "first_step": "INTEGER",
    "steps": "INTEGER",
    "precision": "TEXT",
    "seed": "INTEGER",
    "version": "TEXT",
    "seconds": "REAL",
    "steps_per_second": "REAL",
}
_SCALARS = {
    "run": "INTEGER REFERENCES runs(id)",
    "walker": "INTEGER",
    "step": "INTEGER",
    "name": "TEXT",
    "value": "REAL",
}
_WAIT = 30.0  # seconds, while another process writes


class RunDatabase:
    """The row of one run in a database."""

    def __init__(
        self, connection: sqlite3.Connection, values: Mapping[str, Any], scalars: bool
    ) -> None:
        self._connection, self._scalars = connection, scalars
        with connection:
            for table, columns in (("runs", _RUNS), ("scalars", _SCALARS)):
                text = ", ".join(f"{name} {kind}" for name, kind in columns.items())
                connection.execute(f"CREATE TABLE IF NOT EXISTS {table} ({text})")
            row = {"started": datetime.now(UTC).isoformat(), "version": __version__, **values}
            marks = ", ".join(f":{name}" for name in row)
            text = f"INSERT INTO runs ({', '.join(row)}) VALUES ({marks})"
            self.number = connection.execute(text, row).lastrowid

    def add(self, rows: pd.DataFrame, walkers: int) -> None:
        """Add the last row of each walker, if scalars are on."""
        if not self._scalars or not len(rows):
            return
        last = rows.iloc[-walkers:]
        names = [name for name in rows if name not in ("id", "step", "epoch", "time_per_nth_step")]
        values = [
            (self.number, int(row["id"]), int(row["step"]), name, float(row[name]))
            for _, row in last.iterrows()
            for name in names
            if np.isfinite(row[name])
        ]
        with self._connection:
            self._connection.executemany("INSERT INTO scalars VALUES (?, ?, ?, ?, ?)", values)

    def end(self, steps: int, seconds: float) -> None:
        """Write the time of the run."""
        rate = steps / seconds if seconds > 0 else None
        with self._connection:
            self._connection.execute(
                "UPDATE runs SET seconds = ?, steps_per_second = ? WHERE id = ?",
                (seconds, rate, self.number),
            )


@contextmanager
def run_database(
    path: str | None, values: Mapping[str, Any], scalars: bool
) -> Iterator[RunDatabase | None]:
    """Open a database for a run; None without a path.

    Raises
    ------
    DataError
        If the file is not a database of runs, or cannot be written.
    """
    if path is None:
        yield None
        return
    try:
        with closing(sqlite3.connect(path, timeout=_WAIT)) as connection:
            yield RunDatabase(connection, values, scalars)
    except sqlite3.Error as error:
        raise DataError(
            f"sql_db: {path} cannot be used as a database of runs: {error}; give another file"
        ) from error
