"""`kinetograph sample`: draw from the posterior of a model in a Python file."""

from pathlib import Path
from typing import Any

import click

from .errors import (
    INTERRUPTED,
    InputError,
    RunError,
    note,
    print_traceback,
    readable_warnings,
)
from .files import check_target, write_whole
from .models import load_model, model_argument, traceback_option

__all__ = ["sample"]


@click.command()
@model_argument
@click.option("--draws", type=click.IntRange(1), default=1000, show_default=True, help="Per chain.")
@click.option(
    "--warmup",
    type=click.IntRange(0),
    help="Transitions per chain before the draws.  [default: 500]",
)
@click.option("--chains", type=click.IntRange(1), default=4, show_default=True)
@click.option(
    "--thin", type=click.IntRange(1), default=1, show_default=True, help="Keep every n-th."
)
@click.option("--seed", type=click.IntRange(0), help="Default: a fresh one, which is shown.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Write the results, as netCDF (.nc).",
)
@click.option("--quiet", is_flag=True, help="Show no progress.")
@traceback_option
def sample(
    source: str,
    draws: int,
    warmup: int | None,
    chains: int,
    thin: int,
    seed: int | None,
    out: Path | None,
    quiet: bool,
    show_traceback: bool,
) -> None:
    """Draw from the posterior of a model and print its summary.

    FILE is a Python file that makes a model at top level: model = kg.model(...). NAME chooses the
    variable if there are several.

    Ctrl-C stops: what has been drawn is summarised and written.
    """
    target = None if out is None else check_target(out, (".nc",))
    with readable_warnings():
        model = load_model(source, show_traceback)
        try:
            run = {"draws": draws, "warmup": warmup, "chains": chains, "thin": thin, "seed": seed}
            tree = _draw(model, progress=not quiet, **run)
        except KeyboardInterrupt:
            note("kinetograph: interrupted before every chain had a draw; nothing to write")
            raise click.exceptions.Exit(INTERRUPTED) from None
        except Exception as error:
            if show_traceback:
                print_traceback(error)
            raise _explain(error) from error
    _report(tree, draws, seed, out, target)


def _draw(model: Any, **settings: Any) -> Any:
    from ..runs.mcmc import mcmc

    return mcmc(model, **settings)


def _explain(error: Exception) -> click.ClickException:
    from ..graph.errors import KinetographError

    if isinstance(error, KinetographError):
        return RunError(f"{type(error).__name__}: {error}")
    if isinstance(error, ValueError) and str(error).startswith("mcmc: "):
        return InputError(str(error))
    raise error


def _report(tree: Any, draws: int, seed: int | None, out: Path | None, target: Path | None) -> None:
    from ..runs.summary import summary

    click.echo(str(summary(tree)))
    if seed is None:
        note(f"seed {tree.attrs['seed']}")
    if target is not None:
        try:
            write_whole(target, lambda path: tree.to_netcdf(path, engine="h5netcdf"))
        except OSError as error:
            raise RunError(f"{out} could not be written: {error}") from error
        note(f"wrote {out}")
    if tree.attrs["interrupted"]:
        note(f"kinetograph: interrupted after {tree['posterior'].sizes['draw']} of {draws} draws")
        raise click.exceptions.Exit(INTERRUPTED)
