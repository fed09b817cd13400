"""`kinetograph sample`: draw from the posterior of a model."""

from pathlib import Path
from typing import Any

import click

from .errors import InputError, readable_warnings
from .files import check_target
from .models import load_model, model_argument, traceback_option
from .outcome import carry_out, format_option, out_option
from .settings import ENDLESS, ChainsType, DrawsType, SamplerName, make_sampler, make_until

__all__ = ["check_every", "sample", "threads_option", "until_options"]

threads_option = click.option(
    "--threads",
    type=click.IntRange(1),
    help="Number of chains that run at once.  [default: all processors]",
)
check_every = click.option(
    "--checkpoint-every",
    type=click.FloatRange(0),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Time between the checkpoints that are written to the store.",
)


def until_options(command: Any) -> Any:
    """Add the options that end a run when there are enough draws."""
    for name, default, limit in (
        ("--until-rhat", "1.01", "largest R-hat"),
        ("--until-ess", "400", "least effective sample size"),
    ):
        text = f"Stop at this {limit}.  [default, if the other limit is given: {default}]"
        command = click.option(name, type=float, help=text)(command)
    return command


@click.command()
@model_argument
@click.option(
    "--draws",
    type=DrawsType(1),
    default=1000,
    show_default=True,
    metavar="N|none",
    help="Draws per chain; none: until the run is stopped.",
)
@click.option(
    "--warmup",
    type=click.IntRange(0),
    help="Warm-up transitions per chain.  [default: as many as the tuning needs]",
)
@click.option(
    "--chains",
    type=ChainsType(1),
    default=4,
    show_default=True,
    metavar="N|A:B",
    help="Number of chains, or their numbers, such as 4:8, which adds chains to a store.",
)
@click.option(
    "--thin",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Keep every n-th transition only.",
)
@click.option(
    "--seed", type=click.IntRange(0), help="Seed.  [default: a fresh seed, which is printed]"
)
@click.option("--sampler", type=SamplerName(), help="A sampler of kg.samplers.  [default: NUTS]")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of the sampler; VALUE is a Python literal. Repeatable.",
)
@click.option(
    "--initial",
    type=click.Choice(("prior", "random", "pathfinder")),
    help="Where chains start.  [default: short ascents]",
)
@click.option(
    "--keep", multiple=True, metavar="NAME", help="Keep draws of this target only. Repeatable."
)
@click.option(
    "--keep-unknowns/--no-keep-unknowns",
    default=None,
    help="Keep draws of unknowns that are not targets.  [default: if all targets are kept, and the "
    "unknowns have at most 10,000 numbers]",
)
@until_options
@threads_option
@click.option(
    "--chain-method",
    type=click.Choice(("threads", "batch")),
    help="A thread for each chain, or one batch.  [default: as suits the device]",
)
@click.option(
    "--store",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="PATH",
    help="Folder for the draws as they are made; `kinetograph resume PATH` continues the run.",
)
@check_every
@out_option
@format_option
@click.option("--quiet", is_flag=True, help="Show no progress.")
@traceback_option
def sample(
    source: str,
    seed: int | None,
    sampler: str | None,
    settings: tuple[str, ...],
    keep: tuple[str, ...],
    until_ess: float | None,
    until_rhat: float | None,
    store: Path | None,
    out: Path | None,
    style: str,
    quiet: bool,
    show_traceback: bool,
    **options: Any,
) -> None:
    """Draw from the posterior of a model and print its summary.

    FILE is a Python file that creates a model at top level: model = kg.model(...). NAME selects the
    variable if there are several models.

    Ctrl-C and SIGTERM stop the run: the draws so far are written and summarised, and a line says
    how to continue. Exit codes: 0 done, 1 failed, 2 wrong input, 130 stopped by Ctrl-C, 143 by
    SIGTERM.
    """
    target = None if out is None else check_target(out, (".nc",))
    if options["draws"] == ENDLESS:
        options["draws"] = None
    filled = store is not None and store.is_dir() and any(store.iterdir())
    if store is not None and filled and not (store / ".kinetograph").is_dir():
        raise InputError(f"{store} is a folder with other content, not the store of a run")
    with readable_warnings():
        condition = make_until(until_ess, until_rhat)
        sampler_object = make_sampler(sampler, settings)
        model = load_model(source, show_traceback)

        def run() -> Any:
            from ..runs.mcmc import mcmc

            return mcmc(
                model,
                sampler_object,
                seed=seed,
                keep=list(keep) or True,
                until=condition,
                store=store,
                progress=not quiet,
                on_sigterm="return",
                **options,
            )

        carry_out(run, out, target, store, style, show_traceback, show_seed=seed is None)
