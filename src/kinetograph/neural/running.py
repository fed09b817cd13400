"""Runs of a simulation: blocks of steps become records."""

import os
import sys
import time
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from ..graph.errors import KinetographWarning
from ..graph.source import warn_user
from ..results.advice import SamplingWarning
from ..runs.signals import holding, stoppable
from .columns import RUN, columns_of, values_of
from .counter import counted
from .database import run_database
from .ingredients import ModelPart, NetworkPart
from .interruption import undone_by_errors, warn_of_stop
from .record_files import (
    RECORD_FILES,
    BegunFile,
    changed_meanwhile,
    check_writable,
    continued_files,
)
from .records import RunningAverages, TrajectoryData, frame_of, read_directions, write_block
from .walkers import WalkerRows, Walkers

__all__ = ["Recorder", "run"]

FIRST = 1000  # steps of the first block
NUMBERS = 2**22  # the numbers of a block of rows, which bound its memory
BLOCKS = 50  # at least as many, where they are shown
SECONDS = 5.0  # about, of the steps of a block: Ctrl-C stops a run after a block
GROWTH = 8  # the most by which a block has more rows than the block before


class Recorder:
    """Makes records of blocks of rows.

    Attributes
    ----------
    averages, rejections
        Running averages after the burn-in, and of the rejections of all rows. They continue when a
        run continues.
    """

    def __init__(self, walkers: int) -> None:
        self.averages, self.rejections = RunningAverages(walkers), RunningAverages(walkers)

    def frames(
        self,
        walkers: Walkers,
        rows: WalkerRows,
        network: NetworkPart,
        model: ModelPart,
        options: Mapping[str, Any],
        seconds: float,
        directions: np.ndarray | None,
    ) -> list[pd.DataFrame]:
        """The frames run_info, trajectory and averages of a block."""
        count, width = rows.draws.shape[:2]
        columns = _base(walkers, rows, model, options)
        columns["time_per_nth_step"] = np.full((count, width), seconds / max(count, 1))
        extra = columns_of(walkers.sampler, options["do_accumulates"])
        potential = columns["potential"]
        for name in extra:
            columns[name] = np.asarray(
                values_of(name, rows.statistics, potential, columns["step_width"], columns["beta"]),
                float,
            )
        if "average_rejection_rate" in extra:
            rejected = {"loss": columns["loss"], "rejection": columns["average_rejection_rate"]}
            rates = self.rejections.add(rejected)["average_rejection_rate"]
            columns["average_rejection_rate"] = rates
        run = frame_of({name: columns[name] for name in (*RUN, *extra)})
        is_sampled = rows.steps > options["burn_in_steps"]
        averaged = dict(columns)
        if "inertia" in rows.statistics:
            averaged["inertia"] = rows.statistics["inertia"]
        if "average_rejection_rate" in extra:
            averaged["rejection"] = rejected["rejection"]
        averaged = {name: values[is_sampled] for name, values in averaged.items()}
        head = {name: averaged[name] for name in ("id", "step", "epoch", "loss")}
        if options["do_accumulates"]:
            head |= self.averages.add(averaged)
        names = network.names
        draws = rows.draws.reshape(count * width, rows.draws.shape[-1])
        if directions is not None:
            draws, names = draws @ directions.T, [f"c{i}" for i in range(len(directions))]
        trajectory = pd.concat(
            [run[["id", "step", "loss"]], pd.DataFrame(draws, columns=names)], axis=1
        )
        return [run, trajectory, frame_of(head)]


def _density(statistics: Mapping[str, np.ndarray]) -> np.ndarray:
    return statistics["batch_lp" if "batch_lp" in statistics else "lp"]


