"""Tables as CSV files: a header, and one column for each name.

A table is a mapping from names to arrays of one length. Floats are written with nine digits,
whole numbers and texts as they are.
"""

import csv
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...graph.public import public
from .inputs import numbers

__all__ = ["RECORDS", "read_table", "write_table"]

Records = Mapping[str, np.ndarray]

# The columns of the run files of all samplers and optimisers. Every other column of a trajectory
# is a parameter or a projection.
RECORDS = {
    *("id", "step", "epoch", "accuracy", "loss", "potential"),
    *("time_per_nth_step", "beta", "step_width"),
    *("scaled_gradient", "virial", "scaled_noise", "scaled_momentum", "momentum_norm"),
    *("total_energy", "old_total_energy", "kinetic_energy", "average_rejection_rate", "accepted"),
    *("thermostat", "noise_covariance_trace", "learning_rate", "unpreconditioned", "eta_effective"),
}


@public
def write_table(path: Any, columns: Mapping[str, Any]) -> None:
    """Write columns to a CSV file whose header has their names.

    Parameters
    ----------
    path
        The file; an existing file is overwritten.
    columns
        Arrays of one length, by name.

    Raises
    ------
    ValueError
        If the columns differ in length or have more than one dimension.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from kinetograph.neural import analysis
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "averages.csv"
    >>> analysis.write_table(path, {"id": [0], "average_loss": [0.5]})
    >>> print(path.read_text().strip())
    id,average_loss
    0,5.00000000e-01
    """
    arrays = {name: np.asarray(values) for name, values in columns.items()}
    shapes = {name: array.shape for name, array in arrays.items()}
    if len(set(shapes.values())) != 1 or len(next(iter(shapes.values()))) != 1:
        raise ValueError(
            f"write_table: expected columns of one length for {str(path)!r}, got the shapes "
            f"{shapes!s:.200}"
        )
    texts = [
        [f"{value:8.8e}" for value in array] if array.dtype.kind == "f" else array.tolist()
        for array in arrays.values()
    ]
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(arrays)
        writer.writerows(zip(*texts, strict=True))


@public
def read_table(path: Any) -> dict[str, np.ndarray]:
    """Read the columns of a CSV file or a zarr folder.

    A CSV file has a header. A folder NAME.zarr is one that a simulation wrote.

    Returns
    -------
    dict
        Arrays of floats by name, with NaN for empty entries, or of texts for a column whose entries
        are not all numbers.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If the file has no header, a name occurs twice, or a row has another number of entries.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from kinetograph.neural import analysis
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "trajectory.csv"
    >>> analysis.write_table(path, {"id": [0, 0], "weight0": [0.5, 0.25]})
    >>> analysis.read_table(path)["weight0"].tolist()
    [0.5, 0.25]
    """
    if Path(path).suffix == ".zarr" and Path(path).is_dir():
        return _stored(path)
    with open(path, newline="", encoding="utf-8") as file:
        names = [name.strip() for name in next(csv.reader(file), [])]
    if not names or len({*names}) != len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        reason = f"has the columns {', '.join(twice)} twice" if twice else "is empty"
        raise ValueError(f"read_table: {str(path)!r} {reason}; expected a header of distinct names")
    try:
        # NumPy's reader holds numbers only, which takes less memory than texts.
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # no rows
            try:
                values = _numbers(path)
            except ValueError:
                values = _numbers(path, converters=lambda text: float(text or "nan"))
    except ValueError:
        return _texts(path, names)
    if values.size and values.shape[1] == len(names):
        return dict(zip(names, values.T, strict=True))
    return _texts(path, names)


def _stored(path: Any) -> dict[str, np.ndarray]:
    """The columns of a zarr folder, in the order of writing."""
    import zarr

    group = zarr.open_group(path, mode="r")
    names: Any = group.attrs.get("columns", sorted(group.array_keys()))
    return {name: np.asarray(group[name], float) for name in names}


def _numbers(path: Any, **options: Any) -> np.ndarray:
    """The numbers below the header, (rows, columns)."""
    return np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2, encoding="utf-8", **options)


def _texts(path: Any, names: list[str]) -> dict[str, np.ndarray]:
    """The columns of a file with texts, by the slower reader.

    Raises ValueError for incomplete rows.
    """
    with open(path, newline="", encoding="utf-8") as file:
        _, *rows = list(csv.reader(file))
    for line, row in enumerate(rows, 2):
        if len(row) != len(names):
            raise ValueError(
                f"read_table: line {line} of {str(path)!r} has {len(row)} entries, but the header "
                f"has {len(names)} names"
            )
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    return {name: _values(column) for name, column in zip(names, columns, strict=True)}


def _values(texts: tuple[str, ...]) -> np.ndarray:
    try:
        return np.array([text.strip() or "nan" for text in texts], float)
    except ValueError:
        return np.array(texts)


def chains_of(
    columns: Mapping[str, np.ndarray], title: str
) -> tuple[np.ndarray, list[str], dict[str, np.ndarray]]:
    """The draws of a table, the names of parameters, and the records.

    The draws have the shape (chain, draw, parameter). Rows with the same `id` form a chain,
    in the order of the file. The title is the file in messages.
    """
    length = len(next(iter(columns.values())))
    ids = columns.get("id", np.zeros(length))
    walkers, counts = np.unique(ids, return_counts=True)
    if not length or len({*counts.tolist()}) != 1:
        sizes = dict(zip(walkers.tolist(), counts.tolist(), strict=True))
        raise ValueError(
            f"{title}: expected equally many rows of each walker (column id), got "
            f"{sizes or 'no rows'}; cut the file to complete walkers"
        )
    order = np.argsort(ids, kind="stable")
    shape = (len(walkers), int(counts[0]))
    arrays = {
        name: numbers(values, f"{title}: column {name}")[order].reshape(shape)
        for name, values in columns.items()
    }
    names = [name for name in arrays if name not in RECORDS]
    draws = np.stack([arrays[name] for name in names], -1) if names else np.zeros((*shape, 0))
    return draws, names, {name: arrays[name] for name in arrays if name in RECORDS}


def check_same_rows(first: Any, one: Records, second: Any, other: Records, doing: str) -> None:
    """Refuse records of two files whose rows do not belong together."""
    for name in ("id", "step"):
        if name in one and name in other:
            places = np.argwhere(one[name] != other[name])
            if len(places):
                walker, row = places[0]
                raise ValueError(
                    f"{doing}: row {row} of a walker has {name}={other[name][walker, row]:g} in "
                    f"{str(second)!r}, but {name}={one[name][walker, row]:g} in {str(first)!r}; "
                    "give files of one run, with their rows in the same order"
                )
