"""`kinetograph neural analyse`: tables of a trajectory file."""

from pathlib import Path
from typing import Any

import click
import pandas as pd

from ...cli.errors import note
from ..analysis import Analysis
from ..analysis.files import write_table
from ..analysis.tables import TABLES
from .flags import explained, option_flags, signature_flag

__all__ = ["analyse"]

DEFAULT = ("averages", "parameters", "eigenvalues", "autocorrelation")
_FILE = click.Path(exists=True, path_type=Path)  # a CSV file, or a folder NAME.zarr


@click.command()
@click.argument("trajectory", type=_FILE)
@click.argument("run", type=_FILE, required=False)
@option_flags()
@signature_flag(
    Analysis,
    "inverse_temperature",
    "The inverse temperature that was sampled; by default the column beta of the run file, or 1.",
    kind=float,
)
@click.option(
    "--table",
    "tables",
    multiple=True,
    type=click.Choice(tuple(TABLES)),
    help=f"A table; repeatable.  [default: {', '.join(DEFAULT)}]",
)
@signature_flag(Analysis, "drop", "Rows that are left out at the start of each walker.")
@signature_flag(Analysis, "every", "Every how many rows one is used.")
@signature_flag(Analysis, "steps", "The number of cut points of running averages.")
@signature_flag(Analysis, "count", "The number of eigenpairs of the diffusion map.")
@signature_flag(Analysis, "landmark_count", "The number of landmarks.")
@signature_flag(Analysis, "estimator", "The estimator of autocorrelation times.")
@signature_flag(Analysis, "walkers", "How autocorrelation times treat walkers.")
@signature_flag(
    Analysis,
    "potential",
    "The record U of the density exp(-beta U); by default potential.",
    kind=str,
)
@signature_flag(Analysis, "bins", "The number of bins of free energies.")
@click.option(
    "--diffusion-map-method", default="vanilla", show_default=True, help="vanilla or tmdmap."
)
@click.option(
    "--reweight-to",
    type=click.FloatRange(min=0, min_open=True),
    help="Also averages at this inverse temperature, by re-weighting.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FOLDER", help="Write NAME.csv files."
)
def analyse(
    trajectory: Path,
    run: Path | None,
    tables: tuple[str, ...],
    diffusion_map_method: str,
    reweight_to: float | None,
    out: Path | None,
    show_traceback: bool,
    **settings: Any,
) -> None:
    """Analyse a trajectory file, and a run file if there is one.

    They are files of --trajectory-file and --run-file of the other commands. The tables are the
    tables of kg.neural.analysis.Analysis. They are printed, or written to a folder.
    """
    with explained(show_traceback):
        study = Analysis.from_files(
            trajectory, run, map_options={"method": diffusion_map_method}, **settings
        )
        columns = {name: study.table(name) for name in tables or DEFAULT}
        if reweight_to is not None:
            columns["reweighted"] = study.at_temperature(reweight_to)
        if out is None:
            texts = [f"{n}\n{pd.DataFrame(c).to_string(index=False)}" for n, c in columns.items()]
            click.echo("\n\n".join(texts))
            return
        out.mkdir(parents=True, exist_ok=True)
        for name, table in columns.items():
            write_table(out / f"{name}.csv", table)
            note(f"wrote {out / name}.csv")
