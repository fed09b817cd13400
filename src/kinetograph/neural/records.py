"""Records of a run: data frames of its kept steps and walkers.

run_info     losses, energies and norms, the columns of `columns.py`
trajectory   parameters, or projections on directions
averages     running averages over the rows after the burn-in

A run makes them in blocks of rows; each block is also appended to files.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from ..graph.errors import MissingFileError
from ..graph.public import public
from ..graph.suggestions import absent
from ..graph.value_texts import shown
from .parameters import ParameterLayout

__all__ = [
    "RunningAverages",
    "TrajectoryData",
    "draws_of",
    "frame_of",
    "read_directions",
    "write_block",
]

FLOATS = "%.8e"
CHUNK = 4096  # rows of a chunk of a zarr store
_PARAMETER = re.compile(r"(weight|bias)\d+|.+\[\d+\]")  # names of `ParameterLayout.columns`
WHOLE = ("id", "step", "epoch")
_AVERAGED = {  # the columns of the run, and their averages
    "loss": "average_loss",
    "kinetic_energy": "average_kinetic_energy",
    "virial": "average_virials",
    "inertia": "average_inertia",
    "rejection": "average_rejection_rate",
}


@public
@dataclass(frozen=True)
class TrajectoryData:
    """The records of `sample()` or `fit()`, as data frames.

    Attributes
    ----------
    run_info
        Columns id (of the walker), step, epoch, accuracy, loss, potential (U of the density
        exp(-beta U), on the batch of the step as the loss), time_per_nth_step, beta, step_width and
        the columns of the sampler or optimiser.
    trajectory
        Columns id, step, loss and the free parameters: weight0, ..., bias0, ...; or c0, ..., the
        projections on directions.
    averages
        Columns id, step, epoch, loss and averages over the rows after the burn-in: average_loss,
        average_kinetic_energy and average_virials (virial = g w / 2) are means. average_inertia is
        the mean change of I = p w from row to row, (I_K - I_1) / (K - 1) after K rows and 0 after
        the first; so it tends to 0.
    attrs
        beta, the number of rows of the data n, the scale of the loss, the sampler, the seed, and
        whether the rows may be stationary: not of training, or after `collapse_walkers`.
    layout
        The layout of the parameters.
    """

    run_info: pd.DataFrame
    trajectory: pd.DataFrame
    averages: pd.DataFrame
    attrs: dict[str, Any] = field(default_factory=dict)
    layout: ParameterLayout | None = None

    @property
    def parameters(self) -> np.ndarray:
        """The free parameters, (walkers, rows, N)."""
        return _by_walker(self.trajectory, self.trajectory.columns[3:])

    def to_tree(self) -> xr.DataTree:
        """The results in the ArviZ schema: posterior and sample_stats.

        The posterior has an array for each weight matrix and bias vector, or the projections. An
        array with fixed numbers has their flat indices as its attribute `fixed`.
        """
        columns = list(self.trajectory.columns[3:])
        walkers = max(1, len(self.run_info["id"].unique()))
        steps = self.run_info["step"].to_numpy().reshape(-1, walkers)[:, 0]
        coords = {"chain": np.arange(walkers), "draw": steps}
        draws = self.parameters
        fixed: dict[str, list[int]] = {}
        if self.layout is None or columns[:1] == ["c0"]:
            named = {name: draws[..., i] for i, name in enumerate(columns)}
        else:
            layout = self.layout
            named = layout.by_name(layout.filled(draws))
            is_fixed = ~np.isin(np.arange(layout.size), layout.free)
            fixed = {
                name: np.flatnonzero(v).tolist() for name, v in layout.by_name(is_fixed).items()
            }
        posterior = {
            name.replace("/", "_"): (
                _dims(name.replace("/", "_"), values),
                values,
                {"fixed": fixed[name]} if fixed.get(name) else {},
            )
            for name, values in named.items()
        }
        stats = {
            name: (("chain", "draw"), _by_walker(self.run_info, [name])[..., 0])
            for name in self.run_info.columns
            if name not in ("id", "step")
        }
        return xr.DataTree.from_dict(
            {
                "/": xr.Dataset(attrs=self.attrs),
                "/posterior": xr.Dataset(posterior, coords, self.attrs),
                "/sample_stats": xr.Dataset(stats, coords, self.attrs),
            }
        )


def draws_of(
    trajectory: TrajectoryData | pd.DataFrame,
    layout: ParameterLayout,
    doing: str,
    walker: int | None = None,
) -> np.ndarray:
    """The free parameters of a trajectory or one walker, (rows, N).

    Raises
    ------
    TypeError
        If it is not a trajectory.
    ValueError
        If it is a trajectory of another network, or has no rows of the walker.
    """
    recorded = isinstance(trajectory, TrajectoryData)
    frame = trajectory.trajectory if isinstance(trajectory, TrajectoryData) else trajectory
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(
            f"{doing}: trajectory: expected the records of sample() or fit(), or their data frame "
            f"trajectory, got {type(frame).__name__}"
        )
    if not len(frame):
        raise ValueError(f"{doing}: the trajectory has no rows")
    names = [layout.columns[i] for i in layout.free]
    columns = [str(name) for name in frame.columns if _PARAMETER.fullmatch(str(name))]
    if missing := [name for name in names if name not in frame]:
        raise ValueError(
            f"{doing}: the trajectory has no column {missing[0]}; this network has {len(names)} "
            f"free parameters, {names[0]} to {names[-1]}, got the columns "
            f"{', '.join(map(str, frame.columns[:6]))}, ..."
        )
    if surplus := [name for name in columns if name not in names]:
        raise ValueError(
            f"{doing}: the trajectory is of another network: it has {len(columns)} parameters, "
            f"with {surplus[0]}; this network has {len(names)} free parameters, {names[0]} to "
            f"{names[-1]}"
        )
    other = trajectory.layout if isinstance(trajectory, TrajectoryData) else None
    if recorded and other is not None:
        if other.shapes != layout.shapes:
            raise ValueError(
                f"{doing}: the trajectory is of another network: its parameters have the shapes "
                f"{other.shapes}, the parameters of this network {layout.shapes}"
            )
        before, now = (
            np.zeros(0) if each.fixed is None else each.fixed for each in (other, layout)
        )
        if not np.array_equal(before, now, equal_nan=True):
            raise ValueError(
                f"{doing}: fix_parameters had other values in the run of the trajectory"
            )
    if walker is not None:
        ids = frame["id"].tolist() if "id" in frame else []
        if walker not in ids:
            raise ValueError(
                f"{doing}: the trajectory has no rows of the walker {shown(walker)}; its walkers "
                f"are {', '.join(map(str, dict.fromkeys(ids))) or 'not recorded'}"
            )
        frame = frame[frame["id"] == walker]
    return frame[names].to_numpy()


def _dims(name: str, values: np.ndarray) -> tuple[str, ...]:
    return ("chain", "draw", *(f"{name}_dim_{i}" for i in range(values.ndim - 2)))


def _by_walker(frame: pd.DataFrame, columns: Any) -> np.ndarray:
    """Columns of a frame, (walkers, rows, columns)."""
    walkers = max(1, len(frame["id"].unique()))
    values = frame[list(columns)].to_numpy()
    return values.reshape(-1, walkers, values.shape[1]).swapaxes(0, 1)


class RunningAverages:
    """Running averages of each walker over the rows after the burn-in.

    With K rows of a walker so far,

        average_loss = sum L / K,   average_kinetic_energy = sum K / K
        average_virials = 1/2 sum (g w) / K,   average_inertia = sum (I_k - I_(k-1)) / (K - 1)

    and I = p w. So average_inertia is the mean change of I, 0 in the first row.
    """

    def __init__(self, walkers: int) -> None:
        self.count = 0
        self.sums: dict[str, np.ndarray] = {}
        self.first = np.full(walkers, np.nan)

    def add(self, columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Add rows, (rows, walkers); return the averages after each."""
        averages = {}
        rows = len(columns["loss"])
        counts = self.count + 1.0 + np.arange(rows)[:, None]
        for name, average in _AVERAGED.items():
            if name not in columns:
                continue
            values = np.asarray(columns[name], float)
            if name == "inertia":
                if self.count == 0 and rows:
                    self.first = values[0]
                averages[average] = (values - self.first) / np.maximum(counts - 1, 1)
                continue
            before = self.sums.get(name, np.zeros(values.shape[1]))
            sums = np.cumsum([before, *values], 0)[1:]  # the same sums for any blocks
            averages[average] = sums / counts
            if rows:
                self.sums[name] = sums[-1]
        self.count += rows
        return averages