def _base(
    walkers: Walkers, rows: WalkerRows, model: ModelPart, options: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """The columns of all runs, (rows, walkers)."""
    count, width = rows.draws.shape[:2]
    steps = np.repeat(rows.steps[:, None], width, 1)
    loss, accuracy = _scores(walkers, rows, model, options)
    widths = rows.statistics.get("step_width", np.full((count, width), np.nan))
    beta = np.nan if walkers.sampler.optimizes else walkers.hyper("inverse_temperature")
    return {
        "id": np.repeat(walkers.first + np.arange(width)[None], count, 0),
        "step": steps,
        "epoch": model.epochs(steps),
        "accuracy": accuracy,
        "loss": loss,
        "potential": np.asarray(-_density(rows.statistics), float),
        "beta": np.full((count, width), float(beta)),
        "step_width": np.asarray(widths, float),
    }


def _scores(
    walkers: Walkers, rows: WalkerRows, model: ModelPart, options: Mapping[str, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Losses and accuracies of the rows on the batches of their steps."""
    landscape = model.landscape
    count, width, _ = rows.draws.shape
    wants_accuracy = options["do_accumulates"] and landscape._accuracy is not None
    if landscape.prior is None and not wants_accuracy and model.noise is None:
        loss = -_density(rows.statistics) / model.scale
        return np.asarray(loss, float), np.full((count, width), np.nan)
    batches = None
    if not model.sees_all_rows:
        events = walkers.events(rows.steps)
        each = [model.rows(walkers.key(walker), events) for walker in range(width)]
        batches = np.stack(list(map(np.asarray, each)), 1)
    loss, accuracy = landscape.row_values.scores(rows.draws, batches)
    return loss.astype(float), accuracy.astype(float)


def run(
    role: str,
    walkers: Walkers,
    recorder: Recorder,
    network: NetworkPart,
    model: ModelPart,
    options: Mapping[str, Any],
    files: dict[str, BegunFile],
    keep: bool,
    stationary: bool = True,
    whole: bool = False,
) -> TrajectoryData:
    """Make max_steps steps, and return their records.

    Ctrl-C ends the run after a block of steps, and the rows so far are returned. In the first block
    it raises `KeyboardInterrupt`. A block that is not completed leaves nothing behind.

    Parameters
    ----------
    files
        The files that the simulation began, by path; a file with their rows is appended to.
    whole
        Whether Ctrl-C raises `KeyboardInterrupt` in each block.
    """
    steps, nth, length = options["max_steps"], options["every_nth"], walkers.steps_per_transition
    for name, value, way in (
        ("max_steps", steps, f"max_steps={-(-steps // length) * length}"),
        ("every_nth", nth or 0, "every_nth=None for a row after each turn"),
    ):
        if value % length:
            raise ValueError(
                f"{name}={value} must be a multiple of covariance_after_steps={length}: with "
                "covariance_blending, walkers take turns after that many steps, and rows are "
                f"states after a turn; take {way}, or covariance_after_steps={value}"
            )
    thin, left = max(1, (nth or 1) // length), steps // length
    directions = None
    if options["directions_file"] is not None:
        directions = read_directions(options["directions_file"], len(network.names))
    at_once = max(1, NUMBERS // (walkers.count * (len(network.names) + 32)))
    if options["progress"] or options["verbose"] > 2 or options["sql_scalars"]:
        at_once = min(at_once, 1 + left // thin // BLOCKS)
    writes = [name for name in RECORD_FILES if options[name] is not None]
    for name in writes:
        check_writable(name, options[name])
    density = model.landscape.checksum if writes and role == "sampling" else ""

    @cache
    def columns() -> list[list[str]]:
        rows = walkers.step(0, thin)
        return [
            list(f) for f in recorder.frames(walkers, rows, network, model, options, 0, directions)
        ]

    begun = continued_files(files, role, walkers.steps_made, density, columns, options)
    for name, file in begun.items():
        file.cut(options[name])
    is_timed = not options["sql_scalars"]  # a row of scalars for each block
    number = min(at_once, 1 if writes else max(1, FIRST // thin)) if is_timed else at_once
    blocks: list[list[pd.DataFrame]] = []
    rows_made = steps_made = 0
    not_finite = pd.DataFrame()  # the first such row of each walker
    start = time.perf_counter()
    with (
        stoppable(),
        holding() as signals,
        run_database(
            options["sql_db"], _run_values(role, walkers, model, options), options["sql_scalars"]
        ) as database,
        counted(options["progress"], role, steps, "steps") as advance,
    ):
        while (left and not signals) or not blocks:
            written = {options[name]: file for name, file in begun.items()}
            with undone_by_errors(walkers, recorder, files, written):
                before, transitions = time.perf_counter(), min(left, thin * number)
                rows = walkers.step(transitions, thin)
                seconds = time.perf_counter() - before
                if is_timed:
                    fitting = int(number * SECONDS / max(seconds, 1e-9))
                    number = min(at_once, GROWTH * number, max(fitting, 1))
                frames = recorder.frames(
                    walkers, rows, network, model, options, seconds, directions
                )
                for name, frame in zip(RECORD_FILES, frames, strict=True):
                    if name in writes:
                        path = options[name]
                        if steps_made and not begun[name].is_all_of(path):
                            raise changed_meanwhile(name, path)
                        write_block(path, frame, name not in begun)
                        begun[name] = BegunFile.at(role, density, path)
                        files[os.path.realpath(path)] = begun[name]
                if signals and (whole or not blocks):
                    raise signals.pop()
            wrong = frames[0][~np.isfinite(frames[0]["loss"])]
            not_finite = (
                pd.concat([not_finite, wrong]).drop_duplicates("id") if len(wrong) else not_finite
            )
            left, rows_made = left - transitions, rows_made + len(frames[0])
            steps_made += transitions * length
            advance(transitions * length)
            if database is not None:
                database.add(frames[0], walkers.count)
            if options["verbose"] > 2 and len(frames[0]):
                last = frames[0].iloc[-1]
                _note(f"{role}: step {last['step']:.0f}, loss {last['loss']:.6g}")
            if keep:
                blocks.append(frames)
            elif not blocks or not left or signals:
                blocks = [[frame.iloc[:0] for frame in frames]]
        if database is not None:
            database.end(steps_made, time.perf_counter() - start)
    if options["verbose"]:
        seconds = time.perf_counter() - start
        rate = f"{steps_made / seconds:,.0f} steps/s" if seconds > 0 else "no time"
        of = f" of {walkers.count} walkers" if walkers.count > 1 else ""
        _note(f"{role}: {steps_made:,} steps{of} in {seconds:.2f} s, {rate}")
    if signals:
        warn_of_stop(role, steps_made, steps)
    if (keep or writes) and steps_made == steps and steps and not rows_made:
        _warn_of_no_rows(role, walkers.steps_made - steps, steps, thin * length)
    if len(not_finite):
        _warn_of_steps(role, not_finite, walkers.count)
    joined = [pd.concat(parts, ignore_index=True) for parts in zip(*blocks, strict=True)]
    attrs = {
        "beta": options["inverse_temperature"],
        "n": len(model.landscape.x),
        "scale": model.scale,
        "sampler": type(walkers.sampler).__name__,
        "seed": options["seed"],
        "stationary": stationary,
    }
    if steps_made < steps:
        attrs["stopped_by"] = "Ctrl-C"
    return TrajectoryData(joined[0], joined[1], joined[2], attrs, network.layout)


def _warn_of_no_rows(role: str, before: int, steps: int, nth: int) -> None:
    """Warn of a run whose records have no rows."""
    warn_user(
        f"{role}: the records have no rows: they have the rows of every step that is a multiple of "
        f"every_nth={nth}, and the run made the {steps} steps from {before + 1} to "
        f"{before + steps}. Take a smaller every_nth, or a larger max_steps.",
        KinetographWarning,
    )


def _warn_of_steps(role: str, rows: pd.DataFrame, count: int) -> None:
    """Warn of walkers by the first rows without a finite loss."""
    first = rows.iloc[0]
    option = "learning_rate" if role.startswith("training") else "step_width"
    warn_user(
        f"{role}: the loss is not finite from step {first['step']:.0f} of walker {first['id']:.0f} "
        f"on, in {len(rows)} of {count} walkers: a step that is too long makes the parameters grow "
        f"without bound. Take a smaller {option}, and do not use these rows.",
        SamplingWarning,
    )


def _run_values(
    role: str, walkers: Walkers, model: ModelPart, options: Mapping[str, Any]
) -> dict[str, Any]:
    """The settings of a run, for its database."""
    batch, sampler = model.model.batch, walkers.sampler
    rows = len(model.landscape.x)
    return {
        "role": role,
        "method": sampler.optimizer.name if sampler.optimizes else repr(sampler),
        "network": model.landscape.network.title,
        "parameters": model.landscape.size,
        "data_rows": rows,
        "batch_size": rows if batch is None else batch.size,
        "walkers": walkers.count,
        "first_step": walkers.steps_made + 1,
        "steps": options["max_steps"],
        "precision": options["precision"],
        "seed": options["seed"],
    }


def _note(text: str) -> None:
    if sys.stderr is not None:
        print(text, file=sys.stderr, flush=True)
