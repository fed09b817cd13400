"""`kinetograph resume`: continue a stored run."""

from pathlib import Path
from typing import Any

import click

from .errors import InputError, RunError, readable_warnings
from .files import check_target
from .models import complete_file, load_model, traceback_option
from .outcome import carry_out, format_option, out_option
from .sample import check_every, threads_option, until_options
from .settings import ChainsType, make_until

__all__ = ["resume"]


@click.command(short_help="Continue a stored run.")
@click.argument("path", type=click.Path(path_type=Path))
@click.argument("source", metavar="[FILE[:NAME]]", required=False, shell_complete=complete_file)
@click.option(
    "--draws",
    type=click.IntRange(1),
    help="Draws per chain, including the present ones.  [default: as requested last]",
)
@click.option(
    "--chains",
    type=ChainsType(1),
    metavar="N|A:B",
    help="The numbers of the chains that continue.  [default: all]",
)
@until_options
@threads_option
@check_every
@click.option(
    "--trust",
    multiple=True,
    metavar="NAME",
    help="Function that the model in the store may call, such as package.function. Repeatable.",
)
@click.option("--force", is_flag=True, help="Continue although versions, data or model differ.")
@out_option
@format_option
@click.option("--quiet", is_flag=True, help="Show no progress.")
@traceback_option
def resume(
    path: Path,
    source: str | None,
    chains: int | range | None,
    until_ess: float | None,
    until_rhat: float | None,
    out: Path | None,
    style: str,
    quiet: bool,
    show_traceback: bool,
    **options: Any,
) -> None:
    """Continue a run of `kinetograph sample --store PATH` and print its summary.

    The draws equal the draws of a run that was never stopped. The model is in the store. If the
    store could not hold it, or if it calls functions that are not named by --trust, FILE is the
    Python file that creates it, as for `kinetograph sample`. NAME selects the variable if there are
    several models.

    Exit codes: 0 done, 1 failed, 2 wrong input, 130 stopped by Ctrl-C, 143 by SIGTERM.
    """
    target = None if out is None else check_target(out, (".nc",))
    if not (path / ".kinetograph").is_dir():
        problem = "there is no folder" if not path.exists() else "not the store of a run:"
        raise InputError(f"{problem} {path}; `kinetograph sample FILE --store {path}` makes one")
    numbers = range(chains) if isinstance(chains, int) else chains
    with readable_warnings():
        condition = make_until(until_ess, until_rhat)
        model = None
        if source is None:
            _check_model(path)
        else:
            model = load_model(source, show_traceback)

        def run() -> Any:
            from ..runs.resume import resume

            options.update(chains=numbers, until=condition, progress=not quiet, on_sigterm="return")
            return resume(path, model, **options)

        carry_out(run, out, target, path, style, show_traceback, show_seed=False)


def _check_model(path: Path) -> None:
    """Refuse a store that does not hold the model."""
    from ..graph.errors import KinetographError
    from ..runs.store.store import Store

    try:
        holds_model = Store.open(path).model() is not None
    except KinetographError as error:
        raise RunError(str(error)) from error
    if not holds_model:
        raise InputError(
            f"{path} does not hold the model; give its file: kinetograph resume {path} FILE"
        )