def write_block(path: str, frame: pd.DataFrame, first: bool) -> None:
    """Append rows to a CSV file, or to a folder NAME.zarr."""
    if os.fspath(path).endswith(".zarr"):
        rows = xr.Dataset({name: ("row", frame[name].to_numpy()) for name in frame})
        rows.attrs["columns"] = list(frame)  # their order, which a folder does not keep
        chunks = {name: {"chunks": (CHUNK,)} for name in frame}
        mode: dict[str, Any] = {"mode": "w", "encoding": chunks} if first else {"append_dim": "row"}
        rows.to_zarr(path, consolidated=False, zarr_format=3, **mode)
        return
    frame.to_csv(path, mode="w" if first else "a", header=first, index=False, float_format=FLOATS)


def read_directions(path: str, size: int) -> np.ndarray:
    """The directions of a file, normalised, (directions, N).

    Raises
    ------
    ValueError
        If rows do not have N numbers, or a row is zero.
    """
    if not os.path.exists(path):
        raise MissingFileError(f"directions_file: {absent(path)}")
    rows = np.atleast_2d(np.genfromtxt(path, delimiter=",", dtype=float))
    if np.isnan(rows[0]).all():  # a header
        rows = rows[1:]
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    if rows.shape[1] != size or not np.all(norms > 0):
        raise ValueError(
            f"directions_file: {path}: expected rows of {size} numbers that are not all 0, one for "
            f"each free parameter, got an array of shape {rows.shape}"
        )
    directions: np.ndarray = rows / norms
    return directions


def frame_of(columns: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """A frame of columns of shape (rows, walkers), row by row."""
    return pd.DataFrame({name: np.asarray(column).reshape(-1) for name, column in columns.items()})
